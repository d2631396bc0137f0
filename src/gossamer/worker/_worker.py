"""The hot path: what happens to one lease.

Every step either goes on or returns a `Done`. Nothing raises for what the web does; what the crawler itself does wrong is an
outcome too (`unexpected`), so that one bad page never takes the others with it.

A page is read before it is stored, so the archive's pages are those that can be read. One that cannot is stored all the same, noted as
unread, and is given up with its place; one that a worker has died of is stored before it is read. Either is read from there later
(`_again`), and its host is not asked twice.
"""

import asyncio
import contextlib
import logging
import resource
import time
from collections.abc import Callable

import msgspec

from gossamer.errors import GossamerError
from gossamer.fetch import Failure, Fetcher, Request, Response
from gossamer.fingerprint import digest, warc_digest, warc_form
from gossamer.frontier import Body, Content, Copy, Done, Kept, Kind, Lease, Link, Place
from gossamer.outcome import Action, ErrorClass, Outcome, for_error, for_status, retry_wait, settled
from gossamer.parse import Page
from gossamer.scope import Scope
from gossamer.settings import NearDuplicates, Settings
from gossamer.sitemap import parse_sitemap
from gossamer.store import Capture, Location, Revisit, Store, StoreError, read
from gossamer.url import LinkMemory, origin_of
from gossamer.worker._bearings import Bearings, bearings, likeness_of
from gossamer.worker._counts import Counts, peak_memory
from gossamer.worker._leases import Leases
from gossamer.worker._links import Follower
from gossamer.worker._robots import RobotsDesk
from gossamer.worker._rows import address_of, answer_of, capture_of, read_page, redirect_of, row_of, simhash_of
from gossamer.worker._turns import Turns

__all__ = ["Worker"]

log = logging.getLogger("gossamer.worker")

SYNC_EVERY = 1.0
DISCOVERED_AT_ONCE = 2_000
NEWCOMERS = 64
SITEMAP_BYTES = 50 << 20
LONGEST_DETAIL = 300


