"""Ctrl-C, SIGTERM, and the second Ctrl-C: what is stored stays, and the same command ends with the complete set."""

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gossamer.store import query
from tests.cli.conftest import Said
from tests.cli.runs import Site, started

SLOWLY = ("--delay", "0.05", "--log-json", "--log-every", "0.1")


def lines(process: "subprocess.Popen[str]") -> Iterator[dict[str, Any]]:
    assert process.stderr is not None
    for line in process.stderr:
        yield msgspec.json.decode(line)


def until_fetched(process: "subprocess.Popen[str]", pages: int) -> None:
    for line in lines(process):
        if line.get("fetched", 0) >= pages:
            return
    raise AssertionError(f"it ended before {pages} pages (exit code {process.wait()})")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_stops_in_order_and_the_same_command_completes(
    number: signal.Signals, site: Site, tmp_path: Path, run: Said
) -> None:
    command = site.crawl(tmp_path / "c", *SLOWLY, "--json", "--workers", "1")
    with started(*command) as process:
        until_fetched(process, 5)
        process.send_signal(number)
        said = [line["message"] for line in lines(process)]
        assert process.stdout is not None
        report = msgspec.json.decode(process.stdout.read())
        assert process.wait(30) == 130
    assert "stopping: pages under way are finished, all is kept; once more stops at once" in said
    assert report["ending"] == "interrupted"
    assert 5 <= report["fetched"] < len(site.expected())

    assert run(*site.crawl(tmp_path / "c", "--quiet", "--force")) == 0  # as fast as it goes, this time
    assert (run.out, run.err) == ("", "")
    rows = query(tmp_path / "c", "SELECT url FROM pages WHERE status = 200 ORDER BY url").to_pylist()
    assert [row["url"] for row in rows] == sorted(site.expected()), "each page once"


@pytest.mark.parametrize("workers", ["0", "1"])
def test_the_second_signal_stops_at_once_and_nothing_is_lost(
    workers: str, site: Site, tmp_path: Path, run: Said
) -> None:
    command = site.crawl(tmp_path / "c", *SLOWLY, "--workers", workers)
    with started(*command) as process:
        until_fetched(process, 5)
        process.send_signal(signal.SIGINT)
        for line in lines(process):
            if line["message"].startswith("stopping:"):
                process.send_signal(signal.SIGINT)
                break
        for _ in lines(process):
            pass
        assert process.wait(30) == 130
    assert run(*site.crawl(tmp_path / "c", "--quiet", "--force")) == 0
    rows = query(tmp_path / "c", "SELECT DISTINCT url FROM pages WHERE status = 200 ORDER BY url").to_pylist()
    assert [row["url"] for row in rows] == sorted(site.expected())


def test_killed_outright_it_is_told_as_cut_off_and_goes_on(site: Site, tmp_path: Path, run: Said) -> None:
    with started(*site.crawl(tmp_path / "c", *SLOWLY, "--workers", "1")) as process:
        until_fetched(process, 5)
        process.kill()
        process.wait(30)
    assert run("status", str(tmp_path / "c")) == 0
    assert run.out.startswith(f"{tmp_path}/c: cut off: the last run ended without a word")
    assert run(*site.crawl(tmp_path / "c", "--json", "--force")) == 0
    assert msgspec.json.decode(run.out)["stored"] == len(site.expected())


def test_a_second_crawl_of_the_same_folder_is_refused_and_looking_at_it_is_not(
    site: Site, tmp_path: Path, run: Said
) -> None:
    folder = str(tmp_path / "c")
    with started(*site.crawl(tmp_path / "c", *SLOWLY, "--workers", "1")) as process:
        until_fetched(process, 5)
        assert run(*site.crawl(tmp_path / "c", "--delay", "0.05", "--quiet")) == 1
        assert "is being crawled by another process" in run.err
        assert run("status", folder, "--json") == 0
        standing = msgspec.json.decode(run.out)
        assert (standing["running"], standing["process"]) == (True, process.pid)
        assert standing["fetched"] >= 5
        assert run("hosts", folder, "--format", "jsonl") == 0
        assert sum(msgspec.json.decode(line)["fetched"] for line in run.out.splitlines()) >= 5
        assert run("cat", folder, site.seed) == 0
        assert run.raw.startswith(b"<!DOCTYPE html>")
        process.send_signal(signal.SIGINT)
        for _ in lines(process):
            pass
        assert process.wait(30) == 130
    assert run("status", folder) == 0
    assert run.out.startswith(f"{folder}: interrupted: all state is kept\n")
