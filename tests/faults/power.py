"""A power cut: after everything was killed, files are put into a state that the disk alone could be left in.

What was synced is there. Of all else nothing is sure, file by file and independently of each other:

- bytes after the last sync: as many as may be are kept; the rest is gone, zeros or noise (a file's length and its blocks reach a disk
  separately);
- a name that its folder was not synced with: gone, or, where a file was renamed, back to what it was.

RocksDB's tables and manifest are left alone: it syncs them itself before it relies on them. Its log is torn like any other file.
"""

import os
import random
import shutil
import time
from pathlib import Path

import msgspec

from tests.faults.recorder import Synced

__all__ = ["Power"]


class Power:
    """What of a crawl's folder is on the disk, by a recorder's journal and by what was there before it began."""

    def __init__(self, folder: Path, journal: Path) -> None:
        self._folder = folder
        self._journal = journal
        self.torn = self.dropped = 0
        """Files that lost bytes, and names that were lost."""
        self.look()

    def look(self) -> None:
        """All that is there now is on the disk."""
        self._journal.unlink(missing_ok=True)
        self._sizes = {str(path): path.stat().st_size for path in self._folder.rglob("*") if path.is_file()}
        self._names = {str(path) for path in (self._folder, *self._folder.rglob("*")) if path.exists()}
        self._begun = time.monotonic()
        self._at: dict[str, float] = {}
        self._before: dict[str, str] = {}

    def _read(self) -> None:
        for line in self._journal.read_bytes().splitlines() if self._journal.exists() else []:
            synced = msgspec.json.decode(line, type=Synced)
            if synced.size is not None:
                self._sizes[synced.path] = synced.size
                self._at[_writer(synced.path)] = synced.at
            if synced.now is not None:
                self._sizes[synced.now] = self._sizes.get(synced.path, 0)
                self._before[synced.now] = synced.path
            self._names |= {os.path.join(synced.path, name) for name in synced.names or ()}

    def holds(self, path: Path) -> bool:
        """Whether the name is on the disk."""
        self._read()
        return str(path) in self._names

    def _unsafe_since(self) -> float:
        """The monotonic time after which something was written that is not on the disk."""
        files = [*(self._folder / "warc").glob("*.warc.gz"), *(self._folder / "frontier").glob("*.log")]
        torn = [str(path) for path in files if path.stat().st_size != self._sizes.get(str(path))]
        return min((self._at.get(_writer(path), self._begun) for path in torn), default=float("inf"))

    def cut(self, dice: random.Random) -> float:
        """The power is gone, and back; since when what was done may be lost."""
        self._read()
        since = self._unsafe_since()
        self._lose_names(self._folder, dice)
        for path in self._folder.rglob("*") if self._folder.exists() else ():
            if path.is_file() and (path.parent.name != "frontier" or path.suffix == ".log"):
                self._tear(path, dice)
        self.look()
        return since

    def _lose_names(self, path: Path, dice: random.Random) -> None:
        if not path.exists():
            return
        if str(path) not in self._names and dice.random() < 0.7:
            self.dropped += 1
            if str(path) in self._before and dice.random() < 0.5:
                path.rename(self._before[str(path)])
            elif path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()
        elif path.is_dir() and path.name != "frontier":
            for each in sorted(path.iterdir()):
                self._lose_names(each, dice)

    def _tear(self, path: Path, dice: random.Random) -> None:
        data = path.read_bytes()
        synced = self._sizes.get(str(path), 0)
        if synced >= len(data):
            return
        self.torn += 1
        left = dice.choice([synced, dice.randint(synced, len(data))])
        lost = len(data) - left
        filling = dice.choice([b"", bytes(lost), dice.randbytes(lost), bytes(dice.randint(0, lost))])
        path.write_bytes(data[:left] + filling)


def _writer(path: str) -> str:
    """Whose syncs count for a file: a worker syncs all of its own at once, the frontier all of its log."""
    name = os.path.basename(path)
    return name.split("-")[2] if name.startswith("gossamer-") else "frontier"
