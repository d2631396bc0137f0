"""`gossamer failures`: the dead-letter list of a crawl, by reason and by host, and the way back into the queue.

Looking works beside a running crawl. `--requeue` writes, so the crawl has to be stopped; what was downloaded and could not be read is
then read again from the archive.
"""

import argparse
import asyncio
import csv
import difflib
import itertools
import shlex
import sys
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gossamer.cli.commands import Help
from gossamer.cli.pages import terminal_width
from gossamer.cli.wording import table
from gossamer.crawl import Crawled, Folder
from gossamer.errors import ConfigError, GossamerError, InvalidURL
from gossamer.frontier import FailureView, State
from gossamer.frontier.inspect import Ledger
from gossamer.outcome import ErrorClass, for_error, for_status
from gossamer.url import canonicalize, resolve

__all__ = ["FailureRow", "meaning", "parser", "run"]

TABLE_LIMIT = 50
HOSTS_SHOWN = 20
AT_ONCE = 1_000


class FailureRow(msgspec.Struct, frozen=True):
    """One URL that was given up."""

    url: str
    reason: str
    status: int
    attempts: int
    at: float
    """When it was given up, in Unix seconds."""
    stage: str
    """How far it came: `fetch`, or `parse` when its answer is stored and could not be read."""
    kind: str
    depth: int
    via: str | None
    detail: str | None


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer failures",
        usage="gossamer failures DIR [--list | --requeue] [OPTIONS]",
        description="The URLs that the crawl in DIR has given up: how many and why, by reason and by host. It may be running meanwhile.\n"
        "--requeue puts them back into the queue of a crawl that is stopped.",
        epilog="examples:\n"
        "  gossamer failures crawls/example.com\n"
        "  gossamer failures crawls/example.com --list --reason 5xx\n"
        "  gossamer failures crawls/example.com --list --host www.example.com --format csv > failures.csv\n"
        "  gossamer failures crawls/example.com --requeue --reason connect-timeout\n"
        "      and then: gossamer crawl --into crawls/example.com\n\n"
        "A page that was downloaded and could not be read (stage: parse) is read again from the archive, and its host is not\n"
        "asked; --refetch asks all the same.",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument("--by", choices=("reason", "host"), metavar="WHAT", help="reason or host [default: both]")
    made.add_argument("--list", action="store_true", help="the URLs, with what is known of each")
    made.add_argument("--host", metavar="HOST", help="only those of this host")
    made.add_argument(
        "--reason",
        metavar="REASON",
        help="only those for this reason: a name from the table, a status, or a class: 5xx",
    )
    made.add_argument("--url", metavar="URL", help="only this one")
    made.add_argument("--requeue", action="store_true", help="queue them again, with all their attempts")
    made.add_argument("--refetch", action="store_true", help="with --requeue: fetch what is stored, too")
    made.add_argument(
        "--limit", type=int, metavar="N", help="at most so many lines; 0 for all [default: all; in a table, 50]"
    )
    made.add_argument(
        "--format", choices=("table", "jsonl", "csv"), default="table", metavar="FORMAT",
        help="with --list: table, jsonl or csv [default: table]",
    )  # fmt: skip
    return made


def run(given: argparse.Namespace) -> int:
    folder = Folder(given.folder)
    crawled = folder.load()
    _check(given)
    given.host = given.host.lower() if given.host is not None else None
    given.url = _canonical(given.url, crawled) if given.url is not None else None
    if given.requeue:
        return _requeue(given, folder, crawled)
    with Ledger(folder.frontier) as ledger:
        if given.list or given.url is not None:
            return _list(given, ledger)
        return _count(given, ledger)


