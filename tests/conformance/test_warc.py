"""WARC files against others: what we read of theirs, and what warcio, FastWARC and pywb read of ours."""

import gzip
import io
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from warcio.archiveiterator import ArchiveIterator

from gossamer.store import Capture, Notes, Record, Revisit, Store, captures, records
from gossamer.store._warc_read import Damage
from gossamer.store._warc_write import exchange, new_prefix
from tests.conformance.suites import CHECKOUT, suite
from tests.exchanges import NOON, capture, warcs

PLAIN = {"warcinfo": 2, "response": 1, "request": 2, "revisit": 1}
HELLO = {"warcinfo": 1, "request": 1, "response": 1, "metadata": 1, "resource": 2}
PRIMER = "warc-specifications/primers/web-archive-formats"
REVISITS = "warc-specifications/specifications/warc-deduplication/samples"

# What each file holds, written down from the files themselves; a number of stretches that are no record comes last.
SAMPLES: dict[str, tuple[dict[str, int], int]] = {
    f"{PRIMER}/hello-world.warc": (HELLO, 0),
    f"{PRIMER}/hello-world.warc.gz": (HELLO, 0),
    f"{REVISITS}/20130729-heritrix-original.warc.gz": ({"response": 1}, 0),
    f"{REVISITS}/20130729-heritrix-revisit-with-http-headers.warc.gz": ({"revisit": 1}, 0),
    f"{REVISITS}/20141124-heritrix-server-not-modified.warc.gz": ({"revisit": 1}, 0),
    f"{REVISITS}/20141129-heritrix-original.warc.gz": ({"response": 1}, 0),
    f"{REVISITS}/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz": ({"revisit": 1}, 0),
    "warcio-data/example.warc": (PLAIN, 0),
    "warcio-data/example.warc.gz": (PLAIN, 0),
    # All records in one gzip member: warcio refuses it, the records are there all the same.
    "warcio-data/example-bad-non-chunked.warc.gz": (PLAIN, 0),
    "warcio-data/example-bad.warc.gz.bad": ({"warcinfo": 1, "response": 2, "request": 2, "revisit": 1}, 0),
    "warcio-data/example-digest.warc": ({"request": 4}, 0),
    "warcio-data/example-iana.org-chunked.warc": ({"warcinfo": 1, "response": 1, "request": 1}, 0),
    "warcio-data/example-resource.warc.gz": ({"warcinfo": 2, "resource": 1}, 0),
    "warcio-data/example-space-in-target-uri.warc.gz": ({"warcinfo": 1, "resource": 1}, 0),
    # A length that is wrong by two bytes: they lie between two records and belong to neither.
    "warcio-data/example-trunc.warc": ({"warcinfo": 2, "response": 1, "request": 1}, 1),
    "warcio-data/example-wget-bad-target-uri.warc.gz": (HELLO, 0),
    # A new gzip member where each chunk of the body begins: not one record is whole.
    "warcio-data/example-wrong-chunks.warc.gz": ({}, 3),
    "warcio-data/post-test.warc.gz": ({"response": 3, "request": 3}, 0),
    # ARC, the format before WARC, is none of ours.
    "warcio-data/example.arc": ({}, 1),
    "warcio-data/example.arc.gz": ({}, 2),
    "warcio-data/bad.arc": ({}, 1),
    "warcio-data/example-space-in-url.arc": ({}, 1),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_the_samples_of_others_are_read(name: str) -> None:
    kinds, damages = SAMPLES[name]
    found = list(records(suite(name)))
    assert Counter(item.kind for item in found if isinstance(item, Record)) == kinds
    assert len([item for item in found if isinstance(item, Damage)]) == damages


def test_every_sample_is_in_the_table() -> None:
    for folder in ("warcio-data", "warc-specifications"):
        files = {path for path in suite(folder).rglob("*") if "arc" in "".join(path.suffixes) and path.suffix != ".cdx"}
        assert files == {suite(name) for name in SAMPLES if name.startswith(folder)}


def only(name: str) -> Capture:
    found = [item[1] for item in captures(suite(name)) if not isinstance(item, Damage)]
    assert len(found) == 1
    return found[0]


def test_the_exchange_of_the_primer_is_put_together() -> None:
    page = only(f"{PRIMER}/hello-world.warc.gz")
    assert page.url == "http://iipc.github.io/warc-specifications/primers/web-archive-formats/hello-world.txt"
    assert page.request_head.startswith(
        b"GET /warc-specifications/primers/web-archive-formats/hello-world.txt HTTP/1.1"
    )
    assert page.status == 200
    assert page.body == b"Hello World\n\n"


def test_revisits_of_another_crawler_lead_to_their_originals() -> None:
    copy = only(f"{REVISITS}/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz")
    first = only(f"{REVISITS}/20141129-heritrix-original.warc.gz")
    assert copy.duplicate == Revisit(first.url, first.at)
    assert copy.payload_digest == first.payload_digest
    assert copy.length == len(first.body)
    unchanged = only(f"{REVISITS}/20141124-heritrix-server-not-modified.warc.gz")
    assert unchanged.duplicate is not None
    assert unchanged.duplicate.profile == "server-not-modified"


def test_brackets_around_a_url_are_no_part_of_it() -> None:
    assert only("warcio-data/example-wget-bad-target-uri.warc.gz").url == "http://example.com/"


@given(cut=st.integers(0, 4_000), noise=st.binary(max_size=40), at=st.integers(0, 4_000))
def test_a_sample_torn_and_scratched_anywhere_is_still_read(
    tmp_path_factory: pytest.TempPathFactory, cut: int, noise: bytes, at: int
) -> None:
    for name in ("warcio-data/example.warc.gz", "warcio-data/example.warc"):
        data = bytearray(suite(name).read_bytes()[:cut])
        data[at : at + len(noise)] = noise
        path = tmp_path_factory.mktemp("torn") / Path(name).name
        path.write_bytes(data)
        found = list(records(path))
        assert sum(item.length for item in found) <= len(data)
        assert [item.offset for item in found] == sorted(item.offset for item in found)


# --- ours, read by others ---------------------------------------------------------------------------------------------

HTML = b"<html><head><title>T</title></head><body><p>words of the page</p></body></html>"
SITE = "https://site.example"


def page(path: str, words: bytes, head: bytes = b"HTTP/1.1 200 OK\r\n", **changes: object) -> Capture:
    body = HTML.replace(b"words", words)
    head = head + b"Content-Type: text/html; charset=utf-8\r\n\r\n"
    return capture(0, url=SITE + path, at=NOON, response_head=head, **({"body": body} | changes))


def every_kind() -> list[Capture]:
    packed = gzip.compress(HTML.replace(b"words", b"packed words"), mtime=0)
    return [
        page("/", b"plain words", b"HTTP/1.1 200 OK\r\nContent-Length: 85\r\n"),
        page("/chunked", b"chunked words", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"),
        page("/two", b"words of HTTP/2", b"HTTP/2 200 \r\n"),
        page("/packed", b"", b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n", body=packed),
        page("/cut", b"cut words", b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n", truncated="length"),
        page("/stra%C3%9Fe?ö=1", "Wörter".encode()),
        page("/gone", b"no words", b"HTTP/2 404 \r\n"),
        page("/hints", b"hinted words", b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n"),
        page("/copy", b"plain words", duplicate=Revisit(SITE + "/", NOON)),
        page("/near", b"nearly the same words", body_stored=False, notes=Notes(near_of=SITE + "/")),
        capture(
            0,
            url=SITE + "/",
            at=NOON + 86_400,
            response_head=b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
            body=b"",
            payload_digest="",
            duplicate=Revisit(SITE + "/", NOON, "server-not-modified"),
        ),
    ]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ours")
    with Store(folder, "w0", info={"software": "Gossamer/0.1"}) as store:
        for each in every_kind():
            store.append(each, row_follows=False)
    return warcs(folder)[0]


def test_warcio_check_finds_nothing_wrong(ours: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "warcio.cli", "check", "-v", str(ours)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("digest pass") == 8, "the responses"
    assert done.stdout.count("digest present but not checked (revisit)") == 1
    assert done.stdout.count("WARC-Record-ID") == 1 + 10 * 3 + 2


def test_warcio_reads_the_same_exchanges(ours: Path) -> None:
    bodies = {}
    with open(ours, "rb") as file:
        for record in ArchiveIterator(file):
            if record.rec_type == "response":
                bodies[record.rec_headers["WARC-Target-URI"]] = record.raw_stream.read()
                assert record.http_headers.protocol in ("HTTP/1.1", "HTTP/1.0")
                length = record.http_headers.get_header("Content-Length")
                assert length in (None, str(len(bodies[record.rec_headers["WARC-Target-URI"]])))
                assert record.http_headers.get_header("Transfer-Encoding") is None
    assert bodies == {each.url: each.body for each in every_kind() if each.duplicate is None and each.body_stored}


def test_fastwarc_reads_the_same_exchanges(ours: Path) -> None:
    expected = [each for each in every_kind() if each.duplicate is None and each.body_stored]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # it warns of its own classes when it is imported
        from fastwarc.warc import ArchiveIterator as FastIterator
        from fastwarc.warc import WarcRecordType

    found = [
        (record.headers["WARC-Target-URI"], record.reader.read())
        for record in FastIterator(str(ours), record_types=WarcRecordType.response, parse_http=True)
    ]
    assert found == [(each.url, each.body) for each in expected]


def test_the_places_we_tell_are_those_a_cdx_index_would_tell(ours: Path) -> None:
    told = [item[0] for item in captures(ours) if not isinstance(item, Damage)]
    seen = []
    with open(ours, "rb") as file:
        walk = ArchiveIterator(file)
        for record in walk:
            record.raw_stream.read()
            if record.rec_type in ("response", "revisit"):
                seen.append((walk.get_record_offset(), walk.get_record_length()))
    answers = [place for place, each in zip(told, every_kind(), strict=True) if each.body_stored]
    assert [(place.offset, place.length) for place in answers] == seen


@given(
    head=st.binary(max_size=120),
    start=st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", b"HTTP/2 200\n"]),
    body=st.binary(max_size=60),
)
def test_warcio_finds_the_body_behind_any_head_a_server_sends(head: bytes, start: bytes, body: bytes) -> None:
    odd = capture(0, response_head=start + head, body=body)
    data = exchange(odd, new_prefix().encode(), 1, 2).data
    walk = ArchiveIterator(io.BytesIO(data), check_digests="raise")
    found = [(record.rec_type, record.raw_stream.read()) for record in walk]
    assert found[2] == ("response", body)


# --- replay -----------------------------------------------------------------------------------------------------------


def pywb_program(name: str) -> str:
    """pywb's programs have an environment of their own: its pinned redis and brotlipy collide with ours."""
    folder = Path(os.environ.get("GOSSAMER_PYWB") or CHECKOUT / ".venv-pywb" / "bin")
    if not (folder / name).exists():
        message = (
            f"pywb is not at {folder} (python -m venv .venv-pywb && .venv-pywb/bin/pip install pywb, or GOSSAMER_PYWB)"
        )
        if os.environ.get("GOSSAMER_CONFORMANCE_REQUIRED"):
            pytest.fail(message, pytrace=False)
        pytest.skip(message)
    return str(folder / name)


@pytest.fixture(scope="module")
def replay(ours: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real pywb on a free port of loopback, with our file indexed by its own indexer; the answer is its address."""
    folder, manager, server = tmp_path_factory.mktemp("pywb"), pywb_program("wb-manager"), pywb_program("wayback")
    for command in (["init", "crawl"], ["add", "crawl", str(ours)]):
        subprocess.run([manager, *command], cwd=folder, check=True, capture_output=True, timeout=60)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([server, "-b", "127.0.0.1", "-p", str(port)], cwd=folder, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 30
        while True:  # a connection refused is the only sign that it is not up yet
            try:
                urllib.request.urlopen(address, timeout=5).close()
                break
            except OSError:
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def replayed(replay: str, path: str, when: str = "20260101120000") -> tuple[int, bytes]:
    request = urllib.request.Request(f"{replay}/crawl/{when}id_/{SITE}{path}")
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            body = answer.read()
            return answer.status, gzip.decompress(body) if answer.headers["Content-Encoding"] == "gzip" else body
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/", 200, b"<p>plain words of the page</p>"),
        ("/chunked", 200, b"<p>chunked words of the page</p>"),
        ("/two", 200, b"<p>words of HTTP/2 of the page</p>"),
        ("/packed", 200, b"<p>packed words of the page</p>"),
        ("/cut", 200, b"<p>cut words of the page</p></body></html>"),
        ("/stra%C3%9Fe?%C3%B6=1", 200, "<p>Wörter of the page</p>".encode()),
        ("/gone", 404, b"<p>no words of the page</p>"),
        ("/hints", 200, b"<p>hinted words of the page</p>"),
        ("/copy", 200, b"<p>plain words of the page</p>"),
        ("/near", 404, b"Not Found"),
    ],
)
def test_pywb_replays_what_we_stored(replay: str, path: str, status: int, words: bytes) -> None:
    found, body = replayed(replay, path)
    assert found == status
    assert words in body


def test_pywb_shows_the_page_for_a_later_day_on_which_it_had_not_changed(replay: str) -> None:
    assert replayed(replay, "/", "20260102120000") == (200, HTML.replace(b"words", b"plain words"))
