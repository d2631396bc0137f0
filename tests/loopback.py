"""Servers on loopback for the tests of the network: HTTP (well or ill behaved), TLS, HTTP/2, DNS."""

import asyncio
import atexit
import socket
import ssl
import struct
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, TypeVar, cast

import uvloop

T = TypeVar("T")
Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def run(work: Coroutine[Any, Any, T], seconds: float = 20.0) -> T:
    """Run on the loop that Gossamer runs on, for a bounded time."""

    async def bounded() -> T:
        return await asyncio.wait_for(work, seconds)

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(bounded())


class Server:
    """A listening server and what it has seen."""

    def __init__(self, handler: Handler, heads: list[bytes]) -> None:
        self._handler = handler
        self.heads = heads
        """The requests that were answered, where the answer is always the same."""
        self._tasks: set[asyncio.Task[None]] = set()
        self.port = 0
        self.connections = 0
        self.ended = asyncio.Event()
        """Set whenever a connection has come to its end."""

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._handler(reader, writer)
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client hung up, or the test is over
        finally:
            writer.transport.abort()
            self._tasks.discard(task)
            self.ended.set()

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def serving(
    handler: Handler | bytes, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Server]:
    """A server for the time of the block; bytes are sent as the answer to every request."""
    heads: list[bytes] = []
    server = Server(handler if callable(handler) else answering(handler, heads), heads)
    listening = await asyncio.start_server(server._serve, host, port, ssl=tls, backlog=512)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await server.stop()


def answering(answer: bytes, heads: list[bytes] | None = None, close: bool = False) -> Handler:
    """Answers every request of a connection with the same bytes."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            if heads is not None:
                heads.append(head)
            writer.write(answer)
            await writer.drain()
            if close:
                writer.close()
                await writer.wait_closed()
                return

    return handler


def closing(answer: bytes) -> Handler:
    """Answers once and closes the connection in an orderly way."""
    return answering(answer, close=True)


def ok(body: bytes = b"hello", *headers: str) -> bytes:
    """A small answer of status 200 with a right Content-Length."""
    lines = ["HTTP/1.1 200 OK", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


class NameServer(asyncio.DatagramProtocol):
    """Answers A and AAAA questions from a table; a name with several answers gives them in turn. `cname:NAME` is an alias."""

    def __init__(self, names: dict[tuple[str, str], list[Sequence[str]]], ttl: int) -> None:
        self._names = names
        self._ttl = ttl
        self.asked: list[tuple[str, str]] = []
        self.silent = False
        self.rcode = 0
        self.port = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        labels, at = [], 12
        while data[at]:
            labels.append(data[at + 1 : at + 1 + data[at]].decode("ascii").lower())
            at += data[at] + 1
        name = ".".join(labels)
        kind = {1: "A", 28: "AAAA"}.get(struct.unpack("!H", data[at + 1 : at + 3])[0], "?")
        self.asked.append((name, kind))
        if self.silent:
            return
        answers = self._names.get((name, kind))
        exists = any(known == name for known, _ in self._names)
        turn = sum(1 for question in self.asked if question == (name, kind)) - 1
        addresses = answers[turn % len(answers)] if answers else ()
        records = b""
        for address in addresses:
            if address.startswith("cname:"):
                packed = b"".join(bytes((len(part),)) + part.encode() for part in address[6:].split(".")) + b"\0"
                records += struct.pack("!HHHIH", 0xC00C, 5, 1, self._ttl, len(packed)) + packed
                continue
            family = socket.AF_INET if kind == "A" else socket.AF_INET6
            packed = socket.inet_pton(family, address)
            records += struct.pack("!HHHIH", 0xC00C, 1 if kind == "A" else 28, 1, self._ttl, len(packed)) + packed
        rcode = self.rcode or (0 if exists else 3)
        header = data[:2] + struct.pack("!HHHHH", 0x8180 | rcode, 1, len(addresses), 0, 0)
        self._transport.sendto(header + data[12 : at + 5] + records, addr)


@asynccontextmanager
async def name_server(names: dict[tuple[str, str], list[Sequence[str]]], ttl: int = 300) -> AsyncIterator[NameServer]:
    """A DNS server (UDP) for the time of the block."""
    transport, server = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: NameServer(names, ttl), local_addr=("127.0.0.1", 0)
    )
    server.port = transport.get_extra_info("sockname")[1]
    try:
        yield server
    finally:
        transport.close()


@cache
def certificate(name: str, days: int = 2) -> Path:
    """A self-signed certificate for the name, its key in the same file; made by the openssl command."""
    folder = Path(mkdtemp(prefix="gossamer-certificate-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    key, cert = folder / "key.pem", folder / "cert.pem"
    subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}"]
    making = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [*making, "-keyout", key, "-out", cert, "-days", str(days), *subject], check=True, capture_output=True
    )
    both = folder / "both.pem"
    both.write_bytes(key.read_bytes() + cert.read_bytes())
    return both


def tls_for(name: str, *protocols: str) -> ssl.SSLContext:
    """A server's side of TLS with the certificate of that name, offering the protocols by ALPN."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate(name))
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


def http2(body: bytes, status: bytes = b"\x88", most_frames: int = 1000, end: bool = True) -> Handler:
    """An HTTP/2 server as small as can be: every HEADERS frame gets the same answer. `status` is in HPACK (0x88: 200)."""

    def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
        return len(payload).to_bytes(3, "big") + bytes((kind, flags)) + stream.to_bytes(4, "big") + payload

    def literal(name: bytes, value: bytes) -> bytes:
        return b"\x00" + bytes((len(name),)) + name + bytes((len(value),)) + value

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(24)
        writer.write(frame(4, 0, 0))
        for _ in range(most_frames):
            start = await reader.readexactly(9)
            await reader.readexactly(int.from_bytes(start[:3], "big"))
            kind, flags, stream = start[3], start[4], int.from_bytes(start[5:9], "big")
            if kind == 4 and not flags & 1:
                writer.write(frame(4, 1, 0))
            elif kind == 1:
                writer.write(frame(1, 4, stream, status + literal(b"content-type", b"text/html")))
                writer.write(frame(0, 1 if end else 0, stream, body))
                if not end:
                    writer.write(frame(3, 0, stream, (2).to_bytes(4, "big")))  # RST_STREAM, INTERNAL_ERROR
            await writer.drain()

    return handler
