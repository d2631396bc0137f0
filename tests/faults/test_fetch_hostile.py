"""Servers that mean harm, or are merely broken: every fetch ends in time, within its memory, with a reason."""

import asyncio
import gzip
import socket
import struct
import tracemalloc
from collections import Counter
from random import Random

import brotli
import pytest
import zstandard

from gossamer.fetch import Failure, Fetcher, FetchSettings, Request, Response
from gossamer.outcome import ErrorClass
from tests.loopback import Handler, closing, http2, ok, run, serving, tls_for

# Short enough for a test, long enough for a busy machine to answer an honest request.
QUICK = {
    "connect_timeout": 1.0,
    "first_byte_timeout": 0.4,
    "total_timeout": 1.0,
    "low_speed_bytes": 1000,
    "low_speed_seconds": 0.4,
    "max_body": 1_000_000,
    "max_decoded": 2_000_000,
}


def attack(
    handler: Handler | bytes, url: str = "http://site.test/", tls: str = "", **more: object
) -> Response | Failure:
    """What fetching from this server comes to, and proof that the fetcher is still good for an honest one."""

    async def scenario() -> Response | Failure:
        async with serving(handler, tls=tls_for(tls) if tls else None) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}", **(QUICK | more))  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                result = await fetcher.fetch(Request(url))
                assert fetcher._driver.running == {}
                return result

    return run(scenario())


def failure(result: Response | Failure) -> ErrorClass:
    assert isinstance(result, Failure), result
    assert result.detail.endswith((".", ")"))
    return result.error


def partial(result: Response | Failure) -> Response:
    assert isinstance(result, Response), result
    return result


async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


