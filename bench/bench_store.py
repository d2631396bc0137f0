"""Storing a page: WARC records and table rows, beside warcio's writer and the other compression levels."""

import importlib
import io
import pydoc
import random
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import msgspec
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from bench.harness import cpu_us, row, title
from gossamer.fingerprint import warc_digest
from gossamer.store import Capture, Location, Notes, PageRow, Store, StoreSettings, bare_row, captures, records
from gossamer.store._rows import Coverage, write_part

PAGES = 200
URL = "https://docs.example.org/3/library/asyncio-task.html"
REQUEST = (
    b"GET /3/library/asyncio-task.html HTTP/1.1\r\nHost: docs.example.org\r\nAccept: text/html,*/*;q=0.8\r\n"
    b"User-Agent: Gossamer/0.1 (+https://operator.example/)\r\nAccept-Encoding: gzip, br, zstd\r\n\r\n"
)
HEAD = (
    b"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: text/html\r\n"
    b'Content-Length: %d\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nConnection: keep-alive\r\nETag: "65a-12"\r\n\r\n'
)


def document(module: str) -> bytes:
    """Real HTML that every machine has: the documentation Python makes of one of its modules."""
    return pydoc.html.page(module, pydoc.html.document(importlib.import_module(module))).encode()


def exchange(body: bytes) -> Capture:
    notes = Notes(via="https://docs.example.org/3/", depth=2, fetch_ms=34, outcome="done")
    return Capture(URL, 1_767_225_600.5, REQUEST, HEAD % len(body), body, warc_digest(body), "192.0.2.1", notes=notes)


def by_warcio(body: bytes, sink: io.BytesIO) -> Callable[[], None]:
    """The same three records; its digests (SHA-1 of block and payload) cannot be switched off for a response."""
    lines = (HEAD % len(body)).decode().split("\r\n")
    fields = [tuple(line.split(": ", 1)) for line in lines[1:-2]]
    asked = [tuple(line.split(": ", 1)) for line in REQUEST.decode().split("\r\n")[1:-2]]

    def write() -> None:
        sink.seek(0)
        writer = WARCWriter(sink, gzip=True, warc_version="1.1")
        for _ in range(PAGES):
            head = StatusAndHeaders("200 OK", fields, protocol="HTTP/1.1")
            answer = writer.create_warc_record(URL, "response", payload=io.BytesIO(body), http_headers=head)
            head = StatusAndHeaders("GET / HTTP/1.1", asked, is_http_request=True)
            request = writer.create_warc_record(URL, "request", http_headers=head)
            writer.write_request_response_pair(request, answer)
            block = io.BytesIO(b"via: https://docs.example.org/3/\r\ndepth: 2\r\nfetchTimeMs: 34\r\n")
            writer.write_record(
                writer.create_warc_record(URL, "metadata", payload=block, warc_content_type="application/warc-fields")
            )

    return write


def appending(body: bytes, folder: Path) -> None:
    stores = {
        level: Store(folder / f"{len(body)}-{level}", "w0", StoreSettings(gzip_level=level)) for level in range(4)
    }
    capture, sink = exchange(body), io.BytesIO()

    def ours(store: Store) -> Callable[[], None]:
        def write() -> None:
            for _ in range(PAGES):
                store.append(capture, row_follows=False)

        return write

    jobs = {f"gossamer, gzip_level {level}": ours(store) for level, store in stores.items()}
    figures = cpu_us(jobs | {"warcio (zlib level 9)": by_warcio(body, sink)}, PAGES)
    sizes = {
        name: store.sync().offset / store.sync().captures for name, store in zip(jobs, stores.values(), strict=True)
    }
    sizes["warcio (zlib level 9)"] = sink.tell() / PAGES
    for name, value in figures.items():
        ratio = f"{figures['warcio (zlib level 9)'] / value:.1f} × faster than warcio"
        row(name, value, "µs CPU/page", f"{sizes[name]:,.0f} bytes/page, {ratio}")
    for store in stores.values():
        store.close()
    reading(next((folder / f"{len(body)}-2" / "warc").iterdir()))


def reading(path: Path) -> None:
    from warcio.archiveiterator import ArchiveIterator

    count = sum(1 for _ in records(path))

    def theirs() -> None:
        with open(path, "rb") as file:
            for record in ArchiveIterator(file):
                record.raw_stream.read()

    jobs: dict[str, Callable[[], object]] = {
        "gossamer, reading": lambda: sum(1 for _ in captures(path)),
        "warcio, reading": theirs,
    }
    figures = cpu_us(jobs, (count - 1) // 3, rounds=3)
    for name, value in figures.items():
        row(name, value, "µs CPU/page", f"{figures['warcio, reading'] / value:.1f} × faster than warcio")


def table_rows(links: int, letters: int) -> list[PageRow]:
    """Rows whose text is real and of which no two share a stretch: the source text of Python's own library."""
    library = sorted(Path(pydoc.__file__).parent.rglob("*.py"))
    text = "".join(path.read_text(encoding="utf-8", errors="replace") for path in library[:900])
    dice = random.Random(1)
    known = [f"https://docs.example.org/3/library/module-{n}.html" for n in range(2_000)]
    base = bare_row(exchange(b"x"), Location("gossamer-20260101000000-w0-00000.warc.gz", 0, 3_700))
    return [
        msgspec.structs.replace(
            base, url=f"{URL}?{n}", title=f"Page {n}", language="en", encoding="utf-8", warc_offset=n * 4_000,
            text=text[n * letters : (n + 1) * letters], links=tuple(dice.sample(known, links)), link_count=links,
            simhash=dice.getrandbits(64), digest=warc_digest(b"%d" % n),
        )
        for n in range(min(1_000, len(text) // letters))
    ]  # fmt: skip


def tabling(folder: Path, links: int, letters: int) -> None:
    title(f"store: one row of the page table ({links} links, {letters:,} letters of text; bar 30 µs at 6,000)")
    rows, path = table_rows(links, letters), folder / "part.parquet"
    for level in (1, 3, 9):
        name = f"gossamer, zstd_level {level}"
        value = cpu_us({name: partial(write_part, path, rows, Coverage("w", 0, 1), level)}, len(rows), rounds=3)[name]
        row(name, value, "µs CPU/row", f"{path.stat().st_size / len(rows):,.0f} bytes/row, fsync included")


def run() -> None:
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-"))
    try:
        for module, size in (("json.decoder", "14 KB"), ("urllib.request", "95 KB")):
            title(f"store: one exchange of {size} as request, response and metadata records (bar 100 µs at 14 KB)")
            appending(document(module), folder)
        tabling(folder, links=26, letters=6_000)
        tabling(folder, links=257, letters=40_000)
    finally:
        shutil.rmtree(folder)
