"""`gossamer cat`: one stored answer, as it is in the WARC.

The frontier knows where each URL's answer lies, also of pages whose rows are not in the table yet and of sitemaps, which never are; where the
frontier is missing, the page table is asked. A copy leads to its original.
"""

import argparse
import os
import sys
from pathlib import Path

from gossamer.cli.commands import Help
from gossamer.crawl import Crawled, Folder
from gossamer.errors import FrontierError, GossamerError, InvalidURL
from gossamer.fetch import decode
from gossamer.frontier import State, UrlView
from gossamer.frontier.inspect import Ledger
from gossamer.store import Capture, Location, StoreError, find, original, read
from gossamer.url import canonicalize, resolve

__all__ = ["parser", "run"]

LARGEST = 1 << 30


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer cat",
        usage="gossamer cat DIR URL [--headers] [--raw]",
        description="The stored answer of URL in the crawl in DIR: its body, decompressed, byte for byte.",
        epilog="examples:\n"
        "  gossamer cat crawls/example.com https://example.com/ > index.html\n"
        "  gossamer cat crawls/example.com https://example.com/ --headers | less\n"
        "  gossamer cat crawls/example.com https://example.com/robots.txt",
        formatter_class=Help,
        allow_abbrev=False,
    )
    made.add_argument("folder", metavar="DIR", type=Path, help="folder of a crawl")
    made.add_argument("url", metavar="URL", help="as typed; it is made canonical as the crawl did")
    made.add_argument("--headers", action="store_true", help="the status line and the headers first")
    made.add_argument("--raw", action="store_true", help="the body as it was sent, compressed if it was")
    return made


def run(given: argparse.Namespace) -> int:
    crawled = Folder(given.folder).load()
    url = _canonical(given.url, crawled)
    capture, view = _find(given.folder, url)
    if capture is None:
        robots = _robots(given.folder, url)
        if robots is None:
            raise GossamerError(_why_not(url, view))
        _out(robots)
        return 0
    if capture.status // 100 == 3 and view is not None and view.redirect:
        sys.stderr.write(f"{url} leads to {view.redirect}\n")
    holds_body = original(given.folder, capture)
    if given.headers:
        _out(capture.response_head)
    if holds_body is None:
        if capture.notes.near_of:
            raise GossamerError(
                f"the body of {url} was not kept, as it nearly repeats {capture.notes.near_of}: "
                f"gossamer cat {given.folder} {capture.notes.near_of}"
            )
        raise GossamerError(f"the body of {url} was not kept" + _elsewhere(capture))
    _out(holds_body.body if given.raw else _decoded(holds_body))
    return 0


def _canonical(text: str, crawled: Crawled) -> str:
    try:
        return canonicalize(resolve(text if "://" in text else f"https://{text}"), crawled.settings.url)
    except InvalidURL:
        raise InvalidURL(f"{text!r} is not a URL") from None


def _find(folder: Path, url: str) -> tuple[Capture | None, UrlView | None]:
    view: UrlView | None = None
    try:
        with Ledger(Folder(folder).frontier) as ledger:
            view = ledger.url(url)
    except FrontierError:
        view = None
    if view is not None and view.place is not None:
        place = view.place
        return read(folder, Location(place.file, place.offset, place.length)), view
    try:
        places = find(folder, url)
    except StoreError:  # no page table yet
        places = []
    return (read(folder, places[0]) if places else None), view


def _robots(folder: Path, url: str) -> bytes | None:
    if not url.endswith("/robots.txt"):
        return None
    try:
        with Ledger(Folder(folder).frontier) as ledger:
            file = ledger.robots(url)
    except FrontierError:
        return None
    return file.body if file is not None and file.status == 200 else None


def _why_not(url: str, view: UrlView | None) -> str:
    if view is None:
        return f"{url} is not in this crawl: it was never found, or lies out of scope"
    state = {
        State.QUEUED: "is queued and not fetched yet",
        State.WAITING: "could not be fetched so far, and is tried again later",
        State.REFUSED: "was left alone",
        State.FAILED: "was given up",
    }.get(view.state, "is known, but nothing of it is stored")
    reason = view.detail or view.error or (f"status {view.status}" if view.status else "")
    return f"{url} {state}" + (f": {reason}" if reason else "")


def _elsewhere(capture: Capture) -> str:
    if capture.duplicate is not None:
        return f": it is the same as that of {capture.duplicate.url}, which is not in this folder"
    return f" (status {capture.status})"


def _decoded(capture: Capture) -> bytes:
    head = capture.response_head.decode("latin-1").split("\r\n")
    codings = [line.partition(":")[2].strip() for line in head if line.lower().startswith("content-encoding:")]
    decoded = decode(capture.body, ", ".join(codings), LARGEST)
    if decoded.problem:
        sys.stderr.write(f"gossamer: {decoded.problem}\n")
    return decoded.content


def _out(data: bytes) -> None:
    sys.stdout.flush()
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]
