from __future__ import annotations

import pytest

from axonad.bench.suite import known_suites, read_suite
from axonad.errors import AxonADError, ConfigError, FileError, UnknownNameError
from tests.bench.jobs import SUITE, write_series, write_suite
from tests.conftest import ROOT

FILES = SUITE.replace('source = "telemetry"\n    steps = 2000', 'source = "files"\n    path = "x"')


def test_a_suite_is_every_detector_on_every_series_with_every_seed(tmp_path):
    suite = read_suite(write_suite(tmp_path))
    jobs = suite.jobs()
    assert [(j.series.name, j.seed) for j in jobs] == [("telemetry-1", 1), ("telemetry-2", 2)]
    assert all(job.params["seed"] == job.seed for job in jobs)
    assert len({job.key for job in jobs}) == 2
    assert [j.seed for j in suite.jobs(seeds=[7])] == [7]
    assert [j.series.name for j in suite.jobs(series=["-2"])] == ["telemetry-2"]
    assert {j.label for j in suite.jobs(detectors=["CNN"])} == {"CNN"}, "also one it does not list"


def test_protocols_set_what_they_are_for(tmp_path):
    text = SUITE.replace(
        "[protocols.causal]", '[protocols.parity]\n[protocols.causal]\nalign="end"'
    )
    parity, causal = read_suite(write_suite(tmp_path, text)).jobs(seeds=[1])
    assert (parity.params["scaling"], parity.params["restore_best"]) == ("array", False)
    assert (causal.params["scaling"], causal.params["align"]) == ("soft", "end")
    assert parity.key != causal.key
    only = read_suite(tmp_path).jobs(seeds=[1], protocols=["causal"])
    assert [job.key for job in only] == [causal.key]


def test_a_detector_may_have_other_parameters_on_some_series(tmp_path):
    text = SUITE.replace("epochs = 1", "epochs = 1, lr = 0.5").rstrip()
    path = write_suite(tmp_path, text + "\non.-2 = { epochs = 3 }\n")
    first, second = read_suite(path).jobs()
    assert (first.params["epochs"], second.params["epochs"]) == (1, 3)
    assert first.params["lr"] == second.params["lr"] == 0.5
    write_suite(tmp_path, text + "\non.-2 = 3\n")
    with pytest.raises(ConfigError, match=r"on must name tables of parameters, got \{'-2': 3\}"):
        read_suite(path)
    write_suite(tmp_path, text + "\non = 3\n")
    with pytest.raises(ConfigError):
        read_suite(path)
    write_suite(tmp_path, text + "\non.-2 = { epoch = 3 }\n")
    with pytest.raises(ConfigError, match="epoch"):
        read_suite(path).jobs()


def test_files_are_split_and_found(tmp_path, monkeypatch):
    data = tmp_path / "data"
    data.mkdir()
    write_series(data)
    write_series(data, "004_MSL_id_3_Sensor_tr_200_1st_250.csv")
    write_series(data, "JumpStarter2_service0_tr_200_1st_250.csv")
    path = write_suite(tmp_path, FILES)
    with pytest.raises(FileError, match="suite little needs x, which was not found; pass --data"):
        read_suite(path)
    jobs = read_suite(path, data=data).jobs(seeds=[1])
    assert sorted((j.series.dataset, j.series.split) for j in jobs) == [
        ("JumpStarter2", ""), ("MSL", "eval"), ("MSL", "tuning"),
    ]  # fmt: skip
    (tuned,) = read_suite(path, data=data).jobs(seeds=[1], split="tuning")
    assert tuned.series.split == "tuning"
    with pytest.raises(UnknownNameError, match="no series of split 'test'; the suite has eval, tu"):
        read_suite(path, data=data).jobs(split="test")
    write_suite(tmp_path, FILES.replace('path = "x"', 'path = "data"\n    split = "tuning"'))
    assert [j.series.split for j in read_suite(path).jobs(seeds=[1])] == ["tuning"]
    write_suite(tmp_path, FILES.replace('path = "x"', 'path = ["x", "data"]'))
    assert len(read_suite(path).jobs(seeds=[1])) == 3, "the first of several names that is there"
    write_suite(tmp_path, FILES.replace('path = "x"', "path = 3"))
    with pytest.raises(ConfigError, match=r"data\.path must name a folder or a zip, got 3"):
        read_suite(path)
    write_suite(tmp_path, FILES.replace('path = "x"', 'path = "data"\n    split = "tuning"'))
    monkeypatch.setenv("AXONAD_DATA", str(tmp_path))
    assert len(read_suite(path).jobs(seeds=[1])) == 1


