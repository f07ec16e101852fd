"""Bytes a second that a run writes to the terminal, by size, drawing and paint rate.

    python tests/bench/terminal_bytes.py [--seconds 4]

The screens are the real ones, the decode is scripted (`tests/terminal/scripted.py`), the terminal is a pty.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.terminal.counting import bytes_per_second


def main() -> None:
    """Print one row a setting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4.0)
    seconds = parser.parse_args().seconds
    print(f"{'size':>8} {'drawing':>8} {'Hz':>3} {'kB/s':>6}")
    for size in ((80, 24), (120, 40), (160, 50)):
        for drawing in ("auto", "plotext", "braille"):
            for hz in (2.0, 4.0):
                sent = bytes_per_second(size, seconds=seconds, hz=hz, drawing=drawing)
                print(f"{size[0]}x{size[1]:<4} {drawing:>8} {hz:>3.0f} {sent / 1000:>6.1f}")


if __name__ == "__main__":
    main()
