"""`gossamer failures`: the dead-letter list, told by reason and by host, and the way back into the queue."""

import csv
import io
import shutil
import socket
import time
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from gossamer.cli.failures import FailureRow, meaning
from gossamer.frontier import RocksFrontier
from gossamer.outcome import ErrorClass
from gossamer.sim.web import Web, start_in_process
from gossamer.store import query
from tests.cli.conftest import Said
from tests.cli.runs import FAST, Site, gossamer
from tests.crawl import harness


class Failed(msgspec.Struct, frozen=True):
    """A crawl that is over and has given up some URLs."""

    folder: Path
    urls: dict[str, str]
    """Why, by URL."""


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Failed:
    where = tmp_path_factory.mktemp("failures")
    with harness.online(where, hosts=1, pages=5, corners=["errors"], corner_pages=2) as (plan, running):
        crawled = harness.crawl(where / "a crawl", plan, running)
    assert crawled.report.failed > 3
    rows = _rows(where / "a crawl")
    assert len(rows) == crawled.report.failed
    return Failed(where / "a crawl", {row.url: row.reason for row in rows})


def _rows(folder: Path) -> list[FailureRow]:
    done = gossamer("failures", str(folder), "--list", "--format", "jsonl")
    assert (done.returncode, done.stderr) == (0, "")
    return [msgspec.json.decode(line, type=FailureRow) for line in done.stdout.splitlines()]


def _column(out: str, head: str) -> list[list[str]]:
    """The lines of the table that begins with `head`, split at two spaces and more."""
    lines = out.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(head))
    body = []
    for line in lines[start + 1 :]:
        if not line:
            break
        body.append([cell.strip() for cell in line.split("  ") if cell.strip()])
    return body


# --- looking ----------------------------------------------------------------------------------------------------------


def test_failures_are_counted_by_reason_and_by_host(failed: Failed, run: Said) -> None:
    assert run("failures", str(failed.folder)) == 0
    by_reason = {row[0]: int(row[1]) for row in _column(run.out, "reason ")}
    by_host = {row[0]: int(row[1]) for row in _column(run.out, "host ")}
    assert by_reason == Counter(failed.urls.values())
    assert by_host == Counter(url.split("/")[2] for url in failed.urls)
    assert all(row[-1] == meaning(row[0]) and row[-1].endswith(".") for row in _column(run.out, "reason "))
    both = run.out
    assert run("failures", str(failed.folder), "--by", "reason") == 0
    assert both.startswith(run.out)
    assert run("failures", str(failed.folder), "--by", "host") == 0
    assert both.endswith(run.out)


def test_every_reason_has_words() -> None:
    for reason in [*ErrorClass, "400", "500", "0"]:
        assert len(meaning(reason).split()) > 3, reason


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_the_list_is_for_programs_too(failed: Failed, form: str, run: Said) -> None:
    assert run("failures", str(failed.folder), "--list", "--format", form) == 0
    if form == "jsonl":
        found = [msgspec.to_builtins(msgspec.json.decode(line, type=FailureRow)) for line in run.out.splitlines()]
    else:
        found = list(csv.DictReader(io.StringIO(run.out)))
    assert {row["url"]: row["reason"] for row in found} == failed.urls
    for row in found:
        assert int(row["attempts"]) >= 1
        assert time.time() - 3_600 < float(row["at"]) <= time.time()
        assert (row["stage"], row["kind"]) == ("fetch", "page")


def test_the_list_is_chosen_by_host_reason_class_and_url(failed: Failed, run: Said) -> None:
    def chosen(*options: str) -> set[str]:
        assert run("failures", str(failed.folder), "--list", "--format", "jsonl", *options) == 0
        return {msgspec.json.decode(line)["url"] for line in run.out.splitlines()}

    [url, reason] = next((url, reason) for url, reason in failed.urls.items() if reason == "400")
    host = url.split("/")[2]
    assert chosen("--reason", reason) == {u for u, why in failed.urls.items() if why == reason}
    assert chosen("--reason", "4xx") == {u for u, why in failed.urls.items() if why.startswith("4")} != {url}
    assert chosen("--host", host.upper()) == {u for u in failed.urls if u.split("/")[2] == host}
    assert chosen("--host", host, "--reason", "reset") == set()
    assert chosen("--url", url) == {url}
    assert len(chosen("--limit", "2")) == 2
    assert run("failures", str(failed.folder), "--list", "--limit", "1") == 0
    assert (len(run.out.splitlines()), run.err) == (2, "the first 1; --limit 0 shows all\n")


