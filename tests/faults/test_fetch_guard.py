"""The guard at work: servers on private addresses that must never see a connection, whatever names and numbers say."""

import asyncio
import ipaddress
from collections.abc import Sequence

import pytest

from gossamer.fetch import Answer, Failure, Fetcher, FetchSettings, Request, Resolver, Response, refusal
from gossamer.fetch import _dns as dns
from gossamer.fetch import _target as target
from gossamer.fetch import _transfer as transfer
from gossamer.outcome import ErrorClass
from tests.loopback import Server, name_server, ok, run, serving

QUICK = FetchSettings(connect_timeout=2.0, first_byte_timeout=2.0, total_timeout=3.0, ip_version="4", dns_timeout=1.0)
Names = dict[tuple[str, str], list[Sequence[str]]]


class Lying:
    """A resolver that vouches for addresses that it should not: the guard's second look must not depend on its first."""

    def __init__(self, *addresses: str) -> None:
        self._answer = Answer(addresses, addresses, 1e18)

    def known(self, host: str) -> Answer | None:
        return None

    async def resolve(self, host: str) -> Answer:
        await asyncio.sleep(0)
        return self._answer

    def prefetch(self, host: str) -> None: ...

    async def close(self) -> None: ...


def refused(result: Response | Failure, server: Server) -> Failure:
    assert isinstance(result, Failure), result
    assert result.error is ErrorClass.GUARD_REFUSED
    assert server.connections == 0
    return result


def numeric_forms(port: int) -> list[str]:
    hosts = ["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "0177.1", "127.0.0.1."]
    hosts += [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "a.localhost",
        "0.0.0.0",
        "0",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
    ]
    hosts += ["[::ffff:7f00:1]", "[0:0:0:0:0:ffff:7f00:0001]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"]
    return [f"http://{host}:{port}/" for host in hosts]


def test_no_spelling_of_a_loopback_address_reaches_it() -> None:
    async def scenario() -> None:
        async with serving(ok()) as server, Fetcher(QUICK) as fetcher:
            for url in numeric_forms(server.port):
                refused(await fetcher.fetch(Request(url)), server)

    run(scenario())


def test_connect_to_changes_the_address_and_not_what_is_allowed() -> None:
    async def scenario() -> None:
        async with serving(ok()) as server:
            settings = FetchSettings(connect_to=f"127.0.0.1:{server.port}")
            async with Fetcher(settings) as fetcher:
                for url in [*numeric_forms(server.port), "http://10.0.0.1/", "https://169.254.169.254/latest/"]:
                    refused(await fetcher.fetch(Request(url)), server)
                assert isinstance(await fetcher.fetch(Request("http://8.8.8.8/")), Response)
                assert isinstance(await fetcher.fetch(Request("http://site.test/")), Response)

    run(scenario())


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "gopher://127.0.0.1:{port}/_GET",
        "ftp://127.0.0.1:{port}/",
        "data:text/plain,x",
        "http://user:pass@site.test:{port}/",
        "http://site.test:{port}@127.0.0.1:{port}/",
        "http://127.0.0.1:{port}\\@site.test/",
        "http://site.test:25/",
        "http://site.test:6667/",
    ],
)
def test_other_schemes_credentials_and_ports_of_other_protocols_are_refused(url: str) -> None:
    async def scenario() -> None:
        async with serving(ok()) as server, Fetcher(QUICK, Lying("127.0.0.1")) as fetcher:
            refused(await fetcher.fetch(Request(url.format(port=server.port))), server)

    run(scenario())


def test_a_name_at_a_private_address_is_refused_and_the_address_named() -> None:
    names: Names = {("evil.test", "A"): [("127.0.0.1", "10.1.2.3")]}

    async def scenario() -> None:
        async with serving(ok()) as server, name_server(names) as dns_server:
            resolver = Resolver((f"127.0.0.1:{dns_server.port}",), ip_version="4")
            async with Fetcher(QUICK, resolver) as fetcher:
                found = refused(await fetcher.fetch(Request(f"http://evil.test:{server.port}/")), server)
                assert "evil.test" in found.detail
                assert "127.0.0.1" in found.detail

    run(scenario())


