"""The server: all hosts of a web on one loopback port, told apart by the Host header.

The test web must not be what limits a crawl: pages once made are kept as the bytes that go on the wire, and the protocol
(`connection`) is written by hand.

What a host has to remember of the past (how often it was asked, until when it wants to be left alone) is kept here and
handed to the site with each request, so that sites stay pure.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import msgspec

from gossamer.sim.web.connection import Connection
from gossamer.sim.web.log import LogWriter
from gossamer.sim.web.model import Answer, Request
from gossamer.sim.web.names import canonical_target
from gossamer.sim.web.plan import Web
from gossamer.sim.web.tree import TreeSite
from gossamer.sim.web.wire import Wire, framed, http_date

__all__ = ["Server", "serve"]

CACHE_BYTES = 64 * 2**20
FLUSH_SECONDS = 0.2


class Host(msgspec.Struct):
    """What the server remembers of one host."""

    busy: int = 0
    connections: int = 0
    asked: int = 0
    closed_until: float = 0.0
    tries: dict[str, int] = {}


class Server:
    """The running server: `port`, `log`, and the clock of its web."""

    def __init__(self, web: Web, log: LogWriter, clock: Callable[[], float] | None = None) -> None:
        self.web = web
        self.log = log
        self.port = 0
        self.started = time.time()
        self.clock = clock or self._clock
        self.hosts: dict[str, Host] = {}
        self.open: set[Connection] = set()
        self.connection_count = 0
        self._cache: dict[tuple[str, str], Wire] = {}
        self._cached_bytes = 0
        self._date = (0, b"")

    def _clock(self) -> float:
        return self.web.settings.epoch + (time.time() - self.started) * self.web.settings.speed

    def date_line(self, wall: float) -> bytes:
        if self._date[0] != int(wall):
            self._date = (int(wall), f"Date: {http_date(wall)}\r\n".encode())
        return self._date[1]

    def host(self, name: str) -> Host:
        found = self.hosts.get(name)
        if found is None:
            found = self.hosts[name] = Host()
        return found

    def cached(self, host: str, target: str) -> Wire | None:
        wire = self._cache.pop((host, target), None)
        if wire is not None:
            self._cache[host, target] = wire  # put back as the youngest
        return wire

    def keep(self, host: str, target: str, wire: Wire) -> None:
        self._cache[host, target] = wire
        self._cached_bytes += len(wire.body)
        while self._cached_bytes > CACHE_BYTES and len(self._cache) > 1:
            oldest = next(iter(self._cache))
            self._cached_bytes -= len(self._cache.pop(oldest).body)

    def warm(self) -> None:
        """Make the plain pages beforehand, as far as the cache goes: a first request then costs no more than a second."""
        for name in self.web.hosts():
            site = self.web.site(name)
            if not isinstance(site, TreeSite):
                return
            for page in range(site.size):
                target = site.target(page)
                wire = framed(site.answer(Request(target)))
                if self._cached_bytes + len(wire.body) > CACHE_BYTES:
                    return
                self.keep(name, target, wire)

    def answer(self, name: str, target: str, method: str, headers: dict[str, str], wall: float, now: float) -> Answer:
        """Ask the site, with the memory it needs."""
        site = self.web.site(name)
        host = self.host(name)
        canonical = canonical_target(target)
        tries = asked = 0
        if site is not None and site.remembers:
            tries, asked = host.tries.get(canonical, 0), host.asked
            host.tries[canonical] = tries + 1
            host.asked += canonical != "/robots.txt"
        request = Request(canonical, method, headers, self.clock(), wall, tries, asked, host.closed_until, now)
        answer = self.web.answer(name, request)
        if answer.closes_for:
            host.closed_until = max(host.closed_until, now + answer.closes_for)
        return answer


async def _flush_now_and_then(log: LogWriter) -> None:
    while True:
        await asyncio.sleep(FLUSH_SECONDS)
        log.flush()


@contextlib.asynccontextmanager
async def serve(
    web: Web,
    host: str = "127.0.0.1",
    port: int = 0,
    log: Path | str | LogWriter | None = None,
    clock: Callable[[], float] | None = None,
    *,
    warm: bool = False,
) -> AsyncIterator[Server]:
    """Serve the web while the block runs. `log`: a file, or nothing to keep it in memory (`server.log.served()`)."""
    writer = log if isinstance(log, LogWriter) else LogWriter(log)
    server = Server(web, writer, clock)
    if warm:
        server.warm()
    loop = asyncio.get_running_loop()
    listener = await loop.create_server(lambda: Connection(server), host, port, backlog=2048)
    server.port = listener.sockets[0].getsockname()[1]
    flusher = loop.create_task(_flush_now_and_then(writer))
    try:
        yield server
    finally:
        flusher.cancel()
        listener.close()
        tasks = [connection.task for connection in server.open if connection.task is not None]
        for connection in list(server.open):
            connection.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        await listener.wait_closed()
        writer.close()
