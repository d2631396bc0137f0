"""The crawlers that run beside Gossamer over the same sites: how each is called, and how its pages are counted.

    gossamer    `gossamer crawl` with the WARC, fingerprints, language and the durable frontier that it always has; its
                politeness is switched off for this one host, which is our own
    Scrapy      scrapy_spider.py       Crawlee     crawlee_parsel.py
    wget        -r --warc-file: files and a WARC, one connection, no text
    wget2       -r: files, no WARC, no text, its default five threads
    floor       bench/floor.py: the pages through the bare libraries

A page is an HTML document that was answered with 200 and is found in what the crawler left behind, each URL once.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.store import query

__all__ = ["FLOOR", "GOSSAMER", "PEERS", "SCRAPY", "Peer"]

HERE = Path(__file__).parent
BIN = Path(sys.executable).parent
POLITENESS_OFF = ("--delay", "0", "--host-connections", "64", "--set", "politeness.answer_multiple=0")


class Peer(msgspec.Struct, frozen=True):
    """A crawler: its name, its command for an entry URL and an empty folder, and a count of what is in the folder after."""

    name: str
    command: Callable[[str, Path], list[str]]
    pages: Callable[[Path], int]
    needs: str = ""
    """Module or program without which it cannot run."""
    ends_with: tuple[int, ...] = (0,)
    """Exit codes that are no failure: wget's 8 says that a link led to a 404, which both sites have."""


def _gossamer(*options: str) -> Callable[[str, Path], list[str]]:
    def command(url: str, folder: Path) -> list[str]:
        start = [str(BIN / "gossamer"), "crawl", url, "--into", str(folder / "crawl"), "--scope", "host"]
        return [*start, "--json", "--quiet", *POLITENESS_OFF, *options]

    return command


def _rows(folder: Path) -> int:
    sql = "select count(distinct url) as n from pages where status = 200 and media_type in ('text/html', 'application/xhtml+xml')"
    return int(query(folder / "crawl", sql).to_pylist()[0]["n"])


def _items(folder: Path) -> int:
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").splitlines()
    return len({json.loads(line)["url"] for line in lines})


def _files(folder: Path) -> int:
    return sum(path.is_file() for path in folder.rglob("*.html"))


def _script(name: str, out: str, *more: str) -> Callable[[str, Path], list[str]]:
    return lambda url, folder: [sys.executable, str(HERE / name), url, str(folder / out), *more]


def _wget(url: str, folder: Path) -> list[str]:
    return ["wget", "-q", "-r", "-l", "inf", f"--warc-file={folder / 'crawl'}", "-P", str(folder), url]


def _wget2(url: str, folder: Path) -> list[str]:
    return ["wget2", "-q", "-r", "-l", "inf", "-P", str(folder), url]


def _floor(url: str, folder: Path) -> list[str]:
    return [sys.executable, "-m", "bench.floor", url, str(folder / "paths"), str(folder / "bodies.gz")]


def _printed(folder: Path) -> int:
    return int((folder / "stdout").read_text())


GOSSAMER = Peer("gossamer --text full", _gossamer("--text", "full"), _rows)
FLOOR = Peer("floor: libraries alone, URLs known", _floor, _printed)
SCRAPY = Peer("Scrapy", _script("scrapy_spider.py", "items.jsonl"), _items, "scrapy")

PEERS = (
    SCRAPY,
    Peer("Scrapy, canonicalize=True", _script("scrapy_spider.py", "items.jsonl", "canonical"), _items, "scrapy"),
    Peer(
        "Crawlee", _script("crawlee_parsel.py", "count"), lambda folder: int((folder / "count").read_text()), "crawlee"
    ),
    Peer("wget -r --warc-file", _wget, _files, "wget", (0, 8)),
    Peer("wget2 -r", _wget2, _files, "wget2", (0, 8)),
    FLOOR,
    GOSSAMER,
    Peer("gossamer (default: --text main)", _gossamer(), _rows),
    Peer("gossamer --text full --workers 1", _gossamer("--text", "full", "--workers", "1"), _rows),
)