@pytest.mark.parametrize(
    "address", ["::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "fe80::1", "fd00::1"]
)
def test_a_name_at_a_disguised_private_address_is_refused(address: str) -> None:
    names: Names = {("evil.test", "AAAA"): [(address,)]}

    async def scenario() -> None:
        async with serving(ok()) as server, name_server(names) as dns_server:
            resolver = Resolver((f"127.0.0.1:{dns_server.port}",), ip_version="6")
            async with Fetcher(QUICK, resolver) as fetcher:
                refused(await fetcher.fetch(Request(f"http://evil.test:{server.port}/")), server)

    run(scenario())


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1", "0.0.0.0"])
def test_the_address_that_is_connected_to_is_judged_again(address: str) -> None:
    async def scenario() -> None:
        async with serving(ok()) as server, Fetcher(QUICK, Lying(address)) as fetcher:
            found = refused(await fetcher.fetch(Request(f"http://evil.test:{server.port}/")), server)
            assert "public web" in found.detail

    run(scenario())


@pytest.fixture
def second_loopback_is_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """127.0.0.2 plays an address of the public web, since no test may speak to a real one."""

    def judge(address: str) -> str | None:
        return None if ipaddress.ip_address(address) == ipaddress.ip_address("127.0.0.2") else refusal(address)

    for module in (dns, target, transfer):
        monkeypatch.setattr(module, "refusal", judge)


@pytest.mark.usefixtures("second_loopback_is_public")
def test_of_a_mixed_answer_only_the_public_address_is_used() -> None:
    names: Names = {("mixed.test", "A"): [("127.0.0.1", "127.0.0.2", "10.0.0.1")]}

    async def scenario() -> None:
        async with (
            serving(ok(b"public"), host="127.0.0.2") as public,
            serving(ok(b"private"), port=public.port) as private,
            name_server(names) as dns_server,
        ):
            resolver = Resolver((f"127.0.0.1:{dns_server.port}",), ip_version="4")
            async with Fetcher(QUICK, resolver) as fetcher:
                response = await fetcher.fetch(Request(f"http://mixed.test:{public.port}/"))
                assert isinstance(response, Response), response
                assert (response.body, response.address) == (b"public", "127.0.0.2")
                assert private.connections == 0

    run(scenario())


@pytest.mark.usefixtures("second_loopback_is_public")
def test_a_name_that_alternates_between_public_and_private_never_reaches_the_private() -> None:
    names: Names = {("rebind.test", "A"): [("127.0.0.2",), ("127.0.0.1",)]}
    now = 0.0

    async def scenario() -> list[str]:
        nonlocal now
        async with (
            serving(ok(b"public", "Connection: close"), host="127.0.0.2") as public,
            serving(ok(b"private"), port=public.port) as private,
            name_server(names, ttl=0) as dns_server,
        ):
            resolver = Resolver((f"127.0.0.1:{dns_server.port}",), ip_version="4", clock=lambda: now)
            outcomes = []
            async with Fetcher(QUICK, resolver) as fetcher:
                for _ in range(4):
                    result = await fetcher.fetch(Request(f"http://rebind.test:{public.port}/"))
                    outcomes.append("public" if isinstance(result, Response) else str(result.error))
                    now += 61  # past the floor of the cache: the name is asked again
            assert private.connections == 0
            assert len(dns_server.asked) == 4
            return outcomes

    assert run(scenario()) == ["public", "guard-refused", "public", "guard-refused"]


def test_what_the_operator_named_is_allowed_for_exactly_that_host_and_port() -> None:
    names: Names = {("intranet.test", "A"): [("127.0.0.1",)], ("other.test", "A"): [("127.0.0.1",)]}

    async def scenario() -> None:
        async with serving(ok()) as server, serving(ok()) as neighbour, name_server(names) as dns_server:
            resolver = Resolver((f"127.0.0.1:{dns_server.port}",), ip_version="4")
            allowed = {("127.1", server.port), ("Intranet.test.", server.port), ("localhost", server.port)}
            async with Fetcher(QUICK, resolver, allowed) as fetcher:
                for host in ("127.0.0.1", "127.1", "intranet.test", "intranet.test.", "Intranet.TEST", "localhost"):
                    response = await fetcher.fetch(Request(f"http://{host}:{server.port}/"))
                    assert isinstance(response, Response), (host, response)
                    refused(await fetcher.fetch(Request(f"http://{host}:{neighbour.port}/")), neighbour)
                seen = server.connections
                for host in ("other.test", "127.0.0.2", "a.localhost", "[::1]"):
                    result = await fetcher.fetch(Request(f"http://{host}:{server.port}/"))
                    assert isinstance(result, Failure)
                    assert result.error is ErrorClass.GUARD_REFUSED
                assert server.connections == seen
                fetcher.allow("127.0.0.1", neighbour.port)
                assert isinstance(await fetcher.fetch(Request(f"http://127.0.0.1:{neighbour.port}/")), Response)

    run(scenario())


def test_a_handle_that_served_an_allowed_host_does_not_stay_allowed() -> None:
    async def scenario() -> None:
        async with serving(ok()) as server, serving(ok()) as private:
            allowed = {("seed.test", server.port)}
            async with Fetcher(QUICK, Lying("127.0.0.1"), allowed) as fetcher:
                assert isinstance(await fetcher.fetch(Request(f"http://seed.test:{server.port}/")), Response)
                refused(await fetcher.fetch(Request(f"http://evil.test:{private.port}/")), private)

    run(scenario())


def test_a_redirect_to_a_private_address_is_handed_back_and_not_followed() -> None:
    async def scenario() -> None:
        async with serving(ok()) as private:
            moved = f"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:{private.port}/\r\nContent-Length: 0\r\n\r\n"
            async with serving(moved.encode()) as server, Fetcher(QUICK) as fetcher:
                fetcher.allow("127.0.0.1", server.port)
                response = await fetcher.fetch(Request(f"http://127.0.0.1:{server.port}/"))
                assert isinstance(response, Response)
                target = response.header("location")
                assert target is not None
                refused(await fetcher.fetch(Request(target)), private)

    run(scenario())


def test_names_that_do_not_resolve_and_prefetching() -> None:
    names: Names = {("known.test", "A"): [("127.0.0.1",)]}

    async def scenario() -> None:
        async with serving(ok()) as server, name_server(names) as dns_server:
            resolver = Resolver((f"127.0.0.1:{dns_server.port}",), ip_version="4", timeout=0.3, tries=1)
            async with Fetcher(QUICK, resolver, {("known.test", server.port)}) as fetcher:
                fetcher.prefetch("known.test")
                fetcher.prefetch("127.0.0.1")
                fetcher.prefetch("not a name")
                response = await fetcher.fetch(Request(f"http://known.test:{server.port}/"))
                assert isinstance(response, Response)
                assert dns_server.asked == [("known.test", "A")]
                missing = await fetcher.fetch(Request("http://missing.test/"))
                assert isinstance(missing, Failure)
                assert missing.error is ErrorClass.DNS_NOT_FOUND
                dns_server.rcode = 2
                broken = await fetcher.fetch(Request("http://broken.test/"))
                assert isinstance(broken, Failure)
                assert broken.error is ErrorClass.DNS_FAILED

    run(scenario())
