"""`gossamer hosts`: the hosts of a crawl, as the frontier knows them; it may be running meanwhile."""

import argparse
import csv
import heapq
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.pages import terminal_width
from gossamer.cli.wording import duration, size, table
from gossamer.crawl import Folder
from gossamer.errors import ConfigError
from gossamer.frontier import HostView
from gossamer.frontier.inspect import Ledger
from gossamer.politeness import Politeness, delay_of

__all__ = ["SORTS", "HostRow", "parser", "run"]


class HostRow(msgspec.Struct, frozen=True):
    """One host."""

    host: str
    fetched: int
    failed: int
    bytes: int
    delay: float
    """Seconds it is left alone after a fetch."""
    next_allowed: float
    """When it may be asked again, in Unix seconds; 0 when it never was asked."""
    answer: float
    """Smoothed seconds of an answer."""
    address: str | None
    dead: str | None
    """Why nothing more is asked of it."""


SORTS: dict[str, Callable[[HostRow], Any]] = {
    "fetched": lambda row: row.fetched,
    "failed": lambda row: row.failed,
    "bytes": lambda row: row.bytes,
    "answer": lambda row: row.answer,
    "delay": lambda row: row.delay,
    "next": lambda row: row.next_allowed,
    "dead": lambda row: (row.dead is not None, row.fetched),
}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer hosts",
        usage="gossamer hosts DIR [OPTIONS]",
        description="The hosts of the crawl in DIR: what was fetched of each, and how long it is left alone.",
        epilog="examples:\n"
        "  gossamer hosts crawls/example.com --sort failed\n"
        "  gossamer hosts crawls/example.com --sort answer --limit 10      the slowest\n"
        "  gossamer hosts crawls/example.com --limit 0 --format csv > hosts.csv",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument(
        "--sort", choices=(*SORTS, "name"), default="fetched", metavar="COLUMN",
        help=f"the greatest first: {', '.join(SORTS)}; or by name [default: fetched]",
    )  # fmt: skip
    made.add_argument("--limit", type=int, default=50, metavar="N", help="at most so many; 0 for all [default: 50]")
    made.add_argument(
        "--format", choices=("table", "jsonl", "csv"), default="table", metavar="FORMAT",
        help="table, jsonl or csv [default: table]",
    )  # fmt: skip
    return made


def run(given: argparse.Namespace) -> int:
    if given.limit < 0:
        raise ConfigError(f"--limit cannot be {given.limit}: it is a whole number >= 0")
    folder = Folder(given.folder)
    polite = folder.load().settings.politeness
    with Ledger(folder.frontier) as ledger:
        rows = (_row(host, polite) for host in ledger.hosts())
        chosen = _chosen(rows, given.sort, given.limit)
        known = ledger.stats().hosts
    write = {"table": _table, "jsonl": _jsonl, "csv": _csv}[given.format]
    write(chosen)
    if given.format == "table" and known > len(chosen):
        sys.stderr.write(f"{len(chosen):,} of {known:,} hosts; --limit 0 shows all\n")
    return 0


def _row(host: HostView, polite: Politeness) -> HostRow:
    state = host.state
    return HostRow(
        host.name, host.fetched, host.failed, host.size, delay_of(state, polite), state.next_allowed, state.answer,
        host.address, host.dead,
    )  # fmt: skip


def _chosen(rows: Iterable[HostRow], sort: str, limit: int) -> list[HostRow]:
    # A heap of `limit`, not a list of a million hosts.
    if sort == "name":
        return heapq.nsmallest(limit, rows, key=_name) if limit else sorted(rows, key=_name)
    key = SORTS[sort]
    return heapq.nlargest(limit, rows, key=key) if limit else sorted(rows, key=key, reverse=True)


def _name(row: HostRow) -> str:
    return row.host


def _table(rows: list[HostRow]) -> None:
    now = time.time()
    head = ("host", "fetched", "failed", "bytes", "delay", "next", "answer", "state")
    cells = [
        (
            row.host, f"{row.fetched:,}", f"{row.failed:,}", size(row.bytes), f"{row.delay:.1f} s", _next(row, now),
            f"{row.answer:.2f} s", f"given up: {row.dead}" if row.dead else "",
        )
        for row in rows
    ]  # fmt: skip
    sys.stdout.write("\n".join(table(head, cells, frozenset(range(1, 7)), terminal_width())) + "\n")


def _next(row: HostRow, now: float) -> str:
    return "now" if row.next_allowed <= now else f"in {duration(row.next_allowed - now)}"


def _jsonl(rows: list[HostRow]) -> None:
    for row in rows:
        sys.stdout.write(msgspec.json.encode(row).decode() + "\n")


def _csv(rows: list[HostRow]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(HostRow.__struct_fields__)
    writer.writerows(msgspec.structs.astuple(row) for row in rows)
