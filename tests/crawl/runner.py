"""One crawl as a program: `python -m tests.crawl.runner FOLDER CONNECT_TO BEGUN SETTINGS SEED...`.

It prints `begun` once it has completed BEGUN leases, and its report as JSON at the end. The tests that kill a crawl, all of
it at once, kill this.
"""

import sys
from pathlib import Path

import msgspec
import uvloop

from gossamer.crawl import Crawl
from gossamer.settings import merge
from tests.crawl.harness import FAST, after_completions


def main(folder: str, connect_to: str, begun: str, changes: str, *seeds: str) -> None:
    settings = merge(FAST, {"connect_to": connect_to}, msgspec.json.decode(changes))
    crawl = Crawl.prepare(Path(folder), list(seeds), settings)
    after_completions(int(begun), lambda: print("begun", flush=True))
    report = uvloop.run(crawl.run())
    print(msgspec.json.encode(report).decode(), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
