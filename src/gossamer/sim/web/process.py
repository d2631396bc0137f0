"""A web in a process of its own, so that serving it does not take time from the crawl under test.

The child announces itself with one JSON line and ends when its standard input does: however the parent dies, no server is
left behind.
"""

import asyncio
import atexit
import contextlib
import http.client
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Coroutine
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from gossamer.sim.web.connection import CONTROL_HOST
from gossamer.sim.web.log import Served, read_log
from gossamer.sim.web.plan import Web
from gossamer.sim.web.server import serve

__all__ = ["Announcement", "Running", "run_loop", "run_server", "start_in_process"]

SEEDS_ANNOUNCED = 10_000


class Announcement(msgspec.Struct, frozen=True):
    """The line that the server prints when it is ready."""

    port: int
    pid: int
    log: str | None
    started: float
    epoch: float
    speed: float
    hosts: int
    seeds: list[str]


class Running:
    """A web in a child process; leaving the block (or the interpreter) ends it."""

    def __init__(self, child: subprocess.Popen[bytes], said: Announcement, log: Path) -> None:
        self._child = child
        self.said = said
        self.port = said.port
        self.pid = child.pid
        self.log = log
        atexit.register(self.stop)

    @property
    def connect_to(self) -> str:
        return f"127.0.0.1:{self.port}"

    def served(self) -> list[Served]:
        """Everything that has been answered so far."""
        if self._child.poll() is None:
            with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)) as control:
                control.request("GET", "/flush", headers={"Host": CONTROL_HOST})
                control.getresponse().read()
        return read_log(self.log)

    def stop(self) -> None:
        atexit.unregister(self.stop)
        if self._child.poll() is None:
            self._child.terminate()
            try:
                self._child.wait(10)
            except subprocess.TimeoutExpired:
                self._child.kill()
                self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_in_process(web: Web, *, port: int = 0, log: Path | str | None = None, warm: bool = False) -> Running:
    """Start the server in a child process and return once it listens."""
    if log is None:
        log = Path(tempfile.mkdtemp(prefix="gossamer-web-")) / "served.jsonl"
    settings = msgspec.json.encode(web.settings).decode()
    command = [sys.executable, "-m", "gossamer.sim.web", "--settings", settings, "--port", str(port)]
    child = subprocess.Popen(  # noqa: S603 - our own module, started with our own interpreter
        [*command, "--log", str(log), "--until-eof", *(["--warm"] if warm else [])],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdout is not None
    line = child.stdout.readline()
    if not line:
        raise RuntimeError(f"the web did not start (exit code {child.wait()})")
    return Running(child, msgspec.json.decode(line, type=Announcement), Path(log))


async def run_server(
    web: Web, host: str, port: int, log: Path | None, *, until_eof: bool = False, warm: bool = False
) -> None:
    """Serve until SIGTERM, SIGINT or, where asked, the end of standard input; announce on standard output.

    Without a file the log goes nowhere: nobody could read it out of this process, and in memory it would grow for as long as it serves.
    """
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ended.set)
    async with serve(web, host, port, os.devnull if log is None else log, warm=warm) as server:
        settings = web.settings
        seeds = web.seeds(every_host=settings.hosts <= SEEDS_ANNOUNCED)
        said = Announcement(
            server.port, os.getpid(), str(log) if log else None, server.started, settings.epoch, settings.speed,
            settings.hosts, seeds,
        )  # fmt: skip
        sys.stdout.write(msgspec.json.encode(said).decode() + "\n")
        sys.stdout.flush()
        if until_eof:
            loop.add_reader(0, _read_until_eof, ended)
        await ended.wait()
        if until_eof:
            loop.remove_reader(0)


def _read_until_eof(ended: asyncio.Event) -> None:
    if not os.read(0, 4096):
        ended.set()


def run_loop(main: Coroutine[Any, Any, None]) -> None:
    """asyncio.run, on uvloop where it is installed: about twice the requests a second."""
    try:
        import uvloop
    except ImportError:
        asyncio.run(main)
    else:
        uvloop.run(main)
