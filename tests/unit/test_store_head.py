"""Heads as they are stored: what a reader would trip over is rewritten, everything else stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.store._head import field_of, request_head, response_head, status_of


@pytest.mark.parametrize(
    ("head", "stored"),
    [
        (b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"),
        (b"HTTP/1.0 404\r\nodd line\r\n\r\n", b"HTTP/1.0 404\r\nodd line\r\n\r\n"),
    ],
)
def test_a_sound_head_stays_byte_for_byte(head: bytes, stored: bytes) -> None:
    assert response_head(head, 10) == (stored, "")


def test_chunked_transfer_is_renamed_because_the_body_is_stored_without_its_chunks() -> None:
    head, _ = response_head(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nServer: x\r\n\r\n", 10)
    assert head == (
        b"HTTP/1.1 200 OK\r\nX-Crawler-Transfer-Encoding: chunked\r\nServer: x\r\nContent-Length: 10\r\n\r\n"
    )


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        (b"Content-Length: 99", b"X-Crawler-Content-Length: 99\r\nContent-Length: 10"),
        (b"content-length: nonsense", b"X-Crawler-content-length: nonsense\r\nContent-Length: 10"),
        (b"Content-Length: 10\r\nContent-Length: 10", b"Content-Length: 10"),
        (b"Content-Length: 10\r\nContent-Length: 7", b"X-Crawler-Content-Length: 7\r\nContent-Length: 10"),
    ],
)
def test_a_length_that_is_not_the_stored_one_moves_aside(sent: bytes, stored: bytes) -> None:
    head, _ = response_head(b"HTTP/1.1 200 OK\r\n" + sent + b"\r\n\r\n", 10)
    assert head == b"HTTP/1.1 200 OK\r\n" + stored + b"\r\n\r\n"


def test_the_length_of_a_304_is_that_of_the_page_and_stays() -> None:
    head = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n"
    assert response_head(head, None) == (head, "")


def test_a_head_alone_is_told_its_length() -> None:
    assert response_head(b"HTTP/1.1 200 OK\r\n\r\n", 7, told=True)[0] == b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"


@pytest.mark.parametrize(
    ("line", "stored", "protocol"),
    [
        (b"HTTP/2 200 ", b"HTTP/1.1 200 OK", "h2"),
        (b"HTTP/2 404", b"HTTP/1.1 404 Not Found", "h2"),
        (b"HTTP/3 299 ", b"HTTP/1.1 299 Unknown", "h3"),
        (b"HTTP/2.0 200 OK", b"HTTP/1.1 200 OK", "h2"),
        (b"ICY 200 OK", b"HTTP/1.0 200 OK", ""),
        (b"HTTP/1.1  500   Oh", b"HTTP/1.0 500 Oh", ""),
    ],
)
def test_another_status_line_becomes_one_that_readers_know(line: bytes, stored: bytes, protocol: str) -> None:
    assert response_head(line + b"\r\nA: b\r\n\r\n", 3) == (stored + b"\r\nA: b\r\n\r\n", protocol)


def test_an_answer_without_a_status_line_is_one_of_http_0_9() -> None:
    assert response_head(b"", 3)[0] == b"HTTP/1.0 200 OK\r\n\r\n"
    assert response_head(b"<html>\r\n\r\n", 3)[0] == b"HTTP/1.0 200 OK\r\n<html>\r\n\r\n"


def test_only_the_last_head_of_several_is_kept() -> None:
    heads = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nServer: x\r\n\r\n"
    assert response_head(heads, 3)[0] == b"HTTP/1.1 200 OK\r\nServer: x\r\n\r\n"


@pytest.mark.parametrize("blank", [b"\r\n", b"\n", b" \r\n", b"\t\n", b"\x85\r\n", "\u3000\r\n".encode()])
def test_no_blank_line_ends_a_head_early(blank: bytes) -> None:
    head, _ = response_head(b"HTTP/1.1 200 OK\r\nA: b\r\n" + blank + b"C: d\r\n\r\n", 3)
    assert head == b"HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n"


def test_a_request_is_written_as_http_1() -> None:
    assert request_head(b"GET /a HTTP/2\r\nHost: x\r\n\r\n") == b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    assert request_head(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n") == b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
    assert request_head(b"") == b"\r\n"


LINES = st.sampled_from(
    [b"HTTP/1.1 200 OK", b"HTTP/2 200", b"Transfer-Encoding: chunked", b"Content-Length: 5", b"content-length : 9", b"A: b",
     b" folded", b"", b" ", b"\xa0", b":", b"HTTP/1.1 103 x", b"\x00"]
)  # fmt: skip
HEADS = st.lists(st.tuples(LINES, st.sampled_from([b"\r\n", b"\n", b"\r", b"\r\r\n"])), max_size=8).map(
    lambda parts: b"".join(line + end for line, end in parts)
)


@given(head=HEADS | st.binary(max_size=80), length=st.none() | st.integers(0, 10))
def test_any_head_becomes_one_that_ends_once_and_is_then_left_alone(head: bytes, length: int | None) -> None:
    stored, _ = response_head(head, length)
    assert stored.endswith(b"\r\n\r\n")
    assert b"\n\r\n" not in stored[:-2]
    assert b"\n\n" not in stored
    assert stored.startswith(b"HTTP/1.")
    assert 100 <= status_of(stored) <= 999
    assert not field_of(stored, "transfer-encoding")
    assert response_head(stored, length) == (stored, "")


def test_fields_are_found_by_any_case_and_only_at_line_starts() -> None:
    head = b"HTTP/1.1 200 OK\r\nX-ETag: no\r\neTaG :  yes \r\nETag: second\r\n\r\n"
    assert field_of(head, "etag") == "yes"
    assert field_of(head, "absent") == ""
    assert status_of(b"nothing") == 0
