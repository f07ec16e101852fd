import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbench.errors import UsageError
from workbench.prediction.ceiling import (
    BandwidthFigure,
    BandwidthKind,
    ceilings,
    figure_and_rule,
)
from workbench.prediction.figures import parse_figure


@pytest.mark.parametrize(
    ("text", "gbps", "kind", "source"),
    [
        ("819", 819, "stated", "no source given"),
        ("819 spec Apple M3 Ultra page", 819, "spec", "Apple M3 Ultra page"),
        ("819.2 (theoretical, 1024 bit)", 819.2, "theoretical", "1024 bit"),
        ("638 achieved uint32 sum", 638, "achieved", "uint32 sum"),
        ("638 measured: a kernel", 638, "achieved", "a kernel"),
        ("97 my neighbour says", 97, "stated", "my neighbour says"),
        ("819 GB/s", 819, "stated", "no source given"),
        ("819GBps spec sheet", 819, "spec", "sheet"),
        ("4.8 TB/s spec NVIDIA", 4800, "spec", "NVIDIA; written as 4.8 TB/s"),
        ("500 MB/s", 0.5, "stated", "no source given; written as 500 MB/s"),
        ("762 GiB/s", 818.1912698880001, "stated", "no source given; written as 762 GiB/s"),
    ],
)
def test_words_become_a_figure_with_kind_and_source(text, gbps, kind, source):
    assert parse_figure(text) == BandwidthFigure(pytest.approx(gbps), BandwidthKind(kind), source)


def test_a_source_given_apart_wins_and_may_name_the_kind():
    assert parse_figure("819", "spec: Apple page") == BandwidthFigure(819, BandwidthKind.SPEC, "Apple page")
    assert parse_figure("638 achieved", "my kernel").kind is BandwidthKind.ACHIEVED
    assert parse_figure("638 achieved", "my kernel").source == "my kernel"
    assert parse_figure("638", "  ").source == "no source given"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no bandwidth figure"),
        ("fast", "no bandwidth figure"),
        ("819x", "no bandwidth figure"),
        ("0", "not above zero"),
        ("-819", "not above zero"),
        ("nan", "no number that a memory can reach"),
        ("1e999", "no number that a memory can reach"),
        ("819000000000", "no memory has that"),
        ("0.001", "no memory has that"),
        ("819,2", "can mean two things"),
        ("1,228", "can mean two things"),
        ("819 Gb/s", "means bits to many"),
        ("819 gbps", "means bits to many"),
        ("819 Gbit/s", "means bits to many"),
        ("5 KB/s", "no unit of bandwidth"),
    ],
)
def test_what_is_no_figure_is_said_in_words(text, why):
    with pytest.raises(UsageError, match=why) as caught:
        parse_figure(text)
    assert caught.value.hint


@given(st.text(max_size=50), st.one_of(st.none(), st.text(max_size=30)))
def test_any_text_gives_a_figure_or_a_sentence(text, source):
    try:
        figure = parse_figure(text, source)
    except UsageError:
        return
    assert math.isfinite(figure.gbps)
    assert figure.gbps > 0
    assert figure.source


def test_a_ceiling_is_named_after_its_figure_and_its_rule():
    spec = BandwidthFigure(819, BandwidthKind.SPEC, "Apple")
    [count, whole] = ceilings([spec], {"count": 1659035776, "whole-file": 20391405152, "seed": 0})
    assert count.name == "spec 819 GB/s, count"
    assert round(count.tps, 1) == 493.7
    assert round(whole.tps, 1) == 40.2
    assert figure_and_rule(whole.name) == (BandwidthKind.SPEC, "whole-file")
    assert figure_and_rule("achieved 638 GB/s") == (BandwidthKind.ACHIEVED, None)
    assert figure_and_rule("what somebody said") == (None, None)
