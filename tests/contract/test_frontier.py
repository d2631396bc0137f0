"""What every frontier promises. Each test states one invariant of the contract, on every engine."""

from collections import Counter

import pytest

from gossamer.frontier import Content, Done, Frontier, Kept, Kind, Lease, Link, Order, Place, RobotsFile, State
from gossamer.outcome import Action, ErrorClass
from gossamer.politeness import Politeness
from tests.contract.engines import T0, Engine

EAGER = Politeness(delay=0.0, answer_multiple=0.0)
GENTLE = Politeness(delay=1.0, answer_multiple=0.0)


def page(host: int | str, number: int, **more: object) -> Link:
    return Link(f"https://h{host}.example/p{number}", **more)  # type: ignore[arg-type]


def done(lease: Lease, **more: object) -> Done:
    more.setdefault("action", Action.DONE)
    more.setdefault("status", 200)
    return Done(lease.id, **more)  # type: ignore[arg-type]


async def drain(frontier: Frontier, now: float = T0, worker: str = "w", step: float = 1.0) -> list[str]:
    """Fetch everything there is, one lease at a time; the URLs in the order they came."""
    order: list[str] = []
    for _ in range(10_000):
        leases = await frontier.lease(worker, 1, now)
        if not leases:
            ready = await frontier.next_ready(now)
            if ready is None:
                return order
            now = max(ready, now + 0.001)
            continue
        order.append(leases[0].url)
        await frontier.complete(worker, [done(leases[0])], now)
    raise AssertionError("the frontier never ran dry")


# --- discover -------------------------------------------------------------------------------------------------------


async def test_discover_adds_what_is_new_and_only_once(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    assert await frontier.discover([page(1, 1), page(1, 2), page(1, 1)], T0) == 2
    assert await frontier.discover([page(1, 2), page(2, 1)], T0) == 1
    stats = await frontier.stats()
    assert (stats.seen, stats.queued, stats.hosts) == (3, 3, 2)
    await engine.stop()


async def test_a_url_fetched_before_is_not_new(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1)], T0)
    assert await drain(frontier) == [page(1, 1).url]
    assert await frontier.discover([page(1, 1)], T0) == 0
    assert await drain(frontier) == []
    await engine.stop()


async def test_known_urls_stay_known_over_a_restart(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    links = [page(n % 7, n) for n in range(500)]
    await frontier.discover(links, T0)
    await engine.stop()
    frontier = engine.open(politeness=EAGER)
    assert await frontier.discover(links, T0) == 0
    assert sorted(await drain(frontier)) == sorted(link.url for link in links)
    await engine.stop()


async def test_links_of_a_completed_page_are_discovered_with_it(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 0)], T0)
    [lease] = await frontier.lease("w", 10, T0)
    await frontier.complete("w", [done(lease, links=(page(1, 1, depth=1), page(2, 2, depth=1)))], T0)
    assert len(await drain(frontier)) == 2
    view = await frontier.explain(page(2, 2).url)
    assert view is not None
    assert (view.via, view.depth, view.state) == (page(1, 0).url, 1, State.DONE)
    await engine.stop()


# --- politeness -----------------------------------------------------------------------------------------------------


async def test_a_host_never_has_more_leases_than_connections(engine: Engine) -> None:
    for connections in (1, 3):
        frontier = engine.open(politeness=Politeness(delay=0.0, answer_multiple=0.0, connections=connections))
        await frontier.discover([page(connections, n) for n in range(20)], T0)
        leases = await frontier.lease("a", 10, T0) + await frontier.lease("b", 10, T0 + 1)
        assert len(leases) == connections
        assert await frontier.complete("a", [done(leases[0])], T0 + 2) == 1
        assert len(await frontier.lease("a", 10, T0 + 3)) == 1
        await engine.stop()
        engine = engine.elsewhere()


async def test_connections_of_all_workers_together_stay_within_the_hosts(engine: Engine) -> None:
    """A worker keeps its connections open between fetches, so the most leases each ever had out are what adds up."""
    for connections in (1, 2, 5):
        frontier = engine.open(politeness=Politeness(delay=0.0, answer_multiple=0.0, connections=connections))
        await frontier.discover([page(connections, n) for n in range(200)], T0)
        peaks: Counter[str] = Counter()
        for step in range(60):
            worker = "abc"[step % 3]
            leases = await frontier.lease(worker, 1 + step % 4, T0 + step)
            peaks[worker] = max(peaks[worker], len(leases))
            await frontier.complete(worker, [done(lease) for lease in leases], T0 + step)
        assert sum(peaks.values()) <= connections
        assert max(peaks.values()) <= 1 + connections // 2, "and no worker has them all"
        await engine.stop()
        engine = engine.elsewhere()