def _check(given: argparse.Namespace) -> None:
    if given.limit is not None and given.limit < 0:
        raise ConfigError(f"--limit cannot be {given.limit}: it is a whole number >= 0")
    if given.url is not None and (given.host is not None or given.reason is not None):
        raise ConfigError("--url names one URL; --host and --reason have nothing to add to it")
    if given.refetch and not given.requeue:
        raise ConfigError("--refetch says how to requeue: add --requeue")
    if given.requeue and given.list:
        raise ConfigError("--list shows and --requeue acts: give one of them")
    if given.format != "table" and not (given.list or given.url is not None):
        raise ConfigError(f"--format {given.format} is for the list: add --list")
    reason = given.reason
    if reason is not None and reason not in tuple(ErrorClass) and not _is_status(reason):
        near = difflib.get_close_matches(reason, [*ErrorClass, "4xx", "5xx"], 1)
        hint = f"did you mean {near[0]}?" if near else "gossamer failures DIR shows those there are"
        raise ConfigError(f"--reason {reason} is neither an error nor a status: {hint}")


def _is_status(reason: str) -> bool:
    return len(reason) == 3 and (reason.isdigit() or (reason[0] in "12345" and reason[1:] == "xx"))


def _canonical(text: str, crawled: Crawled) -> str:
    try:
        return canonicalize(resolve(text if "://" in text else f"https://{text}"), crawled.settings.url)
    except InvalidURL:
        raise InvalidURL(f"{text!r} is not a URL") from None


def meaning(reason: str) -> str:
    """A reason in words."""
    if reason in tuple(ErrorClass):
        return for_error(ErrorClass(reason)).reason
    return for_status(int(reason)).reason if reason.isdigit() else ""


# --- how many, and why ------------------------------------------------------------------------------------------------


def _count(given: argparse.Namespace, ledger: Ledger) -> int:
    pairs = ledger.failed_pairs(given.host, given.reason)
    if not pairs:
        sys.stderr.write("no URL was given up\n" if _everything(given) else "no URL that was given up is among those\n")
        return 0
    tables = []
    if given.by != "host":
        tables.append(_by_reason(pairs))
    if given.by != "reason":
        limit = HOSTS_SHOWN if given.limit is None else given.limit
        tables.append(_by_host(pairs, ledger, limit))
    sys.stdout.write("\n\n".join("\n".join(lines) for lines in tables) + "\n")
    return 0


def _everything(given: argparse.Namespace) -> bool:
    return given.host is None and given.reason is None and given.url is None


def _by_reason(pairs: Counter[tuple[bytes, str]]) -> list[str]:
    urls, hosts = Counter[str](), Counter[str]()
    for (_, reason), number in pairs.items():
        urls[reason] += number
        hosts[reason] += 1
    rows = [(reason, f"{number:,}", f"{hosts[reason]:,}", meaning(reason)) for reason, number in urls.most_common()]
    return table(("reason", "URLs", "hosts", "what it means"), rows, frozenset({1, 2}), terminal_width())


def _by_host(pairs: Counter[tuple[bytes, str]], ledger: Ledger, limit: int) -> list[str]:
    urls = Counter[bytes]()
    for (host, _), number in pairs.items():
        urls[host] += number
    shown = urls.most_common(limit or None)
    chosen: dict[bytes, Counter[str]] = {host: Counter() for host, _ in shown}
    for (host, reason), number in pairs.items():
        if host in chosen:
            chosen[host][reason] += number
    rows = []
    for host, number in shown:
        view = ledger.host_by_id(host)
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in chosen[host].most_common(3))
        state = f"given up: {view.dead}" if view is not None and view.dead else ""
        rows.append((view.name if view is not None else host.hex(), f"{number:,}", reasons, state))
    lines = table(("host", "URLs", "reasons", "state"), rows, frozenset({1}), terminal_width())
    if len(urls) > len(shown):
        lines.append(f"{len(shown):,} of {len(urls):,} hosts; --limit 0 shows all")
    return lines


# --- one by one -------------------------------------------------------------------------------------------------------


