"""What `audit` found wrong in a frontier, put right.

Each cure is one batch that leaves a URL in exactly one place; the books are counted anew at the end. A cure that is cut off is
found again by the next audit, and curing twice changes nothing the second time. What cannot be read is handed to `aside` before it
goes. URLs whose very name is lost (it stood only in a record that is gone) are named by key in `Mended.nameless`: whoever has the
stored pages may find them there.
"""

from collections import Counter
from collections.abc import Callable, Iterable

import msgspec
from rocksdict import WriteBatch

from gossamer.errors import InvalidURL
from gossamer.frontier import keys
from gossamer.frontier.audit import COUNTED, Flaw, audit, decode_host, decode_stats, key_of, look_up
from gossamer.frontier.contract import Kind, State, Stats
from gossamer.frontier.disk import ENTRY, Disk
from gossamer.frontier.hosts import HostRecord
from gossamer.frontier.records import UrlRecord, decode_url, encode
from gossamer.politeness import HostState
from gossamer.url import host_of

__all__ = ["Mended", "forget_content", "mend", "queue_again", "recount", "set_stored"]

Aside = Callable[[str, bytes, bytes], None]
"""Keeps a key and its value, by a name, before they are removed."""


class Mended(msgspec.Struct):
    """What was done."""

    done: Counter[str] = msgspec.field(default_factory=Counter)
    nameless: set[bytes] = msgspec.field(default_factory=set)


def mend(disk: Disk, flaws: Iterable[Flaw], readable: Callable[[UrlRecord], bool], aside: Aside) -> Mended:
    """Cure what `audit` found. `readable` says whether the bytes of a record that has a place are there."""
    mended = Mended()
    for flaw in flaws:
        batch = disk.batch()
        _cure(disk, flaw, batch, mended, readable, aside)
        disk.write(batch)
        mended.done[flaw.kind] += 1
    disk.sync()
    return mended


def _cure(
    disk: Disk, flaw: Flaw, batch: WriteBatch, mended: Mended, readable: Callable[[UrlRecord], bool], aside: Aside
) -> None:
    key = flaw.key
    match flaw.kind:
        case "url-lost" | "url-unreadable":
            raw = disk.of["urls"].get(key)
            if raw is not None and len(raw) != ENTRY:
                aside("urls", key, raw)
            batch.delete(key, disk.to["urls"])
            mended.nameless.add(key)
        case "queue-missing":
            if (record := _record(disk, key)) is not None:
                _queue(disk, key, record, batch)
        case "queue-stray":
            _stray_entry(disk, key, batch)
        case "queue-unreadable":
            _drop(disk, "queue", key, batch, aside)
        case "waiting-missing":
            if (record := _record(disk, key)) is not None:
                batch.put(keys.waiting(record.again, key), b"", disk.to["waiting"])
        case "waiting-stray":
            batch.delete(key, disk.to["waiting"])
        case "due-missing":
            if (record := _record(disk, key)) is not None and record.watch is not None:
                batch.put(keys.waiting(record.watch.due, key), b"", disk.to["due"])
        case "due-stray" | "overdue-stray":
            batch.delete(key, disk.to[flaw.kind.removesuffix("-stray")])
        case "failure-missing":
            if (record := _record(disk, key)) is not None:
                batch.put(key, str(record.error or record.status).encode(), disk.to["failures"])
        case "failure-stray":
            batch.delete(key, disk.to["failures"])
        case "host-missing":
            _missing_host(disk, key[:8], batch, aside)
        case "host-forgotten":
            _into_play(disk, key, batch)
        case "parked-stray":
            batch.delete(key, disk.to["parked"])
        case "content-exact" | "content-near" | "robots-unreadable":
            family = {"content-exact": "exact", "content-near": "near"}.get(flaw.kind, "robots")
            _drop(disk, family, key, batch, aside)
        case "unsealed":
            _judge(disk, key[:-16], readable)
        case "bytes-lost":
            queue_again(disk, key)


def _record(disk: Disk, key: bytes) -> UrlRecord | None:
    raw = disk.of["urls"].get(key)
    return decode_url(raw) if raw is not None and len(raw) != ENTRY else None


def _drop(disk: Disk, family: str, key: bytes, batch: WriteBatch, aside: Aside) -> None:
    if (raw := disk.of[family].get(key)) is not None:
        aside(family, key, raw)
        batch.delete(key, disk.to[family])


def _stray_entry(disk: Disk, entry: bytes, batch: WriteBatch) -> None:
    """An entry of a URL that nobody knows brings it back; of one that is elsewhere, it goes."""
    raw = disk.of["queue"].get(entry)
    if raw is None:
        return
    record = decode_url(raw)
    key = key_of(record.url)
    if disk.of["urls"].get(key) is None and key[:8] == entry[:8]:
        _queue(disk, key, msgspec.structs.replace(record, entry=entry[8:]), batch)
    else:
        batch.delete(entry, disk.to["queue"])


