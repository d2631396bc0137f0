"""Running `gossamer` as a user does, against a small synthetic web."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

from gossamer.sim.web import Running, Web

__all__ = ["FAST", "Site", "gossamer", "started"]

# A crawl that need not be gentle, in one process: most tests ask about the command line, not about workers.
FAST = ("--scope", "any", "--delay", "0", "--workers", "0", "--set", "politeness.answer_multiple=0")


class Site(msgspec.Struct, frozen=True):
    """A web that is being served."""

    web: Web
    running: Running

    @property
    def seed(self) -> str:
        return self.web.seeds()[0]

    def crawl(self, folder: Path, *more: str) -> list[str]:
        """The command that crawls it."""
        return ["crawl", self.seed, "--into", str(folder), "--connect-to", self.running.connect_to, *FAST, *more]

    def expected(self) -> set[str]:
        """What a complete crawl stores."""
        return set(self.web.reachable(self.web.seeds(), scope="any").stored)


def started(*arguments: str, **more: Any) -> "subprocess.Popen[str]":
    """`gossamer` in a process, its output in pipes."""
    environment = {**os.environ, "PYTHONWARNINGS": "error", "COLUMNS": "100"}
    return subprocess.Popen(
        [sys.executable, "-m", "gossamer", *arguments],
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, **more},
        env=environment,
    )


def gossamer(*arguments: str, stdin: str | None = None, cwd: Path | None = None) -> "subprocess.CompletedProcess[str]":
    """`gossamer` to its end."""
    process = started(*arguments, cwd=cwd, stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL)
    out, err = process.communicate(stdin, timeout=60)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)
