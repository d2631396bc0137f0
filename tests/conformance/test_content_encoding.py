"""The Web Platform Tests' compressed bodies, served over loopback with their own headers: honest ones and bombs."""

import tracemalloc

import pytest

from gossamer.fetch import Fetcher, FetchSettings, Request, Response
from tests.conformance.suites import suite
from tests.loopback import closing, run, serving

SUITE = suite("wpt-content-encoding")
BODIES = sorted(path for path in SUITE.glob("*/resources/*") if path.suffix != ".headers")
BOMBS = [path for path in BODIES if path.name.startswith("big.text")]
EXPANDED = 27_000_000


def served(path: str, **settings: int) -> Response:
    body = (SUITE / path).read_bytes()
    headers = (SUITE / f"{path}.headers").read_bytes().strip().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n%b\r\n\r\n%b" % (len(body), headers, body)

    async def scenario() -> Response:
        async with serving(closing(answer)) as server:
            limits = FetchSettings(connect_to=f"127.0.0.1:{server.port}", **settings)  # type: ignore[arg-type]
            async with Fetcher(limits) as fetcher:
                response = await fetcher.fetch(Request("http://site.test/"))
                assert isinstance(response, Response), response
                assert response.body == body
                return response

    return run(scenario())


def test_the_suite_is_whole() -> None:
    assert len(BODIES) == 13
    assert len(BOMBS) == 3


@pytest.mark.parametrize("path", [str(p.relative_to(SUITE)) for p in BODIES if not p.name.startswith("big")])
def test_a_small_body_is_decoded(path: str) -> None:
    response = served(path)
    assert response.decode_problem is None
    assert b"foo" in response.content or b"hello" in response.content.lower()


@pytest.mark.parametrize("path", [str(p.relative_to(SUITE)) for p in BOMBS])
def test_a_bomb_is_decoded_where_there_is_room_for_it(path: str) -> None:
    response = served(path, max_decoded=EXPANDED)
    assert (len(response.content), response.decode_problem) == (EXPANDED, None)


@pytest.mark.parametrize("path", [str(p.relative_to(SUITE)) for p in BOMBS])
def test_a_bomb_is_cut_at_the_cap_and_memory_stays_flat(path: str) -> None:
    tracemalloc.start()
    try:
        response = served(path, max_decoded=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(response.content) == 1_000_000
    assert response.decode_problem is not None
    assert peak < 6_000_000


def test_a_window_larger_than_a_browser_allows_is_rejected() -> None:
    response = served("zstd/resources/big.window.zst")
    assert response.content == b""
    assert response.decode_problem is not None
    assert "memory" in response.decode_problem
