"""The judgement of a soak: two windows of samples beside each other, and what may not differ between them.

Of an hour, minutes 10 to 20 are the *base* (warm, every bounded cache near its bound) and the last 10 minutes the *end*. A shorter run has
windows in the same proportion, and says less.
"""

from collections.abc import Sequence

import msgspec

from bench.soak.probe import Sample

__all__ = ["Finding", "Window", "judge", "windows"]

MEMORY_GROWTH = 1.10
HANDLE_GROWTH = 1.10
HANDLE_SLACK = 16
"""A database that merges its files, or connections that come and go, are a few handles up or down."""
THROUGHPUT = 0.95
DISK = 10 * 10**9


class Window(msgspec.Struct, frozen=True):
    """The samples of a span of time."""

    samples: Sequence[Sample]

    @property
    def seconds(self) -> float:
        return self.samples[-1].at - self.samples[0].at

    @property
    def pages_a_second(self) -> float:
        return (self.samples[-1].pages - self.samples[0].pages) / self.seconds

    @property
    def pages_a_cpu_second(self) -> float:
        used = self.samples[-1].cpu - self.samples[0].cpu
        return (self.samples[-1].pages - self.samples[0].pages) / used if used > 0 else 0.0

    @property
    def cores(self) -> float:
        return (self.samples[-1].cpu - self.samples[0].cpu) / self.seconds

    def mean(self, role: str, name: str) -> float:
        values = [getattr(s.processes[role], name) for s in self.samples if role in s.processes]
        return sum(values) / len(values) if values else 0.0


class Finding(msgspec.Struct, frozen=True):
    """One comparison, and whether it is as it should be."""

    holds: bool
    words: str


def windows(samples: Sequence[Sample], seconds: float) -> tuple[Window, Window]:
    """The base and the end."""
    base = [s for s in samples if seconds / 6 <= s.at < seconds / 3]
    end = [s for s in samples if s.at >= seconds * 5 / 6]
    if min(len(base), len(end)) < 2:
        raise ValueError("too few samples to compare: soak longer, or sample more often")
    return Window(base), Window(end)


def judge(samples: Sequence[Sample], seconds: float) -> list[Finding]:
    """Everything that was promised, each with its figures."""
    base, end = windows(samples, seconds)
    roles = list(samples[-1].processes)
    found = [_memory(role, base, end) for role in roles] + [_handles(role, base, end) for role in roles]
    found.append(_throughput("pages a second", base.pages_a_second, end.pages_a_second))
    found.append(_throughput("pages a CPU second", base.pages_a_cpu_second, end.pages_a_cpu_second))
    last = samples[-1]
    stored = last.frontier + last.warc + last.table
    found.append(Finding(stored < DISK, f"disk: {stored / 1e9:.2f} GB written (at most {DISK / 1e9:.0f})"))
    found.append(Finding(last.deaths == 0, f"workers: {last.deaths} died"))
    return found


def _memory(role: str, base: Window, end: Window) -> Finding:
    before, after = base.mean(role, "rss"), end.mean(role, "rss")
    shared = end.mean(role, "pss")
    words = (
        f"memory of {role}: {before / 1e6:.0f} → {after / 1e6:.0f} MB resident"
        f" ({_change(before, after)}; {shared / 1e6:.0f} MB its own share)"
    )
    return Finding(after <= before * MEMORY_GROWTH, words)


def _handles(role: str, base: Window, end: Window) -> Finding:
    before, after = base.mean(role, "handles"), end.mean(role, "handles")
    threads = f"{base.mean(role, 'threads'):.0f} → {end.mean(role, 'threads'):.0f} threads"
    return Finding(
        after <= before * HANDLE_GROWTH + HANDLE_SLACK, f"handles of {role}: {before:.0f} → {after:.0f}; {threads}"
    )


def _throughput(what: str, before: float, after: float) -> Finding:
    return Finding(after >= THROUGHPUT * before, f"{what}: {before:,.1f} → {after:,.1f} ({_change(before, after)})")


def _change(before: float, after: float) -> str:
    return f"{100 * (after / before - 1):+.1f} %" if before else "from nothing"
