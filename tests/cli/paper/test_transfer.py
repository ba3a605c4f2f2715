"""``axonad paper transfer``: run small, against files, refused."""

from __future__ import annotations

from tests.bench.jobs import write_series


def test_transfer_run_small(run, tmp_path):
    code, out, _ = run("paper", "transfer", "--small", "--out", "t")
    assert code == 0
    assert "paper's stream" in out
    assert "telemetry-2025  all series" in out
    for name in ("transfer.md", "transfer.tex", "transfer.csv", "transfer.png", "segments.csv"):
        assert (tmp_path / "t" / name).is_file()
    code, shown, _ = run("paper", "transfer", "--show", "--out", "t")
    assert code == 0
    assert shown == out


def test_transfer_against_files(run, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for number in (2, 3, 4):
        write_series(data, f"00{number}_MSL_id_{number}_Sensor_tr_{200 + number}_1st_250.csv")
    code, out, _ = run(
        "paper", "transfer", "--on", "smoke", "--seeds", "1", "--data", data, "--out", "t"
    )  # fmt: skip
    assert code == 0
    assert "all series" in out


def test_mistakes_are_one_sentence(run, tmp_path):
    for words, said in (
        (("transfer", "--show"), "run `axonad paper transfer` first"),
        (("transfer", "--small", "--data", tmp_path), "--small generates its series"),
    ):
        code, _, err = run("paper", *words)
        assert code == 2, words
        assert said in err
        assert len(err.strip().splitlines()) == 1
