"""Run a command and say what its whole process tree used.

CPU time is user and system time of the command and of everything it started, as the kernel adds it up when children are waited
for. A child that outlives its parent would be missed, so this process becomes the heir of orphans (a Linux "subreaper") and
waits for them too: each command runs in a process group of its own, which is how its orphans are known.
"""

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

__all__ = ["Used", "measured"]

_PR_SET_CHILD_SUBREAPER = 36
ROOT = Path(__file__).parents[2]
"""Where commands run: `python -m bench.floor` is found from here."""


class Used(msgspec.Struct, frozen=True):
    """What a command came to."""

    code: int
    cpu: float
    wall: float


def measured(command: Sequence[str], folder: Path, timeout: float = 600.0, bytecode: Path | None = None) -> Used:
    """Run a command with its output in `folder` (stdout, stderr); a run past the timeout is killed and has a code below 0.

    With `bytecode`, Python keeps compiled modules there, whatever the environment says of it: an installed program does not
    compile itself at each start.
    """
    environment = dict(os.environ)
    if bytecode is not None:
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    _inherit_orphans(True)
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        start = time.monotonic()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, cwd=ROOT, env=environment,
        )  # fmt: skip
        alarm = threading.Timer(timeout, os.killpg, (process.pid, signal.SIGKILL))
        alarm.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            cpu = usage.ru_utime + usage.ru_stime
            wall = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            cpu += _orphans(process.pid)
        finally:
            alarm.cancel()
            _inherit_orphans(False)
    return Used(process.returncode, cpu, wall)


def _inherit_orphans(wanted: bool) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(wanted), 0, 0, 0)


def _orphans(group: int) -> float:
    """CPU time of what the command left behind, waited for."""
    cpu = 0.0
    while True:
        try:
            _, _, usage = os.wait4(-group, 0)
        except ChildProcessError:
            return cpu
        cpu += usage.ru_utime + usage.ru_stime
