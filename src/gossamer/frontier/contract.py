"""The frontier's contract: its values, its verbs, and what holds at every instant whichever engine stands behind it.

A URL is in exactly one place:

    unknown ──discover──▶ QUEUED ──lease──▶ (leased) ──complete──▶ DONE · GONE · REFUSED · REDIRECTED · FAILED
                             ▲                 │  │
                             │   release,      │  └─complete (retry)──▶ WAITING ──time──▶ QUEUED
                             └── reclaim ──────┘      (defer host)────▶ QUEUED, its host put off
                             ▲
                             ├── abandon ── DONE, but its segment was lost
                             ├── requeue ── FAILED, and an operator wants it tried again
                             └── due ────── DONE, GONE, and the time of its next visit has come

*Leased* is not a state that is written down. A lease lives in the engine with a worker's name, a deadline and an attempt
count; the URL's queue entry stays where it is until `complete` removes it. A crash therefore costs at most a refetch, and there is
nothing to repair.

Invariants, each a test of the contract suite:

1. A host never has more leases out than it has connections; and since workers keep connections open between fetches, the most
   leases each worker ever had out do not add up to more either.
2. Between the end of a fetch (`complete`) and the next lease of its host lies at least the host's delay.
3. A URL is never lost: queued, leased, waiting for a time, or finished. `discover` and `complete` repeated change nothing.
4. A `complete` whose lease is no longer held (it expired, or its worker was given up) changes nothing.
5. A URL whose bytes are in a segment that is abandoned is queued again; one in a sealed segment never is.
6. An address never has more leases out than it may have, whichever of its hosts they are for (as far as addresses are known).
7. A low-priority host gets its turn: better ones are preferred by a bias, not absolutely.
8. What is FAILED is on the dead-letter list, and nothing else is. `requeue` repeated changes nothing; what it queues has all its
   attempts again, its host is not given up any more, and no budget counts it twice.
9. An answer that is stored but not yet read (`kept`) is never asked for again while its bytes can be read: the next lease of its URL
   says where they are, over deaths of workers, restarts and `requeue`.
10. Every page that was answered (DONE, GONE) has the time of its next visit, written in the transition that finished it, until it has been
   gone so often that it is retired. A page that is visited again is never worse off: whatever becomes of the visit, it keeps its
   older capture, and unless it is FAILED for good or retired, a time.
11. While URLs wait that were never visited, revisits have their share of the leases (`recrawl.share`) and no more; nobody waits
   for a share that the others do not use.

Time is the caller's: every verb that depends on it takes `now` (Unix seconds).
"""

from collections.abc import Sequence
from enum import IntEnum
from typing import Protocol

import msgspec

from gossamer.outcome import Action, ErrorClass
from gossamer.politeness import HostState

__all__ = [
    "Body",
    "Content",
    "Copy",
    "Done",
    "FailurePage",
    "FailureView",
    "Frontier",
    "HostView",
    "Kept",
    "Kind",
    "Lease",
    "Link",
    "Place",
    "Requeued",
    "RobotsFile",
    "State",
    "Stats",
    "Stored",
    "UrlView",
]


class Kind(IntEnum):
    """What is fetched, and so what is done with it."""

    PAGE = 0
    SITEMAP = 1
    ROBOTS = 2
    ERRAND = 3
    """A single request to a host, on the way to something else: a robots.txt that moved there."""


class State(IntEnum):
    """Where a known URL is."""

    QUEUED = 0
    WAITING = 1
    DONE = 2
    REDIRECTED = 3
    GONE = 4
    REFUSED = 5
    FAILED = 6


