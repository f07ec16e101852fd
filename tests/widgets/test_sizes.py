"""Sizes in columns."""

from widgets.sizes import rounded, sized, unit_for


def test_one_unit_serves_a_whole_column():
    unit = unit_for(20.39e9)
    assert unit.name == "GB"
    assert [unit.text(size) for size in (20.39e9, 1.659e9, 0, 4096)] == ["20.390", "1.659", "0", "<0.001"]


def test_the_unit_follows_the_total():
    assert unit_for(0.625e9).name == "GB"
    assert unit_for(17.6e6).name == "MB"
    assert unit_for(300).name == "kB"


def test_a_size_alone_carries_its_own_unit():
    assert sized(4_466_000_000) == "4.466 GB"
    assert sized(512) == "512 B"
    assert sized(0) == "0 B"


def test_a_narrow_column_gets_three_digits():
    assert [rounded(x) for x in (20.39e9, 337.9e6, 1.659e9, 40)] == ["20.4 GB", "338 MB", "1.66 GB", "40 B"]
