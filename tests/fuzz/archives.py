"""Targets that read files: WARC records whole and damaged, page parts, HTTP heads as stored, the folder's own state."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from gossamer.cli.summary import LastRun
from gossamer.crawl import Crawled, Folder
from gossamer.errors import GossamerError
from gossamer.fetch._head import final_head, read_head
from gossamer.settings import Settings
from gossamer.store import Damage, Location, Record, Store, StoreError, StoreSettings, captures, records, recover
from gossamer.store._captures import read_at
from gossamer.store._head import fields_of, request_head, response_head, status_of
from tests.exchanges import HEAD, capture, row_of, stored, warcs
from tests.fuzz.target import Target
from tests.fuzz.texts import scratch

__all__ = ["ARCHIVES"]

MOST = 50_000
KEPT = StoreSettings(part_rows=4)


@cache
def _whole() -> Path:
    """A small store, closed in order: eight exchanges in one WARC file, and their rows in parts."""
    folder = scratch() / "whole"
    with Store(folder, "w1", KEPT, clock=lambda: 1.7e9) as store:
        stored(store, *(capture(number) for number in range(8)))
    return folder


@cache
def _good() -> bytes:
    return warcs(_whole())[0].read_bytes()


@cache
def _good_records() -> tuple[Record, ...]:
    found = tuple(records(warcs(_whole())[0]))
    assert all(isinstance(each, Record) for each in found)
    return found  # type: ignore[return-value]


def _edits(script: bytes) -> Iterator[tuple[int, int, bytes]]:
    """What to do to a good file: each edit is a place, how much to take away there, and what to put in."""
    at = 0
    while at + 4 <= len(script) and at < 400:
        place, away, size = int.from_bytes(script[at : at + 2], "big"), script[at + 2], script[at + 3] % 32
        yield place, away if away < 128 else (away - 127) * 64, script[at + 4 : at + 4 + size]
        at += 4 + size


def edited(good: bytes, script: bytes) -> tuple[bytes, int]:
    """The file after the edits, and how many bytes at its beginning are as they were."""
    data, same = bytearray(good), len(good)
    for place, away, put in _edits(script):
        where = place % (len(data) + 1)
        data[where : where + away] = put
        same = min(same, where)
    return bytes(data), same


def _read(path: Path, size: int) -> list[Record | Damage]:
    """Everything in a file, with the promises that hold for any bytes."""
    found, end = [], 0
    for each in records(path, most=MOST):
        assert each.offset >= end or (isinstance(each, Record) and each.length == 0), "records overlap"
        assert each.offset + each.length <= size
        end = each.offset + each.length if each.length else end
        if isinstance(each, Record):
            assert len(each.block) <= MOST
        else:
            assert each.length > 0
            assert each.reason
        found.append(each)
    for item in captures(path, most=MOST):
        if isinstance(item, Damage):
            continue
        place, exchange = item
        assert len(exchange.body) <= MOST
        _ = exchange.status, exchange.length
        with suppress(StoreError):
            read_at(path, place, most=MOST)
    return found


def warc(data: bytes) -> None:
    """A file of anybody's: gzipped or plain."""
    path = scratch() / ("any.warc.gz" if data[:1] == b"\x1f" else "any.warc")
    path.write_bytes(data)
    _read(path, len(data))
    with suppress(StoreError):
        read_at(path, Location(path.name, len(data) // 2, 1), most=MOST)


def torn(script: bytes) -> None:
    """A file of ours, damaged: what lies before the damage is read as if nothing had happened."""
    data, same = edited(_good(), script)
    path = scratch() / "torn.warc.gz"
    path.write_bytes(data)
    found = _read(path, len(data))
    before = [each for each in _good_records() if each.offset + each.length <= same]
    assert found[: len(before)] == before, "an intact record was not read"


def mend(script: bytes) -> None:
    """A crawl's folder with a damaged WARC file is mended once, and whole from then on."""
    data, same = edited(_good(), script)
    folder = scratch() / "mend"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "warc").mkdir(parents=True)
    (folder / "pages").mkdir()
    path = folder / "warc" / warcs(_whole())[0].name
    path.write_bytes(data)
    recover(folder, row_of, KEPT)
    if not path.exists():  # nothing in it could be read, or it does not begin as ours do
        return
    mended = list(records(path))
    before = [each for each in _good_records() if each.offset + each.length <= same]
    assert mended[: len(before)] == before, "mending harmed an intact record"
    again = recover(folder, row_of, KEPT)
    assert not any(each.cut or each.blanked or each.rows for each in again.files), "mending twice mends twice"


def parts(script: bytes) -> None:
    """A damaged part of the page table never keeps a crawl from going on."""
    folder = scratch() / "parts"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(_whole(), folder)
    part = sorted((folder / "pages").glob("*.parquet"))[(script[0] if script else 0) % 2]
    part.write_bytes(edited(part.read_bytes(), script[1:])[0])
    warc_file = warcs(folder)[0]
    with warc_file.open("ab") as file:
        file.write(b"\x1f\x8b\x08")  # a torn tail, so that recovery has to look at the parts at all
    recover(folder, row_of, KEPT)
    assert warc_file.read_bytes() == _good()


def heads(data: bytes) -> None:
    """An HTTP head, as it comes from the wire and as it is stored."""
    for length in (None, 0, 12_345):
        kept, protocol = response_head(data, length)
        assert kept.endswith(b"\r\n\r\n") or kept == b"\r\n"
        assert protocol in ("", "h2", "h3")
        assert response_head(kept, length)[0] == kept, "not idempotent"
        status_of(kept)
        fields_of(kept)
    asked = request_head(data)
    assert request_head(asked) == asked
    lines = data.splitlines(keepends=True)
    read = read_head(final_head(lines))
    assert 0 <= read.status <= 999
    for name, value in read.headers:
        name.encode("latin-1")
        value.encode("latin-1")


@cache
def _state() -> bytes:
    return msgspec.json.encode(Crawled("0.1.0", 1.7e9, ("https://example.com/",), Settings()))


def state(data: bytes) -> None:
    """The folder's own record and last report, as given or (first byte 0) as good ones damaged."""
    if data[:1] == b"\0":
        data = edited(_state(), data[1:])[0]
    folder = scratch() / "state"
    folder.mkdir(exist_ok=True)
    (folder / "crawl.json").write_bytes(data)
    (folder / "report.json").write_bytes(data)
    LastRun.load(folder)
    try:
        crawled = Folder(folder).load()
    except GossamerError as error:
        words = str(error)
        assert "crawl.json" in words
        words.encode("utf-8")
        return
    assert isinstance(crawled, Crawled)
    Folder(folder).save(crawled)
    assert Folder(folder).load() == crawled
    Folder(folder).agree((), crawled.settings, force=False)


SCRIPTS = (
    b"\x00\x10\x01\x00",
    b"\x01\x00\x80\x00",
    b"\x02\x22\x00\x05WARC/",
    b"\x03\x00\xff\x00\x00\x40\x02\x03\x1f\x8b\x08",
    b"\xff\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x00",
    b"\x04\x00\x20\x00\x02\x00\x20\x00\x01\x00\x01\x01x",
)
PLAIN_WARC = (
    b"WARC/1.1\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\nWARC-Date: 2024-01-01T00:00:00Z\r\nWARC-Target-URI: <http://a.example/>\r\n"
    b"Content-Type: application/http; msgtype=response\r\nContent-Length: 44\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n\r\n"
)  # fmt: skip
WARC_WORDS = (
    b"WARC/1.1\r\n", b"WARC/1.0\r\n", b"WARC-Type: ", b"response", b"request", b"revisit", b"metadata", b"warcinfo", b"\r\n\r\n", b"Content-Length: ",
    b"WARC-Concurrent-To: ", b"WARC-Record-ID: ", b"WARC-Target-URI: ", b"WARC-Date: ", b"WARC-Truncated: ", b"\x1f\x8b\x08", b"999999999999999999",
    b"-5", b"\n ", b"application/http", b"9999-99-99", b"0001-01-01T00:00:00+23:59",
)  # fmt: skip
HEADS = (
    HEAD,
    b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/2 200\r\ncontent-length: 12\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"HTTP/1.0 301\nLocation: /x\nContent-Length: 5\nContent-Length: 6\n folded\n\n",
    b"ICY 200 OK\r\n\r\n",
    b"GET /x HTTP/2\r\nhost: a.example\r\n\r\n",
)
HEAD_WORDS = (
    b"HTTP/1.1 ", b"HTTP/2 ", b"200", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"Content-Length: ", b"Transfer-Encoding: chunked", b"X-Crawler-", b": ", b" ",
    b"\t", b"\xc2\xa0", b"\x85", b"\x0b", b"\0",
)  # fmt: skip
ARCHIVES = (
    Target("warc", warc, (_good()[:4000], PLAIN_WARC, PLAIN_WARC * 2), WARC_WORDS, cpu_byte=60e-6),
    Target("torn", torn, SCRIPTS, (b"\x1f\x8b\x08", b"\0\0\0\0", b"WARC/1.1"), scales=False),
    Target("mend", mend, SCRIPTS, (b"\x1f\x8b\x08", b"\0\0\0\0"), scales=False, cpu_base=3.0),
    Target("parts", parts, tuple(b"\0" + script for script in SCRIPTS), (b"PAR1",), scales=False, cpu_base=5.0),
    Target("heads", heads, HEADS, HEAD_WORDS),
    Target(
        "state",
        state,
        (_state(), *(b"\0" + script for script in SCRIPTS)),
        (b'"', b"{", b"}", b"null", b"1e999"),
        cpu_base=2.0,
    ),
)
