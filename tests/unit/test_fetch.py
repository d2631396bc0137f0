"""The Fetcher on real sockets: what it sends, what it hands back, what it keeps open."""

import asyncio
import gzip
from pathlib import Path

import pytest

from gossamer.fetch import Failure, Fetcher, FetchSettings, Request, Response
from gossamer.outcome import ErrorClass
from tests.loopback import answering, certificate, closing, http2, ok, run, serving, tls_for


def to(port: int, **more: object) -> FetchSettings:
    """Settings under which every connection goes to that port of loopback."""
    return FetchSettings(connect_to=f"127.0.0.1:{port}", **more)  # type: ignore[arg-type]


async def fetch(settings: FetchSettings, url: str = "http://site.test/", **more: object) -> Response | Failure:
    async with Fetcher(settings) as fetcher:
        return await fetcher.fetch(Request(url, **more))  # type: ignore[arg-type]


async def fetch_response(settings: FetchSettings, url: str = "http://site.test/", **more: object) -> Response:
    result = await fetch(settings, url, **more)
    assert isinstance(result, Response), result
    return result


def test_a_page_comes_back_with_everything_that_was_sent() -> None:
    answer = b"HTTP/1.1 200 All Fine\r\nX-One: 1\r\ncontent-LENGTH: 5\r\nX-One:  two \r\n\r\nhello"

    async def scenario() -> Response:
        async with serving(answer) as server:
            return await fetch_response(to(server.port))

    response = run(scenario())
    assert (response.status, response.reason, response.version) == (200, "All Fine", "HTTP/1.1")
    assert response.headers == (("X-One", "1"), ("content-LENGTH", "5"), ("X-One", "two"))
    assert response.header("x-one") == "1"
    assert response.header_all("x-one") == ["1", "two"]
    assert response.header("etag") is None
    assert response.head + response.body == answer
    assert response.content is response.body
    assert (response.truncated, response.decode_problem, response.tls_note) == (None, None, None)
    assert response.address == "127.0.0.1"
    assert 0 < response.timings.first_byte <= response.timings.total < 5


@pytest.mark.parametrize(
    "url",
    [
        "http://site.test/",
        "http://site.test:8080/a/../b/./c?q=1&r=%20%zz",
        'http://site.test/"<>^`{|}[]\\?\'"<>',
        "http://site.test?query",
        "http://Site.TEST:80/x#fragment",
        "http://site.test./dot",
        "http://8.8.8.8/literal",
        "http://[2606:4700::1111]:8080/six",
    ],
)
def test_the_recorded_request_is_the_request_that_was_sent(url: str) -> None:
    async def scenario() -> tuple[Response, bytes]:
        async with serving(ok()) as server:
            headers = (("If-None-Match", '"é"'), ("accept", "text/plain"))
            settings = to(server.port, accept_language="de")
            return await fetch_response(settings, url, headers=headers), server.heads[0]

    response, sent = run(scenario())
    assert response.request_head == sent
    assert b'\r\nIf-None-Match: "\xe9"\r\n' in sent
    assert sent.lower().count(b"\r\naccept:") == 1
    assert b"\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n" in sent
    assert b"\r\nAccept-Language: de\r\n" in sent


def test_a_header_that_would_break_out_of_its_line_is_not_sent() -> None:
    async def scenario() -> bytes:
        async with serving(ok()) as server:
            headers = (("If-None-Match", "x\r\nEvil: 1"), ("X-Empty", ""), ("X-Good", "1"))
            await fetch_response(to(server.port), headers=headers)
            return server.heads[0]

    head = run(scenario())
    assert b"Evil" not in head
    assert b"X-Empty" not in head
    assert b"X-Good: 1" in head


def test_headers_of_one_request_do_not_leak_into_the_next() -> None:
    async def scenario() -> list[bytes]:
        async with serving(ok()) as server, Fetcher(to(server.port)) as fetcher:
            await fetcher.fetch(Request("http://site.test/1", headers=(("If-None-Match", '"1"'),)))
            await fetcher.fetch(Request("http://site.test/2"))
            return server.heads

    first, second = run(scenario())
    assert b"If-None-Match" in first
    assert b"If-None-Match" not in second


