"""Is what is stored whole, and does the page table agree with it?

    exchanges(path, tell)                every exchange of a WARC file; what is wrong with the file on the way
    check_parts(parts, due, tell)        the rows of a WARC file against what the file holds (`due`)

Both read from the first byte to the last and keep a few numbers a capture of one WARC file, never a body or a row. What
is wrong is told as `Finding`s; nothing is changed here.
"""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_64_intdigest

from gossamer.fingerprint import warc_form
from gossamer.store._captures import _capture, _is_answer, read_at
from gossamer.store._head import field_of
from gossamer.store._rows import SCHEMA, TEMPORARY, coverage_of, sound
from gossamer.store._swap import NEW, OLD
from gossamer.store._values import Capture, Location, StoreError
from gossamer.store._warc_read import Damage, Record, payload_sha256, prefix_of, records
from gossamer.store._warc_write import IDS, PRECEDED_BY

__all__ = [
    "Due",
    "Exchange",
    "Finding",
    "Tell",
    "check_parts",
    "due_of",
    "exchanges",
    "is_blank",
    "leftovers",
    "parts_of",
    "readable_at",
]

_OWN_ID = re.compile(r"<urn:uuid:([0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-)[0-9a-f]{12}>")
_NEEDED = ("url", "status", "fetched_at", "digest", "warc_file", "warc_offset", "warc_length")


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, and where."""

    kind: str
    file: str
    """The WARC file, or the part of the page table."""
    offset: int = 0
    length: int = 0
    url: str = ""
    detail: str = ""


Tell = Callable[[Finding], None]


class Exchange(msgspec.Struct, frozen=True):
    """An exchange as it was found."""

    location: Location
    capture: Capture
    start: int
    """Where its first record begins."""
    whole: bool
    """False where its notes or its request were lost before, and that is known: see `is_blank`."""


def exchanges(path: Path, tell: Tell, *, digests: bool = True) -> Iterator[Exchange]:
    """Every exchange of a file of ours whose records are sound."""
    prefix, number, hurt = "", 0, False
    recent: list[Record] = []
    for record in records(path):
        if isinstance(record, Damage):
            tell(_damage(path, record))
            recent, hurt = [], True
            continue
        if is_blank(record):
            recent, hurt = [], True
            continue
        if not prefix:
            prefix = prefix_of(record) or (_prefix_in(record) if hurt else "")
            if not prefix:
                tell(Finding("warc-foreign", path.name, detail="its first record is not that of a file of ours"))
                return
            if record.kind == "warcinfo":
                continue
        if not _is_answer(record):
            recent.append(record)
            continue
        start = recent[0].offset if recent else record.offset
        wrong, number = _wrong_order(record, recent, prefix, number)
        whole = True
        if wrong is not None and wrong[0] == "exchange-broken" and hurt:
            wrong, whole = None, False
        if wrong is None:
            wrong = _wrong_content(path, record, digests=digests)
        if wrong is None:
            location = Location(path.name, record.offset, record.length)
            yield Exchange(location, _capture(record, recent if whole else []), start, whole)
        else:
            end = record.offset + record.length
            url = record.headers.get("warc-target-uri", "")
            tell(Finding(wrong[0], path.name, start, end - start, url, wrong[1]))
        recent, hurt = [], False
    if not prefix and not hurt:
        tell(Finding("warc-foreign", path.name, detail="it is empty"))


def is_blank(record: Record) -> bool:
    """Whether the record only fills a place whose bytes were found damaged before and dealt with."""
    return (
        record.kind == "metadata"
        and record.block.startswith(b"damagedBytes:")
        and "warc-target-uri" not in record.headers
    )


def _damage(path: Path, damage: Damage) -> Finding:
    kind = "torn-tail" if damage.last else "record-damaged" if damage.torn else "record-foreign"
    return Finding(kind, path.name, damage.offset, damage.length, detail=damage.reason)


def _wrong_order(answer: Record, mates: list[Record], prefix: str, number: int) -> tuple[tuple[str, str] | None, int]:
    """What is wrong with how the records of an exchange stand together, and the number of its answer.

    Record ids count up within a file, so that an id that does not is one that was there before: no set of ids is needed.
    """
    own = _number(answer, prefix)
    if own is None or own < number:
        return ("record-id", "its record id is not unique in the file, or not one of the file's own"), number
    following = own + IDS
    told = answer.headers.get(PRECEDED_BY.lower(), "")
    names = [mate.kind for mate in mates]
    expected = ["request"] if answer.kind == "metadata" else ["metadata", "request"]
    if names != expected or told != str(sum(mate.length for mate in mates)):
        return ("exchange-broken", f"it is preceded by {' and '.join(names) or 'nothing'}"), following
    tied = all(mate.headers.get("warc-concurrent-to") == answer.headers["warc-record-id"] for mate in mates)
    same = all(mate.headers.get("warc-target-uri") == answer.headers.get("warc-target-uri") for mate in mates)
    counted = {_number(mate, prefix) for mate in mates} == {own + 3 - len(mates) + at for at in range(len(mates))}
    if not (tied and same and counted):
        return ("exchange-broken", "the records before it belong to another exchange"), following
    return None, following


def _prefix_in(record: Record) -> str:
    """The prefix of a file's record ids, where the record that opened the file is lost."""
    found = _OWN_ID.fullmatch(record.headers.get("warc-record-id", ""))
    return found[1] if found else ""


