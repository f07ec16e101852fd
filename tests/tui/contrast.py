"""Painted text that cannot be read: its contrast against what is painted behind it, after WCAG 2."""

from textual.color import Color

DRAWN = set("─│╭╮╰╯┌┐└┘├┤┬┴┼━╌▏▎▍▌▋▊▉█▁▔▕▶·▸▾ ") | {chr(code) for code in range(0x2580, 0x25A0)}
"""Lines, bars and fold marks: they are drawing, not text."""


def unreadable(app, least=4.5):
    """Painted pieces of text whose contrast is below `least`."""
    found = []
    for strip in app.screen._compositor.render_strips():
        for text, style, _ in strip:
            if (
                style is None
                or not set(text) - DRAWN
                or all(0x2800 <= ord(c) < 0x2900 or c == " " for c in text)
            ):
                continue
            front, behind = Color.from_rich_color(style.color), Color.from_rich_color(style.bgcolor)
            if style.reverse:
                front, behind = behind, front
            ratio = contrast(front, behind)
            if ratio < least:
                found.append((round(ratio, 1), text.strip(), front.hex, behind.hex))
    return found


def contrast(one, other):
    """The contrast ratio of WCAG 2."""

    def luminance(color):
        parts = [c / 255 for c in (color.r, color.g, color.b)]
        r, g, b = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
