"""What holds the crawl back right now: one of a few answers, each with a sentence, from figures that cost nothing to gather.

A crawl is never as fast as it could be for exactly one of these reasons, judged in this order:

    stopping     it has been told to end and finishes what is in hand
    cpu          the workers, the frontier's process or the whole machine compute all the time
    disk         processes wait for the disk much of the time (Linux' pressure figure)
    network      the workers have as many requests out as they may, or hosts take longer to answer than they are left alone
    politeness   most hosts in play are to be left alone for a while, and hardly any other may be asked
    work         there is hardly anything left to fetch
"""

from enum import StrEnum

import msgspec

__all__ = ["Figures", "Limit", "Limiting", "limit_of"]

FULL = 0.85
MACHINE_FULL = 0.95
PRESSED = 0.4


class Limiting(StrEnum):
    """What it is."""

    STARTING = "starting"
    STOPPING = "stopping"
    CPU = "cpu"
    DISK = "disk"
    NETWORK = "network"
    POLITENESS = "politeness"
    WORK = "work"


class Limit(msgspec.Struct, frozen=True):
    """What it is, and in which way."""

    what: Limiting
    sentence: str


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What is looked at; shares are of one core, 0 to 1, over the last seconds."""

    ending: str | None = None
    started: bool = True
    """Whether any worker has had a lease yet."""
    worker_cpu: float = 0.0
    """Mean over the workers."""
    parent_cpu: float = 0.0
    machine_cpu: float = 0.0
    """Of all cores, all processes."""
    disk_pressure: float = 0.0
    """Share of the time in which some process waited for the disk."""
    flying: int = 0
    capacity: int = 1
    """Requests that may be in flight: workers times concurrency."""
    ready: int = 0
    busy: int = 0
    waiting: int = 0
    queued: int = 0
    next_in: float | None = None
    """Seconds until the next host may be asked, when all wait."""


def limit_of(f: Figures) -> Limit:
    """Judge the figures."""
    if f.ending is not None:
        return Limit(Limiting.STOPPING, f"finishing {f.flying:,} pages in hand")
    if not f.started:
        return Limit(Limiting.STARTING, "workers are starting")
    if f.worker_cpu >= FULL:
        return Limit(Limiting.CPU, f"the workers compute {f.worker_cpu:.0%} of the time; more cores would help")
    if f.parent_cpu >= FULL:
        return Limit(Limiting.CPU, f"the frontier's process computes {f.parent_cpu:.0%} of the time")
    if f.disk_pressure >= PRESSED:
        return Limit(Limiting.DISK, f"processes wait for the disk {f.disk_pressure:.0%} of the time")
    if f.flying >= 0.75 * f.capacity:
        return Limit(Limiting.NETWORK, f"{f.flying:,} requests are out, as many as may be; --concurrency allows more")
    if f.waiting > f.busy and 4 * f.ready <= f.waiting:
        return Limit(Limiting.POLITENESS, _waiting(f))
    if f.machine_cpu >= MACHINE_FULL:
        return Limit(Limiting.CPU, "every core of this machine is busy, in part with other programs")
    if f.busy:
        return Limit(Limiting.NETWORK, f"{_counted(f.busy, 'host is', 'hosts are')} answering")
    if not f.queued:
        return Limit(Limiting.WORK, "nothing is queued but what failed and is tried again later")
    return Limit(Limiting.POLITENESS, _waiting(f))


def _waiting(f: Figures) -> str:
    who = _counted(f.waiting, "host in play is", "hosts in play are")
    soon = f", the next is asked in {f.next_in:,.1f} s" if f.next_in is not None and f.next_in >= 0.1 else ""
    return f"{who} left alone for a moment{soon}"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