def _number(record: Record, prefix: str) -> int | None:
    named = record.headers.get("warc-record-id", "").removeprefix("<urn:uuid:").removesuffix(">")
    if not named.startswith(prefix) or len(named) != len(prefix) + 12:
        return None
    try:
        return int(named[len(prefix) :], 16)
    except ValueError:
        return None


def _wrong_content(path: Path, answer: Record, *, digests: bool) -> tuple[str, str] | None:
    missing = [name for name in ("warc-date", "warc-target-uri") if not answer.headers.get(name)]
    if missing:
        return "record-incomplete", f"its header lacks {missing[0]}"
    if answer.kind != "response":
        return None
    head = answer.block.find(b"\r\n\r\n") + 4
    size = int(answer.headers["content-length"]) - head
    if head < 4:
        return "record-incomplete", "it holds no HTTP answer"
    told = field_of(answer.block[:head], "content-length")
    if told.isascii() and told.isdecimal() and int(told) != size:
        return "length-wrong", f"its head tells of {told} bytes, and {size} are there"
    digest = answer.headers.get("warc-payload-digest", "")
    if not digests or not digest.startswith("sha256:"):
        return None
    if answer.cut:
        found = payload_sha256(path, answer.offset)
    else:
        found = hashlib.sha256(memoryview(answer.block)[head:]).digest()
    return None if warc_form(found) == digest else ("digest-wrong", "its payload is not the one that its digest names")


class Due(msgspec.Struct, frozen=True, gc=False):
    """What the row of a capture has to say, in a few numbers."""

    length: int
    text: int
    """A hash of URL, status, time and digest."""


def due_of(location: Location, capture: Capture) -> Due:
    return Due(location.length, _hash(capture.url, capture.status, round(capture.at * 1000), capture.payload_digest))


def _hash(url: str, status: int, at: int, digest: str | None) -> int:
    return xxh3_64_intdigest(f"{url}\n{status}\n{at}\n{digest or ''}".encode("utf-8", "replace"))


def check_parts(parts: Sequence[Path], warc: str, due: dict[int, Due], tell: Tell, *, digests: bool = True) -> int:
    """The rows of one WARC file, and how many; what has its row is taken out of `due`, and what is left has none."""
    seen: set[int] = set()
    rows = 0
    for part in parts:
        try:
            wrong = _wrong_part(part, digests=digests)
            if wrong is not None:
                tell(Finding("part-damaged", part.name, detail=wrong))
                continue
            for batch in pq.ParquetFile(part).iter_batches(10_000, columns=list(_NEEDED)):
                rows += batch.num_rows
                _check_rows(batch, part.name, warc, due, seen, tell)
        except (OSError, pa.ArrowException, ValueError, KeyError) as error:
            said = str(error).strip().splitlines() or [type(error).__name__]
            tell(Finding("part-damaged", part.name, detail=f"it cannot be read: {said[0][:200]}"))
    return rows


def _wrong_part(part: Path, *, digests: bool) -> str | None:
    schema = pq.read_schema(part)
    for name in schema.names:
        if name not in SCHEMA.names or schema.field(name).type != SCHEMA.field(name).type:
            return f"its column {name!r} is not one of the page table"
    lacking = [name for name in _NEEDED if name not in schema.names]
    if lacking:
        return f"its column {lacking[0]!r} is missing"
    if coverage_of(part) is None:
        return "it does not say which stretch of its WARC file it answers for"
    if not digests:
        return None
    whole = sound(part.read_bytes())
    if whole is None:
        pq.read_table(part)  # without a sum, that all of it can be read is all that can be said
    return "its bytes are not those that were written" if whole is False else None


def _check_rows(batch: pa.RecordBatch, part: str, warc: str, due: dict[int, Due], seen: set[int], tell: Tell) -> None:
    at = batch.column("fetched_at").view(pa.int64()).to_pylist()
    names = ("url", "status", "digest", "warc_file", "warc_offset", "warc_length")
    url, status, digest, file, offset, length = (batch.column(name).to_pylist() for name in names)
    for place, row in enumerate(zip(file, offset, length, strict=True)):
        expected = due.pop(row[1], None) if row[0] == warc else None
        if row[1] in seen and row[0] == warc:
            kind, detail = "row-twice", ""
        elif expected is None:
            kind, detail = "row-astray", f"there is no page in {row[0]} at byte {row[1]}"
        elif expected != Due(row[2], _hash(url[place], status[place], at[place], digest[place])):
            kind, detail = "row-differs", f"{row[0]} at byte {row[1]} holds something else"
            seen.add(row[1])
        else:
            seen.add(row[1])
            continue
        tell(Finding(kind, part, row[1], row[2], url[place], detail))


def parts_of(pages: Path) -> dict[str, list[Path]]:
    """The parts of the page table, in order, by the name of their WARC file."""
    found: dict[str, list[Path]] = {}
    for part in sorted(pages.glob("*.parquet"), key=lambda path: (len(path.name), path.name)):
        found.setdefault(f"{part.stem.rpartition('-')[0]}.warc.gz", []).append(part)
    return found


def leftovers(folder: Path) -> list[Path]:
    """Files that were being written when a process ended."""
    halves = sorted((folder / "pages").glob(f"*{TEMPORARY}"))
    return halves + [path for name in (NEW, OLD) if (path := folder / name).exists()]


def readable_at(folder: Path, location: Location, url: str) -> bool:
    """Whether the answer of `url` lies there, exactly."""
    if "/" in location.file or location.file.startswith("."):
        return False
    try:
        found = read_at(folder / "warc" / location.file, location)
    except StoreError:
        return False
    return found.url == url