async def test_a_dead_workers_hosts_go_to_another(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [lease] = await frontier.lease("a", 1, T0)
    await frontier.complete("a", [done(lease)], T0)
    assert await frontier.lease("b", 1, T0 + 60) == [], "the connection is a's"
    await frontier.reclaim("a", T0 + 60)
    assert len(await frontier.lease("b", 1, T0 + 61)) == 1
    await engine.stop()


async def test_between_two_fetches_of_a_host_lies_its_delay(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [first] = await frontier.lease("w", 10, T0)
    assert await frontier.lease("w", 10, T0 + 100) == [], "the host is busy, however long it takes"
    await frontier.complete("w", [done(first)], T0 + 100)
    assert await frontier.lease("w", 10, T0 + 100.999) == []
    assert await frontier.next_ready(T0 + 100.5) == pytest.approx(T0 + 101)
    assert len(await frontier.lease("w", 10, T0 + 101)) == 1
    await engine.stop()


async def test_several_connections_keep_their_distance_too(engine: Engine) -> None:
    frontier = engine.open(politeness=Politeness(delay=1.0, answer_multiple=0.0, connections=4))
    await frontier.discover([page(1, n) for n in range(9)], T0)
    assert len(await frontier.lease("w", 10, T0)) == 1
    assert len(await frontier.lease("w", 10, T0 + 0.5)) == 0
    assert len(await frontier.lease("w", 10, T0 + 1.0)) == 1
    await engine.stop()


async def test_hosts_do_not_wait_for_each_other(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(host, n) for host in range(50) for n in range(3)], T0)
    leases = await frontier.lease("w", 1_000, T0)
    assert Counter(lease.url.split("/")[2] for lease in leases) == {f"h{host}.example": 1 for host in range(50)}
    await engine.stop()


async def test_retry_after_is_kept_over_a_restart(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [lease] = await frontier.lease("w", 10, T0)
    refused = done(lease, action=Action.DEFER_HOST, status=429, retry_after="120")
    await frontier.complete("w", [refused], T0)
    await engine.stop()
    frontier = engine.open(politeness=GENTLE)
    assert await frontier.lease("w", 10, T0 + 119) == []
    [again] = await frontier.lease("w", 10, T0 + 120)
    assert (again.url, again.attempt) == (lease.url, 2), "a deferred URL keeps its place"
    await engine.stop()


async def test_hosts_of_one_address_share_its_gate(engine: Engine) -> None:
    frontier = engine.open(politeness=Politeness(delay=0.0, answer_multiple=0.0, address_connections=2))
    await frontier.discover([page(host, n) for host in range(5) for n in range(3)], T0)
    for lease in await frontier.lease("w", 10, T0):
        await frontier.complete("w", [done(lease, address="192.0.2.1")], T0)
    leases = await frontier.lease("w", 10, T0)
    assert len(leases) == 2
    await frontier.discover([page(9, 1)], T0)
    [other] = await frontier.lease("w", 10, T0)
    assert other.url == page(9, 1).url, "another address is another gate"
    await frontier.complete("w", [done(leases[0], address="192.0.2.1")], T0)
    assert len(await frontier.lease("w", 10, T0)) == 1
    await frontier.reclaim("w", T0)
    assert len(await drain(frontier)) == 10, "nobody is left standing at the gate"
    await engine.stop()


async def test_newcomers_are_told_once(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1), page(1, 2), page(2, 1)], T0)
    assert sorted(await frontier.newcomers(10)) == ["h1.example", "h2.example"]
    assert await frontier.newcomers(10) == []
    await engine.stop()


async def test_a_url_refused_beforehand_costs_its_host_no_pause(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [lease] = await frontier.lease("w", 10, T0)
    denied = done(lease, action=Action.REFUSED, status=0, error=ErrorClass.ROBOTS_DENIED, requested=False)
    await frontier.complete("w", [denied], T0)
    assert len(await frontier.lease("w", 10, T0)) == 1
    await engine.stop()


async def test_block_until_leaves_a_host_alone(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1), page(2, 1)], T0)
    await frontier.block_until("h1.example", T0 + 60, T0)
    assert [lease.url for lease in await frontier.lease("w", 10, T0)] == [page(2, 1).url]
    assert await frontier.lease("w", 10, T0 + 59) == []
    assert len(await frontier.lease("w", 10, T0 + 60)) == 1
    await engine.stop()


# --- robots ---------------------------------------------------------------------------------------------------------


async def test_robots_comes_first_and_alone(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE, robots=True)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [lease] = await frontier.lease("w", 10, T0)
    assert (lease.kind, lease.url) == (Kind.ROBOTS, "https://h1.example/robots.txt")
    assert await frontier.lease("w", 10, T0 + 50) == []
    robots = RobotsFile("https://h1.example", 200, b"User-agent: *\nCrawl-delay: 5", T0, T0 + 86_400)
    sitemap = Link("https://h1.example/sitemap.xml", kind=Kind.SITEMAP)
    await frontier.complete("w", [done(lease, robots=robots, crawl_delay=5.0, links=(sitemap,))], T0)
    assert await frontier.robots("https://h1.example") == robots
    assert await frontier.lease("w", 10, T0 + 4.9) == [], "robots.txt was a fetch, and its Crawl-delay counts from it"
    [first] = await frontier.lease("w", 10, T0 + 5)
    assert first.kind is Kind.SITEMAP, "a sitemap is read before pages"
    await engine.stop()


async def test_expired_robots_are_read_again(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, robots=True)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    for expected, at in ((Kind.ROBOTS, T0), (Kind.PAGE, T0 + 1), (Kind.ROBOTS, T0 + 100)):
        [lease] = await frontier.lease("w", 1, at)
        assert lease.kind is expected
        robots = RobotsFile("https://h1.example", 404, b"", at, at + 60) if lease.kind is Kind.ROBOTS else None
        await frontier.complete("w", [done(lease, robots=robots)], at)
    await engine.stop()


