"""A stream of property lists cut into documents: split anywhere, NULs, garbage and truncation between them.

A document is complete at its `</plist>`: powermetrics writes the NUL only before the next one, an interval
later, and a document's arrival is its time. XML escapes `<`, so the end tag stands nowhere else.
"""

from collections.abc import Iterator
from dataclasses import dataclass

END = b"</plist>"
LIMIT_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Frame:
    """One document's bytes; `after_loss` when something before it was damaged or missing."""

    plist: bytes
    after_loss: bool


class PlistStream:
    """Feed it bytes, take documents. `frames` counts them, `lost` says that the next one follows a loss."""

    def __init__(self) -> None:
        self.frames = 0
        self.lost = False
        self._buffer = b""
        self._searched = 0

    def feed(self, data: bytes) -> Iterator[Frame]:
        """The documents that `data` completes."""
        self._buffer += data
        while (end := self._buffer.find(END, self._searched)) >= 0:
            end += len(END)
            head, self._buffer = self._buffer[:end], self._buffer[end:]
            self._searched = 0
            start = _start_of_last(head)
            if start is None:
                self.lost = True
                continue
            if head[:start].strip(b"\0\r\n\t "):
                self.lost = True
            self.frames += 1
            frame, self.lost = Frame(head[start:], self.lost), False
            yield frame
        self._searched = max(0, len(self._buffer) - len(END) + 1)
        if len(self._buffer) > LIMIT_BYTES:
            self._buffer, self._searched, self.lost = b"", 0, True


def _start_of_last(head: bytes) -> int | None:
    """Where the document that ends `head` begins; an earlier one that was cut short is left before it."""
    plist = head.rfind(b"<plist")
    if plist < 0:
        return None
    floor = max(head.rfind(b"\0", 0, plist) + 1, head.rfind(END, 0, len(head) - len(END)) + 1)
    xml = head.rfind(b"<?xml", floor, plist)
    return xml if xml >= 0 else plist
