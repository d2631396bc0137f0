"""The soak's judgement, its web and its probe; the soak itself is `make soak`."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.soak.probe import Process, Sample, children, folder_size, process
from bench.soak.verdict import judge, windows
from bench.soak.web import ANSWERS, EDITIONS, SoakWeb, named

from gossamer.sim.web import Request, Settings

SECONDS = 3600.0
Shape = Callable[[float], float]


def flat(at: float) -> float:
    return 1.0


def growing(at: float) -> float:
    return 1.0 + 0.3 * at / SECONDS


def samples(
    memory: Shape = flat, handles: Shape = flat, speed: Shape = flat, cost: Shape = flat, deaths: int = 0
) -> list[Sample]:
    found, pages, cpu = [], 0.0, 0.0
    for step in range(360):
        at = step * 10.0
        pages += 3_000 * speed(at)
        cpu += 5.0 * cost(at) * speed(at)
        each = Process(round(300e6 * memory(at)), 250_000_000, round(400 * handles(at)), 4, cpu / 2)
        web = Process(100_000_000, 100_000_000, 900, 1, at)
        processes = {"parent": each, "worker-1": each, "web": web}
        found.append(Sample(at, processes, round(pages), 0, 0, 0, 0, 0, 0, deaths, 10**9, 10**9, 10**9))
    return found


def broken(given: list[Sample]) -> list[str]:
    return [finding.words.partition(":")[0] for finding in judge(given, SECONDS) if not finding.holds]


def test_the_windows_are_minutes_10_to_20_and_the_last_10() -> None:
    base, end = windows(samples(), SECONDS)
    assert (base.samples[0].at, base.samples[-1].at) == (600, 1190)
    assert (end.samples[0].at, end.samples[-1].at) == (3000, 3590)
    assert base.pages_a_second == pytest.approx(300)
    assert base.pages_a_cpu_second == pytest.approx(600)
    assert base.cores == pytest.approx(0.5)


def test_a_steady_crawl_passes() -> None:
    assert broken(samples()) == []


def test_what_happens_before_warm_up_is_over_is_not_held_against_it() -> None:
    assert broken(samples(memory=lambda at: 0.2 if at < 590 else 1.0, speed=lambda at: 2.0 if at < 590 else 1.0)) == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (samples(memory=growing), ["memory of parent", "memory of worker-1"]),
        (samples(handles=growing), ["handles of parent", "handles of worker-1"]),
        (samples(speed=lambda at: 1 - 0.2 * at / SECONDS), ["pages a second"]),
        (samples(cost=growing), ["pages a CPU second"]),
        (samples(deaths=1), ["workers"]),
    ],
    ids=["memory", "handles", "throughput", "cost", "deaths"],
)
def test_what_grows_or_slows_down_fails_by_name(given: list[Sample], named: list[str]) -> None:
    assert broken(given) == named


def test_too_few_samples_are_no_verdict() -> None:
    with pytest.raises(ValueError, match="too few samples"):
        judge(samples()[:100], SECONDS)


def web() -> SoakWeb:
    return SoakWeb(Settings(hosts=5, pages=50, corners=frozenset({"traps", "redirects", "bombs"})), every=60.0)


def body(soaked: SoakWeb, host: str, target: str = "/") -> str:
    return soaked.answer(host, Request(target)).body.decode()


def test_each_edition_names_its_corner_hosts_and_the_next_edition() -> None:
    soaked = web()
    first = body(soaked, EDITIONS)
    assert "http://traps-maze-e1.test/" in first
    assert f"http://{EDITIONS}/edition/1" in first
    assert "http://traps-maze-e2.test/" in body(soaked, EDITIONS, "/edition/1")
    assert "Crawl-delay: 60" in body(soaked, EDITIONS, "/robots.txt")


def test_an_edition_links_only_to_itself() -> None:
    soaked = web()
    assert named("redirects.test", 7) == "redirects-e7.test"
    moved = soaked.answer("redirects-e7.test", Request("/elsewhere"))
    assert dict(moved.headers)["Location"] == "http://redirects-other-e7.test/welcome"
    farm = body(soaked, "bombs-farm-e7.test")
    assert ".bombs-farm-e7.test/" in farm
    assert ".bombs-farm.test/" not in farm
    assert soaked.answer("some.bombs-farm-e7.test", Request("/")).status == 200


def test_an_edition_has_an_end_and_the_next_begins_anew() -> None:
    soaked = web()
    statuses = [
        soaked.answer("traps-maze-e1.test", Request(f"/maze/a{'b' * n}")).status for n in range(1, ANSWERS + 10)
    ]
    assert statuses.count(404) == 9
    assert soaked.answer("traps-maze-e2.test", Request("/")).status == 200


def test_plain_hosts_lead_to_no_corner() -> None:
    soaked = web()
    assert not any("-maze" in body(soaked, host) for host in list(soaked.hosts())[:5])
    assert f"http://{EDITIONS}/" in soaked.seeds()


def test_a_process_is_seen_from_outside() -> None:
    here = process(os.getpid())
    assert here is not None
    assert here.rss > 5_000_000
    assert 0 < here.pss <= here.rss
    assert here.handles >= 3
    assert here.threads >= 1
    assert here.cpu > 0
    assert os.getpid() in children(os.getppid())


def test_a_folder_that_is_gone_has_no_size(tmp_path: Path) -> None:
    assert folder_size(tmp_path / "nothing") == 0
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 10_000)
        file.flush()
        os.fsync(file.fileno())  # blocks are given to a file when it is written out
    assert folder_size(tmp_path) >= 10_000
