from __future__ import annotations

import zipfile

import pytest

from axonad.data.tsb_ad import list_series, parse_name, read_series
from axonad.errors import FileError, InputError, UnknownNameError

FILES = {
    "002_MSL_id_1_Sensor_tr_2_1st_3.csv": "0,1,Label\n1,2,0\n3,4,0\n5,,0\n7,8,1\n",
    "004_MSL_id_3_Sensor_tr_1_1st_2.csv": "a,Label\n1,0\n2,0\n3,1\n",
}


@pytest.fixture(params=["folder", "zip"])
def source(request, tmp_path):
    if request.param == "folder":
        for name, text in FILES.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "other.csv").write_text("x\n1\n")
        return tmp_path
    path = tmp_path / "suite.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, text in FILES.items():
            archive.writestr(f"TSB-AD-M/{name}", text)
    return path


def test_name_says_the_split():
    name = parse_name("TSB-AD-M/018_Daphnet_id_1_HumanActivity_tr_9693_1st_20732.csv")
    assert (name.number, name.dataset, name.domain) == (18, "Daphnet", "HumanActivity")
    assert (name.train_rows, name.first_anomaly) == (9693, 20732)
    assert not name.is_tuning
    assert parse_name("004_MSL_id_3_Sensor_tr_530_1st_630.csv").is_tuning


def test_folder_and_zip_give_the_same(source):
    names = list_series(source)
    assert [name.file for name in names] == sorted(FILES)
    first, second = read_series(source, names)
    assert first.values.tolist() == [[1, 2], [3, 4], [7, 8]], "a row with a missing value goes"
    assert first.labels.tolist() == [0, 0, 1]
    assert second.channels == ("a",)


def test_times_of_the_kept_rows_are_kept(tmp_path):
    name = "002_MSL_id_1_Sensor_tr_2_1st_3.csv"
    (tmp_path / name).write_text("time,a,Label\nx,1,0\ny,,0\nz,3,1\n")
    (series,) = read_series(tmp_path, [parse_name(name)])
    assert series.times.tolist() == ["x", "z"]


@pytest.mark.parametrize("text", ["", "a,b\n1,2,3\n", 'a,b\n1,"2\n', "a\nx\n", b"\xff\xfe\0"])
def test_broken_series_are_named(tmp_path, text):
    name = "002_MSL_id_1_Sensor_tr_2_1st_3.csv"
    data = text.encode() if isinstance(text, str) else text
    with zipfile.ZipFile(tmp_path / "suite.zip", "w") as archive:
        archive.writestr(name, data)
    (tmp_path / name).write_bytes(data)
    for source in (tmp_path, tmp_path / "suite.zip"):
        with pytest.raises((FileError, InputError), match=name) as caught:
            list(read_series(source, [parse_name(name)]))
        assert len(str(caught.value).splitlines()) == 1


def test_broken_archives_are_named(tmp_path, monkeypatch):
    name = "002_MSL_id_1_Sensor_tr_2_1st_3.csv"
    path = tmp_path / "suite.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, FILES[name])
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"0,1,Label", b"0,1,Lobel"))
    with pytest.raises(FileError, match=f"{name} in .*suite.zip cannot be read: Bad CRC-32"):
        list(read_series(path, [parse_name(name)]))
    path.write_bytes(whole)
    monkeypatch.setattr("axonad.data.tsb_ad.largest_series", lambda: 10)
    with pytest.raises(FileError, match="is too large to read: 33 bytes"):
        list(read_series(path, [parse_name(name)]))


def test_unknown_series_is_named(source):
    name = parse_name("002_MSL_id_2_Sensor_tr_2_1st_3.csv")
    with pytest.raises(UnknownNameError, match="did you mean '002_MSL_id_1"):
        list(read_series(source, [name]))


def test_bad_names_and_sources(tmp_path):
    with pytest.raises(InputError, match="is not a TSB-AD name"):
        parse_name("drive.csv")
    with pytest.raises(FileError, match="does not exist"):
        list_series(tmp_path / "none")
    (tmp_path / "x.zip").write_text("no zip")
    with pytest.raises(FileError, match="cannot be read as a zip"):
        list_series(tmp_path / "x.zip")


def test_real_archive(shared_data):
    names = list_series(shared_data / "TSB-AD-M-dev.zip")
    assert len(names) == 54
    assert sum(name.is_tuning for name in names) == 10
    series = next(iter(read_series(shared_data / "TSB-AD-M-dev.zip", names[:1])))
    assert series.values.shape == (1827, 55)
    assert int(series.labels.sum()) == 11
