"""Foreign names and generated text made harmless: what a terminal would act on is shown as an escape.

Standard library only. Every widget passes untrusted text through here; none lets it reach markup.
"""

import unicodedata

_ACTING = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def visible(text: str, limit: int = 200) -> str:
    r"""The text in one line: control, bidi and other invisible characters as `\x1b`, `\u202e`.

    More than `limit` characters keep their two ends around `…`; an empty text is `(empty name)`.
    """
    if not text:
        return "(empty name)"
    if len(text) > limit:
        half = (limit - 1) // 2
        text = f"{text[:half]}…{text[-half:]}"
    return _escaped(text)


def visible_lines(text: str, limit: int = 20_000) -> str:
    """Running text: escaped as `visible` does, but its newlines stay. Keeps the last `limit` characters."""
    return "\n".join(_escaped(line) for line in text[-limit:].split("\n"))


def _escaped(text: str) -> str:
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(char) if unicodedata.category(char) in _ACTING else char for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
