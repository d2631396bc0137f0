"""The values: what a sitemap holds, and the bounds within which it is read."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

__all__ = ["DEFAULT_BOUNDS", "Alternate", "Child", "Entry", "Kind", "Sitemap", "SitemapBounds"]

Kind = Literal["urlset", "index", "text", "rss", "atom", "unknown"]

# gc=False: none of these can be part of a cycle, and 100,000 of them would make every collection walk them all.


class Alternate(Struct, frozen=True, gc=False):
    """Another version of the same page; `lang` is empty where the link names no language (a mobile version, say)."""

    lang: str
    url: str


class Entry(Struct, frozen=True, gc=False):
    """One page the site says it has."""

    url: str
    lastmod: float | None = None
    """Unix seconds; a date without a time zone is read as UTC, one without a time as midnight."""
    changefreq: str | None = None
    priority: float | None = None
    """0 to 1; None where the site said nothing (the protocol's default is 0.5)."""
    alternates: tuple[Alternate, ...] = ()
    inside: bool = True
    """Whether it is on the sitemap's own site: the same registrable domain."""


class Child(Struct, frozen=True, gc=False):
    """One sitemap that an index names."""

    url: str
    lastmod: float | None = None
    inside: bool = True


class Sitemap(Struct, frozen=True):
    """What could be read, and in `problems` one sentence for each kind of thing that was wrong."""

    kind: Kind = "unknown"
    entries: tuple[Entry, ...] = ()
    children: tuple[Child, ...] = ()
    problems: tuple[str, ...] = ()


class SitemapBounds(Struct, frozen=True):
    """How much of a sitemap is read. What lies beyond a bound is left out and named in `problems`."""

    bytes_unpacked: Annotated[
        int,
        Meta(
            description="Bytes read of a sitemap after decompression; the protocol allows 50 MiB.",
            ge=1_024,
            le=1 << 31,
        ),
    ] = 50 * 1_048_576
    entries: Annotated[
        int,
        Meta(
            description="URLs read of one sitemap, usable or not; the protocol allows 50,000, many sites list more.",
            ge=1,
            le=10_000_000,
        ),
    ] = 100_000
    alternates: Annotated[
        int, Meta(description="Language and other versions read of one sitemap, over all its entries.", ge=0)
    ] = 100_000
    url_length: Annotated[
        int, Meta(description="Characters of the longest URL taken from a sitemap.", ge=64, le=1_048_576)
    ] = 8_192
    nesting: Annotated[
        int,
        Meta(
            description="Depth of XML elements beyond which they are taken for tags that were never closed.",
            ge=8,
            le=100_000,
        ),
    ] = 256
    tags: Annotated[
        int,
        Meta(
            description=(
                "Tags, and as many references such as &amp;, read of one sitemap: the bound on CPU time;"
                " 50,000 URLs with all their fields have 300,000 tags."
            ),
            ge=100,
        ),
    ] = 1_000_000
    tag_bytes: Annotated[
        int,
        Meta(
            description="Bytes of the longest single tag with its attributes, or text between two tags; a longer one is skipped.",
            ge=65_536,
            le=9_000_000,
        ),
    ] = 524_288


DEFAULT_BOUNDS = SitemapBounds()
