"""The real screens over a scripted decode, for counting the bytes that they send. Run under a pty.

    python tests/terminal/scripted.py --seconds 4 --hz 4 --drawing auto

Ten progress reports a second, as a worker sends them. It prints nothing; it exits when the script is over.
"""

import argparse
import asyncio
import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

BEGIN, END = b"\x1b]9;begin\x07", b"\x1b]9;end\x07"
"""Marks in the output around the decode; a terminal ignores them."""


class Setting:
    """Sets attributes by their dotted names, for good."""

    @staticmethod
    def setattr(name, value):
        import importlib

        module, attribute = name.rsplit(".", 1)
        setattr(importlib.import_module(module), attribute, value)


async def play_power(app, seconds, hz):
    """A live power pane of two sources, four new samples a second."""
    from tests.power.made import T0, S, row, steady, trace
    from tests.tui.powers import soc, wave
    from workbench.power.live import live
    from workbench.power.source import Method
    from workbench.tui.panes.power_pane import PowerPane

    whole = row(Method.TRAPEZOID, key="macmon", parts=("system",), watched=("system",), whole_machine=True)
    pane, samples = app.main_screen.query_one(PowerPane), wave(400)
    os.write(2, BEGIN)
    for n in range(int(seconds * hz)):
        seen = 40 + round(n * 4 / hz)
        beside = whole, steady(S // 2, seen // 2, {"system": 131.0 + n % 3}, T0)
        pane.show_live(
            live(trace(soc(samples[:seen]), beside), T0 + seen * S // 4, since_ns=T0 + S, tps=32.6 + n % 5)
        )
        await asyncio.sleep(1 / hz)
    os.write(2, END)
    app.exit()


async def play(app, desk, seconds):
    """Decode for some seconds at about 95 tok/s."""
    from workbench.protocol.run import fold
    from workbench.worker import messages as m

    run = desk.run
    for report in (m.Loading(at_ns=1), m.Loaded(1.0, "", 209), m.RepeatStarted(index=0, of=3)):
        run = fold(run, report)
    await asyncio.sleep(0.5)
    os.write(2, BEGIN)
    for n in range(int(seconds * 10)):
        tokens = 2 + round(n * 198 / (seconds * 10))
        rate = 95 + (n * 7 % 11 - 5) / 3
        run = fold(run, m.Progress(0, tokens, n / 10, rate, 95 + rate / 1000))
        app.main_screen.conductor.run = run
        await asyncio.sleep(0.1)
    os.write(2, END)
    app.exit()


def main() -> None:
    """Play one scripted run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--hz", type=float, default=4.0)
    parser.add_argument("--drawing", choices=("auto", "plotext", "braille"), default="auto")
    parser.add_argument("--pane", choices=("run", "power"), default="run")
    args = parser.parse_args()
    os.environ["WORKBENCH_HOME"] = os.environ["HOME"] = tempfile.mkdtemp()

    from tests.tui.pictures import app_over, counted, locked

    desk = replace(locked(counted()), measuring=True)
    app, put = app_over(desk, Setting, args.pane, hz=args.hz)

    async def pilot_(pilot):
        await put(pilot)
        app.main_screen.query_one("#plot").drawing = args.drawing
        if args.pane == "power":
            await play_power(app, args.seconds, args.hz)
        else:
            await play(app, desk, args.seconds)

    app.run(auto_pilot=pilot_)


if __name__ == "__main__":
    main()
