"""A worker process: `main` runs in it, with a socket to the parent and eight bytes of shared memory.

It is told everything by the first frame, works until the parent says there is no more, and ends. When the parent is gone it makes
durable what it has and ends too. In the shared memory it writes which lease is being parsed: should it die, the parent knows whom to
blame.
"""

import asyncio
import contextlib
import gc
import logging
import mmap
import signal
import socket
import sys
from pathlib import Path

import msgspec

from gossamer.crawl import memory
from gossamer.crawl.remote import RemoteFrontier
from gossamer.crawl.wire import Lost, Start, decode_start
from gossamer.errors import GossamerError
from gossamer.fetch import Fetcher
from gossamer.fingerprint import text_print
from gossamer.parse import parse_page
from gossamer.scope import Scope
from gossamer.settings import Settings
from gossamer.store import Store
from gossamer.url import registrable_domain
from gossamer.worker import Worker

__all__ = ["fetcher_for", "main", "store_info", "warm_up"]

log = logging.getLogger("gossamer.worker")

HEARTBEAT = 1.0


def fetcher_for(settings: Settings, allowed: tuple[tuple[str, int], ...]) -> Fetcher:
    return Fetcher(msgspec.structs.replace(settings.fetch, user_agent=settings.user_agent), allowed=frozenset(allowed))


def store_info(settings: Settings) -> dict[str, str]:
    """What each WARC file says of the crawl that made it."""
    info = {"http-header-user-agent": settings.user_agent, "robots": "obey"}
    return info | ({"operator": settings.contact} if settings.contact else {})


def warm_up(*, names: bool) -> None:
    """Do once, before workers are forked, what each would do at its first page: tables are built, lists are read.

    `names`: whether names will have to be looked up.
    """
    if names:
        import aiodns  # noqa: F401
    import pyarrow.parquet  # noqa: F401 - a tenth of a second, and every worker writes a table

    text_print("one two three four five six seven eight – é")
    registrable_domain("www.example.com")
    parse_page(
        b"<!doctype html><title>t</title><p>some words of a page", "https://example.com/", "text/html", text="both"
    )


def main(socket_fd: int, note_fd: int) -> None:
    """Work until the parent has no more; called in a process of its own."""
    gc.set_threshold(100_000, 20, 50)  # a page makes thousands of small objects, and next to no cycles
    memory.keep()
    # Ctrl-C reaches the whole process group; only the parent decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(ImportError):
        import uvloop

        uvloop.install()
    asyncio.run(_work(socket.socket(fileno=socket_fd), mmap.mmap(note_fd, 8)))


async def _work(connection: socket.socket, note: mmap.mmap) -> None:
    first: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    frontier = RemoteFrontier()
    answered, frontier.frames._received = frontier.frames._received, first.set_result
    connection.setblocking(False)
    await asyncio.get_running_loop().create_connection(lambda: frontier.frames, sock=connection)
    lost = asyncio.ensure_future(frontier.lost.wait())
    await asyncio.wait((first, lost), return_when=asyncio.FIRST_COMPLETED)
    lost.cancel()
    if not first.done():  # the parent died in the very moment in which it started this worker
        return
    start = decode_start(first.result())
    frontier.frames._received = answered
    logging.basicConfig(level=start.log_level, format="%(levelname)s %(name)s: %(message)s", stream=sys.stderr)
    try:
        await _crawl(start, frontier, note)
    except Lost:
        return
    except GossamerError as error:
        frontier.fault(str(error))
    except Exception as error:
        log.exception("a worker cannot go on")
        frontier.fault(f"a fault of our own: {type(error).__name__}: {error}")
    frontier.frames.close()
    await frontier.lost.wait()  # all of it has left


async def _crawl(start: Start, frontier: RemoteFrontier, note: mmap.mmap) -> None:
    settings = start.settings
    store = Store(Path(start.folder), start.name, settings.store, info=store_info(settings))
    fetcher = fetcher_for(settings, start.allowed)

    def parsing(lease: int) -> None:
        note[:8] = lease.to_bytes(8, "little")

    scope = Scope(start.seeds, settings.scope, settings.include, settings.exclude)
    worker = Worker(start.name, settings, scope, frontier, fetcher, store, parsing=parsing)

    async def beat() -> None:
        while True:
            frontier.alive(worker.report())
            await asyncio.sleep(HEARTBEAT)

    async def orphaned() -> None:
        await frontier.lost.wait()
        worker.stop()

    helpers = [asyncio.create_task(beat()), asyncio.create_task(orphaned())]
    try:
        await worker.run()
    finally:
        for helper in helpers:
            helper.cancel()
        await fetcher.close()
    frontier.alive(worker.report())
