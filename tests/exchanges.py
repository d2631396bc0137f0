"""Exchanges with servers that never were, for the tests of the store."""

import random
from pathlib import Path
from typing import Any

import msgspec

from gossamer.fingerprint import warc_digest
from gossamer.store import Capture, Location, Notes, PageRow, Store, bare_row, captures
from gossamer.store._warc_read import Damage

NOON = 1_767_268_800.25
"""A time of day in January 2026."""

REQUEST = b"GET / HTTP/1.1\r\nHost: site.example\r\nUser-Agent: Gossamer/0.1 (+https://operator.example/)\r\n\r\n"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"


def html(number: int, size: int = 400) -> bytes:
    """A page that no other number has: words enough that it does not compress to nothing."""
    dice = random.Random(number)
    words = " ".join(f"{dice.getrandbits(24):x}" for _ in range(size // 7))
    return f"<html><title>Page {number}</title><p>{words}</p></html>".encode()


def capture(number: int = 0, **changes: Any) -> Capture:
    """A capture of page `number`, with its true digest unless `changes` name another."""
    body = changes.pop("body", None)
    body = html(number) if body is None else body
    given: dict[str, Any] = {
        "url": f"https://site.example/page/{number}",
        "at": NOON + number,
        "request_head": REQUEST,
        "response_head": HEAD,
        "body": body,
        "payload_digest": warc_digest(body),
        "address": "192.0.2.7",
        "notes": Notes(via="https://site.example/", depth=1, fetch_ms=30 + number, outcome="done"),
    }
    return Capture(**(given | changes))


def row_of(capture: Capture, location: Location) -> PageRow:
    """The row the tests' own parser makes: the body as text."""
    return msgspec.structs.replace(bare_row(capture, location), text=capture.body.decode("utf-8", "replace"))


def stored(store: Store, *all_of: Capture) -> list[Location]:
    """Appends each, with its row."""
    places = []
    for each in all_of:
        place = store.append(each)
        store.add_row(row_of(each, place))
        places.append(place)
    return places


def warcs(folder: Path) -> list[Path]:
    return sorted((folder / "warc").glob("*.warc.gz"))


def read_back(path: Path) -> list[Capture]:
    """Every capture of a file that must have no damage."""
    found = []
    for item in captures(path):
        assert not isinstance(item, Damage), item
        found.append(item[1])
    return found
