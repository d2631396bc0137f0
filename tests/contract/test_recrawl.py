"""What every frontier promises about visits to known pages: their times, their share, and that nothing is lost by them."""

import itertools
import math
from collections import Counter

import pytest

from gossamer.frontier import Body, Done, Frontier, Lease, Link, Place, Recrawl, State
from gossamer.outcome import Action, ErrorClass
from gossamer.recrawl import RecrawlPolicy
from tests.contract.engines import T0, Engine
from tests.contract.test_frontier import EAGER, done, page

FIXED = RecrawlPolicy(name="fixed", interval=100.0, floor=1.0, ceiling=10_000.0)
ONCE = Recrawl(policy=FIXED)
FOREVER = Recrawl(policy=FIXED, continuous=True)


async def leased(frontier: Frontier, now: float, most: int = 1_000) -> list[Lease]:
    """All that may be leased at a time: hosts that allow one connection give one each."""
    return await frontier.lease("w", most, now)


async def visit_all(frontier: Frontier, now: float, **more: object) -> list[Lease]:
    """Visit, without time passing, whatever can be visited."""
    seen: list[Lease] = []
    while leases := await leased(frontier, now):
        await frontier.complete("w", [done(lease, **more) for lease in leases], now)
        seen += leases
        assert len(seen) < 10_000
    return seen


def place(segment: str, offset: int = 0) -> Place:
    return Place(segment, "file", offset, 1)


# --- times ----------------------------------------------------------------------------------------------------------


async def test_every_page_that_was_answered_has_the_time_of_its_next_visit(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=ONCE)
    await frontier.discover([page(n, n) for n in range(4)], T0)
    leases = await leased(frontier, T0)
    actions = [Action.DONE, Action.GONE, Action.REFUSED, Action.DEAD]
    await frontier.complete("w", [done(one, action=action) for one, action in zip(leases, actions, strict=True)], T0)
    times = {}
    for lease in leases:
        view = await frontier.explain(lease.url)
        assert view is not None
        times[view.state] = view.due
    assert times == {
        State.DONE: T0 + 100, State.GONE: T0 + 200, State.REFUSED: 0.0, State.FAILED: 0.0,
    }  # fmt: skip
    stats = await frontier.stats()
    assert (stats.due, await frontier.next_due()) == (2, T0 + 100)
    await engine.stop()


async def test_a_crawl_that_ends_keeps_the_times_and_visits_nothing_again(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=ONCE)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0)
    assert await leased(frontier, T0 + 1_000_000) == []
    assert await frontier.next_ready(T0) is None
    await engine.stop()
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    assert await frontier.next_ready(T0) == T0 + 100
    assert [lease.url for lease in await leased(frontier, T0 + 100)] == [page(1, 1).url]
    await engine.stop()


async def test_a_page_is_visited_again_at_its_time_with_what_is_known_of_it(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    [lease] = await leased(frontier, T0)
    assert (lease.visits, lease.digest, lease.body) == (0, None, None)
    known = Body(lease.url, T0 - 1)
    more = {
        "etag": '"a"',
        "last_modified": "yesterday",
        "digest": b"d" * 32,
        "likeness": 7,
        "body": known,
        "stored": True,
        "place": place("s"),
    }
    await frontier.complete("w", [done(lease, **more)], T0)
    assert await leased(frontier, T0 + 99) == []
    [lease] = await leased(frontier, T0 + 100)
    assert (lease.etag, lease.last_modified, lease.digest) == ('"a"', "yesterday", b"d" * 32)
    assert (lease.likeness, lease.body, lease.visits, lease.attempt) == (7, known, 1, 1)
    stats = await frontier.stats()
    assert (stats.queued, stats.revisiting, stats.done, stats.stored, stats.due) == (1, 1, 0, 1, 0)
    await frontier.complete("w", [done(lease, action=Action.NOT_MODIFIED, status=304)], T0 + 101)
    stats = await frontier.stats()
    assert (stats.queued, stats.revisiting, stats.done, stats.stored, stats.due) == (0, 0, 1, 1, 1)
    assert (stats.fetched, stats.revisits, stats.unchanged, stats.changed) == (1, 1, 1, 0)
    assert await frontier.next_due() == T0 + 201
    [lease] = await leased(frontier, T0 + 300)
    assert (lease.etag, lease.digest, lease.body, lease.visits) == ('"a"', b"d" * 32, known, 2)
    await frontier.complete("w", [done(lease, digest=b"e" * 32, stored=True)], T0 + 300)
    stats = await frontier.stats()
    assert (stats.fetched, stats.revisits, stats.unchanged, stats.changed, stats.stored) == (1, 2, 1, 1, 1)
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.visits, view.changes) == (3, 1)
    await engine.stop()


