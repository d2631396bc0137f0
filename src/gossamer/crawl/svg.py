"""Small charts as SVG, written by hand: bars, stacked bars and curves in panels. No script, no font to load, no outside reference.

Colours are classes, given once for a light background and once for a dark one (`prefers-color-scheme`); the picture brings its own
background, so it can be read wherever it stands. Text is escaped, and cut to the room there is.
"""

import unicodedata
from collections.abc import Sequence
from html import escape

import msgspec

__all__ = ["Bar", "Curve", "Panel", "Stack", "bars", "curves", "picture", "stacks"]

_STYLE = """
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:#52514d}
.paper{fill:#fcfcfa}.head{font-weight:600;font-size:17px;fill:#1d1d1b}.title{font-weight:600;font-size:14px;fill:#1d1d1b}
.value{fill:#1d1d1b}.grid{stroke:#e4e3de}.base{stroke:#a09f99}
.a{fill:#2a6fbb}.b{fill:#d9822b}.c{fill:#b5b4ae}
.la{stroke:#2a6fbb}.lb{stroke:#b8620f}.lc{stroke:#6f6e69}.line{fill:none;stroke-width:2.2;stroke-linejoin:round}
.lb{stroke-dasharray:7 4}.limit{stroke:#52514d;stroke-width:1.3;stroke-dasharray:3 3}
@media (prefers-color-scheme:dark){
text{fill:#b9b8b2}.paper{fill:#1b1b1a}.head,.title,.value{fill:#f1f0ec}.grid{stroke:#343431}.base{stroke:#73726d}
.a{fill:#5c9fe6}.b{fill:#eea04f}.c{fill:#62615d}.la{stroke:#5c9fe6}.lb{stroke:#eea04f}.lc{stroke:#a6a59f}.limit{stroke:#b9b8b2}}
"""
_LEFT, _TOP, _BOTTOM = 52.0, 62.0, 34.0
_LETTER = 6.6  # the widest an average letter of 12 px gets in the usual fonts


class Panel(msgspec.Struct, frozen=True):
    """Where a chart stands, and what it says above itself."""

    x: float
    y: float
    width: float
    height: float
    title: str
    note: str = ""


class Bar(msgspec.Struct, frozen=True):
    """One bar of a histogram: where it ends, its value, and how that is told."""

    end: str
    """Empty for one that has no end."""
    value: float
    told: str


class Stack(msgspec.Struct, frozen=True):
    """One bar of parts, in the order of the legend; a label may be empty."""

    label: str
    parts: tuple[float, ...]
    told: str = ""
    """Shown by viewers that show titles."""


class Curve(msgspec.Struct, frozen=True):
    """A line through (x, y), each 0 to 1."""

    name: str
    points: tuple[tuple[float, float], ...]
    kind: str = "a"


def picture(width: float, height: float, head: str, summary: str, parts: Sequence[str]) -> str:
    """The whole file; `summary` is the line below its head."""
    head, summary = _cut(head, 400, 1.0), _cut(summary, 400, 1.0)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'role="img" aria-labelledby="t d">\n<title id="t">{_safe(head)}</title>\n<desc id="d">{_safe(summary)}</desc>\n'
        f"<style>{_STYLE}</style>\n"
        f'<rect class="paper" width="{width:g}" height="{height:g}" rx="6"/>\n'
        + _text(24, 34, _cut(head, width - 48, 9.2), "head")
        + _text(24, 56, _cut(summary, width - 48, _LETTER))
        + "".join(parts)
        + "</svg>\n"
    )


def bars(panel: Panel, all_of: Sequence[Bar], start: str) -> str:
    """A histogram that begins at `start`: values above the bars, where bins end between them."""
    out, plot = _frame(panel), _Plot(panel)
    most = max((bar.value for bar in all_of), default=0.0)
    out += plot.scale(most)
    step = plot.width / max(len(all_of), 1)
    out += _text(plot.x, plot.base + 18, start, anchor="middle")
    last = plot.x + len(start) * _LETTER / 2
    for number, bar in enumerate(all_of):
        left, height = plot.x + step * number, max(bar.value / plot.top(most) * plot.height, 1.5)
        if bar.value > 0:
            out += _rect(left + step * 0.04, plot.base - height, step * 0.92, height, "a", bar.told)
            out += _text(left + step / 2, plot.base - height - 6, _count(bar.value), "value", "middle")
        reach = len(bar.end) * _LETTER / 2
        if bar.end and left + step - reach > last:
            out += _text(left + step, plot.base + 18, bar.end, anchor="middle")
            last = left + step + reach
    return out


