"""The writing side of a store: one per worker process, one WARC file at a time.

    append(capture)  → the records are in the file (the operating system has them)
    sync()           → they are on the disk; only now may anyone count on them
    add_row(row)     → the row waits in memory
    write_parts()    → rows that make up a part, or have waited long enough, are in DIR/pages

`append`, `add_row` and `rotate` belong to one thread, the event loop's: they take microseconds. `sync`, `write_parts` and
`close` block on the disk and are made for an executor; appending goes on meanwhile. A part is never on the disk before the
records its rows point to: `write_parts` syncs first where it must.

Rows may come in any order, and long after their capture. What a part answers for (`Coverage`) ends before the first
capture that still lacks its row, so what a crash leaves without a row is always found again.

When the disk refuses an append, the file is as it was before and the next append may succeed. When it refuses a *sync*,
nobody knows which bytes have reached it (Linux reports such an error once and then forgets it), so the store says so and
refuses everything from then on: what was not synced before counts as lost and is fetched again.
"""

import re
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from gossamer.store._page import PageRow
from gossamer.store._rows import Coverage, part_path, write_part
from gossamer.store._segment import Segment, sync_folder
from gossamer.store._values import Capture, Location, StoreError, StoreSettings, Synced, translated
from gossamer.store._warc_write import IDS, exchange

__all__ = ["Store"]

_WORKER = re.compile(r"[A-Za-z0-9_]{1,64}")
_WAITING_PARTS = 2  # parts that may wait for write_parts before add_row writes them itself
_LINK_BYTES = 64  # what one link counts for when a part is weighed


class _Table:
    """The rows of one WARC file that are not yet in a part."""

    __slots__ = ("covered", "expected", "part", "rows", "segment", "since", "weight")

    def __init__(self, segment: Segment) -> None:
        self.segment = segment
        self.rows: list[PageRow] = []
        self.weight = 0
        self.since = 0.0
        self.expected: dict[int, int] = {}
        """Captures still without a row, in order: offset of the answer → where its exchange begins."""
        self.covered = 0
        self.part = 0

    def upto(self) -> int:
        """Where the first capture without a row begins, or the end of the file."""
        return next(iter(self.expected.values()), self.segment.end)

    def answers_for_more(self) -> bool:
        """Captures that have no row by design lie after the last part; saying so spares recovery from reading them."""
        return self.covered < self.upto()


class _Part:
    """Rows on their way to the disk."""

    __slots__ = ("coverage", "end", "number", "rows", "segment")

    def __init__(self, table: _Table) -> None:
        self.segment = table.segment
        self.rows = table.rows
        self.number = table.part
        self.end = table.segment.end
        upto = table.upto()
        self.coverage = Coverage(table.segment.name, table.covered, upto)
        table.rows, table.weight, table.covered = [], 0, upto
        table.part += 1