async def test_pages_that_change_are_visited_more_often_than_those_that_do_not(engine: Engine) -> None:
    policy = RecrawlPolicy(name="adaptive", interval=100.0, floor=1.0, ceiling=10_000.0)
    frontier = engine.open(politeness=EAGER, recrawl=Recrawl(policy=policy, continuous=True))
    await frontier.discover([page(1, 1), page(2, 2)], T0)
    visits: Counter[str] = Counter()
    for second in range(0, 3_000, 5):
        for lease in await visit_all(frontier, T0 + second, digest=b"-"):
            visits[lease.url] += 1
    still = visits[page(1, 1).url]
    assert still == visits[page(2, 2).url]
    for second in range(3_000, 6_000, 5):
        for lease in await leased(frontier, T0 + second):
            visits[lease.url] += 1
            digest = b"-" if lease.url == page(1, 1).url else second.to_bytes(4, "big")
            await frontier.complete("w", [done(lease, digest=digest)], T0 + second)
    assert visits[page(2, 2).url] > 3 * visits[page(1, 1).url]
    await engine.stop()


async def test_the_robots_budget_and_pace_of_a_host_hold_for_revisits_too(engine: Engine) -> None:
    from gossamer.politeness import Politeness

    slow = Politeness(delay=10.0, answer_multiple=0.0)
    frontier = engine.open(politeness=slow, recrawl=FOREVER)
    await frontier.discover([page(1, n) for n in range(5)], T0)
    now, times = T0, []
    while now < T0 + 400:
        for lease in await leased(frontier, now):
            times.append(now)
            await frontier.complete("w", [done(lease)], now)
        now += 1.0
    assert len(times) >= 15
    assert all(after - before >= 10.0 for before, after in itertools.pairwise(times))
    await engine.stop()


# --- shares ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("share", "least", "most"), [(0.5, 45, 55), (0.25, 20, 30), (0.0, 0, 0), (1.0, 95, 100)])
@pytest.mark.parametrize("hosts", [1, 40])
async def test_while_new_pages_wait_revisits_have_their_share(
    engine: Engine, share: float, least: int, most: int, hosts: int
) -> None:
    rules = Recrawl(policy=FIXED, continuous=True, share=share)
    frontier = engine.open(politeness=EAGER, recrawl=rules)
    await frontier.discover([page(n % hosts, n) for n in range(400)], T0)
    await visit_all(frontier, T0)
    now = T0 + 150  # all are due, and not so late that what is visited now comes again
    # New pages are on the hosts that have pages to be visited again, and where there are many also on hosts of their own.
    await frontier.discover([page(n % (2 * hosts if hosts > 1 else 1), 1_000 + n) for n in range(400)], now)
    kinds: Counter[bool] = Counter()
    while kinds.total() < 100:
        leases = await frontier.lease("w", min(4, 100 - kinds.total()), now)
        assert leases, "there is enough of both"
        kinds.update(lease.visits > 0 for lease in leases)
        await frontier.complete("w", [done(lease) for lease in leases], now)
    slack = (
        0 if hosts == 1 else 15
    )  # shares are kept among hosts too, with a little slack so that no host is passed over for long
    assert least - slack <= kinds[True] <= most + slack
    await engine.stop()


