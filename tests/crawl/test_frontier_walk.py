"""Random walks through the frontier's verbs: whatever the order of events, each URL is handed out until it is done, never beside itself.

Queue heads of two entries and a window of two hosts bring about in a few dozen steps what a crawl meets after millions: heads
that are trimmed while entries behind them are leased, hosts parked with work in hand, restarts in between.
"""

import random
from pathlib import Path

import pytest

from gossamer.frontier import Done, FrontierSettings, Lease, Link, Order, RocksFrontier, window
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
            assert host_of(lease.url) not in closed, "leased although its host is to be left alone"
            self.held[lease.url] = lease

    async def closed(self, name: str) -> bool:
        host = await self.frontier.host(name)
        return host is not None and host.state.next_allowed > self.now

    async def complete(self) -> None:
        done: dict[str, list[Done]] = {"a": [], "b": []}
        for url in self.random.sample(sorted(self.held), min(len(self.held), self.random.randrange(1, 5))):
            lease = self.held.pop(url)
            action = self.random.choices([Action.DONE, Action.RETRY, Action.DEFER_HOST], [6, 2, 1])[0]
            links = tuple(self.links(8)) if action is Action.DONE else ()
            error = ErrorClass.RESET if action is Action.RETRY else None
            status = {Action.DONE: 200, Action.RETRY: 0, Action.DEFER_HOST: 429}[action]
            wait = self.random.random()
            each = Done(lease.id, action, status, error, retry_after="2", links=links, wait=wait)
            for worker in done:
                done[worker].append(each)
            if action is Action.DONE:
                self.finished.add(url)
        for worker, batch in done.items():
            await self.frontier.complete(worker, batch, self.now)

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
        verbs = [self.discover, self.lease, self.complete, self.release, self.reclaim, self.errand, self.restart]
        await self.random.choices(verbs, [4, 12, 10, 2, 0.3, 1, 0.3])[0]()

    async def drain(self) -> None:
        """Finish everything that is left, without finding anything more."""
        await self.reclaim()
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
