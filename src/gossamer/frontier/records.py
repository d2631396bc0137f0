"""What is written down of a URL, and the settings an engine needs of a crawl."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.frontier.contract import Body, Kind, Place, State
from gossamer.frontier.order import Order
from gossamer.politeness import Politeness
from gossamer.recrawl import History, RecrawlPolicy
from gossamer.traps import TrapRules

__all__ = ["TRIES", "FrontierSettings", "Recrawl", "Try", "UrlRecord", "Watch", "decode_url", "encode", "visits_of"]

TRIES = 5
"""Tries that a URL's record remembers."""


Positive = Annotated[int, Meta(ge=1)]


class Try(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One attempt that did not settle its URL at once."""

    at: float
    status: int
    error: str | None


class Watch(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is remembered of a page so that it can be visited again: about 90 bytes."""

    history: History
    due: float = 0.0
    """When it is visited next; 0 while it is queued, and for one that is retired."""
    planned: float = 0.0
    """Seconds that lay between the last visit and the next when that was planned."""
    gone: int = 0
    """Visits in a row that found it gone."""
    lastmod: float = 0.0
    """The last change that a sitemap told of after our visit."""
    hinted: bool = False
    """Whether a sitemap says that it has changed since the last visit."""
    place: Place | None = None
    """Of an earlier capture: while a visit is under way the last one, after it the one before."""
    kept: bool = False
    """Whether that one has a body of its own."""
    body: Body | None = None
    """Where its bytes are, if they are kept."""
    status: int = 0
    """What was answered when it was last found, or found gone."""


class UrlRecord(msgspec.Struct, array_like=True, gc=False):
    """One URL."""

    url: str
    state: State
    kind: Kind
    depth: int
    hops: int
    priority: float
    found: float
    via: str | None
    entry: bytes
    """rank(2) order(8): its place in the host's queue, kept over retries."""
    attempts: int = 0
    status: int = 0
    error: str | None = None
    detail: str | None = None
    fetched: float = 0.0
    again: float = 0.0
    """When it waits until."""
    place: Place | None = None
    etag: str | None = None
    last_modified: str | None = None
    digest: bytes | None = None
    copy_of: str | None = None
    redirect: str | None = None
    stored: bool = False
    tries: tuple[Try, ...] = ()
    """The last few attempts; empty for a page that was answered the first time."""
    deaths: int = 0
    """Workers that died with it in their parser's hands."""
    likeness: int | None = None
    """SimHash of its text: what pages found on it are compared with."""
    changefreq: str | None = None
    """What a sitemap said when it was found."""
    watch: Watch | None = None
    """None for a URL that was never answered."""


def visits_of(record: UrlRecord) -> tuple[int, int, float]:
    """Visits, changes they found, and the time of the next: for people."""
    watch = record.watch
    return (0, 0, 0.0) if watch is None else (watch.history.visits, watch.history.changes, watch.due)


encode = msgspec.msgpack.Encoder().encode
decode_url = msgspec.msgpack.Decoder(UrlRecord).decode


class Recrawl(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """When pages are visited again. Times of next visits are kept by every crawl; this says how they are chosen and used."""

    continuous: Annotated[
        bool, Meta(description="Do not end: visit pages again as they become due, until interrupted.")
    ] = False
    share: Annotated[
        float, Meta(description="Share of the fetches that revisits have while new pages wait.", ge=0, le=1)
    ] = 0.5
    visits_per_day: Annotated[
        float, Meta(description="Visits a day to a known page on average: the budget of revisits.", gt=0)
    ] = 1.0
    retire_after: Annotated[
        int, Meta(description="Visits in a row that find a page gone before it is not visited any more.", ge=1, le=100)
    ] = 4
    ignore_boilerplate: Annotated[
        bool, Meta(description="A page whose main text is the same counts as unchanged, whatever else of it differs.")
    ] = False
    policy: RecrawlPolicy = RecrawlPolicy()


class FrontierSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a frontier orders, paces and bounds a crawl."""

    order: Annotated[Order, Meta(description="Order of discovery: `bfs`, `dfs` or `best-first`.")] = Order.BFS
    politeness: Politeness = Politeness()
    traps: TrapRules = TrapRules()
    recrawl: Recrawl = Recrawl()
    robots: Annotated[bool, Meta(description="Read robots.txt before anything else of a host.")] = True
    max_pages: Annotated[Positive | None, Meta(description="Pages to fetch at most.")] = None
    max_pages_per_host: Annotated[Positive | None, Meta(description="Pages to fetch at most from one host.")] = None
    near_bits: Annotated[int, Meta(description="Bits in which near-copies may differ.", ge=0, le=16)] = 3
    hosts_in_memory: Annotated[int, Meta(description="Hosts in play at a time; the others wait on disk.", ge=1)] = (
        20_000
    )
    cache: Annotated[int, Meta(description="Bytes of the database kept in memory for reading.", ge=1 << 20)] = 256 << 20
    host_turn: Annotated[
        int, Meta(description="Fetches from a host before one that waits on disk takes its place.", ge=1)
    ] = 32
    lease_seconds: Annotated[float, Meta(description="How long a lease lasts without a sign of life.", gt=0)] = 120.0