class Store:
    """Appends captures and rows below `folder`."""

    def __init__(
        self,
        folder: Path,
        worker: str,
        settings: StoreSettings | None = None,
        *,
        info: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`worker` becomes part of file names; `info` goes into each file's `warcinfo` (software, operator, robots)."""
        if not _WORKER.fullmatch(worker):
            raise ValueError(f"a worker's name is letters, digits and _, at most 64 of them: {worker!r}")
        self._settings = settings or StoreSettings()
        self._worker, self._info, self._clock = worker, dict(info or {}), clock
        self.folder = folder
        self._warc, self._pages = folder / "warc", folder / "pages"
        # Folders that exist only in memory would take every synced file in them along in a power cut.
        for path in (self._warc, self._pages):
            try:
                path.mkdir(parents=True, exist_ok=True)
                sync_folder(folder)
            except OSError as error:
                raise translated(error, path, "create") from error
        self._count = 0  # files opened, for their names
        self._captures = 0
        self._segment: Segment | None = None
        self._unsynced: list[Segment] = []  # all open files, oldest first
        self._tables: dict[str, _Table] = {}
        self._waiting: list[_Part] = []
        self._failure: StoreError | None = None
        self._closed = False
        # _state guards the fields above for microseconds; _disk is held by the one thread that waits for the disk.
        self._state = threading.Lock()
        self._disk = threading.RLock()

    def append(self, capture: Capture, *, row_follows: bool = True) -> Location:
        """Writes the exchange and says where its answer is; StoreError when the disk refuses, and then nothing was written.

        `row_follows=False` is for what belongs into the archive but not into the page table, robots.txt for one.
        """
        segment = self._current()
        packed = exchange(capture, segment.prefix, segment.number, self._settings.gzip_level)
        with self._state:
            start = segment.write(packed.data)
            segment.number += IDS
            self._captures += 1
            location = Location(segment.name, start + packed.answer, len(packed.data) - packed.answer)
            if row_follows:
                self._tables[segment.name].expected[location.offset] = start
        return location

    def add_row(self, row: PageRow) -> None:
        """Takes the row of a capture that was appended to this store, once."""
        with self._state:
            table = self._tables.get(row.warc_file)
            if table is None or table.expected.pop(row.warc_offset, None) is None:
                raise ValueError(f"no capture waits for this row: {row.warc_file} at {row.warc_offset}")
            if not table.rows:
                table.since = self._clock()
            table.rows.append(row)
            table.weight += len(row.text or "") + _LINK_BYTES * len(row.links)
            full = len(table.rows) >= self._settings.part_rows or table.weight >= self._settings.part_bytes
            finished = table.segment is not self._segment and not table.expected
            if full or finished:
                self._waiting.append(_Part(table))
            if finished:
                del self._tables[row.warc_file]
            crowded = len(self._waiting) > _WAITING_PARTS
        if crowded:
            self.write_parts()

    def sync(self) -> Synced:
        """Makes durable all that was appended before the call. Blocks; safe beside appends of another thread."""
        with self._disk:
            with self._state:
                self._refuse_after_failure()
                segments = [(segment, segment.end) for segment in self._unsynced]
                current, captures = self._segment, self._captures
            new = any(segment.synced == 0 for segment, _ in segments)
            try:
                for segment, end in segments:
                    segment.sync(end)
                if new:
                    sync_folder(self._warc)
            except (StoreError, OSError) as error:
                self._failure = error if isinstance(error, StoreError) else translated(error, self._warc, "secure")
                raise self._failure from error
            with self._state:
                done = [
                    segment for segment, end in segments if segment is not current and segment.synced == segment.end
                ]
                self._unsynced = [segment for segment in self._unsynced if segment not in done]
            for segment in done:
                segment.close()
            name, end = (segments[-1][0].name, segments[-1][1]) if segments else ("", 0)
            return Synced(captures, name, end)

    def write_parts(self, *, everything: bool = False) -> int:
        """Writes the parts that are due and returns how many; a part that the disk refuses waits for the next call."""
        with self._disk:
            with self._state:
                now = self._clock()
                for name, table in list(self._tables.items()):
                    finished = table.segment is not self._segment and not table.expected
                    waited = now - table.since  # less than nothing: the clock was set back
                    due = finished or everything or not 0 <= waited < self._settings.part_seconds
                    if due and (table.rows or ((finished or everything) and table.answers_for_more())):
                        self._waiting.append(_Part(table))
                    if finished:
                        del self._tables[name]
                parts = list(self._waiting)
            for part in parts:
                if part.segment.synced < part.end:
                    self.sync()
                path = part_path(self._pages, part.segment.name, part.number)
                write_part(path, part.rows, part.coverage, self._settings.zstd_level)
                with self._state:
                    self._waiting.remove(part)
            return len(parts)

    def rotate(self) -> None:
        """Ends the current WARC file; the next append begins another. The file stays open until it is synced."""
        with self._state:
            self._segment = None

    def close(self) -> None:
        """Syncs, writes every row and closes the files; a second call does nothing."""
        with self._disk:
            if self._closed:
                return
            self._closed = True
            try:
                self.rotate()
                self.sync()
                self.write_parts(everything=True)
            finally:
                with self._state:
                    segments, self._unsynced = self._unsynced, []
                for segment in segments:
                    segment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _current(self) -> Segment:
        if self._closed:
            raise StoreError("The store is closed.")
        self._refuse_after_failure()
        segment = self._segment
        if segment is not None and segment.end < self._settings.warc_bytes and not segment.broken:
            return segment
        self.rotate()
        now = self._clock()
        stamp = time.strftime("%Y%m%d%H%M%S", time.gmtime(now))
        while True:
            path = self._warc / f"gossamer-{stamp}-{self._worker}-{self._count:05}.warc.gz"
            self._count += 1
            try:
                segment = Segment(path, now, self._info, self._settings.gzip_level)
                break
            except FileExistsError:  # a store of the same worker, opened within the same second
                continue
        with self._state:
            self._segment = segment
            self._unsynced.append(segment)
            self._tables[segment.name] = _Table(segment)
        return segment

    def _refuse_after_failure(self) -> None:
        if self._failure is not None:
            raise StoreError(f"{self._failure} Nothing can be stored until the crawl is started again.")
