"""``axonad bench transfer``: one suite among another."""

from __future__ import annotations

from tests.bench.jobs import write_series, write_suite
from tests.cli.bench.small_results import FILES
from tests.cli.small_runs import assert_one_red_line


def test_transfer(run, tmp_path, saved_figures):
    data = tmp_path / "data"
    data.mkdir()
    for number in range(2, 8):
        path = write_series(data, f"00{number}_MSL_id_1_Sensor_tr_200_1st_250.csv")
        lines = path.read_text().splitlines()
        scaled = [f"{float(line.split(',')[0]) * number},{line}" for line in lines[1:]]
        path.write_text("\n".join([f"c,{lines[0]}", *scaled]) + "\n")
    write_suite(tmp_path, FILES)
    words = ("bench", "transfer", "smoke", "--among", tmp_path, "--data", data)
    code, out, _ = run(*words, "--figure", "transfer.png")
    assert code == 0
    assert (tmp_path / "transfer.png").exists()
    assert len(saved_figures["transfer.png"].axes) == 2, "one panel per distance"
    assert "telemetry-1" in out
    assert "telemetry-2" in out
    code, _, err = run(*words, "--by", "channel")
    assert (code, "by must be one of" in err) == (2, True)


def test_transfer_needs_no_labels(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for number in range(2, 6):
        path = write_series(data, f"00{number}_MSL_id_1_Sensor_tr_200_1st_250.csv", labels=False)
        lines = path.read_text().splitlines()
        scaled = [f"{float(line.split(',')[0]) * number},{line}" for line in lines[1:]]
        path.write_text("\n".join([f"c,{lines[0]}", *scaled]) + "\n")
    write_suite(tmp_path, FILES)
    words = ("bench", "transfer", "smoke", "--among", tmp_path, "--data", data, "--seeds", "1")
    code, out, _ = run(*words)
    assert (code, "telemetry-1" in out) == (0, True)
    assert_one_red_line(
        run("bench", "transfer", "smoke", "--among", "smoke", "--seeds", "x"),
        "seeds must be whole numbers",
    )