def test_interim_answers_and_trailers_are_no_part_of_the_head() -> None:
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    final = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Real: 1\r\n\r\n"
    answer = interim + final + b"3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: late\r\n\r\n"

    async def scenario() -> Response:
        async with serving(answer) as server:
            return await fetch_response(to(server.port))

    response = run(scenario())
    assert response.head == final
    assert response.body == b"abcde"
    assert response.headers == (("Transfer-Encoding", "chunked"), ("X-Real", "1"))


def test_bare_line_feeds_and_folded_headers_are_read() -> None:
    async def scenario() -> Response:
        answer = b"HTTP/1.0 404 Not Found\nX-Long: one\n two\nServer:\tx\n\nbody"
        async with serving(closing(answer)) as server:
            return await fetch_response(to(server.port))

    response = run(scenario())
    assert (response.status, response.version, response.body) == (404, "HTTP/1.0", b"body")
    assert response.headers == (("X-Long", "one two"), ("Server", "x"))


@pytest.mark.parametrize("status", [301, 302, 304, 401, 429, 503])
def test_a_status_is_handed_back_and_never_acted_upon(status: int) -> None:
    answer = f"HTTP/1.1 {status} X\r\nLocation: /next\r\nWWW-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n".encode()

    async def scenario() -> tuple[Response, int]:
        async with serving(answer) as server:
            return await fetch_response(to(server.port)), len(server.heads)

    response, requests = run(scenario())
    assert (response.status, response.header("location"), requests) == (status, "/next", 1)


def test_a_compressed_body_is_kept_as_sent_and_decoded_beside() -> None:
    packed = gzip.compress(b"hello" * 1000)

    async def scenario() -> Response:
        async with serving(ok(packed, "Content-Encoding: gzip")) as server:
            return await fetch_response(to(server.port))

    response = run(scenario())
    assert response.body == packed
    assert response.content == b"hello" * 1000


def test_a_connection_is_kept_for_its_host_and_only_for_it() -> None:
    async def scenario() -> tuple[int, int]:
        async with serving(ok()) as server, Fetcher(to(server.port)) as fetcher:
            for n in range(5):
                await fetcher.fetch(Request(f"http://one.test/{n}"))
            one = server.connections
            await fetcher.fetch(Request("http://two.test/"))
            return one, server.connections

    assert run(scenario()) == (1, 2)


def test_a_connection_that_the_server_closed_meanwhile_is_replaced_in_silence() -> None:
    async def scenario() -> list[int]:
        async with serving(closing(ok())) as server, Fetcher(to(server.port)) as fetcher:
            statuses = []
            for n in range(3):
                response = await fetcher.fetch(Request(f"http://site.test/{n}"))
                assert isinstance(response, Response), response
                statuses.append(response.status)
            return statuses

    assert run(scenario()) == [200, 200, 200]


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_kept_connections_are_bounded_and_closing_leaves_nothing_open() -> None:
    async def scenario() -> None:
        async with serving(ok()) as server, Fetcher(to(server.port, connections_kept=4)) as fetcher:
            for n in range(30):
                await fetcher.fetch(Request(f"http://h{n}.test/"))
            assert server.connections == 30
            await fetcher.fetch(Request("http://h29.test/again"))
            assert server.connections == 30, "the youngest is still there"
            await fetcher.fetch(Request("http://h0.test/again"))
            assert server.connections == 31, "the oldest is not"

    before = open_files()
    run(scenario())
    assert open_files() <= before


def test_a_connection_that_lay_idle_for_too_long_is_not_used_again() -> None:
    async def scenario() -> int:
        async with serving(ok()) as server, Fetcher(to(server.port, connection_idle=1.0)) as fetcher:
            await fetcher.fetch(Request("http://site.test/"))
            await asyncio.sleep(2.1)
            await fetcher.fetch(Request("http://other.test/"))
            await server.ended.wait()  # closed although nobody asked for that host again
            return server.connections

    assert run(scenario()) == 2


