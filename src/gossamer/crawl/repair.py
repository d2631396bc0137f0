"""What `verify` found, cured: `gossamer verify --repair`.

Bytes first, then rows, then the frontier, and then all of it is looked at again: what a cure uncovers (a URL whose bytes were set aside)
is cured in the next round. Nothing is deleted that could not be made again: damaged bytes lie in DIR/damaged before they go. Every step is
made whole (written, synced, renamed) or found again by the next repair, so one that is cut off can just be run again.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow.parquet as pq

from gossamer.crawl.folder import Crawled, Folder
from gossamer.crawl.reparse import rebuild
from gossamer.crawl.verify import Examined, Progress, Verdict, examine, must_be_stopped, verify
from gossamer.errors import FrontierError, InvalidURL
from gossamer.frontier import Link, RocksFrontier
from gossamer.frontier.audit import key_of
from gossamer.frontier.disk import Disk
from gossamer.frontier.mend import forget_content, mend, queue_again, recount, set_stored
from gossamer.frontier.records import UrlRecord
from gossamer.store import Location
from gossamer.store.check import Finding, blank, cut, keep_aside, move_aside, readable_at, settle
from gossamer.url import canonicalize

__all__ = ["Repaired", "repair"]

ROUNDS = 5

_BYTES = {
    "record-damaged", "record-foreign", "record-incomplete", "record-id", "exchange-broken", "length-wrong", "digest-wrong",
}  # fmt: skip
_ROWS = {"row-missing", "row-twice", "row-astray", "row-differs", "part-damaged"}


class Repaired(msgspec.Struct, frozen=True):
    """What was done, and how things stand after it."""

    done: tuple[str, ...]
    """A sentence for each thing that was done."""
    verdict: Verdict


def repair(folder: Path, *, progress: Progress | None = None) -> Repaired:
    """Cure all that can be cured in a stopped crawl."""
    place = Folder(folder)
    place.load()
    must_be_stopped(folder)
    done: list[str] = []
    for _ in range(ROUNDS):
        round_ = _Round(place, done, progress)
        if not round_.run():
            break
    return Repaired(tuple(done), verify(folder, progress=progress))


class _Round:
    """One look at everything and one cure of what was found."""

    def __init__(self, place: Folder, done: list[str], progress: Progress | None) -> None:
        self._place, self._folder, self._done, self._progress = place, place.path, done, progress

    def run(self) -> bool:
        """Whether there was anything that could be cured."""
        before = len(self._done)
        found = Examined()
        disk = self._open()
        again: list[Link] = []
        try:
            if settle(self._folder):
                self._done.append("What a rebuild of the page table had left half-made was removed.")
            self._place.adopt()
            crawled = self._place.load()
            examine(self._folder, disk.of if disk is not None else None, found, progress=self._progress)
            self._bytes(found)
            self._rows(found, crawled)
            if disk is not None and found.books is not None:
                again = self._frontier(disk, found, crawled)
        finally:
            if disk is not None:
                disk.close()
        if again:
            self._discover(again, crawled)
        return len(self._done) > before

    def _open(self) -> Disk | None:
        if not (self._place.frontier / "CURRENT").exists():
            return None
        try:
            return Disk(self._place.frontier)
        except FrontierError:
            return None  # verify has said so; what needs no frontier is mended all the same

    # --- bytes and rows -------------------------------------------------------------------------------------------

    def _bytes(self, found: Examined) -> None:
        for each in found.findings:
            path = self._folder / "warc" / each.file
            if each.kind == "warc-foreign" or (each.kind == "torn-tail" and each.offset == 0):
                if path.exists():
                    move_aside(self._folder, path)
                    self._done.append(f"{each.file} was moved to {self._folder}/damaged: {each.detail}.")
            elif each.kind == "torn-tail":
                if cut(self._folder, path, each.offset):
                    self._done.append(f"{each.length:,} bytes were cut off the end of {each.file}.")
            elif each.kind in _BYTES and blank(self._folder, path, each.offset, each.length):
                self._done.append(
                    f"{each.length:,} bytes of {each.file} at byte {each.offset:,} were set aside: {each.detail}."
                )

    def _rows(self, found: Examined, crawled: Crawled) -> None:
        pages = self._folder / "pages"
        stale: set[Path] = set()
        for each in found.findings:
            if each.kind in ("part-damaged", "part-orphaned") and (pages / each.file).exists():
                move_aside(self._folder, pages / each.file)
                self._done.append(f"{each.file} was moved to {self._folder}/damaged: {each.detail}.")
            if each.kind == "left-over" and (half := pages / each.file).is_file():
                half.unlink()
                self._done.append(f"{each.file}, half-written, was removed.")
            if each.kind in _ROWS or each.kind in _BYTES or each.kind == "torn-tail":
                stale.add(self._folder / "warc" / _warc_of(each))
        stale = {path for path in stale if path.exists()}
        if stale:
            rows, failed = rebuild(self._folder, stale, crawled.settings)
            names = ", ".join(sorted(path.name for path in stale)[:3]) + (", …" if len(stale) > 3 else "")
            told = f"; {failed:,} pages could not be read" if failed else ""
            self._done.append(f"{rows:,} rows of {names} were made anew{told}.")

    # --- the frontier ---------------------------------------------------------------------------------------------

    def _frontier(self, disk: Disk, found: Examined, crawled: Crawled) -> list[Link]:
        """Cures the frontier; the URLs that are to be discovered again."""
        curable = [flaw for flaw in found.flaws if flaw.kind not in ("books-wrong", "frontier-unreadable")]
        mended = mend(disk, curable, self._readable, self._aside)
        counted: Counter[str] = Counter(mended.done)
        for each in found.findings:
            if each.kind == "revisit-dangling":
                forget_content(disk, each.url)
                counted[each.kind] += queue_again(disk, key_of(each.url))
            elif each.kind == "stored-wrong":
                set_stored(disk, each.url)
                counted[each.kind] += 1
        self._done += [_sentence(kind, number) for kind, number in counted.items()]
        changed = recount(disk)
        if changed:
            self._done.append(f"The books were counted anew: {', '.join(changed)}.")
        again = {each.url: Link(each.url) for each in found.findings if each.kind == "capture-unknown"}
        if mended.nameless:
            named = dict(self._named(mended.nameless, crawled))
            again |= named
            lost = len(mended.nameless) - len(named)
            if lost:
                self._done.append(
                    f"{lost:,} URLs were known by a key only and no stored page links to them: they are forgotten, "
                    "and taken in again where they are found."
                )
        return list(again.values())

    def _discover(self, links: list[Link], crawled: Crawled) -> None:
        async def take_in() -> int:
            frontier = RocksFrontier(self._place.frontier, crawled.settings.frontier)
            try:
                return await frontier.discover(links, time.time())
            finally:
                await frontier.close()

        new = asyncio.run(take_in())
        self._done.append(f"{new:,} URLs were queued that the frontier did not know (any more).")

    def _readable(self, record: UrlRecord) -> bool:
        place = record.place
        if place is None:
            return False
        return readable_at(self._folder, Location(place.file, place.offset, place.length), record.url)

    def _aside(self, family: str, key: bytes, value: bytes) -> None:
        keep_aside(self._folder, f"frontier-{family}-{key.hex()}.bytes", value)

    def _named(self, nameless: set[bytes], crawled: Crawled) -> Iterator[tuple[str, Link]]:
        """URLs by the hash of their name, looked for among the seeds and in the page table."""
        left = set(nameless)
        for url, depth in _mentioned(self._folder, crawled):
            try:
                name = canonicalize(url, crawled.settings.url)
                key = key_of(name)
            except InvalidURL:
                continue
            if key in left:
                left.discard(key)
                yield name, Link(name, depth)
            if not left:
                return


def _mentioned(folder: Path, crawled: Crawled) -> Iterator[tuple[str, int]]:
    yield from ((seed, 0) for seed in crawled.seeds)
    for part in sorted((folder / "pages").glob("*.parquet")):
        columns = ["url", "depth", "links", "redirect_to"]
        for batch in pq.ParquetFile(part).iter_batches(1_000, columns=columns):
            for row in batch.to_pylist():
                yield row["url"], row["depth"]
                if row["redirect_to"]:
                    yield row["redirect_to"], row["depth"]
                yield from ((link, row["depth"] + 1) for link in row["links"] or ())


def _warc_of(each: Finding) -> str:
    return (
        f"{each.file.removesuffix('.parquet').rpartition('-')[0]}.warc.gz"
        if each.file.endswith(".parquet")
        else each.file
    )


def _sentence(kind: str, number: int) -> str:
    what: Callable[[str], str] = lambda text: f"{number:,} {text}"  # noqa: E731
    return what(_DID.get(kind, f"entries of the frontier were put right ({kind})")) + "."


_DID = {
    "bytes-lost": "URLs whose bytes are lost were queued again",
    "unsealed": "groups of stored pages were looked at, URL by URL",
    "revisit-dangling": "copies without an original were queued again",
    "stored-wrong": "records were told whether their page was kept",
}
