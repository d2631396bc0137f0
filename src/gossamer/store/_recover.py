"""After a crash: every WARC file ends with a whole record, and every capture has its row.

The WARC is the log and the page table is derived from it, so recovery needs nothing else. For each file that its parts do not
cover to the end (a file that they do is not even opened):

- a torn tail, where the last records are incomplete, garbage or zeros, is cut off; never an intact record;
- a damaged stretch *between* intact records (pages of a file reach a disk in any order, so a power cut can leave such a hole)
  is overwritten in place with one `metadata` record of exactly its length that says so: offsets stay true, and every
  reader gets past it;
- captures without a row are parsed again and their rows written as further parts.

Running it twice changes nothing the second time. A file that another process is writing is left alone.
"""

import contextlib
import fcntl
import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
from isal import igzip_lib

from gossamer.store._captures import captures
from gossamer.store._page import PageRow, bare_row
from gossamer.store._rows import (
    TEMPORARY,
    Coverage,
    coverage_of,
    is_parquet,
    offsets_in,
    part_path,
    rows_readable,
    write_part,
)
from gossamer.store._segment import sync_folder
from gossamer.store._swap import settle
from gossamer.store._values import Capture, Location, StoreSettings, translated
from gossamer.store._warc_read import Damage, prefix_of, records

__all__ = ["Mended", "Parse", "Recovery", "recover", "rows_of", "write_rows"]

Parse = Callable[[Capture, Location], PageRow | None]
"""Makes the row of a capture; None for one that belongs into no row. An exception becomes a row that says so."""

_WORTH_KEEPING = (
    4_096  # bytes without one readable record: fewer are removed, more are set aside for a person to look at
)


class Mended(msgspec.Struct, frozen=True):
    """What was done to one WARC file."""

    file: str
    cut: int = 0
    """Bytes of a torn tail that were cut off."""
    blanked: int = 0
    """Bytes of damaged stretches between intact records."""
    rows: int = 0
    """Rows rebuilt."""
    unparsed: int = 0
    """Those of them whose page could not be parsed; their column `error` says so."""
    parts: int = 0
    """Parts that were removed half-written, or set aside because they are no Parquet any more."""
    problem: str = ""
    """What a person has to look at; the file was left as it is, or set aside."""

    def __str__(self) -> str:
        said = [f"a torn tail of {self.cut} bytes was cut off"] if self.cut else []
        said += [f"{self.blanked} damaged bytes were blanked"] if self.blanked else []
        said += [f"{self.rows} rows were rebuilt"] if self.rows else []
        said += [f"{self.unparsed} of them could not be parsed"] if self.unparsed else []
        said += [f"{self.parts} broken parts of the page table were put away"] if self.parts else []
        said += [self.problem] if self.problem else []
        return f"{self.file}: {', '.join(said) or 'nothing to mend'}."


class Recovery(msgspec.Struct, frozen=True):
    """What recovery found to do; nothing after an orderly end."""

    files: tuple[Mended, ...] = ()


def recover(
    folder: Path, parse: Parse | None = None, settings: StoreSettings | None = None, *, worker: str | None = None
) -> Recovery:
    """Mends the WARC files below `folder`, or those of one worker; without `parse` no rows are rebuilt."""
    try:
        settle(folder)
        parts = _parts(folder / "pages")
        mended = [
            _mended(path, folder / "pages", parts.get(_stem(path), []), parse, settings or StoreSettings())
            for path in sorted((folder / "warc").glob(f"gossamer-*-{worker or '*'}-*.warc.gz"))
        ]
        return Recovery(tuple(each for each in mended if each is not None))
    except OSError as error:
        raise translated(error, folder, "mend") from error


def rows_of(path: Path, parse: Parse, start: int = 0) -> Iterator[PageRow]:
    """The rows of a WARC file, made anew from its captures: how a table is rebuilt without fetching anything."""
    for item in captures(path, start):
        if not isinstance(item, Damage) and (row := _row(parse, item[1], item[0])) is not None:
            yield row


def write_rows(path: Path, pages: Path, parse: Parse, settings: StoreSettings) -> int:
    """Writes the rows of a WARC file into `pages`, a table in the making; goes on after the parts that are there already."""
    halves_and_parts = _parts(pages).get(_stem(path), [])
    parts = [part for part in halves_and_parts if not part.name.endswith(TEMPORARY)]
    found = [coverage for part in parts if (coverage := coverage_of(part)) is not None]
    return _write_missing(path, pages, parts, _covered(found), parse, settings)[0]


def _row(parse: Parse, capture: Capture, location: Location) -> PageRow | None:
    try:
        return parse(capture, location)
    except Exception:  # one page that no parser survives must not keep a crawl from starting again
        return bare_row(capture, location, error="parse-failed")


def _stem(path: Path) -> str:
    return path.name.removesuffix(".warc.gz")


def _parts(pages: Path) -> dict[str, list[Path]]:
    """Parts, half-written ones too, by the stem of their WARC file; one listing for all of them."""
    found: dict[str, list[Path]] = {}
    for path in sorted(pages.glob("gossamer-*"), key=lambda path: (len(path.name), path.name)):
        if path.name.endswith((".parquet", TEMPORARY)):
            found.setdefault(path.name.partition(".")[0].rpartition("-")[0], []).append(path)
    return found