async def test_nobody_waits_for_a_share_that_the_others_do_not_use(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(n % 5, n) for n in range(100)], T0)
    assert len(await visit_all(frontier, T0)) == 100, "new pages, and none that is due"
    assert len(await visit_all(frontier, T0 + 150)) == 100, "pages that are due, and none that is new"
    stats = await frontier.stats()
    assert (stats.fetched, stats.revisits, stats.overdue, stats.queued) == (100, 100, 0, 0)
    await engine.stop()


async def test_a_spent_budget_of_pages_ends_discovery_and_not_revisits(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER, max_pages=10)
    await frontier.discover([page(n % 3, n) for n in range(40)], T0)
    first = {lease.url for lease in await visit_all(frontier, T0)}
    assert len(first) == 10
    again = set()
    for second in range(100, 120):
        again |= {lease.url for lease in await visit_all(frontier, T0 + second)}
    assert again == first
    stats = await frontier.stats()
    assert (stats.fetched, stats.revisits, stats.queued) == (10, 10, 30)
    await engine.stop()


# --- one pass -------------------------------------------------------------------------------------------------------


async def test_a_pass_visits_what_is_due_by_then_and_ends(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=ONCE)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0)
    await frontier.discover([page(1, 2)], T0 + 50)
    await visit_all(frontier, T0 + 50)
    await frontier.revisit(T0 + 120)
    assert [lease.url for lease in await visit_all(frontier, T0 + 120)] == [page(1, 1).url]
    assert await frontier.next_ready(T0 + 120) is None
    assert await visit_all(frontier, T0 + 9_999) == []
    await frontier.revisit(math.inf)
    assert len(await visit_all(frontier, T0 + 9_999)) == 2
    await engine.stop()


async def test_pages_are_brought_forward_in_parts_and_by_age(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=ONCE)
    for minute in range(10):
        await frontier.discover([page(minute % 3, minute)], T0 + minute)
        await visit_all(frontier, T0 + minute)
    now, after, count = T0 + 20, "", 0
    while True:
        part = await frontier.bring_forward(now, T0 + 6, most=2, after=after)
        assert part.count <= 2
        count += part.count
        if part.after is None:
            break
        after = part.after
    assert count == 6
    await frontier.revisit(now)
    assert sorted(lease.url for lease in await visit_all(frontier, now)) == sorted(page(n % 3, n).url for n in range(6))
    assert (await frontier.stats()).due == 10
    await engine.stop()


# --- gone, and back -------------------------------------------------------------------------------------------------


async def test_a_page_that_is_gone_is_visited_ever_more_seldom_and_then_retired(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, digest=b"-")
    now, waits = T0, []
    while (ready := await frontier.next_ready(now)) is not None:
        [lease] = await leased(frontier, ready)
        waits.append(round(ready - now))
        now = ready
        await frontier.complete("w", [done(lease, action=Action.GONE, status=404)], now)
    assert waits == [100, 200, 400, 800]
    stats = await frontier.stats()
    assert (stats.gone, stats.retired, stats.due, stats.done) == (1, 1, 0, 0)
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.due) == (State.GONE, 0.0)
    await engine.stop()


async def test_a_page_that_comes_back_is_new_again(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, digest=b"-", etag='"a"')
    await visit_all(frontier, T0 + 100, action=Action.GONE, status=410)
    [lease] = await leased(frontier, T0 + 1_000)
    assert lease.etag is None, "what we have of it is no answer any more"
    await frontier.complete("w", [done(lease, digest=b"-", stored=True)], T0 + 1_000)
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.visits, view.changes, view.due) == (State.DONE, 1, 0, T0 + 1_100)
    stats = await frontier.stats()
    assert (stats.back, stats.changed, stats.unchanged, stats.gone, stats.done) == (1, 0, 0, 0, 1)
    await engine.stop()


