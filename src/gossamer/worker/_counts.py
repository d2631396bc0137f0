"""What a worker has done so far, for the terminal view, metrics and the closing report."""

import re
import resource
from pathlib import Path

import msgspec

__all__ = ["Counts", "peak_memory"]

_PEAK = re.compile(r"VmHWM:\s+(\d+) kB")


def peak_memory() -> int:
    """Peak resident bytes of this process. Not `ru_maxrss`: that begins with what the program that started us had."""
    try:
        found = _PEAK.search(Path("/proc/self/status").read_text())
    except OSError:
        found = None
    return 1024 * (int(found[1]) if found else resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


class Counts(msgspec.Struct, array_like=True):
    """Counters since the worker started; they only grow, but for `flying`."""

    pages: int = 0
    """Pages answered."""
    stored: int = 0
    """Pages whose body is kept."""
    exact: int = 0
    near: int = 0
    failed: int = 0
    retried: int = 0
    denied: int = 0
    """Pages that robots.txt asks to leave alone."""
    size: int = 0
    """Bytes of bodies as sent."""
    links: int = 0
    statuses: dict[int, int] = {}
    """Answers by status class: 2, 3, 4, 5; 0 for none."""
    flying: int = 0
    """Leases in hand."""
    cpu: float = 0.0
    """CPU seconds of the process."""
    memory: int = 0
    """Peak resident bytes of the process."""
