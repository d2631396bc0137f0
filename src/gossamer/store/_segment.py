"""One WARC file while it is being written: whole records or none.

A record is on file when `write` returns. If the disk refuses half-way, the file is cut back to where it was, so that nothing
already written is damaged and the next write can succeed as soon as there is room. The file is locked (`flock`) as long as it
is open: recovery leaves it alone then.
"""

import errno
import fcntl
import os
from collections.abc import Mapping
from pathlib import Path

from gossamer.store._values import StoreError, translated
from gossamer.store._warc_write import new_prefix, warcinfo

__all__ = ["Segment", "sync_folder"]


class Segment:
    """An open WARC file that only grows."""

    __slots__ = ("_fd", "broken", "end", "number", "path", "prefix", "synced")

    def __init__(self, path: Path, at: float, info: Mapping[str, str], level: int) -> None:
        """Creates the file with its `warcinfo`; FileExistsError when there is one, StoreError when it cannot be."""
        self.path = path
        prefix = new_prefix()
        self.prefix = prefix.encode("ascii")
        self.number = 1
        """The next free record id; 0 is the warcinfo's."""
        self.end = 0
        self.synced = 0
        self.broken = False
        """What is past `end` could not be removed: nothing more may be appended."""
        try:
            self._fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            raise
        except OSError as error:
            raise translated(error, path) from error
        try:
            _lock(self._fd)
            self.write(warcinfo(prefix, at, path.name, info, level))
        except BaseException:
            os.close(self._fd)
            path.unlink(missing_ok=True)
            raise

    @property
    def name(self) -> str:
        return self.path.name

    def write(self, data: bytes) -> int:
        """Appends all of `data` and returns where it begins; or StoreError, and the file is as it was."""
        start = self.end
        try:
            written = os.write(self._fd, data)
            while written < len(data):  # a nearly full disk takes a part first and refuses the rest
                written += os.write(self._fd, memoryview(data)[written:])
        except OSError as error:
            self._cut_back(start)
            raise translated(error, self.path) from error
        except BaseException:  # an interrupt between two parts
            self._cut_back(start)
            raise
        self.end = start + len(data)
        return start

    def sync(self, upto: int) -> None:
        """Makes the first `upto` bytes durable. A blocking call; `write` may go on in another thread meanwhile."""
        if self.synced >= upto:
            return
        try:
            os.fdatasync(self._fd)
        except OSError as error:
            raise translated(error, self.path, "secure") from error
        self.synced = upto

    def close(self) -> None:
        os.close(self._fd)

    def _cut_back(self, size: int) -> None:
        try:
            os.ftruncate(self._fd, size)
        except OSError:
            self.broken = True


def _lock(fd: int) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL):  # some network disks
            raise StoreError(
                "Another process has locked a file that was only just created; is it recovering this folder?"
            ) from error


def sync_folder(folder: Path) -> None:
    """Makes names in `folder` durable: a new file survives a power cut only once its folder is synced too."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)
