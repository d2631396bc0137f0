"""What a crawl is doing, as one small value a tick: the terminal view, the progress lines and the metrics all read it.

The frontier's books are exact at every instant; the workers' own counters arrive with their heartbeat, once a second. Rates are
taken over the last `SPAN` seconds. A tick costs about a quarter of a millisecond; the slowest hosts, which take longer to find when there
are many, are looked up every few seconds only.
"""

import contextlib
import resource
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from gossamer.cli.limits import Figures, Limit, Limiting, limit_of
from gossamer.crawl import Crawl
from gossamer.frontier import HostView, Stats
from gossamer.frontier.inspect import Standing, slowest, standing
from gossamer.worker import Counts, peak_memory

__all__ = ["Sample", "Sampler"]

SPAN = 5.0
HOSTS_EVERY = 3.0


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A crawl at one instant."""

    seconds: float
    """Since this run began."""
    stats: Stats
    counts: Counts
    """Of all workers together, this run."""
    hosts: Standing
    slowest: tuple[HostView, ...] = ()
    pages_now: float = 0.0
    """Pages a second over the last seconds."""
    pages_mean: float = 0.0
    """Pages a second since this run began."""
    bytes_now: float = 0.0
    worker_cpu: float = 0.0
    parent_cpu: float = 0.0
    cpu_seconds: float = 0.0
    workers: int = 0
    capacity: int = 0
    memory: int = 0
    """Peak resident bytes of all processes together."""
    worker_deaths: int = 0
    ending: str | None = None
    limit: Limit = Limit(Limiting.STARTING, "opening the frontier")


class _Point(msgspec.Struct, frozen=True):
    at: float
    pages: int
    size: int
    workers: float
    parent: float
    machine: tuple[int, int]
    hosts: Standing


class Sampler:
    """Takes samples of one crawl."""

    def __init__(
        self, crawl: Crawl, clock: Callable[[], float] = time.monotonic, wall: Callable[[], float] = time.time
    ) -> None:
        self._crawl = crawl
        self._clock = clock
        self._wall = wall
        self._started = clock()
        self._base: int | None = None if crawl.folder.frontier.exists() else 0
        self._base_again = 0
        self._points: deque[_Point] = deque()
        self._slowest: tuple[HostView, ...] = ()
        self._slowest_at = -HOSTS_EVERY

    def pages_of(self, fetched: int) -> int:
        """How many of the pages fetched by all runs in the folder are of this one."""
        return fetched - (self._base or 0)

    async def take(self) -> Sample:
        """The crawl now."""
        now = self._clock()
        desk = self._crawl.desk
        if desk is None:
            return Sample(seconds=now - self._started, stats=Stats(), counts=Counts(), hosts=Standing())
        stats = await desk.stats()
        counts = self._crawl.counts()
        together = _sum(counts)
        usage = resource.getrusage(resource.RUSAGE_SELF)
        own = usage.ru_utime + usage.ru_stime
        alone = self._crawl.settings.workers == 0
        if self._base is None:
            self._base, self._base_again = stats.fetched, stats.revisits
        hosts = standing(desk.frontier)
        visits = stats.fetched + stats.revisits
        point = _Point(now, visits, stats.size, together.cpu, own, _machine(), hosts)
        self._points.append(point)
        while len(self._points) > 2 and now - self._points[1].at >= SPAN:
            self._points.popleft()
        if now - self._slowest_at >= HOSTS_EVERY:
            self._slowest, self._slowest_at = tuple(slowest(desk.frontier, 4)), now
        first = self._points[0]
        span = max(now - first.at, 1e-9)
        workers = self._crawl.workers()
        worker_cpu = (together.cpu - first.workers) / span / workers
        parent_cpu = 0.0 if alone else (own - first.parent) / span
        capacity = workers * self._crawl.settings.concurrency
        figures = Figures(
            ending=desk.ending,
            started=together.flying > 0 or stats.leased > 0 or together.pages > 0,
            worker_cpu=worker_cpu,
            parent_cpu=parent_cpu,
            machine_cpu=_share(first.machine, point.machine),
            disk_pressure=_disk_pressure(),
            flying=stats.leased,
            capacity=capacity,
            ready=_mean([p.hosts.ready for p in self._points]),
            busy=_mean([p.hosts.busy for p in self._points]),
            waiting=_mean([p.hosts.waiting for p in self._points]),
            queued=stats.queued,
            next_in=desk.asleep_until - self._wall() if desk.asleep_until else None,
        )
        elapsed = max(now - self._started, 1e-9)
        return Sample(
            seconds=elapsed,
            stats=stats,
            counts=together,
            hosts=hosts,
            slowest=self._slowest,
            pages_now=(visits - first.pages) / span if len(self._points) > 1 else 0.0,
            pages_mean=(visits - self._base - self._base_again) / elapsed,
            bytes_now=(stats.size - first.size) / span if len(self._points) > 1 else 0.0,
            worker_cpu=worker_cpu,
            parent_cpu=parent_cpu,
            cpu_seconds=together.cpu + (0.0 if alone else own),
            workers=workers,
            capacity=capacity,
            memory=together.memory + (0 if alone else peak_memory()),
            worker_deaths=(await self._crawl.report()).worker_deaths,
            ending=desk.ending,
            limit=limit_of(figures),
        )


def _sum(counts: list[Counts]) -> Counts:
    statuses: dict[int, int] = {}
    for each in counts:
        for kind, number in each.statuses.items():
            statuses[kind] = statuses.get(kind, 0) + number
    names = [name for name in Counts.__struct_fields__ if name != "statuses"]
    return Counts(statuses=statuses, **{name: sum(getattr(each, name) for each in counts) for name in names})


def _mean(values: list[int]) -> int:
    """One instant says little: a host is now asked, now left alone."""
    return round(sum(values) / len(values))


def _machine() -> tuple[int, int]:
    """Ticks in which the cores of this machine did something, and all ticks."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        line = Path("/proc/stat").read_bytes().split(b"\n", 1)[0]
        ticks = [int(part) for part in line.split()[1:9]]
        return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
    return 0, 0


def _share(before: tuple[int, int], after: tuple[int, int]) -> float:
    # Over less than a fifth of a second on one core the kernel's ticks say nothing.
    all_ticks = after[1] - before[1]
    return (after[0] - before[0]) / all_ticks if all_ticks > 20 else 0.0


def _disk_pressure() -> float:
    """Share of the last 10 seconds in which some process waited for the disk; 0 where the kernel does not say."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        some = Path("/proc/pressure/io").read_bytes().split(b"\n", 1)[0]
        return float(some.split(b"avg10=")[1].split()[0]) / 100
    return 0.0
