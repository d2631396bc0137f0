"""Do the frontier's books agree with what they count?

`audit` reads every column family once, in key order, and counts. Where two families have to say the same (a queued URL and its
queue entry, a waiting URL and its time, a failed URL and the dead-letter list), one of them is walked and looked up in the other;
equal numbers then make it a bijection, and only unequal ones cost a second walk. Memory does not grow with the crawl.

What is wrong is told as `Flaw`s; `mend` cures them. Nothing is changed here, so it works on a `Ledger` as well as on a `Disk`.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

import msgspec
from rocksdict import Rdict

from gossamer.errors import InvalidURL
from gossamer.frontier import keys
from gossamer.frontier.content import _decode as decode_first
from gossamer.frontier.contract import Kind, RobotsFile, State, Stats
from gossamer.frontier.disk import ENTRY
from gossamer.frontier.hosts import HostRecord
from gossamer.frontier.records import UrlRecord, decode_url
from gossamer.url import host_of

__all__ = ["COUNTED", "Books", "Families", "Flaw", "Tell", "audit", "items", "key_of", "look_up", "placed"]

decode_host = msgspec.msgpack.Decoder(HostRecord).decode
decode_stats = msgspec.msgpack.Decoder(Stats).decode
_decode_robots = msgspec.msgpack.Decoder(RobotsFile).decode

COUNTED = (
    "seen", "queued", "waiting", "done", "redirected", "gone", "refused", "failed", "fetched", "copies", "size", "stored",
    "hosts", "parked", "due", "overdue", "revisiting", "retired",
)  # fmt: skip
"""The books that can be counted again; `trapped` and those of revisits count what is not written down, the rest is memory."""

Families = Mapping[str, Rdict]
Value = TypeVar("Value")


class Flaw(msgspec.Struct, frozen=True):
    """One thing that is wrong in the frontier."""

    kind: str
    key: bytes
    """In the family where it was found."""
    where: str
    """The URL, the host or the key, for people."""
    detail: str = ""


Tell = Callable[[Flaw], None]


class Books(msgspec.Struct):
    """What was counted."""

    stats: Stats
    places: int = 0
    """URLs whose record says where their bytes lie."""
    planned: int = 0
    """URLs whose record has the time of a next visit."""
    unsealed: dict[str, int] = msgspec.field(default_factory=dict)
    """URLs by segment whose bytes nobody has vouched for yet."""


def items(of: Families, family: str, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
    """Every entry in key order. RocksDB ends an iteration quietly at a damaged block, so it is asked why it ended."""
    if family not in of:  # an older version had fewer families
        return
    entries = of[family].iter()
    if start:
        entries.seek(start)
    else:
        entries.seek_to_first()
    while entries.valid():
        yield entries.key(), entries.value()
        entries.next()
    entries.status()


def key_of(url: str) -> bytes:
    return keys.url_key(keys.host_id(host_of(url)), url)


def look_up(of: Families, url: str) -> UrlRecord | None:
    """The record of a URL, wherever it is; None for one that is not known or cannot be read."""
    try:
        key = key_of(url)
    except InvalidURL:
        return None
    raw = of["urls"].get(key)
    if raw is not None and len(raw) == ENTRY:
        raw = of["queue"].get(key[:8] + raw)
    return _decoded(decode_url, raw) if raw is not None else None


def placed(of: Families) -> Iterator[tuple[bytes, UrlRecord]]:
    """Every URL whose record says where its bytes lie, with its key in `urls`."""
    for family in ("urls", "queue"):
        for key, raw in items(of, family):
            record = _decoded(decode_url, raw) if len(raw) != ENTRY else None
            if record is not None and record.place is not None:
                yield key if family == "urls" else key_of(record.url), record


def audit(of: Families, tell: Tell) -> Books:
    """Count everything, compare, and tell what does not agree."""
    books = Books(Stats())
    pointers = _urls(of, books, tell)
    matched = _queue(of, books, tell)
    if matched != pointers:
        _unmatched(of, tell)
    waiting = _waiting(of, tell)
    if waiting != books.stats.waiting:
        _states_without(of, State.WAITING, "waiting-missing", _has_waiting, tell)
    _times(of, books, tell)
    failures = _failures(of, tell)
    if failures != books.stats.failed:
        _states_without(of, State.FAILED, "failure-missing", _has_failure, tell)
    _hosts(of, books, tell)
    _parked(of, books, tell)
    _unsealed(of, books, tell)
    _content(of, tell)
    _robots(of, tell)
    _compare(of, books.stats, tell)
    return books


def _decoded(decode: Callable[[bytes], Value], raw: bytes) -> Value | None:
    try:
        return decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _own(record: UrlRecord | None, key: bytes) -> bool:
    """Whether a record is that of the URL that its key is made of."""
    try:
        return record is not None and key_of(record.url) == key
    except InvalidURL:
        return False


def _count(books: Books, record: UrlRecord) -> None:
    stats, state = books.stats, record.state
    name = state.name.lower()
    setattr(stats, name, getattr(stats, name) + 1)
    books.places += record.place is not None
    watch = record.watch
    if state is State.QUEUED or state is State.WAITING:
        if watch is None:
            return
        stats.revisiting += 1
    elif watch is not None:
        books.planned += watch.due > 0.0
        stats.retired += state is State.GONE and not watch.due
    stats.stored += record.stored
    stats.copies += record.copy_of is not None
    stats.fetched += record.kind is Kind.PAGE and record.fetched > 0.0


def _urls(of: Families, books: Books, tell: Tell) -> int:
    """Counts what is finished or waits; how many URLs say that they are queued."""
    pointers, host = 0, b""
    for key, raw in items(of, "urls"):
        books.stats.seen += 1
        if key[:8] != host:
            host = key[:8]
            if of["hosts"].get(host) is None:
                tell(Flaw("host-missing", key, host.hex(), "URLs of it are known, it is not"))
        if len(raw) == ENTRY:
            pointers += 1
            continue
        record = _decoded(decode_url, raw)
        if record is None or not _own(record, key):
            tell(Flaw("url-unreadable", key, key.hex()))
        elif record.state is State.QUEUED:
            tell(Flaw("queue-missing", key, record.url, "it says that it is queued, and is not in the queue"))
            books.stats.queued += 1
        else:
            _count(books, record)
    return pointers


def _queue(of: Families, books: Books, tell: Tell) -> int:
    matched, host = 0, b""
    for entry, raw in items(of, "queue"):
        record = _decoded(decode_url, raw)
        if record is None or not _readable(record):
            tell(Flaw("queue-unreadable", entry, entry.hex()))
            continue
        if entry[:8] != host:
            host = entry[:8]
            _in_play(of, host, entry, record, tell)
        key = key_of(record.url)
        if key[:8] != entry[:8] or of["urls"].get(key) != entry[8:] or record.state is not State.QUEUED:
            tell(Flaw("queue-stray", entry, record.url))
            continue
        matched += 1
        _count(books, record)
    return matched


def _readable(record: UrlRecord) -> bool:
    try:
        host_of(record.url)
    except InvalidURL:
        return False
    return True


def _in_play(of: Families, host: bytes, first: bytes, record: UrlRecord, tell: Tell) -> None:
    """A host with URLs queued is in play or parked, else nobody would ever ask it; and its cursor lies before them all."""
    raw = of["hosts"].get(host)
    known = _decoded(decode_host, raw) if raw is not None else None
    if known is None:
        return  # told elsewhere
    if known.parked is None and of["active"].get(host) is None:
        tell(Flaw("host-forgotten", host, known.name, "it has URLs queued, and no turn"))
    elif known.parked is not None and known.cursor is not None and known.cursor > first:
        tell(Flaw("host-forgotten", host, known.name, f"its turn would begin after {record.url}"))


def _unmatched(of: Families, tell: Tell) -> None:
    for key, raw in items(of, "urls"):
        if len(raw) == ENTRY:
            held = of["queue"].get(key[:8] + raw)
            if held is None or not _own(_decoded(decode_url, held), key):
                tell(Flaw("url-lost", key, key.hex()))


def _waiting(of: Families, tell: Tell) -> int:
    matched = 0
    for due, _ in items(of, "waiting"):
        raw = of["urls"].get(due[8:])
        record = _decoded(decode_url, raw) if raw is not None and len(raw) != ENTRY else None
        if record is None or record.state is not State.WAITING or keys.millis(record.again) != due[:8]:
            tell(Flaw("waiting-stray", due, record.url if record is not None else due[8:].hex()))
        else:
            matched += 1
    return matched


def _times(of: Families, books: Books, tell: Tell) -> None:
    """Each time of a next visit is that of its URL's record, and the other way round."""
    matched = 0
    for family in ("due", "overdue"):
        for entry, _ in items(of, family):
            at, key = (entry[:8], entry[8:]) if family == "due" else (entry[8:16], entry[:8] + entry[16:])
            raw = of["urls"].get(key)
            record = _decoded(decode_url, raw) if raw is not None and len(raw) != ENTRY else None
            if record is None and raw is not None and len(raw) != ENTRY:
                continue  # what cannot be read was told; without it, this is a stray
            watch = record.watch if record is not None else None
            if record is None or watch is None or not watch.due or keys.millis(watch.due) != at:
                tell(Flaw(f"{family}-stray", entry, record.url if record is not None else key.hex()))
                continue
            matched += 1
            setattr(books.stats, family, getattr(books.stats, family) + 1)
    if matched != books.planned:
        for key, raw in items(of, "urls"):
            record = _decoded(decode_url, raw) if len(raw) != ENTRY else None
            if (
                record is not None
                and record.watch is not None
                and record.watch.due
                and not _has_time(of, key, record.watch.due)
            ):
                tell(Flaw("due-missing", key, record.url))


