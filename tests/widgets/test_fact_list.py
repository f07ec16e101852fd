"""Facts: labels, wrapping under the remark's column, foreign text."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.widgets.stage import Stage, acting, rows_of
from widgets.fact_list import Fact, FactList, label_column, wrapped


def lines(fact, width):
    return ["".join(text for text, _ in line) for line in wrapped(fact, width)]


def test_a_long_remark_wraps_under_its_own_column():
    shown = lines(Fact("on disk", "5.950 GB", "in four files, one of them a vision tower"), 40)
    assert shown[0].startswith("on disk       5.950 GB in four")
    assert shown[1].startswith(" " * 14 + "one of them")


def test_where_room_is_short_it_wraps_with_a_small_indent():
    shown = lines(Fact("at", "", "/models/publisher/a-long-model-name-4bit"), 24)
    assert all(cell_len(line) <= 24 for line in shown)
    assert shown[1].startswith("  ")


def test_a_marked_fact_has_a_sign_not_only_a_colour():
    assert lines(Fact("warning", "", "two heads", mark=True), 60) == ["! warning     two heads"]


def test_values_stand_under_each_other_also_beside_a_marked_label():
    facts = [
        Fact("a token reads", "4 GB", mark=True),
        Fact("on disk", "5 GB"),
        Fact("a name of twenty cells", "x"),
    ]
    column = label_column(facts)
    shown = ["".join(text for text, _ in wrapped(fact, 60, column)[0]) for fact in facts]
    assert shown[0].index("4 GB") == shown[1].index("5 GB") == column < shown[2].index("x")


@given(st.text(max_size=30), st.text(max_size=60), st.text(max_size=300), st.integers(4, 120))
def test_no_line_is_wider_than_the_widget_and_nothing_in_it_acts(label, value, note, width):
    for line in lines(Fact(label, value, note), width):
        assert cell_len(line) <= width
        assert not acting(line)


async def test_it_is_as_tall_as_its_facts_also_when_they_come_early():
    facts = FactList([Fact("", "", "looking ...")])
    app = Stage(facts)
    async with app.run_test(size=(40, 20)) as pilot:
        facts.show([Fact(str(i), "x" * 10, "y " * 40) for i in range(3)])
        await pilot.pause()
        await pilot.pause()
        assert facts.size.height == len(facts._lines(40)) > 6
        facts.show([Fact("one", "fact")])
        await pilot.pause()
        await pilot.pause()
        assert rows_of(facts) == ["one           fact".ljust(40)]


async def test_the_same_facts_cost_nothing():
    facts = FactList([Fact("a", "b")])
    app = Stage(facts)
    async with app.run_test(size=(40, 20)) as pilot:
        await pilot.pause()
        painted = []
        original = facts.render_line
        facts.render_line = lambda y: painted.append(y) or original(y)
        facts.show([Fact("a", "b")])
        await pilot.pause()
    assert painted == []
