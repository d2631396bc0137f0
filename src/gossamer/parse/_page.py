"""The values a parse gives: small, frozen, free of lone surrogates, ready to be written to a row."""

from typing import Literal

import msgspec

__all__ = ["Link", "MetaRobots", "Page", "Refresh", "TextMode"]

TextMode = Literal["main", "full", "both", "none"]
"""Which texts of a page are wanted."""


class Link(msgspec.Struct, frozen=True, gc=False):
    """A reference from a page to another resource; `url` is absolute, http or https."""

    url: str
    kind: str
    """The element it stood in: a, area, link, iframe or frame."""
    rel: str = ""
    """The rel attribute in lower case, words separated by single spaces."""
    text: str = ""
    """What the reader sees of it, white space collapsed, bounded."""


class MetaRobots(msgspec.Struct, frozen=True, gc=False):
    """What the page asks of crawlers, from meta elements and X-Robots-Tag headers together: the strictest wins."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    nosnippet: bool = False
    noimageindex: bool = False
    notranslate: bool = False
    max_snippet: int | None = None
    """Characters allowed in a snippet; -1 means no limit, None means nothing was said."""
    unavailable_after: str | None = None
    """The date as the page wrote it."""


class Refresh(msgspec.Struct, frozen=True, gc=False):
    """A client-side redirect: go to `url` after `delay` seconds."""

    delay: int
    url: str


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What one response body says. A body that is no HTML and no text has its media type and little else."""

    url: str
    media_type: str = ""
    encoding: str = ""
    """WHATWG name of the encoding the body was read in."""
    encoding_source: str = ""
    """bom, header, meta, detected or default."""
    title: str = ""
    text: str = ""
    """The main text: one block a line, navigation and other boilerplate left out."""
    full_text: str = ""
    """Everything a reader sees, one block a line."""
    language: str = ""
    """ISO 639-1 where known."""
    description: str = ""
    canonical: str | None = None
    hreflang: tuple[tuple[str, str], ...] = ()
    """Pairs of language tag and URL."""
    open_graph: tuple[tuple[str, str], ...] = ()
    """Pairs of property (without the prefix og:) and content, in the page's order."""
    robots: MetaRobots = MetaRobots()
    refresh: Refresh | None = None
    base: str = ""
    """What relative references were resolved against."""
    links: tuple[Link, ...] = ()
    feeds: tuple[Link, ...] = ()
    """RSS, Atom and JSON feeds the page advertises."""
    cuts: tuple[str, ...] = ()
    """One sentence for each thing a bound left out; empty for nearly every page."""
