"""Run a soak and judge it. The exit code says whether the verdict holds; figures and chart are in build/soak."""

import argparse
import contextlib
import csv
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from bench.soak.chart import draw
from bench.soak.probe import Process, Sample, children, folder_size, metrics, process
from bench.soak.verdict import judge, windows
from gossamer.sim.web import Settings
from gossamer.sim.web.corners import CORNERS
from gossamer.sim.web.process import Announcement

HOUR = 3600.0
EVERY = 10.0
LONG_ENOUGH = 1800.0
BUDGET_SPENT = 3
DELAY = 2.0
EDITION_EVERY = 60.0
PAGES_A_HOST = 5_000
"""More than a host can be asked for in an hour at this pace; and all a host has to be discovered."""


def web_settings(hosts: int) -> Settings:
    """Hosts of equal size, so that the pace stays the same; bombs of a size that does not make the server the subject."""
    return Settings(
        hosts=hosts, pages=hosts * PAGES_A_HOST, skew=0.0, fan=3, corners=frozenset(CORNERS),
        bomb_bytes=50_000_000, bomb_items=50_000,
    )  # fmt: skip


@contextlib.contextmanager
def web(hosts: int, every: float) -> Iterator[Announcement]:
    settings = msgspec.json.encode(web_settings(hosts)).decode()
    command = [sys.executable, "-m", "bench.soak.web", "--settings", settings, "--every", str(every)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        try:
            yield msgspec.json.decode(child.stdout.readline(), type=Announcement)
        finally:
            child.stdin.close()  # its end is the server's
            _end(child)


@contextlib.contextmanager
def crawl(
    port: int, seeds: list[str], folder: Path, seconds: float, said: IO[bytes]
) -> Iterator[subprocess.Popen[bytes]]:
    """The crawl under test. What it keeps in memory up to a bound has a bound that is reached while it warms up; and a machine that is
    busy with other things, whose answers come late, is not to make it more polite.
    """
    seed_file = folder / "seeds"
    seed_file.write_text("\n".join(seeds))
    command = [
        sys.executable, "-m", "gossamer", "crawl", f"@{seed_file}", "--into", str(folder / "crawl"), "--scope", "any",
        "--connect-to", f"127.0.0.1:{port}", "--delay", str(DELAY), "--workers", "2", "--max-seconds", str(seconds),
        "--hosts-in-memory", "2000", "--frontier-cache", "64M", "--set", "politeness.answer_multiple=0",
        "--metrics-port", "0", "--log-every", "60",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=said, stderr=said, start_new_session=True) as child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGINT)
                _end(child)


def _end(child: subprocess.Popen[bytes]) -> None:
    try:
        child.wait(60)
    except subprocess.TimeoutExpired:
        child.kill()


def metrics_port(log: Path, child: subprocess.Popen[bytes]) -> int:
    """The crawl says in its log where its metrics are."""
    while child.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/metrics", log.read_text(errors="replace"))
        if found:
            return int(found[1])
        time.sleep(0.1)
    raise SystemExit(f"the crawl ended before it began:\n{log.read_text(errors='replace')}")


def look(pid: int, web_pid: int, port: int, folder: Path, at: float) -> Sample | None:
    """One sample; None when the crawl is over, or about to be."""
    nursery = children(pid)
    pids = {"parent": pid} | ({"nursery": nursery[0]} if nursery else {})
    pids |= {f"worker-{n}": each for n, each in enumerate(children(nursery[0]) if nursery else (), 1)}
    pids["web"] = web_pid
    seen: dict[str, Process | None] = {role: process(each) for role, each in pids.items()}
    there = {role: each for role, each in seen.items() if each is not None}
    try:
        told = metrics(port)
    except OSError:
        return None
    if len(there) < 5:
        return None
    states = ("queued", "waiting", "done", "redirected", "gone", "refused", "failed")
    urls = {state: int(told[f'gossamer_urls{{state="{state}"}}']) for state in states}
    return Sample(
        at, there, int(told["gossamer_pages_total"]), int(told["gossamer_bytes_total"]), urls["queued"], urls["waiting"],
        sum(urls.values()), int(told["gossamer_hosts_known"]), int(told["gossamer_in_flight"]),
        int(told["gossamer_worker_deaths_total"]), folder_size(folder / "frontier"), folder_size(folder / "warc"),
        folder_size(folder / "pages"),
    )  # fmt: skip


