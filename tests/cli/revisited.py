"""A crawl of weeks in a moment: pages with known rates of change, visited through the frontier's own verbs as they become due."""

import random
from pathlib import Path

import msgspec

from gossamer import __version__
from gossamer.crawl import Crawled, Folder
from gossamer.fingerprint import warc_digest
from gossamer.frontier import Body, Done, Frontier, FrontierSettings, Lease, Link, Place, Recrawl, RocksFrontier
from gossamer.outcome import Action
from gossamer.politeness import Politeness
from gossamer.settings import Settings
from gossamer.store import Capture, Revisit, Store, StoreSettings, bare_row
from tests.exchanges import REQUEST

__all__ = ["DAY", "Served", "Told", "revisited"]

DAY = 86_400.0
NEVER = 1e12


class Told(msgspec.Struct, frozen=True):
    """One visit as it was made."""

    url: str
    at: float
    changed: bool
    first: bool
    status: int = 200


class Served(msgspec.Struct):
    """A page that changes at times of its own."""

    url: str
    every: float
    """Mean seconds between changes."""
    gone_from: float = NEVER
    version: int = 0
    next_change: float = 0.0


async def revisited(
    folder: Path, served: list[Served], begin: float, end: float, seed: int = 0, **recrawl: object
) -> list[Told]:
    """Crawl the pages from `begin` to `end` into a folder, frontier and table; all visits that were made."""
    rules = Recrawl(**recrawl)  # type: ignore[arg-type]
    Folder(folder).save(Crawled(__version__, begin, (served[0].url,), Settings(recrawl=rules)))
    polite = Politeness(delay=0.0, answer_multiple=0.0)
    frontier = RocksFrontier(
        folder / "frontier", FrontierSettings(politeness=polite, robots=False, recrawl=rules), jitter=lambda: 0.5
    )
    dice, pages, told = random.Random(seed), {page.url: page for page in served}, list[Told]()
    for page in served:
        page.next_change = begin + dice.expovariate(1.0 / page.every)
    await frontier.revisit(float("inf"))
    await frontier.discover([Link(page.url, priority=0.25 + n % 3 / 4) for n, page in enumerate(served)], begin)
    with Store(folder, "w0", StoreSettings(part_rows=1_000)) as store:
        now = begin
        while now < end:
            for lease in await frontier.lease("w", 50, now):
                page = pages[lease.url]
                while page.next_change <= now:
                    page.version, page.next_change = (
                        page.version + 1,
                        page.next_change + dice.expovariate(1.0 / page.every),
                    )
                told.append(await _visit(frontier, store, lease, page, now))
            ready = await frontier.next_ready(now)
            due = await frontier.next_due()
            times = [at for at in (ready, due) if at is not None]
            now = max(min(times), now + 0.01) if times else end
    await frontier.seal("s")
    await frontier.close()
    return told


async def _visit(frontier: Frontier, store: Store, lease: Lease, page: Served, now: float) -> Told:
    body = f"<p>version {page.version} of {page.url}</p>".encode()
    digest = warc_digest(body)
    same = lease.visits > 0 and lease.etag == f'"{page.version}"'
    status = 404 if now >= page.gone_from else 304 if same else 200
    capture = Capture(
        url=page.url,
        at=now,
        request_head=REQUEST,
        response_head=f"HTTP/1.1 {status} Whatever\r\nContent-Type: text/html\r\n\r\n".encode(),
        body=body if status == 200 else b"",
        payload_digest=digest if status == 200 else "",
        duplicate=Revisit(page.url, profile="server-not-modified") if status == 304 else None,
    )
    location = store.append(capture)
    store.add_row(bare_row(capture, location))
    place = Place("s", location.file, location.offset, location.length)
    action = {200: Action.DONE, 304: Action.NOT_MODIFIED, 404: Action.GONE}[status]
    done = Done(
        lease.id, action, status, etag=f'"{page.version}"', digest=digest.encode()[-16:], stored=status == 200,
        place=place, body=Body(page.url, now) if status == 200 else lease.body,
    )  # fmt: skip
    assert await frontier.complete("w", [done], now) == 1
    return Told(page.url, now, status == 200 and lease.visits > 0, lease.visits == 0 and status == 200, status)
