"""Exchanges put together again from WARC records.

    captures(path)          → every exchange of a file, and the `Damage` between them
    read_at(path, location) → the one whose answer lies there

The records of an exchange stand together and are tied by `WARC-Concurrent-To`; the answer comes last (see `_warc_write`). In
files of other crawlers a request that follows its answer is left out.
"""

import datetime
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from gossamer.store._values import Capture, Location, Notes, Revisit, StoreError, Truncated, translated
from gossamer.store._warc_read import LARGEST, Damage, Record, WarcFile, record_at, records
from gossamer.store._warc_write import PRECEDED_BY, PROFILE

__all__ = ["captures", "read_at"]


def captures(path: Path, start: int = 0, *, most: int = LARGEST) -> Iterator[tuple[Location, Capture] | Damage]:
    """Every exchange from `start`. Records that are no part of one (warcinfo, resource ...) are passed over."""
    recent: list[Record] = []
    for record in records(path, start, most=most):
        if isinstance(record, Damage):
            yield record
        elif _is_answer(record):
            yield Location(path.name, record.offset, record.length), _capture(record, _mates(record, recent))
            recent = []
        else:
            recent = [*recent[-3:], record]


def read_at(path: Path, location: Location, *, most: int = LARGEST) -> Capture:
    """The exchange whose answer is at `location`; StoreError where there is none."""
    try:
        with WarcFile(path) as file:
            answer = record_at(file, location.offset, most)
            if answer is None or not _is_answer(answer):
                raise StoreError(f"There is no readable answer in {path} at byte {location.offset}.")
            told = answer.headers.get(PRECEDED_BY.lower(), "")
            before = int(told) if told.isascii() and told.isdecimal() and len(told) < 19 else 0
            at, found = max(location.offset - before, 0), list[Record]()
            while at < location.offset and len(found) < 4 and (mate := record_at(file, at, most)) is not None:
                found.append(mate)
                at += mate.length
            return _capture(answer, _mates(answer, found))
    except OSError as error:
        raise translated(error, path, "read") from error


def _is_answer(record: Record) -> bool:
    """The record that ends an exchange: see `_warc_write`."""
    if record.kind == "metadata":
        return PRECEDED_BY.lower() in record.headers
    http = record.headers.get("content-type", "").lower().startswith("application/http")
    return record.kind == "revisit" or (record.kind == "response" and http)


def _mates(answer: Record, before: list[Record]) -> list[Record]:
    """Those of the records before an answer that belong to it: they name it, or (wget) it names them."""
    own, named = answer.headers.get("warc-record-id", ""), answer.headers.get("warc-concurrent-to")
    return [
        mate
        for mate in before
        if mate.headers.get("warc-concurrent-to") == own or (named and mate.headers.get("warc-record-id") == named)
    ]


def _capture(answer: Record, mates: list[Record]) -> Capture:
    headers = answer.headers
    noted = answer if answer.kind == "metadata" else next((mate for mate in mates if mate.kind == "metadata"), None)
    fields = _warc_fields(noted.block if noted is not None else b"")
    head, body = _split(answer.block if answer.kind != "metadata" else b"")
    request = next((mate.block for mate in mates if mate.kind == "request"), b"")
    truncated = headers.get("warc-truncated", "unspecified" if answer.cut else "")
    return Capture(
        url=_url(headers.get("warc-target-uri", "")),
        at=_time(headers.get("warc-date", "")) or 0.0,
        request_head=request,
        response_head=head or _head_of(fields),
        body=body,
        payload_digest=headers.get("warc-payload-digest", "") or fields.get("payloadDigest", ""),
        address=headers.get("warc-ip-address", ""),
        truncated=_TRUNCATED.get(truncated.lower(), "unspecified") if truncated else None,
        duplicate=_revisit(headers) if answer.kind == "revisit" else None,
        body_stored=answer.kind != "metadata",
        notes=_notes(fields),
        protocol=headers.get("warc-protocol", ""),
    )


_TRUNCATED: dict[str, Truncated] = {"length": "length", "time": "time", "disconnect": "disconnect"}


def _head_of(fields: Mapping[str, str]) -> bytes:
    try:
        return msgspec.json.decode(fields.get("responseHead", '""'), type=str).encode("latin-1")
    except (msgspec.MsgspecError, UnicodeEncodeError):
        return b""


def _split(block: bytes) -> tuple[bytes, bytes]:
    """HTTP head and body; bare line feeds end a head too where nothing better does."""
    end = block.find(b"\r\n\r\n")
    if end >= 0:
        return block[: end + 4], block[end + 4 :]
    end = block.find(b"\n\n")
    return (block[: end + 2], block[end + 2 :]) if end >= 0 else (block, b"")


def _revisit(headers: Mapping[str, str]) -> Revisit:
    profile = headers.get("warc-profile", "").removeprefix(PROFILE)
    unchanged = profile.endswith("server-not-modified")
    return Revisit(
        url=_url(headers.get("warc-refers-to-target-uri", "") or headers.get("warc-target-uri", "")),
        at=_time(headers.get("warc-refers-to-date", "")),
        profile="server-not-modified" if unchanged else "identical-payload-digest",
    )


def _warc_fields(block: bytes) -> dict[str, str]:
    lines = (line.partition(":") for line in block.decode("utf-8", "replace").split("\r\n"))
    return {name.strip(): value.strip() for name, colon, value in lines if colon}


def _notes(fields: Mapping[str, str]) -> Notes:
    return Notes(
        via=fields.get("via", ""),
        depth=_number(fields.get("depth", "")),
        fetch_ms=_number(fields.get("fetchTimeMs", "")),
        outcome=fields.get("outcome", ""),
        near_of=fields.get("nearDuplicateOf", ""),
        extra={name[2:]: value for name, value in fields.items() if name.startswith("x-")},
    )


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def _url(text: str) -> str:
    return text.removeprefix("<").removesuffix(">")  # wget of a certain age wrote brackets


def _time(text: str) -> float | None:
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
