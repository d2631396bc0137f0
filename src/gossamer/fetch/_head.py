"""The head of an answer: which of the lines received are it, and what they say.

libcurl hands over every header line as it came: interim answers (1xx), a proxy's answer to CONNECT, the head itself, and
trailers after the body. The head is the last block that begins with a status line.
"""

import msgspec

__all__ = ["Head", "final_head", "read_head"]

_BLANK = (b"\r\n", b"\n")


class Head(msgspec.Struct, frozen=True):
    """What a status line and its headers say."""

    version: str
    status: int
    """Three digits; 0 when there are none."""
    reason: str
    headers: tuple[tuple[str, str], ...]


def final_head(lines: list[bytes]) -> bytes:
    """The bytes of the final head, with its blank line; empty when no whole head has come."""
    if lines and lines[-1] == b"\r\n" and lines.count(b"\r\n") == 1:
        head = b"".join(lines)
        return b"" if _is_interim(lines[0]) or not head.startswith(b"HTTP/") else head
    end = None
    for index in range(len(lines) - 1, -1, -1):
        line = lines[index]
        if line in _BLANK:
            end = index + 1
        elif line.startswith(b"HTTP/") and (index == 0 or lines[index - 1] in _BLANK):
            if end is None or _is_interim(line):
                return b""
            return b"".join(lines[index:end])
    return b""


def _is_interim(status_line: bytes) -> bool:
    """Whether more is to come: any 1xx but 101, after which nothing but the switched protocol follows."""
    code = status_line.split(None, 2)[1:2]
    return bool(code) and code[0][:1] == b"1" and code[0] != b"101"


def read_head(head: bytes) -> Head:
    """Status line and headers, in order and case; a line that is no header is left out, a folded one is joined."""
    # RFC 9110 section 5.5: octets that are not ASCII are opaque; Latin-1 keeps each of them.
    lines = head.decode("latin-1").split("\n")
    version, _, rest = lines[0].partition(" ")
    rest = rest.strip()
    code, reason = rest[:3], rest[3:].strip()
    headers: list[tuple[str, str]] = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if name[:1] in (" ", "\t"):
            if headers and line.strip():
                last, before = headers[-1]
                headers[-1] = (last, f"{before} {line.strip()}".strip())
        elif colon:
            headers.append((name, value.strip()))
    return Head(version, int(code) if len(code) == 3 and code.isdecimal() else 0, reason, tuple(headers))
