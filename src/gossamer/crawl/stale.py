"""Which hosts the stale pages are of: the sums of `freshness` for each host, of which only the worst are kept."""

import heapq
from collections.abc import Iterable, Sequence

import msgspec

from gossamer.crawl.freshness import Copy, Sums
from gossamer.frontier.records import UrlRecord
from gossamer.url import host_of

__all__ = ["HostFreshness", "stalest"]


class HostFreshness(msgspec.Struct, frozen=True):
    """The pages of one host."""

    host: str
    held: int
    stale: float
    """Pages that have changed since their last visit, as estimated."""
    fresh: float
    """Share of the others."""
    mean_age: float
    oldest: float
    due: int
    revisits: int
    changes: int
    """Revisits that found a change."""


class _Host:
    """Sums over the pages of one host."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.held = self.due = self.revisits = self.changes = 0
        self.fresh = self.ages = self.oldest = 0.0

    def add(self, copy: Copy, now: float) -> None:
        self.held += 1
        self.fresh += copy.fresh
        self.ages += copy.age
        self.oldest = max(self.oldest, copy.age)
        self.due += 0.0 < copy.due <= now
        self.revisits += copy.visits - 1
        self.changes += copy.changes

    def told(self) -> HostFreshness:
        return HostFreshness(
            self.name, self.held, self.held - self.fresh, self.fresh / self.held, self.ages / self.held, self.oldest,
            self.due, self.revisits, self.changes,
        )  # fmt: skip


def stalest(pages: Iterable[tuple[UrlRecord, float]], sums: Sums, now: float, most: int) -> Sequence[HostFreshness]:
    """Take in all pages; the hosts with the most stale ones, at most so many (0: all). Pages of a host must stand together."""
    found: list[tuple[float, str, HostFreshness]] = []
    host: _Host | None = None

    def end() -> None:
        if host is not None and host.held:
            told = host.told()
            entry = (told.stale, told.host, told)
            (heapq.heappushpop if most and len(found) == most else heapq.heappush)(found, entry)

    for record, trust in pages:
        copy = sums.add(record, trust)
        if copy is None:
            continue
        name = host_of(record.url)
        if host is None or host.name != name:
            end()
            host = _Host(name)
        host.add(copy, now)
    end()
    return [told for _, _, told in sorted(found, key=lambda entry: (-entry[0], entry[1]))]