def _list(given: argparse.Namespace, ledger: Ledger) -> int:
    if given.url is not None:
        found: Iterable[FailureView] = [_one(given.url, ledger)]
    else:
        found = ledger.failed(given.host, given.reason)
    shown = given.format == "table"
    limit = given.limit if given.limit is not None else TABLE_LIMIT if shown else 0
    rows = (_row(view) for view in found)
    if not shown:
        (_jsonl if given.format == "jsonl" else _csv)(itertools.islice(rows, limit or None))
        return 0
    cells = [_cells(row) for row in itertools.islice(rows, limit + 1 if limit else None)]
    if not cells:
        sys.stderr.write("no URL was given up\n" if _everything(given) else "no URL that was given up is among those\n")
        return 0
    head = ("reason", "status", "tries", "when", "stage", "url", "detail")
    sys.stdout.write("\n".join(table(head, cells[: limit or None], frozenset({1, 2}), terminal_width())) + "\n")
    if limit and len(cells) > limit:
        sys.stderr.write(f"the first {limit:,}; --limit 0 shows all\n")
    return 0


def _one(url: str, ledger: Ledger) -> FailureView:
    view = ledger.failure(url)
    if view is None:
        raise GossamerError(_not_listed(url, ledger))
    return view


def _not_listed(url: str, ledger: Ledger) -> str:
    known = ledger.url(url)
    if known is None:
        return f"{url} is not in this crawl: it was never found, or lies out of scope"
    if known.state is State.FAILED:
        return f"{url} was given up, and is missing from the list"
    return f"{url} was not given up: it is {known.state.name.lower()}"


def _row(view: FailureView) -> FailureRow:
    return FailureRow(
        view.url, view.reason, view.status, view.attempts, view.at, view.stage, view.kind.name.lower(), view.depth,
        view.via, view.detail,
    )  # fmt: skip


def _cells(row: FailureRow) -> tuple[str, ...]:
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(row.at)) if row.at else ""
    status = str(row.status) if row.status else ""
    return row.reason, status, str(row.attempts), when, row.stage, row.url, row.detail or meaning(row.reason)


def _jsonl(rows: Iterable[FailureRow]) -> None:
    for row in rows:
        sys.stdout.write(msgspec.json.encode(row).decode() + "\n")


def _csv(rows: Iterable[FailureRow]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(FailureRow.__struct_fields__)
    writer.writerows(msgspec.structs.astuple(row) for row in rows)


# --- back into the queue ----------------------------------------------------------------------------------------------


def _requeue(given: argparse.Namespace, folder: Folder, crawled: Crawled) -> int:
    from gossamer.crawl.verify import must_be_stopped

    must_be_stopped(given.folder)
    if given.url is not None:
        with Ledger(folder.frontier) as ledger:
            _one(given.url, ledger)  # or a sentence that says where it is instead
    count, stored = asyncio.run(_put_back(given, folder, crawled))
    if not count:
        sys.stderr.write("nothing to requeue: no URL that was given up is among those\n")
        return 0
    one = count == 1
    said = f"{count:,} URL{'' if one else 's'} {'is' if one else 'are'} queued again"
    if stored and not given.refetch:
        said += (
            f"; {stored:,} of them {'is' if stored == 1 else 'are'} stored already and will be read from the archive"
        )
    sys.stdout.write(f"{said}\ngo on with: gossamer crawl --into {shlex.quote(str(given.folder))}\n")
    return 0


async def _put_back(given: argparse.Namespace, folder: Folder, crawled: Crawled) -> tuple[int, int]:
    """Requeue what is meant, part by part; how many, and how many of them need not be fetched."""
    from gossamer.crawl.clock import SteadyClock
    from gossamer.frontier import RocksFrontier

    frontier = await asyncio.to_thread(RocksFrontier, folder.frontier, crawled.settings.frontier)
    clock = SteadyClock()
    clock.begin_after(frontier.written_at())
    try:
        if given.url is not None:
            done = await frontier.requeue(clock(), urls=[given.url], refetch=given.refetch)
            queued = await frontier.explain(given.url)
            return done.count, int(queued is not None and queued.place is not None)
        count = stored = 0
        after: str | None = ""
        while after is not None:
            part = await frontier.failures(host=given.host, reason=given.reason, most=AT_ONCE, after=after)
            done = await frontier.requeue(clock(), urls=[view.url for view in part.found], refetch=given.refetch)
            count += done.count
            stored += sum(view.place is not None for view in part.found)
            after = part.after
        return count, stored
    finally:
        await frontier.close(clock())
