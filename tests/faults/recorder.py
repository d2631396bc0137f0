"""`gossamer` with a witness: `python -m tests.faults.recorder JOURNAL crawl …` writes down what the disk was asked to keep.

Every fsync and fdatasync of every process of the crawl is a line in JOURNAL: the file and how long it was when the call began, or the
folder and the names that were in it. The frontier's log (RocksDB) is synced by the library, out of sight; its length is taken when
`Disk.sync` begins. A line is written before the caller learns that the call is over, so nobody can have relied on what is not in it.

Syncs are more frequent than in a real crawl, which would be over before the second one.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from gossamer.cli import main
from gossamer.crawl import run
from gossamer.frontier.disk import Disk
from gossamer.worker import _worker

__all__ = ["SYNC_EVERY", "Synced"]

SYNC_EVERY = 0.15


class Synced(msgspec.Struct, frozen=True):
    """A path that is on the disk: a file up to `size`, a folder with `names`; or a file that has another name now."""

    at: float
    path: str
    size: int | None = None
    names: list[str] | None = None
    now: str | None = None


def _looked_at(path: str) -> Synced:
    at = time.monotonic()
    if os.path.isdir(path):
        return Synced(at, path, names=os.listdir(path))
    return Synced(at, path, size=os.stat(path).st_size)


def record(journal: Path) -> None:
    """From now on, in this process and those it forks."""
    lines = os.open(journal, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def note(synced: list[Synced]) -> None:
        os.write(lines, b"".join(msgspec.json.encode(each) + b"\n" for each in synced))

    def witnessed(call: Any) -> Any:
        def calling(fd: Any) -> None:
            looked = _looked_at(os.readlink(f"/proc/self/fd/{fd if isinstance(fd, int) else fd.fileno()}"))
            call(fd)
            note([looked])

        return calling

    def moving(call: Any) -> Any:
        def renaming(old: Any, new: Any) -> None:
            call(old, new)
            note([Synced(time.monotonic(), os.path.abspath(old), now=os.path.abspath(new))])

        return renaming

    os.fsync, os.fdatasync = witnessed(os.fsync), witnessed(os.fdatasync)
    os.rename, os.replace = moving(os.rename), moving(os.replace)
    sync = Disk.sync

    def syncing(self: Disk) -> None:
        looked = [_looked_at(str(path)) for path in Path(self._folder).glob("*.log")]
        sync(self)
        note(looked)

    Disk.sync = syncing  # type: ignore[method-assign]


if __name__ == "__main__":
    record(Path(sys.argv[1]))
    run.FRONTIER_SYNC = _worker.SYNC_EVERY = SYNC_EVERY
    sys.exit(main(sys.argv[2:]))
