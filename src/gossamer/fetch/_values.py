"""What goes into a fetch and what comes out of it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from gossamer.outcome import ErrorClass

__all__ = ["Failure", "Request", "Response", "Timings", "Truncation"]

Truncation = Literal["length", "time", "disconnect"]
"""Why a body is not whole, in the words of the WARC-Truncated header."""


class Request(msgspec.Struct, frozen=True):
    """One GET. `url` is in canonical form (what `gossamer.url` returns); anything else is refused, not interpreted."""

    url: str
    headers: Sequence[tuple[str, str]] = ()
    """Further headers, such as If-None-Match; one that the fetcher sends by itself (Accept ...) is replaced."""
    max_body: int | None = None
    """A cap of its own for this body, in bytes as sent; the setting applies when None."""


class Timings(msgspec.Struct, frozen=True):
    """Seconds since the transfer began, as libcurl saw them; a step that did not happen is 0."""

    connected: float = 0.0
    secured: float = 0.0
    first_byte: float = 0.0
    total: float = 0.0
    dns: float = 0.0
    """Seconds the name took *before* the transfer began; 0 when the answer was known."""


NO_TIMINGS = Timings()


class Response(msgspec.Struct, frozen=True, weakref=True):
    """An answer, whole or (see `truncated`) as much of it as came."""

    url: str
    status: int
    reason: str
    version: str
    """HTTP/1.0, HTTP/1.1 or HTTP/2."""
    headers: tuple[tuple[str, str], ...]
    """In the order and case received (HTTP/2 sends names in lower case)."""
    head: bytes
    """Status line and headers exactly as received, with the blank line that ends them; interim (1xx) heads are left out."""
    request_head: bytes
    """What was asked, in HTTP/1.1 form."""
    body: bytes
    """As sent: without transfer coding, with content coding."""
    content: bytes
    """Decoded; the same object as `body` when there was nothing to decode."""
    truncated: Truncation | None
    address: str
    """Where the bytes came from."""
    timings: Timings
    decode_problem: str | None = None
    """What was wrong with the content coding; `content` is what could be had."""
    tls_note: str | None = None
    """What was wrong with the certificate, where the operator asked to go on regardless."""

    def __repr__(self) -> str:
        # The generated one would print a body of megabytes into every log line that shows a task.
        cut = f", truncated={self.truncated!r}" if self.truncated else ""
        return f"Response({self.url!r}, {self.status}, {len(self.body)} bytes{cut})"

    def header(self, name: str) -> str | None:
        """The first header of that name (given in lower case), or None."""
        for key, value in self.headers:
            if key.lower() == name:
                return value
        return None

    def header_all(self, name: str) -> list[str]:
        """Every header of that name (given in lower case), in order."""
        return [value for key, value in self.headers if key.lower() == name]


class Failure(msgspec.Struct, frozen=True):
    """No usable answer, and why."""

    url: str
    error: ErrorClass
    detail: str
    """One sentence for people."""
    address: str = ""
    timings: Timings = NO_TIMINGS
