"""Worker processes: started, listened to, and replaced when they die or fall silent.

A worker says it is alive every second. One that says nothing for ten seconds of its own (`pulse`) hangs (a parser gone quadratic,
say) and is killed. Of a dead worker all leases come back at once; the page that was in its parser's hands is blamed, and after three workers
it is given up. A worker that dies at start, again and again and with no page to blame, ends the crawl with a sentence instead of a loop.
"""

import asyncio
import logging
import mmap
import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from gossamer.crawl import wire
from gossamer.crawl.desk import Desk, Ending
from gossamer.crawl.nursery import Nursery
from gossamer.crawl.pulse import Pulse
from gossamer.errors import GossamerError
from gossamer.settings import Settings
from gossamer.worker import Counts

__all__ = ["Supervisor"]

log = logging.getLogger("gossamer.crawl")

CHECK = 1.0
LOADED = 0.7
LOADED_FOR = 2
LINGER = 5.0
EARLY = 5.0
NEWCOMERS = 64
EARLY_DEATHS = 3


class _Process:
    """One worker process and the parent's end of its socket."""

    def __init__(self, name: str, desk: Desk, gone: Callable[["_Process"], None]) -> None:
        self.name = name
        self.counts = Counts()
        self.cpu_before = 0.0
        """What it had used when its load was last looked at."""
        self.started = time.monotonic()
        self.pulse = Pulse()
        self.pid = 0
        self.fault: str | None = None
        self._desk = desk
        self._gone = gone
        self._note = mmap.mmap(-1, 8)
        self._tasks: set[asyncio.Task[None]] = set()
        self._asking: set[asyncio.Task[None]] = set()
        self._frames = wire.Frames(self._received, self._ended)

    async def start(self, nursery: Nursery, start: wire.Start) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        note = os.memfd_create("gossamer-note")
        try:
            os.ftruncate(note, 8)
            self._note = mmap.mmap(note, 8)
            self.pid = nursery.fork(theirs.fileno(), note)
        finally:
            theirs.close()
            os.close(note)
        ours.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: self._frames, sock=ours)
        self._frames.send_alone(start)

    def _ended(self) -> None:
        """The socket is closed, and what was still in it has been read: the worker is gone, or is about to be."""
        asyncio.get_running_loop().call_soon(self._gone, self)

    def parsing(self) -> int:
        """The lease that was in the parser's hands last; 0 for none."""
        return int.from_bytes(self._note[:8], "little")

    def kill(self) -> None:
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)

    async def settle(self) -> None:
        """End the calls that are still waiting: leases taken for a worker that is gone would never come back."""
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for task in self._asking:
            task.cancel()
        await asyncio.gather(*self._asking, return_exceptions=True)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _received(self, frame: bytes) -> None:
        self.pulse.heard()
        asks = wire.decode_asks(frame)
        self._keep(asyncio.create_task(self._serve(asks)))

    async def _serve(self, asks: list[wire.Ask]) -> None:
        try:
            await self._answer(asks)
        except Exception as error:
            self._give_up(error)

    def _give_up(self, error: Exception) -> None:
        """A call cannot be answered, most often because the disk refuses: the crawl is over, and the worker is let go."""
        self._desk.end(Ending.FAULT, sentence_of(error))
        self._frames.close()

    async def _answer(self, asks: list[wire.Ask]) -> None:
        """Answer the calls of one frame.

        What was completed goes first and as one transition, which spares the disk; no other call in the same frame can depend on
        coming before it. A call for leases waits on its own, so that nothing waits behind it.
        """
        done = [each for ask in asks if isinstance(ask, wire.CompleteAsk) for each in ask.done]
        if done:
            await self._desk.complete(self.name, done, 0.0)
        for ask in asks:
            match ask:
                case wire.LeaseAsk():
                    asking = asyncio.create_task(self._lease(ask))
                    self._asking.add(asking)
                    asking.add_done_callback(self._asking.discard)
                case wire.ContentAsk():
                    copies = await self._desk.seen_content(ask.contents, 0.0)
                    self._frames.send(wire.CopiesReply(ask.number, copies))
                case wire.RobotsAsk():
                    self._frames.send(wire.RobotsReply(ask.number, await self._desk.robots(ask.origin)))
                case wire.KeptAsk():
                    held = await self._desk.kept(self.name, ask.kept, 0.0)
                    self._frames.send(wire.HeldReply(ask.number, int(held)))
                case wire.SealAsk():
                    await self._desk.seal(ask.segment)
                case wire.ReleaseAsk():
                    await self._desk.release(self.name, ask.leases, 0.0)
                case wire.ErrandAsk():
                    self._frames.send(wire.ErrandReply(ask.number, await self._desk.errand(self.name, ask.url, 0.0)))
                case wire.DiscoverAsk():
                    self._frames.send(wire.HeldReply(ask.number, await self._desk.discover(ask.links, 0.0, ask.via)))
                case wire.AliveAsk():
                    self.counts = ask.counts
                    await self._desk.extend(self.name)
                case wire.FaultAsk():
                    self.fault = ask.sentence

    async def _lease(self, ask: wire.LeaseAsk) -> None:
        try:
            leases = await self._desk.lease(self.name, ask.most, 0.0)
            self._frames.send(wire.LeasesReply(ask.number, leases, await self._desk.newcomers(NEWCOMERS)))
        except Exception as error:
            self._give_up(error)


