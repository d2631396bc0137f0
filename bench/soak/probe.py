"""A crawl looked at from outside: what the kernel says of its processes, what it says of itself, what is on the disk."""

import contextlib
import os
import re
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import msgspec

__all__ = ["Process", "Sample", "children", "folder_size", "metrics", "process"]

_TICK = os.sysconf("SC_CLK_TCK")
_METRIC = re.compile(r"^(\w+(?:\{[^}]*\})?) (\S+)$", re.MULTILINE)


class Process(msgspec.Struct, frozen=True):
    """One process at one instant."""

    rss: int
    pss: int
    handles: int
    threads: int
    cpu: float
    """Seconds, of itself and of the children it has waited for."""


class Sample(msgspec.Struct, frozen=True):
    """Everything at one instant."""

    at: float
    """Seconds since the crawl began."""
    processes: dict[str, Process]
    """By role: parent, nursery, worker-1, …, web."""
    pages: int
    size: int
    """Bytes downloaded."""
    queued: int
    waiting: int
    known: int
    """URLs known."""
    hosts: int
    in_flight: int
    deaths: int
    frontier: int
    """Bytes of RocksDB on disk."""
    warc: int
    table: int

    @property
    def cpu(self) -> float:
        """CPU seconds of the crawler."""
        return sum(each.cpu for role, each in self.processes.items() if role != "web")


def process(pid: int) -> Process | None:
    """What the kernel says of a process; None when it is gone."""
    root = Path("/proc") / str(pid)
    try:
        status = (root / "status").read_text()
        fields = (root / "stat").read_text().rpartition(")")[2].split()
        rollup = (root / "smaps_rollup").read_text()
        handles = len(os.listdir(root / "fd"))
    except OSError:
        return None
    return Process(
        rss=_kilobytes(status, "VmRSS"),
        pss=_kilobytes(rollup, "Pss"),
        handles=handles,
        threads=int(_field(status, "Threads")),
        cpu=sum(map(int, fields[11:15])) / _TICK,
    )


def _field(text: str, name: str) -> str:
    found = re.search(rf"^{name}:\s*(\d+)", text, re.MULTILINE)
    return found[1] if found else "0"


def _kilobytes(text: str, name: str) -> int:
    return 1024 * int(_field(text, name))


def children(pid: int) -> list[int]:
    """The processes that a process started, oldest first."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (task / "children").read_text().split())
    return sorted(found)


def metrics(port: int) -> dict[str, float]:
    """What the crawl says of itself, by name and labels."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
        return {name: float(value) for name, value in _METRIC.findall(answer.read().decode())}


def folder_size(folder: Path) -> int:
    """Bytes that the files of a folder take; files come and go meanwhile."""
    return sum(_sizes(folder))


def _sizes(folder: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        for entry in os.scandir(folder):
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_blocks * 512
