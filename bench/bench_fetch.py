"""Fetching small pages over kept connections: the Fetcher beside bare pycurl, its own asyncio wrapper, and aiohttp.

The server is another process, so only the client's CPU time is counted. All speak HTTP/1.1 to 32 hosts on loopback, 32
requests at a time (bare pycurl: one after another, the least that libcurl itself can cost).
"""

import asyncio
import gzip
import subprocess
import sys
from collections.abc import Callable, Coroutine
from io import BytesIO
from typing import Any

import pycurl
import uvloop

from bench.harness import cpu_us, row, title
from gossamer.fetch import Fetcher, FetchSettings, Request, Response, decode

REQUESTS = 4000
HOSTS = 32
SIZES = (2_000, 14_000, 95_000)

SERVER = """
import asyncio, sys, uvloop
body = b"<p>" + b"x" * (int(sys.argv[1]) - 3)
head = ["HTTP/1.1 200 OK", "Server: bench", "Date: Sat, 15 Nov 2025 07:00:00 GMT", "Content-Type: text/html",
        f"Content-Length: {len(body)}", 'ETag: "abc"', "Last-Modified: Sat, 15 Nov 2025 07:00:00 GMT",
        "Accept-Ranges: bytes", "Connection: keep-alive", "", ""]
answer = "\\r\\n".join(head).encode() + body
class Answering(asyncio.Protocol):
    def connection_made(self, transport): self.transport = transport
    def data_received(self, data): self.transport.write(answer * data.count(b"\\r\\n\\r\\n"))
async def main():
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
uvloop.run(main())
"""


def _urls(port: int) -> list[str]:
    return [f"http://h{n % HOSTS}.test:{port}/page/{n}" for n in range(REQUESTS)]


async def _spread(urls: list[str], fetch: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    remaining = iter(urls)

    async def work() -> None:
        for url in remaining:
            await fetch(url)

    await asyncio.gather(*(work() for _ in range(HOSTS)))


def _ours(urls: list[str], port: int) -> None:
    async def main() -> None:
        async with Fetcher(FetchSettings(connect_to=f"127.0.0.1:{port}")) as fetcher:

            async def fetch(url: str) -> None:
                response = await fetcher.fetch(Request(url))
                assert isinstance(response, Response)

            await _spread(urls, fetch)

    uvloop.run(main())


def _handle(port: int) -> Any:
    curl = pycurl.Curl()
    curl.setopt(pycurl.NOSIGNAL, 1)
    curl.setopt(pycurl.CONNECT_TO, [f"::127.0.0.1:{port}"])
    return curl


def _bare(urls: list[str], port: int) -> None:
    curl = _handle(port)
    curl.setopt(pycurl.MAXCONNECTS, 2 * HOSTS)
    for url in urls:
        body = BytesIO()
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.WRITEFUNCTION, body.write)
        curl.perform()
    curl.close()


def _async_multi(urls: list[str], port: int) -> None:
    async def main() -> None:
        async with pycurl.AsyncCurlMulti() as multi:
            idle: list[Any] = []

            async def fetch(url: str) -> None:
                curl = idle.pop() if idle else _handle(port)
                body, lines = BytesIO(), list[bytes]()
                curl.setopt(pycurl.URL, url)
                curl.setopt(pycurl.WRITEFUNCTION, body.write)
                curl.setopt(pycurl.HEADERFUNCTION, lines.append)
                await multi.perform(curl)
                idle.append(curl)

            await _spread(urls, fetch)

    uvloop.run(main())


def _aiohttp(urls: list[str], port: int) -> None:
    import aiohttp
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Loopback(AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: int = 0) -> list[ResolveResult]:
            return [ResolveResult(hostname=host, host="127.0.0.1", port=port, family=2, proto=0, flags=0)]

        async def close(self) -> None: ...

    async def main() -> None:
        connector = aiohttp.TCPConnector(resolver=Loopback(), limit=0)
        async with aiohttp.ClientSession(connector=connector) as session:

            async def fetch(url: str) -> None:
                async with session.get(url) as response:
                    await response.read()

            await _spread(urls, fetch)

    uvloop.run(main())


def _has_aiohttp() -> bool:
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        return False
    return True


def _measure(size: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(size)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        urls = _urls(port)
        jobs: dict[str, Callable[[], object]] = {
            "gossamer.fetch": lambda: _ours(urls, port),
            "bare pycurl, one after another": lambda: _bare(urls, port),
            "pycurl.AsyncCurlMulti, nothing checked": lambda: _async_multi(urls, port),
        }
        if _has_aiohttp():
            jobs["aiohttp"] = lambda: _aiohttp(urls, port)
        best = cpu_us(jobs, REQUESTS)
        assert server.stdin is not None
        server.stdin.close()  # which ends it
    title(f"fetch a page of {size:,} bytes over a kept connection")
    ours = best["gossamer.fetch"]
    for name, value in best.items():
        row(name, value, "µs CPU", "" if name == "gossamer.fetch" else f"{value / ours:.2f} × ours")


def _decoding() -> None:
    import brotli
    import zstandard

    page = b"".join(b"<p>paragraph %d of a page, %d</p>\n" % (n, n * n) for n in range(330))
    packed = {
        "gzip": gzip.compress(page, 6),
        "br": brotli.compress(page, quality=5),
        "zstd": zstandard.ZstdCompressor().compress(page),
    }
    limit = 20 * 1024 * 1024

    def ours(name: str, body: bytes) -> Callable[[], None]:
        def job() -> None:
            for _ in range(300):
                decode(body, name, limit)

        return job

    def plain(name: str, body: bytes) -> Callable[[], None]:
        unpack: Callable[[bytes], bytes] = {
            "gzip": gzip.decompress,
            "br": brotli.decompress,
            "zstd": zstandard.ZstdDecompressor().decompress,
        }[name]

        def job() -> None:
            for _ in range(300):
                unpack(body)

        return job

    jobs: dict[str, Callable[[], object]] = {}
    for name, body in packed.items():
        jobs[f"decode {name}, bounded"] = ours(name, body)
        jobs[f"the library's {name}, unbounded"] = plain(name, body)
    best = cpu_us(jobs, 300)
    title(f"decode a page of {len(page):,} bytes")
    for name, value in best.items():
        row(name, value, "µs CPU")


def run() -> None:
    for size in SIZES:
        _measure(size)
    _decoding()
