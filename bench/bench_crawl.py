"""Whole crawls of two real sites on loopback, beside Scrapy, Crawlee, wget and wget2, and beside what the libraries alone would take.

    python -m bench crawl                    the table: 3 rounds, interleaved
    python -m bench.bench_crawl --help       fewer rounds, one site, some of the crawlers, or a profile of gossamer

Every crawler starts as a fresh process on an empty folder and runs until it has found every page by itself; its CPU time is
that of its whole process tree, start-up and end included, and nginx's is nobody's. `start` is what a crawl of a single page
takes, `µs/page` what each further page adds: a long crawl costs the second, a short one feels the first. A figure is the median of the rounds, with
the least and the most behind it. Figures of different runs are not compared: ratios are made within one run.

What each does is not the same, and the difference is on the peers' side: Scrapy and Crawlee write text without an archive and ask
for no robots.txt, Crawlee keeps everything in memory, wget and wget2 extract nothing. Gossamer writes WARC and page table
with fingerprints and language, and every URL it knows survives a crash. How each is set up: `bench/peers`, `bench/floor.py`.
"""

import argparse
import importlib.util
import json
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from bench.harness import title
from bench.peers import FLOOR, GOSSAMER, PEERS, SCRAPY, Peer
from bench.peers.measure import Used, measured
from bench.peers.profile import profile
from bench.sites import SITES, MissingSite, Site, one_page, reachable, serve
from gossamer.errors import GossamerError

__all__ = ["Figures", "Round", "run"]

ROUNDS = 3
COMPLETE = 0.95


class Round(msgspec.Struct, frozen=True):
    """One crawl of one site."""

    pages: int
    used: Used

    @property
    def rate(self) -> float:
        """Pages a second of CPU."""
        return self.pages / self.used.cpu if self.used.cpu else 0.0


class Figures(msgspec.Struct, frozen=True):
    """The rounds of one crawler on one site, as the table shows them."""

    pages: int
    cpu: float
    wall: float
    rate: float
    least: float
    most: float
    start: float = 0.0
    """CPU seconds of a crawl of one page."""

    @classmethod
    def of(cls, rounds: Sequence[Round], start: float = 0.0) -> "Figures":
        rates = [each.rate for each in rounds]
        return cls(
            pages=min(each.pages for each in rounds),
            cpu=statistics.median(each.used.cpu for each in rounds),
            wall=statistics.median(each.used.wall for each in rounds),
            rate=statistics.median(rates),
            least=min(rates),
            most=max(rates),
            start=start,
        )

    @property
    def page_us(self) -> float:
        """CPU microseconds that one more page costs."""
        return (self.cpu - self.start) * 1e6 / (self.pages - 1) if self.pages > 1 else 0.0


def installed(peer: Peer) -> bool:
    return not peer.needs or bool(shutil.which(peer.needs) or importlib.util.find_spec(peer.needs))


@contextmanager
def scratch() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="gossamer-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def once(peer: Peer, url: str, paths: Sequence[str], bytecode: Path) -> Round:
    """One crawl in a fresh folder. One that fails counts the pages it got, and its last words are printed."""
    with scratch() as folder:
        (folder / "paths").write_text("\n".join(paths))
        used = measured(peer.command(url, folder), folder, bytecode=bytecode)
        if used.code not in peer.ends_with:
            words = (folder / "stderr").read_text(errors="replace").strip().rpartition("\n")[2]
            print(f"  {peer.name} ended with code {used.code}: {words}")
        try:
            pages = peer.pages(folder)
        except (OSError, ValueError, LookupError, GossamerError) as error:
            print(f"  {peer.name} left nothing to count: {error}")
            pages = 0
        _cross_check(peer, folder, used)
        if pages < COMPLETE * len(paths):
            kept = Path(tempfile.mkdtemp(prefix="gossamer-incomplete-"))
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            print(f"  {peer.name} has {pages} of {len(paths)} pages; what it left is kept in {kept}")
        return Round(pages, used)


def _cross_check(peer: Peer, folder: Path, used: Used) -> None:
    """What gossamer says it used and what the kernel says ought to be one figure (its last moments are not in its own)."""
    if not peer.name.startswith("gossamer") or used.code not in peer.ends_with:
        return
    said = json.loads((folder / "stdout").read_text().strip().rpartition("\n")[2])["cpu_seconds"]
    if not used.cpu * 0.9 - 0.1 <= said <= used.cpu * 1.02:
        print(f"  {peer.name} says it used {said:.2f} s of CPU; the kernel says {used.cpu:.2f} s")