async def test_a_retired_page_that_is_found_again_has_another_chance(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=Recrawl(policy=FIXED, continuous=True, retire_after=1))
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, action=Action.GONE, status=404)
    assert (await frontier.stats()).retired == 1
    assert await frontier.next_ready(T0) is None
    for _ in range(2):
        assert await frontier.discover([page(1, 1), page(1, 1)], T0 + 10) == 0
    stats = await frontier.stats()
    assert (stats.retired, stats.due, await frontier.next_due()) == (0, 1, T0 + 200)
    [lease] = await leased(frontier, T0 + 200)
    await frontier.complete("w", [done(lease, digest=b"-")], T0 + 200)
    assert (await frontier.stats()).back == 1
    await engine.stop()


async def test_a_visit_that_fails_leaves_the_page_as_it_was(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, digest=b"-", etag='"a"', stored=True, place=place("s"), body=Body(page(1, 1).url, T0))
    await frontier.seal("s")
    [lease] = await leased(frontier, T0 + 100)
    await frontier.complete("w", [done(lease, action=Action.RETRY, status=500, wait=5.0)], T0 + 100)
    assert (await frontier.stats()).waiting == 1
    [lease] = await leased(frontier, T0 + 105)
    failed = done(lease, action=Action.DEAD, status=0, error=ErrorClass.CONNECT_REFUSED, place=None)
    await frontier.complete("w", [failed], T0 + 105)
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.status, view.place, view.due) == (State.DONE, 200, place("s"), T0 + 305)
    stats = await frontier.stats()
    assert (stats.failed, stats.done, stats.stored, stats.waiting) == (0, 1, 1, 0)
    assert (await frontier.failures()).found == []
    [lease] = await leased(frontier, T0 + 305)
    assert (lease.etag, lease.digest, lease.place) == ('"a"', b"-", None)
    await engine.stop()


@pytest.mark.parametrize("action", [Action.REFUSED, Action.REDIRECT])
async def test_a_page_that_is_not_shown_any_more_may_be_shown_again_as_it_was(engine: Engine, action: Action) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, digest=b"-", etag='"a"', stored=True, place=place("s"), body=Body(page(1, 1).url, T0))
    await frontier.seal("s")
    redirect = "https://elsewhere.example/" if action is Action.REDIRECT else None
    await visit_all(frontier, T0 + 100, action=action, status=302, redirect=redirect, place=place("t"))
    await frontier.seal("t")
    stats = await frontier.stats()
    assert (stats.done, stats.refused + stats.redirected, stats.stored, stats.due) == (0, 1, 0, 1)
    [lease] = await leased(frontier, T0 + 300)
    assert (lease.digest, lease.etag) == (b"-", '"a"')
    await frontier.complete("w", [done(lease, action=Action.NOT_MODIFIED, status=304)], T0 + 300)
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.place, view.redirect, view.changes) == (State.DONE, place("s"), None, 0)
    assert (await frontier.stats()).stored == 1
    await engine.stop()


# --- sitemaps -------------------------------------------------------------------------------------------------------


def told(lastmod: float, host: int = 1, number: int = 1) -> Link:
    return page(host, number, lastmod=lastmod)


async def test_a_sitemaps_lastmod_newer_than_our_copy_makes_a_page_due(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, digest=b"-")
    await frontier.discover([told(T0 - 1)], T0 + 10)
    assert await leased(frontier, T0 + 10) == [], "our copy is newer"
    await frontier.discover([told(T0 + 5)], T0 + 10)
    [lease] = await leased(frontier, T0 + 10)
    await frontier.complete("w", [done(lease, digest=b"+")], T0 + 10)
    await frontier.discover([told(T0 + 5)], T0 + 20)
    assert await leased(frontier, T0 + 20) == [], "it is not said twice"
    stats = await frontier.stats()
    assert (stats.due, stats.changed, await frontier.next_due()) == (1, 1, T0 + 110)
    await engine.stop()


