"""The page table made anew from the WARC files, without asking anybody for anything.

`rebuild` writes the new table beside the old one and puts it in its place as a whole (`store`'s swap): whatever happens meanwhile, there
is the old table or the new one. WARC files are shared out among processes. Each says in shared memory which page its parser has in
hand; a page that takes too long, or the process with it, gets a row that says so (`error`), and another process goes on after it.
"""

import contextlib
import ctypes
import mmap
import os
import shutil
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from gossamer.crawl.folder import REPARSED, Folder
from gossamer.crawl.process import warm_up
from gossamer.crawl.verify import must_be_stopped
from gossamer.errors import GossamerError
from gossamer.frontier.disk import Disk
from gossamer.settings import Settings, Text
from gossamer.store import Capture, Location, PageRow, StoreError, bare_row
from gossamer.store.check import new_table, parts_of, rows_in, settle, swap_in, write_rows
from gossamer.worker import row_maker

__all__ = ["PAGE_SECONDS", "Rebuilt", "rebuild", "reparse"]

PAGE_SECONDS = 30.0
"""CPU seconds that one page may take its parser."""
PATIENCE = 10
"""Of a process that waits instead of working, this many times as long on the clock."""

POLL = 0.02
_SENTENCE = 1_024
_NOTE, _COUNT, _TIMES = struct.Struct("<QQdd"), struct.Struct("<Q"), struct.Struct("<dd")
_TICKS = os.sysconf("SC_CLK_TCK")

Progress = Callable[[int, int, int], None]
"""Told how many pages are read, and bytes of the WARC files read and there."""


class Rebuilt(msgspec.Struct, frozen=True):
    """What came of it."""

    files: int
    rows: int
    failed: int
    """Pages that killed or held up the parser; their rows have an `error`."""
    seconds: float
    text: str


def reparse(
    folder: Path,
    *,
    text: Text | None = None,
    page_seconds: float = PAGE_SECONDS,
    processes: int | None = None,
    progress: Progress | None = None,
) -> Rebuilt:
    """Make the table of a stopped crawl anew with its own settings, or with another choice of text, which it then keeps."""
    place = Folder(folder)
    place.load()
    must_be_stopped(folder)
    with _holding(place):
        settle(folder)
        place.adopt()
        crawled = place.load()
        settings = crawled.settings if text is None else msgspec.structs.replace(crawled.settings, text=text)
        began = time.monotonic()
        files = sorted((folder / "warc").glob("*.warc.gz"))
        rows, failed = rebuild(
            folder,
            files,
            settings,
            page_seconds=page_seconds,
            processes=processes,
            progress=progress,
            text=text,
        )
        place.adopt()
    return Rebuilt(len(files), rows, failed, round(time.monotonic() - began, 3), str(settings.text))


@contextlib.contextmanager
def _holding(place: Folder) -> Iterator[None]:
    """Keeps crawls out, as one that runs keeps us out."""
    if not (place.frontier / "CURRENT").exists():
        yield
        return
    disk = Disk(place.frontier)
    try:
        yield
    finally:
        disk.close()


def rebuild(
    folder: Path,
    files: Iterable[Path],
    settings: Settings,
    *,
    page_seconds: float = PAGE_SECONDS,
    processes: int | None = None,
    progress: Progress | None = None,
    text: Text | None = None,
) -> tuple[int, int]:
    """New rows for these WARC files, those of all others as they are; how many rows, and how many pages could not be read."""
    chosen = sorted(files)
    names = {file.name for file in chosen}
    new = new_table(folder)
    try:
        for warc, parts in parts_of(folder / "pages").items():
            if warc not in names and (folder / "warc" / warc).exists():
                for part in parts:
                    _linked(part, new / part.name)
        warm_up(names=False)
        pool = _Pool(new, settings, page_seconds, progress or (lambda rows, done, total: None))
        failed = pool.run(chosen, processes or len(os.sched_getaffinity(0)))
        made = parts_of(new)
        rows = sum(rows_in(part) for name in names for part in made.get(name, []))
        if text is not None:
            with open(new / REPARSED, "wb") as file:
                file.write(msgspec.json.encode(text))
                file.flush()
                os.fsync(file.fileno())
    except BaseException:
        with contextlib.suppress(OSError):
            settle(folder)
        raise
    swap_in(folder)
    return rows, failed


def _linked(part: Path, target: Path) -> None:
    """The same part under a second name; a copy where the disk has no such names."""
    try:
        os.link(part, target)
    except OSError:
        shutil.copyfile(part, target)
        with open(target, "rb") as file:
            os.fsync(file.fileno())


