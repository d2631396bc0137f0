"""Captures and rows: what of a page goes into the WARC and what into the table.

The table is derived: every row can be made again from its capture by the same code (`row_maker`), which is how a torn crawl is mended.
So a row says nothing of a body that is not in the WARC: the row of an exact copy, or of a near-copy that was skipped, names its
original and has no text of its own.
"""

import contextlib
from collections.abc import Callable

import msgspec

from gossamer.errors import InvalidURL
from gossamer.fetch import Failure, Response, Timings, decode
from gossamer.fingerprint import text_print, warc_digest
from gossamer.frontier import Copy, Kind, Lease
from gossamer.outcome import Action, ErrorClass, Outcome, for_status
from gossamer.parse import Page, TextMode, parse_page
from gossamer.settings import NearDuplicates, Settings, Text
from gossamer.store import Capture, Location, Notes, PageRow, Revisit, bare_row
from gossamer.url import LinkMemory, canonicalize, resolve

__all__ = [
    "UNREAD",
    "address_of",
    "answer_of",
    "capture_of",
    "read_page",
    "redirect_of",
    "row_maker",
    "row_of",
    "simhash_of",
]

UNREAD = "unread"
"""The kind that a page's capture is noted as when it is stored before anyone has managed to read it: it has no row. Once it can
be read, it is stored again as the page it is, and that capture has one."""


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
    lease: Lease,
    answer: Response,
    at: float,
    outcome: Outcome,
    copy: Copy | None,
    digest: str,
    *,
    stored: bool,
    unread: bool = False,
    same: Revisit | None = None,
) -> Capture:
    """The exchange as the WARC keeps it; `same` is the capture of an earlier visit that it repeats."""
    if copy is not None and not copy.near:
        same = Revisit(copy.url, copy.at)
    kind = UNREAD if unread else lease.kind.name.lower()
    notes = Notes(
        via=lease.via or "",
        depth=lease.depth,
        fetch_ms=round(answer.timings.total * 1000),
        outcome=outcome.action,
        near_of=copy.url if copy is not None and copy.near else "",
        extra={} if lease.kind is Kind.PAGE and not unread else {"kind": kind},
    )
    return Capture(
        url=lease.url,
        at=at,
        request_head=answer.request_head,
        response_head=answer.head,
        body=answer.body,
        payload_digest=digest or warc_digest(answer.body),
        address=answer.address,
        truncated=answer.truncated,
        duplicate=same,
        body_stored=stored,
        notes=notes,
    )


def answer_of(capture: Capture, settings: Settings) -> Response:
    """The answer that a capture keeps, as it was when it came."""
    headers = _headers(capture.response_head)
    status_line = capture.response_head.partition(b"\r\n")[0].decode("latin-1")
    version, _, rest = status_line.partition(" ")
    truncated = capture.truncated
    return Response(
        url=capture.url,
        status=capture.status,
        reason=rest.partition(" ")[2],
        version=version,
        headers=headers,
        head=capture.response_head,
        request_head=capture.request_head,
        body=capture.body,
        content=_content(capture, headers, settings),
        truncated=None if truncated == "unspecified" else truncated,
        address=capture.address,
        timings=Timings(total=capture.notes.fetch_ms / 1000),
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
    """How a row is made again from a stored capture: recovery and `reparse` use the code that made it first.

    Whatever has a row was read before it was stored, so reading it again is safe; should it raise all the same (another version of
    the parser), the row says so.
    """
    memory = LinkMemory(settings.url)

    def make(capture: Capture, location: Location) -> PageRow | None:
        if "kind" in capture.notes.extra:
            return None  # robots.txt and sitemaps are archived, but are no pages; what is unread may kill who reads it
        try:
            return again(capture, location)
        except Exception:
            return bare_row(capture, location, error=ErrorClass.PARSE_FAILED)

    def again(capture: Capture, location: Location) -> PageRow:
        headers = _headers(capture.response_head)
        named = {name.lower(): value for name, value in headers}
        followed = for_status(capture.status).action is Action.REDIRECT and capture.truncated != "disconnect"
        redirect = redirect_of(named.get("location"), capture.url, settings) if followed else None
        if not capture.body or capture.duplicate is not None:
            return row_of(capture, location, None, None, redirect, settings)
        page = read_page(_content(capture, headers, settings), capture.url, headers, settings, memory)
        return row_of(capture, location, page, simhash_of(page, settings), redirect, settings)

    return make


def _content(capture: Capture, headers: tuple[tuple[str, str], ...], settings: Settings) -> bytes:
    codings = ",".join([value for name, value in headers if name.lower() == "content-encoding"])
    return decode(capture.body, codings, settings.fetch.max_decoded).content if codings else capture.body


def _headers(head: bytes) -> tuple[tuple[str, str], ...]:
    lines = head.decode("latin-1").split("\r\n")[1:]
    pairs = (line.partition(":") for line in lines if ":" in line)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)
