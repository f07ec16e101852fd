"""Recorded powermetrics output, and programs that replay it: what the power tests share."""

import sys
from pathlib import Path

from workbench.power.plist_stream import PlistStream
from workbench.power.powermetrics_document import Document, read_document

DATA = Path(__file__).parents[1] / "data" / "powermetrics"


def recorded(name: str) -> bytes:
    return (DATA / name).read_bytes()


def documents(data: bytes, chunk: int | None = None) -> list[Document | None]:
    """The documents of a plist stream that arrives in chunks of `chunk` bytes."""
    stream = PlistStream()
    step = chunk or max(1, len(data))
    frames = [frame for at in range(0, len(data), step) for frame in stream.feed(data[at : at + step])]
    return [read_document(frame.plist) for frame in frames]


def program(folder: Path, name: str, body: str) -> Path:
    """An executable Python program on disk; `body` may use os, sys, time."""
    path = folder / name
    path.write_text(f"#!{sys.executable} -SE\nimport os, sys, time\n{body}\n")
    path.chmod(0o755)
    return path


def sudo_that_allows(folder: Path) -> Path:
    """A sudo that knows `-n` and `-l`, allows everything, and says so in a file."""
    body = (
        f"open({str(folder / 'sudo.log')!r}, 'a').write(repr(sys.argv[1:]) + '\\n')\n"
        "words = sys.argv[1:]\n"
        "assert words[0] == '-n', 'never a prompt'\n"
        "if words[1] == '-l': sys.exit(0)\n"
        "os.execv(words[1], words[1:])"
    )
    return program(folder, "sudo", body)


REPLAY = """
pieces = open({path!r}, 'rb').read().split(b'\\0')
count = int(sys.argv[sys.argv.index('-n') + 1])
for index in range(count):
    if index: os.write(1, b'\\0')
    data = pieces[index % len(pieces)]
    for at in range(0, len(data), {chunk}): os.write(1, data[at:at + {chunk}])
    time.sleep({pause})
"""


def replaying(folder: Path, name: str, *, pause: float = 0.01, chunk: int = 777) -> Path:
    """A powermetrics that replays a recording, a document every `pause` seconds, as often as `-n` says."""
    return program(
        folder, "powermetrics", REPLAY.format(path=str(DATA / name), pause=pause, chunk=chunk).strip()
    )
