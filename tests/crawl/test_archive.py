"""What a crawl leaves behind: WARC files that other tools accept, and a table in which every row leads back to its page."""

import socket
import subprocess
import sys
import time
import urllib.request
from base64 import b32encode
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest
from warcio.archiveiterator import ArchiveIterator

from gossamer.crawl import Folder
from gossamer.sim.web import Request
from gossamer.sim.web.plan import split_url
from gossamer.store import Location, PageRow, original, read, rows_of
from gossamer.worker import row_maker
from tests.conformance.test_warc import pywb_program
from tests.crawl import harness
from tests.crawl.harness import Crawled, crawl, online, records_of

CORNERS = ["binary", "broken", "charsets", "compressed", "copies", "meta", "redirects", "sitemaps"]


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """A crawl by two workers, in small files so that there are many."""
    folder = tmp_path_factory.mktemp("archive")
    with online(folder, hosts=10, pages=200, corners=CORNERS, corner_pages=6) as (web, running):
        small = {"warc_bytes": 200_000, "part_rows": 50}
        return crawl(folder / "crawl", web, running, workers=2, store=small)


def warcs(done: Crawled) -> list[Path]:
    return sorted((done.folder / "warc").iterdir())


def place_of(row: dict[str, Any]) -> Location:
    return Location(row["warc_file"], row["warc_offset"], row["warc_length"])


def test_warcio_finds_nothing_wrong_with_any_file(done: Crawled) -> None:
    files = warcs(done)
    assert len(files) >= 4
    assert {"".join(path.suffixes[-2:]) for path in files} == {".warc.gz"}
    # Where brotli is installed, this warcio trips over its own use of it (it sets an attribute that brotli 1.2 does not have);
    # without it, bodies are checked as they were sent, which is what digests are about.
    program = "import sys; sys.modules['brotli'] = None; from warcio.cli import main; main()"
    command = [sys.executable, "-c", program, "check", *map(str, files)]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_answer_has_its_request_and_its_notes(done: Crawled) -> None:
    kinds: Counter[str] = Counter()
    for path in warcs(done):
        with open(path, "rb") as file:
            records = [(record.rec_type, record.rec_headers["WARC-Target-URI"]) for record in ArchiveIterator(file)]
        assert records[0][0] == "warcinfo"
        kinds.update(kind for kind, _ in records)
        requests = Counter(url for kind, url in records if kind == "request")
        assert requests == Counter(url for kind, url in records if kind == "metadata")
    assert kinds["revisit"] == 12, "one for each exact copy"
    assert kinds["metadata"] == kinds["request"] >= kinds["response"] + kinds["revisit"]
    assert kinds["response"] > 300


def test_every_row_leads_back_to_its_page(done: Crawled) -> None:
    rows = harness.rows_of(done.folder)
    assert len(rows) == done.report.fetched == len({row["url"] for row in rows})
    bodies = 0
    for row in rows:
        capture = read(done.folder, place_of(row))
        assert (capture.url, capture.status) == (row["url"], row["status"])
        assert capture.request_head.startswith(b"GET ")
        if not capture.body:
            continue
        bodies += 1
        assert row["digest"] == "sha256:" + b32encode(sha256(capture.body).digest()).decode()
        host, target = split_url(row["url"])
        asked = Request(target, headers={"accept-encoding": "gzip, deflate, br, zstd"})
        if host not in ("broken.test", "compressed.test"):
            assert capture.body == done.web.answer(host, asked).body
    assert bodies > 300


def test_a_copy_leads_to_the_body_of_its_original(done: Crawled) -> None:
    rows = [row for row in harness.rows_of(done.folder) if row["duplicate_kind"] == "exact"]
    assert len(rows) == 12
    for row in rows:
        copy = read(done.folder, place_of(row))
        first = original(done.folder, copy)
        assert copy.body == b""
        assert first is not None
        assert first.url == row["duplicate_of"]
        host, target = split_url(row["url"])
        assert first.body == done.web.answer(host, Request(target)).body


