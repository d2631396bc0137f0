"""Every engine the contract suite runs on, each behind the same small harness.

A harness opens a frontier in a place of its own, can open it again (after `close`, or after a crash: dropped without a word),
and answers what the suite asks. Time is a number that the tests move by hand.
"""

import contextlib
import itertools
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gossamer.frontier import Frontier, FrontierSettings, RocksFrontier

T0 = 1_800_000_000.0


class Engine:
    """One engine in one place, opened and reopened."""

    def __init__(
        self,
        opener: Callable[[FrontierSettings], Frontier],
        crasher: Callable[[Frontier], None],
        elsewhere: Callable[[], "Engine"],
    ) -> None:
        self._opener = opener
        self._crasher = crasher
        self.elsewhere = elsewhere
        self._open: Frontier | None = None

    def open(self, **settings: Any) -> Frontier:
        settings.setdefault("robots", False)
        self._open = self._opener(FrontierSettings(**settings))
        return self._open

    def crash(self) -> None:
        """The process dies: nothing is closed, nothing more is written."""
        assert self._open is not None
        self._crasher(self._open)
        self._open = None

    async def stop(self) -> None:
        if self._open is not None:
            await self._open.close()
            self._open = None


def listing(folder: Path) -> list[tuple[str, int, int]]:
    """What is in a folder, to notice a change."""
    found = []
    for path in sorted(folder.iterdir()):
        with contextlib.suppress(FileNotFoundError):  # gone since: the next listing will differ
            found.append((path.name, path.stat().st_size, path.stat().st_mtime_ns))
    return found


def rocks(folder: Path) -> Engine:
    """RocksDB in a folder."""
    numbers = itertools.count()
    place = folder / f"frontier-{next(numbers)}"

    def opener(settings: FrontierSettings) -> Frontier:
        return RocksFrontier(place, settings, jitter=lambda: 0.5)

    def crasher(frontier: Frontier) -> None:
        # What the operating system has of the files at this instant is what a killed process leaves behind.
        nonlocal place
        assert isinstance(frontier, RocksFrontier)
        left = folder / f"frontier-{next(numbers)}"
        while True:
            before = listing(place)
            shutil.rmtree(left, ignore_errors=True)
            try:
                shutil.copytree(place, left, ignore=shutil.ignore_patterns("LOCK"))
            except shutil.Error:
                continue
            if listing(place) == before:  # else a compaction in the background changed files while they were copied
                break
        frontier.discard()
        place = left

    def elsewhere() -> Engine:
        return rocks(folder / f"elsewhere-{next(numbers)}")

    return Engine(opener, crasher, elsewhere)


ENGINES = {"rocks": rocks}


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Engine:
    return ENGINES[request.param](tmp_path)
