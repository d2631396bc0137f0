"""The resolver: what it asks, what it remembers and for how long; first with a made-up clock, then with a real server."""

import asyncio
from collections.abc import Sequence

import aiodns
import pytest
from pycares import errno as ares

from gossamer.fetch import Resolver
from gossamer.fetch._dns import Family
from gossamer.outcome import ErrorClass
from tests.loopback import name_server, run


class Zone:
    """Answers from a table, counts the questions, and holds them back while `gate` is closed."""

    def __init__(self, records: dict[tuple[str, str], list[tuple[str, float]] | int]) -> None:
        self.records = records
        self.asked: list[tuple[str, str]] = []
        self.gate: asyncio.Event | None = None
        self.now = 1000.0

    async def ask(self, host: str, family: Family) -> list[tuple[str, float]]:
        self.asked.append((host, family))
        if self.gate is not None:
            await self.gate.wait()
        found: list[tuple[str, float]] | int = self.records.get((host, family), ares.ARES_ENOTFOUND)
        if isinstance(found, int):
            raise aiodns.error.DNSError(found, "said so")
        return found

    def resolver(self, most: int = 100, ip_version: str = "4") -> Resolver:
        return Resolver(most=most, ip_version=ip_version, clock=lambda: self.now, ask=self.ask)  # type: ignore[arg-type]


@pytest.mark.parametrize(("ttl", "life"), [(0, 60), (59, 60), (300, 300), (86_400, 3600)])
def test_an_answer_lives_as_long_as_its_ttl_within_bounds(ttl: float, life: float) -> None:
    zone = Zone({("a.test", "A"): [("8.8.8.8", ttl), ("8.8.4.4", ttl + 5)]})

    async def scenario() -> None:
        resolver = zone.resolver()
        assert resolver.known("a.test") is None
        assert (await resolver.resolve("a.test")).addresses == ("8.8.8.8", "8.8.4.4")
        zone.now += life - 1
        assert resolver.known("a.test") is not None
        zone.now += 1
        assert resolver.known("a.test") is None
        await resolver.resolve("a.test")

    run(scenario())
    assert len(zone.asked) == 2


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (ares.ARES_ENOTFOUND, ErrorClass.DNS_NOT_FOUND),
        (ares.ARES_ENODATA, ErrorClass.DNS_NOT_FOUND),
        (ares.ARES_EBADNAME, ErrorClass.DNS_NOT_FOUND),
        (ares.ARES_ESERVFAIL, ErrorClass.DNS_FAILED),
        (ares.ARES_ETIMEOUT, ErrorClass.DNS_FAILED),
        (ares.ARES_ECONNREFUSED, ErrorClass.DNS_FAILED),
    ],
)
def test_a_failure_is_remembered_for_a_minute(code: int, error: ErrorClass) -> None:
    zone = Zone({("a.test", "A"): code})

    async def scenario() -> None:
        resolver = zone.resolver()
        answer = await resolver.resolve("a.test")
        assert (answer.addresses, answer.error) == ((), error)
        assert "a.test" in answer.detail
        zone.now += 59
        await resolver.resolve("a.test")
        assert len(zone.asked) == 1
        zone.now += 1
        zone.records = {("a.test", "A"): [("8.8.8.8", 60)]}
        assert (await resolver.resolve("a.test")).error is None

    run(scenario())


def test_one_family_that_fails_does_not_spoil_the_other() -> None:
    zone = Zone({("a.test", "A"): ares.ARES_ESERVFAIL, ("a.test", "AAAA"): [("2606:4700::1", 60)]})

    async def scenario() -> None:
        resolver = zone.resolver()
        resolver._families = ("A", "AAAA")
        assert (await resolver.resolve("a.test")).addresses == ("2606:4700::1",)

    run(scenario())


def test_whoever_asks_meanwhile_waits_for_the_same_answer() -> None:
    zone = Zone({("a.test", "A"): [("8.8.8.8", 60)]})

    async def scenario() -> None:
        zone.gate = asyncio.Event()
        resolver = zone.resolver()
        resolver.prefetch("a.test")
        tasks = [asyncio.create_task(resolver.resolve("a.test")) for _ in range(10)]
        await asyncio.sleep(0)
        tasks[0].cancel()
        await asyncio.sleep(0)
        zone.gate.set()
        answers = await asyncio.gather(*tasks, return_exceptions=True)
        assert isinstance(answers[0], asyncio.CancelledError)
        assert all(answer == resolver.known("a.test") for answer in answers[1:])

    run(scenario())
    assert zone.asked == [("a.test", "A")]


