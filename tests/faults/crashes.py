"""What the crash tests share: a web whose crawl has one right result, a crawl as a process to be attacked, and the judge.

Two sizes, chosen by GOSSAMER_FAULTS: the short one for every run of the tests, `long` for `make test-faults`. Both assert the same.

The right result does not depend on the order of fetching, so any crawl that is complete equals any other:

- every capture of a page, as (URL, status, digest of its payload), copies included: a copy's record names the digest too;
- the digests of which a body is kept; near-copies, of which the first to come is kept, are left out of this one.

What the traps learn of a host does depend on the order, so they learn nothing here.
"""

import atexit
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from gossamer.crawl import Crawl, Folder
from gossamer.crawl.verify import verify
from gossamer.sim.web import Running, Served, Web
from tests.crawl.harness import online, records_of, rows_of

__all__ = [
    "CONCURRENCY", "LONG", "PAGES", "WORKERS", "Kept", "Site", "Victim", "assert_clean", "assert_sound", "eventually",
    "kept_in", "mended", "refetched", "site",
]  # fmt: skip

LONG = os.environ.get("GOSSAMER_FAULTS") == "long"
PAGES = 5_000 if LONG else 600
WORKERS = 2
CONCURRENCY = 16
CORNERS = ("copies", "charsets", "binary", "idn", "meta", "sitemaps")
ROOT = Path(__file__).parents[2]


class Kept(msgspec.Struct, frozen=True):
    """What a crawl has to show."""

    captures: frozenset[tuple[str, int, str]]
    bodies: frozenset[str]


class Site(msgspec.Struct, frozen=True):
    """A web that is being served, and what an undisturbed crawl of it came to."""

    web: Web
    running: Running
    kept: Kept
    requests: Counter[str]
    seconds: float

    def command(self, folder: Path, *more: str) -> list[str]:
        """The command that crawls it; run again, it goes on."""
        return [
            "crawl", self.web.seeds()[0], "--into", str(folder), "--connect-to", self.running.connect_to, "--scope", "any",
            "--delay", "0", "--host-connections", "4", "--workers", str(WORKERS), "--concurrency", str(CONCURRENCY),
            "--set", "traps.learn_after=1000000", "--quiet", "--json", *more,
        ]  # fmt: skip


@contextlib.contextmanager
def site(folder: Path, pages: int) -> Iterator[Site]:
    """A web of so many plain pages and a few odd hosts, crawled once without any trouble."""
    folder.mkdir(parents=True, exist_ok=True)
    with online(folder, hosts=max(pages // 100, 10), pages=pages, corners=CORNERS, corner_pages=5) as (web, running):
        bare = Site(web, running, Kept(frozenset(), frozenset()), Counter(), 0.0)
        victim = Victim(bare.command(folder / "undisturbed"))
        report = victim.finish()
        requests = Counter(served.url for served in running.served())
        kept = kept_in(folder / "undisturbed", web)
        assert_sound(folder / "undisturbed")
        yield Site(web, running, kept, requests, report["seconds"])


class Victim:
    """A crawl in a process group of its own. `runner` is the module to run: `gossamer`, unless a test needs another."""

    def __init__(
        self, command: list[str], runner: str = "gossamer", limit: Callable[[], None] | None = None, **environment: str
    ) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", runner, *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=limit,
            cwd=ROOT,
            env={**os.environ, **environment},
        )
        self.pid = self._process.pid
        atexit.register(self._abandon)  # an interrupted test leaves nothing running

    def _abandon(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def workers(self) -> list[int]:
        """Its worker processes: the children of its only child."""
        return [worker for nursery in _children(self.pid) for worker in _children(nursery)]

    def nursery(self) -> int:
        return _children(self.pid)[0]

    def kill(self, what: str, dice: Any) -> bool:
        """Kill the `parent`, a `worker` or the whole `group`; whether there was something to kill."""
        try:
            if what == "group":
                os.killpg(self.pid, signal.SIGKILL)
            elif what == "parent":
                os.kill(self.pid, signal.SIGKILL)
            else:
                workers = self.workers()
                if not workers:
                    return False
                os.kill(dice.choice(workers), signal.SIGKILL)
        except ProcessLookupError:
            return False
        return True

    def ended(self, seconds: float = 120.0) -> tuple[int, str, str]:
        """Exit code and words, once every process of it is gone (each holds the pipes open)."""
        try:
            out, err = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._abandon()
            self._process.communicate()
            raise
        atexit.unregister(self._abandon)
        return self._process.returncode, out.decode(), err.decode()

    def finish(self, seconds: float = 120.0) -> dict[str, Any]:
        """Its report; it has to finish without a word of complaint."""
        code, out, err = self.ended(seconds)
        assert (code, err) == (0, ""), f"exit code {code}: {err}"
        report: dict[str, Any] = msgspec.json.decode(out)
        assert report["ending"] == "finished"
        return report


def eventually(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Look until it holds: what other processes do announces itself nowhere."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, f"no {what} within {seconds:g} s"
        time.sleep(0.005)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, listed.read_text().split())
        except OSError:  # it ended meanwhile
            continue
    return sorted(found)


def mended(folder: Path) -> list[str]:
    """Open a crawl that was cut off and close it again without fetching anything: recovery alone. What it mended."""
    crawled = Folder(folder).load()
    crawl = Crawl.prepare(folder, [], msgspec.structs.replace(crawled.settings, workers=0))
    crawl.stop()
    assert uvloop.run(crawl.run()).ending == "interrupted"
    Folder(folder).save(crawled)
    return crawl.mended


def kept_in(folder: Path, web: Web) -> Kept:
    """What a folder has to show."""
    pages = [capture for _, capture in records_of(folder) if "kind" not in capture.notes.extra]
    near = {capture.url for capture in pages if web.node(capture.url).kind == "near"}
    near |= {web.node(url).of or url for url in near}
    return Kept(
        frozenset((capture.url, capture.status, capture.payload_digest) for capture in pages),
        frozenset(
            capture.payload_digest
            for capture in pages
            if capture.body_stored and capture.duplicate is None and capture.status == 200 and capture.url not in near
        ),
    )


def assert_sound(folder: Path) -> None:
    """Archive, table and frontier agree with each other: by `verify`, by looking ourselves, and by a stranger's eye."""
    assert_clean(folder)
    check = [sys.executable, "-m", "warcio.cli", "check", *map(str, sorted((folder / "warc").glob("*.warc.gz")))]
    checked = subprocess.run(check, capture_output=True, text=True, timeout=300)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def assert_clean(folder: Path) -> None:
    """The same without the stranger, who takes longer than all the rest."""
    verdict = verify(folder)
    assert verdict.clean, "\n".join(f"{problem.where}: {problem.sentence}" for problem in verdict.problems)
    rows = rows_of(folder)
    places = {
        (place.file, place.offset): capture
        for place, capture in records_of(folder)
        if "kind" not in capture.notes.extra
    }
    assert Counter((row["warc_file"], row["warc_offset"]) for row in rows) == Counter(places.keys()), "row for row"
    assert all(places[row["warc_file"], row["warc_offset"]].url == row["url"] for row in rows)


def refetched(log: list[Served], usual: Counter[str]) -> int:
    """Requests beyond those that an undisturbed crawl makes (one of each URL, and the designed retries)."""
    asked = Counter(served.url for served in log)
    return sum(max(0, count - max(1, usual[url])) for url, count in asked.items())