def watch(
    child: subprocess.Popen[bytes], web_pid: int, port: int, folder: Path, seconds: float, every: float
) -> list[Sample]:
    """Samples until the crawl ends."""
    began, samples = time.monotonic(), []
    while child.poll() is None and time.monotonic() - began < seconds:
        sample = look(child.pid, web_pid, port, folder, time.monotonic() - began)
        if sample is not None:
            samples.append(sample)
            if len(samples) % 6 == 1:
                print(_line(sample), flush=True)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(every)
    child.wait(120)
    return samples


def _line(sample: Sample) -> str:
    memory = " ".join(f"{role} {each.rss / 1e6:.0f}" for role, each in sample.processes.items())
    return (
        f"  {sample.at:6.0f} s {sample.pages:9,} pages {sample.queued:9,} queued {sample.hosts:7,} hosts; MB: {memory}"
    )


def write_csv(samples: list[Sample], path: Path) -> None:
    plain = [name for name in Sample.__struct_fields__ if name != "processes"]
    roles = list(samples[-1].processes)
    names = Process.__struct_fields__
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*plain, "cpu", *(f"{role}_{name}" for role in roles for name in names)])
        for sample in samples:
            each = [getattr(sample.processes.get(role), name, "") for role in roles for name in names]
            rows.writerow([*(getattr(sample, name) for name in plain), sample.cpu, *each])


def report(samples: list[Sample], seconds: float, code: int) -> bool:
    """Print the verdict; whether it holds."""
    base, end = windows(samples, seconds)
    print(
        f"\n{samples[-1].pages:,} pages in {samples[-1].at:,.0f} s; {end.cores:.2f} cores in use; minutes"
        f" {base.samples[0].at / 60:.1f} to {base.samples[-1].at / 60:.1f} beside"
        f" {end.samples[0].at / 60:.1f} to {end.samples[-1].at / 60:.1f}:"
    )
    if seconds < LONG_ENOUGH:
        print("  (so short a run is mostly warm-up, and says little about an hour)")
    holds = code == BUDGET_SPENT
    if not holds:
        print(f"  NOT  the crawl ended with exit code {code}, not by its time")
    for finding in judge(samples, seconds):
        holds = holds and finding.holds
        print(f"  {'yes' if finding.holds else 'NOT'}  {finding.words}")
    print("\nThe verdict holds." if holds else "\nThe verdict does NOT hold.")
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--seconds", type=float, default=HOUR, help="how long to crawl [default: 3600]")
    parser.add_argument("--every", type=float, default=EVERY, help="seconds between samples [default: 10]")
    parser.add_argument("--hosts", type=int, default=600, help="plain hosts, each asked every 2 s [default: 600]")
    parser.add_argument("--into", type=Path, default=Path("build/soak"), help="where figures go [default: build/soak]")
    parser.add_argument("--keep", action="store_true", help="keep what was crawled")
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix="crawl-", dir=given.into)).absolute()
    log = given.into / "crawl.log"
    every = min(given.every, given.seconds / 60)
    try:
        with web(given.hosts, min(EDITION_EVERY, given.seconds / 10)) as said, log.open("wb") as words:
            with crawl(said.port, said.seeds, work, given.seconds, words) as child:
                port = metrics_port(log, child)
                samples = watch(child, said.pid, port, work / "crawl", given.seconds, every)
            code = child.returncode
    finally:
        if not given.keep:
            shutil.rmtree(work, ignore_errors=True)
    if not samples:
        print(f"the crawl ended with exit code {code} before it could be looked at; its words are in {log}")
        return 1
    write_csv(samples, given.into / "samples.csv")
    draw(samples, given.into / "soak.png")
    return 0 if report(samples, given.seconds, code) else 1


if __name__ == "__main__":
    sys.exit(main())
