"""Is a crawl whole? `verify` reads all of its folder and says what is wrong; `repair` (in `mend`) cures it.

    frontier    its own books, then, for each capture of the WARC files, that it knows it and where it lies
    WARC        every record, its order, its lengths, its digests
    pages       a row for each page that is in the WARC, and a page for each row

It reads each file once from end to end. What it keeps is bounded by one WARC file, but for eight bytes a stored body (so that a
revisit can be told whether its original is there). It needs the crawl to be stopped: beside a running one half of what it
compares would be of another moment.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from xxhash import xxh3_64_intdigest

from gossamer.crawl.folder import Folder
from gossamer.crawl.kinds import KINDS
from gossamer.errors import FrontierError, GossamerError
from gossamer.frontier import State
from gossamer.frontier.audit import Books, Families, Flaw, audit, look_up, placed
from gossamer.frontier.inspect import Ledger, holder
from gossamer.store import Capture, Location
from gossamer.store.check import (
    Due,
    Exchange,
    Finding,
    check_parts,
    due_of,
    exchanges,
    leftovers,
    parts_of,
    readable_at,
)

__all__ = ["Examined", "Problem", "Verdict", "examine", "must_be_stopped", "verify"]

EXAMPLES = 20
"""Problems of one kind that a verdict names; all are counted."""

Progress = Callable[[str, int, int], None]
"""Told what is being read, how many bytes are read of it and how many there are."""


class Problem(msgspec.Struct, frozen=True):
    """One thing that is wrong."""

    kind: str
    sentence: str
    where: str
    """The file and the byte, the URL, or the host."""
    repair: str
    """What `--repair` does about it; empty where it can do nothing."""


class Verdict(msgspec.Struct, frozen=True):
    """What `verify` found."""

    problems: tuple[Problem, ...]
    """At most `EXAMPLES` of each kind."""
    counts: dict[str, int]
    """How many problems there are of each kind."""
    records: int
    """Exchanges in the WARC files."""
    rows: int
    urls: int
    bytes: int
    quick: bool
    notes: tuple[str, ...] = ()
    """What is no problem, and worth knowing."""

    @property
    def clean(self) -> bool:
        return not self.counts


class Examined(msgspec.Struct):
    """Everything that was found, for whoever is going to act on it."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    flaws: list[Flaw] = msgspec.field(default_factory=list)
    books: Books | None = None
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    records: int = 0
    rows: int = 0
    bytes: int = 0
    blanked: int = 0
    again: int = 0


def must_be_stopped(folder: Path) -> None:
    """GossamerError while a process is crawling into the folder."""
    process = holder(Folder(folder).frontier)
    if process is not None:
        raise GossamerError(
            f"{folder} is being crawled by process {process}: stop it first (Ctrl-C, or kill -INT {process}), "
            "it keeps everything; then ask again"
        )


def verify(folder: Path, *, quick: bool = False, progress: Progress | None = None) -> Verdict:
    """Read all of a crawl that is stopped, and say what is wrong with it. Changes nothing."""
    Folder(folder).load()
    must_be_stopped(folder)
    found = Examined()
    try:
        with Ledger(Folder(folder).frontier) as ledger:
            examine(folder, ledger.families, found, quick=quick, progress=progress, most=EXAMPLES)
    except FrontierError as error:
        found.flaws.append(Flaw("frontier-unreadable", b"", str(Folder(folder).frontier), str(error)))
        found.counts["frontier-unreadable"] += 1
        examine(folder, None, found, quick=quick, progress=progress, most=EXAMPLES)
    return _verdict(found, quick=quick)


def examine(
    folder: Path,
    of: Families | None,
    found: Examined,
    *,
    quick: bool = False,
    progress: Progress | None = None,
    most: int | None = None,
) -> None:
    """Gather what is wrong, at most `most` of each kind; without a frontier (`of`) what can be said without one."""
    told = progress or (lambda what, done, total: None)

    def flaw(each: Flaw) -> None:
        found.counts[each.kind] += 1
        if most is None or found.counts[each.kind] <= most:
            found.flaws.append(each)

    def finding(each: Finding) -> None:
        found.counts[each.kind] += 1
        if most is None or found.counts[each.kind] <= most:
            found.findings.append(each)

    if of is not None:
        told("frontier", 0, 0)
        try:
            found.books = audit(of, flaw)
        except Exception as error:  # rocksdict raises nothing more specific
            flaw(Flaw("frontier-unreadable", b"", "frontier", str(error)))
            of = None
    _Store(folder, of, found, flaw, finding, told, digests=not quick).check()