def test_many_fetches_at_once_each_get_their_own_answer() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            writer.write(ok(head.split(b" ", 2)[1] * 5000))
            await writer.drain()

    async def scenario() -> list[Response | Failure]:
        async with serving(echo) as server, Fetcher(to(server.port)) as fetcher:
            urls = [f"http://h{n % 20}.test/{n:03}" for n in range(200)]
            return list(await asyncio.gather(*(fetcher.fetch(Request(url)) for url in urls)))

    for number, response in enumerate(run(scenario())):
        assert isinstance(response, Response), response
        assert response.body == f"/{number:03}".encode() * 5000


def test_a_body_over_the_cap_is_kept_up_to_it() -> None:
    async def scenario(size: int, max_body: int | None = None) -> Response:
        async with serving(ok(b"x" * size)) as server:
            return await fetch_response(to(server.port, max_body=100_000), max_body=max_body)

    exact = run(scenario(100_000))
    assert (len(exact.body), exact.truncated) == (100_000, None)
    over = run(scenario(100_001))
    assert (over.body, over.truncated) == (b"x" * 100_000, "length")
    own = run(scenario(500, max_body=10))
    assert (own.body, own.truncated) == (b"x" * 10, "length")
    none = run(scenario(500, max_body=0))
    assert (none.body, none.truncated, none.status) == (b"", "length", 200)


def test_after_a_cut_body_the_connection_is_dropped_and_the_next_fetch_is_whole() -> None:
    async def scenario() -> tuple[Response | Failure, int]:
        async with serving(ok(b"x" * 300_000)) as server, Fetcher(to(server.port)) as fetcher:
            await fetcher.fetch(Request("http://site.test/", max_body=1000))
            second = await fetcher.fetch(Request("http://site.test/"))
            return second, server.connections

    second, connections = run(scenario())
    assert isinstance(second, Response)
    assert (len(second.body), second.truncated, connections) == (300_000, None, 2)


def test_a_cancelled_fetch_ends_at_once_and_leaves_the_fetcher_usable() -> None:
    async def scenario() -> Response | Failure:
        asked = asyncio.Event()

        async def slow_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            if b"/slow" in await reader.readuntil(b"\r\n\r\n"):
                asked.set()
                await reader.read()  # until the client hangs up
                return
            writer.write(ok())
            await writer.drain()
            await reader.read()

        async with serving(slow_first) as server, Fetcher(to(server.port)) as fetcher:
            task = asyncio.create_task(fetcher.fetch(Request("http://site.test/slow")))
            await asked.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.ended.wait()  # the server saw the connection go
            return await fetcher.fetch(Request("http://site.test/"))

    result = run(scenario())
    assert isinstance(result, Response)


