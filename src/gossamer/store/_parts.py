"""Several questions to one state of the page table: `Parts`.

`query` answers one question and forgets. A judgement over a large table needs steps: tables of its own between them, rows that are
found again by their place without a scan, and memory that ends somewhere. Here the parts are those that were there when it was opened,
whatever a running crawl adds; tables that exceed the memory go to a temporary folder, which is removed at the end.
"""

import glob
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from gossamer.store._query import _connection, _first_line, _quoted
from gossamer.store._values import StoreError

__all__ = ["Parts"]

MEMORY = 1 << 30
_LINES = 32  # bits of a place that say which row of its part


class Parts:
    """The views of `query`, and `parts`: every row with its `place`, a number from which `rows` finds it again."""

    def __init__(self, folder: Path, memory: int = MEMORY) -> None:
        """`memory` is what the tables may hold in bytes before they go to the disk."""
        import tempfile  # a worker, which only writes, need not pay for it

        pages = (folder / "pages").resolve()
        self._files = sorted(str(path) for path in pages.glob("*.parquet"))
        self._spill = tempfile.TemporaryDirectory(prefix="gossamer-steps-", ignore_cleanup_errors=True)
        try:
            self._connection = _connection(folder, list(self._statements(pages, memory)))
        except BaseException:
            self._spill.cleanup()
            raise

    def _statements(self, pages: Path, memory: int) -> Iterable[str]:
        yield f"SET temp_directory = '{_quoted(self._spill.name)}'"
        yield f"SET memory_limit = '{memory}B'"
        yield "SET preserve_insertion_order = false"
        if not self._files:
            yield "CREATE VIEW parts AS SELECT *, 0::BIGINT AS place FROM pages"
            return
        yield "CREATE TABLE files (file VARCHAR, part BIGINT)"
        for start in range(0, len(self._files), 1_000):
            some = enumerate(self._files[start : start + 1_000], start)
            values = ", ".join(f"('{_quoted(file)}', {part})" for part, file in some)
            yield f"INSERT INTO files VALUES {values}"  # noqa: S608
        pattern = f"{_quoted(glob.escape(str(pages)))}/*.parquet"
        yield (
            f"CREATE VIEW parts AS SELECT p.* EXCLUDE (file, line), (f.part << {_LINES}) + p.line AS place "  # noqa: S608
            f"FROM (SELECT *, filename AS file, file_row_number AS line FROM read_parquet('{pattern}', union_by_name = true)) p "
            "JOIN files f ON p.file = f.file"
        )

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """The rows that `sql` gives, all of them: few, or none where it makes a table."""
        import duckdb

        try:
            return self._connection.execute(sql, list(parameters)).fetchall()
        except duckdb.Error as error:
            raise StoreError(f"The query failed: {_first_line(error)}") from error

    def rows(self, places: Iterable[int], columns: str) -> dict[int, dict[str, Any]]:
        """The rows at these places, by place; only their own parts are opened."""
        import duckdb

        wanted = sorted(set(places))
        if not wanted:
            return {}
        files = [self._files[part] for part in dict.fromkeys(place >> _LINES for place in wanted)]
        keys = pa.table(
            {
                "file": [self._files[place >> _LINES] for place in wanted],
                "line": [place & ((1 << _LINES) - 1) for place in wanted],
                "place": wanted,
            }
        )
        listed = ", ".join(f"'{_quoted(glob.escape(file))}'" for file in files)
        sql = (
            f"SELECT k.place, {columns} FROM read_parquet([{listed}], union_by_name = true) r "  # noqa: S608
            "JOIN wanted_places k ON r.filename = k.file AND r.file_row_number = k.line"
        )
        try:
            self._connection.register("wanted_places", keys)
            found: list[dict[str, Any]] = self._connection.sql(sql).to_arrow_table().to_pylist()
        except duckdb.Error as error:
            raise StoreError(f"The query failed: {_first_line(error)}") from error
        return {row.pop("place"): row for row in found}

    def close(self) -> None:
        self._connection.close()
        self._spill.cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