async def test_two_origins_of_a_host_have_each_their_robots(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, robots=True)
    await frontier.discover([Link("https://a.example/"), Link("http://a.example:8080/")], T0)
    seen = []
    for _ in range(4):
        [lease] = await frontier.lease("w", 1, T0)
        seen.append(lease.url)
        origin = lease.url.removesuffix("/robots.txt")
        robots = RobotsFile(origin, 200, b"", T0, T0 + 60) if lease.kind is Kind.ROBOTS else None
        await frontier.complete("w", [done(lease, robots=robots)], T0)
    assert seen == [
        "https://a.example/robots.txt",
        "https://a.example/",
        "http://a.example:8080/robots.txt",
        "http://a.example:8080/",
    ]
    await engine.stop()


async def test_an_errand_counts_as_a_fetch_of_its_host(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    errand = await frontier.errand("w", "https://h1.example/robots.txt", T0)
    assert errand is not None
    assert await frontier.lease("w", 10, T0 + 50) == [], "one connection, and the errand has it"
    assert await frontier.errand("w", "https://h1.example/other", T0 + 50) is None
    await frontier.complete("w", [done(errand)], T0 + 50)
    assert await frontier.errand("w", "https://h1.example/other", T0 + 50.9) is None
    [lease] = await frontier.lease("w", 10, T0 + 51)
    assert await frontier.errand("w", "https://h1.example/other", T0 + 60) is None, "the page has the connection now"
    await frontier.complete("w", [done(lease)], T0 + 60)
    assert (await frontier.stats()).seen == 2, "an errand is not a page"
    await engine.stop()


async def test_an_errand_to_a_host_never_heard_of_keeps_discovered_urls_waiting(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    errand = await frontier.errand("w", "https://h7.example/robots.txt", T0)
    assert errand is not None
    await frontier.discover([page(7, 1)], T0)
    assert await frontier.lease("w", 10, T0 + 5) == []
    await frontier.complete("w", [done(errand)], T0 + 5)
    assert await frontier.lease("w", 10, T0 + 5.5) == []
    assert len(await frontier.lease("w", 10, T0 + 6)) == 1
    await engine.stop()


async def test_a_host_whose_robots_cannot_be_read_waits_then_dies_with_its_urls(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE, robots=True)
    await frontier.discover([page(1, n) for n in range(5)], T0)
    now = T0
    for attempt in (1, 2, 3):
        [lease] = await frontier.lease("w", 10, now)
        assert (lease.kind, lease.attempt) == (Kind.ROBOTS, attempt)
        action = Action.DEAD if attempt == 3 else Action.DEFER_HOST
        failed = done(lease, action=action, status=0, error=ErrorClass.DNS_NOT_FOUND, detail="no such host")
        await frontier.complete("w", [failed], now)
        assert await frontier.lease("w", 10, now + 1) == []
        now += 10_000
    assert await frontier.lease("w", 10, now) == []
    stats = await frontier.stats()
    assert (stats.failed, stats.queued) == (5, 0)
    view = await frontier.explain(page(1, 3).url)
    assert view is not None
    assert (view.state, view.detail) == (State.FAILED, "no such host")
    await engine.stop()


# --- nothing is lost ------------------------------------------------------------------------------------------------


async def test_a_repeated_complete_changes_nothing(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    answer = done(lease, links=(page(1, 2),), size=100)
    assert await frontier.complete("w", [answer], T0) == 1
    before = await frontier.stats()
    assert await frontier.complete("w", [answer], T0) == 0
    assert await frontier.stats() == before
    await engine.stop()


async def test_a_late_complete_changes_nothing(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, lease_seconds=10.0)
    await frontier.discover([page(1, 1)], T0)
    [late] = await frontier.lease("slow", 1, T0)
    assert await frontier.expire(T0 + 9) == 0
    assert await frontier.expire(T0 + 10) == 1
    [again] = await frontier.lease("quick", 1, T0 + 20)
    assert (again.url, again.attempt) == (late.url, 2)
    assert await frontier.complete("slow", [done(late, links=(page(1, 9),))], T0 + 21) == 0
    assert await frontier.complete("slow", [done(again)], T0 + 21) == 0, "the lease is another worker's"
    assert await frontier.complete("quick", [done(again)], T0 + 21) == 1
    assert (await frontier.stats()).seen == 1
    await engine.stop()


async def test_a_sign_of_life_extends_leases(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, lease_seconds=10.0)
    await frontier.discover([page(1, 1)], T0)
    await frontier.lease("w", 1, T0)
    await frontier.extend("w", T0 + 8)
    assert await frontier.expire(T0 + 12) == 0
    assert await frontier.expire(T0 + 18) == 1
    await engine.stop()


async def test_released_leases_come_back_as_they_were(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    await frontier.release("w", [lease.id], T0)
    [again] = await frontier.lease("w", 1, T0)
    assert (again.url, again.attempt) == (lease.url, 1)
    assert await frontier.complete("w", [done(lease)], T0) == 0
    await engine.stop()


async def test_a_dead_workers_leases_come_back_at_once_and_a_killer_is_given_up(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1), page(2, 2)], T0)
    now, seen = T0, Counter[str]()
    for _ in range(6):
        leases = await frontier.lease("w", 10, now)
        seen.update(lease.url for lease in leases)
        blamed = [lease.id for lease in leases if lease.url == page(1, 1).url]
        assert await frontier.reclaim("w", now, blamed) == len(leases)
        now += 1
    assert seen[page(2, 2).url] == 6, "it was not to blame"
    assert seen[page(1, 1).url] == 3, "three workers are enough"
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.error) == (State.FAILED, ErrorClass.WORKER_DIED)
    await engine.stop()


async def test_a_retry_waits_for_its_time_over_a_restart(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1), page(1, 2)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    await frontier.complete("w", [done(lease, action=Action.RETRY, status=500, wait=30.0)], T0)
    await engine.stop()
    frontier = engine.open(politeness=EAGER)
    now = T0 + 10
    [other] = await frontier.lease("w", 10, now)
    assert other.url != lease.url, "the rest of the host goes on"
    await frontier.complete("w", [done(other)], now)
    assert await frontier.lease("w", 10, now) == []
    assert await frontier.next_ready(now) == pytest.approx(T0 + 30, abs=0.01)
    [again] = await frontier.lease("w", 10, T0 + 30.01)
    assert (again.url, again.attempt) == (lease.url, 2)
    await engine.stop()


async def test_a_crash_at_any_point_loses_no_url(engine: Engine) -> None:
    def links_of(lease: Lease) -> tuple[Link, ...]:
        """A tree of seven pages on each host."""
        host, number = lease.url.removeprefix("https://h").split(".example/p")
        return tuple(page(host, 2 * int(number) + n) for n in (1, 2)) if int(number) < 3 else ()

    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(host, 0) for host in range(5)], T0)
    finished: Counter[str] = Counter()
    now = T0
    while leases := await frontier.lease("w", 4, now):
        kept = leases[: 1 + len(finished) % 3]
        await frontier.complete("w", [done(lease, links=links_of(lease)) for lease in kept], now)
        finished.update(lease.url for lease in kept)
        engine.crash()
        frontier = engine.open(politeness=EAGER)
        now += 1
    assert finished == Counter(page(host, n).url for host in range(5) for n in range(7)), "each exactly once"
    stats = await frontier.stats()
    assert (stats.done, stats.queued, stats.seen) == (35, 0, 35)
    await engine.stop()


