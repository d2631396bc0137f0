"""What goes into the store and what comes back, the settings of a store, and its one error."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct, field

from gossamer.errors import StoreError, disk_trouble
from gossamer.store._head import field_of, status_of

__all__ = [
    "Capture",
    "Location",
    "Notes",
    "Revisit",
    "StoreError",
    "StoreSettings",
    "Synced",
    "Truncated",
    "translated",
]

Truncated = Literal["length", "time", "disconnect", "unspecified"]
"""Why a body ends early, in the words of WARC 1.1 section 5.13: a size cap, a time cap, or the server hung up."""

Profile = Literal["identical-payload-digest", "server-not-modified"]


class Revisit(Struct, frozen=True):
    """The capture that an identical one stands for: its body is not stored twice."""

    url: str
    at: float | None = None
    """When the original was fetched, in Unix seconds; None where that is not known."""
    profile: Profile = "identical-payload-digest"
    """Found equal by digest, or said to be unchanged by the server (304)."""


class Notes(Struct, frozen=True):
    """What the crawler knows about a capture and the exchange itself does not say: its `metadata` record."""

    via: str = ""
    """The page that linked here; empty for a seed."""
    depth: int = 0
    """Links between a seed and this page."""
    fetch_ms: int = 0
    """From the request to the last byte."""
    outcome: str = ""
    """What it came to, in the words of `gossamer.outcome`."""
    near_of: str = ""
    """The URL whose text this one nearly repeats."""
    extra: dict[str, str] = field(default_factory=dict)
    """Whatever else is worth keeping, by name."""


class Capture(Struct, frozen=True):
    """One exchange with a server: what was asked, what was answered, when and by whom.

    A capture that was read back equals the one appended, but for what `gossamer.store._head` rewrites in the heads (chunked
    transfer, HTTP/2), for the body of a `duplicate` or of one not stored (empty), and for the time (milliseconds).
    """

    url: str
    at: float
    """When the request was sent, in Unix seconds."""
    request_head: bytes
    response_head: bytes
    """Status line and headers as received."""
    body: bytes
    """The entity as sent: transfer coding undone, content coding (gzip, br) kept."""
    payload_digest: str = ""
    """`sha256:` and base32 of `body` (`gossamer.fingerprint.warc_digest`); of a 304, that of the original, or empty."""
    address: str = ""
    """The IP address of the server."""
    truncated: Truncated | None = None
    """Why the body ends early; None for a whole one."""
    duplicate: Revisit | None = None
    """Set when the payload is stored elsewhere already: a `revisit` record, head only, is written."""
    body_stored: bool = True
    """False keeps the heads and the notes alone: a near-copy under the policy `skip`, an error page nobody wants."""
    notes: Notes = Notes()
    protocol: str = ""
    """`h2` or `h3` where the stored head was rewritten from one of them; set on reading."""

    @property
    def status(self) -> int:
        """The status code; 0 where the head has none."""
        return status_of(self.response_head)

    @property
    def length(self) -> int:
        """Bytes of the body as sent, also where the body itself is stored elsewhere or not at all."""
        head, told = self.response_head, ""
        if not self.body and self.status != 304:
            told = field_of(head, "content-length")
            if told in ("", "0"):  # of a body not stored, earlier versions told the length as what the server had said
                told = field_of(head, "x-crawler-content-length") or told
        return int(told) if told.isascii() and told.isdecimal() and len(told) < 19 else len(self.body)


class Location(Struct, frozen=True, order=True):
    """Where the record that ends an exchange (response, revisit, or the head alone) lies."""

    file: str
    """The name of the file in DIR/warc."""
    offset: int
    length: int
    """Bytes of its gzip member: `offset` and `length` cut out exactly that record, as a CDX index does."""


class Synced(Struct, frozen=True):
    """How far the store is durable."""

    captures: int
    """Of all captures appended since the store was opened, in order, this many are on the disk."""
    file: str
    """The newest file that was synced; empty when nothing has been appended."""
    offset: int
    """All bytes of that file before this one, and all of earlier files, are on the disk."""


class StoreSettings(Struct, frozen=True, forbid_unknown_fields=True):
    """How captures are laid out on the disk."""

    warc_bytes: Annotated[
        int, Meta(description="A WARC file that has reached this many bytes is followed by a new one.", ge=1_024)
    ] = 1_000_000_000
    gzip_level: Annotated[
        int,
        Meta(
            description="Compression of WARC records, 0 (fastest) to 3 (smallest): 3 takes about twice the CPU of 2 for 4 % fewer bytes.",
            ge=0,
            le=3,
        ),
    ] = 2
    part_rows: Annotated[
        int, Meta(description="Rows of the page table that are gathered into one Parquet file.", ge=1, le=1_000_000)
    ] = 2_000
    part_bytes: Annotated[
        int, Meta(description="Bytes of text and links after which a Parquet file is written earlier.", ge=1_024)
    ] = 32 * 1_048_576
    part_seconds: Annotated[
        float,
        Meta(description="Seconds after which rows are written even if they are few, so that queries see them.", ge=1),
    ] = 60.0
    zstd_level: Annotated[
        int, Meta(description="Compression of the page table, 1 (fastest) to 19 (smallest).", ge=1, le=19)
    ] = 1


def translated(error: OSError, path: Path, doing: str = "write") -> StoreError:
    """The one sentence for what the operating system said about `path`."""
    return StoreError(f"Cannot {doing} {path}: {disk_trouble(error)}.")