def test_looking_changes_nothing_and_needs_no_failure(crawled: Path, run: Said) -> None:
    before = {path: path.stat().st_mtime_ns for path in crawled.rglob("*")}
    assert run("failures", str(crawled)) == 0
    assert (run.out, run.err) == ("", "no URL was given up\n")
    assert run("failures", str(crawled), "--list", "--host", "nobody.example") == 0
    assert (run.out, run.err) == ("", "no URL that was given up is among those\n")
    assert {path: path.stat().st_mtime_ns for path in crawled.rglob("*")} == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--reason", "reste"), "--reason reste is neither an error nor a status: did you mean reset?"),
        (("--reason", "zzz"), "--reason zzz is neither an error nor a status: gossamer failures DIR shows those there are"),
        (("--limit", "-1"), "--limit cannot be -1: it is a whole number >= 0"),
        (("--refetch",), "--refetch says how to requeue: add --requeue"),
        (("--list", "--requeue"), "--list shows and --requeue acts: give one of them"),
        (("--format", "csv"), "--format csv is for the list: add --list"),
        (("--url", "http://a.example/", "--host", "a.example"), "--url names one URL; --host and --reason have nothing to add to it"),
        (("--url", "http://"), "'http://' is not a URL"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_said(crawled: Path, options: tuple[str, ...], sentence: str, run: Said) -> None:
    assert run("failures", str(crawled), *options) == 2
    assert (run.out, run.err) == ("", f"gossamer: {sentence}\n")


@pytest.mark.parametrize("act", ["--list", "--requeue"])
def test_a_url_that_was_not_given_up_is_told_where_it_is(site: Site, crawled: Path, act: str, run: Said) -> None:
    assert run("failures", str(crawled), act, "--url", site.seed) == 1
    assert run.err == f"gossamer: {site.seed} was not given up: it is done\n"
    assert run("failures", str(crawled), act, "--url", "http://never.example/") == 1
    assert run.err.startswith("gossamer: http://never.example/ is not in this crawl")


# --- back into the queue ----------------------------------------------------------------------------------------------


def test_a_crawl_that_found_nobody_home_is_requeued_and_the_same_command_completes_it(
    tmp_path: Path, run: Said
) -> None:
    web = Web(hosts=3, pages=20)
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    folder = tmp_path / "a crawl"
    quick = ("--patience", "0.0001", "--set", "politeness.failure_backoff=0.02", "--set", "politeness.failure_cap=0.05")
    command = ["crawl", *web.seeds(), "--into", str(folder), "--connect-to", f"127.0.0.1:{port}", *FAST, *quick]
    first = gossamer(*command, "--set", "politeness.stretch_cap=0.05")
    assert first.returncode == 0, first.stderr
    assert run("failures", str(folder)) == 0
    assert _column(run.out, "reason ")[0][:3] == ["robots-unreachable", "1", "1"]
    assert "given up: " in _column(run.out, "host ")[0][-1]
    assert run("failures", str(folder), "--requeue", "--reason", "reset") == 0
    assert (run.out, run.err) == ("", "nothing to requeue: no URL that was given up is among those\n")
    assert run("failures", str(folder), "--requeue") == 0
    assert run.out == f"1 URL is queued again\ngo on with: gossamer crawl --into '{folder}'\n"
    assert run("failures", str(folder), "--requeue") == 0
    assert run.err == "nothing to requeue: no URL that was given up is among those\n", "once is enough"
    with start_in_process(web, port=port, log=tmp_path / "served.jsonl"):
        second = gossamer(*command, "--set", "politeness.stretch_cap=0.05")
    assert second.returncode == 0, second.stderr
    stored = set(query(folder, "SELECT url FROM pages").column("url").to_pylist())
    assert stored == web.reachable(web.seeds(), scope="any").stored
    assert run("failures", str(folder)) == 0
    assert run.err == "no URL was given up\n"


def test_requeue_takes_what_the_filters_select(failed: Failed, tmp_path: Path, run: Said) -> None:
    folder = shutil.copytree(failed.folder, tmp_path / "c")
    [url] = [url for url, reason in failed.urls.items() if reason == "400"]
    assert run("failures", str(folder), "--requeue", "--url", url) == 0
    assert run.out.startswith("1 URL is queued again\n")
    assert {row.url for row in _rows(folder)} == failed.urls.keys() - {url}
    host = next(url for url, reason in failed.urls.items() if not reason.isdigit()).split("/")[2]
    assert run("failures", str(folder), "--requeue", "--host", host, "--refetch") == 0
    left = {row.url for row in _rows(folder)}
    assert left == {other for other in failed.urls if other != url and other.split("/")[2] != host}
    assert run("status", str(folder), "--json") == 0
    standing = msgspec.json.decode(run.out)
    assert (standing["urls"]["failed"], standing["urls"]["queued"]) == (len(left), len(failed.urls) - len(left))


async def test_a_running_crawl_is_looked_at_but_not_requeued(failed: Failed, run: Said) -> None:
    frontier = RocksFrontier(failed.folder / "frontier")
    try:
        done = gossamer("failures", str(failed.folder), "--requeue")
        assert (done.returncode, done.stdout) == (1, "")
        assert "is being crawled by process" in done.stderr
        assert "stop it first" in done.stderr
        assert gossamer("failures", str(failed.folder), "--list").returncode == 0
    finally:
        await frontier.close()
