"""Figures and foreign text as people read them: `1,234`, `12.3 MB`, `2 min 5 s`, and no control character of a stranger's title."""

import unicodedata
from collections.abc import Iterable, Sequence

__all__ = ["duration", "plain", "size", "table", "width"]

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def size(number: float) -> str:
    """Bytes with a unit of thousands."""
    unit = 0
    while abs(number) >= 999.5 and unit < len(_UNITS) - 1:
        number, unit = number / 1000, unit + 1
    return f"{number:.0f} {_UNITS[unit]}" if unit == 0 or number >= 99.95 else f"{number:.1f} {_UNITS[unit]}"


def duration(seconds: float) -> str:
    """Seconds in at most two units."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for unit, length, small, part in (("d", 86_400, "h", 3_600), ("h", 3_600, "min", 60), ("min", 60, "s", 1)):
        if whole >= length:
            rest = whole % length // part
            return f"{whole // length} {unit}" + (f" {rest} {small}" if rest else "")
    return f"{whole} s"


# Controls (C0, C1, DEL) reach a terminal as commands; bidirectional overrides make it lie about order.
_UNSAFE: dict[int, str | None] = {
    **dict.fromkeys((*range(32), *range(127, 160)), " "),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029, 0x200E, 0x200F)),
}


def plain(text: str) -> str:
    """Text from outside, harmless on a terminal and in one line."""
    return " ".join(text.translate(_UNSAFE).split())


def width(text: str) -> int:
    """Columns a terminal needs for it."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _cut(text: str, columns: int) -> str:
    if width(text) <= columns:
        return text
    taken, room = [], columns - 1
    for character in text:
        room -= width(character)
        if room < 0:
            break
        taken.append(character)
    return "".join(taken) + "…"


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: frozenset[int] = frozenset(), columns: int | None = None
) -> list[str]:
    """Lines of a table; those in `right` stand to the right. With `columns`, the widest columns give way until it fits."""
    cells = [list(head), *([plain(cell) for cell in row] for row in rows)]
    widths = [max(width(row[i]) for row in cells) for i in range(len(head))]
    if columns is not None:
        least = [max(width(name), 8) for name in head]
        while sum(widths) + 2 * (len(widths) - 1) > columns:
            widest = max(range(len(widths)), key=lambda i: widths[i] - least[i])
            if widths[widest] <= least[widest]:
                break
            widths[widest] -= 1
    lines = []
    for row in cells:
        shown = [_cut(cell, widths[i]) for i, cell in enumerate(row)]
        padded = [
            " " * (widths[i] - width(cell)) + cell if i in right else cell + " " * (widths[i] - width(cell))
            for i, cell in enumerate(shown)
        ]
        lines.append("  ".join(padded).rstrip())
    return lines
