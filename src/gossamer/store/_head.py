"""HTTP heads as they are stored: what came over the wire, changed only where a reader of WARCs would go wrong.

The body reaches us with its transfer coding undone and, over HTTP/2, without ever having had a text head. A reader that
believed `Transfer-Encoding: chunked`, a `Content-Length` that is not that of the stored body, or an empty line in the middle
of a head would show a broken page. So, as the large public archives do:

- `Transfer-Encoding` becomes `X-Crawler-Transfer-Encoding`, and `Content-Length` tells the stored length; a differing value
  that the server sent moves to `X-Crawler-Content-Length`;
- a status line of HTTP/2 or 3 becomes one of HTTP/1.1 with its standard phrase (the record says `WARC-Protocol: h2`);
- interim answers (1xx) before the last head go, lines of blanks go, and the head ends with exactly one empty line.

Everything else, lawful or not, stays byte for byte. Nothing here raises.
"""

import re
from http import HTTPStatus

__all__ = ["field_of", "fields_of", "request_head", "response_head", "status_of"]

# A line without one visible ASCII character ends the head for some reader: the blanks of Unicode count for those that decode.
_BLANK_LINE = re.compile(rb"\n[^\x21-\x7e\n]*\n")
_VISIBLE = re.compile(rb"[\x21-\x7e]")
_STATUS_LINE = re.compile(rb"HTTP/1\.[01] [1-9]\d\d(?= |\r|\n|$)")
# Bounded where two parts can match the same bytes: a line without a blank would otherwise cost the square of its length.
_ANY_STATUS = re.compile(rb"\s*([^\s/]{1,40})(?:/(\d))?\S{0,40}\s+([1-9]\d\d)(?!\d)[ \t]*([^\r\n]*)")
_LENGTH_OR_CODING = re.compile(rb"(?i)(transfer-encoding|content-length)[ \t]*:[ \t]*([^\r\n]*)")
_PHRASES = {status.value: status.phrase.encode("ascii") for status in HTTPStatus}


def response_head(head: bytes, length: int | None, *, told: bool = False) -> tuple[bytes, str]:
    """The head to store with a body of `length` bytes, and the protocol (`h2`, `h3`) where it is not HTTP/1.

    None stands for a body that was never sent (304): its announced length is left as it is. `told` adds the length where
    the server sent none: a head stored without its body is the only place left that can tell it.
    """
    protocol = ""
    if not _well_formed(head) or not head.startswith(b"HTTP/"):
        head = _one_head(head)
    if _STATUS_LINE.match(head) is None:
        head, protocol = _with_status_line(head)
    lower = head.lower()
    if b"\ntransfer-encoding" in lower:
        return _rewritten(head, length), protocol
    if length is not None:
        start = lower.find(b"\ncontent-length")
        if start < 0:
            return (_rewritten(head, length) if told else head), protocol
        line = _LENGTH_OR_CODING.match(head, start + 1)
        once = lower.find(b"\ncontent-length", start + 1) < 0
        if line is not None and not (once and line[2].strip() == b"%d" % length):
            return _rewritten(head, length), protocol
    return head, protocol


def request_head(head: bytes) -> bytes:
    """The request as text of HTTP/1.1, whichever version it was sent in."""
    if not _well_formed(head):
        head = _one_head(head)
    end = head.find(b"\r\n")
    if b" HTTP/1." in head[:end]:
        return head
    words = head[:end].split()
    if len(words) == 3 and words[2].startswith(b"HTTP/"):
        return b"%s %s HTTP/1.1%s" % (words[0], words[1], head[end:])
    return head


def status_of(head: bytes) -> int:
    """The status code of a head; 0 where it has none."""
    found = _ANY_STATUS.match(head)
    return int(found[3]) if found else 0


def field_of(head: bytes, name: str) -> str:
    """The value of the first field called `name` (any case), decoded as Latin-1 as RFC 9110 section 5.5 suggests; or empty."""
    found = re.search(rb"(?i)\n%s[ \t]*:[ \t]*([^\r\n]*)" % re.escape(name.encode("latin-1")), head)
    return found[1].strip().decode("latin-1") if found else ""


def fields_of(head: bytes) -> dict[str, str]:
    """The first field of each name (in lower case), decoded as `field_of` does: for those who ask for many."""
    fields: dict[str, str] = {}
    for line in head.decode("latin-1").split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.rstrip().lower(), value.strip())
    return fields


def _well_formed(head: bytes) -> bool:
    blank = _BLANK_LINE.search(head)
    return blank is not None and blank.end() == len(head) and head.endswith(b"\r\n\r\n")


def _one_head(head: bytes) -> bytes:
    """The last block of lines that begins like a head, else all lines, without blank ones and with CRLF ends."""
    blocks: list[list[bytes]] = [[]]
    for line in head.split(b"\n"):
        if _VISIBLE.search(line):
            blocks[-1].append(line.rstrip(b"\r"))
        else:
            blocks.append([])
    filled = [block for block in blocks if block]
    heads = [number for number, block in enumerate(filled) if block[0].startswith(b"HTTP/")]
    lines = [line for block in filled[heads[-1] if heads else 0 :] for line in block]
    return b"\r\n".join([*lines, b"", b""]) if lines else b"\r\n"


def _with_status_line(head: bytes) -> tuple[bytes, str]:
    """An HTTP/1 status line in place of another one; an answer without any is taken for the 200 of HTTP/0.9 (RFC 1945 section 6)."""
    end = head.find(b"\r\n")
    found = _ANY_STATUS.match(head[:end])
    if found is None:
        return b"HTTP/1.0 200 OK\r\n" + (head if len(head) > 2 else b"\r\n"), ""
    name, major, code, phrase = found.groups()
    multiplexed = name == b"HTTP" and major in (b"2", b"3")
    version = b"HTTP/1.1" if multiplexed else b"HTTP/1.0"
    line = b"%s %s %s" % (version, code, phrase.strip() or _PHRASES.get(int(code), b"Unknown"))
    return line + head[end:], f"h{major.decode()}" if multiplexed else ""


def _rewritten(head: bytes, length: int | None) -> bytes:
    """Line by line: codings renamed, the length told once and truly."""
    lines = [line.rstrip(b"\r") for line in head[:-4].split(b"\n")]
    kept = [lines[0]]
    for line in lines[1:]:
        found = _LENGTH_OR_CODING.match(line)
        if found is None:
            kept.append(line)
        elif found[1][:1] in b"tT":
            kept.append(b"X-Crawler-" + line)
        elif length is None:
            kept.append(line)
        elif found[2].strip() != b"%d" % length:
            kept.append(b"X-Crawler-" + line)
    if length is not None:
        kept.append(b"Content-Length: %d" % length)
    return b"\r\n".join([*kept, b"", b""])
