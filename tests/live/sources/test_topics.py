import pytest
from hypothesis import given
from hypothesis import strategies as st

from axonad.errors import ConfigError
from axonad.live.sources.topics import MQTT, NATS, Named, Topics

LEVEL = st.text(st.characters(exclude_characters="/+#{}\0", exclude_categories=["Cs"]), min_size=1)


@given(LEVEL, LEVEL, LEVEL)
def test_a_topic_says_vehicle_and_channel(site, vehicle, channel):
    topics = Topics([f"{site}/{{vehicle}}/x/{{channel}}"], MQTT)
    assert topics.filters == (f"{site}/+/x/+",)
    assert topics.match(f"{site}/{vehicle}/x/{channel}") == Named(vehicle, channel)
    assert topics.match(f"{site}/{vehicle}/x") is None
    assert topics.match(f"{site}!/{vehicle}/x/{channel}") is None


def test_the_first_pattern_counts_and_filters_are_sent_once():
    topics = Topics(["f.{vehicle}", "f.all", "*.{vehicle}", "f.*"], NATS)
    assert topics.filters == ("f.*", "f.all", "*.*")
    assert topics.match("f.all") == Named("all")
    assert topics.match("g.car") == Named("car")
    assert topics.match("f") is None


def test_a_pattern_without_names_leaves_them_to_the_message():
    assert Topics(["fleet/telemetry"], MQTT).match("fleet/telemetry") == Named()


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("fleet/car-{vehicle}", "got 'car-{vehicle}'"),
        ("fleet/#", "got '#'"),
        ("fleet//x", "got ''"),
        ("{vehicle}/{vehicle}", "the same name twice"),
        ("fleet/{channel}", "names the channel but not the vehicle"),
    ],
)
def test_patterns_that_cannot_be_used(pattern, words):
    with pytest.raises(ConfigError, match=r"topics of \[mqtt\]") as caught:
        Topics([pattern], MQTT)
    assert words in str(caught.value)
