"""The synthetic web: reproducible, exact about what a crawl of it must do, served fast and logged truly."""

import asyncio
import hashlib
import itertools
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import ConfigError
from gossamer.sim.web import (
    Running,
    Served,
    Settings,
    Web,
    audit,
    read_log,
    serve,
    start_in_process,
)
from gossamer.sim.web.names import domain_of, host_name, host_number, host_size, spell
from gossamer.sim.web.plan import split_url
from gossamer.sim.web.words import paragraphs, slug, unslug
from gossamer.url import canonicalize, registrable_domain, resolve
from tests.unit.sim_web import SMALL, ask, fetch, links_of, raw


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(corners="all", **SMALL)


@pytest.fixture(scope="module")
def running(web: Web, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with start_in_process(web, log=tmp_path_factory.mktemp("web") / "served.jsonl") as running:
        yield running


# ---- the plain web


def test_equal_settings_are_the_same_web_in_every_process_and_another_seed_is_another() -> None:
    script = (
        "import hashlib; from gossamer.sim.web import Web, Request\n"
        "web = Web(seed=5, hosts=8, pages=80, corners='all', corner_pages=5)\n"
        "print(hashlib.sha256(b''.join(web.answer(u[7:].partition('/')[0], Request('/' + u[7:].partition('/')[2])).body"
        " for u in sorted(web.reachable(web.seeds()).stored))).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": salt},
            check=True,
            capture_output=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(digests) == 1
    one, other = (ask(Web(seed=seed), "http://" + next(Web(seed=seed).hosts()) + "/").body for seed in (0, 1))
    assert one != other


def test_the_first_page_of_the_first_web_is_what_it_always_was() -> None:
    body = ask(Web(), Web().seeds()[0]).body
    assert hashlib.sha256(body).hexdigest() == FIRST_PAGE


FIRST_PAGE = "e69a02824e52bccfae0b41f169471a0e483f090eef354d9b36ea52d742939430"


@given(st.integers(1, 3000), st.integers(0, 100_000), st.sampled_from([0.0, 0.5, 1.0, 1.7]))
def test_host_sizes_follow_the_power_law_and_add_up_exactly(hosts: int, spare: int, skew: float) -> None:
    settings = Settings(hosts=hosts, pages=hosts + spare, skew=skew)
    sizes = [host_size(settings, number) for number in range(hosts)]
    assert sum(sizes) == hosts + spare
    assert min(sizes) >= 1
    assert all(a + 1 >= b for a, b in itertools.pairwise(sizes))
    if skew == 0:
        assert max(sizes) - min(sizes) <= 1


@given(st.integers(0, 2**40), st.integers(0, 2**64))
def test_a_slug_names_one_number(number: int, mask: int) -> None:
    assert unslug(slug(number, mask), mask) == number


@given(st.integers(0, 10**6), st.integers(0, 50))
def test_a_host_is_recognised_by_its_name_alone(number: int, seed: int) -> None:
    settings = Settings(seed=seed, hosts=number + 1)
    name = host_name(settings, number)
    assert host_number(settings, name) == number
    assert host_number(Settings(seed=seed, hosts=max(1, number)), name) in (None, 0)
    assert registrable_domain(f"http://{name}/") == domain_of(name)


@given(
    st.integers(0, 2**32),
    st.sampled_from(["/", "/news/calm-oak", "/read?topic=a.calm-oak", "/news/calm-oak/"]),
)
def test_every_spelling_of_a_link_has_one_canonical_form(chance: int, target: str) -> None:
    for host in ("site1.example", "site2.test"):
        written = spell(host, target, chance, "site1.example")
        assert canonicalize(resolve(written, "http://site1.example/some/page")) == f"http://{host}{target}"


def test_every_page_of_every_host_is_found_by_following_links_over_sockets(tmp_path: Path) -> None:
    web = Web(seed=3, hosts=12, pages=150)
    with start_in_process(web, log=tmp_path / "log") as running:
        found: dict[str, str] = {}
        waiting = deque(web.seeds())
        while waiting:
            url = waiting.popleft()
            if url not in found:
                got = fetch(running, url)
                assert got.status == 200
                found[url] = got.body.decode()
                waiting.extend(links_of(found[url], url))
        log = running.served()
    expected = web.reachable(web.seeds())
    assert found.keys() == expected.stored
    assert len(found) == web.settings.pages
    assert len(set(found.values())) == len(found)
    assert audit.pages_served(log, 200) == dict.fromkeys(expected.stored, 1)
    assert audit.forbidden_requests(log, web) == []
    assert audit.storage_problems(found, expected, web) == []
    sizes = [len(body) for body in found.values()]
    assert 3000 < sum(sizes) / len(sizes) < 9000
    for url, body in found.items():
        assert f"<title>{expected.nodes[url].title}</title>" in body


def test_texts_of_different_pages_share_hardly_any_run_of_four_words() -> None:
    def runs(key: int) -> set[tuple[str, ...]]:
        words = " ".join(paragraphs(4000, "page", key)).split()
        return {tuple(words[at : at + 4]) for at in range(len(words) - 3)}

    first = runs(0)
    assert len(first) > 500
    assert all(len(first & runs(other)) / len(first) < 0.05 for other in range(1, 40))


def test_scopes_narrow_the_oracle() -> None:
    web = Web(hosts=30, pages=300)
    seeds = web.seeds()
    everything, domain, host = (web.reachable(seeds, scope) for scope in ("any", "domain", "host"))
    assert len(everything.stored) == 300
    assert len(host.stored) == host_size(web.settings, 0) < len(everything.stored)
    assert host.stored <= domain.stored <= everything.stored
    assert web.reachable(web.seeds(every_host=True), "host").stored == everything.stored
    section = next(url for url in sorted(host.stored) if url.count("/") > 3).rsplit("/", 2)[0] + "/"
    assert all(url.startswith(section) for url in web.reachable([section], "prefix").nodes)


def test_settings_that_make_no_web_are_refused_with_a_reason() -> None:
    with pytest.raises(ConfigError, match="no such corner: nowhere"):
        Web(corners=frozenset({"nowhere"}))
    with pytest.raises(ConfigError, match="at least one page"):
        Web(hosts=10, pages=5)
    with pytest.raises(ConfigError, match="hosts"):
        Web(hosts="many")


# ---- the server


def test_head_close_pipelining_and_old_clients_are_served(running: Running, web: Web) -> None:
    home = web.seeds()[0]
    host = split_url(home)[0]
    whole = fetch(running, home)
    assert fetch(running, home, "HEAD").body == b""
    assert fetch(running, home, "HEAD").status == 200
    lines = f"GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"
    piped = raw(running, (lines * 2 + lines.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n")).encode())
    assert piped.count(b"HTTP/1.1 200 OK\r\n") == 3
    assert piped.count(b"</html>") == 3
    assert b"Connection: close" in piped
    assert raw(running, f"GET / HTTP/1.0\r\nHost: {host.upper()}:80\r\n\r\n".encode()).endswith(whole.body[-50:])
    assert b" 200 " in raw(running, f"GET {home} HTTP/1.1\r\nConnection: close\r\nHost: x\r\n\r\n".encode())
    assert b" 400 " in raw(running, b"PUT / HTTP/1.1\r\nHost: x\r\n\r\n")
    assert fetch(running, "http://unknown.invalid/").status == 421
    assert fetch(running, home + "no/such/page").status == 404


def test_some_pages_come_in_chunks_and_some_with_a_length(running: Running, web: Web) -> None:
    stored = sorted(web.reachable(web.seeds(), "host").stored)
    coded = {
        ("transfer-encoding" in got.headers, "content-length" in got.headers)
        for got in (fetch(running, u) for u in stored)
    }
    assert coded == {(True, False), (False, True)}


def test_a_request_split_into_single_bytes_is_understood(running: Running, web: Web) -> None:
    host = split_url(web.seeds()[0])[0]
    with socket.create_connection(("127.0.0.1", running.port), timeout=10) as plug:
        plug.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for at in f"GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n":
            plug.sendall(at.encode())
        assert plug.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")


async def _two_at_once(web: Web) -> list[Served]:
    async with serve(web) as server:

        async def one() -> bytes:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(b"GET / HTTP/1.1\r\nHost: slow-0.test\r\nUser-Agent: twin\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            return answer

        answers = await asyncio.gather(one(), one())
        assert all(answer.startswith(b"HTTP/1.1 200 OK") for answer in answers)
        return server.log.served()


def test_the_log_tells_who_asked_what_when_and_how_many_at_once(web: Web) -> None:
    log = asyncio.run(_two_at_once(web))
    assert [(s.host, s.target, s.status, s.agent) for s in log] == [("slow-0.test", "/", 200, "twin")] * 2
    assert {s.busy for s in log} == {1, 2}
    assert len({s.connection for s in log}) == 2
    assert audit.max_busy(log) == {"slow-0.test": 2}
    assert audit.max_connections(log) == {"slow-0.test": 2}
    assert audit.min_gaps(log)["slow-0.test"] < 0
    assert all(s.end - s.start >= web.settings.slow_seconds for s in log)
    assert all(s.sent > 1000 for s in log)


def test_a_web_in_a_process_announces_itself_and_ends_with_its_block(tmp_path: Path) -> None:
    web = Web(hosts=3, pages=9, corners={"slow"})
    with start_in_process(web, log=tmp_path / "log", warm=True) as running:
        assert running.said.seeds == web.seeds(every_host=True)
        assert running.connect_to == f"127.0.0.1:{running.port}"
        assert fetch(running, web.seeds()[0]).body == ask(web, web.seeds()[0]).body
        assert [s.status for s in running.served()] == [200]
    assert len(read_log(tmp_path / "log")) == 1
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", running.port), timeout=1)


def test_the_command_line_ends_with_its_standard_input_and_refuses_unknown_corners() -> None:
    command = [sys.executable, "-m", "gossamer.sim.web", "--hosts", "2", "--pages", "4", "--until-eof"]
    done = subprocess.run(command, input=b"", capture_output=True, timeout=20)
    assert done.returncode == 0
    assert msgspec.json.decode(done.stdout)["seeds"] == Web(hosts=2, pages=4).seeds(every_host=True)
    wrong = subprocess.run([*command, "--corners", "nowhere"], input=b"", capture_output=True, timeout=20)
    assert wrong.returncode == 2
    assert b"no such corner: nowhere" in wrong.stderr


# ---- the audit


def served(host: str, start: float, end: float, target: str = "/", **more: object) -> Served:
    known: dict[str, object] = {"wall": start, "at": start, "status": 200, "sent": 1, "connection": 1}
    return msgspec.convert({"host": host, "start": start, "end": end, "target": target, **known, **more}, Served)


def test_gaps_run_from_the_end_of_an_answer_to_the_next_request() -> None:
    log = [served("a", 0, 1), served("a", 2.5, 3), served("b", 0, 5), served("b", 4, 4.5), served("c", 0, 1)]
    assert audit.min_gaps(log) == {"a": 1.5, "b": -1}
    assert audit.max_busy(log) == {"a": 1, "b": 2, "c": 1}
    assert audit.delay_violations(log[:2], 1.0) == []
    assert len(audit.delay_violations(log, 1.0)) == 1
    assert len(audit.delay_violations(log[:2], 1.0, {"a": 2.0})) == 1


def test_a_long_answer_is_not_forgotten_behind_a_short_one() -> None:
    log = [served("a", 0, 9), served("a", 1, 2), served("a", 3, 4)]
    assert audit.min_gaps(log) == {"a": -8}


def test_requests_before_retry_after_has_passed_are_found() -> None:
    refused = served("a", 0, 1, status=429, retry_after=5.0)
    assert audit.retry_after_violations([refused, served("a", 6.1, 7), served("b", 2, 3)]) == []
    assert audit.retry_after_violations([refused, served("a", 5.9, 7, "/x")]) == [
        "a/x: 0.100 s before Retry-After had passed"
    ]


def test_storage_problems_name_what_is_missing_twice_or_not_allowed(web: Web) -> None:
    expected = web.reachable(["http://copies.test/", "http://copies-mirror.test/"], "host")
    groups = {url for urls in expected.groups.values() for url in urls}
    best = (expected.stored - groups) | set(expected.groups)
    assert audit.storage_problems(best, expected, web) == []
    assert audit.storage_problems(best | {"http://copies.test/print/0"}, expected, web) == [
        "stored 2 times: http://copies.test/original/0"
    ]
    swapped = best - {"http://copies.test/original/0"} | {"http://copies-mirror.test/original/0"}
    assert audit.storage_problems(swapped, expected, web) == []
    near = best | {"http://copies.test/edition/0/1"}
    assert audit.storage_problems(near, expected, web, near_skipped=False) == []
    assert len(audit.storage_problems(near, expected, web)) == 1
    assert audit.storage_problems(best - {"http://copies.test/"}, expected, web) == ["not stored: http://copies.test/"]
    assert "although missing" in audit.storage_problems(best | {"http://copies.test/x"}, expected, web)[0]
