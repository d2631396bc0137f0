"""Targets on sockets: answers of servers through the real fetcher, and frames between our own processes."""

import asyncio
import atexit
import time
from collections.abc import Callable
from typing import Any

from gossamer.crawl import wire
from gossamer.fetch import Failure, Fetcher, FetchSettings, Request, Response
from gossamer.frontier import Done, Lease, Link
from gossamer.frontier.contract import Kind
from gossamer.outcome import Action
from gossamer.worker import Counts
from tests.fuzz.target import Target

__all__ = ["WIRES"]

GOOD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ngood"
SETTINGS = FetchSettings(
    connect_timeout=5.0, first_byte_timeout=0.15, total_timeout=1.5, low_speed_seconds=0.15, max_body=20_000, max_decoded=40_000,
    max_header=4_096, max_header_count=50,
)  # fmt: skip
LONGEST = 10.0
"""Wall seconds for one answer, in a process that may share its core with others: some times the fetcher's own limit."""
HOLD = 8
"""One answer in so many is followed by silence instead of a close."""


class _Rig:
    """A server that says what it is told to, and a fetcher that asks it; both on one loop for all inputs."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.answer = b""
        self.hold = False
        self.connections: set[asyncio.StreamWriter] = set()
        self.loop.run_until_complete(self._start())

    async def _start(self) -> None:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        self.fetcher = Fetcher(SETTINGS, allowed=[("127.0.0.1", self.port)])

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections.add(writer)
        try:
            while asked := await reader.readuntil(b"\r\n\r\n"):
                good = asked.startswith(b"GET /good ")
                writer.write(GOOD if good else self.answer)
                await writer.drain()
                if not good and not self.hold:
                    break
        except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            self.connections.discard(writer)
            writer.close()

    def fetch(self, path: str) -> Response | Failure:
        return self.loop.run_until_complete(self.fetcher.fetch(Request(f"http://127.0.0.1:{self.port}{path}")))

    def close(self) -> None:
        self.loop.run_until_complete(self.fetcher.close())
        self.server.close()
        for writer in list(self.connections):
            writer.close()
        self.loop.run_until_complete(asyncio.sleep(0.01))
        self.loop.close()


_RIG: list[_Rig] = []


def rig() -> _Rig:
    """The one rig of this process, made when it is first needed."""
    if not _RIG:
        _RIG.append(_Rig())
        atexit.register(put_away)
    return _RIG[0]


def put_away() -> None:
    """Close the rig."""
    atexit.unregister(put_away)
    if _RIG:
        _RIG.pop().close()


def http(data: bytes) -> None:
    """First byte: whether the server hangs up afterwards; the rest: what it says, status line and all."""
    here = rig()
    here.hold, here.answer = bool(data) and data[0] % HOLD == 0, data[1:]
    began = time.monotonic()
    found = here.fetch("/fuzzed")
    took = time.monotonic() - began
    assert took < LONGEST, f"the fetch took {took:.1f} s"
    assert isinstance(found, Response | Failure)
    if isinstance(found, Failure):
        assert found.detail, "a failure without words"
        assert "unexpected" not in str(found.error).lower(), found.detail
    else:
        assert 100 <= found.status <= 999
        assert len(found.body) <= SETTINGS.max_body
        assert len(found.content) <= max(SETTINGS.max_decoded, len(found.body))
        assert len(found.head) <= SETTINGS.max_header
        assert len(found.headers) <= SETTINGS.max_header_count
        assert found.content or not found.body or found.decode_problem or found.header("content-encoding")
    after = here.fetch("/good")
    assert isinstance(after, Response), after
    assert after.body == b"good", "what one answer left over was taken for the next"


def frames(data: bytes) -> None:
    """First byte: into how many pieces the stream falls; the rest: the stream."""
    pieces, stream = 1 + (data[0] % 7 if data else 0), data[1:]
    for decode in (wire.decode_asks, wire.decode_replies):
        whole, cut = (
            _received(stream, len(stream) or 1, decode),
            _received(stream, max(1, len(stream) // pieces), decode),
        )
        # As bytes: among floats there is one that does not equal itself.
        assert wire.encode(whole) == wire.encode(cut), "how the stream falls into pieces changes what is read"
        for said in whole:
            assert wire.encode(decode(wire.encode(said))) == wire.encode(said)


def _received(stream: bytes, size: int, decode: Callable[[bytes], list[Any]]) -> list[list[Any]]:
    found: list[list[Any]] = []
    reader = wire.Frames(lambda frame: found.append(decode(frame)), lambda: None)
    for at in range(0, len(stream), size):
        reader.data_received(stream[at : at + size])
        if reader.garbled:
            break  # the connection is gone
    return found


def _framed(message: object) -> bytes:
    packed = wire.encode(message)
    return len(packed).to_bytes(4, "big") + packed


LEASE = Lease(7, "https://example.com/a", Kind.PAGE, 1, 0, 1, 1.7e9)
ANSWERS = (
    b"\1" + GOOD,
    b"\1HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3;ext=1\r\nabc\r\n0\r\nTrailer: x\r\n\r\n",
    b"\1HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\n\x1f\x8b\x08",
    b"\1HTTP/1.0 404 Not Found\r\n\r\nno such page",
    b"\1HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 301 Moved\r\nLocation: http://other.example/\r\nContent-Length: 0\r\n\r\n",
    b"\1HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    b"\1HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nX-Long: " + b"y" * 3000 + b"\r\n folded\r\n\r\nbody",
    b"\1",
    b"\0HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
    b"\0HTTP/1.1 200",
    b"\0" + GOOD,
)
ANSWER_WORDS = (
    b"HTTP/1.1 ", b"HTTP/1.0 ", b"HTTP/2 ", b"HTTP/9.9 ", b"200 OK", b"204 ", b"304 ", b"100 ", b"101 ", b"099 ", b"999 ", b"\r\n", b"\n", b"\r\n\r\n",
    b"Content-Length: ", b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked",
    b"Content-Encoding: br", b"Content-Encoding: deflate", b"Connection: close", b"Connection: keep-alive", b"Upgrade: h2c", b"Location: ",
    b"fffffffff\r\n", b"-1\r\n", b"0\r\n\r\n", b"5;a=b\r\n", b"\0", b": ", b" \t", b"Set-Cookie: a=b; Domain=.com\r\n", b"WWW-Authenticate: NTLM\r\n",
    b"Strict-Transport-Security: max-age=1\r\n", b"Alt-Svc: h3=\":443\"\r\n",
)  # fmt: skip
FRAMES = (
    b"\1"
    + _framed(
        [
            wire.LeaseAsk(1, 32),
            wire.CompleteAsk(2, [Done(7, Action.DONE, 200, links=(Link("https://example.com/b", 2),))]),
        ]
    ),
    b"\2"
    + _framed([wire.LeasesReply(1, [LEASE], ["example.com"]), wire.HeldReply(2, 5)])
    + _framed([wire.CopiesReply(3, [None])]),
    b"\3" + _framed([wire.AliveAsk(0, Counts()), wire.FaultAsk(0, "the disk is full"), wire.SealAsk(0, "w1-2")]),
    b"\4" + b"\xff\xff\xff\xff" + b"x",
    b"\5" + b"\0\0\0\0" * 5,
)
WIRES = (
    Target("http", http, ANSWERS, ANSWER_WORDS, scales=False, cpu_base=3.0, weight=3.0),
    Target("frames", frames, FRAMES, (b"\0\0\0\1", b"\x90", b"\xc0", b"\xdf\xff\xff\xff\xff", b"\xdd\x7f\xff\xff\xff")),
)
