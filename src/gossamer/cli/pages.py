"""`gossamer pages`: the page table of a crawl, chosen by SQL, in the form that is wanted.

Rows stream: a table of any size goes through in batches. While the crawl runs, rows appear in parts, about a minute late.
"""

import argparse
import csv
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from gossamer.cli.commands import Help
from gossamer.cli.wording import table
from gossamer.crawl import Folder
from gossamer.errors import ConfigError, GossamerError
from gossamer.store import COLUMNS, StoreError, batches, query

__all__ = ["parser", "run", "sql_of", "terminal_width"]

TABLE_COLUMNS = "status, url, title, language, content_length, depth"
TABLE_LIMIT = 50
FORMATS = ("table", "jsonl", "csv", "parquet")


def parser() -> argparse.ArgumentParser:
    names = ", ".join(column.name for column in COLUMNS)
    made = argparse.ArgumentParser(
        "gossamer pages",
        usage="gossamer pages DIR [OPTIONS]",
        description="The page table of the crawl in DIR: one row for each answer.",
        epilog=f"columns (docs/pages.md says what each means):\n{_wrapped(names)}\n\n"
        "examples:\n"
        "  gossamer pages crawls/example.com\n"
        "  gossamer pages crawls/example.com --where \"status = 404\" --columns url,via\n"
        "  gossamer pages crawls/example.com --where \"language = 'de' and length(text) > 1000\" --format jsonl\n"
        "  gossamer pages crawls/example.com --columns \"host, count(*) as pages\" --group-by host\n"
        "  gossamer pages crawls/example.com --format parquet --output pages.parquet",
        formatter_class=Help,
        allow_abbrev=False,
    )  # fmt: skip
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument("--where", metavar="SQL", help="only rows for which this holds (DuckDB's SQL)")
    made.add_argument(
        "--columns", metavar="SQL", help="which columns, or expressions of them [default: all; in a table, some]"
    )
    made.add_argument("--group-by", metavar="SQL", help="one row for each of these")
    made.add_argument("--order-by", metavar="SQL", help="in this order")
    made.add_argument(
        "--limit", type=int, metavar="N", help="at most so many rows; 0 for all [default: all; in a table, 50]"
    )
    made.add_argument("--latest", action="store_true", help="of pages fetched several times, the newest row only")
    made.add_argument(
        "--format",
        choices=FORMATS,
        default="table",
        metavar="FORMAT",
        help="table, jsonl, csv or parquet [default: table]",
    )
    made.add_argument("--output", metavar="FILE", type=Path, help="write there instead of to standard output")
    return made  # fmt: skip


def _wrapped(text: str, width: int = 94) -> str:
    import textwrap

    return textwrap.indent(textwrap.fill(text, width), "  ")


def sql_of(given: argparse.Namespace) -> str:
    """The query; what comes from the command line is an expression each, closed off by a line end."""
    shown = given.format == "table"
    columns = given.columns or (TABLE_COLUMNS if shown else "*")
    sql = f"SELECT {columns}\nFROM {'latest' if given.latest else 'pages'}"
    for word, part in (("WHERE", given.where), ("GROUP BY", given.group_by), ("ORDER BY", given.order_by)):
        if part:
            sql += f"\n{word} {f'({part}{chr(10)})' if word == 'WHERE' else part}"
    limit = given.limit if given.limit is not None else TABLE_LIMIT if shown else 0
    return sql + (f"\nLIMIT {limit + 1 if shown else limit}" if limit else "")


def run(given: argparse.Namespace) -> int:
    if given.limit is not None and given.limit < 0:
        raise ConfigError(f"--limit cannot be {given.limit}: it is a whole number >= 0")
    Folder(given.folder).load()
    if given.format == "table" and given.output is None:
        return _show(given)
    if given.format == "parquet" and given.output is None and sys.stdout.isatty():
        raise ConfigError("Parquet is not for terminals: add --output FILE")
    reader = batches(given.folder, sql_of(given))
    with _opened(given.output) as out:
        _write(reader, given.format, out)
    return 0


def _write(reader: Any, form: str, out: BinaryIO) -> None:
    try:
        if form == "parquet":
            _parquet(reader, out)
        elif form == "csv":
            _csv(reader, out)
        elif form == "jsonl":
            _jsonl(reader, out)
        else:
            rows = [[_cell(value) for value in row.values()] for row in _rows(reader)]
            out.write(("\n".join(table(reader.schema.names, rows)) + "\n").encode())
    except (pa.ArrowException, RuntimeError) as error:  # DuckDB's errors while streaming come as either
        raise StoreError(f"The query failed: {str(error).strip().splitlines()[0]}") from None


def _opened(output: Path | None) -> BinaryIO:
    if output is None:
        return os.fdopen(os.dup(1), "wb")
    try:
        return output.open("wb")
    except OSError as error:
        raise GossamerError(f"cannot write {output}: {(error.strerror or str(error)).lower()}") from None


def _show(given: argparse.Namespace) -> int:
    found = query(given.folder, sql_of(given))
    limit = TABLE_LIMIT if given.limit is None else given.limit
    more = bool(limit) and found.num_rows > limit
    rows = [[_cell(value) for value in row.values()] for row in found.to_pylist()[: limit or None]]
    numbers = frozenset(
        i for i, field in enumerate(found.schema) if pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
    )
    sys.stdout.write("\n".join(table(found.schema.names, rows, numbers, terminal_width())) + "\n")
    sys.stdout.flush()
    if more:
        sys.stderr.write(f"the first {limit:,} rows; --limit 0 shows all\n")
    elif not rows:
        sys.stderr.write("no row; while a crawl runs, rows appear about a minute after the page\n")
    return 0


def terminal_width() -> int | None:
    """How wide the terminal is that standard output goes to; None when it goes elsewhere."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return str(value)


def _rows(reader: Any) -> Iterator[dict[str, Any]]:
    for batch in reader:
        yield from batch.to_pylist()


def _jsonl(reader: Any, out: BinaryIO) -> None:
    import msgspec

    encode = msgspec.json.Encoder().encode
    maps = [field.name for field in reader.schema if pa.types.is_map(field.type)]
    for row in _rows(reader):
        for name in maps:
            row[name] = dict(row[name]) if row[name] is not None else None
        out.write(encode(row) + b"\n")


def _csv(reader: Any, out: BinaryIO) -> None:
    import io

    import msgspec

    text = io.TextIOWrapper(out, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(reader.schema.names)
    for row in _rows(reader):
        writer.writerow(
            [msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value for value in row.values()]
        )
    text.detach()


def _parquet(reader: Any, out: BinaryIO) -> None:
    import pyarrow.parquet as pq

    with pq.ParquetWriter(out, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
