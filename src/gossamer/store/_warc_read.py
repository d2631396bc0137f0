"""Reading WARC files back, whole or damaged, ours or anybody's.

    records(path)  → every record in turn, and a `Damage` for each stretch that cannot be read

Nothing a file holds raises, and no record costs more memory than `most` says, whatever its gzip stream swells to. After a
damaged stretch the next whole record is searched for. In a file of ours only records that carry the file's own id prefix
count then: the damaged stretch may hold the body of a page that was itself a WARC file, and its records are not ours.

Reading by hand instead of by a library: 16 µs a record of a crawl of 14 KB pages, where FastWARC takes 8 and warcio 43; and in
exchange the exact extent of every member, good or bad, without which nothing could be mended.
"""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Self, cast

import msgspec
from isal import isal_zlib

from gossamer.store._values import translated

__all__ = ["LARGEST", "Damage", "Record", "WarcFile", "payload_sha256", "prefix_of", "record_at", "records"]

LARGEST = 64 * 1_048_576
"""Bytes of one record that are kept in memory when the caller does not say."""

_CHUNK = 32_768  # compressed bytes a step: a bomb can make 33 MB of them, not more
_WINDOW = 262_144
_LONGEST_HEAD = 1_048_576
# The type stubs of isal call it an instance.
_CORRUPT = cast("type[Exception]", isal_zlib.error)
_MAGIC = b"\x1f\x8b\x08"
_RESERVED = 0xE0  # of the flags in a gzip header (RFC 1952 section 2.3.1.2)
_PLAIN = re.compile(rb"(?:^|\n)(WARC/\d)")
_OWN_FIRST_ID = re.compile(r"<urn:uuid:([0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-)0{12}>")


class Record(msgspec.Struct, frozen=True):
    """One WARC record."""

    kind: str
    """The WARC-Type: response, request, metadata, revisit, warcinfo ..."""
    headers: dict[str, str]
    """By lower-case name; the first of several wins."""
    block: bytes
    offset: int
    length: int
    """Bytes it takes in the file; of several records in one gzip member the first counts for all."""
    cut: bool = False
    """The block is larger than the reader was allowed to keep."""


class Damage(msgspec.Struct, frozen=True):
    """A stretch of the file that is no record."""

    offset: int
    length: int
    reason: str
    torn: bool
    """The bytes themselves are broken; False: they are sound but no WARC record."""
    last: bool
    """Nothing readable follows."""


def records(path: Path, start: int = 0, *, most: int = LARGEST) -> Iterator[Record | Damage]:
    """Every record from `start`, which is where a record begins; gzipped or plain."""
    try:
        with WarcFile(path) as file:
            if file.look(0, 2) == _MAGIC[:2] or path.suffix == ".gz":
                own = _own_prefix(file) if start else ""
                yield from _gzipped(file, start, most, own)
            else:
                yield from _plain(file, start, most)
    except OSError as error:
        raise translated(error, path, "read") from error


def prefix_of(record: Record) -> str:
    """The prefix that all record ids of a file of ours share, when `record` is its first; else empty."""
    found = _OWN_FIRST_ID.fullmatch(record.headers.get("warc-record-id", "")) if record.kind == "warcinfo" else None
    return found[1] if found else ""


class WarcFile:
    """Random access through one window: reading in order costs one system call for many records."""

    def __init__(self, path: Path) -> None:
        self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.size = os.fstat(self._fd).st_size
        self._start = 0
        self._window = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def look(self, offset: int, count: int) -> bytes:
        """`count` bytes (at most a window) from `offset`; fewer at the end of the file."""
        at = offset - self._start
        if at < 0 or at + count > len(self._window):
            self._window = os.pread(self._fd, _WINDOW, offset)
            self._start, at = offset, 0
        return self._window[at : at + count]

    def find(self, needle: bytes, offset: int) -> int:
        """The first place of `needle` from `offset` on, or -1."""
        while offset < self.size:
            stretch = self.look(offset, _WINDOW)
            if not stretch:
                return -1
            if (at := stretch.find(needle)) >= 0:
                return offset + at
            offset += max(len(stretch) - len(needle) + 1, 1)
        return -1


class _Member(msgspec.Struct, frozen=True):
    data: bytes
    length: int
    cut: bool


def _member(file: WarcFile, offset: int, most: int) -> _Member | str:
    """The gzip member at `offset`, checked to its CRC; or the reason why there is none."""
    stream = isal_zlib.decompressobj(31)
    pieces: list[bytes] = []
    kept, position, cut = 0, offset, False
    try:
        while not stream.eof:
            chunk = file.look(position, _CHUNK)
            if not chunk:
                return "the file ends within a record" if position > offset else "nothing"
            if position == offset and len(chunk) > 3 and chunk[3] & _RESERVED:  # isal would read on; others refuse it
                return "the gzip header is damaged"
            piece = stream.decompress(chunk)
            position += len(chunk)
            if kept < most:
                pieces.append(piece if kept + len(piece) <= most else piece[: most - kept])
            kept += len(piece)
            cut = kept > most
    except _CORRUPT:
        return "the compressed bytes are damaged"
    data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    return _Member(data, position - len(stream.unused_data) - offset, cut)