def test_closing_answers_those_who_wait() -> None:
    zone = Zone({})

    async def scenario() -> None:
        zone.gate = asyncio.Event()
        resolver = zone.resolver()
        task = asyncio.create_task(resolver.resolve("a.test"))
        await asyncio.sleep(0)
        await resolver.close()
        assert (await task).error is ErrorClass.DNS_FAILED

    run(scenario())


def test_the_memory_is_bounded_and_the_oldest_goes_first() -> None:
    zone = Zone({(f"{n}.test", "A"): [("8.8.8.8", 3600)] for n in range(20)})

    async def scenario() -> None:
        resolver = zone.resolver(most=5)
        for n in range(20):
            await resolver.resolve(f"{n}.test")
        assert len(resolver._answers) == 5
        assert resolver.known("19.test") is not None
        assert resolver.known("14.test") is None

    run(scenario())


def test_the_guard_has_judged_every_address() -> None:
    mixed = [("10.0.0.1", 60.0), ("8.8.8.8", 60.0), ("127.0.0.1", 60.0)]
    zone = Zone({("mixed.test", "A"): mixed, ("private.test", "A"): mixed[:1]})

    async def scenario() -> None:
        resolver = zone.resolver()
        answer = await resolver.resolve("mixed.test")
        assert answer.permitted == ("8.8.8.8",)
        assert len(answer.addresses) == 3
        answer = await resolver.resolve("private.test")
        assert answer.permitted == ()
        assert "10.0.0.1" in answer.refusal

    run(scenario())


@pytest.mark.parametrize("name", ["localhost", "db.localhost"])
def test_localhost_is_loopback_without_a_question(name: str) -> None:
    zone = Zone({})

    async def scenario() -> None:
        answer = await zone.resolver().resolve(name)
        assert (answer.addresses, answer.permitted) == (("127.0.0.1", "::1"), ())

    run(scenario())
    assert zone.asked == []


def real(port: int, **more: object) -> Resolver:
    return Resolver((f"127.0.0.1:{port}",), timeout=0.3, tries=1, **more)  # type: ignore[arg-type]


def test_a_real_name_server_is_asked_for_the_name_as_it_stands() -> None:
    names: dict[tuple[str, str], list[Sequence[str]]] = {
        ("a.test", "A"): [("8.8.8.8", "8.8.4.4")],
        ("a.test", "AAAA"): [("2606:4700::1",)],
        ("six.test", "AAAA"): [("2606:4700::2",)],
    }

    async def scenario() -> None:
        async with name_server(names, ttl=120) as server:
            resolver = real(server.port)
            resolver._families = ("A", "AAAA")
            before = resolver._clock()
            answer = await resolver.resolve("a.test")
            assert set(answer.addresses) == {"8.8.8.8", "8.8.4.4", "2606:4700::1"}
            assert 119 <= answer.expires - before <= 125
            assert (await resolver.resolve("six.test")).addresses == ("2606:4700::2",)
            assert (await resolver.resolve("missing.test")).error is ErrorClass.DNS_NOT_FOUND
            assert (await resolver.resolve("x" * 64 + ".test")).error is ErrorClass.DNS_NOT_FOUND
            assert (await resolver.resolve("a..test")).error is ErrorClass.DNS_NOT_FOUND
            server.rcode = 2
            assert (await resolver.resolve("broken.test")).error is ErrorClass.DNS_FAILED
            server.silent = True
            assert (await resolver.resolve("silent.test")).error is ErrorClass.DNS_FAILED
            assert {name for name, _ in server.asked} == {
                "a.test",
                "six.test",
                "missing.test",
                "broken.test",
                "silent.test",
            }
            await resolver.close()

    run(scenario())


def test_the_codes_for_no_such_name_are_those_of_c_ares() -> None:
    from pycares import errno

    from gossamer.fetch._dns import _NO_SUCH_NAME

    assert {errno.ARES_ENODATA, errno.ARES_ENOTFOUND, errno.ARES_EBADNAME, errno.ARES_ENONAME} == _NO_SUCH_NAME