def _queue(disk: Disk, key: bytes, record: UrlRecord, batch: WriteBatch) -> None:
    """Write a record into its host's queue, at the place it had, and see that the host has its turn."""
    record.state, record.again = State.QUEUED, 0.0
    entry = key[:8] + record.entry
    batch.put(key, record.entry, disk.to["urls"])
    batch.put(entry, encode(record), disk.to["queue"])
    raw = disk.of["hosts"].get(key[:8])
    host = decode_host(raw) if raw is not None else HostRecord(host_of(record.url), HostState(), {})
    if host.parked is None:
        batch.put(key[:8], b"", disk.to["active"])
    elif host.cursor is not None and entry < host.cursor:
        host.cursor = entry
    batch.put(key[:8], encode(host), disk.to["hosts"])


def _missing_host(disk: Disk, host: bytes, batch: WriteBatch, aside: Aside) -> None:
    """A new record, named by any URL of the host; one of which nothing is known any more is forgotten."""
    raw = disk.of["hosts"].get(host)
    if raw is not None:
        aside("hosts", host, raw)
    for key, _ in disk.first("urls", host, 1):
        record = disk.url(key)
        try:
            name = host_of(record.url) if record is not None else None
        except InvalidURL:
            name = None
        if name is not None:
            batch.put(host, encode(HostRecord(name, HostState(), {})), disk.to["hosts"])
            batch.put(host, b"", disk.to["active"])
            return
    batch.delete(host, disk.to["hosts"])


def _into_play(disk: Disk, host: bytes, batch: WriteBatch) -> None:
    raw = disk.of["hosts"].get(host)
    if raw is None:
        return
    record = decode_host(raw)
    if record.parked is not None:
        batch.delete(record.parked, disk.to["parked"])
    record.parked = record.cursor = None
    batch.put(host, encode(record), disk.to["hosts"])
    batch.put(host, b"", disk.to["active"])


def _judge(disk: Disk, segment: bytes, readable: Callable[[UrlRecord], bool]) -> None:
    """Each URL of a segment that nobody has vouched for: what can be read counts, the rest is queued again."""
    while held := disk.first("unsealed", segment, 1_000):
        batch = disk.batch()
        for key, _ in held:
            record = disk.url(key[-16:])
            if record is not None and record.place is not None and not readable(record):
                queue_again(disk, key[-16:])
            batch.delete(key, disk.to["unsealed"])
        disk.write(batch)


def queue_again(disk: Disk, key: bytes) -> bool:
    """The bytes of a URL are lost: it is queued as if it had never been asked for. False for one that is not known."""
    record = disk.url(key)
    if record is None:
        return False
    batch = disk.batch()
    if record.state is State.QUEUED:
        record.place = None
        batch.put(key[:8] + record.entry, encode(record), disk.to["queue"])
        disk.write(batch)
        return True
    raw = disk.of["hosts"].get(key[:8])
    if raw is not None and record.fetched and record.kind is Kind.PAGE:
        host = decode_host(raw)
        host.taken = max(host.taken - 1, 0)
        disk.of["hosts"].put(key[:8], encode(host))
    if record.place is not None:
        batch.delete(keys.segment(record.place.segment) + key, disk.to["unsealed"])
    batch.delete(key, disk.to["failures"])
    batch.delete(keys.waiting(record.again, key), disk.to["waiting"])
    if record.watch is not None:
        batch.delete(keys.waiting(record.watch.due, key), disk.to["due"])
        batch.delete(keys.overdue(record.watch.due, key), disk.to["overdue"])
        record.watch = None
    record.place, record.attempts, record.deaths, record.fetched = None, 0, 0, 0.0
    record.copy_of, record.stored = None, False
    # Without conditions: "not modified" would be no answer to a question for a body that we do not have.
    record.etag = record.last_modified = record.digest = record.redirect = None
    _queue(disk, key, record, batch)
    disk.write(batch)
    return True


def forget_content(disk: Disk, url: str) -> None:
    """The content of a URL is not to be recognised any more: what has it next is stored with a body of its own."""
    record = look_up(disk.of, url)
    if record is not None and record.digest is not None:
        batch = disk.batch()
        batch.delete(record.digest[:16], disk.to["exact"])
        disk.write(batch)


def set_stored(disk: Disk, url: str) -> None:
    """Turn round whether a finished URL counts as kept with a body of its own."""
    key = key_of(url)
    if (record := _record(disk, key)) is not None:
        record.stored = not record.stored
        batch = disk.batch()
        batch.put(key, encode(record), disk.to["urls"])
        disk.write(batch)


def recount(disk: Disk) -> list[str]:
    """Write the books anew from what is there; which of them changed."""
    counted = audit(disk.of, lambda flaw: None).stats
    raw = disk.of["meta"].get(b"stats")
    try:
        saved = decode_stats(raw) if raw is not None else Stats()
    except msgspec.MsgspecError:
        saved = Stats()
    changed = [name for name in COUNTED if getattr(saved, name) != getattr(counted, name)]
    if not changed:
        return []
    batch = disk.batch()
    # Queue entries are numbered by how many URLs were seen: a number must not come a second time.
    before = int.from_bytes(disk.of["meta"].get(b"serial") or b"", "big")
    batch.put(b"serial", max(before, saved.seen, counted.seen).to_bytes(8, "big"), disk.to["meta"])
    for name in changed:
        setattr(saved, name, getattr(counted, name))
    batch.put(b"stats", encode(saved), disk.to["meta"])
    disk.write(batch)
    disk.sync()
    return changed