def stacks(
    panel: Panel, names: Sequence[str], all_of: Sequence[Stack], limit: float = 0.0, limit_name: str = ""
) -> str:
    """Bars of up to three parts, with a legend; and a line across for what is allowed, where that is within sight."""
    out, plot = _frame(panel), _Plot(panel)
    most = max((sum(stack.parts) for stack in all_of), default=0.0)
    shown = 0.0 < limit <= 3 * most
    most = max(most, limit if shown else 0.0)
    top = plot.top(most)
    out += plot.scale(most)
    step = plot.width / max(len(all_of), 1)
    for number, stack in enumerate(all_of):
        left, floor = plot.x + step * (number + 0.14), plot.base
        for part, kind in zip(stack.parts, "bac", strict=False):
            height = part / top * plot.height
            if part > 0:
                gap = 1.0 if height > 3.0 and floor < plot.base else 0.0
                out += _rect(left, floor - height, step * 0.72, height - gap, kind, stack.told)
                floor -= height
        if stack.label:
            out += _text(plot.x + step * (number + 0.5), plot.base + 18, stack.label, anchor="middle")
    legend = [(name, kind) for name, kind in zip(names, "bac", strict=False)]
    if shown:
        out += _line("limit", plot.x, plot.base - limit / top * plot.height, plot.x + plot.width)
        legend.append((limit_name, "limit"))
    return out + _legend(panel, legend)


def curves(panel: Panel, lines: Sequence[Curve], ticks: Sequence[tuple[float, str]]) -> str:
    """Shares over time, 0 to 100 %."""
    out, plot = _frame(panel), _Plot(panel)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        out += plot.level(share * plot.height, f"{100 * share:.0f} %")
    for at, label in ticks:
        anchor = "start" if at <= 0.0 else "end" if at >= 1.0 else "middle"
        out += _text(plot.x + at * plot.width, plot.base + 18, label, anchor=anchor)
    for curve in lines:
        way = " ".join(f"{plot.x + at * plot.width:.1f},{plot.base - y * plot.height:.1f}" for at, y in curve.points)
        out += f'<polyline class="line l{curve.kind}" points="{way}"/>\n'
    return out + _legend(panel, [(curve.name, f"line l{curve.kind}") for curve in lines])


class _Plot:
    """The area within a panel where the values are."""

    def __init__(self, panel: Panel) -> None:
        self.x, self.width = panel.x + _LEFT, panel.width - _LEFT
        self.base, self.height = panel.y + panel.height - _BOTTOM, panel.height - _TOP - _BOTTOM

    def top(self, most: float) -> float:
        """A round number at or above the greatest value."""
        size = 10.0 ** (len(str(int(most))) - 1)
        round_ones = (step * size / 10 for step in (10, 12, 16, 20, 24, 30, 40, 50, 60, 80, 100))
        return next(number for number in round_ones if number >= most and number.is_integer())

    def scale(self, most: float) -> str:
        top = self.top(most)
        marks = [part for part in (0.0, 0.25, 0.5, 0.75, 1.0) if (top * part).is_integer()]
        return "".join(self.level(part * self.height, _count(top * part)) for part in marks)

    def level(self, height: float, label: str) -> str:
        y = self.base - height
        kind = "base" if height == 0.0 else "grid"
        return _line(kind, self.x, y, self.x + self.width) + _text(self.x - 8, y + 4, label, anchor="end")


def _frame(panel: Panel) -> str:
    title = _text(panel.x, panel.y + 16, _cut(panel.title, panel.width, 7.6), "title")
    return title + (_text(panel.x, panel.y + 36, _cut(panel.note, panel.width, _LETTER)) if panel.note else "")


def _legend(panel: Panel, entries: Sequence[tuple[str, str]]) -> str:
    """Names at the upper right, each after a mark of its class: a box for one letter, else a line."""
    out, x = "", panel.x + panel.width
    for name, kind in reversed(entries):
        x -= len(name) * _LETTER + 40
        box = len(kind) == 1
        out += _rect(x + 9, panel.y + 6, 11, 11, kind) if box else _line(kind, x, panel.y + 12, x + 20)
        out += _text(x + 26, panel.y + 16, name)
    return out


def _line(kind: str, x: float, y: float, until: float) -> str:
    return f'<line class="{kind}" x1="{x:.1f}" y1="{y:.1f}" x2="{until:.1f}" y2="{y:.1f}"/>\n'


def _rect(x: float, y: float, width: float, height: float, kind: str, told: str = "") -> str:
    inside = f"<title>{_safe(told)}</title></rect>" if told else ""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(height, 0.0):.1f}" rx="1.5"'
        + (f">{inside}\n" if told else "/>\n")
    )


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "") -> str:
    more = (f' class="{kind}"' if kind else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{x:.1f}" y="{y:.1f}"{more}>{_safe(text)}</text>\n'


def _count(number: float) -> str:
    if number < 1e4:
        return f"{number:,.0f}"
    size, unit = next((size, unit) for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")) if number >= size)
    return (f"{number / size:.1f}".removesuffix(".0") if number < 100 * size else f"{number / size:.0f}") + unit


def _cut(text: str, room: float, letter: float) -> str:
    most = max(int(room / letter), 1)
    return text if len(text) <= most else text[: most - 1] + "…"


def _safe(text: str) -> str:
    """XML has no place for most control characters and none for lone surrogates, however they are written."""
    return escape(
        "".join("\ufffd" if unicodedata.category(c) in ("Cc", "Cs", "Cn") or c in "\ufffe\uffff" else c for c in text)
    )
