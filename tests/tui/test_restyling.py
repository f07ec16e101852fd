"""What a key costs: moving the focus styles two panes anew, not the whole screen."""

from textual.css.stylesheet import Stylesheet

from tests.tui.desk_stage import DENSE, pick


async def test_a_move_of_the_focus_restyles_two_panes_at_most(desk, monkeypatch):
    restyled = []
    update_nodes = Stylesheet.update_nodes

    def counted(self, nodes, animate=False):
        nodes = list(nodes)
        restyled.append(nodes)
        update_nodes(self, nodes, animate=animate)

    async with desk.add(DENSE).open((160, 50)) as (app, pilot):
        await pick(app, pilot)
        everything = len(list(app.main_screen.walk_children()))
        monkeypatch.setattr(Stylesheet, "update_nodes", counted)
        await pilot.press("1")
        await pilot.pause()
        assert app.focused.id == "entries"
        assert 0 < max(map(len, restyled)) < everything / 2
        accent = app.main_screen.query_one("#models").styles.border_top
        assert accent != app.main_screen.query_one("#bytes").styles.border_top
