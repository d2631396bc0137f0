"""`PageRow`: one row of the page table, and what each of its columns means.

One row is one capture: a page fetched twice has two rows, told apart by `fetched_at` (the view `latest` keeps the newest).
The fields, their order, their types and their descriptions are the schema: `COLUMNS` is read off them, the Parquet files
and docs/pages.md are made from that. A new column goes to the end of its group with None or an empty list as its default;
files written before it answer queries with NULL there.
"""

from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

from gossamer.errors import InvalidURL
from gossamer.store._head import fields_of
from gossamer.store._values import Capture, Location
from gossamer.url import host_of, registrable_domain

__all__ = ["COLUMNS", "Column", "PageRow", "bare_row"]

NOTED = (
    "server", "content-language", "content-disposition", "cache-control", "expires", "date", "age", "link", "retry-after",
    "x-robots-tag", "x-powered-by", "x-generator", "via", "strict-transport-security",
)  # fmt: skip
"""The response headers that the column `headers` keeps; all others are in the WARC."""


def _column(arrow: str, description: str) -> Meta:
    return Meta(description=description, extra={"arrow": arrow})


class PageRow(Struct, frozen=True, kw_only=True, gc=False):
    """A page as it was fetched at one time."""

    url: Annotated[str, _column("string", "The URL that was fetched, in canonical form.")]
    host: Annotated[str, _column("string", "The host name of the URL, without the port.")]
    domain: Annotated[
        str | None,
        _column("string", "The registrable domain: `example.co.uk` for `www.example.co.uk`; NULL for an address."),
    ]
    fetched_at: Annotated[
        int, _column("timestamp", "When the request was sent (UTC, milliseconds; an integer in `PageRow`).")
    ]
    status: Annotated[int, _column("uint16", "The HTTP status; 0 where the answer had none.")]
    depth: Annotated[int, _column("int32", "Links between a seed and this page; 0 for a seed.")] = 0
    via: Annotated[str | None, _column("string", "The page that linked here; NULL for a seed.")] = None
    redirect_to: Annotated[str | None, _column("string", "Where the answer points to (`Location`), absolute.")] = None

    media_type: Annotated[str | None, _column("string", "The media type, lower case: `text/html`.")] = None
    encoding: Annotated[str | None, _column("string", "The character encoding the text was read with.")] = None
    language: Annotated[str | None, _column("string", "The language of the text as detected: `en`, `de`.")] = None
    title: Annotated[str | None, _column("string", "The title of the page.")] = None
    description: Annotated[str | None, _column("string", "The description the page gives of itself.")] = None
    text: Annotated[str | None, _column("string", "The text: main content or all of it, as the crawl was told.")] = None
    canonical: Annotated[str | None, _column("string", "The URL that the page names as its canonical one.")] = None
    links: Annotated[tuple[str, ...], _column("list<string>", "The distinct URLs the page links to.")] = ()
    link_count: Annotated[int, _column("int32", "Links on the page, repeated ones counted.")] = 0
    robots: Annotated[
        tuple[str, ...], _column("list<string>", "What meta robots and X-Robots-Tag ask for: `noindex`, `nofollow`.")
    ] = ()

    content_length: Annotated[int, _column("int64", "Bytes of the body as sent (compressed, if it was).")] = 0
    digest: Annotated[str | None, _column("string", "`sha256:` and base32 of the body as sent.")] = None
    simhash: Annotated[
        int | None, _column("uint64", "A 64-bit fingerprint of the text: near-copies differ in a few bits.")
    ] = None
    duplicate_of: Annotated[str | None, _column("string", "The URL that this page repeats; NULL for an original.")] = (
        None
    )
    duplicate_kind: Annotated[
        Literal["exact", "near"] | None, _column("string", "`exact`: the same bytes; `near`: nearly the same text.")
    ] = None
    etag: Annotated[str | None, _column("string", "The `ETag` header.")] = None
    last_modified: Annotated[str | None, _column("string", "The `Last-Modified` header.")] = None
    headers: Annotated[
        tuple[tuple[str, str], ...], _column("map<string,string>", "Other headers of note, by lower-case name.")
    ] = ()

    address: Annotated[str | None, _column("string", "The IP address that answered.")] = None
    fetch_ms: Annotated[int, _column("int32", "Milliseconds from the request to the last byte.")] = 0
    truncated: Annotated[
        str | None, _column("string", "Why the body ends early: `length`, `time`, `disconnect`; NULL for a whole one.")
    ] = None
    cuts: Annotated[
        tuple[str, ...], _column("list<string>", "What the parser left out to stay within its bounds.")
    ] = ()
    error: Annotated[
        str | None, _column("string", "Why the page could not be read (`parse-failed`); NULL when it could.")
    ] = None

    warc_file: Annotated[str, _column("string", "The WARC file that holds the answer, in DIR/warc.")]
    warc_offset: Annotated[int, _column("int64", "Where its record begins in that file.")]
    warc_length: Annotated[int, _column("int64", "Bytes of the record: one gzip member.")]


class Column(Struct, frozen=True):
    """One column of the page table."""

    name: str
    type: str
    """`string`, `int64`, `timestamp`, `list<string>` ...: as Arrow calls it; timestamps are UTC milliseconds."""
    description: str


def _columns() -> tuple[Column, ...]:
    hints = get_type_hints(PageRow, include_extras=True)
    return tuple(_described(name, hints[name]) for name in PageRow.__struct_fields__)


def _described(name: str, hint: Any) -> Column:
    assert get_origin(hint) is Annotated
    meta: Meta = get_args(hint)[1]
    assert meta.extra is not None
    assert meta.description is not None
    return Column(name, meta.extra["arrow"], meta.description)


COLUMNS = _columns()


def bare_row(capture: Capture, location: Location, error: str | None = None) -> PageRow:
    """All that a capture says of its page without parsing the body: the row of a page that cannot be parsed.

    `Location` headers are left out: making them absolute is the parser's work.
    """
    notes, revisit = capture.notes, capture.duplicate
    fields = fields_of(capture.response_head)
    # A page that has not changed (304) repeats nothing but itself.
    copied = revisit is not None and revisit.profile == "identical-payload-digest"
    duplicate_of = revisit.url if revisit is not None and copied else notes.near_of or None
    try:
        host, domain = host_of(capture.url), registrable_domain(capture.url)
    except InvalidURL:  # a WARC that somebody else wrote
        host, domain = "", None
    return PageRow(
        url=capture.url,
        host=host,
        domain=domain,
        fetched_at=round(capture.at * 1000),
        status=capture.status,
        depth=notes.depth,
        via=notes.via or None,
        media_type=fields.get("content-type", "").partition(";")[0].strip().lower() or None,
        content_length=capture.length,
        digest=capture.payload_digest or None,
        duplicate_of=duplicate_of,
        duplicate_kind=("exact" if copied else "near") if duplicate_of else None,
        etag=fields.get("etag") or None,
        last_modified=fields.get("last-modified") or None,
        headers=tuple([(name, fields[name]) for name in NOTED if fields.get(name)]),
        address=capture.address or None,
        fetch_ms=notes.fetch_ms,
        truncated=capture.truncated,
        error=error,
        warc_file=location.file,
        warc_offset=location.offset,
        warc_length=location.length,
    )
