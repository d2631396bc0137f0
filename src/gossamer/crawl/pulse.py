"""Whether a worker that says nothing is at work or hangs.

A worker says it is alive once a second, unless it is reading a page: that is one long step, seconds long for the worst of pages. So what is
counted is not the time that passes but the time that the worker *had*: the CPU time it got while it runs (on a crowded
machine that is less than passes), all of the time while it sleeps or is stopped, and none while it waits for the disk, which is
nobody's fault and cannot be cured by killing. The parent counts its own ticks, so one that was itself stopped blames no one.
"""

import os
from pathlib import Path

__all__ = ["SILENCE", "Pulse", "vital_signs"]

SILENCE = 10.0
"""Seconds of its own without a word after which a worker hangs. Of all that the bounds let through, the worst page measured takes 0.4 s of CPU
to read, the worst sitemap 2.6 s."""

_TICKS = os.sysconf("SC_CLK_TCK")


class Pulse:
    """What is known of one worker's silence."""

    __slots__ = ("_cpu", "silent")

    def __init__(self) -> None:
        self.silent = 0.0
        """Seconds without a word, as the worker had them."""
        self._cpu = 0.0

    def heard(self) -> None:
        self.silent = 0.0

    def tick(self, pid: int, seconds: float) -> bool:
        """So many seconds have passed; whether the worker hangs."""
        signs = vital_signs(pid)
        if signs is None:
            return False  # it is gone, and its socket will tell
        state, cpu = signs
        had, self._cpu = max(cpu - self._cpu, 0.0), cpu
        if state == "R":
            self.silent += min(had, seconds)
        elif state != "D":
            self.silent += seconds
        return self.silent >= SILENCE


def vital_signs(pid: int) -> tuple[str, float] | None:
    """What a process is doing (`R` runs or could, `S` sleeps, `T` is stopped, `D` waits for the disk) and its CPU seconds so far.

    One of its threads that waits for the disk stands for all: the others wait for that one.
    """
    try:
        fields = _fields(Path(f"/proc/{pid}/stat"))
        state = fields[0]
        if state == "S" and any(_fields(task / "stat")[0] == "D" for task in Path(f"/proc/{pid}/task").iterdir()):
            state = "D"
    except (OSError, IndexError):
        return None
    return state, (int(fields[11]) + int(fields[12])) / _TICKS


def _fields(stat: Path) -> list[str]:
    """What follows the name, which may have anything in it."""
    return stat.read_text().rpartition(")")[2].split()
