"""A power cut at a random moment: everything dies at once, and of what was not synced each file keeps what it happens to keep."""

import random
import time
from pathlib import Path

from tests.faults.crashes import (
    CONCURRENCY,
    LONG,
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
from tests.faults.power import Power

CUTS = 24 if LONG else 4
CUTS_OF_ONE = 4 if LONG else 2
# Small parts and files: many of each are begun, synced, renamed and left behind in one crawl.
SMALL = ("--set", "store.part_rows=40", "--set", "store.warc_bytes=300000")


def test_a_power_cut_costs_only_what_was_not_synced(crash_web: Site, tmp_path: Path) -> None:
    dice = random.Random(7)
    cuts = again = torn = dropped = crawls = 0
    while cuts < CUTS:
        folder, journal = tmp_path / f"crawl-{crawls}", tmp_path / f"journal-{crawls}"
        recorded = [str(journal), *crash_web.command(folder, *SMALL)]
        power = Power(folder, journal)
        begun, allowed = len(crash_web.running.served()), 0
        for _ in range(CUTS_OF_ONE):
            victim = Victim(recorded, "tests.faults.recorder")
            if dice.random() < 0.8:
                eventually(lambda: not victim.running or bool(victim.workers()), "workers")  # noqa: B023
            time.sleep(dice.uniform(0.0, 1.5 * crash_web.seconds / CUTS_OF_ONE))
            killed = victim.running and victim.kill("group", dice)
            victim.ended()
            if not killed:
                break
            cuts += 1
            since = power.cut(dice)
            allowed += WORKERS * CONCURRENCY + sum(s.end > since for s in crash_web.running.served()[begun:])
            if (folder / "crawl.json").exists() and dice.random() < 0.5:
                mended(folder)  # else the next run does, and may be cut off while it does
                assert_clean(folder)
                power.look()
        Victim(recorded, "tests.faults.recorder").finish()
        assert kept_in(folder, crash_web.web) == crash_web.kept
        assert_sound(folder)
        cost = refetched(crash_web.running.served()[begun:], crash_web.requests)
        assert cost <= allowed, f"{cost} pages were fetched again, {allowed} were not safe"
        crawls, again, torn, dropped = crawls + 1, again + cost, torn + power.torn, dropped + power.dropped
    assert torn, "files lost bytes"
    print(
        f"{cuts} power cuts over {crawls} crawls of {len(crash_web.kept.captures)} pages: {torn} files torn, {dropped} names "
        f"lost, {again} refetches ({again / cuts:.1f} a cut)"
    )


def test_a_crawl_is_known_as_one_before_anything_is_put_into_it(crash_web: Site, tmp_path: Path) -> None:
    """Without crawl.json its folder would be taken for somebody else's; without its own name there would be none."""
    folder, journal = tmp_path / "new" / "crawl", tmp_path / "journal"
    power = Power(folder, journal)
    victim = Victim([str(journal), *crash_web.command(folder)], "tests.faults.recorder")
    eventually((folder / "frontier").exists, "frontier")
    assert victim.kill("group", random)
    victim.ended()
    assert all(map(power.holds, (folder.parent, folder, folder / "crawl.json")))
