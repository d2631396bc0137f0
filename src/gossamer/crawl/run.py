"""A whole crawl on one machine: open the folder, mend what a crash left, take in the seeds, run, and say what came of it."""

import asyncio
import itertools
import os
import resource
import time
from pathlib import Path

import msgspec

from gossamer import __version__
from gossamer.crawl import memory
from gossamer.crawl.clock import SteadyClock
from gossamer.crawl.desk import Desk, Ending
from gossamer.crawl.folder import Crawled, Folder
from gossamer.crawl.nursery import Nursery
from gossamer.crawl.process import fetcher_for, main, store_info, warm_up
from gossamer.crawl.supervisor import Supervisor, sentence_of
from gossamer.errors import FrontierError, GossamerError, InvalidURL
from gossamer.frontier import Link, RocksFrontier, Stats
from gossamer.scope import Scope
from gossamer.settings import Settings
from gossamer.store import Location, Store, StoreError, read, recover
from gossamer.url import canonicalize, host_of, resolve
from gossamer.worker import Counts, Worker, peak_memory, row_maker

__all__ = ["Again", "Crawl", "Report", "Seeds"]

FRONTIER_SYNC = 1.0
TRIM_EVERY = 60


class Seeds(msgspec.Struct, frozen=True):
    """Where a crawl begins: canonical URLs, and the hosts and ports that were named outright."""

    urls: tuple[str, ...]
    named: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, given: list[str], settings: Settings) -> "Seeds":
        """Seeds as typed; a missing scheme is https. InvalidURL names the first that is no URL."""
        urls, named = [], []
        for text in given:
            text = text.strip()
            if not text:
                continue
            try:
                url = canonicalize(resolve(text if "://" in text else f"https://{text}"), settings.url)
            except InvalidURL:
                raise InvalidURL(f"the seed {text!r} is not a URL") from None
            if not url.startswith(("http://", "https://")):
                raise InvalidURL(f"the seed {text!r} is not an http or https URL")
            urls.append(url)
            named.append((host_of(url), _port(url)))
        return cls(tuple(dict.fromkeys(urls)), tuple(dict.fromkeys(named)))


def _port(url: str) -> int:
    scheme, _, rest = url.partition("://")
    port = rest.partition("/")[0].rpartition("]")[2].rpartition(":")[2]
    return int(port) if port.isdigit() else {"http": 80, "https": 443}[scheme]


class Again(msgspec.Struct, frozen=True):
    """One pass over pages that are known: those that are due."""

    older_than: float | None = None
    """And those last visited longer ago than this (seconds); 0 for all."""


class Report(msgspec.Struct, frozen=True):
    """What a crawl came to, or stands at."""

    ending: str
    reason: str
    fetched: int
    stored: int
    duplicates: int
    failed: int
    queued: int
    waiting: int
    urls_seen: int
    hosts: int
    refused: int
    trapped: int
    bytes: int
    seconds: float
    cpu_seconds: float
    peak_memory: int
    worker_deaths: int
    revisits: int = 0
    """Visits to known pages, over all runs; so are the next two."""
    changed: int = 0
    unchanged: int = 0
    next_due: float | None = None
    """When the next page is to be visited again (Unix seconds)."""


