"""Answers as bytes: status line, headers and the framing of the body (RFC 9112)."""

from email.utils import formatdate
from http import HTTPStatus

import msgspec

from gossamer.sim.web.model import Answer

__all__ = ["Wire", "framed", "http_date"]

REASONS = {status.value: status.phrase for status in HTTPStatus}
BODYLESS = frozenset({204, 304})


class Wire(msgspec.Struct, frozen=True, gc=False):
    """An answer ready to be written; the Date line goes between `first` and `head`."""

    status: int
    first: bytes
    head: bytes
    body: bytes
    closes: bool  # the end of the body is the end of the connection


def http_date(when: float) -> str:
    return formatdate(when, usegmt=True)


def framed(answer: Answer) -> Wire:
    """The bytes of an answer, sent once and whole; `repeat` and `stop_after` are the server's to do."""
    delivery, body = answer.delivery, answer.body
    if delivery.raw is not None:
        return Wire(answer.status, b"", delivery.raw, body, True)
    lines = [f"{name}: {value}\r\n" for name, value in answer.headers]
    closes = False
    if answer.status in BODYLESS:
        body = b""
    elif delivery.chunk and delivery.length is None:
        lines.append("Transfer-Encoding: chunked\r\n")
        if delivery.repeat == 1:
            body = b"".join(map(chunk, pieces(body, delivery.chunk))) + b"0\r\n\r\n"
    elif delivery.length == -1:
        closes = True
    else:
        claimed = len(body) * delivery.repeat if delivery.length is None else delivery.length
        lines.append(f"Content-Length: {claimed}\r\n")
        closes = claimed != len(body) * delivery.repeat
    first = f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Unnamed')}\r\n".encode()
    # Header values are sent as UTF-8 where they hold more than ASCII: servers do, and clients must cope.
    return Wire(answer.status, first, "".join(lines).encode(), body, closes)


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)


def pieces(body: bytes, size: int) -> list[bytes]:
    return [body[at : at + size] for at in range(0, len(body), size)]
