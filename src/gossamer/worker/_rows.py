"""Captures and rows: what of a page goes into the WARC and what into the table.

The table is derived: every row can be made again from its capture by the same code (`row_maker`), which is how a torn crawl is mended.
So a row says nothing of a body that is not in the WARC: the row of an exact copy, or of a near-copy that was skipped, names its
original and has no text of its own.
"""

import contextlib
from collections.abc import Callable

import msgspec

from gossamer.errors import InvalidURL
from gossamer.fetch import Failure, Response, decode
from gossamer.fingerprint import text_print, warc_digest
from gossamer.frontier import Copy, Kind, Lease
from gossamer.outcome import Outcome
from gossamer.parse import Page, TextMode, parse_page
from gossamer.settings import NearDuplicates, Settings, Text
from gossamer.store import Capture, Location, Notes, PageRow, Revisit, bare_row
from gossamer.url import LinkMemory, canonicalize, resolve

__all__ = ["address_of", "capture_of", "read_page", "redirect_of", "row_maker", "row_of", "simhash_of"]


def read_page(
    content: bytes, url: str, headers: tuple[tuple[str, str], ...], settings: Settings, memory: LinkMemory
) -> Page:
    """Parse a decoded body as the crawl's settings ask."""
    return parse_page(content, url, None, headers, text=_MODES[settings.text], bounds=settings.parse, memory=memory)


_MODES: dict[Text, TextMode] = {Text.MAIN: "main", Text.FULL: "full", Text.NONE: "none"}


def simhash_of(page: Page, settings: Settings) -> int | None:
    """The fingerprint of the page's text; None when it is too short to compare, or nobody asks."""
    text = page.text or page.full_text
    if not text or settings.near_duplicates is NearDuplicates.OFF:
        return None
    found = text_print(text)
    return found.simhash if found.words >= settings.near.min_words else None


def redirect_of(location: str | None, url: str, settings: Settings) -> str | None:
    """Where an answer sends us, canonical; None when it names no place."""
    if not location:
        return None
    with contextlib.suppress(UnicodeError):  # headers are read as Latin-1; those who send more than ASCII mean UTF-8
        location = location.encode("latin-1").decode()
    try:
        return canonicalize(resolve(location, url), settings.url)
    except InvalidURL:
        return None


def address_of(answer: Response | Failure, settings: Settings) -> str | None:
    """The host's address; None where every connection goes to one and the same place."""
    fetch = settings.fetch
    return None if fetch.connect_to is not None or fetch.proxy is not None else answer.address or None


def capture_of(
    lease: Lease, answer: Response, at: float, outcome: Outcome, copy: Copy | None, digest: str, *, stored: bool
) -> Capture:
    """The exchange as the WARC keeps it."""
    exact = copy is not None and not copy.near
    notes = Notes(
        via=lease.via or "",
        depth=lease.depth,
        fetch_ms=round(answer.timings.total * 1000),
        outcome=outcome.action,
        near_of=copy.url if copy is not None and copy.near else "",
        extra={} if lease.kind is Kind.PAGE else {"kind": lease.kind.name.lower()},
    )
    return Capture(
        url=lease.url,
        at=at,
        request_head=answer.request_head,
        response_head=answer.head,
        body=answer.body if stored else b"",
        payload_digest=digest or warc_digest(answer.body),
        address=answer.address,
        truncated=answer.truncated,
        duplicate=Revisit(copy.url, copy.at) if copy is not None and exact else None,
        body_stored=stored,
        notes=notes,
    )


def row_of(
    capture: Capture,
    location: Location,
    page: Page | None,
    simhash: int | None,
    redirect: str | None,
    settings: Settings,
) -> PageRow:
    """The row of a capture; `page` is what its body says, None when the body is not kept."""
    row = bare_row(capture, location)
    if page is None:
        return msgspec.structs.replace(row, redirect_to=redirect) if redirect else row
    text = page.full_text if settings.text is Text.FULL else page.text
    meta = page.robots
    robots = (
        tuple(name for name in ("noindex", "nofollow", "noarchive", "nosnippet") if getattr(meta, name))
        if meta.noindex or meta.nofollow or meta.noarchive or meta.nosnippet
        else ()
    )
    return msgspec.structs.replace(
        row,
        redirect_to=redirect,
        media_type=page.media_type or row.media_type,
        encoding=page.encoding or None,
        language=page.language or None,
        title=page.title or None,
        description=page.description or None,
        text=text or None,
        canonical=page.canonical,
        links=tuple(dict.fromkeys([link.url for link in page.links])),
        link_count=len(page.links),
        robots=robots,
        simhash=simhash,
        cuts=page.cuts,
    )


def row_maker(settings: Settings) -> Callable[[Capture, Location], PageRow | None]:
    """How a row is made again from a stored capture: recovery and `reparse` use the code that made it first."""
    memory = LinkMemory(settings.url)

    def make(capture: Capture, location: Location) -> PageRow | None:
        if "kind" in capture.notes.extra:
            return None  # robots.txt and sitemaps are archived, but are no pages
        headers = _headers(capture.response_head)
        named = {name.lower(): value for name, value in headers}
        redirect = redirect_of(named.get("location"), capture.url, settings) if 300 <= capture.status < 400 else None
        if not capture.body or capture.duplicate is not None:
            return row_of(capture, location, None, None, redirect, settings)
        encoding = named.get("content-encoding", "")
        content = decode(capture.body, encoding, settings.fetch.max_decoded).content if encoding else capture.body
        page = read_page(content, capture.url, headers, settings, memory)
        return row_of(capture, location, page, simhash_of(page, settings), redirect, settings)

    return make


def _headers(head: bytes) -> tuple[tuple[str, str], ...]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if ":" in line)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
