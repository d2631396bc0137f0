"""Looking at a frontier without touching it: the one in a folder, and the one that is running in this process.

`Ledger` opens the RocksDB of a folder as a *secondary* instance: it takes no lock and writes nothing there, so it works beside a
running crawl, and what it sees is as of the moment it was opened (the write-ahead log included). `holder` says which process has
the folder locked. `standing` and `slowest` look at the workbench of a frontier in memory, for the terminal view.
"""

import fcntl
import heapq
import os
import shutil
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec
from rocksdict import AccessType, Options, Rdict

from gossamer.errors import FrontierError
from gossamer.frontier import domains, keys
from gossamer.frontier.contract import FailureView, HostView, RobotsFile, Stats, UrlView
from gossamer.frontier.disk import ENTRY, OLDEST, SCHEMA, families_in
from gossamer.frontier.failures import LOOKS, reason_in, view_of, walk
from gossamer.frontier.hosts import HostRecord, Play
from gossamer.frontier.records import UrlRecord, decode_url, visits_of
from gossamer.frontier.rocks import RocksFrontier
from gossamer.traps import HostShape, Trap, TrapRules
from gossamer.url import host_of, origin_of, registrable_domain

__all__ = ["HostLook", "Ledger", "Standing", "holder", "slowest", "standing"]

FAILURES_READ = 200_000
ATTEMPTS = 5

_decode_host = msgspec.msgpack.Decoder(HostRecord).decode
_decode_robots = msgspec.msgpack.Decoder(RobotsFile).decode
_decode_shape = msgspec.msgpack.Decoder(HostShape).decode
_decode_stats = msgspec.msgpack.Decoder(Stats).decode

_FLOCK = "hhqqi4x"


def holder(folder: Path) -> int | None:
    """The process that has the frontier in `folder` open for writing; None when nobody does."""
    try:
        lock = os.open(folder / "LOCK", os.O_RDWR)
    except OSError:
        return None
    try:
        asked = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        kind, _, _, _, pid = struct.unpack(_FLOCK, fcntl.fcntl(lock, fcntl.F_GETLK, asked))
    except OSError:
        return None
    finally:
        os.close(lock)
    return None if kind == fcntl.F_UNLCK else pid


class HostLook(msgspec.Struct, frozen=True):
    """A host in full, for whoever explains it."""

    view: HostView
    robots: dict[str, float]
    """When what is known of an origin's robots.txt expires."""
    robots_tries: int
    """Tries in a row to read robots.txt that failed."""
    taken: int
    """Pages that count for the budget of the host."""
    parked: bool
    """It waits on disk for its turn among the hosts."""
    shape: HostShape | None
    """What its URLs have looked like; None while they are too few for any rule."""


