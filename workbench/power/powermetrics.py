"""macOS `powermetrics`: energy counters of the chip's rails, as root, through `sudo -n` and never a prompt.

Reads its stdout (the options that write a file changed their letters between macOS 11 and 12). The energy
counters in mJ are summed; its watts are only those counters divided by the interval. What the stream looks
like is `plist_stream.py`, what a document says is `powermetrics_document.py`.
"""

import math
from dataclasses import dataclass

from workbench.power.feed import Keyed, ProcessFeed
from workbench.power.plist_stream import PlistStream
from workbench.power.powermetrics_document import read_document
from workbench.power.source import Feed, Method, PowerSource, Row, Sink
from workbench.power.sudoers import why_not
from workbench.power.surroundings import Surroundings

NAME = "powermetrics"
PATH = "/usr/bin/powermetrics"
INTERVAL_MS = 250
SUDO_TIMEOUT_S = 2.0

ROW = Row(
    key=NAME,
    source=NAME,
    area="SoC",
    kind="Apple estimate",
    parts=("cpu", "gpu", "ane", "dram"),
    usual=("cpu", "gpu", "ane"),
    watched=("cpu", "gpu", "dram"),
    method=Method.COUNTER,
    cadence_s=INTERVAL_MS / 1000,
    needs_root=True,
)


def look(place: Surroundings) -> PowerSource | str:
    """The source, or why it cannot be used: not a Mac, not there, or sudo would ask for a password."""
    if not place.is_mac:
        return "it is part of macOS"
    path = place.which(NAME) or PATH
    if place.is_root:
        return Powermetrics((path,))
    sudo = place.which("sudo")
    if sudo is None:
        return "it needs root, and there is no sudo"
    status, _ = place.run([sudo, "-n", "-l", path], SUDO_TIMEOUT_S)
    if status != 0:
        return "it needs root and sudo asks for a password; `workbench doctor` prints the line that allows it"
    return Powermetrics((sudo, "-n", path))


@dataclass(frozen=True, slots=True)
class Powermetrics:
    """`powermetrics` behind the command words that may start it."""

    words: tuple[str, ...]
    interval_ms: int = INTERVAL_MS
    name: str = NAME
    rows: tuple[Row, ...] = (ROW,)

    def argv(self, limit_s: float) -> list[str]:
        """The whole command: unbuffered plists on stdout, and a count that ends it should nobody else."""
        count = math.ceil(limit_s * 1000 / self.interval_ms)
        wanted = ["-s", "cpu_power,gpu_power,thermal", "-i", str(self.interval_ms), "-n", str(count)]
        return [*self.words, *wanted, "-f", "plist", "-b", "0"]

    def open(self, sink: Sink, limit_s: float) -> Feed:
        """Start it; samples follow every `interval_ms`."""
        stream = PlistStream()
        said_version = False

        def digest(data: bytes, at_ns: int) -> Keyed:
            nonlocal said_version
            for frame in stream.feed(data):
                document = read_document(frame.plist)
                if document is None:
                    stream.lost = True
                    continue
                if not said_version and document.os_build:
                    said_version = True
                    sink.version(f"macOS build {document.os_build}")
                yield NAME, document.sample(at_ns, after_loss=frame.after_loss)

        def explain(status: int, complaint: str) -> str:
            return why_not(status, complaint, seen=stream.frames)

        return ProcessFeed(self.argv(limit_s), digest, explain, sink)
