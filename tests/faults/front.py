"""One address in front of two webs: hosts that mean harm, answered here, and a healthy web behind it.

A crawl with `connect_to` sends every connection to one address. This server reads who is asked for (the Host header, or
the name in a TLS hello) and then plays the attack of that host, or passes the bytes on to the healthy web and back.
It runs in a thread of its own, so that the test only waits.
"""

import asyncio
import contextlib
import ssl
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping

__all__ = ["Exchange", "Front", "Play", "fronting"]

PIECE = 65_536


class Exchange:
    """One request to a hostile host, and the raw connection to answer it with."""

    def __init__(self, host: str, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.host = host
        self.head = head
        line = head.partition(b"\r\n")[0].split(b" ")
        self.target = line[1].decode("latin-1") if len(line) > 1 else ""
        self.reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        for start in range(0, len(data), PIECE):
            self._writer.write(data[start : start + PIECE])
            await self._writer.drain()

    async def answer(self, body: bytes, *headers: str, status: str = "200 OK") -> None:
        """An honest answer."""
        lines = (f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers, "", "")
        await self.send("\r\n".join(lines).encode("latin-1") + body)

    async def html(self, body: bytes, *headers: str) -> None:
        await self.answer(body, "Content-Type: text/html; charset=utf-8", *headers)

    async def forever(self, piece: bytes, pause: float = 0.0) -> None:
        """The same bytes again and again, for as long as somebody listens."""
        while True:
            await self.send(piece)
            await asyncio.sleep(pause)

    async def silence(self) -> None:
        await self.reader.read()


Play = Callable[[Exchange], Awaitable[None]]


class Front:
    """The running server; `asked` counts the requests to each hostile host."""

    def __init__(self, plays: Mapping[str, Play], behind: int, secure: Mapping[str, ssl.SSLContext]) -> None:
        self.asked: Counter[str] = Counter()
        self.port = 0
        self._plays = plays
        self._behind = behind
        self._secure = secure
        self._secured: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._run()), daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(30), "the front did not start"

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join(30)
        self._loop.close()

    async def _run(self) -> None:
        servers = [await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024, limit=1 << 20)]
        self.port = servers[0].sockets[0].getsockname()[1]
        for name, context in self._secure.items():
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context)
            servers.append(server)
            self._secured[name] = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._end.wait()
        for server in servers:
            server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
                await self._meet(reader, writer)
                writer.close()  # what was written leaves before the end
                await writer.wait_closed()
        finally:
            if not writer.is_closing():
                writer.transport.abort()
            self._tasks.discard(task)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(1)
        if first == b"\x16":  # a TLS hello, which names the host in clear
            hello = first + await reader.read(PIECE)
            host = next((name for name in [*self._secured, *self._plays] if name.encode() in hello), "")
            if host in self._secured:
                await self._pass_on(hello, self._secured[host], reader, writer)
                return
            head = hello
        else:
            head = first + await reader.readuntil(b"\r\n\r\n")
            host = head.lower().partition(b"\r\nhost: ")[2].partition(b"\r\n")[0].partition(b":")[0].decode("latin-1")
        play = self._play_of(host)
        if play is None:
            await self._pass_on(head, self._behind, reader, writer)
            return
        self.asked[host] += 1
        await play(Exchange(host, head, reader, writer))

    def _play_of(self, host: str) -> Play | None:
        """The attack of a host; `*.name` stands for every name below."""
        parent = host.partition(".")[2]
        while (play := self._plays.get(host) or self._plays.get(f"*.{parent}")) is None and parent:
            parent = parent.partition(".")[2]
        return play

    async def _pass_on(
        self, head: bytes, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        behind, ahead = await asyncio.open_connection("127.0.0.1", port)
        ahead.write(head)
        try:
            both = [asyncio.create_task(_pump(reader, ahead)), asyncio.create_task(_pump(behind, writer))]
            await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            for task in both:
                task.cancel()
            await asyncio.gather(*both, return_exceptions=True)
        finally:
            ahead.transport.abort()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(PIECE):
            writer.write(data)
            await writer.drain()


@contextlib.contextmanager
def fronting(
    plays: Mapping[str, Play], behind: int, secure: Mapping[str, ssl.SSLContext] | None = None
) -> Iterator[Front]:
    """The front for the time of the block; `secure` are the hosts that speak TLS."""
    front = Front(plays, behind, secure or {})
    front.start()
    try:
        yield front
    finally:
        front.stop()
