"""status, hosts, pages and cat: a crawl's folder, looked at after it is over."""

import csv
import io
import os
import subprocess
import sys
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest

from gossamer.frontier import State
from gossamer.frontier.inspect import Ledger
from gossamer.sim.web import Request
from gossamer.store import COLUMNS, query
from tests.cli.conftest import Said
from tests.cli.runs import Site

# --- status and hosts -------------------------------------------------------------------------------------------------


def test_status_tells_counts_endings_and_sizes(site: Site, crawled: Path, run: Said) -> None:
    assert run("status", str(crawled)) == 0
    assert run.out.startswith(f"{crawled}: finished: everything within reach is fetched\n")
    assert f"from {site.seed}\n" in run.out
    assert "URLs seen on 4 hosts\n" in run.out
    assert "\n            60  done " in run.out
    assert "  warc (" in run.out


def test_status_for_programs_agrees_with_the_folder(site: Site, crawled: Path, run: Said) -> None:
    assert run("status", str(crawled), "--json") == 0
    standing = msgspec.json.decode(run.out)
    assert (standing["running"], standing["fetched"], standing["hosts"]) == (False, 60, 4)
    warcs = [file.stat().st_size for file in (crawled / "warc").iterdir()]
    assert standing["disk"]["warc"] == {"files": len(warcs), "bytes": sum(warcs)}
    assert sum(standing["urls"].values()) == standing["urls_seen"]


def test_status_counts_why_pages_failed(crawled_corners: Path, run: Said) -> None:
    assert run("status", str(crawled_corners), "--json") == 0
    standing = msgspec.json.decode(run.out)
    assert sum(standing["failures"].values()) == standing["urls"]["failed"] > 0


def test_looking_changes_nothing(crawled: Path, run: Said) -> None:
    before = {path: path.stat().st_mtime_ns for path in crawled.rglob("*")}
    for command in ("status", "hosts", "pages"):
        assert run(command, str(crawled)) == 0
    assert {path: path.stat().st_mtime_ns for path in crawled.rglob("*")} == before


@pytest.mark.parametrize("command", [["status"], ["hosts"], ["pages"], ["cat", "http://a.example/"]])
def test_a_folder_that_is_no_crawl_is_said(command: list[str], tmp_path: Path, run: Said) -> None:
    assert run(command[0], str(tmp_path), *command[1:]) == 1
    assert run.err == f"gossamer: {tmp_path} is not the folder of a crawl: there is no crawl.json in it\n"


def test_hosts_by_column(crawled: Path, run: Said) -> None:
    rows = query(crawled, "SELECT host, count(*) AS n FROM pages GROUP BY host ORDER BY n DESC").to_pylist()
    assert run("hosts", str(crawled), "--format", "jsonl") == 0
    found = [msgspec.json.decode(line) for line in run.out.splitlines()]
    pages = {row["host"]: row["n"] for row in rows}
    assert [host["host"] for host in found[:1]] == [rows[0]["host"]]
    assert {host["host"] for host in found} == set(pages)
    assert all(host["fetched"] >= pages[host["host"]] for host in found)
    assert all(host["dead"] is None and host["bytes"] > 0 for host in found)


def test_hosts_by_name_as_csv_and_as_a_table(crawled: Path, run: Said) -> None:
    assert run("hosts", str(crawled), "--sort", "name", "--format", "csv") == 0
    names = [row["host"] for row in csv.DictReader(io.StringIO(run.out))]
    assert names == sorted(names)
    assert len(names) == 4
    assert run("hosts", str(crawled), "--limit", "2") == 0
    assert run.out.splitlines()[0].split() == ["host", "fetched", "failed", "bytes", "delay", "next", "answer", "state"]  # fmt: skip
    assert len(run.out.splitlines()) == 3
    assert run.err == "2 of 4 hosts; --limit 0 shows all\n"


def test_hosts_tells_which_are_given_up(corners: Site, crawled_corners: Path, run: Said) -> None:
    assert run("hosts", str(crawled_corners), "--sort", "dead", "--limit", "0", "--format", "jsonl") == 0
    found = [msgspec.json.decode(line) for line in run.out.splitlines()]
    assert [bool(host["dead"]) for host in found] == sorted((bool(host["dead"]) for host in found), reverse=True)