class Crawl:
    """One run of a crawl."""

    def __init__(self, folder: Folder, crawled: Crawled, seeds: Seeds, again: Again | None = None) -> None:
        self.folder = folder
        self.settings = crawled.settings
        self.seeds = seeds
        self._crawled = crawled
        self._again = again
        self._clock = SteadyClock()
        self._started = time.monotonic()
        self._supervisor: Supervisor | None = None
        self._worker: Worker | None = None
        self.desk: Desk | None = None
        self.mended: list[str] = []
        self._stopped = False
        self._nursery: Nursery | None = None
        if self.settings.workers != 0:
            named = any(host[-1].isalpha() for host, _ in seeds.named)  # an address ends in a digit or a bracket
            warm_up(names=self.settings.fetch.connect_to is None and named)
            self._nursery = Nursery(main)

    @classmethod
    def prepare(
        cls, path: Path, given: list[str], settings: Settings, *, force: bool = False, again: Again | None = None
    ) -> "Crawl":
        """A crawl in a new folder, or the one that is there already, continued; `again`: one pass over what it knows."""
        seeds = Seeds.of(given, settings)
        folder = Folder(path)
        if folder.exists():
            crawled = folder.agree(seeds.urls, settings, force=force)
            seeds = Seeds.of(list(crawled.seeds), settings)
        else:
            if not seeds.urls:
                raise InvalidURL("there is nothing to crawl: name at least one URL")
            crawled = Crawled(__version__, time.time(), seeds.urls, settings)
        folder.save(crawled)
        return cls(folder, crawled, seeds, again)

    async def run(self) -> Report:
        """Crawl until it is over; the report says why it is."""
        settings = self.settings
        frontier = await asyncio.to_thread(RocksFrontier, self.folder.frontier, settings.frontier)
        try:
            self._clock.begin_after(frontier.written_at())
            await self._mend(frontier)
            await self._plan_revisits(frontier)
            desk = self.desk = Desk(frontier, settings, self._clock)
            if self._stopped:
                desk.end(Ending.INTERRUPTED)
            await frontier.discover([Link(url, priority=1.0) for url in self.seeds.urls], self._clock())
            syncing = asyncio.create_task(self._sync_regularly(frontier, desk))
            try:
                await (self._run_here(desk) if settings.workers == 0 else self._run_processes(desk))
            finally:
                syncing.cancel()
            if self._supervisor is not None and self._supervisor.cut_off and desk.ending is not Ending.FAULT:
                await self._mend(frontier)
            return await self.report()
        finally:
            try:
                await frontier.close(self._clock())
            except FrontierError:
                if self.desk is None or self.desk.ending is not Ending.FAULT:  # else the disk's refusal is told already
                    raise

    async def _plan_revisits(self, frontier: RocksFrontier) -> None:
        """What this run visits again: for ever what becomes due, or once what is due now."""
        if self._again is None and not self.settings.recrawl.continuous:
            return
        while await frontier.plan_older(self._clock()):  # a folder of an older version
            pass
        if self._again is None:
            return
        now = self._clock()
        after: str | None = "" if self._again.older_than is not None else None
        while after is not None:
            before = now - (self._again.older_than or 0.0)
            after = (await frontier.bring_forward(now, before, after=after)).after
            await asyncio.sleep(0)
        await frontier.revisit(now)

    async def _run_processes(self, desk: Desk) -> None:
        count = self.settings.workers or len(os.sched_getaffinity(0))
        assert self._nursery is not None
        self._supervisor = Supervisor(
            self._nursery, desk, self.settings, self.seeds.urls, self.seeds.named, self.folder.path, count,
            first=None if self.settings.workers else 1,
        )  # fmt: skip
        try:
            await self._supervisor.run()
        finally:
            self._nursery.close()  # and with it the CPU time of all workers is ours to report

    async def _run_here(self, desk: Desk) -> None:
        settings = self.settings
        store = Store(self.folder.path, f"w{os.getpid()}", settings.store, info=store_info(settings))
        fetcher = fetcher_for(settings, self.seeds.named)
        scope = Scope(self.seeds.urls, settings.scope, settings.include, settings.exclude)
        self._worker = Worker(f"w{os.getpid()}", settings, scope, desk, fetcher, store)
        try:
            await self._worker.run()
        except GossamerError as error:
            desk.end(Ending.FAULT, str(error))
        finally:
            await fetcher.close()

    async def _sync_regularly(self, frontier: RocksFrontier, desk: Desk) -> None:
        try:
            for number in itertools.count(1):
                await asyncio.sleep(FRONTIER_SYNC)
                await asyncio.to_thread(frontier.sync, self._clock())
                if number % TRIM_EVERY == 0:
                    await asyncio.to_thread(memory.give_back)
        except Exception as error:
            desk.end(Ending.FAULT, sentence_of(error))

    async def _mend(self, frontier: RocksFrontier) -> None:
        """After a crash: cut torn WARC tails, rebuild missing rows, and fetch again only what is really lost."""
        mended = await asyncio.to_thread(recover, self.folder.path, row_maker(self.settings), self.settings.store)
        self.mended = [str(each) for each in mended.files]
        for segment, held in (await frontier.unsealed()).items():
            lost = [
                s.url for s in held if not _readable(self.folder.path, s.place.file, s.place.offset, s.place.length)
            ]
            await frontier.abandon(segment, self._clock(), lost)

    def stop(self) -> None:
        """Stop in order: no more leases, finish what is in hand, keep all state."""
        self._stopped = True
        if self.desk is not None:
            self.desk.end(Ending.INTERRUPTED)
        if self._worker is not None:
            self._worker.stop()

    def kill(self) -> None:
        """Stop at once; what is in hand is fetched again next time."""
        if self._supervisor is not None:
            self._supervisor.kill()

    def workers(self) -> int:
        """Workers there are now."""
        return 1 if self._supervisor is None else max(self._supervisor.live, 1)

    def counts(self) -> list[Counts]:
        """What each worker has done."""
        if self._supervisor is not None:
            return self._supervisor.counts()
        return [self._worker.report()] if self._worker is not None else []

    async def report(self) -> Report:
        """How things stand."""
        assert self.desk is not None
        stats: Stats = await self.desk.stats()
        counts = self.counts()
        usage = resource.getrusage(resource.RUSAGE_SELF)
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        ended = children.ru_utime + children.ru_stime
        own = usage.ru_utime + usage.ru_stime
        workers = 0.0 if self._supervisor is None else max(ended, sum(c.cpu for c in counts))
        return Report(
            ending=self.desk.ending or "",
            reason=self.desk.reason,
            fetched=stats.fetched,
            stored=stats.stored,
            duplicates=stats.copies,
            failed=stats.failed,
            queued=stats.queued,
            waiting=stats.waiting,
            urls_seen=stats.seen,
            hosts=stats.hosts,
            refused=stats.refused,
            trapped=stats.trapped,
            bytes=stats.size,
            seconds=round(time.monotonic() - self._started, 3),
            cpu_seconds=round(own + workers, 3),
            peak_memory=max([peak_memory(), *(c.memory for c in counts)]),
            worker_deaths=self._supervisor.deaths if self._supervisor is not None else 0,
            revisits=stats.revisits,
            changed=stats.changed,
            unchanged=stats.unchanged,
            next_due=await self.desk.frontier.next_due(),
        )


def _readable(folder: Path, file: str, offset: int, length: int) -> bool:
    try:
        read(folder, Location(file, offset, length))
    except (StoreError, ValueError, EOFError, OSError):
        return False
    return True
