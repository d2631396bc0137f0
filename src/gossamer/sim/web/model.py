"""Values of the synthetic web: its settings, what a request asks, what an answer is, and what a crawl should make of it.

A *site* answers for one host. It is asked two things: `answer(request)`, what a server would send, and `node(target)`, what
a correct crawler should do with that address and which addresses it leads to. Both come from the same plan, so the second
is an oracle for a crawl of the first. What an answer may depend on beyond its address (the time, how often it was asked)
comes in with the request: a site remembers nothing.
"""

from collections.abc import Callable
from typing import Annotated, Literal, Protocol

import msgspec

__all__ = ["Answer", "Delivery", "Kind", "Link", "Node", "Request", "Scope", "Settings", "Site"]

Scope = Literal["host", "domain", "prefix", "any"]

Kind = Literal[
    "page",  # fetched and stored
    "copy",  # byte for byte the same payload as `of`: of such a group one is stored, the others are duplicates
    "near",  # the text of `of` but for a date or a number
    "redirect",  # leads to its one link
    "noindex",  # fetched, its links followed, asked not to be kept
    "soft404",  # status 200, but says that there is no such page
    "missing",  # 404, 410, 401, 403, 451: nothing to store
    "failed",  # never gives a good answer: ends among the failures
    "binary",  # fetched; no HTML, no links
    "free",  # hostile, broken or coming and going: whatever the crawler makes of it, it must survive and go on
    "trap",  # one of endlessly many: as few as possible
    "forbidden",  # must never be asked for: robots.txt, rel=nofollow or meta robots say so
]


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that decides what this web is. Equal settings are the same web, byte for byte."""

    seed: Annotated[int, msgspec.Meta(description="Which of the endlessly many webs.")] = 0
    hosts: Annotated[int, msgspec.Meta(description="Number of plain hosts.", ge=1)] = 200
    pages: Annotated[int, msgspec.Meta(description="Pages of all plain hosts together.", ge=1)] = 5000
    skew: Annotated[
        float,
        msgspec.Meta(description="Exponent of the power law of host sizes; 0 makes them equal.", ge=0, le=3),
    ] = 1.0
    fan: Annotated[int, msgspec.Meta(description="Child pages that a page links to.", ge=2, le=1000)] = 8
    text: Annotated[float, msgspec.Meta(description="Factor on the length of page texts.", gt=0, le=1000)] = 1.0
    corners: Annotated[frozenset[str], msgspec.Meta(description="Corners switched on, by name.")] = frozenset()
    without: Annotated[
        frozenset[str], msgspec.Meta(description="Corner hosts left out although their corner is on.")
    ] = frozenset()
    corner_pages: Annotated[int, msgspec.Meta(description="Ordinary pages of each corner host.", ge=1, le=10**6)] = 20
    mire_depth: Annotated[
        int, msgspec.Meta(description="Trap addresses to each real page of the mire; 0: without end.", ge=0)
    ] = 9
    agent: Annotated[
        str,
        msgspec.Meta(description="Product token that robots.txt rules of the robots and meta corners name."),
    ] = "gossamer"
    slow_seconds: Annotated[
        float, msgspec.Meta(description="Slow hosts answer after one to two times this long.", ge=0)
    ] = 1.0
    retry_after: Annotated[int, msgspec.Meta(description="Seconds that throttling hosts ask for.", ge=1)] = 2
    crawl_delay: Annotated[float, msgspec.Meta(description="Crawl-delay of the hosts that have one.", ge=0)] = 2.0
    epoch: Annotated[float, msgspec.Meta(description="Web time (Unix seconds) when the server starts.")] = 1.7e9
    speed: Annotated[float, msgspec.Meta(description="Seconds of web time that pass in a second.", gt=0)] = 1.0
    change_seconds: Annotated[
        float, msgspec.Meta(description="Typical web time between two versions of a changing page.", gt=0)
    ] = 60.0
    bomb_bytes: Annotated[int, msgspec.Meta(description="Size of the largest bombs once unpacked.", ge=1000)] = (
        1_000_000_000
    )
    bomb_items: Annotated[
        int, msgspec.Meta(description="Tags, attributes or links of the bombs that count them.", ge=10)
    ] = 200_000


class Request(msgspec.Struct, frozen=True):
    """One request as a site sees it."""

    target: str  # canonical path and query
    method: str = "GET"
    headers: dict[str, str] = {}  # lower-case names
    at: float = 0.0  # web time
    wall: float = 0.0  # Unix time, for dates that a client compares with its own clock
    tries: int = 0  # earlier requests for this address (counted only where `Site.remembers`)
    asked: int = 0  # earlier requests for pages of this host (counted only where `Site.remembers`)
    closed_until: float = 0.0  # monotonic second until which this host has asked to be left alone
    monotonic: float = 0.0


class Delivery(msgspec.Struct, frozen=True):
    """How an answer goes out, where it is not simply written."""

    delay: float = 0.0  # seconds before the first byte
    chunk: int = 0  # chunked coding in pieces of this size instead of Content-Length
    length: int | None = None  # Content-Length as claimed; -1: none at all, the end is the close
    stop_after: int | None = None  # bytes of the body after which the connection closes
    reset: bool = False  # close with RST instead of FIN
    mute: bool = False  # never answer
    raw: bytes | None = None  # sent instead of a status line and headers
    drip: float = 0.0  # seconds between two pieces of `chunk` bytes
    repeat: int = 1  # how many times the body is sent; large numbers make it endless without memory


PLAIN = Delivery()


class Answer(msgspec.Struct, frozen=True):
    """Status, headers, body and delivery. Content-Length is added by the server."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "text/html; charset=utf-8"),)
    body: bytes = b""
    delivery: Delivery = PLAIN
    fixed: bool = True  # depends on the address alone: may be kept by the server's cache
    closes_for: float = 0.0  # the host asks to be left alone for so many seconds from now


class Link(msgspec.Struct, frozen=True, gc=False):
    """A link as a page writes it: the canonical address, and the spelling that stands in the HTML."""

    url: str
    href: str
    text: str
    nofollow: bool = False


class Node(msgspec.Struct, frozen=True):
    """What a correct crawl makes of an address. `links` are canonical and to be followed."""

    url: str
    kind: Kind
    links: tuple[str, ...] = ()
    unfollowed: tuple[str, ...] = ()
    of: str | None = None
    title: str | None = None


class Site(Protocol):
    """One host. Pure: same request, same answer."""

    @property
    def host(self) -> str: ...
    @property
    def remembers(self) -> bool: ...
    @property
    def crawl_delay(self) -> float | None: ...
    @property
    def hidden(self) -> tuple[str, ...]:
        """Addresses that only the sitemaps of this host name."""
        ...

    @property
    def family(self) -> "Callable[[str], Site] | None":
        """For a host that answers for its subdomains too: the site of one of them."""
        ...

    def answer(self, request: Request) -> Answer: ...
    def node(self, target: str) -> Node: ...
