"""What is written down of a URL, and the settings an engine needs of a crawl."""

from typing import Annotated

import msgspec
from msgspec import Meta

from gossamer.frontier.contract import Kind, Place, State
from gossamer.frontier.order import Order
from gossamer.politeness import Politeness
from gossamer.traps import TrapRules

__all__ = ["TRIES", "FrontierSettings", "Try", "UrlRecord", "decode_url", "encode"]

TRIES = 5
"""Tries that a URL's record remembers."""


Positive = Annotated[int, Meta(ge=1)]


class Try(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One attempt that did not settle its URL at once."""

    at: float
    status: int
    error: str | None


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


encode = msgspec.msgpack.Encoder().encode
decode_url = msgspec.msgpack.Decoder(UrlRecord).decode


class FrontierSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How a frontier orders, paces and bounds a crawl."""

    order: Annotated[Order, Meta(description="Order of discovery: `bfs`, `dfs` or `best-first`.")] = Order.BFS
    politeness: Politeness = Politeness()
    traps: TrapRules = TrapRules()
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
