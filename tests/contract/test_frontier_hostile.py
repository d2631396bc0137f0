"""What a hostile site cannot do to a frontier: bring hosts without end, or give a host up by naming an address of it that fails."""

from gossamer.frontier import Done, Frontier, Kind, Link, RobotsFile, State
from gossamer.outcome import Action, ErrorClass
from gossamer.politeness import Politeness
from gossamer.traps import TrapRules
from tests.contract.engines import T0, Engine

EAGER = Politeness(delay=0.0, answer_multiple=0.0)
RULES = TrapRules(domain_hosts=20)


def names(first: int, count: int, domain: str = "farm.example") -> list[Link]:
    return [Link(f"https://s{n}.{domain}/", depth=1) for n in range(first, first + count)]


async def test_a_domain_has_so_many_hosts_and_the_others_are_refused(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, traps=RULES)
    assert await frontier.discover(names(0, 50), T0, "https://via.example/") == 20
    assert await frontier.discover(names(50, 50), T0, "https://via.example/") == 0
    assert await frontier.discover(names(0, 30, "other.example"), T0, "https://via.example/") == 20
    assert (await frontier.stats()).trapped == 80 + 10
    assert await frontier.explain("https://s49.farm.example/") is None
    await engine.stop()


async def test_more_pages_of_the_hosts_there_are_come_in(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, traps=RULES)
    await frontier.discover(names(0, 50), T0, "https://via.example/")
    more = [Link(f"https://s{n}.farm.example/more", depth=1) for n in range(50)]
    assert await frontier.discover(more, T0, "https://via.example/") == 20
    await engine.stop()


async def test_hosts_of_seeds_are_never_refused_and_count(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, traps=RULES)
    assert await frontier.discover(names(0, 30), T0) == 30
    assert await frontier.discover(names(30, 5), T0, "https://via.example/") == 0
    await engine.stop()


async def test_names_under_a_public_suffix_and_addresses_are_no_subdomains(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, traps=RULES)
    links = [Link(f"https://blog{n}.blogspot.com/", depth=1) for n in range(40)]
    links += [Link(f"http://192.0.2.{n}/", depth=1) for n in range(40)]
    assert await frontier.discover(links, T0, "https://via.example/") == 80
    await engine.stop()


async def test_the_count_survives_a_crash(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, traps=RULES)
    await frontier.discover(names(0, 50), T0, "https://via.example/")
    engine.crash()
    frontier = engine.open(politeness=EAGER, traps=RULES)
    assert await frontier.discover(names(100, 50), T0, "https://via.example/") == 0
    await engine.stop()


# --- one host, several origins ------------------------------------------------------------------------------------------


async def serve(frontier: Frontier, failing: frozenset[str], now: float = T0) -> list[str]:
    """Answer every lease; robots.txt of the failing origins cannot be had. The URLs that were asked for."""
    asked: list[str] = []
    for _ in range(500):
        leases = await frontier.lease("w", 1, now)
        if not leases:
            ready = await frontier.next_ready(now)
            if ready is None:
                return asked
            now = max(ready, now + 0.001)
            continue
        [lease] = leases
        asked.append(lease.url)
        origin = lease.url.removesuffix("/robots.txt")
        if lease.kind is Kind.ROBOTS and origin in failing:
            ended = Done(
                lease.id, Action.DEAD, error=ErrorClass.GUARD_REFUSED, detail="It may not be asked.", requested=False
            )
        elif lease.kind is Kind.ROBOTS:
            ended = Done(lease.id, Action.DONE, 404, robots=RobotsFile(origin, 404, b"", now, now + 86_400))
        else:
            ended = Done(lease.id, Action.DONE, 200)
        await frontier.complete("w", [ended], now)
    raise AssertionError("the frontier never ran dry")


async def test_an_origin_that_is_given_up_takes_no_other_of_its_host_with_it(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, robots=True)
    good = [f"http://victim.example/{n}" for n in range(5)]
    bad = [f"http://victim.example:25/{n}" for n in range(5)]
    await frontier.discover([Link(url) for pair in zip(bad, good, strict=True) for url in pair], T0)
    asked = await serve(frontier, frozenset({"http://victim.example:25"}))
    assert set(asked) == {"http://victim.example/robots.txt", "http://victim.example:25/robots.txt", *good}
    states = [(await frontier.explain(url), url in good) for url in good + bad]
    assert [view is not None and view.state for view, _ in states] == [
        State.DONE if fine else State.FAILED for _, fine in states
    ]
    view = await frontier.explain(bad[0])
    assert view is not None
    assert view.detail == "It may not be asked."
    host = await frontier.host("victim.example")
    assert host is not None
    assert host.dead is None
    await engine.stop()


async def test_what_was_given_up_stays_so_over_a_restart(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, robots=True)
    failing = frozenset({"http://victim.example"})
    await frontier.discover([Link("http://victim.example/1")], T0)
    assert await serve(frontier, failing) == ["http://victim.example/robots.txt"]
    await engine.stop()
    frontier = engine.open(politeness=EAGER, robots=True)
    await frontier.discover([Link("http://victim.example/2")], T0)
    assert await serve(frontier, failing) == []
    host = await frontier.host("victim.example")
    assert host is not None
    assert host.dead == "It may not be asked."
    await engine.stop()


async def test_a_host_is_not_asked_at_every_port(engine: Engine) -> None:
    frontier = engine.open(politeness=EAGER, robots=True)
    await frontier.discover([Link(f"http://victim.example:{port}/") for port in range(8000, 8100)], T0)
    asked = await serve(frontier, frozenset())
    assert len({url for url in asked if url.endswith("/robots.txt")}) == 16
    stats = await frontier.stats()
    assert (stats.done, stats.failed, stats.queued) == (16, 84, 0)
    await engine.stop()
