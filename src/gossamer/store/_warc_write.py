"""One exchange as WARC 1.1 records, one gzip member each: pure functions from values to bytes.

    metadata    what the crawler knows (`Notes`), as application/warc-fields
    request     as sent
    response    head and body;  or in its place
    revisit     the head alone, the payload being stored elsewhere

A body that is not to be stored leaves `request` and `metadata` alone; the latter is the answer then and its field
`responseHead` (a JSON string) holds the head. So it does for a 304, whose `revisit` stays empty: replay tools show the
original for an empty one, and an empty page for one with the status 304.

The answer comes last, so whoever finds it whole has all of the exchange: a crash between two of them leaves a request without
an answer, never an answer without its story. Its `Gossamer-Preceded-By` says how many bytes the other two take just before it,
so that one offset finds all three.

Record ids are UUIDs of version 8 (RFC 9562 section 5.8): 74 random bits that all records of a file share, and a count. A server
cannot guess them, so a WARC file served as a page can never pass for records of ours when a damaged file is searched for its
next whole record; and they cost neither entropy nor compressed bytes a record.

The payload digest is the caller's. There is no block digest: it would hash every body twice, and the CRC-32 of the gzip member
already guards the block.
"""

import re
import secrets
import time
from collections.abc import Mapping
from urllib.parse import quote_from_bytes

import msgspec
from isal import igzip_lib

from gossamer.store._head import request_head, response_head
from gossamer.store._values import Capture, Notes

__all__ = ["IDS", "PRECEDED_BY", "PROFILE", "Exchange", "date", "exchange", "new_prefix", "target_uri", "warcinfo"]

PROFILE = "http://netpreserve.org/warc/1.1/revisit/"
PRECEDED_BY = "Gossamer-Preceded-By"
IDS = 3
"""Record ids that an exchange uses up."""

_HEAD = (
    b"WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:%s%012x>\r\nWARC-Date: %s\r\nWARC-Target-URI: %s\r\n"
    b"%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
)
_FIELDS = b"application/warc-fields"
_REQUEST = b"application/http; msgtype=request"
_RESPONSE = b"application/http; msgtype=response"

# What would end a header line or split a URL for some reader; a canonical URL has none of them.
_UNSAFE_IN_URI = re.compile(rb"[\x00-\x20\x7f<>]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]+")
_LATEST = 253_402_300_799


class Exchange(msgspec.Struct, frozen=True):
    """The compressed records of one exchange and where its answer begins among them."""

    data: bytes
    answer: int
    """Bytes before the answer's record."""


def new_prefix() -> str:
    """The first 24 characters of every record id of a file: `xxxxxxxx-xxxx-8xxx-yxxx-`."""
    noise = secrets.token_hex(10)
    return f"{noise[:8]}-{noise[8:12]}-8{noise[12:15]}-{'89ab'[int(noise[15], 16) & 3]}{noise[16:19]}-"


_second: tuple[int, bytes] = (-1, b"")


def date(at: float) -> bytes:
    """`at` as WARC-Date with milliseconds; times before 1970 or after 9999 are moved to that end."""
    global _second  # captures of one second share its text: formatting it costs 2 µs
    seconds, millis = divmod(min(max(round(at * 1000), 0), _LATEST * 1000), 1000)
    known, text = _second
    if known != seconds:
        text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)).encode("ascii")
        _second = (seconds, text)
    return b"%s.%03dZ" % (text, millis)


def target_uri(url: str) -> bytes:
    """The URL as a header value: UTF-8, with whatever could break the line percent-encoded."""
    raw = url.encode("utf-8", "replace")
    if _UNSAFE_IN_URI.search(raw) is None:
        return raw
    return _UNSAFE_IN_URI.sub(lambda found: quote_from_bytes(found[0], safe=b"").encode("ascii"), raw)


def warcinfo(prefix: str, at: float, name: str, info: Mapping[str, str], level: int) -> bytes:
    """The record that opens a file; its id is number 0 of the file."""
    block = _fields({"format": "WARC File Format 1.1"} | dict(info))
    head = (
        b"WARC/1.1\r\nWARC-Type: warcinfo\r\nWARC-Record-ID: <urn:uuid:%s%012x>\r\nWARC-Date: %s\r\nWARC-Filename: %s\r\n"
        b"Content-Type: application/warc-fields\r\nContent-Length: %d\r\n\r\n"
    ) % (prefix.encode("ascii"), 0, date(at), name.encode("ascii"), len(block))
    return _gzip(b"".join((head, block, b"\r\n\r\n")), level)