def _has_time(of: Families, key: bytes, due: float) -> bool:
    return of["due"].get(keys.waiting(due, key)) is not None or of["overdue"].get(keys.overdue(due, key)) is not None


def _failures(of: Families, tell: Tell) -> int:
    matched = 0
    for key, _ in items(of, "failures"):
        raw = of["urls"].get(key)
        record = _decoded(decode_url, raw) if raw is not None and len(raw) != ENTRY else None
        if record is None or record.state is not State.FAILED:
            tell(Flaw("failure-stray", key, record.url if record is not None else key.hex()))
        else:
            matched += 1
    return matched


def _has_waiting(of: Families, key: bytes, record: UrlRecord) -> bool:
    return of["waiting"].get(keys.waiting(record.again, key)) is not None


def _has_failure(of: Families, key: bytes, record: UrlRecord) -> bool:
    return of["failures"].get(key) is not None


def _states_without(
    of: Families, state: State, kind: str, has: Callable[[Families, bytes, UrlRecord], bool], tell: Tell
) -> None:
    for key, raw in items(of, "urls"):
        record = _decoded(decode_url, raw) if len(raw) != ENTRY else None
        if record is not None and record.state is state and not has(of, key, record):
            tell(Flaw(kind, key, record.url))


def _hosts(of: Families, books: Books, tell: Tell) -> None:
    for host, raw in items(of, "hosts"):
        books.stats.hosts += 1
        record = _decoded(decode_host, raw)
        if record is None or keys.host_id(record.name) != host:
            tell(Flaw("host-missing", host, host.hex(), "its record cannot be read"))
            continue
        books.stats.size += record.size
        if record.parked is not None and of["parked"].get(record.parked) is None:
            tell(Flaw("host-forgotten", host, record.name, "it says that it is parked, and is not"))