def _gzipped(file: WarcFile, offset: int, most: int, own: str) -> Iterator[Record | Damage]:
    while offset < file.size:
        member = _member(file, offset, most)
        if isinstance(member, str):
            following = _next_member(file, offset + 1, own)
            end = file.size if following is None else following
            yield Damage(offset, end - offset, member, torn=True, last=following is None)
            offset = end
            continue
        first, length = offset, member.length
        offset += length
        for record in _records_in(member, first):
            if not own and first == 0 and isinstance(record, Record):
                own = prefix_of(record)
            yield record


def _records_in(member: _Member, offset: int) -> Iterator[Record | Damage]:
    at, length = 0, member.length
    while True:
        record = _parsed(member.data, at, offset, length, member.cut)
        if isinstance(record, str):
            if at == 0:
                yield Damage(offset, length, record, torn=False, last=False)
            return
        found, at = record
        yield found
        length = 0
        if member.cut or not member.data.startswith(b"WARC/", at):
            return


def _next_member(file: WarcFile, offset: int, own: str) -> int | None:
    """Where the next whole record begins; a short look at each candidate first, so that garbage costs little."""
    while (offset := file.find(_MAGIC, offset)) >= 0:
        try:
            begins = isal_zlib.decompressobj(31).decompress(file.look(offset, 512)).startswith(b"WARC/")
        except _CORRUPT:
            begins = False
        if begins:
            record = record_at(file, offset, _LONGEST_HEAD)
            if record is not None and record.headers.get("warc-record-id", "").startswith(
                f"<urn:uuid:{own}" if own else ""
            ):
                return offset
        offset += 1
    return None


def record_at(file: WarcFile, offset: int, most: int) -> Record | None:
    if file.look(0, 2) != _MAGIC[:2]:
        return next((item for item in _plain(file, offset, most) if isinstance(item, Record)), None)
    member = _member(file, offset, most)
    if isinstance(member, str):
        return None
    record = _parsed(member.data, 0, offset, member.length, member.cut)
    return None if isinstance(record, str) else record[0]


def payload_sha256(path: Path, offset: int) -> bytes:
    """The digest of the payload of a `response` record, however large: nothing of it is kept."""
    summed, head, left = hashlib.sha256(), b"", -1
    with WarcFile(path) as file:
        stream = isal_zlib.decompressobj(31)
        position = offset
        while not stream.eof and (chunk := file.look(position, _CHUNK)):
            piece = stream.decompress(chunk)
            position += len(chunk)
            if left < 0:
                head += piece
                ends = head.find(b"\r\n\r\n")
                body = head.find(b"\r\n\r\n", ends + 4) + 4 if ends >= 0 else 3
                if body < 4:
                    continue
                left = (_size(_headers(head[:ends])) or 0) - (body - ends - 4)
                piece = head[body:]
            summed.update(piece[:left])
            left -= min(left, len(piece))
    return summed.digest()


def _own_prefix(file: WarcFile) -> str:
    first = record_at(file, 0, _LONGEST_HEAD)
    return prefix_of(first) if first is not None else ""


def _parsed(data: bytes, at: int, offset: int, length: int, cut: bool) -> tuple[Record, int] | str:
    """The record at `at` of `data` and where it ends there; or what is wrong with it."""
    end = data.find(b"\r\n\r\n", at, at + _LONGEST_HEAD)
    if not data.startswith(b"WARC/", at) or end < 0:
        return "this is no WARC record"
    headers = _headers(data[at:end])
    size = _size(headers)
    if size is None:
        return "the record does not tell its length"
    begin = end + 4
    if begin + size > len(data) and not cut:
        return "the record is shorter than it says"
    block = data[begin : begin + size]
    kind = headers.get("warc-type", "").lower()
    after = begin + size
    while data.startswith(b"\r\n", after):
        after += 2
    return Record(kind, headers, block, offset, length, len(block) < size), after


def _plain(file: WarcFile, offset: int, most: int) -> Iterator[Record | Damage]:
    """Uncompressed files, which we never write: enough to read those of others."""
    while offset < file.size:
        head = file.look(offset, _WINDOW)
        blank = len(head) - len(head.lstrip(b"\r\n"))
        if blank:
            offset += blank
            continue
        end = head.find(b"\r\n\r\n")
        headers = _headers(head[:end]) if head.startswith(b"WARC/") and end >= 0 else {}
        size = _size(headers)
        begin = offset + end + 4
        if size is None or begin + size > file.size:
            following = _next_plain(file, offset + 1)
            stop = file.size if following is None else following
            reason = "this is no WARC record" if size is None else "the file ends within a record"
            yield Damage(offset, stop - offset, reason, torn=size is not None, last=following is None)
            offset = stop
            continue
        wanted = min(size, most)
        block = b"".join(file.look(begin + at, min(_WINDOW, wanted - at)) for at in range(0, wanted, _WINDOW))
        yield Record(headers.get("warc-type", "").lower(), headers, block, offset, begin + size - offset, size > most)
        offset = begin + size


def _next_plain(file: WarcFile, offset: int) -> int | None:
    while (at := file.find(b"\nWARC/1.", offset - 1)) >= 0:
        if b"\nWARC-Type:" in file.look(at + 1, 1024):
            return at + 1
        offset = at + 2
    return None


def _headers(head: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in head.decode("utf-8", "replace").split("\r\n")[1:]:
        if line[:1] in (" ", "\t") and name:
            found[name] += " " + line.strip()
            continue
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if not colon or name in found:
            name = ""
            continue
        found[name] = value.strip()
    return found


def _size(headers: Mapping[str, str]) -> int | None:
    told = headers.get("content-length", "")
    return int(told) if told.isascii() and told.isdecimal() and len(told) < 19 else None