def sentence_of(error: Exception) -> str:
    """What to tell of an error that ends a crawl."""
    if isinstance(error, GossamerError):
        return str(error)
    log.error("the crawl cannot go on", exc_info=error)
    return f"a fault of our own: {type(error).__name__}: {error}"


class Supervisor:
    """Keeps up to `count` workers at work until the desk has no more; begins with `first` of them, or all.

    Most crawls wait for hosts, and one worker does all there is to do. Another is started when those that are there have been
    loaded for `LOADED_FOR` seconds: on two cores a crawl of a second or two is cheaper, and no slower, with one.
    """

    def __init__(
        self,
        nursery: Nursery,
        desk: Desk,
        settings: Settings,
        seeds: tuple[str, ...],
        allowed: tuple[tuple[str, int], ...],
        folder: Path,
        count: int,
        first: int | None = None,
    ) -> None:
        self._nursery = nursery
        self._desk = desk
        self._settings = settings
        self._seeds = seeds
        self._allowed = allowed
        self._folder = folder
        self._count = count
        self._first = first or count
        self._loaded = 0
        self._number = 0
        self._live: dict[str, _Process] = {}
        self._ended: list[Counts] = []
        self._early = 0
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self.deaths = 0
        self._killed = False
        self.cut_off = False
        """Whether a worker ended, against our will, without having written all it had."""

    async def run(self) -> None:
        """Returns when every worker has ended."""
        for _ in range(self._first):
            await self._start_one()
        watch = asyncio.create_task(self._watch())
        try:
            while self._live:
                await self._changed.wait()
                self._changed.clear()
        finally:
            watch.cancel()

    @property
    def live(self) -> int:
        return len(self._live)

    def counts(self) -> list[Counts]:
        """The counters of all workers there were."""
        return self._ended + [process.counts for process in self._live.values()]

    def kill(self) -> None:
        """End all workers now; what they had in hand is fetched again."""
        self._killed = True
        for process in self._live.values():
            process.kill()

    async def _start_one(self) -> None:
        self._number += 1
        name = f"w{os.getpid()}_{self._number}"
        process = self._live[name] = _Process(name, self._desk, self._gone)
        level = logging.getLogger().getEffectiveLevel()
        start = wire.Start(name, self._settings, self._seeds, self._allowed, str(self._folder), level)
        try:
            await process.start(self._nursery, start)
        except GossamerError as error:
            del self._live[name]
            self._desk.end(Ending.FAULT, str(error))

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(CHECK)
            for process in self._live.values():
                if process.pid and process.pulse.tick(process.pid, CHECK):
                    log.warning("worker %s hangs and is replaced", process.name)
                    process.kill()
            self._loaded = self._loaded + 1 if self._all_loaded() else 0
            if self._loaded >= LOADED_FOR and len(self._live) < self._count and self._desk.ending is None:
                self._loaded = 0
                await self._start_one()

    def _all_loaded(self) -> bool:
        """Whether every worker there is computes most of the time, or has nearly as many requests out as it may."""
        loaded = bool(self._live)
        for process in self._live.values():
            counts = process.counts
            computes = counts.cpu - process.cpu_before > LOADED * CHECK
            loaded &= computes or counts.flying > LOADED * self._settings.concurrency
            process.cpu_before = counts.cpu
        return loaded

    def _gone(self, process: _Process) -> None:
        task = asyncio.create_task(self._replace(process))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _replace(self, process: _Process) -> None:
        pid, process.pid = process.pid, 0
        await _ended(pid)
        code = await asyncio.to_thread(self._nursery.wait, pid)
        self.cut_off = self.cut_off or (code != 0 and not self._killed)
        await process.settle()
        del self._live[process.name]
        self._ended.append(process.counts)
        blamed = [lease for lease in (process.parsing(),) if lease]
        taken = 0
        try:
            taken = await self._desk.reclaim(process.name, blamed)
        except Exception as error:
            self._desk.end(Ending.FAULT, sentence_of(error))
        if process.fault is not None:
            self._desk.end(Ending.FAULT, process.fault)
        elif self._desk.ending is None:
            self.deaths += 1
            how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
            log.warning("worker %s died (%s); its %d leases are back", process.name, how, taken)
            if not blamed:
                self._early = self._early + 1 if time.monotonic() - process.started < EARLY else 0
            if self._early >= EARLY_DEATHS * self._count:
                self._desk.end(Ending.FAULT, f"workers die as soon as they start ({how}); the log above says why")
            else:
                await self._start_one()
        self._changed.set()


async def _ended(pid: int) -> None:
    """Wait for the end of a process that is no child of ours; one that has hung up and lingers is ended."""
    try:
        watched = os.pidfd_open(pid)
    except OSError:
        return  # it is gone altogether
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_reader(watched, ended.set)
    try:
        await asyncio.wait_for(ended.wait(), LINGER)
    except TimeoutError:
        os.kill(pid, signal.SIGKILL)
        await ended.wait()
    finally:
        loop.remove_reader(watched)
        os.close(watched)
