"""kill -9 at random moments: of the parent, of a worker, of everything. The same command goes on, and nothing is lost or spoilt."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import msgspec

from tests.faults.crashes import (
    CONCURRENCY,
    LONG,
    PAGES,
    WORKERS,
    Site,
    Victim,
    assert_clean,
    assert_sound,
    eventually,
    kept_in,
    mended,
    refetched,
)

KILLS = 51 if LONG else 6
KILLS_OF_ONE = 5 if LONG else 3
COST = {"worker": CONCURRENCY, "parent": WORKERS * CONCURRENCY, "group": WORKERS * CONCURRENCY}
"""Leases that may be out where the blow falls."""


class Attack:
    """One crawl, killed again and again and continued by the same command, until it is through."""

    def __init__(self, web: Site, folder: Path, dice: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self.mending: list[float] = []
        self._web, self._folder, self._dice = web, folder, dice
        self._victim = Victim(web.command(folder))

    def strike(self, what: str, most: int) -> bool:
        """One blow, after a while; False when the crawl was through before."""
        if what == "worker" or self._dice.random() < 0.8:  # else it may still be opening its folder, or mending it
            eventually(lambda: not self._victim.running or bool(self._victim.workers()), "workers")
        time.sleep(self._dice.uniform(0.0, 1.2 * self._web.seconds / most))
        if not self._victim.running or not self._victim.kill(what, self._dice):
            return False
        self.done[what] += 1
        if what != "worker":
            self._victim.ended()
            self._mend()
            self._victim = Victim(self._web.command(self._folder))
        return True

    def _mend(self) -> None:
        """Recovery alone already leaves archive, table and frontier in agreement."""
        if (self._folder / "crawl.json").exists():
            before = time.monotonic()
            mended(self._folder)
            self.mending.append(time.monotonic() - before)
            assert_clean(self._folder)

    def finish(self) -> None:
        self._victim.finish()


def test_nothing_is_lost_or_spoilt_by_kills_at_random_moments(crash_web: Site, tmp_path: Path) -> None:
    dice = random.Random(20)
    kinds = [kind for kind in COST for _ in range(KILLS // len(COST))]
    dice.shuffle(kinds)
    kills: Counter[str] = Counter()
    mending: list[float] = []
    again = most = crawls = 0
    while kinds:
        before = len(crash_web.running.served())
        folder = tmp_path / f"crawl-{crawls}"
        attack = Attack(crash_web, folder, dice)
        for _ in range(min(KILLS_OF_ONE, len(kinds))):
            if not attack.strike(kinds[-1], KILLS_OF_ONE):
                break
            kinds.pop()
        attack.finish()
        assert kept_in(folder, crash_web.web) == crash_web.kept
        assert_sound(folder)
        cost = refetched(crash_web.running.served()[before:], crash_web.requests)
        allowed = sum(COST[what] * count for what, count in attack.done.items())
        assert cost <= allowed, f"{cost} pages were fetched again, {allowed} leases were out at most"
        again, most, crawls = again + cost, most + allowed, crawls + 1
        kills, mending = kills + attack.done, mending + attack.mending
    assert kills.total() == KILLS
    print(
        f"{KILLS} kills over {crawls} crawls of {len(crash_web.kept.captures)} pages: {again} refetches of {most} allowed "
        f"({again / KILLS:.1f} a kill), recovery {max(mending):.2f} s at most"
    )


def test_what_a_killed_worker_left_behind_is_whole_when_the_crawl_ends(crash_web: Site, tmp_path: Path) -> None:
    """Its archive lacked rows, and its last commits were in doubt: nobody has to open the crawl once more for that."""
    before = len(crash_web.running.served())
    victim = Victim(crash_web.command(tmp_path / "c"))
    eventually(lambda: len(crash_web.running.served()) > before + PAGES // 4, "pages")
    assert victim.kill("worker", random.Random(1))
    assert victim.finish()["worker_deaths"] == 1
    assert kept_in(tmp_path / "c", crash_web.web) == crash_web.kept
    assert_sound(tmp_path / "c")
    assert mended(tmp_path / "c") == []
    assert refetched(crash_web.running.served()[before:], crash_web.requests) <= COST["worker"]


def test_a_crawl_that_cannot_replace_a_worker_says_so_and_ends(crash_web: Site, tmp_path: Path) -> None:
    victim = Victim(crash_web.command(tmp_path / "c", "--delay", "0.2"))
    eventually(lambda: len(victim.workers()) == WORKERS, "workers")
    worker = victim.workers()[0]
    os.kill(victim.nursery(), signal.SIGKILL)
    os.kill(worker, signal.SIGKILL)
    code, out, err = victim.ended()
    assert code == 1
    assert err.startswith("gossamer: cannot start a worker process: the process that starts them was killed; run ")
    assert msgspec.json.decode(out)["ending"] == "fault"
    Victim(crash_web.command(tmp_path / "c", "--force")).finish()
    assert kept_in(tmp_path / "c", crash_web.web) == crash_web.kept
    assert_sound(tmp_path / "c")


def test_going_on_while_orphans_still_write_harms_nothing(crash_web: Site, tmp_path: Path) -> None:
    """Workers that lost their parent end what they have in hand; a new crawl need not wait for them."""
    victim = Victim(crash_web.command(tmp_path / "c"))
    eventually(lambda: len(victim.workers()) == WORKERS, "workers")
    time.sleep(crash_web.seconds / 3)
    assert victim.kill("parent", random)
    Victim(crash_web.command(tmp_path / "c")).finish()
    victim.ended()
    mended(tmp_path / "c")
    assert kept_in(tmp_path / "c", crash_web.web) == crash_web.kept
    assert_sound(tmp_path / "c")