def _mended(path: Path, pages: Path, parts: list[Path], parse: Parse | None, settings: StoreSettings) -> Mended | None:
    halves = [part for part in parts if part.name.endswith(TEMPORARY)]
    whole = {part: coverage_of(part) for part in parts if part not in halves}
    unreadable = [part for part, coverage in whole.items() if coverage is None and not is_parquet(part)]
    covered = _covered([coverage for coverage in whole.values() if coverage is not None])
    if covered == path.stat().st_size > 0 and not halves and not unreadable:
        return None
    with _held(path) as fd:
        if fd is None:
            return Mended(path.name, problem="another process is writing it, so it was left alone")
        for part in halves:
            part.unlink()
        unreadable += [part for part in whole if part not in unreadable and not rows_readable(part)]
        for part in unreadable:  # one file that cannot be read would fail every query
            os.rename(part, part.with_name(part.name + ".damaged"))
            del whole[part]
        covered = _covered([coverage for coverage in whole.values() if coverage is not None])
        trouble = _first_record(path)
        if trouble is not None:
            return trouble
        if _torn_at(path, covered):  # bytes that were once on the disk are gone: look at all that is left
            covered = 0
        cut, blanked = _mend_bytes(path, fd, covered)
        rows, unparsed = 0, 0
        if parse is not None:
            rows, unparsed = _write_missing(path, pages, list(whole), covered, parse, settings)
    mended = Mended(path.name, cut, blanked, rows, unparsed, len(halves) + len(unreadable))
    return mended if mended != Mended(path.name) else None


def _torn_at(path: Path, offset: int) -> bool:
    """Whether no record begins at `offset`; a crash alone never does that to a byte that a part answers for."""
    if offset == path.stat().st_size:
        return False
    first = next(records(path, offset), None)
    return first is None or (isinstance(first, Damage) and first.torn)


def _mend_bytes(path: Path, fd: int, start: int) -> tuple[int, int]:
    cut = blanked = 0
    for damage in [item for item in records(path, start) if isinstance(item, Damage) and item.torn]:
        if damage.last:
            os.ftruncate(fd, damage.offset)
            cut = damage.length
        elif (blank := _blank(damage.length)) is not None:
            os.pwrite(fd, blank, damage.offset)
            blanked += damage.length
    if cut or blanked:
        os.fsync(fd)
    return cut, blanked


def _write_missing(
    path: Path, pages: Path, parts: list[Path], covered: int, parse: Parse, settings: StoreSettings
) -> tuple[int, int]:
    """Writes the rows that are missing from `covered` on; the last part answers for the file to its end."""
    present = set().union(*map(offsets_in, parts))
    number = 1 + max((int(part.stem.rpartition("-")[2]) for part in parts), default=-1)
    size = path.stat().st_size
    rows: list[PageRow] = []
    written = unparsed = weight = 0
    start = covered
    for item in captures(path, covered):
        if isinstance(item, Damage) or item[0].offset in present:
            continue
        location, capture = item
        if (row := _row(parse, capture, location)) is None:
            continue
        rows.append(row)
        unparsed += row.error is not None
        weight += len(row.text or "")
        if len(rows) >= settings.part_rows or weight >= settings.part_bytes:
            end = location.offset + location.length
            write_part(part_path(pages, path.name, number), rows, Coverage(path.name, start, end), settings.zstd_level)
            written, number, start, rows, weight = written + len(rows), number + 1, end, [], 0
    if start < size:
        write_part(part_path(pages, path.name, number), rows, Coverage(path.name, start, size), settings.zstd_level)
    return written + len(rows), unparsed


def _covered(stretches: list[Coverage]) -> int:
    """How far the parts answer for their WARC file without a gap."""
    end = 0
    for stretch in sorted(stretches, key=lambda stretch: stretch.start):
        if stretch.start > end:
            break
        end = max(end, stretch.end)
    return end


def _first_record(path: Path) -> Mended | None:
    """None when the file opens as ours do; else what became of a file that does not."""
    first = next(records(path), None)
    if first is None or (isinstance(first, Damage) and first.last):
        size = path.stat().st_size
        if size < _WORTH_KEEPING:
            path.unlink()
            sync_folder(path.parent)
            return Mended(path.name, cut=size, problem="it held no whole record and was removed")
        os.rename(path, path.with_name(path.name + ".damaged"))
        sync_folder(path.parent)
        return Mended(path.name, problem="it holds no whole record and was set aside as .damaged")
    if isinstance(first, Damage) or not prefix_of(first):
        return Mended(path.name, problem="its first record is not that of a file of ours, so it was left alone")
    return None


def _blank(length: int) -> bytes | None:
    """A record of exactly `length` bytes that stands for what was there; None where it does not fit.

    The filling is the comment field of the gzip header (RFC 1952 section 2.3.1), which may be of any length and is skipped
    by every reader.
    """
    block = b"damagedBytes: %d\r\n" % length
    record = (
        b"WARC/1.1\r\nWARC-Type: metadata\r\nWARC-Record-ID: <urn:uuid:%s>\r\nWARC-Date: 1970-01-01T00:00:00Z\r\n"
        b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n"
    ) % (str(uuid.uuid4()).encode("ascii"), len(block), block)
    packed: bytes = igzip_lib.compress(record, 2, igzip_lib.COMP_GZIP)
    room = length - len(packed) - 1
    if room < 0:
        return packed if room == -1 else None
    return b"".join((packed[:3], b"\x10", packed[4:10], b" " * room, b"\0", packed[10:]))


@contextlib.contextmanager
def _held(path: Path) -> Iterator[int | None]:
    """The file open and locked for us; None while its writer has it."""
    fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield None
            return
        except OSError:  # a disk without locks
            pass
        yield fd
    finally:
        os.close(fd)
