"""Running a crawl from a terminal: signals, what is shown meanwhile, and the last word.

The first Ctrl-C (or SIGTERM, or the terminal going away) stops in order: no new fetches, those under way end or are given back, all is
written. The second ends the workers at once; what they had in hand is fetched again next time. The third leaves without a word; the
frontier's log makes even that safe.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from gossamer.cli.logs import Entry, Stderr, fields_of, json_line, listen, progress_line, text_line
from gossamer.cli.sample import Sampler
from gossamer.cli.summary import LastRun, exit_code, report_json, summary
from gossamer.crawl import Crawl, Ending, Report
from gossamer.errors import GossamerError

if TYPE_CHECKING:
    from gossamer.cli.view import View

__all__ = ["Manner", "run_crawl"]

INTERRUPTED = 130
OPENING = 0.05
"""Until the frontier is open, look often: the first look at it says where this run begins."""


class Manner(msgspec.Struct, frozen=True):
    """How a crawl shows itself."""

    json: bool = False
    quiet: bool = False
    log_json: bool = False
    log_level: int = 30
    every: float = 5.0
    metrics_port: int | None = None
    chosen: bool = False
    """Whether the folder was chosen by us, and so has to be told."""


SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def run_crawl(prepare: Callable[[], Crawl], manner: Manner) -> int:
    """Prepare it and run it; the exit code."""
    import uvloop

    view = not (manner.json or manner.quiet or manner.log_json) and sys.stderr.isatty()
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        # Before anything else: workers come into the world with the standard error that is there when they are prepared for.
        with Stderr() if view or manner.log_json else contextlib.nullcontext() as stderr:
            crawl = prepare()
            runner = _Runner(crawl, manner, stderr, view=view)
            LastRun.forget(crawl.folder.path)
            report = uvloop.run(runner.run())
        return _conclude(crawl, runner, report, manner)
    except asyncio.CancelledError:  # stopped twice, with no workers to end
        return INTERRUPTED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _conclude(crawl: Crawl, runner: "_Runner", report: Report, manner: Manner) -> int:
    """The last word."""
    code = exit_code(report)
    # A disk that refused the crawl refuses this too, and the crawl's own sentence says more.
    with contextlib.suppress(GossamerError) if report.ending == Ending.FAULT else contextlib.nullcontext():
        LastRun(time.time(), report).save(crawl.folder.path)
    if manner.json:
        sys.stdout.write(report_json(report, crawl.folder.path, code) + "\n")
    elif not manner.quiet and not manner.log_json:
        sys.stdout.write(
            summary(
                report, runner.pages_of(report.fetched), crawl.folder.path, crawl.settings, colour=sys.stdout.isatty()
            )
        )
    if report.ending == Ending.FAULT:
        raise GossamerError(report.reason)
    return code


class _Runner:
    def __init__(self, crawl: Crawl, manner: Manner, stderr: Stderr | None, *, view: bool) -> None:
        self._crawl = crawl
        self._manner = manner
        self._stderr = stderr
        self._view = view
        self._sampler = Sampler(crawl)
        self._asked = 0
        self._task: asyncio.Task[Report] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._emit: Callable[[Entry], None] = self._write
        self.pages_of = self._sampler.pages_of

    # --- what is said ---------------------------------------------------------------------------------------------

    def _write(self, entry: Entry) -> None:
        line = json_line(entry) if self._manner.log_json else text_line(entry)
        out = self._stderr.real if self._stderr is not None else sys.stderr
        with contextlib.suppress(OSError):  # nobody reads it any more
            out.write(line + "\n")
            out.flush()

    def _tell(self, message: str, **fields: object) -> None:
        if not self._manner.quiet:
            self._emit(Entry(time.time(), "info", "gossamer.cli", message, dict(fields)))

    # --- the run --------------------------------------------------------------------------------------------------

    async def run(self) -> Report:
        listen(self._manner.log_level, lambda entry: self._emit(entry))
        loop = asyncio.get_running_loop()
        async with contextlib.AsyncExitStack() as stack:
            for number in SIGNALS:
                loop.add_signal_handler(number, self._interrupted)
                stack.callback(self._deaf, number)
            if self._manner.metrics_port is not None:
                await self._serve_metrics(self._manner.metrics_port, stack)
            if self._manner.chosen:
                self._tell(f"crawling into {self._crawl.folder.path}")
            showing = self._shown(stack)
            self._task = asyncio.create_task(self._crawl.run())
            stack.callback(showing.cancel)
            return await self._task

    async def _serve_metrics(self, port: int, stack: contextlib.AsyncExitStack) -> None:
        from gossamer.cli.metrics import serve

        server = await serve(port, self._sampler.take)
        stack.callback(server.close)
        bound = server.sockets[0].getsockname()[1]
        self._tell(f"metrics on http://127.0.0.1:{bound}/metrics", metrics_port=bound)

    def _shown(self, stack: contextlib.AsyncExitStack) -> "asyncio.Task[None]":
        """Whatever is shown while it runs, as a task to be cancelled."""
        stderr = self._stderr
        if stderr is not None:
            stderr.emit = lambda entry: self._emit(entry)
            loop = asyncio.get_running_loop()
            loop.add_reader(stderr.fd, stderr.read)
            stack.callback(loop.remove_reader, stderr.fd)
        if stderr is not None and self._view:
            from gossamer.cli.view import View

            view = stack.enter_context(View(self._title(), self._crawl.settings, stderr.real))
            self._emit = lambda entry: view.say(text_line(entry))
            stack.callback(setattr, self, "_emit", self._write)
            return asyncio.create_task(self._draw(view))
        return asyncio.create_task(self._idle() if self._manner.quiet else self._log())

    def _title(self) -> str:
        first, *others = self._crawl.seeds.urls
        more = f" and {len(others):,} more" if others else ""
        return f"{first}{more} → {self._crawl.folder.path}"

    async def _draw(self, view: "View") -> None:
        while True:
            view.show(await self._sampler.take())
            await asyncio.sleep(OPENING if self._crawl.desk is None else view.pause)

    async def _log(self) -> None:
        said = 0.0
        while True:
            # More often than is told, since rates are over the last seconds.
            await asyncio.sleep(OPENING if self._crawl.desk is None else min(self._manner.every, 1.0))
            sample = await self._sampler.take()
            if sample.seconds - said >= self._manner.every - 0.05:
                said = sample.seconds
                self._tell(progress_line(sample), **fields_of(sample))

    async def _idle(self) -> None:
        return

    # --- stopping -------------------------------------------------------------------------------------------------

    def _deaf(self, number: signal.Signals) -> None:
        """It is over, all is written: whoever still asks it to stop is only to wait for the last word."""
        asyncio.get_running_loop().remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)

    def _interrupted(self) -> None:
        self._asked += 1
        if self._asked == 1:
            self._tell("stopping: pages under way are finished, all is kept; once more stops at once")
            self._stopping = asyncio.create_task(self._stop())
        elif self._asked == 2:
            self._tell("stopping at once: what was under way is fetched again next time")
            self._crawl.kill()
            if self._crawl.settings.workers == 0 and self._task is not None:
                self._task.cancel()
        else:
            os._exit(INTERRUPTED)

    async def _stop(self) -> None:
        while self._crawl.desk is None:  # noqa: ASYNC110 - the frontier is being opened, and nothing tells when it is
            await asyncio.sleep(0.02)
        self._crawl.stop()
