"""Freshness as lines for people."""

from collections.abc import Iterator

from gossamer.cli.freshness_values import Freshness
from gossamer.cli.wording import duration, plain, table
from gossamer.crawl.spread import Bin, Distribution
from gossamer.crawl.stale import HostFreshness
from gossamer.recrawl import History, rate

__all__ = ["bin_name", "edge_name", "lines", "percent", "seen_bins"]

ASSUMED = 1.0 / rate(History())
"""Seconds between changes of a page of which nothing is known."""
BAR = 40
_EIGHTHS = " ▏▎▍▌▋▊▉"


def lines(f: Freshness, columns: int | None) -> Iterator[str]:
    """All of it."""
    where = f"{f.folder}, {plain(f.host)}" if f.host is not None else f.folder
    held = f.pages.held
    yield f"{where}: about {percent(f.now.plain)} of {held:,} page{_s(held)} up to date, {percent(f.now.weighted)} by importance"
    yield "  A page counts with the chance that it has not changed since its last visit: e^(-rate x age), its rate from its visits."
    if f.pages.once:
        some = (
            "Every page was"
            if f.pages.once == held
            else f"{f.pages.once:,} of them {'was' if f.pages.once == 1 else 'were'}"
        )
        yield f"  {some} visited once only: unless its sitemap says otherwise, a change in {duration(ASSUMED)} is assumed, as of any page."
    yield f"  Without visits: {percent(f.in_a_day.plain)} in a day, {percent(f.in_a_week.plain)} in a week."
    yield ""
    yield f"  pages    {_pages(f)}"
    yield f"  visits   last hour {_visits(f.last_hour.first, f.last_hour.again)}; last day {_visits(f.last_day.first, f.last_day.again)}"
    yield from _found(f)
    b = f.budget
    yield (
        f"  budget   {b.per_day:,.0f} revisits a day ({b.visits_per_day:g} a day for each of {f.due.planned:,} pages); "
        f"used: {percent(b.used_in_last_hour)} in the last hour, {percent(b.used_in_last_day)} in the last day"
    )
    yield from _due(f)
    yield ""
    yield from _spread("age: time since the last visit", f.ages)
    if f.change_intervals.pages:
        yield ""
        yield from _spread("time between changes, as estimated, of pages visited more than once", f.change_intervals)
    if f.hosts is not None:
        yield ""
        yield from _hosts(f.hosts, columns)


def _pages(f: Freshness) -> str:
    p = f.pages
    told = [f"{p.held:,} held of {p.known:,} known"]
    told += [
        f"{count:,} {words}"
        for count, words in (
            (p.gone, "gone and looked for again"),
            (p.retired, "retired (gone for good)"),
            (p.moved, "moved elsewhere"),
            (p.hinted, "changed since, say sitemaps"),
        )
        if count
    ]
    return "; ".join(told)


def _visits(first: int, again: int) -> str:
    return f"{first:,} first, {again:,} again"


def _found(f: Freshness) -> Iterator[str]:
    day = f.last_day
    if day.again:
        parts = (
            (day.changed, "found a change"),
            (day.unchanged, "the page as it was"),
            (day.other, "it gone, moved or back"),
        )
        told = ", ".join(f"{percent(count / day.again)} {words}" for count, words in parts if count)
        yield f"  found    of {day.again:,} revisit{_s(day.again)} in the last day {told}"
    if f.revisits:
        yield f"  {'' if day.again else 'found':<7}  of {f.revisits:,} revisit{_s(f.revisits)} ever {f.changed or 0:,} found a change, {f.unchanged or 0:,} none"
    elif not day.again:
        yield "  found    no page has been visited again yet: gossamer recrawl visits what is due"


def _due(f: Freshness) -> Iterator[str]:
    due = f.due
    yield f"  due      {due.now:,} now" + (f", {due.under_way:,} under way" if due.under_way else "")
    if due.most_overdue is not None:
        yield f"           since {duration(f.at - due.most_overdue.at)} the longest: {plain(due.most_overdue.url)}"
    if due.next is not None:
        yield f"           next in {duration(due.next.at - f.at)}: {plain(due.next.url)}"


def _spread(title: str, found: Distribution) -> Iterator[str]:
    quantiles = f"median {duration(found.median)}, nine of ten within {duration(found.nine_tenths)}, longest {duration(found.longest)}"
    yield f"  {title} ({quantiles})"
    bins = seen_bins(found, 1)
    most, digits = max(each.pages for each in bins), max(len(f"{each.pages:,}") for each in bins)
    for each in bins:
        yield f"    {bin_name(each):<14}  {each.pages:>{digits},}  {percent(each.pages / found.pages):>6}  {_bar(each.pages / most)}".rstrip()


def seen_bins(found: Distribution, least: int) -> list[Bin]:
    """The bins from the first that has pages to the last, and more around them if those are fewer than `least`."""
    full = [number for number, each in enumerate(found.bins) if each.pages]
    start, end = (full[0], full[-1] + 1) if full else (0, 1)
    while end - start < min(least, len(found.bins)):
        if start > 0:
            start -= 1
        if end - start < least and end < len(found.bins):
            end += 1
    return list(found.bins[start:end])


def bin_name(each: Bin) -> str:
    """Which times are in it: `1–6 h`, `6 h – 1 d`, `under 10 s`."""
    if each.below is None:
        return f"over {edge_name(each.least)}"
    if not each.least:
        return f"under {edge_name(each.below)}"
    (first, unit), (last, larger) = edge_name(each.least).split(), edge_name(each.below).split()
    return f"{first}–{last} {unit}" if unit == larger else f"{first} {unit} – {last} {larger}"


def edge_name(seconds: float) -> str:
    """A time at which a bin ends."""
    for unit, length in (("y", 365 * 86_400), ("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds / length:g} {unit}"
    return f"{seconds:g} s" if seconds else "0"


def _bar(share: float) -> str:
    eighths = round(share * BAR * 8)
    if share > 0 and not eighths:
        eighths = 1
    return "█" * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def _hosts(hosts: tuple[HostFreshness, ...], columns: int | None) -> Iterator[str]:
    head = ("host", "held", "stale", "up to date", "mean age", "oldest", "due", "revisits", "changed")
    cells = [
        (
            h.host, f"{h.held:,}", f"{h.stale:,.1f}", percent(h.fresh), duration(h.mean_age), duration(h.oldest),
            f"{h.due:,}", f"{h.revisits:,}", percent(h.changes / h.revisits) if h.revisits else "-",
        )
        for h in hosts
    ]  # fmt: skip
    yield from table(head, cells, frozenset(range(1, len(head))), columns)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %" if share < 9.995 else f"{100 * share:,.0f} %"


def _s(count: int) -> str:
    return "" if count == 1 else "s"
