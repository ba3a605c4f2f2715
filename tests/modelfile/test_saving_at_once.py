"""Two threads or processes that save to one path, and one that loads meanwhile."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import axonad
from axonad import make_detector
from axonad.errors import FileError
from tests.conftest import waves

SAVES = 50
SAVE_OFTEN = """
import sys
import axonad
own, path = axonad.load(sys.argv[1]), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
for _ in range({saves}):
    own.save(path, overwrite=True)
"""


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two fitted detectors, and the folders they are saved in."""
    folder = tmp_path_factory.mktemp("models")
    found = [make_detector("PCA").fit(waves(200 + 50 * i, seed=i)) for i in range(2)]
    for number, detector in enumerate(found):
        detector.save(folder / str(number))
    return found, [folder / "0", folder / "1"]


def is_one_of(loaded, detectors):
    return any(np.array_equal(loaded.decision_scores_, d.decision_scores_) for d in detectors)


def test_threads_save_to_one_path_and_every_load_gets_a_whole_model(two, tmp_path):
    detectors, _ = two
    path = tmp_path / "model"
    detectors[0].save(path)
    with ThreadPoolExecutor(4) as pool:
        saves = [pool.submit(detectors[i % 2].save, path, overwrite=True) for i in range(SAVES)]
        loads = [pool.submit(axonad.load, path) for _ in range(SAVES)]
    assert [save.exception() for save in saves] == [None] * SAVES
    assert all(is_one_of(load.result(), detectors) for load in loads)
    assert sorted(file.name for file in path.iterdir()) == ["detector.json", "state.safetensors"]


def test_processes_save_to_one_path_and_every_load_gets_a_whole_model(two, tmp_path):
    detectors, folders = two
    path = tmp_path / "model"
    detectors[0].save(path)
    code = SAVE_OFTEN.format(saves=SAVES)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(folder), str(path)], **pipes)  # noqa: S603
        for folder in folders
    ]
    for writer in writers:
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    while any(writer.poll() is None for writer in writers):
        assert is_one_of(axonad.load(path), detectors)
    assert [writer.communicate()[1] for writer in writers] == [b"", b""]
    assert is_one_of(axonad.load(path), detectors)
    assert sorted(file.name for file in path.iterdir()) == ["detector.json", "state.safetensors"]


def test_of_threads_that_do_not_overwrite_one_saves(two, tmp_path):
    detectors, _ = two
    for number in range(10):
        path = tmp_path / str(number)
        with ThreadPoolExecutor(4) as pool:
            saves = [pool.submit(detectors[i % 2].save, path) for i in range(8)]
        errors = [save.exception() for save in saves]
        assert errors.count(None) == 1
        assert all(isinstance(error, FileError) for error in errors if error is not None)
        assert is_one_of(axonad.load(path), detectors)
