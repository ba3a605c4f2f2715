import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad.errors import InputError
from axonad.live.sample import Sample
from axonad.live.sources.messages import (
    MAX_CHANNELS,
    MAX_SAMPLES,
    parse,
    parse_lines,
    parse_value,
)

ARRIVAL = 99
NAMES = st.text(st.characters(categories=["L", "N", "P"], include_characters=" "), min_size=1).map(
    lambda text: text[:128]
)
CHANNELS = NAMES.filter(lambda name: name not in ("vehicle", "time", "times", "values"))
VALUES = st.dictionaries(
    CHANNELS, st.none() | st.floats(allow_infinity=False) | st.integers(), min_size=1, max_size=5
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(
        st.sampled_from(["vehicle", "time", "times", "values", "value", "speed"]) | st.text(), inner
    ),
)  # fmt: skip


def one(text, **options):
    (sample,) = parse(text.encode(), arrival=ARRIVAL, **options)
    return sample


def error(text, **options):
    with pytest.raises(InputError) as caught:
        parse(text.encode(), arrival=ARRIVAL, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '{"vehicle": "car 1", "time": 1784505600.5, "speed": 12, "on": true}',
        '{"vehicle": "car 1", "time": "2026-07-20T00:00:00.5Z", "values": {"speed": 12, "on": 1}}',
        '{"vehicle": "car 1", "time": "2026-07-20T02:00:00.5+02:00", "speed": 12.0, "on": 1}',
        '{"vehicle": "car 1", "time": "2026-07-20 00:00:00.500", "speed": 12, "on": true}',
        '{"vehicle": "car 1", "times": [1784505600.5], "values": {"speed": [12], "on": [true]}}',
        '[{"vehicle": "car 1", "time": 1784505600.5, "speed": 12, "on": 1}]',
        '\n{"vehicle": "car 1", "time": 1784505600.5, "speed": 12, "on": 1}\r\n',
    ],
)
def test_all_forms_say_the_same(text):
    assert one(text) == Sample("car 1", 1_784_505_600_500_000, {"speed": 12.0, "on": 1.0})


@given(NAMES, st.integers(0, 10**17 - 10**9), VALUES)
def test_what_is_written_is_read(vehicle, micros, values):
    wanted = {key: math.nan if value is None else float(value) for key, value in values.items()}
    flat = {"vehicle": vehicle, "time": micros / 1e6} | values
    nested = {"vehicle": vehicle, "time": micros / 1e6, "values": values}
    columns = {"vehicle": vehicle, "times": [micros / 1e6] * 2} | {
        "values": {key: [value] * 2 for key, value in values.items()}
    }
    for text in (json.dumps(flat), json.dumps([nested]), json.dumps(columns)):
        for sample in parse(text.encode(), arrival=ARRIVAL):
            assert sample.vehicle == vehicle
            assert abs(sample.time - micros) <= 8  # a double has 53 bits
            assert repr(dict(sample.values)) == repr(wanted)  # NaN is NaN


@given(JSON.map(lambda item: json.dumps(item).encode()) | st.binary())
def test_anything_else_is_one_input_error(data):
    for read in (
        parse,
        parse_lines,
        lambda data, arrival: parse(data, arrival=arrival, vehicle="car 1"),
        lambda data, arrival: parse_value(data, vehicle="a", channel="b", arrival=arrival),
    ):
        try:
            samples = read(data, arrival=ARRIVAL)
        except InputError as caught:
            assert str(caught)
            assert "\n" not in str(caught)
            continue
        assert samples
        for sample in samples:
            assert 1 <= len(sample.vehicle) <= 128
            assert type(sample.time) is int
            assert 0 <= sample.time < 10**17
            assert sample.values
            assert all(type(value) is float for value in sample.values.values())
            assert not any(math.isinf(value) for value in sample.values.values())