# --- pages ------------------------------------------------------------------------------------------------------------


def test_pages_as_a_table(site: Site, crawled: Path, run: Said) -> None:
    assert run("pages", str(crawled), "--limit", "3") == 0
    head, *rows = run.out.splitlines()
    assert head.split() == ["status", "url", "title", "language", "content_length", "depth"]
    assert len(rows) == 3
    assert run.err == "the first 3 rows; --limit 0 shows all\n"


def test_pages_as_json_lines(site: Site, crawled: Path, run: Said) -> None:
    assert run("pages", str(crawled), "--where", "status = 200", "--format", "jsonl") == 0
    rows = [msgspec.json.decode(line) for line in run.out.splitlines()]
    assert {row["url"] for row in rows} == site.expected()
    assert list(rows[0]) == [column.name for column in COLUMNS]
    assert isinstance(rows[0]["headers"], dict)
    assert isinstance(rows[0]["links"], list)


def test_pages_as_csv(site: Site, crawled: Path, run: Said) -> None:
    assert run("pages", str(crawled), "--format", "csv", "--columns", "url, links, length(text) AS size", "--order-by", "url") == 0  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(run.out)))
    assert [row["url"] for row in rows] == sorted(site.expected())
    assert list(rows[0]) == ["url", "links", "size"]
    assert msgspec.json.decode(rows[0]["links"], type=list[str])


def test_pages_as_parquet_into_a_file(site: Site, crawled: Path, tmp_path: Path, run: Said) -> None:
    file = tmp_path / "out.parquet"
    assert run("pages", str(crawled), "--format", "parquet", "--output", str(file)) == 0
    assert run.raw == b""
    table = pq.read_table(file)
    assert set(table.column("url").to_pylist()) == site.expected()
    assert table.column_names == [column.name for column in COLUMNS]


def test_pages_grouped(crawled: Path, run: Said) -> None:
    assert (
        run("pages", str(crawled), "--columns", "host, count(*) AS n", "--group-by", "host", "--format", "jsonl") == 0
    )
    assert sum(msgspec.json.decode(line)["n"] for line in run.out.splitlines()) == 60


@pytest.mark.parametrize(
    ("arguments", "code", "begins"),
    [
        (["--where", "stat = 200"], 1, 'The query failed: Binder Error: Referenced column "stat" not found'),
        (["--where", "status = "], 1, "The query failed: Parser Error: "),
        (["--where", "1); DROP VIEW pages; --"], 1, "The query failed: "),
        (["--where", "url IN (SELECT column0 FROM read_csv('/etc/passwd'))"], 1, "The query failed: "),
        (["--where", "cast(url AS INT) = 1", "--format", "jsonl"], 1, "The query failed: "),
        (["--limit", "-1"], 2, "--limit cannot be -1"),
        (["--output", "/proc/nowhere", "--format", "csv"], 1, "cannot write /proc/nowhere: "),
    ],
)
def test_what_cannot_be_queried_is_one_sentence(
    arguments: list[str], code: int, begins: str, crawled: Path, run: Said
) -> None:
    assert run("pages", str(crawled), *arguments) == code
    assert run.err.startswith(f"gossamer: {begins}")
    assert run.err.count("\n") == 1
    assert run.out == ""


def test_a_condition_may_end_in_a_comment(crawled: Path, run: Said) -> None:
    assert run("pages", str(crawled), "--where", "status = 200 -- all of them", "--columns", "url") == 0
    assert len(run.out.splitlines()) == 51


