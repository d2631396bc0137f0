"""Random walks through the frontier's verbs: whatever the order of events, each URL is handed out until it is done, never beside itself.

Queue heads of two entries and a window of two hosts bring about in a few dozen steps what a crawl meets after millions: heads
that are trimmed while entries behind them are leased, hosts parked with work in hand, restarts in between.
"""

import random
from collections import Counter
from pathlib import Path

import pytest

from gossamer.frontier import Done, FrontierSettings, Kept, Lease, Link, Order, Place, RocksFrontier, window
from gossamer.outcome import Action, ErrorClass
from gossamer.politeness import Politeness
from gossamer.url import host_of

T0 = 1_800_000_000.0
HOSTS = [f"host{number}.example" for number in range(7)]


class Walk:
    """A crawl that happens in no particular order, with what must hold checked at every step."""

    def __init__(self, folder: Path, order: Order, seed: int) -> None:
        self.random = random.Random(seed)
        self.folder = folder
        self.settings = FrontierSettings(
            order=order,
            politeness=Politeness(delay=0.0, connections=3, answer_multiple=0.0, backoff=1.0, backoff_cap=1.0),
            robots=False,
            hosts_in_memory=2,
            host_turn=3,
        )
        self.now = T0
        self.frontier = self.opened()
        self.known: set[str] = set()
        self.held: dict[str, Lease] = {}
        self.finished: set[str] = set()
        self.failed: dict[str, ErrorClass] = {}
        self.places: dict[str, Place] = {}
        """Where answers lie that are stored and not read."""
        self.deaths: Counter[str] = Counter()

    def opened(self) -> RocksFrontier:
        return RocksFrontier(self.folder, self.settings, jitter=lambda: 0.0)

    def links(self, most: int) -> list[Link]:
        draw = self.random
        found = [
            Link(f"http://{draw.choice(HOSTS[:5])}/{draw.randrange(300)}", draw.randrange(6), draw.random())
            for _ in range(draw.randrange(most))
        ]
        self.known.update(link.url for link in found)
        return found

    async def discover(self) -> None:
        await self.frontier.discover(self.links(12), self.now)

    async def lease(self) -> None:
        closed = {name for name in HOSTS if await self.closed(name)}
        for lease in await self.frontier.lease(self.random.choice("ab"), self.random.randrange(1, 6), self.now):
            assert lease.url not in self.held, "leased twice at a time"
            assert lease.url not in self.finished, "leased again after it was done"
            assert lease.url not in self.failed, "leased although it was given up"
            assert lease.place == self.places.get(lease.url), "what is stored is known, and only that"
            assert lease.deaths == self.deaths[lease.url]
            assert host_of(lease.url) not in closed, "leased although its host is to be left alone"
            self.held[lease.url] = lease

    async def closed(self, name: str) -> bool:
        host = await self.frontier.host(name)
        return host is not None and host.state.next_allowed > self.now

    async def complete(self) -> None:
        done: dict[str, list[Done]] = {"a": [], "b": []}
        for url in self.random.sample(sorted(self.held), min(len(self.held), self.random.randrange(1, 5))):
            lease = self.held.pop(url)
            action = self.random.choices([Action.DONE, Action.RETRY, Action.DEFER_HOST, Action.DEAD], [6, 2, 1, 1])[0]
            links = tuple(self.links(8)) if action is Action.DONE else ()
            error = None if action is Action.DONE else self.random.choice((ErrorClass.RESET, ErrorClass.PARSE_FAILED))
            status = {Action.DONE: 200, Action.RETRY: 0, Action.DEFER_HOST: 429}.get(action, 0)
            wait = self.random.random()
            unread = action is Action.DEAD and error is ErrorClass.PARSE_FAILED
            place = self.place() if unread else None
            each = Done(lease.id, action, status, error, retry_after="2", links=links, wait=wait, place=place)
            for worker in done:
                done[worker].append(each)
            self.places.pop(url, None)
            if action is Action.DONE:
                self.finished.add(url)
            elif action is Action.DEAD:
                assert error is not None
                self.failed[url] = error
                if place is not None:
                    self.places[url] = place
        for worker, batch in done.items():
            await self.frontier.complete(worker, batch, self.now)

    def place(self) -> Place:
        return Place("sealed", "file", self.random.randrange(1 << 40), 1)

    async def keep(self) -> None:
        if self.held:
            lease = self.held[self.random.choice(sorted(self.held))]
            kept = Kept(lease.id, self.place(), 200, 10)
            held = [await self.frontier.kept(worker, kept, self.now) for worker in "ab"]
            assert held.count(True) == 1
            self.places[lease.url] = kept.place

    async def requeue(self) -> None:
        draw = self.random
        host = draw.choice((None, None, *HOSTS))
        reason = draw.choice((None, None, ErrorClass.RESET, ErrorClass.PARSE_FAILED))
        some = draw.sample(sorted(self.failed), min(len(self.failed), 3)) if draw.random() < 0.3 else None
        meant = {
            url
            for url, why in self.failed.items()
            if (url in some if some is not None else host in (None, host_of(url)) and reason in (None, why))
        }
        refetch = draw.random() < 0.2
        count, after = 0, ""
        while True:
            part = await self.frontier.requeue(
                self.now, urls=some, host=host, reason=reason, most=2, after=after, refetch=refetch
            )
            count += part.count
            if part.after is None:
                break
            after = part.after
        assert count == len(meant)
        for url in meant:
            if self.failed.pop(url) is ErrorClass.RESET or refetch:
                self.places.pop(url, None)
            self.deaths[url] = 0
        assert {view.url for view in (await self.frontier.failures()).found} == self.failed.keys()
        assert (await self.frontier.stats()).failed == len(self.failed)

    async def die(self) -> None:
        """A worker dies of a page."""
        blamed = [self.random.choice(sorted(self.held))] if self.held else []
        for worker in "ab":
            await self.frontier.reclaim(worker, self.now, [self.held[url].id for url in blamed])
        self.held.clear()
        for url in blamed:
            self.deaths[url] += 1
            if self.deaths[url] == 3:
                self.failed[url] = ErrorClass.WORKER_DIED

    async def release(self) -> None:
        if self.held:
            lease = self.held.pop(self.random.choice(sorted(self.held)))
            for worker in "ab":
                await self.frontier.release(worker, [lease.id], self.now)

    async def reclaim(self) -> None:
        for worker in "ab":
            await self.frontier.reclaim(worker, self.now)
        self.held.clear()

    async def errand(self) -> None:
        name = self.random.choice(HOSTS)
        closed = await self.closed(name)
        lease = await self.frontier.errand("a", f"http://{name}/robots.txt", self.now)
        if lease is not None:
            assert not closed
            await self.lease()
            await self.frontier.discover(self.links(4), self.now)
            answer = Done(lease.id, Action.DONE, self.random.choice((200, 429)), retry_after="2")
            await self.frontier.complete("a", [answer], self.now)

    async def restart(self) -> None:
        if self.random.random() < 0.5:
            await self.frontier.close()
        else:
            self.frontier.discard()
        self.held.clear()
        self.frontier = self.opened()

    async def step(self) -> None:
        self.now += self.random.random() / 4
        verbs = {
            self.discover: 4, self.lease: 12, self.complete: 10, self.release: 2, self.reclaim: 0.3, self.errand: 1,
            self.restart: 0.3, self.keep: 1, self.requeue: 1, self.die: 0.3,
        }  # fmt: skip
        await self.random.choices(list(verbs), list(verbs.values()))[0]()

    async def drain(self) -> None:
        """Finish everything that is left, without finding anything more."""
        await self.reclaim()
        await self.frontier.requeue(self.now, refetch=True)
        self.places = {url: place for url, place in self.places.items() if url not in self.failed}
        self.deaths.update({url: -self.deaths[url] for url in self.failed})
        self.failed.clear()
        for _ in range(10_000):
            self.now += 1.0
            await self.lease()
            done = [Done(lease.id, Action.DONE, 200) for lease in self.held.values()]
            self.finished.update(self.held)
            for worker in "ab":
                await self.frontier.complete(worker, done, self.now)
            if not self.held and await self.frontier.next_ready(self.now) is None:
                return
            self.held.clear()


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("seed", range(6))
async def test_no_url_is_lost_and_none_is_leased_twice(
    tmp_path: Path, order: Order, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "HEAD", 2)
    walk = Walk(tmp_path / "frontier", order, seed)
    for _ in range(250):
        await walk.step()
    await walk.drain()
    stats = await walk.frontier.stats()
    assert walk.known - walk.finished == set()
    assert (stats.queued, stats.waiting, stats.done) == (0, 0, len(walk.known))
    assert (stats.leased, stats.in_play, stats.parked) == (0, 0, 0)
    await walk.frontier.close()