def forever(start: bytes, again: bytes, pause: float = 0.0) -> Handler:
    """Sends the start, then the same bytes again and again for as long as someone listens."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(start)
        while True:
            writer.write(again)
            await writer.drain()
            await asyncio.sleep(pause)

    return handler


def resetting(answer: bytes) -> Handler:
    """Answers, then cuts the connection with a RST."""

    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        await asyncio.sleep(0.05)  # lets the bytes arrive: a RST overtakes what is not yet read
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return handler


def test_a_server_that_accepts_and_never_answers() -> None:
    assert failure(attack(silent)) is ErrorClass.FIRST_BYTE_TIMEOUT


def test_a_server_that_never_answers_and_a_total_time_that_ends_first() -> None:
    assert failure(attack(silent, total_timeout=0.3)) is ErrorClass.FIRST_BYTE_TIMEOUT


def test_a_port_whose_queue_is_full_never_connects() -> None:
    async def scenario() -> Response | Failure:
        with socket.socket() as listening:
            listening.bind(("127.0.0.1", 0))
            listening.listen(0)
            address = listening.getsockname()
            fillers = [socket.socket() for _ in range(8)]
            for filler in fillers:
                filler.setblocking(False)
                filler.connect_ex(address)
            settings = FetchSettings(connect_to=f"127.0.0.1:{address[1]}", **(QUICK | {"connect_timeout": 0.3}))  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                result = await fetcher.fetch(Request("http://site.test/"))
            for filler in fillers:
                filler.close()
            return result

    assert failure(run(scenario())) is ErrorClass.CONNECT_TIMEOUT


def test_a_tls_handshake_that_never_answers() -> None:
    assert failure(attack(silent, "https://site.test/", connect_timeout=0.3)) is ErrorClass.CONNECT_TIMEOUT


def test_an_endless_body_is_cut_at_the_cap() -> None:
    result = partial(attack(forever(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 65536)))
    assert (len(result.body), result.truncated) == (1_000_000, "length")


def test_an_endless_chunked_body_is_cut_at_the_cap() -> None:
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    result = partial(attack(forever(start, b"8000\r\n" + b"x" * 0x8000 + b"\r\n")))
    assert (len(result.body), result.truncated) == (1_000_000, "length")


def test_a_body_in_chunks_of_one_byte_is_cut_by_their_number() -> None:
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    result = partial(attack(forever(start, b"1\r\nx\r\n" * 5000), total_timeout=20.0))
    assert result.truncated == "length"
    assert result.body == b"x" * len(result.body)
    assert 90_000 < len(result.body) <= 100_001


def test_a_body_that_drips_is_kept_as_far_as_it_came() -> None:
    result = partial(attack(forever(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", b"x", pause=0.02)))
    assert result.truncated == "time"
    assert 0 < len(result.body) < 1000
    assert result.timings.total < 0.9, "the low speed was seen before the total time was over"


def test_a_body_that_takes_for_ever_at_a_good_speed_ends_with_the_total_time() -> None:
    result = partial(attack(forever(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 100, pause=0.01)))
    assert result.truncated == "time"
    assert len(result.body) > 100


def test_a_body_that_never_begins_after_its_headers() -> None:
    result = attack(forever(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"", pause=0.05))
    assert failure(result) is ErrorClass.TOO_SLOW
    result = attack(forever(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"", pause=0.05), low_speed_bytes=0)
    assert failure(result) is ErrorClass.TOTAL_TIMEOUT


def test_headers_that_drip() -> None:
    result = attack(forever(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", pause=0.05))
    assert failure(result) is ErrorClass.TOO_SLOW


def test_a_status_line_that_drips() -> None:
    result = attack(forever(b"HTTP/1.1 200 ", b"O", pause=0.05))
    assert failure(result) is ErrorClass.FIRST_BYTE_TIMEOUT


@pytest.mark.parametrize(
    "line",
    [b"X-Flood: " + b"y" * 100 + b"\r\n", b"A:\r\n", b"Set-Cookie: a=" + b"b" * 4000 + b"\r\n"],
    ids=["long", "short", "cookies"],
)
def test_endless_headers(line: bytes) -> None:
    assert failure(attack(forever(b"HTTP/1.1 200 OK\r\n", line * 50))) is ErrorClass.HEADER_TOO_LARGE


def test_one_endless_header() -> None:
    assert failure(attack(forever(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 10_000))) is ErrorClass.HEADER_TOO_LARGE


def test_one_endless_status_line() -> None:
    assert failure(attack(forever(b"HTTP/1.1 200 ", b"y" * 10_000))) is ErrorClass.HEADER_TOO_LARGE


def test_a_flood_of_interim_answers() -> None:
    result = attack(forever(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </style>\r\n\r\n" * 50))
    assert failure(result) is ErrorClass.HEADER_TOO_LARGE


@pytest.mark.parametrize("body", [b"", b"x" * 10])
def test_headers_over_our_cap_and_under_libcurls(body: bytes) -> None:
    result = attack(ok(body, *(f"X-{n}: {'y' * 1000}" for n in range(70))))
    assert failure(result) is ErrorClass.HEADER_TOO_LARGE
    assert failure(attack(ok(body, *("X: y" for _ in range(1100))))) is ErrorClass.HEADER_TOO_LARGE
    assert partial(attack(ok(body, *(f"X-{n}: {'y' * 1000}" for n in range(60))))).body == body


@pytest.mark.parametrize(
    "answer",
    [
        b"\x00\x01\x02\x03" * 100,
        b"SSH-2.0-OpenSSH_9.2p1\r\n",
        b"220 mail.example ESMTP\r\n",
        b"<html>no head at all</html>",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 banana OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: banana\r\n\r\nhello",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"HTTP/1.1 200 OK\r\nX: a\x00b\r\n\r\nhello",
    ],
)
def test_what_is_not_http_is_garbage(answer: bytes) -> None:
    assert failure(attack(closing(answer))) is ErrorClass.PROTOCOL_GARBAGE


def test_a_broken_chunk_size_ends_the_body_there() -> None:
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"
    for rest in (b"ZZ\r\nabc\r\n", b"ffffffffffffffffffff\r\n", b"-1\r\n\r\n"):
        result = partial(attack(closing(start + rest)))
        assert (result.body, result.truncated) == (b"abc", "disconnect"), rest


def test_a_body_shorter_than_announced_is_kept_as_a_part() -> None:
    result = partial(attack(closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")))
    assert (result.body, result.truncated) == (b"hello", "disconnect")
    result = partial(attack(closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")))
    assert (result.body, result.truncated) == (b"hello", "disconnect")


def test_an_announced_body_of_which_nothing_comes() -> None:
    result = attack(closing(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"))
    assert failure(result) is ErrorClass.BODY_TRUNCATED


def test_a_body_longer_than_announced_does_not_become_the_next_answer() -> None:
    smuggled = ok(b"hello") + ok(b"smuggled")

    async def scenario() -> list[Response | Failure]:
        async with serving(smuggled) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}", **QUICK)  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                return [await fetcher.fetch(Request(f"http://site.test/{n}")) for n in range(3)]

    assert [partial(result).body for result in run(scenario())] == [b"hello"] * 3


def test_a_reset_before_the_answer() -> None:
    assert failure(attack(resetting(b""))) is ErrorClass.RESET


def test_a_reset_within_the_body() -> None:
    result = partial(attack(resetting(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhello")))
    assert (result.body, result.truncated) == (b"hello", "disconnect")


def test_a_server_that_hangs_up_without_a_word() -> None:
    assert failure(attack(closing(b""))) is ErrorClass.EMPTY_REPLY


def test_half_a_head() -> None:
    result = attack(closing(b"HTTP/1.1 200 OK\r\nContent-Le"))
    assert failure(result) in (ErrorClass.RESET, ErrorClass.EMPTY_REPLY, ErrorClass.PROTOCOL_GARBAGE)


@pytest.mark.parametrize("greeting", [ok(), b"\x16\x03\x01\x00\x04junk", b"\x15\x03\x03\x00\x02\x02\x28"])
def test_a_server_that_does_not_speak_tls(greeting: bytes) -> None:
    async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(greeting)
        await writer.drain()
        await reader.read()

    assert failure(attack(handler, "https://site.test/")) is ErrorClass.TLS_FAILED


def test_a_server_that_hangs_up_in_the_handshake() -> None:
    async def hang_up(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        await reader.read(10)

    assert failure(attack(hang_up, "https://site.test/")) is ErrorClass.TLS_FAILED


def test_tls_to_a_plain_client_is_garbage_or_silence() -> None:
    result = attack(silent, tls="site.test")
    assert failure(result) in (ErrorClass.EMPTY_REPLY, ErrorClass.RESET, ErrorClass.PROTOCOL_GARBAGE)


def test_a_stream_of_http2_that_is_reset() -> None:
    async def scenario() -> Response | Failure:
        tls = tls_for("h2.test", "h2")
        async with serving(http2(b"some", end=False), tls=tls) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}", insecure=True, **QUICK)  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                return await fetcher.fetch(Request("https://h2.test/"))

    result = partial(run(scenario()))
    assert (result.body, result.truncated) == (b"some", "disconnect")


def test_http2_garbage_after_the_handshake() -> None:
    async def garbage(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\xff" * 5000)
        await writer.drain()
        await reader.read()

    async def scenario() -> Response | Failure:
        async with serving(garbage, tls=tls_for("h2.test", "h2")) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}", insecure=True, **QUICK)  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                return await fetcher.fetch(Request("https://h2.test/"))

    # libcurl may hang up at once or wait for frames that never end: either way the fetch is over in time.
    assert failure(run(scenario())) in (ErrorClass.PROTOCOL_GARBAGE, ErrorClass.RESET, ErrorClass.FIRST_BYTE_TIMEOUT)


BOMB = b"\0" * 50_000_000
BOMBS = {
    "gzip": gzip.compress(BOMB, 9),
    "br": brotli.compress(BOMB, quality=1),
    "zstd": zstandard.ZstdCompressor(level=3).compress(BOMB),
    "gzip, gzip": gzip.compress(gzip.compress(BOMB, 9), 9),
}


@pytest.mark.parametrize("coding", BOMBS)
def test_a_bomb_costs_its_cap_and_not_its_size(coding: str) -> None:
    tracemalloc.start()
    try:
        result = partial(attack(ok(BOMBS[coding], f"Content-Encoding: {coding}")))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert result.body == BOMBS[coding]
    assert len(result.content) == 2_000_000
    assert result.decode_problem is not None
    assert "2000000" in result.decode_problem
    assert peak < 12_000_000, "a few times the cap of 2 MB, far from 50 MB"


def test_a_transfer_coding_that_nobody_asked_for_is_refused() -> None:
    packed = BOMBS["gzip"]
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    result = attack(closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + chunked))
    assert failure(result) is ErrorClass.DECODE_FAILED


def test_many_hostile_servers_do_not_hold_up_an_honest_one() -> None:
    async def mixed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if b"Host: good" in head:
            writer.write(ok(b"good"))
            await writer.drain()
        await reader.read()

    async def scenario() -> tuple[float, list[Response | Failure]]:
        async with serving(mixed) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}", **QUICK)  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                bad = [asyncio.create_task(fetcher.fetch(Request(f"http://bad{n}.test/"))) for n in range(200)]
                good = partial(await fetcher.fetch(Request("http://good.test/")))
                assert good.body == b"good"
                return good.timings.total, [await task for task in bad]

    seconds, results = run(scenario())
    assert seconds < 0.3
    assert {failure(result) for result in results} == {ErrorClass.FIRST_BYTE_TIMEOUT}


def test_answers_with_random_damage_end_in_a_response_or_a_failure() -> None:
    random = Random(9110)
    honest = [
        ok(b"hello" * 50, "Content-Type: text/html", "ETag: x"),
        ok(gzip.compress(b"hello" * 500), "Content-Encoding: gzip"),
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n",
        b"HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.0 404 Not Found\r\n\r\ngone",
    ]
    pieces = [b"\r\n", b"\0", b":", b"HTTP/1.1 ", b"\r\n\r\n", b"Content-Length: 9", b"99999999999", b"\xff" * 9, b""]

    def damaged() -> bytes:
        answer = bytearray(random.choice(honest))
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(answer))
            answer[at : at + random.randint(0, 6)] = random.choice(pieces)
        return bytes(answer)

    async def scenario() -> list[Response | Failure]:
        answers = iter([damaged() for _ in range(400)])

        async def handler(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await closing(next(answers))(reader, writer)

        async with serving(handler) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}", **QUICK)  # type: ignore[arg-type]
            async with Fetcher(settings) as fetcher:
                urls = [f"http://h{n}.test/" for n in range(400)]
                results = await asyncio.gather(*(fetcher.fetch(Request(url)) for url in urls))
                assert fetcher._driver.running == {}
                return list(results)

    results = run(scenario())
    kinds = Counter(type(result).__name__ for result in results)
    assert kinds["Response"] > 50
    assert kinds["Failure"] > 50
    for result in results:
        if isinstance(result, Response):
            assert 100 <= result.status <= 999
            assert result.head.startswith(b"HTTP/")
            assert len(result.content) <= QUICK["max_decoded"]
        else:
            assert result.error is not ErrorClass.UNEXPECTED, result
