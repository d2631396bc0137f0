"""Rows on disk: Parquet parts that are whole or absent.

A part holds rows of one WARC file and says in its footer which stretch of that file it answers for (`Coverage`): every
capture between `start` and `end` has its row in this part or in an earlier one. Recovery reads the footers alone and knows
which bytes of which WARC still need rows.

A part is written under a temporary name, synced, renamed, and its folder synced: a query sees only complete files, and a
power cut leaves a complete one or none. Its footer also holds a sum over all its bytes (the sum itself read as zeros), since
Parquet guards neither its pages nor its footer: a byte that changed on the disk would otherwise be another letter in a text.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from xxhash import xxh3_128_hexdigest

from gossamer.store._page import COLUMNS, Column, PageRow
from gossamer.store._segment import sync_folder
from gossamer.store._values import translated

__all__ = [
    "SCHEMA",
    "TEMPORARY",
    "Coverage",
    "coverage_of",
    "is_parquet",
    "offsets_in",
    "part_path",
    "rows_in",
    "rows_readable",
    "sound",
    "write_part",
]

TEMPORARY = ".tmp"
_KEY = b"gossamer.coverage"
_SUM = b"gossamer.sum"
_NO_SUM = b"0" * 32

_TYPES = {
    "string": pa.string(),
    "uint16": pa.uint16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "timestamp": pa.timestamp("ms", tz="UTC"),
    "list<string>": pa.list_(pa.string()),
    "map<string,string>": pa.map_(pa.string(), pa.string()),
}
SCHEMA = pa.schema([pa.field(column.name, _TYPES[column.type]) for column in COLUMNS])

# Values that repeat within a part are worth a dictionary; text, titles and digests would only fill one and overflow it.
_REPEATING = [
    "host", "domain", "via", "media_type", "encoding", "language", "robots.list.element", "links.list.element",
    "duplicate_kind", "headers.key_value.key", "headers.key_value.value", "address", "truncated", "cuts.list.element",
    "error", "warc_file", "status",
]  # fmt: skip
_LIMITS = {"uint16": (0, 2**16 - 1), "int32": (-(2**31), 2**31 - 1), "uint64": (0, 2**64 - 1)}


class Coverage(msgspec.Struct, frozen=True):
    """Which stretch of which WARC file a part answers for."""

    file: str
    start: int
    end: int


def part_path(pages: Path, warc: str, number: int) -> Path:
    return pages / f"{warc.removesuffix('.warc.gz')}-{number:04}.parquet"


def write_part(path: Path, rows: Sequence[PageRow], coverage: Coverage, level: int) -> None:
    """Writes `rows` durably to `path`; StoreError when the disk refuses, and then there is no such file."""
    table = _table(rows).replace_schema_metadata({_KEY: msgspec.json.encode(coverage), _SUM: _NO_SUM})
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        compression_level=level,
        use_dictionary=_REPEATING,
        row_group_size=len(rows) or 1,
    )
    temporary = path.with_name(path.name + TEMPORARY)
    try:
        with open(temporary, "wb") as file:
            file.write(_summed(sink.getvalue().to_pybytes()))
            file.flush()
            os.fsync(file.fileno())
        os.rename(temporary, path)
        sync_folder(path.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise translated(error, path) from error


def _summed(data: bytes) -> bytes:
    """The file with its sum in place; nothing after the metadata in a footer looks like so many zeros."""
    at = data.rindex(_NO_SUM)
    return b"".join((data[:at], xxh3_128_hexdigest(data).encode("ascii"), data[at + len(_NO_SUM) :]))


def sound(data: bytes) -> bool | None:
    """Whether the bytes of a part are those that were written; None for a part of before there were sums."""
    told = (pq.read_metadata(pa.BufferReader(data)).metadata or {}).get(_SUM)
    if told is None:
        return None
    at = data.rfind(told)
    return at >= 0 and xxh3_128_hexdigest(data[:at] + _NO_SUM + data[at + len(told) :]).encode("ascii") == told


def coverage_of(path: Path) -> Coverage | None:
    """What the part answers for; None for a file that is no part of ours or cannot be read."""
    try:
        metadata = pq.read_metadata(path).metadata
        return msgspec.json.decode((metadata or {})[_KEY], type=Coverage)
    except (OSError, pa.ArrowException, KeyError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def is_parquet(path: Path) -> bool:
    """Whether the file has a footer that can be read."""
    try:
        pq.read_metadata(path)
    except (OSError, pa.ArrowException):
        return False
    return True


def rows_readable(path: Path) -> bool:
    """Whether a part with a good footer has good rows behind it: recovery asks before it counts on them."""
    try:
        offsets_in(path)
        return sound(path.read_bytes()) is not False
    except (OSError, pa.ArrowException):
        return False


def offsets_in(path: Path) -> set[int]:
    """Which records the part has rows for."""
    return set(pq.read_table(path, columns=["warc_offset"]).column("warc_offset").to_pylist())


def rows_in(path: Path) -> int:
    """How many rows the part has."""
    return int(pq.read_metadata(path).num_rows)


def _table(rows: Sequence[PageRow]) -> pa.Table:
    columns = list(zip(*map(msgspec.structs.astuple, rows), strict=True)) or [()] * len(COLUMNS)
    arrays = [
        _array(column, values, field.type) for column, values, field in zip(COLUMNS, columns, SCHEMA, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def _array(column: Column, values: Sequence[object], arrow: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, arrow)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError, UnicodeEncodeError):
        # A lone surrogate or a number past its type: one such value must not cost a part its other rows.
        limits = _LIMITS.get(column.type)
        return pa.array([_storable(value, limits) for value in values], arrow)


def _storable(value: object, limits: tuple[int, int] | None) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, tuple):
        return tuple(_storable(each, limits) for each in value)
    if isinstance(value, int):
        low, high = limits or (-(2**63), 2**63 - 1)
        return min(max(value, low), high)
    return value
