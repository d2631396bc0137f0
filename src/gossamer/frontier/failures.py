"""The dead-letter list of the embedded engine: one entry for each URL that is FAILED, with why and since when.

    failures   host(8) url(8)   →   reason 00 ms(8)

The list is walked in key order, by parts: `walk` looks at a bounded number of entries and says where to go on. A host's entries
are one range. Reasons are compared where they stand in the entry; only what is shown costs a look at the URL's record.
"""

from collections.abc import Callable, Iterable, Iterator

from gossamer.frontier import keys
from gossamer.frontier.contract import FailureView, Place
from gossamer.frontier.records import UrlRecord
from gossamer.outcome import ErrorClass

__all__ = ["LOOKS", "entry_of", "reason_in", "same_reason", "unread_place", "view_of", "walk"]

LOOKS = 20_000
"""Entries that one call looks at: some 20 ms."""

_UNREAD = frozenset({ErrorClass.PARSE_FAILED, ErrorClass.WORKER_DIED})
_CLASSES = frozenset(f"{digit}xx" for digit in range(1, 6))


def entry_of(record: UrlRecord, now: float) -> bytes:
    """The value of a URL's entry."""
    return str(record.error or record.status).encode() + b"\0" + keys.millis(now)


def reason_in(entry: bytes) -> str:
    return entry.partition(b"\0")[0].decode("utf-8", "replace")


def same_reason(reason: str, wanted: str) -> bool:
    """Whether a reason is the one that is wanted; `5xx` stands for every status of that class."""
    if wanted in _CLASSES:
        return len(reason) == 3 and reason.isdigit() and reason[0] == wanted[0]
    return reason == wanted


def unread_place(record: UrlRecord) -> Place | None:
    """Where the answer of a failed URL lies that could not be read; None when it is the answer that was missing."""
    return record.place if record.error in _UNREAD else None


def view_of(record: UrlRecord, entry: bytes) -> FailureView:
    reason, _, at = entry.partition(b"\0")
    return FailureView(
        record.url, record.kind, reason.decode("utf-8", "replace"), record.status, record.detail, record.attempts,
        record.deaths, int.from_bytes(at, "big") / 1000, record.depth, record.via, unread_place(record),
    )  # fmt: skip


def walk(
    items: Callable[[bytes], Iterable[tuple[bytes, bytes]]],
    host: str | None,
    reason: str | None,
    most: int,
    after: str,
    looks: int = LOOKS,
) -> tuple[list[tuple[bytes, bytes]], str | None]:
    """Entries of a part of the list, and where the next part begins; `items` gives entries from a key on."""
    prefix = b"" if host is None else keys.host_id(host)
    found: list[tuple[bytes, bytes]] = []
    for number, (key, entry) in enumerate(_from(items, prefix, bytes.fromhex(after))):
        if len(found) == most or number == looks:
            return found, key.hex()
        if reason is None or same_reason(reason_in(entry), reason):
            found.append((key, entry))
    return found, None


def _from(
    items: Callable[[bytes], Iterable[tuple[bytes, bytes]]], prefix: bytes, start: bytes
) -> Iterator[tuple[bytes, bytes]]:
    for key, entry in items(max(start, prefix)):
        if not key.startswith(prefix):
            return
        yield key, entry