class Link(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A URL that was found: canonical, in scope, not refused by any rule that needs no memory."""

    url: str
    depth: int = 0
    priority: float = 0.5
    """0 to 1; sitemaps say it, best-first uses it."""
    kind: Kind = Kind.PAGE
    hops: int = 0
    """Redirects that led here since the last real link."""
    lastmod: float = 0.0
    """When a sitemap says that the page last changed (Unix seconds); 0 where it says nothing."""
    changefreq: str | None = None
    """How often a sitemap says that it changes."""


class Place(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a stored answer lies, and which commit makes it durable."""

    segment: str
    file: str
    offset: int
    length: int


class Body(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The capture that holds a page's bytes: its own, or that of the page it copies."""

    url: str
    at: float
    """When it was fetched, as its WARC record says."""
    sent: str = ""
    """The digest of the bytes as sent, where they are not the content itself (gzip, br)."""


class Lease(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Permission to fetch one URL now."""

    id: int
    url: str
    kind: Kind
    depth: int
    hops: int
    attempt: int
    """1 for the first try."""
    deadline: float
    etag: str | None = None
    last_modified: str | None = None
    via: str | None = None
    place: Place | None = None
    """Where its answer lies already, stored and not yet read: it is read from there, and the host is not asked."""
    deaths: int = 0
    """Workers that died with this page in their parser's hands."""
    visits: int = 0
    """Visits before this one that found the page; 0 for a URL that was never answered."""
    digest: bytes | None = None
    """Of what the last visit found."""
    likeness: int | None = None
    """SimHash of its text then."""
    body: Body | None = None
    """Where its bytes are, if they are kept."""


class Kept(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The answer to a lease is stored, durably, and not yet read."""

    lease: int
    place: Place
    status: int
    size: int = 0
    """Bytes that were downloaded for it; what completes the lease does not count them again."""


class RobotsFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is known of the robots.txt of one origin."""

    origin: str
    status: int
    """As answered; 0 when it could not be read."""
    body: bytes
    fetched: float
    expires: float


class Done(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What came of a lease."""

    lease: int
    action: Action
    status: int = 0
    error: ErrorClass | None = None
    detail: str | None = None
    requested: bool = True
    """Whether the host was asked anything: a URL refused beforehand costs the host no pause."""
    seconds: float = 0.0
    size: int = 0
    retry_after: str | None = None
    wait: float = 0.0
    """For a retry: how long to wait for it."""
    place: Place | None = None
    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = None
    copy_of: str | None = None
    redirect: str | None = None
    address: str | None = None
    links: tuple[Link, ...] = ()
    robots: RobotsFile | None = None
    crawl_delay: float | None = None
    stored: bool = False
    """Whether the page was kept with a body of its own."""
    likeness: int | None = None
    """SimHash of the page's text, whatever its length: what traps are recognised by."""
    kin: int = 0
    """Links to the page's own section of the site."""
    known: int = 0
    """Of them, those found before."""
    outward: int = 0
    """Links found for the first time that lead out of that section."""
    body: Body | None = None
    """Where the bytes of the page are, if they are kept."""
    changed: bool | None = None
    """Of a revisit: whether the page counts as changed; None: by its digest. A page that is just as it was is `NOT_MODIFIED`, whatever
    the status: nothing of our copy of it changes."""


class Content(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The fingerprints of a page about to be stored."""

    url: str
    digest: bytes
    simhash: int | None = None
    """None when the text is too short to compare, or nearness is of no interest."""
    at: float = 0.0
    """When it was asked for; 0 for now."""
    sent: str = ""
    """The digest of the bytes as sent, where they are not the content itself (gzip, br): equal pages may differ in them."""


class Copy(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An earlier page with the same content."""

    url: str
    near: bool
    distance: int = 0
    at: float = 0.0
    """When it was first seen (Unix seconds)."""
    sent: str = ""
    """Its bytes as sent, as `Content` has them; of a near-copy, empty."""
    near_of: str = ""
    """Set when the earlier page itself nearly repeats this one, and so may have been kept without a body."""


class Stored(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A finished URL whose bytes are not yet known to be durable."""

    url: str
    place: Place


class HostView(msgspec.Struct, frozen=True):
    """A host, for people."""

    name: str
    state: HostState
    fetched: int
    failed: int
    size: int
    leased: int
    address: str | None
    dead: str | None


class UrlView(msgspec.Struct, frozen=True):
    """A URL's record, for people."""

    url: str
    state: State
    kind: Kind
    depth: int
    hops: int
    found: float
    via: str | None
    attempts: int
    status: int
    error: str | None
    detail: str | None
    fetched: float
    again: float
    place: Place | None
    copy_of: str | None
    redirect: str | None
    leased: bool
    visits: int = 0
    """Visits that found it."""
    changes: int = 0
    """Of them, those that found it changed."""
    due: float = 0.0
    """When it is visited next; 0 for never, or while it is queued."""


class FailureView(msgspec.Struct, frozen=True):
    """A URL on the dead-letter list, for people."""

    url: str
    kind: Kind
    reason: str
    """An `ErrorClass`, or the status where an answer came."""
    status: int
    detail: str | None
    attempts: int
    deaths: int
    at: float
    """When it was given up."""
    depth: int
    via: str | None
    place: Place | None
    """Where its answer lies, where that was stored and could not be read: `requeue` begins there."""

    @property
    def stage(self) -> str:
        """How far it came."""
        return "fetch" if self.place is None else "parse"


class FailurePage(msgspec.Struct, frozen=True):
    """A part of the dead-letter list."""

    found: list[FailureView]
    after: str | None
    """Where the next part begins; None when this was the last. A part may be empty and not be the last."""


class Requeued(msgspec.Struct, frozen=True):
    """What one call of `requeue` has done."""

    count: int
    after: str | None
    """Where to go on; None when all that was meant is queued."""


class Stats(msgspec.Struct):
    """The frontier's own books: written in the same transition as what they count."""

    seen: int = 0
    queued: int = 0
    waiting: int = 0
    done: int = 0
    redirected: int = 0
    gone: int = 0
    refused: int = 0
    failed: int = 0
    fetched: int = 0
    """Requests for pages that were answered."""
    copies: int = 0
    size: int = 0
    stored: int = 0
    """Pages kept with a body of their own."""
    hosts: int = 0
    trapped: int = 0
    leased: int = 0
    in_play: int = 0
    """Hosts in memory with something to fetch."""
    parked: int = 0
    """Hosts on disk with something to fetch."""
    due: int = 0
    """URLs that are to be visited again at a time."""
    overdue: int = 0
    """URLs whose time has come, and whose host is not through with others yet."""
    revisiting: int = 0
    """URLs queued or waiting that were visited before."""
    retired: int = 0
    """URLs that were gone so often that they are not visited any more."""
    revisits: int = 0
    """Visits to known pages that were answered, over all runs; so are the next three."""
    unchanged: int = 0
    changed: int = 0
    back: int = 0
    """Visits that found a page again that had been gone."""


class Frontier(Protocol):
    """What a crawl asks of its frontier."""

    async def discover(self, links: Sequence[Link], now: float, via: str | None = None) -> int:
        """Add what is new; how many were."""

    async def lease(self, worker: str, most: int, now: float) -> list[Lease]:
        """At most `most` URLs that may be fetched now; never of a host that is waiting or busy."""

    async def newcomers(self, most: int) -> list[str]:
        """Hosts that came into play and were never visited, each told once: their names may be looked up ahead of time."""

    async def errand(self, worker: str, url: str, now: float) -> Lease | None:
        """Permission for one request to a URL that need not be known, if its host may be asked now; `complete` ends it."""

    async def complete(self, worker: str, done: Sequence[Done], now: float) -> int:
        """Take in what came of leases; how many were still held by `worker`. One atomic transition."""

    async def kept(self, worker: str, kept: Kept, now: float) -> bool:
        """An answer is safe before anyone dares to read it; False when the lease is no longer held.

        Should the worker die of it, the next lease of the URL has the place.
        """

    async def release(self, worker: str, leases: Sequence[int], now: float) -> None:
        """Give back leases that were not used; no attempt is counted and the host waits for nothing."""

    async def reclaim(self, worker: str, now: float, blamed: Sequence[int] = ()) -> int:
        """Take back all leases of a worker that is gone; an attempt is counted for the `blamed` ones."""

    async def expire(self, now: float) -> int:
        """Take back leases past their deadline; an attempt is counted."""

    async def extend(self, worker: str, now: float) -> None:
        """The worker is alive: its leases last another term."""

    async def seen_content(self, contents: Sequence[Content], now: float) -> list[Copy | None]:
        """For each page: the earlier page it copies, or None; what is new is remembered."""

    async def seal(self, segment: str) -> None:
        """What the segment holds is durable."""

    async def abandon(self, segment: str, now: float, lost: Sequence[str] | None = None) -> int:
        """What the segment holds (or only the URLs named) is lost: fetch it again."""

    async def unsealed(self) -> dict[str, list[Stored]]:
        """Segments neither sealed nor abandoned, and what they hold."""

    async def robots(self, origin: str) -> RobotsFile | None:
        """The robots.txt of an origin, as last read."""

    async def host(self, name: str) -> HostView | None: ...

    async def block_until(self, name: str, until: float, now: float) -> None:
        """Leave a host alone until a time."""

    async def explain(self, url: str) -> UrlView | None: ...

    async def failures(
        self, *, host: str | None = None, reason: str | None = None, most: int = 1_000, after: str = ""
    ) -> FailurePage:
        """A part of the dead-letter list, of one host or for one reason if named; `5xx` is any reason of that class.

        At most `most` entries, found in a bounded number of looks: hence the mark to go on from.
        """

    async def requeue(
        self,
        now: float,
        *,
        urls: Sequence[str] | None = None,
        host: str | None = None,
        reason: str | None = None,
        most: int = 1_000,
        after: str = "",
        refetch: bool = False,
    ) -> Requeued:
        """Queue failed URLs again with all their attempts: these, or those of a part of the dead-letter list.

        What was stored and could not be read is read again from where it lies; `refetch` asks the host for it all the same.
        """

    async def revisit(self, until: float) -> None:
        """From now on also lease what is due before `until`: infinity for a crawl without end, 0 for no revisits."""

    async def bring_forward(self, now: float, before: float, most: int = 1_000, after: str = "") -> Requeued:
        """Pages whose last answer is older than `before` are due now; a part of them, as `requeue` does it."""

    async def next_due(self) -> float | None:
        """The earliest time of a next visit; None when there is none."""

    async def next_ready(self, now: float) -> float | None:
        """When something may become leasable without any further call; None when nothing will."""

    async def stats(self) -> Stats: ...

    async def close(self) -> None: ...