async def test_dead_letters_are_counted_and_explained(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    await frontier.complete(
        "w",
        [done(lease, action=Action.DEAD, status=0, error=ErrorClass.REDIRECT_LOOP, detail="round and round")],
        T0,
    )
    view = await frontier.explain(page(1, 1).url)
    assert view is not None
    assert (view.state, view.error, view.detail) == (State.FAILED, "redirect-loop", "round and round")
    assert (await frontier.stats()).failed == 1
    await engine.stop()


# --- segments -------------------------------------------------------------------------------------------------------


async def test_what_an_abandoned_segment_held_is_fetched_again(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(host, 1) for host in range(4)], T0)
    leases = await frontier.lease("w", 10, T0)
    for lease, segment in zip(leases, ("s1", "s1", "s2", "s3"), strict=True):
        await frontier.complete("w", [done(lease, place=Place(segment, "f", 0, 1))], T0)
    await frontier.seal("s2")
    assert await frontier.abandon("s1", T0) == 2
    assert await frontier.abandon("s1", T0) == 0
    assert await frontier.abandon("s2", T0) == 0, "what is durable stays"
    assert {segment: len(held) for segment, held in (await frontier.unsealed()).items()} == {"s3": 1}
    assert sorted(await drain(frontier)) == sorted(lease.url for lease in leases[:2])
    await engine.stop()


async def test_unsealed_segments_are_known_after_a_crash_and_judged_url_by_url(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(host, 1) for host in range(3)], T0)
    leases = await frontier.lease("w", 10, T0)
    places = [Place("s1", "a.warc.gz", 100 * n, 100) for n in range(3)]
    await frontier.complete("w", [done(lease, place=place) for lease, place in zip(leases, places, strict=True)], T0)
    engine.crash()
    frontier = engine.open(politeness=EAGER)
    [(segment, held)] = (await frontier.unsealed()).items()
    assert segment == "s1"
    assert {(stored.url, stored.place) for stored in held} == {
        (lease.url, place) for lease, place in zip(leases, places, strict=True)
    }
    assert await frontier.abandon("s1", T0, lost=[leases[1].url]) == 1
    assert await drain(frontier) == [leases[1].url]
    await engine.stop()


# --- order and fairness ---------------------------------------------------------------------------------------------


async def test_orders_unfold_a_host_as_named(engine: Engine) -> None:
    links = [
        page(1, 1, depth=1),
        page(1, 2, depth=2),
        page(1, 3, depth=1),
        page(1, 4, depth=3, priority=1.0),
        page(1, 5, depth=1, priority=1.0),
    ]
    expected = {Order.BFS: [1, 3, 5, 2, 4], Order.DFS: [4, 2, 5, 3, 1], Order.BEST_FIRST: [5, 1, 3, 2, 4]}
    for order, numbers in expected.items():
        frontier = engine.open(politeness=EAGER, order=order)
        await frontier.discover(links, T0)
        assert [int(url.rsplit("p", 1)[1]) for url in await drain(frontier)] == numbers, order
        await engine.stop()
        engine = engine.elsewhere()