@pytest.mark.parametrize(
    ("time", "words"),
    [
        ("1784505600500", "looks like milliseconds; divide it by 1000"),
        ("1784505600500000", "looks like microseconds; divide it by 1e6"),
        ("1784505600500000000", "looks like nanoseconds; divide it by 1e9"),
        ("1e308", "looks like nanoseconds"),
        ("-1", "must not lie before 1970, got -1"),
        ("true", "must be seconds since 1970 or ISO 8601 text, got true"),
        ("[]", "got a list"),
        ('"tomorrow"', "must be ISO 8601 such as 2026-07-20T08:15:00.5Z, got 'tomorrow'"),
        ('"1784505600"', "must be ISO 8601"),
        ('"1969-12-31T23:59:59Z"', "must lie between 1970 and 5138"),
        ("NaN", "time is NaN"),
    ],
)
def test_a_time_is_never_guessed(time, words):
    assert words in error(f'{{"vehicle": "a", "time": {time}, "x": 1}}')


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not JSON"),
        ("12", "expected an object with vehicle, time and values"),
        ("[]", "the list is empty"),
        ('{"time": 1, "x": 1}', "vehicle is missing"),
        ('{"vehicle": 7, "x": 1}', "vehicle must be text, got 7"),
        ('{"vehicle": "", "x": 1}', "1 to 128 characters, got 0"),
        ('{"vehicle": "a\\u0007", "x": 1}', "control characters, got 'a\\x07'"),
        ('{"vehicle": "a", "x\\n": 1}', "control characters"),
        ('{"vehicle": "a"}', "values of 1 to 2,000 channels, got 0"),
        ('{"vehicle": "a", "x": "1"}', "the value of 'x' must be a number or null, got '1'"),
        ('{"vehicle": "a", "x": 1, "y": {"z": 1}}', "got an object"),
        ('{"vehicle": "a", "x": 1e400}', "not JSON: number is infinity"),
        ('{"vehicle": "a", "values": {"x": 1}, "tiem": 1}', "did you mean 'time'?"),
        ('[{"vehicle": "a", "x": 1}, {"vehicle": "a", "x": "1"}]', "item 2 of 2: the value of"),
        ('{"vehicle": "a", "x": 1}\n\n{"vehicle": "a", "x": []}', "line 3: the value of 'x'"),
        ('{"vehicle": "a", "times": [1, 2], "values": {"x": [1]}}', "as long as times (2), got 1"),
        ('{"vehicle": "a", "times": [1, null], "values": {"x": [1, 2]}}', "time 2 of 2 is missing"),
        ("[" * 100_000, "depth limit"),
        ("[NaN," + "[" * 100_000, "nested too deeply"),
        ('{"vehicle": "a", "x": NaN, "y": ' + "9" * 400 + "}", "too large"),
    ],
)
def test_errors_say_what_and_where(text, words):
    assert words in error(text)


def test_sizes_have_limits():
    many = {f"c{i}": 1 for i in range(MAX_CHANNELS + 1)}
    assert "2,000 channels, got 2001" in error(json.dumps({"vehicle": "a"} | many))
    assert "at most 100,000 samples" in error("[" + "0," * MAX_SAMPLES + "0]")
    assert "at most 100,000 lines" in error('{"x": 1}' + "\n" * 100_001 + "{}")
    times = [0] * 2_000
    values = {f"c{i}": [0] * 2_000 for i in range(1_001)}
    assert "2,000,000 values" in error(
        json.dumps({"vehicle": "a", "times": times, "values": values})
    )


def test_missing_values_and_times():
    sample = one('{"vehicle": "a", "time": null, "x": null, "y": NaN, "z": -Infinity, "w": false}')
    assert sample.time == ARRIVAL
    assert all(math.isnan(sample.values[name]) for name in "xyz")
    assert sample.values["w"] == 0.0


def test_the_topic_names_the_vehicle():
    assert one('{"x": 1}', vehicle="car 1").vehicle == "car 1"
    assert one('{"vehicle": "car 1", "x": 1}', vehicle="car 1").vehicle == "car 1"
    assert "the topic says 'car 1'" in error('{"vehicle": "car 2", "x": 1}', vehicle="car 1")


def test_one_value_per_topic():
    def value(text):
        return parse_value(text.encode(), vehicle="a", channel="x", arrival=ARRIVAL)

    assert value("1") == [Sample("a", ARRIVAL, {"x": 1.0})]
    assert value('{"value": 2, "time": 3}') == [Sample("a", 3_000_000, {"x": 2.0})]
    assert value('[1, {"value": 2}]')[1] == Sample("a", ARRIVAL, {"x": 2.0})
    for text in ('{"time": 3}', '{"value": 1, "unit": "m"}', '"1"', "[[1]]", "[]"):
        with pytest.raises(InputError):
            value(text)
