"""Names from outside, made safe to show: nothing in them can move a cursor, colour, or reorder a line."""

import unicodedata

_UNSAFE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def visible(text: str, limit: int = 200) -> str:
    """The text with control, format (bidi, zero-width) and unassigned characters written as escapes.

    A text of more than `limit` characters keeps its two ends around `…`; an empty one is `(empty name)`.
    """
    if not text:
        return "(empty name)"
    if len(text) > limit:
        half = (limit - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(c) if unicodedata.category(c) in _UNSAFE else c for c in text)


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