def test_the_table_is_what_the_archive_says_when_it_is_read_again(done: Crawled) -> None:
    """The same code makes a row when a page is fetched and when a crash has cost the table its row."""
    made: dict[str, PageRow] = {}
    parse = row_maker(Folder(done.folder).load().settings)
    for path in warcs(done):
        made |= {row.url: row for row in rows_of(path, parse)}
    rows = {row["url"]: row for row in harness.rows_of(done.folder)}
    assert made.keys() == rows.keys()
    differing: dict[str, list[tuple[str, object, object]]] = {}
    for url, row in rows.items():
        for name in PageRow.__struct_fields__:
            if name == "content_length" and not read(done.folder, place_of(row)).body_stored:
                continue  # see the next test
            again = getattr(made[url], name)
            if name == "fetched_at":
                first = round(row[name].timestamp() * 1000)
            else:
                first = tuple(row[name]) if isinstance(row[name], list) else row[name]
            if first != again:
                differing.setdefault(name, []).append((url, first, again))
    assert differing == {}


def test_the_length_of_a_body_that_is_not_stored_is_read_back(done: Crawled) -> None:
    rows = [row for row in harness.rows_of(done.folder) if row["duplicate_kind"] == "near"]
    assert len(rows) == 18
    assert [read(done.folder, place_of(row)).length for row in rows] == [row["content_length"] for row in rows]


def test_duckdb_and_pandas_open_the_table(done: Crawled) -> None:
    parts = done.folder / "pages"
    assert len(list(parts.glob("*.parquet"))) >= 4
    with duckdb.connect() as connection:
        sql = f"SELECT status, count(*) FROM read_parquet('{parts}/*.parquet') GROUP BY status"
        counted = dict(connection.sql(sql).fetchall())
    frame = pd.read_parquet(parts)
    assert counted == frame["status"].value_counts().to_dict()
    assert sum(counted.values()) == done.report.fetched
    stored = frame[(frame["status"] == 200) & frame["duplicate_of"].isna()]
    titles = {node.url: node.title for node in done.web.reachable(done.web.seeds()).nodes.values()}
    plain = stored[stored["host"].str.startswith("site")]
    assert len(plain) > 20
    assert all(title == titles[url] for url, title in zip(plain["url"], plain["title"], strict=True))


def test_the_archive_holds_what_the_web_says_it_served(done: Crawled) -> None:
    served = Counter(f"http://{served.host}{served.target}" for served in done.log if served.status)
    captured = Counter(capture.url for _, capture in records_of(done.folder))
    # Tries that failed and were repeated leave no record, nor do the hops on the way to a robots.txt.
    assert captured - served == Counter()
    assert set(served) - set(captured) == {url for url in served if "broken.test" in url and url not in captured}


def test_pywb_replays_a_page_of_the_crawl(done: Crawled, tmp_path: Path) -> None:
    manager, server = pywb_program("wb-manager"), pywb_program("wayback")
    for command in (["init", "crawl"], ["add", "crawl", *map(str, warcs(done))]):
        subprocess.run([manager, *command], cwd=tmp_path, check=True, capture_output=True, timeout=120)
    url = next(url for url in harness.stored_in(done.folder) if url.startswith("http://copies.test/original/"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with open(tmp_path / "log", "wb") as log:
        process = subprocess.Popen([server, "-b", "127.0.0.1", "-p", str(port)], cwd=tmp_path, stdout=log, stderr=log)
    try:
        page = replayed(f"http://127.0.0.1:{port}/crawl/2id_/{url}", process, time.monotonic() + 30)
    finally:
        process.terminate()
        process.wait(20)
    host, target = split_url(url)
    assert page == done.web.answer(host, Request(target)).body


def replayed(address: str, process: "subprocess.Popen[bytes]", deadline: float) -> bytes:
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                body: bytes = answer.read()
                return body
        except OSError:  # nobody listens yet, which is the only sign that it is not up
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
