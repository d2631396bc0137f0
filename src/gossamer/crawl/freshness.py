"""How fresh a crawl's pages are, as an estimate: what `gossamer freshness` tells.

Whether a page has changed since its last visit is not known without another visit. What is known is how often it was found changed,
and so its rate; the chance that it is as it was is e^(−rate × age). The mean of these chances is the estimated share of pages that
are up to date. A page that was visited once has no rate of its own and counts with the one that is assumed of any page.

`Sums` takes pages one at a time and keeps a few numbers a page cannot make more of: sums, and counts in bins. So a frontier of any size
is read as a stream. Future shares come from pages of like rate taken together (bins 2 % wide, each with its mean rate).
"""

import math
from typing import Literal

import msgspec

from gossamer.crawl.spread import Spread
from gossamer.frontier import Kind, State
from gossamer.frontier.planning import BELIEVED, weight_of
from gossamer.frontier.records import UrlRecord
from gossamer.recrawl import History, Prior, prior_from, rate

__all__ = ["Copy", "Due", "Pages", "Share", "Standing", "Sums", "Timed", "copy_of", "standing"]

Standing = Literal["held", "gone", "retired", "moved", "unseen"]

_LIKE = 50.0  # bins of the logarithm of a rate, each 2 % wide: rates that are taken as one
_UNDER_WAY = frozenset({State.QUEUED, State.WAITING})


class Copy(msgspec.Struct, frozen=True, gc=False):
    """A page of which the crawl has a copy."""

    age: float
    """Seconds since the last visit that found it."""
    rate: float
    """Changes a second, as estimated."""
    weight: float
    visits: int
    changes: int
    due: float
    """When it is visited next; 0 while a visit is under way, and for what has no plan."""

    @property
    def fresh(self) -> float:
        """The chance that the page is as it was."""
        return math.exp(-self.rate * self.age)


class Pages(msgspec.Struct):
    """How many pages there are of each kind."""

    known: int = 0
    held: int = 0
    """There is a copy: the pages that freshness is about."""
    once: int = 0
    """Of them, visited once: nothing is known of their changes."""
    gone: int = 0
    """Not there at the last visit, and looked for again."""
    retired: int = 0
    """Gone so often that nobody looks any more."""
    moved: int = 0
    """There was a copy, and now the URL leads elsewhere."""
    hinted: int = 0
    """Held, and a sitemap says that they have changed since."""


class Share(msgspec.Struct, frozen=True):
    """An estimated share of pages up to date, and the same with each page counted by its importance."""

    plain: float
    weighted: float


class Timed(msgspec.Struct, frozen=True):
    """A page and the time of its next visit."""

    url: str
    at: float


class Due(msgspec.Struct, frozen=True):
    """Where the visits stand."""

    planned: int
    """Pages that are visited again: what the budget counts."""
    now: int
    """Their time has come."""
    under_way: int
    """In their host's queue already, or being visited."""
    most_overdue: Timed | None
    next: Timed | None


def standing(record: UrlRecord) -> Standing:
    """What a page is to freshness: `held`, `gone`, `retired`, `moved`, or `unseen` when no visit ever found out."""
    watch = record.watch
    if watch is None:
        return "held" if record.state is State.DONE else "gone" if record.state is State.GONE else "unseen"
    if watch.gone or record.state is State.GONE:
        return "retired" if record.state is State.GONE and not watch.due else "gone"
    if not watch.history.visits:
        return "held" if record.state is State.DONE else "unseen"
    return "moved" if record.redirect is not None or record.state is State.REDIRECTED else "held"


def copy_of(record: UrlRecord, trust: float, now: float) -> Copy:
    """What freshness needs of a held page; `trust` is how far its host's sitemaps are believed."""
    watch = record.watch
    if watch is None or not watch.history.visits:  # a version that planned no visits wrote it
        history, due = History(1, 0, 0.0, 0.0, int(record.fetched), int(record.fetched)), 0.0
    else:
        history, due = watch.history, watch.due
    prior = Prior()
    if not history.exposure and record.changefreq is not None and trust >= BELIEVED:
        prior = prior_from(record.changefreq)
    age = max(now - history.last_visit, 0.0)
    return Copy(age, rate(history, prior), weight_of(record), history.visits, history.changes, due)


class Sums:
    """What is added up over all pages."""

    def __init__(self, now: float) -> None:
        self._now = now
        self.pages = Pages()
        self.ages = Spread()
        self.intervals = Spread()
        """Estimated times between changes, of pages visited more than once."""
        self._weight = 0.0
        self._like: dict[int, list[float]] = {}
        """Pages of like rate: their chances, those times rate, and both again times weight."""
        self._planned = self._due_now = self._under_way = 0
        self._first: Timed | None = None
        self._next: Timed | None = None

    def add(self, record: UrlRecord, trust: float) -> Copy | None:
        """Take in a known URL; what it adds to the pages held, if it is one of them."""
        if record.kind is not Kind.PAGE:
            return None
        pages, kind, watch = self.pages, standing(record), record.watch
        pages.known += 1
        if kind == "unseen":
            return None
        setattr(pages, kind, getattr(pages, kind) + 1)
        if watch is not None:
            self._plan(record.url, watch.due, under_way=record.state in _UNDER_WAY)
        if kind != "held":
            return None
        pages.hinted += watch is not None and watch.hinted
        copy = copy_of(record, trust, self._now)
        self._add(copy)
        return copy

    def _plan(self, url: str, due: float, *, under_way: bool) -> None:
        self._planned += due > 0.0 or under_way
        self._under_way += under_way
        if not due:
            return
        if due <= self._now:
            self._due_now += 1
            if self._first is None or due < self._first.at:
                self._first = Timed(url, due)
        elif self._next is None or due < self._next.at:
            self._next = Timed(url, due)

    def _add(self, copy: Copy) -> None:
        self.ages.add(copy.age)
        if copy.visits > 1:
            self.intervals.add(1.0 / copy.rate)
        else:
            self.pages.once += 1
        self._weight += copy.weight
        like = self._like.setdefault(math.floor(math.log(copy.rate) * _LIKE), [0.0] * 4)
        fresh = copy.fresh
        like[0] += fresh
        like[1] += fresh * copy.rate
        like[2] += fresh * copy.weight
        like[3] += fresh * copy.weight * copy.rate

    def share(self, later: float = 0.0) -> Share:
        """The share up to date so many seconds from now, should nothing be visited until then."""
        plain = math.fsum(_left(like[0], like[1], later) for like in self._like.values())
        weighted = math.fsum(_left(like[2], like[3], later) for like in self._like.values())
        return Share(plain / max(self.pages.held, 1), weighted / self._weight if self._weight > 0.0 else 0.0)

    def due(self) -> Due:
        return Due(self._planned, self._due_now, self._under_way, self._first, self._next)


def _left(fresh: float, fresh_rate: float, later: float) -> float:
    return fresh * math.exp(-fresh_rate / fresh * later) if fresh > 0.0 else 0.0
