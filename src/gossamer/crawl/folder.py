"""A crawl's folder, and what it remembers of how it was started.

DIR/crawl.json    seeds and settings: what a second run is compared with
DIR/frontier/     RocksDB
DIR/warc/         the log
DIR/pages/        the table
"""

import os
from pathlib import Path

import msgspec

from gossamer.errors import ConfigError, GossamerError, disk_trouble
from gossamer.settings import Settings, Text, changed
from gossamer.store import sync_folder

__all__ = ["REPARSED", "Crawled", "Folder"]

REPARSED = "reparsed.json"
"""In DIR/pages: the choice of text of a table that was made anew with another one than the crawl's."""


class Crawled(msgspec.Struct, frozen=True):
    """What a crawl was asked to do."""

    version: str
    started: float
    seeds: tuple[str, ...]
    settings: Settings


# These change how a crawl runs, not what it is: a second run may differ in them without asking.
_FREE = (
    "workers",
    "concurrency",
    "max_",
    "hosts_in_memory",
    "frontier_cache",
    "patience",
    "continuous",
    "recrawl",
    "revisit_every",
    "visits_per_day",
    "fetch.proxy",
    "fetch.nameservers",
    "fetch.connect_to",
    "store.",
)
# But these budgets say which pages belong to it.
_BOUND = ("max_depth", "max_pages_per_host", "max_redirects")


class Folder:
    """The folder of one crawl."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.frontier = path / "frontier"

    @property
    def _record(self) -> Path:
        return self.path / "crawl.json"

    def exists(self) -> bool:
        return self._record.exists()

    def load(self) -> Crawled:
        """What the crawl was asked to do; a clear sentence when there is none."""
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Crawled)
        except FileNotFoundError:
            raise GossamerError(f"{self.path} is not the folder of a crawl: there is no crawl.json in it") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, OSError) as error:
            raise GossamerError(f"{self._record} cannot be read: {error}") from None

    def save(self, crawled: Crawled) -> None:
        """Write the record whole or not at all; once written, folder and all, no loss of power takes it away."""
        try:
            self._make()
            temporary = self._record.with_suffix(".tmp")
            with temporary.open("wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode(crawled), indent=1))
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(self._record)
            sync_folder(self.path)
        except OSError as error:
            raise GossamerError(f"cannot write {self._record}: {disk_trouble(error)}") from None

    def _make(self) -> None:
        """The folder, and what is above it; each new name is synced where it stands."""
        missing = [path for path in (self.path, *self.path.parents) if not path.exists()]
        self.path.mkdir(parents=True, exist_ok=True)
        for path in missing:
            sync_folder(path.parent)

    def adopt(self) -> None:
        """The choice of text that the page table was last made anew with becomes that of the crawl.

        It came with the new table, in the one step that put it there: a crash in between is finished here.
        """
        marker = self.path / "pages" / REPARSED
        if marker.exists():
            text, crawled = msgspec.json.decode(marker.read_bytes(), type=Text), self.load()
            self.save(msgspec.structs.replace(crawled, settings=msgspec.structs.replace(crawled.settings, text=text)))
            marker.unlink()

    def agree(self, seeds: tuple[str, ...], settings: Settings, *, force: bool) -> Crawled:
        """The record of the crawl to continue; refuses other settings than it was begun with, unless forced."""
        self.adopt()
        before = self.load()
        differences = [line for line in changed(before.settings, settings) if not _free(line)]
        new = [seed for seed in seeds if seed not in before.seeds]
        if new:
            differences.append(f"seeds: {len(new)} more ({', '.join(new[:3])}{', …' if len(new) > 3 else ''})")
        if differences and not force:
            raise ConfigError(
                f"{self.path} was begun with other settings:\n  " + "\n  ".join(differences) + "\n"
                "Run it with the settings it had to go on, add --force to go on with the new ones, "
                "or crawl into another folder."
            )
        return msgspec.structs.replace(before, seeds=before.seeds + tuple(new), settings=settings)


def _free(line: str) -> bool:
    name = line.partition(":")[0]
    return (name.startswith(_FREE) and not name.startswith(_BOUND)) or name in ("connect_to", "proxy", "nameservers")
