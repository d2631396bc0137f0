"""One crawl as a program, whose memory can be told apart: `python -m tests.faults.crawler ORDER.json`.

The order names folder, settings and seeds. What it prints last is one line of JSON: the report, and the peak memory of the
parent and of each worker.
"""

import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from gossamer.crawl import Crawl, Report
from gossamer.settings import merge
from gossamer.worker import peak_memory

__all__ = ["Order", "Outcome"]


class Order(msgspec.Struct, frozen=True):
    folder: str
    settings: dict[str, Any]
    seeds: list[str]


class Outcome(msgspec.Struct, frozen=True):
    """What the crawl came to."""

    report: Report
    parent: int
    """Peak resident bytes of the parent."""
    workers: list[int]
    """Of each worker that lived to the end."""
    began: float
    ended: float


def main(path: str) -> None:
    order = msgspec.json.decode(Path(path).read_bytes(), type=Order)
    began = time.time()
    crawl = Crawl.prepare(Path(order.folder), order.seeds, merge(order.settings))
    report = uvloop.run(crawl.run())
    workers = [counts.memory for counts in crawl.counts()]
    print(msgspec.json.encode(Outcome(report, peak_memory(), workers, began, time.time())).decode(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