class _Store:
    """One walk over the WARC files, their rows beside them and the frontier behind."""

    def __init__(
        self,
        folder: Path,
        of: Families | None,
        found: Examined,
        flaw: Callable[[Flaw], None],
        finding: Callable[[Finding], None],
        told: Progress,
        *,
        digests: bool,
    ) -> None:
        self._folder, self._of, self._found = folder, of, found
        self._flaw, self._finding, self._told, self._digests = flaw, finding, told, digests
        self._bodies = array("Q")
        self._revisits: list[tuple[int, Location, str, str]] = []
        self._placed = 0
        self._either: set[int] = set()

    def check(self) -> None:
        files = sorted((self._folder / "warc").glob("*.warc.gz"))
        parts = parts_of(self._folder / "pages")
        total, done = sum(file.stat().st_size for file in files), 0
        for file in files:
            due: dict[int, Due] = {}
            self._either.clear()
            for exchange in exchanges(file, self._finding, digests=self._digests):
                self._exchange(exchange, due)
                self._told("WARC", done + exchange.location.offset, total)
            done += file.stat().st_size
            self._found.bytes = done
            self._told("WARC", done, total)
            self._rows(file.name, parts.pop(file.name, []), due)
        for warc, orphans in parts.items():
            for part in orphans:
                self._finding(Finding("part-orphaned", part.name, detail=f"there is no {warc}"))
        for path in leftovers(self._folder):
            self._finding(Finding("left-over", path.name))
        self._check_revisits()
        self._check_places()

    def _exchange(self, exchange: Exchange, due: dict[int, Due]) -> None:
        capture, location = exchange.capture, exchange.location
        self._found.records += 1
        self._found.blanked += not exchange.whole
        page = "kind" not in capture.notes.extra
        if page:
            due[location.offset] = due_of(location, capture)
            if not exchange.whole:  # nobody knows any more whether it was a page: it may have a row
                self._either.add(location.offset)
                page = False
        revisit = capture.duplicate
        if capture.body_stored and revisit is None:
            self._bodies.append(_body(capture.url, capture.payload_digest))
        counts = self._of is None or self._known(self._of, capture, location, page=page, due=due)
        if counts and revisit is not None and revisit.profile == "identical-payload-digest":
            self._revisits.append((_body(revisit.url, capture.payload_digest), location, capture.url, revisit.url))

    def _known(self, of: Families, capture: Capture, location: Location, *, page: bool, due: dict[int, Due]) -> bool:
        """What the frontier says of a capture; whether it is the one that counts for its URL."""
        record = look_up(of, capture.url)
        here = False
        if record is not None and record.place is not None:
            place = record.place
            here = (place.file, place.offset, place.length) == (location.file, location.offset, location.length)
            self._placed += here
        if not page:
            return here
        where = (location.file, location.offset, location.length, capture.url)
        if record is None:
            self._finding(Finding("capture-unknown", *where))
        elif record.state is State.QUEUED or record.state is State.WAITING:
            self._found.again += record.watch is None
            if here:  # stored and not read yet: its row comes when it is
                due.pop(location.offset, None)
        elif here:
            kept = capture.body_stored and capture.duplicate is None and record.state is State.DONE
            if kept != record.stored:
                self._finding(Finding("stored-wrong", *where))
        return here

    def _rows(self, warc: str, parts: list[Path], due: dict[int, Due]) -> None:
        self._found.rows += check_parts(parts, warc, due, self._finding, digests=self._digests)
        for offset, each in due.items():
            if offset in self._either:
                continue
            self._finding(Finding("row-missing", warc, offset, each.length))

    def _check_revisits(self) -> None:
        if not self._revisits:
            return
        wanted = {hashed for hashed, *_ in self._revisits}
        wanted.difference_update(wanted.intersection(self._bodies))
        for hashed, location, url, original in self._revisits:
            if hashed in wanted:
                self._finding(
                    Finding(
                        "revisit-dangling",
                        location.file,
                        location.offset,
                        location.length,
                        url,
                        f"the body is said to be that of {original}, and is not there",
                    )
                )

    def _check_places(self) -> None:
        """Each record's place was met on the walk, or somewhere there is one that was not: then all are looked at."""
        books = self._found.books
        if self._of is None or books is None or books.places == self._placed:
            return
        for key, record in placed(self._of):
            assert record.place is not None
            place = Location(record.place.file, record.place.offset, record.place.length)
            if not readable_at(self._folder, place, record.url):
                self._flaw(Flaw("bytes-lost", key, record.url, f"{place.file} at byte {place.offset}"))


def _body(url: str, digest: str) -> int:
    return xxh3_64_intdigest(f"{url}\n{digest}".encode("utf-8", "replace"))


def _verdict(found: Examined, *, quick: bool) -> Verdict:
    books = found.books
    notes = []
    if found.blanked:
        notes.append(
            f"{found.blanked:,} answers follow a place whose bytes were lost before and dealt with; their request or notes went too."
        )
    if found.again:
        notes.append(
            f"{found.again:,} captures are of URLs that are queued: a crash or an operator wants them fetched again."
        )
    return Verdict(
        problems=tuple(_problems(found)),
        counts=dict(sorted(found.counts.items(), key=lambda pair: list(KINDS).index(pair[0]))),
        records=found.records,
        rows=found.rows,
        urls=books.stats.seen if books is not None else 0,
        bytes=found.bytes,
        quick=quick,
        notes=tuple(notes),
    )


def _problems(found: Examined) -> Iterator[Problem]:
    told = [(flaw.kind, flaw.where, flaw.detail) for flaw in found.flaws]
    told += [(each.kind, _where(each), each.detail) for each in found.findings]
    order = list(KINDS)
    for kind, where, detail in sorted(told, key=lambda each: order.index(each[0])):
        known = KINDS[kind]
        yield Problem(kind, known.sentence + (f" ({detail})" if detail else ""), where, known.repair)


def _where(each: Finding) -> str:
    at = f" at byte {each.offset}" if each.length else ""
    return f"{each.file}{at}" + (f": {each.url}" if each.url else "")