def table(figures: dict[str, Figures], expected: int) -> list[str]:
    """The rows of one site, in the order of the peers."""
    base = figures.get(SCRAPY.name)
    floor = figures.get(FLOOR.name)
    head = (
        f"  {'':<34} {'pages':>5} {'CPU s':>6} {'start':>5} {'µs/page':>8} {'wall s':>6}"
        f" {'pages/CPU s':>11} {'least..most':>13} {'× Scrapy':>8} {'of floor':>8}"
    )
    lines = [head]
    for name, each in figures.items():
        ratio = f"{each.rate / base.rate:.2f}" if base is not None and base.rate else ""
        share = f"{each.rate / floor.rate:.0%}" if floor is not None and floor.rate else ""
        spread = f"{each.least:,.0f}..{each.most:,.0f}" if each.least >= 100 else f"{each.least:.1f}..{each.most:.1f}"
        warning = "" if each.pages >= COMPLETE * expected else f"  INCOMPLETE: {each.pages} of {expected}"
        lines.append(
            f"  {name:<34} {each.pages:>5} {each.cpu:>6.2f} {each.start:>5.2f} {each.page_us:>8,.0f} {each.wall:>6.2f}"
            f" {each.rate:>11,.1f} {spread:>13} {ratio:>8} {share:>8}{warning}"
        )
    return lines


def run(
    rounds: int = ROUNDS, sites: Sequence[Site] = SITES, peers: Sequence[Peer] = PEERS
) -> dict[str, dict[str, Figures]]:
    """Print the table of each site; the figures by site and crawler."""
    for peer in peers:
        if not installed(peer):
            print(f"  {peer.name} is left out: {peer.needs} is not installed")
    taking_part = [peer for peer in peers if installed(peer)]
    told: dict[str, dict[str, Figures]] = {}
    try:
        with scratch() as folder:
            smallest = one_page(folder / "one")
            with serve([*sites, smallest]) as urls:
                starts = _starts(smallest, urls[smallest.name], rounds, taking_part, folder / "bytecode")
                for site in sites:
                    told[site.name] = _site(site, urls[site.name], rounds, taking_part, starts, folder / "bytecode")
    except MissingSite as error:
        print(f"  the crawl benchmark is left out: {error}")
    return told


def _starts(site: Site, url: str, rounds: int, peers: Sequence[Peer], bytecode: Path) -> dict[str, float]:
    """What a crawl of one page costs each crawler, after one that is not counted: it fills the caches of files and bytecode."""
    for peer in peers:
        once(peer, url, [site.entry], bytecode)
    return {
        peer.name: statistics.median(once(peer, url, [site.entry], bytecode).used.cpu for _ in range(rounds))
        for peer in peers
    }


def _site(
    site: Site, url: str, rounds: int, peers: Sequence[Peer], starts: dict[str, float], bytecode: Path
) -> dict[str, Figures]:
    paths = reachable(site)
    size = sum((site.root / path[1:]).stat().st_size for path in paths) / len(paths)
    title(
        f"crawl: {site.package}, {len(paths):,} pages of {size / 1000:.0f} KB (median of {rounds} rounds, interleaved)"
    )
    seen: dict[str, list[Round]] = {peer.name: [] for peer in peers}
    for _ in range(rounds):
        for peer in peers:
            seen[peer.name].append(once(peer, url, paths, bytecode))
    figures = {name: Figures.of(each, starts[name]) for name, each in seen.items()}
    print("\n".join(table(figures, len(paths))))
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.bench_crawl", description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--site", choices=[site.name for site in SITES], help="only this site")
    parser.add_argument(
        "--only", default="", help="only crawlers whose name has one of these words, with commas between"
    )
    parser.add_argument("--profile", action="store_true", help="where gossamer's time goes, instead of the table")
    given = parser.parse_args()
    sites = [site for site in SITES if given.site in (None, site.name)]
    if given.profile:
        with serve(sites) as urls, scratch() as folder:
            for site in sites:
                profile(GOSSAMER, site, urls[site.name], folder, len(reachable(site)))
        return
    wanted = [word.lower() for word in given.only.split(",")]
    run(given.rounds, sites, [peer for peer in PEERS if any(word in peer.name.lower() for word in wanted)])


if __name__ == "__main__":
    main()
