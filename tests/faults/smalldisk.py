"""A disk of our own, as small as a test wants it, that can be filled, grown and made read-only.

It is a tmpfs in a mount namespace of its own, kept alive by a shell and reached through that shell's /proc/PID/root: root needs nothing
more than that, others get it from a user namespace. Where neither may be had, a limit on the size of files stands in for the disk: what
fails then is the same write with another reason.
"""

import contextlib
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

__all__ = ["SmallDisk", "small_disk"]

SHELL = 'mount -t tmpfs -o size=64m gossamer "$0" && echo ok; while read -r line; do eval "$line" && echo ok || echo no; done'
NOTHING = 0


class SmallDisk:
    """A folder on a disk with little room."""

    def __init__(self, folder: Path, tell: Callable[[str], None] | None) -> None:
        self.folder = folder
        self._tell = tell
        self._most: int | None = None
        self.full = "the disk is full" if tell else "the file would be larger than this system allows"
        self.read_only = "the disk is read-only" if tell else self.full

    def leave(self, room: int) -> None:
        """Only so many more bytes fit."""
        files = [path.stat() for path in self.folder.rglob("*") if path.is_file()]
        if self._tell is not None:
            self._tell(f"size={sum(file.st_blocks for file in files) * 512 + room}")
        else:
            self._most = max((file.st_size for file in files), default=0) + room

    def free(self) -> None:
        """All the room in the world, and writable."""
        self._most = None
        if self._tell is not None:
            self._tell("size=512m,rw")

    def protect(self) -> None:
        """Nothing can be written any more."""
        self._most = NOTHING
        if self._tell is not None:
            self._most = None
            self._tell("ro")

    def limit(self) -> None:
        """For the process that is to feel it, before it begins."""
        if self._most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (self._most, resource.RLIM_INFINITY))


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A disk that is mounted at `folder`, for whoever knows the way."""
    folder.mkdir(parents=True)
    flags = ["--mount"] if os.geteuid() == 0 else ["--mount", "--user", "--map-root-user"]
    with subprocess.Popen(
        ["unshare", *flags, "--propagation", "private", "sh", "-c", SHELL, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as shell:
        assert shell.stdin is not None
        assert shell.stdout is not None
        into, out = shell.stdin, shell.stdout
        mounted = out.readline() == "ok\n"

        def tell(options: str) -> None:
            into.write(f"mount -o remount,{options} {folder}\n")
            into.flush()
            assert out.readline() == "ok\n", options

        seen = Path(f"/proc/{shell.pid}/root{folder}")
        try:
            yield SmallDisk(seen if mounted else folder, tell if mounted else None)
        finally:
            into.close()