def exchange(capture: Capture, prefix: bytes, number: int, level: int) -> Exchange:
    """The records of `capture`; their ids are `number` (the answer's) and the two after it."""
    when, uri = date(capture.at), target_uri(capture.url)
    together = b"WARC-Concurrent-To: <urn:uuid:%s%012x>\r\n" % (prefix, number)
    length = None if _unchanged(capture) else len(capture.body)
    alone = not capture.body_stored or capture.duplicate is not None
    http, protocol = response_head(capture.response_head, length, told=alone)

    block = request_head(capture.request_head)
    head = _HEAD % (b"request", prefix, number + 2, when, uri, together, _REQUEST, len(block))
    request = _gzip(b"".join((head, block, b"\r\n\r\n")), level)

    if not capture.body_stored:
        block = _notes(capture, http)
        more = _answer_headers(capture, len(request), protocol)
        head = _HEAD % (b"metadata", prefix, number, when, uri, more, _FIELDS, len(block))
        return Exchange(request + _gzip(b"".join((head, block, b"\r\n\r\n")), level), len(request))

    block = _notes(capture, http if length is None else b"")
    head = _HEAD % (b"metadata", prefix, number + 1, when, uri, together, _FIELDS, len(block))
    notes = _gzip(b"".join((head, block, b"\r\n\r\n")), level)

    before = len(notes) + len(request)
    more = _answer_headers(capture, before, protocol)
    if capture.duplicate is None:
        kind, body = b"response", capture.body
    else:
        kind, body, http = b"revisit", b"", b"" if length is None else http
    head = _HEAD % (kind, prefix, number, when, uri, more, _RESPONSE, len(http) + len(body))
    return Exchange(b"".join((notes, request, _gzip(b"".join((head, http, body, b"\r\n\r\n")), level))), before)


def _unchanged(capture: Capture) -> bool:
    return capture.duplicate is not None and capture.duplicate.profile == "server-not-modified"


def _answer_headers(capture: Capture, before: int, protocol: str) -> bytes:
    lines = [b"Gossamer-Preceded-By: %d\r\n" % before]
    if capture.address:
        lines.append(b"WARC-IP-Address: %s\r\n" % _line(capture.address))
    if protocol:
        lines.append(b"WARC-Protocol: %s\r\n" % protocol.encode("ascii"))
    if capture.truncated:
        lines.append(b"WARC-Truncated: %s\r\n" % capture.truncated.encode("ascii"))
    # A digest on a record without that payload would be compared with nothing; `_notes` keeps it then.
    if capture.payload_digest and capture.body_stored:
        lines.append(b"WARC-Payload-Digest: %s\r\n" % _line(capture.payload_digest))
    duplicate = capture.duplicate
    if duplicate is not None and capture.body_stored:
        lines.append(b"WARC-Profile: %s%s\r\n" % (PROFILE.encode("ascii"), duplicate.profile.encode("ascii")))
        # pywb and wabac.js find the original by these two, never by WARC-Refers-To.
        lines.append(b"WARC-Refers-To-Target-URI: %s\r\n" % target_uri(duplicate.url))
        if duplicate.at is not None:
            lines.append(b"WARC-Refers-To-Date: %s\r\n" % date(duplicate.at))
    return b"".join(lines)


def _notes(capture: Capture, head: bytes) -> bytes:
    """The fields of a `metadata` record; `head` is the answer's where no other record holds it."""
    notes: Notes = capture.notes
    lines = [b"depth: %d\r\nfetchTimeMs: %d\r\n" % (notes.depth, notes.fetch_ms)]
    if notes.via:
        lines.append(b"via: %s\r\n" % _line(notes.via))
    if notes.outcome:
        lines.append(b"outcome: %s\r\n" % _line(notes.outcome))
    if notes.near_of:
        lines.append(b"nearDuplicateOf: %s\r\n" % _line(notes.near_of))
    if not capture.body_stored and capture.payload_digest:
        lines.append(b"payloadDigest: %s\r\n" % _line(capture.payload_digest))
    if head:
        lines.append(b"responseHead: %s\r\n" % _line(msgspec.json.encode(head.decode("latin-1")).decode("utf-8")))
    if notes.extra:
        lines.append(_fields({f"x-{name}": value for name, value in notes.extra.items()}))
    return b"".join(lines)


def _fields(fields: Mapping[str, str]) -> bytes:
    return b"".join([b"%s: %s\r\n" % (_line(name).replace(b":", b"_"), _line(value)) for name, value in fields.items()])


def _line(text: str) -> bytes:
    """One line: control characters, line ends above all, become a blank."""
    if not text.isprintable():
        text = _CONTROL.sub(" ", text)
    return text.encode("utf-8", "replace").strip()


def _gzip(record: bytes, level: int) -> bytes:
    packed: bytes = igzip_lib.compress(record, level, igzip_lib.COMP_GZIP)
    return packed
