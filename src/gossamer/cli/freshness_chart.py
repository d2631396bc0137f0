"""Freshness as a picture: ages, what becomes of the pages without visits, and what visits there were."""

import time

import msgspec

from gossamer.cli.freshness_text import bin_name, edge_name, percent, seen_bins
from gossamer.cli.freshness_values import Freshness
from gossamer.cli.wording import duration, plain
from gossamer.crawl.freshness import Sums
from gossamer.crawl.spread import DAY, HOUR
from gossamer.crawl.svg import Bar, Curve, Panel, Stack, bars, curves, picture, stacks
from gossamer.crawl.visits import Visits

__all__ = ["Drawn", "chart"]

WIDTH, MARGIN, BETWEEN = 1_040.0, 24.0, 48.0
TOP, TALL, LOW = 88.0, 300.0, 240.0
POINTS = 60
HORIZONS = (HOUR, 6 * HOUR, DAY, 4 * DAY, 8 * DAY, 16 * DAY, 32 * DAY)
"""How far ahead is drawn: the first of them in which the share halves."""


class Drawn(msgspec.Struct, frozen=True):
    """What the picture needs beyond what is told."""

    sums: Sums
    stretch: float
    """Seconds of a bar of visits."""
    visits: list[Visits]


def chart(f: Freshness, drawn: Drawn) -> str:
    """The SVG file."""
    half = (WIDTH - 2 * MARGIN - BETWEEN) / 2
    parts = [
        _ages(f, Panel(MARGIN, TOP, half, TALL, "Age: time since the last visit", _age_note(f))),
        _ahead(drawn.sums, Panel(MARGIN + half + BETWEEN, TOP, half, TALL, "Without visits")),
    ]
    height = TOP + TALL + MARGIN
    if any(visits.again for visits in drawn.visits):
        parts.append(_visits(f, drawn, Panel(MARGIN, height, WIDTH - 2 * MARGIN, LOW, _visits_title(drawn))))
        height += LOW + MARGIN
    where = plain(f.host or f.folder)
    head = (
        f"About {percent(f.now.plain)} of {f.pages.held:,} page{'' if f.pages.held == 1 else 's'} up to date: {where}"
    )
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(f.at))
    sub = f"{when}; {percent(f.now.weighted)} by importance; a page counts with the chance that it has not changed since its last visit"
    return picture(WIDTH, height, head, sub, parts)


def _age_note(f: Freshness) -> str:
    return f"pages; median {duration(f.ages.median)}, nine of ten within {duration(f.ages.nine_tenths)}"


def _ages(f: Freshness, panel: Panel) -> str:
    bins = seen_bins(f.ages, 5)
    found = [
        Bar(
            edge_name(each.below) if each.below is not None else "",
            each.pages,
            f"{bin_name(each)}: {each.pages:,} pages, {percent(each.pages / f.ages.pages)}",
        )
        for each in bins
    ]
    return bars(panel, found, edge_name(bins[0].least))


def _ahead(sums: Sums, panel: Panel) -> str:
    now = sums.share().plain
    horizon = next((far for far in HORIZONS if sums.share(far).plain <= now / 2), HORIZONS[-1])
    shares = [(step / POINTS, sums.share(horizon * step / POINTS)) for step in range(POINTS + 1)]
    lines = (
        Curve("all pages alike", tuple((at, share.plain) for at, share in shares), "a"),
        Curve("by importance", tuple((at, share.weighted) for at, share in shares), "b"),
    )
    ticks = [(0.0, "now"), *((part, f"+{duration(horizon * part)}") for part in (0.25, 0.5, 0.75, 1.0))]
    later = sums.share(DAY)
    note = f"estimated share up to date: {percent(now)} now, {percent(later.plain)} in a day"
    return curves(msgspec.structs.replace(panel, note=note), lines, ticks)


def _visits_title(drawn: Drawn) -> str:
    return f"Revisits in each {_UNITS[drawn.stretch][0]} until now"


def _visits(f: Freshness, drawn: Drawn, panel: Panel) -> str:
    count = len(drawn.visits)
    name, unit, length = _UNITS[drawn.stretch]
    found = []
    for number, each in enumerate(drawn.visits):
        ago = count - 1 - number
        label = f"−{ago * length} {unit}" if ago else "now"
        share = f"{percent(each.changed / each.again)} changed" if each.again else "none changed"
        told = f"{name} until {label}: {each.again:,} revisits, {share}"
        found.append(
            Stack(label if count <= 14 or ago % 2 == 0 else "", (each.changed, each.unchanged, each.other), told)
        )
    again, changed = sum(v.again for v in drawn.visits), sum(v.changed for v in drawn.visits)
    note = f"{again:,} in all, {percent(changed / again)} of them found a change"
    limit = f.budget.per_day * drawn.stretch / DAY
    names = ("changed", "unchanged", "gone, moved, back")
    return stacks(
        msgspec.structs.replace(panel, note=note), names, found, limit, f"budget: {limit:,.0f} in each {name}"
    )


_UNITS = {DAY: ("day", "d", 1), HOUR: ("hour", "h", 1), 300.0: ("5 minutes", "min", 5)}