def test_closing_ends_running_fetches_with_a_failure() -> None:
    async def scenario() -> tuple[Response | Failure, Response | Failure]:
        asked = asyncio.Event()

        async def silent(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            asked.set()
            await reader.read()

        async with serving(silent) as server:
            fetcher = Fetcher(to(server.port))
            task = asyncio.create_task(fetcher.fetch(Request("http://site.test/")))
            await asked.wait()
            await fetcher.close()
            await fetcher.close()
            return await task, await fetcher.fetch(Request("http://site.test/"))

    running, afterwards = run(scenario())
    assert isinstance(running, Failure)
    assert "closed" in running.detail
    assert isinstance(afterwards, Failure)
    assert afterwards.detail == "The fetcher is closed."


def test_a_refused_connection_is_told_from_other_failures() -> None:
    async def scenario() -> Response | Failure:
        async with serving(ok()) as server:
            port = server.port
        return await fetch(to(port))

    failure = run(scenario())
    assert isinstance(failure, Failure)
    assert failure.error is ErrorClass.CONNECT_REFUSED


def test_a_verified_certificate_is_accepted_and_the_name_is_sent() -> None:
    async def scenario() -> Response:
        async with serving(ok(), tls=tls_for("secure.test")) as server:
            settings = to(server.port, ca_file=str(certificate("secure.test")))
            return await fetch_response(settings, "https://secure.test/")

    response = run(scenario())
    assert (response.status, response.tls_note) == (200, None)
    assert response.timings.secured > 0


@pytest.mark.parametrize("name", ["secure.test", "other.test"])
def test_an_invalid_certificate_fails_unless_the_operator_goes_on_regardless(name: str) -> None:
    async def scenario(insecure: bool) -> Response | Failure:
        async with serving(ok(), tls=tls_for("secure.test")) as server:
            return await fetch(to(server.port, insecure=insecure), f"https://{name}/")

    failure = run(scenario(insecure=False))
    assert isinstance(failure, Failure)
    assert failure.error is ErrorClass.TLS_INVALID
    response = run(scenario(insecure=True))
    assert isinstance(response, Response)
    assert response.tls_note is not None


def test_insecure_notes_the_certificate_on_every_answer_of_the_connection() -> None:
    async def scenario() -> list[str | None]:
        async with (
            serving(ok(), tls=tls_for("secure.test")) as server,
            Fetcher(to(server.port, insecure=True)) as fetcher,
        ):
            notes = []
            for n in range(3):
                response = await fetcher.fetch(Request(f"https://secure.test/{n}"))
                assert isinstance(response, Response)
                notes.append(response.tls_note)
            assert server.connections == 1
            return notes

    notes = run(scenario())
    assert notes[0] is not None
    assert len(set(notes)) == 1


def test_a_certificate_for_another_name_is_refused_even_when_its_issuer_is_trusted() -> None:
    async def scenario() -> Response | Failure:
        async with serving(ok(), tls=tls_for("secure.test")) as server:
            settings = to(server.port, ca_file=str(certificate("secure.test")))
            return await fetch(settings, "https://other.test/")

    failure = run(scenario())
    assert isinstance(failure, Failure)
    assert failure.error is ErrorClass.TLS_INVALID


def test_http2_is_spoken_where_it_is_offered() -> None:
    async def scenario(offered: bool) -> tuple[list[Response], int]:
        async with serving(http2(b"two"), tls=tls_for("h2.test", "h2", "http/1.1")) as server:
            settings = to(server.port, ca_file=str(certificate("h2.test")), http2=offered)
            async with Fetcher(settings) as fetcher:
                found = []
                for n in range(2):
                    response = await fetcher.fetch(Request(f"https://h2.test/{n}"))
                    assert isinstance(response, Response), response
                    found.append(response)
                return found, server.connections

    responses, connections = run(scenario(offered=True))
    for response in responses:
        assert (response.version, response.status, response.body) == ("HTTP/2", 200, b"two")
        assert response.headers == (("content-type", "text/html"),)
        assert response.request_head.endswith(b"\r\n\r\n")
    assert connections == 1


def test_http1_is_spoken_where_http2_is_switched_off() -> None:
    async def scenario() -> Response:
        async with serving(ok(), tls=tls_for("h1.test", "h2", "http/1.1")) as server:
            settings = to(server.port, ca_file=str(certificate("h1.test")), http2=False)
            return await fetch_response(settings, "https://h1.test/")

    assert run(scenario()).version == "HTTP/1.1"


def test_the_environments_proxy_is_not_used_but_the_setting_is(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> tuple[list[bytes], Response]:
        async with serving(ok()) as server, serving(ok(b"by proxy")) as proxy:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
            monkeypatch.setenv("ALL_PROXY", f"http://127.0.0.1:{proxy.port}")
            await fetch_response(to(server.port))
            unused = list(proxy.heads)
            settings = FetchSettings(proxy=f"http://127.0.0.1:{proxy.port}")
            response = await fetch_response(settings, "http://site.test/page")
            assert proxy.heads[0].startswith(b"GET http://site.test/page HTTP/1.1\r\n")
            return unused, response

    unused, response = run(scenario())
    assert unused == []
    assert response.body == b"by proxy"


def test_a_proxy_that_refuses_is_the_proxys_failure() -> None:
    async def scenario() -> list[Response | Failure]:
        refusing = answering(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        async with serving(refusing) as proxy:
            settings = FetchSettings(proxy=f"http://127.0.0.1:{proxy.port}")
            refused = await fetch(settings, "https://site.test/")
        return [refused, await fetch(settings, "http://site.test/")]

    for failure in run(scenario()):
        assert isinstance(failure, Failure)
        assert failure.error is ErrorClass.PROXY_FAILED


def test_the_short_form_of_a_response_does_not_show_its_body() -> None:
    async def scenario() -> Response:
        async with serving(ok(b"secret" * 10)) as server:
            return await fetch_response(to(server.port))

    assert repr(run(scenario())) == "Response('http://site.test/', 200, 60 bytes)"
