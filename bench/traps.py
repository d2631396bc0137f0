"""`make bench-traps`: gossamer, Scrapy and wget on a web nine in ten of whose addresses are traps, each with the same budget.

The web is the `mire` corner of the synthetic web: nine sites (see `gossamer.sim.web.corners.mire`) with real pages that look like traps and traps that
look like pages. Each crawler starts at the same home page and may ask for twice as many pages as are real, and some. What it asked for
is read from the web's own log, up to that budget.

    found      the share of the real pages that were brought, under whichever address
    real       the share of requests that brought a real page for the first time; the rest was spent on traps and on pages had before

Gossamer runs as it is installed: no setting of its traps is changed. Three webs: one, the same with other names for everything (another seed),
and one in which traps never end.
"""

import argparse
import contextlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from bench.harness import title
from bench.peers import BIN, HERE
from gossamer.sim.web import Running, Served, Web, audit, start_in_process

PATIENCE = 300.0


class Crawler(msgspec.Struct, frozen=True):
    """A crawler: its name, and its command for a seed, a proxy address, a budget and an empty folder."""

    name: str
    command: Callable[[str, str, int, Path], list[str]]


def _gossamer(url: str, at: str, pages: int, folder: Path) -> list[str]:
    start = [str(BIN / "gossamer"), "crawl", url, "--into", str(folder / "crawl"), "--scope", "any", "--connect-to", at]
    pace = ["--delay", "0", "--host-connections", "4", "--set", "politeness.answer_multiple=0"]
    return [*start, "--quiet", "--max-pages", str(pages), *pace]


def _scrapy(*more: str) -> Callable[[str, str, int, Path], list[str]]:
    script = str(HERE / "scrapy_budget.py")
    return lambda url, at, pages, folder: [sys.executable, script, url, f"http://{at}", str(pages), *more]


def _wget(*more: str) -> Callable[[str, str, int, Path], list[str]]:
    def command(url: str, at: str, pages: int, folder: Path) -> list[str]:
        proxy = ["-e", "use_proxy=yes", "-e", f"http_proxy=http://{at}"]
        return ["wget", "-q", "-r", "-H", "-P", str(folder), *proxy, *more, url]

    return command


CRAWLERS = (
    Crawler("gossamer", _gossamer),
    Crawler("Scrapy", _scrapy()),
    Crawler("Scrapy, breadth first", _scrapy("breadth")),
    Crawler("wget -r (5 levels)", _wget()),
    Crawler("wget -r -l inf", _wget("-l", "inf")),
)


def crawl(crawler: Crawler, running: Running, url: str, budget: int) -> list[Served]:
    """The requests of one run, the first `budget` of them."""
    before = len(running.served())
    folder = Path(tempfile.mkdtemp(prefix="gossamer-traps-"))
    child = subprocess.Popen(
        crawler.command(url, running.connect_to, budget, folder),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        until = time.monotonic() + PATIENCE
        while child.poll() is None and time.monotonic() < until and pages_of(running, before) < budget:
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(0.5)
    finally:
        if child.poll() is None:
            child.send_signal(signal.SIGINT)
            try:
                child.wait(30)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        shutil.rmtree(folder)
    asked = [served for served in running.served()[before:] if served.target not in NO_PAGES]
    return asked[:budget]


NO_PAGES = ("/robots.txt", "/sitemap.xml")


def pages_of(running: Running, before: int) -> int:
    return sum(served.target not in NO_PAGES for served in running.served()[before:])


def measure(name: str, web: Web, wanted: list[str]) -> None:
    real = web.reachable(web.seeds()).stored
    budget = 2 * len(real) + 500
    title(f"{name}: {len(real):,} real pages, {trap_addresses(web, len(real))}; {budget:,} requests allowed")
    print(f"  {'':<24}{'asked':>8}{'found':>8}{'real':>8}   {'real by site:'}")
    hosts = web.corner_hosts("mire")
    print(f"  {'':<51}" + " ".join(f"{host.removeprefix('mire-').removesuffix('.test'):>7}" for host in hosts))
    for crawler in CRAWLERS:
        if wanted and not any(word in crawler.name.lower() for word in wanted):
            continue
        with start_in_process(web) as running:
            log = crawl(crawler, running, web.seeds()[0], budget)
            shutil.rmtree(running.log.parent)
        by_host = audit.harvest(log, web, real)
        found = sum(part.found for part in by_host.values())
        sites = " ".join(f"{by_host[host].precision:>7.0%}" for host in hosts)
        print(
            f"  {crawler.name:<24}{len(log):>8,}{found / len(real):>8.1%}{found / max(1, len(log)):>8.1%}   {sites}",
            flush=True,
        )


def trap_addresses(web: Web, real: int) -> str:
    if not web.settings.mire_depth:
        return "traps without end"
    known, waiting = set[str](), list(web.seeds())
    while waiting:
        url = waiting.pop()
        if url not in known and not web.is_forbidden(url):
            known.add(url)
            waiting.extend(web.node(url).links)
    traps = sum(web.is_trap(url) for url in known)
    return f"{traps:,} trap addresses ({traps / (traps + real):.0%} of all)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="words in the names of the crawlers to run; all when there are none")
    parser.add_argument("--pages", type=int, default=300, help="ordinary pages of each site [300]")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    plain = {"hosts": 4, "pages": 40, "corners": ["mire"], "corner_pages": given.pages}
    measure("one web", Web(seed=given.seed, **plain), given.only)
    measure("other names", Web(seed=given.seed + 1, **plain), given.only)
    measure("endless traps", Web(seed=given.seed, mire_depth=0, **plain), given.only)


if __name__ == "__main__":
    main()