def test_a_detector_without_randomness_runs_once(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    write_series(data)
    suite = read_suite(write_suite(tmp_path, FILES), data=data)
    assert len(suite.jobs(detectors=["AxonAD"])) == 2
    assert len(suite.jobs(detectors=["PCA"])) == 1


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        (("AxonAD", "AxonDA"), UnknownNameError, "did you mean 'AxonAD'"),
        (("epochs = 1", "epoch = 1"), ConfigError, "did you mean 'epochs'"),
        (("protocols.causal", "protocols.fair"), ConfigError, "protocol must be one of"),
        (("window = 20", 'window = "tsb"'), AxonADError, "window rule 'tsb' is not known"),
        (("window = 20", 'scaling = "array"'), ConfigError, "looks into the future"),
        (('"telemetry"', '"telemetri"'), ConfigError, "data.source must be one of"),
        (("steps = 2000", "step = 2000"), ConfigError, "data has no setting 'step'"),
        (("seeds = [1, 2]", "seeds = [-1]"), ConfigError, "seeds must be at least 0, got -1"),
        (("seeds = [1, 2]", "sedes = [1]"), ConfigError, "did you mean 'seeds'"),
        (('name = "little"', ""), ConfigError, "it has no 'name'"),
        (("[[detectors]]", "[[others]]"), ConfigError, "it has no 'detectors'"),
        (('name = "little"', 'name = "a/../b"'), ConfigError, "name must not contain a path"),
        (('name = "little"', "name = 5"), ConfigError, "name must be a line of text, got 5"),
        (("seeds = [1, 2]", "seeds = 5"), ConfigError, "seeds must be a list of numbers, got 5"),
        (("steps = 2000", 'steps = "many"'), ConfigError, "data.steps must be an integer"),
        (("steps = 2000", "steps = -4"), ConfigError, "data.steps must be at least 2000, got -4"),
        (
            ("[data]", '[limits]\nseconds = "x"\n[data]'),
            ConfigError,
            "limits.seconds must be a num",
        ),
        (('name = "AxonAD"', 'name = "AxonAD"\nprotocols = ["casual"]'), ConfigError, "'causal'"),
        (
            ('name = "AxonAD"', 'name = "AxonAD"\nprotocols = "causal"'),
            ConfigError,
            "must be a list",
        ),
        (('name = "AxonAD"', 'name = "AxonAD"\nlabel = "a\\nb"'), ConfigError, "a line of text"),
        (
            ("[[detectors]]", '[[detectors]]\nname = "AxonAD"\n[[detectors]]'),
            ConfigError,
            "two detec",
        ),
        (("[data]", "[limits]\nminutes = 3\n[data]"), ConfigError, "limits has no setting"),
        (("name", "= ="), ConfigError, "is not valid TOML"),
    ],
)
def test_mistakes_in_a_suite_get_one_sentence(tmp_path, change, error, message):
    with pytest.raises(error, match=message):
        read_suite(write_suite(tmp_path, SUITE.replace(*change))).jobs()


def test_unknown_suites_series_and_protocols(tmp_path):
    with pytest.raises(UnknownNameError, match="no suite 'smokee'; did you mean 'smoke'"):
        read_suite("smokee")
    suite = read_suite(write_suite(tmp_path))
    with pytest.raises(UnknownNameError, match="no series has 'yaw' in its name"):
        suite.jobs(series=["yaw"])
    with pytest.raises(UnknownNameError, match="has no protocol 'parity'; it has causal"):
        suite.jobs(protocols=["parity"])
    with pytest.raises(ConfigError, match="generates its series; leave out --data"):
        read_suite(tmp_path, data=tmp_path)


def test_every_suite_of_the_repository_can_be_read(monkeypatch):
    monkeypatch.chdir(ROOT)
    known = known_suites()
    assert {"tsb-ad-m", "telemetry", "coordination", "server-metrics", "smoke"} <= set(known)
    for name, path in known.items():
        data = ROOT if 'source = "files"' in path.read_text() else None
        suite = read_suite(name, data=data)
        assert suite.name == name
        if data is None:
            assert suite.jobs(seeds=[1])