async def test_a_better_url_found_later_overtakes_a_long_queue(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, n, depth=5) for n in range(500)], T0)
    for _ in range(10):
        [lease] = await frontier.lease("w", 1, T0)
        await frontier.complete("w", [done(lease)], T0)
    await frontier.discover([page(1, 1_000, depth=1)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    assert lease.url == page(1, 1_000).url
    await engine.stop()


async def test_low_priority_hosts_get_their_turn(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, order=Order.BEST_FIRST)
    await frontier.discover([page(f"good{n}", k, priority=1.0) for n in range(20) for k in range(20)], T0)
    await frontier.discover([page("poor", k, depth=9, priority=0.0) for k in range(20)], T0)
    order = await drain(frontier)
    first_poor = next(index for index, url in enumerate(order) if "poor" in url)
    assert first_poor < 40, "it does not wait for all the better ones"
    assert sum("good" in url for url in order[:100]) > 80, "but they are preferred"
    await engine.stop()


async def test_more_hosts_than_memory_holds_are_all_served_fairly(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, hosts_in_memory=10, host_turn=2)
    await frontier.discover([page(host, n) for host in range(100) for n in range(6)], T0)
    order = await drain(frontier)
    assert len(order) == len(set(order)) == 600
    last = {host: max(i for i, url in enumerate(order) if f"//h{host}." in url) for host in range(100)}
    first = {host: min(i for i, url in enumerate(order) if f"//h{host}." in url) for host in range(100)}
    assert max(first.values()) < 600 * 0.6, "no host waits for the others to be finished"
    assert min(last.values()) > 600 * 0.3
    stats = await frontier.stats()
    assert (stats.in_play, stats.parked) == (0, 0)
    await engine.stop()


async def test_hosts_of_several_connections_make_room_for_others_too(engine: Engine) -> None:
    for delay in (0.0, 1.0):
        polite = Politeness(delay=delay, answer_multiple=0.0, connections=3)
        frontier = engine.open(politeness=polite, hosts_in_memory=2, host_turn=3)
        await frontier.discover([page(host, n) for host in range(6) for n in range(100)], T0)
        counts: Counter[str] = Counter()
        for second in range(150):
            leases = await frontier.lease("w", 4, T0 + second)
            counts.update(lease.url.partition("/p")[0] for lease in leases)
            await frontier.complete("w", [done(lease) for lease in leases], T0 + second)
        assert len(counts) == 6
        assert max(counts.values()) < 3 * min(counts.values())
        await engine.stop()
        engine = engine.elsewhere()


async def test_hosts_that_fail_and_wait_for_hours_do_not_keep_the_others_out(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, hosts_in_memory=10)
    await frontier.discover([page(host, n) for host in range(10) for n in range(20)], T0)
    await frontier.discover([page(host, n) for host in range(10, 20) for n in range(5)], T0)
    fetched, now = 0, T0
    for _ in range(200):
        for lease in await frontier.lease("w", 16, now):
            dead = int(lease.url.partition("//h")[2].partition(".")[0]) < 10
            failed = Done(lease.id, Action.RETRY, error=ErrorClass.CONNECT_TIMEOUT, wait=7200.0)
            await frontier.complete("w", [failed if dead else done(lease)], now)
            fetched += not dead
        now += 1.0
    assert fetched == 50
    await engine.stop()


async def test_parked_hosts_survive_a_crash(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, hosts_in_memory=5, host_turn=1)
    await frontier.discover([page(host, n) for host in range(40) for n in range(3)], T0)
    finished = []
    for _ in range(20):
        for lease in await frontier.lease("w", 3, T0):
            await frontier.complete("w", [done(lease)], T0)
            finished.append(lease.url)
    engine.crash()
    frontier = engine.open(politeness=EAGER, hosts_in_memory=5, host_turn=1)
    finished += await drain(frontier)
    assert len(finished) == len(set(finished)) == 120
    await engine.stop()


# --- budgets --------------------------------------------------------------------------------------------------------


async def test_no_more_pages_than_the_budget_are_ever_out_or_done(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, max_pages=7)
    await frontier.discover([page(host, n) for host in range(5) for n in range(5)], T0)
    leases = await frontier.lease("w", 100, T0)
    assert len(leases) == 5
    await frontier.complete("w", [done(lease) for lease in leases[:3]], T0)
    await frontier.release("w", [leases[3].id], T0)
    assert len(await drain(frontier)) == 3, "seven in all: three done, one still out"
    assert await frontier.next_ready(T0) is None
    assert (await frontier.stats()).queued == 25 - 6
    await engine.stop()


async def test_a_hosts_budget_is_its_own(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, max_pages_per_host=2)
    await frontier.discover([page(host, n) for host in range(3) for n in range(5)], T0)
    fetched = await drain(frontier)
    assert Counter(url.split("/")[2] for url in fetched) == {f"h{n}.example": 2 for n in range(3)}
    view = await frontier.explain(page(0, 4).url)
    assert view is not None
    assert view.state is State.REFUSED
    assert "budget of 2 pages" in (view.detail or "")
    await engine.stop()


async def test_traps_stop_a_host_that_makes_urls_without_end(engine: Engine) -> None:
    from gossamer.traps import TrapRules

    frontier = engine.open(politeness=EAGER, traps=TrapRules(template_urls=100, least_urls=10))
    await frontier.discover([Link(f"https://a.example/item/{n}") for n in range(500)], T0)
    stats = await frontier.stats()
    assert (stats.seen, stats.trapped) == (100, 400)
    await engine.stop()


# --- content --------------------------------------------------------------------------------------------------------


async def test_content_seen_exactly_and_nearly(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, near_bits=3)
    base = 0x0123_4567_89AB_CDEF
    first = Content("https://a.example/1", b"1" * 32, base)
    assert await frontier.seen_content([first], T0) == [None]
    same = Content("https://b.example/1", b"1" * 32, base)
    near = Content("https://b.example/2", b"2" * 32, base ^ 0b1_0000_0001_0000_0001)
    far = Content("https://b.example/3", b"3" * 32, base ^ 0xF)
    blind = Content("https://b.example/4", b"4" * 32, None)
    again = Content("https://a.example/1", b"1" * 32, base)
    exact_copy, near_copy, *rest = await frontier.seen_content([same, near, far, blind, again], T0 + 1)
    assert exact_copy is not None
    assert (exact_copy.url, exact_copy.near, exact_copy.at) == (first.url, False, T0)
    assert near_copy is not None
    assert (near_copy.url, near_copy.near, near_copy.distance) == (first.url, True, 3)
    assert rest == [None, None, None], "too far, not comparable, and the page itself"
    await engine.stop()


async def test_copies_within_one_call_and_over_a_restart(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    contents = [Content(f"https://a.example/{n}", b"x" * 32, 7) for n in range(2)]
    near = Content("https://a.example/n", b"y" * 32, 5)
    [none, copy, close] = await frontier.seen_content([*contents, near], T0)
    assert none is None
    assert copy is not None
    assert close is not None
    assert (copy.url, close.url, close.near) == (contents[0].url, contents[0].url, True)
    await engine.stop()
    frontier = engine.open(politeness=EAGER)
    [copy] = await frontier.seen_content([Content("https://a.example/9", b"x" * 32, 7)], T0)
    assert copy is not None
    assert copy.url == contents[0].url
    await engine.stop()


async def test_a_copy_says_what_may_keep_its_original_from_standing_for_it(engine: Engine) -> None:
    """An original that was sent in another coding has other bytes; one that was a near-copy itself may have none."""
    frontier = engine.open(politeness=EAGER)
    packed = Content("https://a.example/1", b"x" * 32, 7, at=T0 - 5, sent="sha256:GZIP")
    near = Content("https://a.example/2", b"y" * 32, 5)
    assert [copy is None for copy in await frontier.seen_content([packed, near], T0)] == [True, False]
    for _ in range(2):
        plain = Content("https://b.example/1", b"x" * 32, 7)
        same_as_near = Content("https://b.example/2", b"y" * 32, 5)
        [first, second] = await frontier.seen_content([plain, same_as_near], T0 + 1)
        assert first is not None
        assert (first.url, first.near, first.sent, first.at) == (packed.url, False, "sha256:GZIP", T0 - 5)
        assert second is not None
        assert (second.url, second.near, second.near_of) == (near.url, False, packed.url)
        await engine.stop()
        frontier = engine.open(politeness=EAGER)
    await engine.stop()


# --- the dead-letter list -------------------------------------------------------------------------------------------

PLACE = Place("s1", "a.warc.gz", 100, 50)


async def give_up(frontier: Frontier, links: list[Link], now: float = T0, **more: object) -> None:
    """Fail these URLs for good, at no cost to their hosts."""
    more = {"action": Action.DEAD, "status": 0, "error": ErrorClass.RESET, "detail": "cut", "requested": False} | more
    await frontier.discover(links, now)
    wanted = {link.url for link in links}
    while wanted:
        leases = await frontier.lease("w", 1, now)
        assert leases, f"not leased: {wanted}"
        for lease in leases:
            wanted.remove(lease.url)
            await frontier.complete("w", [done(lease, **more)], now)


async def listed(frontier: Frontier, most: int = 1_000, **which: str) -> list[str]:
    """The URLs of the dead-letter list, walked part by part."""
    found: list[str] = []
    after: str | None = ""
    for _ in range(1_000):
        part = await frontier.failures(most=most, after=after, **which)  # type: ignore[arg-type]
        assert len(part.found) <= most
        found += [view.url for view in part.found]
        after = part.after
        if after is None:
            return found
    raise AssertionError("the list has no end")


async def test_the_dead_letter_list_is_walked_in_parts_by_host_and_by_reason(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    resets = [page(host, n) for host in range(5) for n in range(7)]
    errors = [page(host, n) for host in range(3) for n in (100, 101)]
    await give_up(frontier, resets)
    await give_up(frontier, errors[:4], status=500, error=None)
    await give_up(frontier, errors[4:], status=502, error=None)
    await frontier.discover([page(9, 9)], T0)
    assert await drain(frontier) == [page(9, 9).url], "which is no failure"
    every = sorted(link.url for link in resets + errors)
    for most in (1, 4, 1_000):
        assert sorted(await listed(frontier, most)) == every
    assert sorted(await listed(frontier, 2, host="h2.example")) == [url for url in every if "//h2." in url]
    assert sorted(await listed(frontier, 2, reason="reset")) == sorted(link.url for link in resets)
    assert sorted(await listed(frontier, 2, reason="5xx")) == sorted(link.url for link in errors)
    assert sorted(await listed(frontier, 2, reason="502", host="h2.example")) == sorted(link.url for link in errors[4:])
    assert await listed(frontier, host="nobody.example") == []
    await engine.stop()


async def test_a_dead_letter_says_what_happened(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await give_up(frontier, [page(1, 1, depth=3)], T0 + 5, status=200, error=ErrorClass.PARSE_FAILED, place=PLACE)
    await give_up(frontier, [page(1, 2)], T0 + 6, status=302, error=ErrorClass.REDIRECT_LOOP, place=PLACE)
    await engine.stop()
    frontier = engine.open(politeness=EAGER)
    views = {view.url: view for view in (await frontier.failures()).found}
    unread, loop = views[page(1, 1).url], views[page(1, 2).url]
    assert (unread.reason, unread.status, unread.detail, unread.attempts) == ("parse-failed", 200, "cut", 1)
    assert (unread.at, unread.depth, unread.place, unread.stage) == (T0 + 5, 3, PLACE, "parse")
    assert (loop.reason, loop.at, loop.place, loop.stage) == ("redirect-loop", T0 + 6, None, "fetch")
    await engine.stop()


@pytest.mark.parametrize(
    ("which", "back"),
    [
        ({"urls": [page(1, 1).url, page(1, 1).url, page(7, 7).url]}, {page(1, 1).url}),
        ({"host": "h1.example"}, {page(1, n).url for n in range(3)}),
        ({"reason": "reset"}, {page(host, n).url for host in (1, 2) for n in range(3)}),
        ({"reason": "reset", "host": "h2.example"}, {page(2, n).url for n in range(3)}),
        ({}, {page(host, n).url for host in (1, 2, 3) for n in range(3)}),
    ],
    ids=["urls", "host", "reason", "both", "all"],
)
async def test_what_is_requeued_is_fetched_again_and_nothing_else(
    engine: Engine, which: dict[str, str], back: set[str]
) -> None:
    frontier = engine.open(politeness=EAGER)
    await give_up(frontier, [page(host, n) for host in (1, 2) for n in range(3)])
    await give_up(frontier, [page(3, n) for n in range(3)], status=400, error=None)
    await frontier.discover([page(7, 7)], T0)
    await drain(frontier)
    before = await frontier.stats()
    assert (before.failed, before.fetched) == (9, 4)
    once = await frontier.requeue(T0 + 9, **which)  # type: ignore[arg-type]
    again = await frontier.requeue(T0 + 9, **which)  # type: ignore[arg-type]
    assert (once.count, once.after, again.count) == (len(back), None, 0)
    stats = await frontier.stats()
    assert (stats.failed, stats.queued, stats.done) == (9 - len(back), len(back), 1)
    assert stats.fetched == 4 - sum("//h3." in url for url in back), "an answer that is asked for again is not counted"
    assert set(await listed(frontier)).isdisjoint(back)
    engine.crash()
    frontier = engine.open(politeness=EAGER)
    assert await frontier.stats() == stats
    assert set(await drain(frontier, T0 + 20)) == back
    assert (await frontier.stats()).done == 1 + len(back)
    await engine.stop()


async def test_requeueing_goes_on_where_a_call_ended(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await give_up(frontier, [page(n, 1) for n in range(20)])
    await give_up(frontier, [page(n, 2) for n in range(20)], error=ErrorClass.TOO_SLOW)
    after: str | None = ""
    counts = []
    while after is not None:
        part = await frontier.requeue(T0 + 1, reason="too-slow", most=3, after=after)
        counts.append(part.count)
        after = part.after
    assert sum(counts) == 20
    assert max(counts) <= 3
    assert len(await listed(frontier)) == 20
    await engine.stop()


async def test_a_requeued_url_has_all_its_attempts_again(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1)], T0)
    for attempt in (1, 2, 3):
        [lease] = await frontier.lease("w", 1, T0 + attempt)
        assert lease.attempt == attempt
        await frontier.reclaim("w", T0 + attempt, [lease.id])
    await frontier.requeue(T0 + 10)
    [lease] = await frontier.lease("w", 1, T0 + 11)
    assert (lease.attempt, lease.deaths, lease.place) == (1, 0, None)
    await engine.stop()


async def test_a_host_that_was_given_up_is_asked_again_after_requeue(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE, robots=True)
    await frontier.discover([page(1, n) for n in range(3)], T0)
    [robots] = await frontier.lease("w", 10, T0)
    failed = done(robots, action=Action.DEAD, status=0, error=ErrorClass.DNS_NOT_FOUND, detail="no such host")
    await frontier.complete("w", [failed], T0)
    assert await frontier.lease("w", 10, T0 + 100) == []
    assert await listed(frontier, reason="robots-unreachable") != []
    assert (await frontier.requeue(T0 + 101, host="h1.example")).count == 3
    host = await frontier.host("h1.example")
    assert host is not None
    assert (host.dead, host.failed) == (None, 0)
    [robots] = await frontier.lease("w", 10, T0 + 103)
    assert (robots.kind, robots.attempt) == (Kind.ROBOTS, 1)
    file = RobotsFile("https://h1.example", 200, b"", T0 + 103, T0 + 9_999)
    await frontier.complete("w", [done(robots, robots=file)], T0 + 103)
    assert len(await drain(frontier, T0 + 110)) == 3
    await engine.stop()


async def test_requeue_keeps_what_the_host_was_promised(engine: Engine) -> None:
    frontier = engine.open(politeness=GENTLE)
    await frontier.discover([page(1, 1)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    await frontier.complete("w", [done(lease, action=Action.DEAD, status=503, retry_after="500")], T0)
    await frontier.requeue(T0 + 1)
    assert await frontier.lease("w", 1, T0 + 499) == []
    assert len(await frontier.lease("w", 1, T0 + 501)) == 1
    await engine.stop()


async def test_requeueing_neither_spends_nor_widens_a_budget(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, max_pages=3, max_pages_per_host=2)
    await give_up(frontier, [page(1, 1), page(1, 2), page(2, 1)], status=500, error=None)
    await frontier.discover([page(1, 3), page(2, 2), page(3, 1)], T0)
    assert await frontier.lease("w", 10, T0) == [], "three are answered, which is all"
    assert (await frontier.requeue(T0 + 1)).count == 3
    leases = await frontier.lease("w", 10, T0 + 2) + await frontier.lease("x", 10, T0 + 3)
    for lease in leases:
        await frontier.complete("w", [done(lease)], T0 + 4)
        await frontier.complete("x", [done(lease)], T0 + 4)
    leases += await frontier.lease("w", 10, T0 + 5)
    assert len(leases) == 3
    assert max(Counter(lease.url.split("/")[2] for lease in leases).values()) <= 2
    await engine.stop()


# --- stored before it was read --------------------------------------------------------------------------------------


async def test_what_could_not_be_read_is_read_again_from_where_it_lies(engine: Engine) -> None:
    for refetch in (False, True):
        frontier = engine.open(politeness=EAGER, robots=True)
        file = RobotsFile("https://h1.example", 200, b"", T0, T0 + 100)
        await frontier.discover([page(1, 1)], T0)
        [robots] = await frontier.lease("w", 1, T0)
        await frontier.complete("w", [done(robots, robots=file)], T0)
        [lease] = await frontier.lease("w", 1, T0)
        unread = done(lease, action=Action.DEAD, error=ErrorClass.PARSE_FAILED, place=PLACE, size=50, etag='"1"')
        await frontier.complete("w", [unread], T0)
        await frontier.seal("s1")
        assert (await frontier.requeue(T0 + 200, refetch=refetch)).count == 1
        await engine.stop()
        frontier = engine.open(politeness=EAGER, robots=True)
        [lease] = await frontier.lease("w", 1, T0 + 200)
        if refetch:
            assert lease.kind is Kind.ROBOTS, "a request is coming, so the rules are read first"
        else:
            assert (lease.kind, lease.place, lease.etag) == (Kind.PAGE, PLACE, None)
            other = Place("s2", "b.warc.gz", 0, 9)
            await frontier.complete("w", [done(lease, requested=False, place=other, stored=True)], T0 + 200)
            stats = await frontier.stats()
            assert (stats.done, stats.failed, stats.fetched, stats.size, stats.stored) == (1, 0, 1, 50, 1)
            host = await frontier.host("h1.example")
            assert host is not None
            assert host.state.next_allowed <= T0 + 1, "the host was not asked, and is owed no pause"
        await engine.stop()
        engine = engine.elsewhere()


async def test_what_a_worker_died_of_is_read_from_where_it_was_kept(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await frontier.discover([page(1, 1)], T0)
    [lease] = await frontier.lease("a", 1, T0)
    assert (lease.deaths, lease.place) == (0, None)
    await frontier.reclaim("a", T0, [lease.id])
    [lease] = await frontier.lease("b", 1, T0 + 1)
    assert (lease.deaths, lease.place) == (1, None)
    kept = Kept(lease.id, PLACE, 200, 70)
    assert not await frontier.kept("a", kept, T0 + 1), "the lease is another worker's"
    assert await frontier.kept("b", kept, T0 + 1)
    assert await frontier.kept("b", kept, T0 + 1)
    engine.crash()
    frontier = engine.open(politeness=EAGER)
    assert await frontier.unsealed() == {}, "it was durable before it was told"
    [lease] = await frontier.lease("c", 1, T0 + 2)
    assert (lease.deaths, lease.place) == (1, PLACE)
    await frontier.release("c", [lease.id], T0 + 2)
    for number in (2, 3):
        [lease] = await frontier.lease("c", 1, T0 + number)
        assert (lease.deaths, lease.place) == (number - 1, PLACE)
        await frontier.reclaim("c", T0 + number, [lease.id])
    [view] = (await frontier.failures()).found
    assert (view.reason, view.status, view.deaths, view.place, view.stage) == ("worker-died", 200, 3, PLACE, "parse")
    stats = await frontier.stats()
    assert (stats.failed, stats.queued, stats.fetched, stats.size) == (1, 0, 1, 70)
    await frontier.requeue(T0 + 9)
    [lease] = await frontier.lease("d", 1, T0 + 9)
    assert (lease.deaths, lease.place, lease.attempt) == (0, PLACE, 1)
    await frontier.complete("d", [done(lease, requested=False)], T0 + 9)
    stats = await frontier.stats()
    assert (stats.done, stats.failed, stats.fetched, stats.size) == (1, 0, 1, 70)
    await engine.stop()


async def test_what_was_kept_and_is_lost_is_fetched(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER)
    await give_up(frontier, [page(1, 1)], status=200, error=ErrorClass.PARSE_FAILED, place=PLACE)
    await frontier.requeue(T0 + 1)
    [lease] = await frontier.lease("w", 1, T0 + 1)
    assert lease.place == PLACE
    lost = done(lease, action=Action.DEFER_HOST, status=0, error=ErrorClass.PARSE_FAILED, requested=False)
    await frontier.complete("w", [lost], T0 + 1)
    [lease] = await frontier.lease("w", 1, T0 + 1)
    assert lease.place is None
    await engine.stop()


async def test_a_failure_whose_bytes_are_lost_leaves_the_list_and_is_asked_for_without_conditions(
    engine: Engine,
) -> None:
    frontier = engine.open(politeness=EAGER)
    await give_up(frontier, [page(1, 1)], status=200, error=ErrorClass.PARSE_FAILED, place=PLACE, etag='"1"')
    await frontier.discover([page(2, 2)], T0)
    [lease] = await frontier.lease("w", 1, T0)
    await frontier.complete("w", [done(lease, place=PLACE, etag='"2"', last_modified="yesterday")], T0)
    assert await frontier.abandon("s1", T0 + 1) == 2
    assert await listed(frontier) == []
    stats = await frontier.stats()
    assert (stats.failed, stats.queued, stats.fetched) == (0, 2, 0)
    for lease in await frontier.lease("w", 2, T0 + 2):
        assert (lease.etag, lease.last_modified, lease.place) == (None, None, None), "304 would be no answer"
    await engine.stop()