class Ledger:
    """The books of a frontier, read only. A context manager: the temporary folder it needs goes with it."""

    def __init__(self, folder: Path) -> None:
        if not (folder / "CURRENT").exists():
            raise FrontierError(f"there is no frontier in {folder}: the crawl was not begun, or lies elsewhere")
        self._scratch = Path(tempfile.mkdtemp(prefix="gossamer-"))
        for attempt in range(ATTEMPTS):
            try:
                self._db = _open(folder, self._scratch / str(attempt))
                break
            except Exception as error:  # rocksdict raises nothing more specific
                if attempt + 1 == ATTEMPTS:
                    shutil.rmtree(self._scratch, ignore_errors=True)
                    raise FrontierError(f"the frontier in {folder} cannot be read: {error}") from error
        here = families_in(folder)  # an older version had fewer
        self._of = {name: self._db.get_column_family(name) for name in keys.FAMILIES if name in here}
        format_ = int.from_bytes(self._of["meta"].get(b"schema") or b"", "big")
        if format_ and not OLDEST <= format_ <= SCHEMA:
            self.close()
            raise FrontierError(
                f"the frontier in {folder} has format {format_}, this version reads {OLDEST} to {SCHEMA}"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        for family in self._of.values():
            family.close()
        self._of.clear()
        self._db.close()
        shutil.rmtree(self._scratch, ignore_errors=True)

    @property
    def families(self) -> dict[str, Rdict]:
        """The column families by name, for `audit`."""
        return self._of

    def stats(self) -> Stats:
        """The counts as of the last transition; `leased` and `in_play` are those of the process that wrote them."""
        raw = self._of["meta"].get(b"stats")
        return _decode_stats(raw) if raw is not None else Stats()

    def hosts(self) -> Iterator[HostView]:
        """Every host there is, in no order of use."""
        for _, raw in self._items("hosts"):
            r = _decode_host(raw)
            yield HostView(r.name, r.state, r.fetched, r.failed, r.size, 0, r.address, r.dead)

    def host(self, name: str) -> HostLook | None:
        """One host and what its URLs have looked like, as last written down; the shape is a copy, to be asked at will."""
        host = keys.host_id(name)
        raw = self._of["hosts"].get(host)
        if raw is None:
            return None
        r = _decode_host(raw)
        shape = self._of["shapes"].get(host) if r.shaped else None
        return HostLook(
            HostView(r.name, r.state, r.fetched, r.failed, r.size, 0, r.address, r.dead),
            r.robots,
            r.tries,
            r.taken,
            r.parked is not None,
            _decode_shape(shape) if shape is not None else None,
        )

    def domain_trap(self, host: str, rules: TrapRules) -> Trap | None:
        """Why a host that is not known would be refused for the sake of its registrable domain; None when it would not."""
        domain = registrable_domain(host)
        raw = None if domain is None else self._of["meta"].get(domains.key(domain))
        return None if domain is None or raw is None else domains.judged(domain, domains.decode_domain(raw), rules)

    def record(self, url: str) -> UrlRecord | None:
        """All that is written down of a canonical URL."""
        host = keys.host_id(host_of(url))
        raw = self._of["urls"].get(keys.url_key(host, url))
        if raw is not None and len(raw) == ENTRY:  # it is queued: its record is there
            raw = self._of["queue"].get(host + raw)
        return None if raw is None else decode_url(raw)

    def ahead(self, record: UrlRecord, most: int) -> int:
        """How many URLs of its host are fetched before a queued one; counted up to `most`."""
        host = keys.host_id(host_of(record.url))
        found = 0
        for key, _ in self._items("queue", host):
            if found == most or key >= host + record.entry:
                break
            found += 1
        return found

    def url(self, url: str) -> UrlView | None:
        """What is known of a canonical URL."""
        r = self.record(url)
        if r is None:
            return None
        return UrlView(
            r.url, r.state, r.kind, r.depth, r.hops, r.found, r.via, r.attempts, r.status, r.error, r.detail, r.fetched,
            r.again, r.place, r.copy_of, r.redirect, False, *visits_of(r),
        )  # fmt: skip

    def robots(self, url: str) -> RobotsFile | None:
        """The robots.txt that speaks for `url`, as last read."""
        raw = self._of["robots"].get(keys.host_id(origin_of(url)))
        return None if raw is None else _decode_robots(raw)

    def next_due(self) -> float | None:
        """The earliest time at which a known page is visited again; None when there is none."""
        for key, _ in self._items("due") if "due" in self._of else ():
            return int.from_bytes(key[:8], "big") / 1000
        return None

    @property
    def planned(self) -> bool:
        """Whether all pages have the times of their next visits: not those of an older version, until they are made."""
        return "due" in self._of and self._of["meta"].get(b"unplanned") is None

    def failures(self) -> Counter[str]:
        """Why URLs were given up, counted over the first `FAILURES_READ` of them."""
        found: Counter[str] = Counter()
        for number, (_, reason) in enumerate(self._items("failures")):
            if number == FAILURES_READ:
                break
            found[reason_in(reason)] += 1
        return found

    def failure(self, url: str) -> FailureView | None:
        """A canonical URL's entry in the dead-letter list."""
        entry = self._of["failures"].get(keys.url_key(keys.host_id(host_of(url)), url))
        record = self.record(url)
        return None if entry is None or record is None else view_of(record, entry)

    def failed_pairs(self, host: str | None = None, reason: str | None = None) -> Counter[tuple[bytes, str]]:
        """How many URLs were given up of each host (its id) for each reason; no URL is looked at."""
        found: Counter[tuple[bytes, str]] = Counter()
        mark: str | None = ""
        while mark is not None:
            entries, mark = walk(lambda start: self._items("failures", start), host, reason, LOOKS, mark)
            found.update((key[:8], reason_in(entry)) for key, entry in entries)
        return found

    def host_by_id(self, host: bytes) -> HostView | None:
        raw = self._of["hosts"].get(host)
        r = _decode_host(raw) if raw is not None else None
        return None if r is None else HostView(r.name, r.state, r.fetched, r.failed, r.size, 0, r.address, r.dead)

    def failed(self, host: str | None = None, reason: str | None = None) -> Iterator[FailureView]:
        """The dead-letter list as it was when the ledger was opened, of one host or for one reason if named."""
        mark: str | None = ""
        while mark is not None:
            entries, mark = walk(lambda start: self._items("failures", start), host, reason, LOOKS, mark)
            for key, entry in entries:
                raw = self._of["urls"].get(key)
                if raw is not None and len(raw) != ENTRY:
                    yield view_of(decode_url(raw), entry)

    def pages(self, host: str | None = None) -> Iterator[tuple[UrlRecord, float]]:
        """Every known URL, those of a host together, with how far its host's sitemaps are believed; a stream, however many there are."""
        prefix = b"" if host is None else keys.host_id(host)
        apart = ((key, raw) for key, raw in self._items("urls", prefix) if len(raw) != ENTRY)
        current, trust = b"", 1.0
        for key, raw in heapq.merge(apart, self._items("queue", prefix), key=lambda item: item[0][:8]):
            if not key.startswith(prefix):
                return
            if key[:8] != current:
                current = key[:8]
                written = self._of["hosts"].get(current)
                trust = 1.0 if written is None else _decode_host(written).trust
            yield decode_url(raw), trust

    def _items(self, family: str, start: bytes = b"") -> Iterator[tuple[bytes, bytes]]:
        entries = self._of[family].iter()
        if start:
            entries.seek(start)
        else:
            entries.seek_to_first()
        while entries.valid():
            yield entries.key(), entries.value()
            entries.next()


def _open(folder: Path, scratch: Path) -> Rdict:
    """Open a folder of links to the files of `folder`, since rocksdict writes a file of its own beside what it opens.

    A running crawl may remove a file between the listing and the opening: the caller tries again.
    """
    mirror, secondary = scratch / "mirror", scratch / "secondary"
    mirror.mkdir(parents=True)
    for file in folder.resolve().iterdir():
        if file.name == "rocksdict-config.json":
            shutil.copyfile(file, mirror / file.name)
        elif file.name != "LOCK" and not file.name.startswith("LOG"):
            (mirror / file.name).symlink_to(file)
    families = {name: _options() for name in families_in(folder)}
    return Rdict(
        str(mirror), options=_options(), column_families=families, access_type=AccessType.secondary(str(secondary))
    )


def _options() -> Options:
    options = Options(raw_mode=True)
    options.create_if_missing(False)
    # A secondary instance holds its files open, so that it does not matter when the crawl deletes them.
    options.set_max_open_files(-1)
    return options


class Standing(msgspec.Struct, frozen=True):
    """Where the hosts in play stand."""

    ready: int = 0
    """May be fetched from now, though perhaps being fetched from already."""
    busy: int = 0
    """Being fetched from, and not to be asked for more until then."""
    waiting: int = 0
    """Left alone until a time."""


def standing(frontier: RocksFrontier) -> Standing:
    """Where the hosts in play stand; costs nothing."""
    hosts, bench = frontier._hosts, frontier._bench
    busy = len({slot.id for slot in frontier._leases.hosts() if slot.play is not Play.READY})
    ready = bench.ready
    return Standing(ready, busy, max(0, hosts.in_play - ready - busy))


def slowest(frontier: RocksFrontier, most: int) -> list[HostView]:
    """The hosts in memory whose answers take longest. A walk over all of them (about 2 ms for 20,000): not for every frame."""
    slots = [slot for slot in frontier._hosts._slots.values() if slot.record.state.answer > 0.0]
    return [
        HostView(r.name, r.state, r.fetched, r.failed, r.size, slot.leased, r.address, r.dead)
        for slot in heapq.nlargest(most, slots, key=lambda slot: slot.record.state.answer)
        for r in (slot.record,)
    ]
