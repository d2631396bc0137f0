"""The Web Platform Tests' Content-Length headers, each in front of 42 bytes and a closed connection.

The suite says how many bytes a browser takes, or that it takes none. We are the stricter where RFC 9112 section 6.3 is: a
length that is no number makes the answer invalid there, while browsers ignore the header. And two numbers that are equal
are equal to us, however many zeros stand before them.
"""

import pytest

from gossamer.fetch import Failure, Fetcher, FetchSettings, Request, Response
from gossamer.outcome import ErrorClass
from tests.conformance.suites import load_json
from tests.loopback import closing, run, serving

CASES = {case["input"]: case["output"] for case in load_json("wpt-fetch/content-length/resources/content-lengths.json")}

NO_NUMBER = None
DISAGREEMENTS: dict[str, int | None] = {
    "Content-Length: aaaah\r\nContent-Length: aaaah": NO_NUMBER,
    "Content-Length: aaaah, aaaah": NO_NUMBER,
    "Content-Length: aaaah": NO_NUMBER,
    "Content-Length: 42s": NO_NUMBER,
    "Content-Length: 30s": NO_NUMBER,
    "Content-Length: -1": NO_NUMBER,
    "Content-Length: 0x20": NO_NUMBER,
    'Content-Length: "30"': NO_NUMBER,
    "Content-Length: ": NO_NUMBER,
    "Content-Length: 030\r\nContent-Length: 30": 30,
    "Content-Length: 030, 30": 30,
}


def taken(headers: str) -> int | None:
    answer = b"HTTP/1.1 200 OK\r\n%b\r\n\r\n%b" % (headers.encode("latin-1"), b"x" * 42)

    async def scenario() -> Response | Failure:
        async with serving(closing(answer)) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}")
            async with Fetcher(settings) as fetcher:
                return await fetcher.fetch(Request("http://site.test/"))

    result = run(scenario())
    if isinstance(result, Response):
        assert result.truncated is None
        return len(result.body)
    assert result.error is ErrorClass.PROTOCOL_GARBAGE
    return None


def test_the_disagreements_are_cases_of_the_suite_and_are_few() -> None:
    assert len(CASES) == 35
    assert DISAGREEMENTS.keys() <= CASES.keys()
    assert all(CASES[case] != ours for case, ours in DISAGREEMENTS.items())


@pytest.mark.parametrize("headers", CASES)
def test_the_length_is_read_as_the_suite_says_or_as_we_argue(headers: str) -> None:
    assert taken(headers) == DISAGREEMENTS.get(headers, CASES[headers])