async def test_a_host_whose_lastmod_lies_is_believed_less_and_less(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    links = [page(1, n) for n in range(20)] + [page(2, n) for n in range(20)]
    await frontier.discover(links, T0)
    await visit_all(frontier, T0, digest=b"-")
    visits: Counter[str] = Counter()
    for number in range(20):
        now = T0 + 2 * number + 2
        await frontier.discover([told(now - 1, 1, number), told(now - 1, 2, number)], now)
        for lease in await leased(frontier, now):
            liar = "h1." in lease.url
            visits["liar" if liar else "honest"] += 1
            await frontier.complete("w", [done(lease, digest=b"-" if liar else b"+")], now)
    assert visits["honest"] == 20
    assert 1 <= visits["liar"] <= 4
    await engine.stop()


# --- nothing is lost ------------------------------------------------------------------------------------------------


async def visited_twice(frontier: Frontier) -> str:
    """A page with two captures, the second changed, each in a segment of its own."""
    await frontier.discover([page(1, 1)], T0)
    url = page(1, 1).url
    await visit_all(frontier, T0, digest=b"1", etag='"1"', stored=True, place=place("first"), body=Body(url, T0))
    await visit_all(
        frontier, T0 + 100, digest=b"2", etag='"2"', stored=True, place=place("second", 9), body=Body(url, T0 + 100)
    )
    return url


async def test_what_a_revisit_brought_and_lost_leaves_the_older_capture(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    url = await visited_twice(frontier)
    await frontier.seal("first")
    assert await frontier.abandon("second", T0 + 110) == 1
    stats = await frontier.stats()
    assert (stats.queued, stats.stored, stats.fetched, stats.due, stats.done) == (1, 1, 1, 0, 0)
    [lease] = await leased(frontier, T0 + 110)
    assert (lease.url, lease.place, lease.etag, lease.last_modified, lease.body) == (url, None, None, None, None)
    failed = done(lease, action=Action.DEAD, status=0, error=ErrorClass.RESET)
    await frontier.complete("w", [failed], T0 + 110)
    view = await frontier.explain(url)
    assert view is not None
    assert (view.state, view.place) == (State.DONE, place("first"))
    assert view.due > T0 + 110
    await engine.stop()


async def test_nothing_points_to_an_older_capture_that_is_lost(engine: Engine) -> None:
    for moment in ("done", "queued"):
        frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
        if moment == "done":
            url = await visited_twice(frontier)
            assert {s.url for s in (await frontier.unsealed())["first"]} == {url}
            assert await frontier.abandon("first", T0 + 110) == 0, "the newer one counts"
        else:
            url = page(1, 1).url
            await frontier.discover([page(1, 1)], T0)
            await visit_all(
                frontier, T0, digest=b"1", etag='"1"', stored=True, place=place("first"), body=Body(url, T0)
            )
            [lease] = await leased(frontier, T0 + 100)
            await frontier.release("w", [lease.id], T0 + 100)
            assert [s.place for s in (await frontier.unsealed())["first"]] == [place("first")]
            await frontier.abandon("first", T0 + 100)
        now = T0 + 200
        [lease] = await leased(frontier, now)
        if moment == "queued":
            assert (lease.etag, lease.body) == (None, None), "what we do not have must be sent whole"
            assert (await frontier.stats()).stored == 0
        await frontier.complete("w", [done(lease, action=Action.DEAD, status=0, error=ErrorClass.RESET)], now)
        view = await frontier.explain(url)
        assert view is not None
        assert view.place == (place("second", 9) if moment == "done" else None)
        assert view.due > now
        await engine.stop()
        engine = engine.elsewhere()


async def test_a_crash_at_any_point_loses_no_time(engine: Engine) -> None:
    urls = {page(n % 4, n).url for n in range(40)}
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(n % 4, n) for n in range(40)], T0)
    now = T0
    visits: Counter[str] = Counter()
    for step in range(60):
        leases = await frontier.lease("w", 3, now)
        part = leases[: step % 4]
        visits.update(lease.url for lease in part)
        answers = [done(lease, digest=step.to_bytes(2, "big")) for lease in part]
        await frontier.complete("w", answers, now)
        if step % 5 == 4:
            engine.crash()
            frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
        now += 11
    for _ in range(3):
        now += 10_000
        visits.update(lease.url for lease in await visit_all(frontier, now, digest=b"-"))
        stats = await frontier.stats()
        assert (stats.due, stats.queued, stats.overdue, stats.revisiting) == (40, 0, 0, 0)
    assert visits.keys() == urls
    assert min(visits.values()) >= 3
    await engine.stop()


