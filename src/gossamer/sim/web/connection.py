"""One client connection of the synthetic web: requests in, answers out, by hand on asyncio's protocol.

An ordinary page that was asked for before costs one parse of the request head, one dictionary look-up, one write and one
log line. Anything unusual (a delay, a drip, an endless body) runs as a task of its connection, and the requests pipelined
behind it wait for it.
"""

import asyncio
import socket
import struct
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from gossamer.sim.web.log import Served
from gossamer.sim.web.model import Answer
from gossamer.sim.web.wire import Wire, chunk, framed, pieces

if TYPE_CHECKING:  # the server makes connections, a connection asks its server
    from gossamer.sim.web.server import Server

__all__ = ["CONTROL_HOST", "Connection"]

HEAD_LIMIT = 2 * 2**20  # a head of 1 MB is among the things a crawler may be made to send
CONTROL_HOST = "control.invalid"  # `GET /flush` here writes the log out; never logged itself
CONTINUE = b"Connection: keep-alive\r\n\r\n"
CLOSE = b"Connection: close\r\n\r\n"


class Connection(asyncio.Protocol):
    """One client connection."""

    def __init__(self, server: "Server") -> None:
        self.server = server
        server.connection_count += 1
        self.number = server.connection_count
        self.host = ""
        self.buffer = b""
        self.task: asyncio.Task[None] | None = None
        self.writable = asyncio.Event()
        self.writable.set()
        self.transport: asyncio.Transport
        self.address = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.address = "{}:{}".format(*self.transport.get_extra_info("peername")[:2])
        self.server.open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server.open.discard(self)
        if self.host:
            self.server.host(self.host).connections -= 1
        if self.task is not None:
            self.task.cancel()

    def pause_writing(self) -> None:
        self.writable.clear()

    def resume_writing(self) -> None:
        self.writable.set()

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        while self.task is None and not self.transport.is_closing():
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                if len(self.buffer) > HEAD_LIMIT:
                    self.transport.abort()
                return
            head, self.buffer = self.buffer[:end], self.buffer[end + 4 :]
            self.handle(head.decode("latin-1"))

    def handle(self, head: str) -> None:
        start, wall = time.monotonic(), time.time()
        lines = head.split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target, _, version = rest.rpartition(" ")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        host = headers.get("host", "").lower().removesuffix(":80")
        if target.startswith("http://"):
            host, slash, target = target[7:].partition("/")
            target = slash + target
        if host == CONTROL_HOST:
            self.control()
            return
        if not target.startswith("/") or not version.startswith("HTTP/1.") or method not in ("GET", "HEAD"):
            self.transport.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n" + CLOSE)
            self.transport.close()
            return
        server = self.server
        state = server.host(host)
        if host != self.host:
            if self.host:
                server.host(self.host).connections -= 1
            self.host = host
            state.connections += 1
        connection = headers.get("connection", "").lower()
        close = connection == "close" or (version == "HTTP/1.0" and connection != "keep-alive")
        answer = None
        wire = server.cached(host, target)
        if wire is None:
            answer = server.answer(host, target, method, headers, wall, start)
            wire = framed(answer)
        simple = answer is None or is_simple(answer)
        if simple and answer is not None and answer.fixed:
            server.keep(host, target, wire)
        served = Served(
            start, start, wall, server.clock(), host, target, wire.status, 0, self.number, state.busy + 1,
            state.connections, method, headers.get("user-agent", ""), headers.get("if-none-match"),
            headers.get("if-modified-since"), answer.closes_for or None if answer is not None else None,
            address=self.address,
        )  # fmt: skip
        close = close or wire.closes
        if simple:
            payload = wire.first + server.date_line(wall) + wire.head + (CLOSE if close else CONTINUE)
            if method != "HEAD":
                payload += wire.body
            self.transport.write(payload)
            self.record(served, len(payload))
            if close:
                self.transport.close()
        else:
            assert answer is not None
            state.busy += 1
            self.task = asyncio.ensure_future(self.deliver(answer, wire, served, close))

    def record(self, served: Served, sent: int, *, status: int | None = None, cut: bool = False) -> None:
        # Struct.__replace__ would cost as much as the whole log line: the one field order that matters is kept here.
        self.server.log.add(
            Served(
                served.start, time.monotonic(), served.wall, served.at, served.host, served.target,
                served.status if status is None else status, sent, served.connection, served.busy, served.connections,
                served.method, served.agent, served.if_none_match, served.if_modified_since, served.retry_after, cut,
                served.address,
            )
        )  # fmt: skip

    async def deliver(self, answer: Answer, wire: Wire, served: Served, close: bool) -> None:
        """Send an answer that takes time or ends badly."""
        delivery, sent, whole = answer.delivery, 0, False
        status = 0
        try:
            await asyncio.sleep(delivery.delay)
            if delivery.mute:
                await asyncio.Event().wait()
            if delivery.reset and delivery.stop_after is None:
                self.reset()
                return
            if delivery.stop_after == 0 and not wire.first and not wire.head:
                self.transport.close()  # an empty reply
                return
            status = wire.status
            head = wire.first
            if head:
                head += self.server.date_line(time.time()) + wire.head + (CLOSE if close else CONTINUE)
            else:
                head = wire.head
            sent += await self.send(head)
            if served.method != "HEAD":
                for piece in body_pieces(answer, wire):
                    sent += await self.send(piece)
                    if delivery.drip:
                        await asyncio.sleep(delivery.drip)
            whole = delivery.stop_after is None
            if delivery.reset:
                self.reset()
            elif close or not whole:
                self.transport.close()
        except (asyncio.CancelledError, ConnectionError):
            whole = False
        finally:
            self.server.host(served.host).busy -= 1
            self.record(served, sent, status=status, cut=not whole)
            self.task = None
        if self.buffer:
            self.data_received(b"")

    async def send(self, data: bytes) -> int:
        if self.transport.is_closing():
            raise ConnectionResetError
        self.transport.write(data)
        await self.writable.wait()
        return len(data)

    def reset(self) -> None:
        raw = self.transport.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def control(self) -> None:
        self.server.log.flush()
        body = b"%d" % self.server.log.count
        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n" % len(body) + CONTINUE + body)


def is_simple(answer: Answer) -> bool:
    """Whether the answer can be written whole at once."""
    d = answer.delivery
    return not (
        d.delay or d.reset or d.mute or d.drip or d.stop_after is not None or d.repeat != 1 or d.raw is not None
    )


def body_pieces(answer: Answer, wire: Wire) -> Iterator[bytes]:
    """The body as it goes on the wire, piece by piece: repeated, dripped or cut as the delivery says."""
    delivery, left = answer.delivery, answer.delivery.stop_after
    size = delivery.chunk if delivery.drip or delivery.length is not None else 65536
    wrap = delivery.chunk and delivery.length is None and delivery.repeat > 1
    for _ in range(delivery.repeat):
        for piece in pieces(wire.body, size or 65536):
            if left is not None:
                piece, left = piece[:left], left - len(piece)
            if piece:
                yield chunk(piece) if wrap else piece
            if left is not None and left <= 0:
                return
    if wrap:
        yield b"0\r\n\r\n"