class Worker:
    """Takes leases and brings back what came of them, until the frontier has no more."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        scope: Scope,
        frontier: Leases,
        fetcher: Fetcher,
        store: Store,
        clock: Callable[[], float] = time.time,
        parsing: Callable[[int], None] = lambda lease: None,
    ) -> None:
        """`parsing` is told which lease is in the parser's hands (0: none), for whoever has to explain a death."""
        self.name = name
        self.counts = Counts()
        self._settings = settings
        self._frontier = frontier
        self._fetcher = fetcher
        self._store = store
        self._clock = clock
        self._parsing = parsing
        self._follow = Follower(settings, scope)
        self._robots = RobotsDesk(name, settings, frontier, fetcher)
        self._memory = LinkMemory(settings.url)
        self._turns = Turns()
        self._flying: dict[asyncio.Task[None], Lease] = {}
        self._landed = asyncio.Event()
        self._stopping = asyncio.Event()
        self._fault: BaseException | None = None
        self._segment = 0
        self._stored_since = 0
        self._to_seal: dict[str, None] = {}
        """Segments that are over and not yet sealed: a sync that is cut off leaves them to the next one."""

    # --- the loop -------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until told to stop or the frontier says there is no more; then make everything durable.

        What the disk refuses ends the work: the first such error is raised here, once everything in hand is settled.
        """
        syncing = asyncio.create_task(self._sync_regularly())
        syncing.add_done_callback(self._failed_by)
        try:
            while not self._stopping.is_set():
                room = self._settings.concurrency - len(self._flying)
                # Leases come in bunches: asking for each single place that gets free would cost a message a page.
                if room * 4 < self._settings.concurrency:
                    self._landed.clear()
                    await self._landed.wait()
                    continue
                leases = await self._leases(room)
                if leases is None:
                    break
                for host in await self._frontier.newcomers(NEWCOMERS):
                    self._fetcher.prefetch(host)
                for lease in leases:
                    task = asyncio.create_task(self._visit(lease))
                    self._flying[task] = lease
                    task.add_done_callback(self._land)
            await self._settle()
        except (
            GossamerError
        ) as error:  # no more leases: the first reason is the one told, and what is in hand is settled
            self._fault = self._fault or error
            self.stop()
            with contextlib.suppress(GossamerError):
                await self._settle()
        finally:
            syncing.cancel()
            await self._close()
            if self._fault is not None:
                raise self._fault

    async def _close(self) -> None:
        """Make everything durable; after a fault as much of it as goes: a parent that is gone has nothing against a disk."""
        try:
            try:
                await self._sync()
            finally:
                await asyncio.to_thread(self._store.close)
        except GossamerError as error:
            self._fault = self._fault or error

    async def _leases(self, most: int) -> list[Lease] | None:
        """Leases, or None when there will be none or somebody said stop."""
        asking = asyncio.ensure_future(self._frontier.lease(self.name, most, self._clock()))
        stopping = asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait((asking, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if asking.done():
            return asking.result()
        asking.cancel()
        return None

    def stop(self) -> None:
        """Take no more leases; those in hand are finished, or given back after a moment."""
        self._stopping.set()
        self._landed.set()

    def _failed_by(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = self._fault or fault
            self.stop()

    async def _settle(self, grace: float = 10.0) -> None:
        if self._flying:
            _, late = await asyncio.wait(self._flying, timeout=grace)
            given_back = [self._flying[task].id for task in late]
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
            if given_back:
                await self._frontier.release(self.name, given_back, self._clock())

    def _land(self, task: asyncio.Task[None]) -> None:
        del self._flying[task]
        self._landed.set()
        self._failed_by(task)

    async def _sync_regularly(self) -> None:
        while True:
            await asyncio.sleep(SYNC_EVERY)
            await self._sync()
            await asyncio.to_thread(self._store.write_parts)

    async def _sync(self) -> None:
        """Make durable what was stored so far, and say so: one group commit."""
        if self._stored_since:
            self._to_seal[self._segment_name(self._segment)] = None
            self._segment, self._stored_since = self._segment + 1, 0
        names = list(self._to_seal)
        if not names:
            return
        await asyncio.to_thread(self._store.sync)
        for name in names:
            self._to_seal.pop(name, None)
            await self._frontier.seal(name)

    def _segment_name(self, number: int) -> str:
        return f"{self.name}-{number}"

    def report(self) -> Counts:
        """The counters, with what the process has used."""
        usage = resource.getrusage(resource.RUSAGE_SELF)
        self.counts.flying = len(self._flying)
        self.counts.cpu = usage.ru_utime + usage.ru_stime
        self.counts.memory = peak_memory()
        return self.counts

    # --- one lease ------------------------------------------------------------------------------------------------

    async def _visit(self, lease: Lease) -> None:
        try:
            if lease.kind is Kind.PAGE:
                done = await self._page(lease)
            elif lease.kind is Kind.SITEMAP:
                done = await self._sitemap(lease)
            else:
                done, answer = await self._robots.read(lease, self._clock())
                if answer is not None:
                    self._archive(lease, answer)
        except Exception as error:
            if isinstance(error, GossamerError) and not isinstance(error, ValueError):
                raise  # the disk refuses, or the parent is gone: no page can be blamed for that
            log.exception("a fault of our own at %s", lease.url)
            self._parsing(0)
            done = self._failed(
                lease, for_error(ErrorClass.UNEXPECTED), ErrorClass.UNEXPECTED, f"{type(error).__name__}: {error}"
            )
        await self._frontier.complete(self.name, [done], self._clock())
        if done.place is not None and done.place.segment != self._segment_name(self._segment):
            # It took longer than a sync (a large sitemap): its segment was sealed before it was named, and is sealed once more.
            self._to_seal[done.place.segment] = None

    async def _page(self, lease: Lease) -> Done:
        if lease.place is not None:
            return await self._again(lease)
        outside = self._follow.outside(lease)
        if outside is not None:
            return Done(lease.id, Action.REFUSED, detail=outside, requested=False)
        robots = await self._robots.of(origin_of(lease.url), self._clock())
        if not robots.allows(self._settings.user_agent, lease.url):
            self.counts.denied += 1
            return self._refused(lease, ErrorClass.ROBOTS_DENIED)
        at = self._clock()
        answer = await self._fetcher.fetch(Request(lease.url, _conditions(lease)))
        if isinstance(answer, Failure):
            self._count_status(0)
            return self._failed(lease, for_error(answer.error), answer.error, answer.detail, answer)
        self._count_status(answer.status)
        outcome, error = _outcome_of(answer)
        if settled(outcome, lease.attempt) in (Action.RETRY, Action.DEFER_HOST):
            return self._failed(lease, outcome, error, outcome.reason, answer)
        return await self._keep(lease, answer, outcome, at)

    async def _keep(self, lease: Lease, answer: Response, outcome: Outcome, at: float) -> Done:
        """Parse, recognise and store an answer that settles its URL."""
        settings = self._settings
        action = settled(outcome, lease.attempt)
        if lease.deaths and lease.place is None and outcome.stores_body and answer.body:
            lease = await self._secured(lease, answer, self._set_aside(lease, answer, outcome, at))
        began = await self._turns.take(len(answer.content))
        try:
            page, content, digest, simhash = self._read(lease, answer, outcome)
        except Exception as error:
            place = lease.place or self._set_aside(lease, answer, outcome, at)
            self._count(answer, None, kept=False)
            return self._unread(lease, answer, place, error)
        finally:
            self._turns.taken(began)
        wanted = content is not None
        copy = None
        sent = "" if answer.content is answer.body else digest
        if lease.visits and (action is Action.NOT_MODIFIED or _same(lease, content, sent, action)):
            return self._unchanged(lease, answer, at)
        if content is not None and action is Action.DONE:
            copy = await self._copy_of(Content(lease.url, content, simhash, at, sent))
        near = copy is not None and copy.near
        stored = wanted and not (near and settings.near_duplicates is NearDuplicates.SKIP)
        redirect, fault = self._elsewhere(lease, answer) if action is Action.REDIRECT else (None, None)
        if fault is not None:
            action, outcome = Action.DEAD, for_error(fault)
        kept = stored and action is Action.DONE and (copy is None or near)
        capture = capture_of(lease, answer, at, outcome, copy, digest, stored=stored)
        location = self._store.append(capture)
        self._stored_since += 1
        row = row_of(
            capture, location, page if stored and (copy is None or near) else None, simhash, redirect, settings
        )
        self._store.add_row(row)
        self._count(answer, copy, kept)
        self.counts.failed += action is Action.DEAD
        # Last of all: links count as reported from here on, and a fault before would lose them for the next try.
        self._parsing(lease.id)
        links = self._links(lease, page, copy, redirect)
        likeness = likeness_of(page, simhash, settings) if page is not None and wanted else None
        stands = bearings(lease.url, page, links) if page is not None else Bearings()
        self._parsing(0)
        return Done(
            lease.id, action, answer.status, fault, None if action is Action.DONE else outcome.reason,
            seconds=answer.timings.total, size=_downloaded(lease, answer), retry_after=answer.header("retry-after"),
            place=self._place(location), etag=row.etag, last_modified=row.last_modified, digest=content,
            copy_of=copy.url if copy is not None else None, redirect=redirect, address=address_of(answer, self._settings), links=links, stored=kept,
            likeness=likeness, kin=stands.kin, known=stands.known, outward=stands.outward,
            body=_body_of(lease, at, sent, copy, kept=kept),
            changed=self._has_changed(lease, content, likeness) if lease.visits and action is Action.DONE else None,
        )  # fmt: skip

    def _has_changed(self, lease: Lease, content: bytes | None, likeness: int | None) -> bool:
        """Whether a page counts as changed since the last visit; by choice only its text does."""
        alike = likeness is not None and likeness == lease.likeness
        return content != lease.digest and not (self._settings.recrawl.ignore_boilerplate and alike)

    def _unchanged(self, lease: Lease, answer: Response, at: float) -> Done:
        """A page is as it was at the last visit, as the server says or its digest: a revisit record, and nothing else changes."""
        body, outcome = lease.body, for_status(304)
        same, digest = None, warc_form(lease.digest) if lease.digest is not None else ""
        if body is not None:
            same = Revisit(
                body.url, body.at, "server-not-modified" if answer.status == 304 else "identical-payload-digest"
            )
            digest = body.sent or digest
        capture = capture_of(lease, answer, at, outcome, None, digest, stored=same is not None, same=same)
        page = lease.kind is Kind.PAGE
        location = self._store.append(capture, row_follows=page)
        self._stored_since += 1
        if page:
            self._store.add_row(row_of(capture, location, None, None, None, self._settings))
            self._count(answer, None, kept=False)
        return Done(
            lease.id, Action.NOT_MODIFIED, answer.status, None, outcome.reason, seconds=answer.timings.total,
            size=_downloaded(lease, answer), retry_after=answer.header("retry-after"), etag=answer.header("etag"),
            last_modified=answer.header("last-modified"), address=address_of(answer, self._settings),
        )  # fmt: skip

    def _elsewhere(self, lease: Lease, answer: Response) -> tuple[str | None, ErrorClass | None]:
        """Where a redirect leads, and what is wrong with it when it cannot be followed."""
        target = redirect_of(answer.header("location"), lease.url, self._settings)
        if target is None or not target.startswith(("http://", "https://")):
            return target, ErrorClass.REDIRECT_WITHOUT_LOCATION
        if target == lease.url:
            return target, ErrorClass.REDIRECT_LOOP
        return target, ErrorClass.TOO_MANY_REDIRECTS if lease.hops >= self._settings.max_redirects else None

    def _read(
        self, lease: Lease, answer: Response, outcome: Outcome
    ) -> tuple[Page | None, bytes | None, str, int | None]:
        """What the body says, and its digests and fingerprint where it may be kept."""
        if not (outcome.stores_body and answer.body):
            return None, None, "", None
        self._parsing(lease.id)
        page = read_page(answer.content, lease.url, answer.headers, self._settings, self._memory)
        content, digest, simhash = None, "", None
        if not page.robots.noindex:
            content, digest = _digests(answer)
            simhash = simhash_of(page, self._settings)
        self._parsing(0)
        return page, content, digest, simhash

    async def _copy_of(self, content: Content) -> Copy | None:
        """The earlier page that this one repeats. An exact copy is one whose original is there, byte for byte as this one was sent."""
        [copy] = await self._frontier.seen_content([content], self._clock())
        if copy is None or copy.near:
            return copy
        if copy.near_of and self._settings.near_duplicates is NearDuplicates.SKIP:
            return Copy(copy.near_of, near=True)
        return copy if copy.sent == content.sent else Copy(copy.url, near=True, at=copy.at)

    def _links(self, lease: Lease, page: Page | None, copy: Copy | None, redirect: str | None) -> tuple[Link, ...]:
        if redirect is not None:
            return tuple(self._follow.of_redirect(redirect, lease))
        if page is None or (copy is not None and not copy.near):
            return ()  # the links of an exact copy were followed where it was first seen
        links = tuple(self._follow.of_page(page, lease))
        self.counts.links += len(links)
        return links

    def _place(self, location: Location) -> Place:
        return Place(self._segment_name(self._segment), location.file, location.offset, location.length)

    async def _sitemap(self, lease: Lease) -> Done:
        if lease.place is not None:
            return await self._again(lease)
        robots = await self._robots.of(origin_of(lease.url), self._clock())
        if not robots.allows(self._settings.user_agent, lease.url):
            return self._refused(lease, ErrorClass.ROBOTS_DENIED)
        at = self._clock()
        answer = await self._fetcher.fetch(Request(lease.url, _conditions(lease), max_body=SITEMAP_BYTES))
        if isinstance(answer, Failure):
            return self._failed(lease, for_error(answer.error), answer.error, answer.detail, answer)
        outcome = for_status(answer.status)
        action = settled(outcome, lease.attempt)
        if action in (Action.RETRY, Action.DEFER_HOST):
            return self._failed(lease, outcome, None, outcome.reason, answer)
        content, sent = _digests(answer)
        sent = "" if answer.content is answer.body else sent
        if lease.visits and (action is Action.NOT_MODIFIED or _same(lease, content, sent, action)):
            return self._unchanged(lease, answer, at)
        place = self._archive(lease, answer, at)
        if lease.deaths and action is Action.DONE and answer.body:
            lease = await self._secured(lease, answer, place)
        done = await self._read_sitemap(lease, answer, action, place)
        if action is not Action.DONE:
            return done
        body = Body(lease.url, at, sent) if answer.body else None
        return msgspec.structs.replace(done, digest=content, body=body)

    async def _read_sitemap(self, lease: Lease, answer: Response, action: Action, place: Place) -> Done:
        links: list[Link] = []
        if action is Action.REDIRECT:
            target = redirect_of(answer.header("location"), lease.url, self._settings)
            links = self._follow.of_redirect(target, lease) if target is not None else []
        elif action is Action.DONE:
            content_type = answer.header("content-type")
            began = await self._turns.take(len(answer.content))
            self._parsing(lease.id)
            try:
                sitemap = parse_sitemap(answer.content, lease.url, content_type, self._settings.sitemap)
                links = self._follow.of_sitemap(sitemap, lease)
            except Exception as error:
                return self._unread(lease, answer, place, error)
            finally:
                self._turns.taken(began)
            self._parsing(0)
            while len(links) > DISCOVERED_AT_ONCE:  # a large sitemap in pieces: no verb does unbounded work
                await self._frontier.discover(links[-DISCOVERED_AT_ONCE:], self._clock(), lease.url)
                del links[-DISCOVERED_AT_ONCE:]
        return Done(
            lease.id, action, answer.status, seconds=answer.timings.total, size=_downloaded(lease, answer), place=place,
            address=address_of(answer, self._settings), links=tuple(links), retry_after=answer.header("retry-after"),
            etag=answer.header("etag"), last_modified=answer.header("last-modified"),
        )  # fmt: skip

    def _archive(self, lease: Lease, answer: Response, at: float = 0.0) -> Place:
        """Keep an answer that is no page: it belongs into the WARC, not into the table."""
        outcome = for_status(answer.status)
        stored = bool(answer.body) and answer.status < 400
        capture = capture_of(lease, answer, at or self._clock(), outcome, None, "", stored=stored)
        location = self._store.append(capture, row_follows=False)
        self._stored_since += 1
        return self._place(location)

    # --- stored before it was read --------------------------------------------------------------------------------

    def _set_aside(self, lease: Lease, answer: Response, outcome: Outcome, at: float) -> Place:
        """Keep a page that is not read: it has no row, and nobody makes one of it."""
        capture = capture_of(lease, answer, at, outcome, None, "", stored=True, unread=True)
        location = self._store.append(capture, row_follows=False)
        self._stored_since += 1
        return self._place(location)

    async def _secured(self, lease: Lease, answer: Response, place: Place) -> Lease:
        """The lease of a page that a worker has died of: its answer is durable, and the frontier knows, before it is read."""
        await self._sync()
        await self._frontier.kept(self.name, Kept(lease.id, place, answer.status, len(answer.body)), self._clock())
        return msgspec.structs.replace(lease, place=place)

    async def _again(self, lease: Lease) -> Done:
        """Go on with an answer that was stored and not read. The host is not asked; only if the bytes are lost, it will be."""
        place = lease.place
        assert place is not None
        capture = await asyncio.to_thread(self._stored, lease.url, place)
        if capture is None:
            detail = "What was stored of it cannot be read any more, so it is fetched again."
            return Done(lease.id, Action.DEFER_HOST, error=ErrorClass.PARSE_FAILED, detail=detail, requested=False)
        answer = answer_of(capture, self._settings)
        outcome, _ = _outcome_of(answer)
        # An answer is stored once it settles its URL, so it settles it now too.
        lease = msgspec.structs.replace(lease, attempt=outcome.retries + 1)
        if lease.kind is Kind.SITEMAP:
            done = await self._read_sitemap(lease, answer, settled(outcome, lease.attempt), place)
        else:
            done = await self._keep(lease, answer, outcome, capture.at)
        return msgspec.structs.replace(done, requested=False, seconds=0.0, retry_after=None, address=None)

    def _stored(self, url: str, place: Place) -> Capture | None:
        """What is in the archive at a place, if it is what was put there."""
        try:
            capture = read(self._store.folder, Location(place.file, place.offset, place.length))
        except (StoreError, OSError, ValueError, EOFError):
            return None
        whole = capture.body_stored and warc_digest(capture.body) == capture.payload_digest
        return capture if whole and capture.url == url else None

    def _unread(self, lease: Lease, answer: Response, place: Place, error: Exception) -> Done:
        """A `Done` for an answer that nobody can read: given up, and safe in the archive."""
        log.error("%s is stored, but cannot be read", lease.url, exc_info=error)
        self._parsing(0)
        self.counts.failed += 1
        detail = f"{for_error(ErrorClass.PARSE_FAILED).reason} {type(error).__name__}: {error}"[:LONGEST_DETAIL]
        return Done(
            lease.id, Action.DEAD, answer.status, ErrorClass.PARSE_FAILED, detail, seconds=answer.timings.total,
            size=_downloaded(lease, answer), retry_after=answer.header("retry-after"), place=place,
            address=address_of(answer, self._settings),
        )  # fmt: skip

    # --- outcomes -------------------------------------------------------------------------------------------------

    def _refused(self, lease: Lease, error: ErrorClass) -> Done:
        return Done(lease.id, Action.REFUSED, error=error, detail=for_error(error).reason, requested=False)

    def _failed(
        self,
        lease: Lease,
        outcome: Outcome,
        error: ErrorClass | None,
        detail: str,
        answer: Response | Failure | None = None,
    ) -> Done:
        """A `Done` for an outcome that keeps nothing: tried again, or given up."""
        action = settled(outcome, lease.attempt)
        wait = retry_wait(outcome, lease.attempt, (lease.id % 64) / 63) * self._settings.patience
        if action in (Action.RETRY, Action.DEFER_HOST):
            self.counts.retried += 1
        elif action is Action.DEAD:
            self.counts.failed += 1
        response = answer if isinstance(answer, Response) else None
        return Done(
            lease.id, action, response.status if response is not None else 0, error, detail,
            requested=error is not ErrorClass.GUARD_REFUSED, seconds=answer.timings.total if answer is not None else 0.0,
            retry_after=response.header("retry-after") if response is not None else None, wait=wait,
            address=address_of(answer, self._settings) if answer is not None else None,
        )  # fmt: skip

    def _count_status(self, status: int) -> None:
        kind = status // 100 if 100 <= status < 600 else 0
        self.counts.statuses[kind] = self.counts.statuses.get(kind, 0) + 1

    def _count(self, answer: Response, copy: Copy | None, kept: bool) -> None:
        counts = self.counts
        counts.pages += 1
        counts.size += len(answer.body)
        if copy is not None and copy.near:
            counts.near += 1
        elif copy is not None:
            counts.exact += 1
        counts.stored += kept


def _outcome_of(answer: Response) -> tuple[Outcome, ErrorClass | None]:
    if answer.truncated == "disconnect":
        return for_error(ErrorClass.BODY_TRUNCATED), ErrorClass.BODY_TRUNCATED
    return for_status(answer.status), None


def _downloaded(lease: Lease, answer: Response) -> int:
    """Bytes that the answer has cost; what was stored before it was read is counted already."""
    return len(answer.body) if lease.place is None else 0


def _body_of(lease: Lease, at: float, sent: str, copy: Copy | None, *, kept: bool) -> Body | None:
    """The capture that has a page's bytes: its own, or that of the page which it copies."""
    if kept:
        return Body(lease.url, at, sent)
    return Body(copy.url, copy.at, sent) if copy is not None and not copy.near else None


def _same(lease: Lease, content: bytes | None, sent: str, action: Action) -> bool:
    """Whether an answer is, byte for byte as it was sent, the one that an earlier visit stored."""
    same = action is Action.DONE and content is not None and content == lease.digest
    return same and lease.body is not None and lease.body.sent == sent


def _conditions(lease: Lease) -> tuple[tuple[str, str], ...]:
    conditions: tuple[tuple[str, str], ...] = ()
    if lease.etag is not None:
        conditions = (("If-None-Match", lease.etag),)
    if lease.last_modified is not None:
        conditions += (("If-Modified-Since", lease.last_modified),)
    return conditions


def _digests(answer: Response) -> tuple[bytes, str]:
    """Digest of the decoded content (what makes pages equal) and of the body as sent (what the WARC states)."""
    content = digest(answer.content)
    if answer.content is answer.body:
        return content, warc_form(content)
    return content, warc_digest(answer.body)