async def test_overdue_visits_survive_a_restart(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, n) for n in range(50)], T0)
    await visit_all(frontier, T0)
    await frontier.discover([page(1, 100 + n) for n in range(5)], T0 + 150)
    [lease] = await leased(frontier, T0 + 150)
    assert (await frontier.stats()).overdue >= 40
    engine.crash()
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await visit_all(frontier, T0 + 155)
    stats = await frontier.stats()
    assert (stats.overdue, stats.queued, stats.fetched, stats.revisits) == (0, 0, 55, 50)
    assert lease.url in {page(1, n).url for n in range(200)}
    await engine.stop()


async def test_a_repeated_complete_of_a_revisit_changes_nothing(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0)
    [lease] = await leased(frontier, T0 + 100)
    answer = Done(lease.id, Action.DONE, 200, digest=b"-")
    assert await frontier.complete("w", [answer], T0 + 100) == 1
    before = await frontier.stats()
    assert await frontier.complete("w", [answer], T0 + 101) == 0
    assert await frontier.stats() == before
    await engine.stop()


async def test_a_page_that_kills_workers_on_a_revisit_is_not_visited_for_ever(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=FOREVER)
    await frontier.discover([page(1, 1)], T0)
    await visit_all(frontier, T0, digest=b"-", stored=True)
    now = T0 + 100
    for _ in range(3):
        [lease] = await leased(frontier, now)
        await frontier.reclaim("w", now, [lease.id])
        now += 10
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.due) == (State.FAILED, 0.0)
    assert (await frontier.requeue(now)).count == 1
    [lease] = await leased(frontier, now)
    await frontier.complete("w", [done(lease, digest=b"-")], now)
    stats = await frontier.stats()
    assert (stats.done, stats.due, stats.fetched, stats.failed, stats.revisiting) == (1, 1, 1, 0, 0)
    await engine.stop()


async def test_what_a_sitemap_says_of_a_page_counts_until_it_is_known_better(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, recrawl=Recrawl(continuous=True))
    told = {"daily": page(1, 1, changefreq="daily"), "yearly": page(2, 1, changefreq="yearly")}
    told["always"] = page(5, 1, changefreq="always")
    best, least = page(3, 1, priority=1.0), page(4, 1, priority=0.2)
    await frontier.discover([*told.values(), best, least], T0)
    await visit_all(frontier, T0, digest=b"-")
    due = {}
    for link in (*told.values(), best, least):
        view = await frontier.explain(link.url)
        assert view is not None
        due[link.url] = view.due - T0
    assert due[told["daily"].url] < due[told["yearly"].url] / 2
    assert due[told["always"].url] < due[told["yearly"].url] / 2, (
        "what is said to change all the time is not given up for it"
    )
    assert due[best.url] < due[least.url]
    assert all(3_600.0 <= wait <= 30 * 86_400.0 for wait in due.values()), "never beyond floor and ceiling"
    await engine.stop()