def _parked(of: Families, books: Books, tell: Tell) -> None:
    for key, _ in items(of, "parked"):
        books.stats.parked += 1
        raw = of["hosts"].get(key[13:])
        record = _decoded(decode_host, raw) if raw is not None else None
        if record is None or record.parked != key:
            tell(Flaw("parked-stray", key, record.name if record is not None else key[13:].hex()))


def _unsealed(of: Families, books: Books, tell: Tell) -> None:
    for key, _ in items(of, "unsealed"):
        name = key[:-17].decode("utf-8", "replace")
        if name not in books.unsealed:
            tell(Flaw("unsealed", key, name))
        books.unsealed[name] = books.unsealed.get(name, 0) + 1


def _content(of: Families, tell: Tell) -> None:
    """The content index names URLs that are known; whether their bytes are there is asked where a copy needs them."""
    for family in ("exact", "near"):
        for key, raw in items(of, family):
            first = _decoded(decode_first, raw)
            if first is None or (family == "exact" and look_up(of, first.url) is None):
                tell(Flaw(f"content-{family}", key, first.url if first is not None else key.hex()))


def _robots(of: Families, tell: Tell) -> None:
    for key, raw in items(of, "robots"):
        file = _decoded(_decode_robots, raw)
        if file is None or keys.host_id(file.origin) != key:
            tell(Flaw("robots-unreadable", key, file.origin if file is not None else key.hex()))


def _compare(of: Families, counted: Stats, tell: Tell) -> None:
    raw = of["meta"].get(b"stats")
    saved = _decoded(decode_stats, raw) if raw is not None else Stats()
    if saved is None:
        tell(Flaw("books-wrong", b"stats", "all", "they cannot be read"))
        return
    for name in COUNTED:
        told, found = getattr(saved, name), getattr(counted, name)
        if told != found:
            tell(Flaw("books-wrong", b"stats", name, f"the books say {told:,}, counted are {found:,}"))
