"""``axonad stream``: rows in, JSON lines out, whatever the rows are like."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import axonad
from axonad.stream import TOLERANCE
from tests.cli.small_runs import NAMES, assert_one_red_line, assert_refused, frame
from tests.conftest import waves


def stream_lines(out):
    return [json.loads(line) for line in out.splitlines()]


def test_stream_scores_rows_from_stdin(run, model):
    X = waves(40, seed=1)
    text = frame(40, seed=1, label=True, time=True).write_csv()
    code, out, err = run("stream", model, stdin=text)
    assert (code, err) == (0, "40 rows, 25 scored, 0 values held, 0 refused, 0 unreadable\n")
    lines = stream_lines(out)
    detector = axonad.load(model)
    detector.set_params(align="end")
    np.testing.assert_allclose(
        [line["score"] for line in lines], detector.decision_function(X)[15:], rtol=1e-5, atol=1e-5
    )
    assert set(lines[0]) == {"step", "time", "score", "alarm", "d_rec", "d_q"}
    assert [line["time"] for line in lines] == [step / 10 for step in range(15, 40)]


def test_stream_takes_json_and_plain_numbers_too(run, model):
    rows = waves(20, seed=1)
    as_csv = frame(20, seed=1).write_csv()
    plain = "\n".join(",".join(map(str, row)) for row in rows)
    objects = "\n".join(json.dumps(dict(zip(NAMES, row, strict=True))) for row in rows.tolist())
    answers = [
        stream_lines(run("stream", model, stdin=text)[1]) for text in (as_csv, plain, objects)
    ]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]) == 5


def test_stream_survives_bad_lines(run, model):
    lines = frame(60, seed=1).write_csv().splitlines()
    lines[20] = "garbage"
    lines[25] = "1,2"
    lines[30] = ",0.1,0.2"
    lines[32] = '{"speed": 1'
    code, out, err = run("stream", model, "--max-hold", "5", stdin="\n".join(lines))
    assert code == 0
    answers = stream_lines(out)
    errors = [a["error"] for a in answers if "error" in a]
    assert len(errors) == 3
    assert "expected 3 values as in the header, got 1" in errors[0]
    assert [a["step"] for a in answers] == list(range(15, 60)), "a lost row is a row"
    assert [a["step"] for a in answers if a.get("held") == ["speed"]] == [29]
    assert err == "60 rows, 45 scored, 10 values held, 0 refused, 3 unreadable\n"


def test_stream_refuses_when_too_many_lines_are_lost(run, model):
    lines = frame(60, seed=1).write_csv().splitlines()
    lines[21:25] = ["garbage"] * 4
    _, out, err = run("stream", model, "--hold-limit", "2", stdin="\n".join(lines))
    answers = stream_lines(out)
    steps = [a["step"] for a in answers if "score" in a]
    assert steps == [*range(15, 22), *range(39, 60)], "the window fills anew behind the gap"
    assert err == "60 rows, 28 scored, 6 values held, 2 refused, 4 unreadable\n"


@pytest.mark.parametrize(
    "line",
    ['{"speed": 1' + "0" * 400 + ', "yaw_rate": 0, "torque": 0}', "9" * 200_000 + "x,1,2",
     "NA,NA,NA", "\ufffd\ufffd", '{"speed": "fast"}', "[1,2,3]"],
)  # fmt: skip
def test_no_line_ends_the_stream(run, model, line):
    lines = frame(30, seed=1).write_csv().splitlines()
    lines[25] = line
    code, out, _ = run("stream", model, stdin="\n".join(lines))
    assert code == 0
    assert [a["step"] for a in stream_lines(out)] == list(range(15, 30))


def test_stream_takes_json_with_time_and_label(run, model):
    rows = waves(20, seed=1).tolist()
    extra = {"time": 1.0, "Label": 0}
    text = "\n".join(json.dumps({**extra, **dict(zip(NAMES, r, strict=True))}) for r in rows)
    assert "error" not in run("stream", model, stdin=text)[1]


def test_a_text_line_in_json_is_no_header(run, model):
    lines = [json.dumps(dict(zip(NAMES, row, strict=True))) for row in waves(30, seed=1).tolist()]
    lines[20] = "speed,yaw_rate,torque"
    code, out, err = run("stream", model, stdin="\n".join(lines))
    answers = stream_lines(out)
    assert code == 0
    assert [a["step"] for a in answers] == list(range(15, 30))
    assert "not a JSON object" in answers[5]["error"]
    assert answers[5]["held"] == NAMES
    assert "30 rows, 15 scored, 3 values held, 0 refused, 1 unreadable" in err


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("speed,yaw_rat,gps", "the header lacks 'yaw_rate', 'torque' and has 'yaw_rat', 'gps'"),
        ("speed,yaw_rate,torque,gps,note", "has 'gps', 'note', which the model does not know; "
         "drop them with --ignore-extra"),
        ("hello", "the first line must be a JSON object, the names of the channels, or numbers"),
    ],
)  # fmt: skip
def test_a_header_that_cannot_serve_ends_the_command_at_once(run, model, tmp_path, header, message):
    words = ["stream", model, "--state", "s.json", "--events", "e.csv"]
    answer = run(*words, stdin="\n".join([header, *["1,2,3"] * 600]))
    assert_one_red_line(answer, message)
    assert (answer[1], list(tmp_path.iterdir())) == ("", [])


def test_extra_columns_are_dropped_only_if_asked(run, model):
    data = frame(20, seed=1)
    plain = stream_lines(run("stream", model, stdin=data.write_csv())[1])
    wide = data.with_columns(gps=pl.lit(1.0), note=pl.lit("x"))
    for text in (wide.write_csv(), wide.write_ndjson()):
        code, out, _ = run("stream", model, "--ignore-extra", stdin=text)
        assert (code, stream_lines(out)) == (0, plain)
    code, out, err = run("stream", model, stdin=wide.write_ndjson())
    assert code == 1
    assert "channels 'gps', 'note' not in model" in stream_lines(out)[0]["error"]
    assert err.startswith("error: none of the rows could be used (20 rows, 0 scored, ")
    assert err.count("\n") == 1


def test_rows_of_which_none_can_be_used(run, model):
    lines = frame(20, seed=1).write_csv().splitlines()
    text = "\n".join([lines[0], *["1,2"] * 30])
    code, out, err = run("stream", model, stdin=text)
    assert code == 1
    assert len(stream_lines(out)) == 30
    assert "30 refused, 30 unreadable); first: expected 3 values as in the header, got 2" in err
    assert run("stream", model, stdin=text + "\n" + lines[1])[0] == 0, "one row was used"
    assert run("stream", model, stdin=lines[0])[0] == 0, "no row came"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--format", "xml"], "--format must be one of 'json', 'csv', got 'xml'"),
        (["--threshold", "nan"], "--threshold must be a finite number, got nan"),
        (["--alarm-rate", "0.7"], "--alarm-rate must lie between 0 and 0.5, got 0.7"),
        (["--threshold", "1", "--alarm-rate", "0.1"], "exclude each other"),
        (["--events", "e.txt"], "its ending must be one of .csv, .jsonl, .json"),
        (["--state", "e.csv", "--events", "e.csv"], "are both e.csv; choose two files"),
        (["--state", "."], "is a folder"),
        (["--save-every", "0"], "Invalid value for '--save-every'"),
        (["--time", "clock"], "no column 'clock'; columns: 'speed', 'yaw_rate', 'torque'"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_meant(run, model, tmp_path, words, message):
    assert_one_red_line(run("stream", model, *words, stdin=frame(20).write_csv()), message)
    assert list(tmp_path.iterdir()) == []


def test_a_gap_in_time_empties_the_window(run, model, monkeypatch):
    detector = axonad.load(model)
    detector.interval_ = 0.1
    monkeypatch.setattr("axonad.cli.stream.load", lambda _: detector)
    times = np.arange(60) / 10
    times[30:] += 60
    times[50] = times[49]
    stamps = [str(np.datetime64(int(1e6 * t), "us")) for t in times]
    for column in (pl.Series("t_s", times), pl.Series("timestamp", stamps)):
        text = frame(60, seed=1).with_columns(column).write_csv()
        code, out, err = run("stream", model, stdin=text)
        answers = stream_lines(out)
        assert [a["step"] for a in answers] == [*range(15, 30), *range(45, 60)]
        assert [a["time"] for a in answers] == [column[a["step"]] for a in answers]
        assert err.endswith("0 unreadable, 1 gap in time, 1 repeated time\n")
        assert code == 0
    slow = frame(60, seed=1).with_columns(t_s=pl.Series(np.arange(60) * 5.0)).write_csv()
    err = run("stream", model, stdin=slow)[2]
    assert "note: no row got a score: it takes 16 rows that follow without a gap" in err
    assert err.endswith(
        "60 rows, 0 scored, 0 values held, 0 refused, 0 unreadable, 59 gaps in time\n"
    )
    unread = frame(20, seed=1).with_columns(time=pl.lit("soon")).write_csv()
    assert run("stream", model, stdin=unread)[2].endswith(", 20 unreadable times\n")


def test_alarms_name_their_channels(run, model):
    data = waves(60, seed=1)
    data[40:45, 1] += 50
    text = pl.DataFrame(data, schema=NAMES).write_csv()
    answers = stream_lines(run("stream", model, stdin=text)[1])
    alarms = [a for a in answers if a["alarm"]]
    assert alarms
    assert all(a["channels"][0] == "yaw_rate" and len(a["channels"]) == 3 for a in alarms)
    assert not any("channels" in a for a in answers if not a["alarm"])
    scores = [a["score"] for a in answers]
    for words in (["--threshold", str(np.median(scores))], ["--alarm-rate", "0.4"]):
        more = stream_lines(run("stream", model, *words, stdin=text)[1])
        assert len(alarms) < sum(a["alarm"] for a in more) < len(answers)
        assert [a["score"] for a in more] == scores


def test_events_are_those_of_the_file(run, model, tmp_path):
    data = waves(120, seed=1)
    data[40:43, 1] += 50
    data[80:83, 2] += 50
    data[118:] += 50
    frame = pl.DataFrame(data, schema=NAMES).with_columns(t_s=pl.Series(np.arange(120) / 10))
    for name in ("e.csv", "e.jsonl"):
        code, _, err = run("stream", model, "--events", name, stdin=frame.write_csv())
        assert (code, err.strip().endswith(", 3 events")) == (0, True)
    detector = axonad.load(model).set_params(align="end")
    expected = detector.explain(data).events(gap=4)
    found = stream_lines((tmp_path / "e.jsonl").read_text())
    assert [(e["start"], e["end"] + 1, e["peak"]) for e in found] == [
        (e.start, e.end, e.peak) for e in expected
    ]
    np.testing.assert_allclose(
        [e["score"] for e in found], [e.score for e in expected], rtol=TOLERANCE
    )
    assert [(e["from"], e["to"]) for e in found] == [
        (e.start / 10, (e.end - 1) / 10) for e in expected
    ]
    assert [e["channels"][0] for e in found[:2]] == ["yaw_rate", "torque"]
    table = pl.read_csv(tmp_path / "e.csv")
    assert table["start"].to_list() == [e["start"] for e in found]
    assert table["channels"][0] == " ".join(found[0]["channels"])
    assert_one_red_line(
        run("stream", model, "--events", "e.csv", stdin=""), "e.csv already exists; choose another"
    )


def test_stream_alarms_only(run, model):
    data = waves(60, seed=1)
    data[40:45] += 50
    text = pl.DataFrame(data, schema=NAMES).write_csv()
    answers = stream_lines(run("stream", model, "--alarms-only", stdin=text)[1])
    assert answers
    assert all(answer["alarm"] for answer in answers)


def test_stream_too_short_says_so(run, model):
    code, out, err = run("stream", model, stdin=frame(5).write_csv())
    assert (code, out) == (0, "")
    assert "note: got only 5 rows; the first score needs 16" in err


def test_a_model_that_does_not_exist(run, tmp_path):
    assert_refused(run, tmp_path, ["stream", "nomodel"], "nomodel does not exist")


def test_events_of_a_model_without_alarms_say_why(run, tmp_path):
    axonad.make_detector("CrossChannelRidge").fit(frame(500)).save(tmp_path / "m")
    rows = frame(100, seed=5).to_numpy().copy()
    rows[60:70, 1] += 2.0
    rows[90:, 0] += 2.0
    text = pl.DataFrame(rows, schema=NAMES).write_csv()
    code, out, _ = run("stream", "m", "--explain", "--alarms-only", stdin=text)
    assert code == 0
    ended = [e for line in out.splitlines() for e in json.loads(line).get("events", ())]
    whole = axonad.load(tmp_path / "m").events(rows, why=True)  # as a recording
    assert [e.start for e in whole] == [60, 90]
    assert [(e["what"], e["start"]) for e in ended] == [("final", e.start) for e in whole]
    assert ended[0]["why"]["channels"] == ["yaw_rate"]
    assert ended[1]["why"]["sentence"] == whole[1].why.sentence, "it ends where the stream does"
    code, _, _ = run("stream", "m", "--explain", "--events", "e.csv", stdin=text)
    table = pl.read_csv(tmp_path / "e.csv")
    assert table["sentence"].to_list() == [e["why"]["sentence"] for e in ended]
    old = axonad.load(tmp_path / "m")
    old.reference_ = None
    old.save(tmp_path / "old")
    assert_one_red_line(run("stream", "old", "--explain", stdin=text), "fit")
