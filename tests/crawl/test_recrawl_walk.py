"""Random walks with revisits: known pages come back at their time and not before, none is forgotten, and the books always agree."""

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from gossamer.frontier import Body, Done, Order, Place, Recrawl, RocksFrontier, State, UrlView, window
from gossamer.frontier.audit import Flaw, audit
from gossamer.frontier.inspect import Ledger
from gossamer.outcome import Action, ErrorClass
from gossamer.recrawl import RecrawlPolicy
from tests.crawl.test_frontier_walk import Walk

ANSWERS = {
    Action.DONE: 200, Action.NOT_MODIFIED: 304, Action.GONE: 404, Action.REFUSED: 403, Action.REDIRECT: 301,
    Action.RETRY: 0, Action.DEFER_HOST: 429, Action.DEAD: 0,
}  # fmt: skip


class Revisits(Walk):
    """A crawl without end, of pages that change, go, come back, fail, and are lost with their segments."""

    shares = (0.0, 0.3, 0.5, 1.0)

    def __init__(self, folder: Path, order: Order, seed: int) -> None:
        super().__init__(folder, order, seed)
        self.due: dict[str, float] = {}
        """When each finished page is visited next, as the frontier told."""
        self.visits: Counter[str] = Counter()
        self.finding = True
        self.captures = 0
        self.segment = 0
        self.gone: set[str] = set()
        """Segments whose bytes are lost."""

    def opened(self) -> RocksFrontier:
        policy = RecrawlPolicy(name="adaptive", interval=4.0, floor=1.0, ceiling=16.0)
        rules = Recrawl(policy=policy, continuous=True, share=self.random.choice(self.shares))
        self.settings = msgspec.structs.replace(self.settings, recrawl=rules)
        return super().opened()

    async def lease(self) -> None:
        for lease in await self.frontier.lease(self.random.choice("ab"), self.random.randrange(1, 6), self.now):
            assert lease.url not in self.held, "leased twice at a time"
            assert self.due.pop(lease.url, 0.0) <= self.now, "leased before its time"
            self.held[lease.url] = lease

    async def complete(self) -> None:
        chosen = self.random.sample(sorted(self.held), min(len(self.held), self.random.randrange(1, 5)))
        for url in chosen:
            await self.answered(url, self.random.choices(list(ANSWERS), [8, 4, 3, 1, 1, 2, 1, 1])[0])

    async def answered(self, url: str, action: Action) -> None:
        lease = self.held.pop(url)
        if action is Action.NOT_MODIFIED and not lease.visits:
            action = Action.DONE
        stored = action is Action.DONE and self.random.random() < 0.8
        self.captures += 1
        self.segment += self.captures % 5 == 0
        place = Place(f"s{self.segment}", "file", self.captures, 1)
        done = Done(
            lease.id,
            action,
            ANSWERS[action],
            ErrorClass.RESET if action in (Action.RETRY, Action.DEAD) else None,
            retry_after="2" if action is Action.DEFER_HOST else None,
            wait=self.random.random(),
            place=place if action in (Action.DONE, Action.GONE) else None,
            stored=stored,
            digest=self.random.randbytes(2) if action is Action.DONE else None,
            copy_of="http://original.example/" if action is Action.DONE and not stored else None,
            body=Body(url, self.now) if stored else None,
            links=tuple(self.links(4)) if action is Action.DONE and self.finding else (),
        )
        held = [await self.frontier.complete(worker, [done], self.now) for worker in "ab"]
        assert sum(held) == 1
        self.visits[url] += action not in (Action.RETRY, Action.DEFER_HOST)
        view = await self.note(url)
        if view.state is State.DONE or (view.state is State.GONE and view.due):
            assert view.due > self.now, "a page that was found is visited again"

    async def note(self, url: str) -> UrlView:
        view = await self.frontier.explain(url)
        assert view is not None
        assert view.place is None or view.place.segment not in self.gone, "no record points to bytes that are lost"
        self.due.pop(url, None)
        if view.due:
            self.due[url] = view.due
        return view

    async def abandon(self) -> None:
        unsealed = await self.frontier.unsealed()
        self.segment += 1
        for segment in self.random.sample(sorted(unsealed), min(len(unsealed), 2)):
            if self.random.random() < 0.5:
                await self.frontier.seal(segment)
                continue
            self.gone.add(segment)
            await self.frontier.abandon(segment, self.now)
            for stored in unsealed[segment]:
                if stored.url not in self.held:
                    await self.note(stored.url)

    async def requeue(self) -> None:
        await self.frontier.requeue(self.now)

    async def pass_over(self) -> None:
        """An operator has all pages visited now."""
        before = set(self.due)
        await self.frontier.bring_forward(self.now, self.now, most=10_000)
        for url in before - self.held.keys():
            self.due[url] = min(self.due[url], self.now)

    async def audited(self) -> None:
        """The process ends, and whoever reads its folder finds everything in its place and rightly counted."""
        await self.frontier.close() if self.random.random() < 0.5 else self.frontier.discard()
        self.held.clear()
        flaws: list[Flaw] = []
        with Ledger(self.folder) as ledger:
            audit(ledger.families, flaws.append)
        assert [flaw for flaw in flaws if flaw.kind != "unsealed"] == []
        self.frontier = self.opened()

    async def step(self) -> None:
        self.now += self.random.random() / 2
        verbs = {
            self.discover: 1, self.lease: 12, self.complete: 12, self.release: 1, self.reclaim: 0.3, self.audited: 0.6,
            self.abandon: 1, self.requeue: 0.5, self.pass_over: 0.2,
        }  # fmt: skip
        await self.random.choices(list(verbs), list(verbs.values()))[0]()


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize("seed", range(4))
async def test_known_pages_come_back_at_their_time_and_the_books_agree(
    tmp_path: Path, order: Order, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(window, "HEAD", 2)
    walk = Revisits(tmp_path / "frontier", order, seed)
    for _ in range(400):
        await walk.step()
    await walk.reclaim()
    await walk.frontier.requeue(walk.now)
    # From here on every page is there, unchanged: each is visited once more, and once more after that.
    walk.finding, walk.shares = False, (0.5, 0.5, 0.5, 0.5)
    await walk.audited()
    visited: Counter[str] = Counter()
    for _ in range(800):
        walk.now += 2.0
        await walk.lease()
        visited.update(list(walk.held))
        for url in list(walk.held):
            await walk.answered(url, Action.NOT_MODIFIED)
    stats = await walk.frontier.stats()
    states = Counter([await _standing(walk.frontier, url) for url in walk.known])
    assert states["lost"] == 0
    assert states["due"] == stats.due + stats.overdue
    assert stats.seen == stats.done + stats.gone + stats.refused + stats.redirected + stats.queued + stats.failed
    assert stats.due + stats.overdue + stats.revisiting + stats.retired + stats.refused + stats.redirected >= stats.done
    assert all(visited[url] >= 2 for url in walk.due), "none is forgotten"
    assert sum(visited.values()) > 3 * len(walk.due)
    await walk.audited()
    await walk.frontier.close()


async def _standing(frontier: RocksFrontier, url: str) -> str:
    view = await frontier.explain(url)
    if view is None:
        return "refused at the door"
    if view.due:
        return "due"
    ended = view.state in (State.REFUSED, State.REDIRECTED, State.GONE, State.FAILED)
    return "ended" if ended else "queued" if view.state is State.QUEUED else "lost"