@pytest.mark.parametrize("form", ["jsonl", "csv", "table"])
def test_a_reader_that_has_had_enough_is_no_error(form: str, crawled: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "wb") as pipe:
        done = subprocess.run(
            [sys.executable, "-m", "gossamer", "pages", str(crawled), "--format", form, "--limit", "0"],
            stdout=pipe, stderr=subprocess.PIPE, timeout=60,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")


# --- cat --------------------------------------------------------------------------------------------------------------


def body_of(site: Site, url: str) -> bytes:
    host, _, path = url.partition("://")[2].partition("/")
    return site.web.answer(host, Request("/" + path)).body


def test_cat_is_the_body_byte_for_byte(site: Site, crawled: Path, run: Said) -> None:
    url = sorted(site.expected())[7]
    assert run("cat", str(crawled), url) == 0
    assert run.raw == body_of(site, url)
    assert run.err == ""


def test_cat_with_headers_begins_with_the_status_line(site: Site, crawled: Path, run: Said) -> None:
    assert run("cat", str(crawled), site.seed, "--headers") == 0
    head, _, body = run.raw.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert body == body_of(site, site.seed)


def test_cat_decodes_unless_told_not_to(crawled_corners: Path, run: Said) -> None:
    rows = query(
        crawled_corners, "SELECT url FROM pages WHERE status = 200 AND host LIKE 'compressed%' ORDER BY url LIMIT 12"
    )
    packed = 0
    for row in rows.to_pylist():
        assert run("cat", str(crawled_corners), row["url"]) == 0
        text = run.raw
        assert run("cat", str(crawled_corners), row["url"], "--raw") == 0
        packed += run.raw != text
        assert b"<html" in text.lower() or run.err
    assert packed >= 3


def test_cat_of_a_copy_is_its_original(crawled_corners: Path, run: Said) -> None:
    [row, *_] = query(
        crawled_corners, "SELECT url, duplicate_of FROM pages WHERE duplicate_kind = 'exact' ORDER BY url"
    ).to_pylist()
    assert run("cat", str(crawled_corners), row["url"]) == 0
    copy = run.raw
    assert run("cat", str(crawled_corners), row["duplicate_of"]) == 0
    assert copy == run.raw != b""


def test_cat_of_a_near_copy_names_the_page_that_was_kept(crawled_corners: Path, run: Said) -> None:
    [row, *_] = query(
        crawled_corners, "SELECT url, duplicate_of FROM pages WHERE duplicate_kind = 'near' ORDER BY url"
    ).to_pylist()
    assert run("cat", str(crawled_corners), row["url"]) == 1
    assert f"nearly repeats {row['duplicate_of']}" in run.err


def test_cat_of_a_redirect_says_where_it_leads(crawled_corners: Path, run: Said) -> None:
    [row, *_] = query(
        crawled_corners,
        "SELECT url, redirect_to FROM pages WHERE status = 301 AND redirect_to IS NOT NULL ORDER BY url",
    ).to_pylist()
    run("cat", str(crawled_corners), row["url"])
    assert f"{row['url']} leads to {row['redirect_to']}\n" in run.err


def test_cat_shows_robots_txt(corners: Site, crawled_corners: Path, run: Said) -> None:
    host = corners.web.corner_hosts("robots")[0]
    assert run("cat", str(crawled_corners), f"http://{host}/robots.txt") == 0
    assert b"Disallow" in run.raw


@pytest.mark.parametrize(
    ("url", "code", "sentence"),
    [
        ("http://www.nowhere.example/", 1, "http://www.nowhere.example/ is not in this crawl: it was never found, or lies out of scope"),
        ("http://", 2, "'http://' is not a URL"),
    ],
)  # fmt: skip
def test_cat_of_what_is_not_there_is_one_sentence(url: str, code: int, sentence: str, crawled: Path, run: Said) -> None:
    assert run("cat", str(crawled), url) == code
    assert (run.raw, run.err) == (b"", f"gossamer: {sentence}\n")


def test_cat_of_a_page_left_alone_says_why(corners: Site, crawled_corners: Path, run: Said) -> None:
    with Ledger(crawled_corners / "frontier") as ledger:
        forbidden = sorted(corners.web.reachable(corners.web.seeds(), scope="any").forbidden)
        url = next(url for url in forbidden if (view := ledger.url(url)) is not None and view.state is State.REFUSED)
    assert run("cat", str(crawled_corners), url) == 1
    assert run.err.startswith(f"gossamer: {url} was left alone: ")
    assert "robots.txt" in run.err