class _Child:
    """A process that makes the rows of one WARC file."""

    def __init__(self, warc: Path, bare: dict[int, str]) -> None:
        self.warc, self.bare = warc, bare
        self.note = mmap.mmap(-1, _NOTE.size + _SENTENCE)
        self.pid = 0

    def start(self, work: Callable[["_Child"], None]) -> None:
        self.note[:] = bytes(len(self.note))
        sys.stdout.flush()
        sys.stderr.flush()
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid:
            return
        code = 1
        try:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            _end_with(parent)
            sys.meta_path.insert(0, _NoPandas)
            work(self)
            code = 0
        except Exception as error:
            known = isinstance(error, GossamerError)
            said = (str(error) if known else f"{self.warc.name}: {error!r}").encode("utf-8", "replace")[:_SENTENCE]
            self.note[_NOTE.size : _NOTE.size + len(said)] = said
        finally:
            os._exit(code)

    def begin(self, offset: int, rows: int) -> None:
        # The offset last: from then on the parent believes the times.
        _TIMES.pack_into(self.note, 16, time.process_time(), time.monotonic())
        _COUNT.pack_into(self.note, 8, rows)
        _COUNT.pack_into(self.note, 0, offset + 1)

    def end(self, rows: int) -> None:
        _COUNT.pack_into(self.note, 0, 0)
        _COUNT.pack_into(self.note, 8, rows)

    @property
    def offset(self) -> int | None:
        """The page that its parser has in hand."""
        found: int = _NOTE.unpack_from(self.note)[0]
        return found - 1 if found else None

    @property
    def rows(self) -> int:
        return int(_NOTE.unpack_from(self.note)[1])

    @property
    def sentence(self) -> str:
        return self.note[_NOTE.size :].rstrip(b"\0").decode("utf-8", "replace")

    def hangs(self, most: float) -> bool:
        offset, _, cpu, since = _NOTE.unpack_from(self.note)
        waited = time.monotonic() - since
        return bool(offset) and waited > most and (_cpu_of(self.pid) - cpu > most or waited > PATIENCE * most)


class _NoPandas:
    """Keeps pyarrow from importing pandas, where that is installed, for its first array: 0.3 s in each child."""

    @staticmethod
    def find_spec(name: str, path: object = None, target: object = None) -> None:
        if name == "pandas":
            raise ModuleNotFoundError("not needed to make rows", name=name)


def _end_with(parent: int) -> None:
    """Nobody is left behind that writes into a table in the making: where the parent ends, so do we (Linux)."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def _cpu_of(pid: int) -> float:
    """CPU seconds of a process, so that a busy machine does not count against a page."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    except OSError:
        return float("inf")  # no /proc here: the clock has to do
    return (int(fields[11]) + int(fields[12])) / _TICKS


class _Pool:
    """As many children as there are cores, until every file has its rows."""

    def __init__(self, new: Path, settings: Settings, page_seconds: float, told: Progress) -> None:
        self._new, self._settings, self._most, self._told = new, settings, page_seconds, told
        self._live: dict[int, _Child] = {}
        self._rows = self._failed = self._read = 0
        self._late: set[int] = set()

    def run(self, files: list[Path], processes: int) -> int:
        """How many pages could not be read."""
        waiting = sorted(files, key=lambda file: file.stat().st_size)  # the largest first, from the end
        total = sum(file.stat().st_size for file in files)
        try:
            while waiting or self._live:
                while waiting and len(self._live) < processes:
                    self._start(_Child(waiting.pop(), {}))
                self._reap()
                self._watch()
                self._tell(total)
                time.sleep(POLL)
        finally:
            for pid in self._live:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        return self._failed

    def _start(self, child: _Child) -> None:
        child.start(self._work)
        self._live[child.pid] = child

    def _work(self, child: _Child) -> None:
        """In the child: every capture has its row made, and shared memory says which one is being made."""
        make = row_maker(self._settings)
        made = 0

        def parse(capture: Capture, location: Location) -> PageRow | None:
            nonlocal made
            reason = child.bare.get(location.offset)
            if reason is not None:
                made += 1
                return bare_row(capture, location, error=reason)
            child.begin(location.offset, made)
            try:
                row = make(capture, location)
            finally:
                child.end(made)
            made += row is not None
            return row

        write_rows(child.warc, self._new, parse, self._settings.store)
        child.end(made)

    def _reap(self) -> None:
        for pid, child in list(self._live.items()):
            ended, status = os.waitpid(pid, os.WNOHANG)
            if not ended:
                continue
            del self._live[pid]
            if status == 0:
                self._rows += child.rows
                self._failed += len(child.bare)
                self._read += child.warc.stat().st_size
            elif child.sentence:
                raise StoreError(child.sentence)
            elif child.offset is None:
                raise GossamerError(f"a process that made rows of {child.warc.name} died, and no page is to blame")
            else:
                self._blame(child, "parse-timeout" if pid in self._late else "parse-crashed")
            self._late.discard(pid)

    def _blame(self, child: _Child, reason: str) -> None:
        """Another process goes on: after the parts that were written, and past the page."""
        assert child.offset is not None
        child.bare[child.offset] = reason
        self._start(child)

    def _watch(self) -> None:
        for pid, child in self._live.items():
            if child.hangs(self._most):
                self._late.add(pid)
                os.kill(pid, signal.SIGKILL)

    def _tell(self, total: int) -> None:
        rows = self._rows + sum(child.rows for child in self._live.values())
        read = self._read + sum(child.offset or 0 for child in self._live.values())
        self._told(rows, read, total)
