"""Reading a store: one capture by its place, captures by URL, and SQL over the page table.

Only complete parts are read, so all of this works while a crawl is running; what it sees is at most one part behind.
SQL runs in an in-memory DuckDB that can read DIR/pages and nothing else: no other file, no network, no extension.
"""

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from gossamer.store._captures import read_at
from gossamer.store._rows import SCHEMA
from gossamer.store._values import Capture, Location, StoreError

if TYPE_CHECKING:
    import duckdb

__all__ = ["batches", "find", "original", "query", "read"]

_LATEST = (
    "SELECT * FROM pages QUALIFY row_number() OVER (PARTITION BY url ORDER BY fetched_at DESC, warc_offset DESC) = 1"
)


def read(folder: Path, location: Location) -> Capture:
    """The capture at `location`, request and notes included; StoreError where there is none."""
    if "/" in location.file or location.file.startswith("."):
        raise StoreError(f"{location.file!r} is no file of a store.")
    return read_at(folder / "warc" / location.file, location)


def find(folder: Path, url: str) -> list[Location]:
    """Where captures of `url` are, the newest first."""
    sql = (
        "SELECT warc_file, warc_offset, warc_length FROM pages WHERE url = ? ORDER BY fetched_at DESC, warc_offset DESC"
    )
    found = query(folder, sql, [url])
    return [Location(row["warc_file"], row["warc_offset"], row["warc_length"]) for row in found.to_pylist()]


def original(folder: Path, capture: Capture) -> Capture | None:
    """The capture that holds the body of `capture`: itself, or the one a duplicate stands for; None when that is not here."""
    if capture.duplicate is None and capture.body_stored:
        return capture
    if capture.duplicate is None:
        return None
    for location in find(folder, capture.duplicate.url):
        candidate = read(folder, location)
        if candidate.duplicate is None and candidate.body_stored and _same(capture, candidate):
            return candidate
    return None


def _same(copy: Capture, candidate: Capture) -> bool:
    if copy.payload_digest:
        return copy.payload_digest == candidate.payload_digest
    at = copy.duplicate.at if copy.duplicate is not None else None
    return at is None or abs(candidate.at - at) < 0.001


def query(folder: Path, sql: str, parameters: Sequence[Any] = ()) -> pa.Table:
    """The result of `sql` over the views `pages` (every capture) and `latest` (the newest of each URL)."""
    import duckdb

    connection = _connection(folder)
    try:
        found = connection.sql(sql, params=list(parameters))
        if found is None:
            raise StoreError("The query failed: it asks for no rows; begin it with SELECT.")
        return found.to_arrow_table()
    except duckdb.Error as error:
        raise StoreError(f"The query failed: {_first_line(error)}") from error
    finally:
        connection.close()


def batches(folder: Path, sql: str, parameters: Sequence[Any] = ()) -> pa.RecordBatchReader:
    """The result of `sql` as a stream of Arrow batches, for more rows than memory holds."""
    import duckdb

    try:
        return _connection(folder).sql(sql, params=list(parameters)).to_arrow_reader(10_000)
    except duckdb.Error as error:
        raise StoreError(f"The query failed: {_first_line(error)}") from error


def _connection(folder: Path, more: Sequence[str] = ()) -> "duckdb.DuckDBPyConnection":
    """The views, then the statements in `more`; after them nothing but DIR/pages can be reached."""
    import duckdb  # 100 ms to import, which a worker that only writes need not pay

    pages = (folder / "pages").resolve()
    files = _quoted(glob.escape(str(pages)))
    if not pages.is_dir():
        raise StoreError(f"There is no crawl in {folder}: it has no folder named pages.")
    connection = duckdb.connect(":memory:")
    try:
        connection.execute("SET TimeZone = 'UTC'")
        if next(pages.glob("*.parquet"), None) is None:
            connection.register("nothing", pa.Table.from_batches([], schema=SCHEMA))
            connection.execute("CREATE TABLE pages AS SELECT * FROM nothing")
        else:
            # Parts of earlier versions may lack columns: by name, they answer NULL there.
            parts = f"read_parquet('{files}/*.parquet', union_by_name = true)"
            connection.execute(f"CREATE VIEW pages AS SELECT * FROM {parts}")  # noqa: S608
        connection.execute(f"CREATE VIEW latest AS {_LATEST}")
        for statement in more:
            connection.execute(statement)
        # The folder as the files are opened, and as the pattern names it.
        connection.execute(f"SET allowed_directories = ['{_quoted(str(pages))}/', '{files}/']")
        for lock in (
            "autoinstall_known_extensions = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            connection.execute(f"SET {lock}")
    except duckdb.Error as error:
        connection.close()
        raise StoreError(
            f"The page table in {pages} cannot be read: {_first_line(error)} (gossamer verify tells what is wrong with it.)"
        ) from error
    return connection


def _quoted(text: str) -> str:
    return text.replace("'", "''")


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
