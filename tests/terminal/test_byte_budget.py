"""A run over a slow link: what the screens send stays small."""

from tests.terminal.counting import bytes_per_second
from workbench.tui.panes.power_pane import EVERY_S

BUDGET = 15_000


def test_a_run_at_80x24_sends_less_than_15_kb_a_second():
    assert 200 < bytes_per_second((80, 24), seconds=3.0) < BUDGET


def test_a_live_power_pane_at_80x24_sends_less_than_15_kb_a_second():
    assert 200 < bytes_per_second((80, 24), seconds=3.0, hz=1 / EVERY_S, pane="power") < BUDGET
