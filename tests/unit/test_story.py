"""The pure parts of a story: spellings, paces, layout, what the guard says of a URL, and the memory of attempts."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.cli.explain import lines_of
from gossamer.crawl.story import Step, Story
from gossamer.crawl.story._pace import pause_of, wait_of
from gossamer.crawl.story._past import error_words
from gossamer.crawl.story._spelling import CHANGES, others, read
from gossamer.crawl.story._values import span
from gossamer.errors import InvalidURL
from gossamer.fetch import url_refusal
from gossamer.frontier import Done, FrontierSettings, Link, RocksFrontier, State
from gossamer.frontier.inspect import HostLook, Ledger
from gossamer.frontier.records import TRIES, UrlRecord, decode_url, encode
from gossamer.outcome import Action, ErrorClass
from gossamer.politeness import Failed, Fetched, HostState, Politeness, RobotsRead, after, delay_of
from gossamer.traps import Rule, Trap, TrapRules
from gossamer.url import AGGRESSIVE, DEFAULT, Rules, canonicalize, resolve

T0 = 1_800_000_000.0


def nobody(url: str) -> bool:
    return False


# --- spellings ----------------------------------------------------------------------------------------------------------


def test_every_canonical_rule_has_its_words() -> None:
    assert CHANGES.keys() == {field.name for field in msgspec.structs.fields(Rules)}


@pytest.mark.parametrize(
    ("typed", "rules"),
    [
        ("https://example.com/a", set()),
        ("https://example.com/a#b", {"fragment"}),
        ("https://me:you@example.com/", {"credentials"}),
        ("https://example.com./a", {"host_dot"}),
        ("https://example.com/%7euser", {"percent"}),
        ("https://example.com/?b=1&a=2", {"sort_query"}),
        ("https://example.com/a?", {"empty_query"}),
        ("https://example.com/?a=1&utm_source=x", {"tracking"}),
        ("https://example.com/a;jsessionid=12?x=1", {"sessions"}),
    ],
)
def test_the_rules_that_changed_a_url_are_named(typed: str, rules: set[str]) -> None:
    assert set(read(typed, DEFAULT, nobody).rules) == rules


def test_a_rule_that_is_off_is_not_named() -> None:
    assert read("https://example.com/a/index.html", DEFAULT, nobody).rules == ()
    assert set(read("https://example.com/a//b/index.html", AGGRESSIVE, nobody).rules) == {
        "documents",
        "trailing_slash",
        "slashes",
    }


@given(st.text(alphabet="aB/.?&=#%2e;:@-_utmsid0", max_size=40))
def test_the_canonical_form_is_that_of_the_crawl(tail: str) -> None:
    typed = f"http://example.com/{tail}"
    assert read(typed, DEFAULT, nobody).url == canonicalize(resolve(typed), DEFAULT)


def test_a_missing_scheme_is_https_unless_only_http_is_known() -> None:
    assert read("example.com:8080/a", DEFAULT, nobody).url == "https://example.com:8080/a"
    assert read("example.com/a", DEFAULT, {"http://example.com/a"}.__contains__).url == "http://example.com/a"
    assert read("example.com/a", DEFAULT, lambda url: True).url == "https://example.com/a"
    assert read("mailto:me@example.com", DEFAULT, nobody).url == "mailto:me@example.com"


@pytest.mark.parametrize("typed", ["", "http://", "a b", "https://[1::2"])
def test_what_is_no_url_is_refused_as_typed(typed: str) -> None:
    with pytest.raises(InvalidURL, match="is not a URL"):
        read(typed, DEFAULT, nobody)


def test_other_spellings_differ_in_scheme_www_and_last_slash() -> None:
    assert set(others("http://example.com/")) == {
        "https://example.com/",
        "http://www.example.com/",
        "https://www.example.com/",
    }
    found = list(others("https://www.example.com/a/?b=1"))
    assert len(found) == len(set(found)) == 7
    assert "http://example.com/a?b=1" in found
    assert list(others("mailto:a@b.c")) == []


# --- paces --------------------------------------------------------------------------------------------------------------

states = st.builds(
    HostState,
    crawl_delay=st.sampled_from([0.0, 0.5, 2.0, 1_000.0]),
    answer=st.floats(0, 30),
    level=st.integers(0, 16),
    failures=st.integers(0, 16),
)
settings = st.builds(
    Politeness, delay=st.sampled_from([0.0, 0.1, 1.0, 90.0]), crawl_delay_cap=st.sampled_from([0.0, 5.0])
)


@given(states, settings)
def test_the_pause_told_is_the_pause_kept_and_its_reason_is_there(state: HostState, polite: Politeness) -> None:
    pause, why = pause_of(state, polite)
    assert pause == delay_of(state, polite)
    if why == "as configured":
        assert pause == polite.delay
    elif "Crawl-delay" in why:
        assert pause == min(state.crawl_delay, polite.crawl_delay_cap)
        assert delay_of(msgspec.structs.replace(state, crawl_delay=0.0), polite) <= pause
    elif "refusal" in why or "failure" in why:
        assert delay_of(msgspec.structs.replace(state, level=0, failures=0), polite) <= pause
    else:
        assert "its answers take" in why
        assert delay_of(msgspec.structs.replace(state, answer=0.0), polite) <= pause


def test_what_a_host_waits_for_is_told() -> None:
    polite = Politeness(answer_multiple=0.0)
    fetched = after(HostState(), Fetched(200, 0.1), T0, polite)
    assert wait_of(fetched, polite, T0) == (1.0, "the pause between two fetches")
    assert wait_of(fetched, polite, T0 + 1) == (0.0, "")
    asked = after(HostState(), RobotsRead(7.0), T0, polite)
    assert wait_of(asked, polite, T0) == (7.0, "the pause between two fetches")
    assert pause_of(asked, polite) == (7.0, "as its robots.txt asks for by Crawl-delay")
    refused = after(HostState(), Fetched(429, 0.1, 120.0), T0, polite)
    assert wait_of(refused, polite, T0) == (120.0, "backing off after 1 refusal (429 or 503)")
    away = after(HostState(), Failed(ErrorClass.CONNECT_REFUSED, 0.1), T0, polite, jitter=0.0)
    assert wait_of(away, polite, T0) == (30.0, "backing off after 1 failure in a row")
    blocked = HostState(next_allowed=T0 + 500, last_event=T0)
    assert wait_of(blocked, polite, T0) == (500.0, "it was put off")


def test_spans_are_short() -> None:
    assert [span(s) for s in (0, 0.25, 119, 600, 86_399, 1_000_000)] == [
        "0 s", "0.25 s", "119 s", "10 minutes", "24 hours", "11.6 days",
    ]  # fmt: skip


def test_errors_come_with_their_meaning() -> None:
    assert error_words("reset", 0) == "reset: The connection was cut while the answer was awaited."
    assert error_words(None, 404) == "status 404: There is no page at this address."
    assert error_words("of-a-later-version", 0) == "of-a-later-version"


# --- layout -------------------------------------------------------------------------------------------------------------

LONG = Story(
    "http://a.example/",
    "http://a.example/",
    False,
    "unknown",
    "not in the crawl, excluded by something that takes a whole breath to be said in full, and then some more",
    steps=(
        Step(
            "rules", "one rule:", ("✗ learned trap copies  " + "word " * 40, "✓ scope                It lies within.")
        ),
        Step("stored", "here", (f"gossamer cat '/a folder' http://a.example/{'x' * 200}",)),
        Step("way", "long", ("→ http://a.example/" + "y" * 200 + "   (redirect)",)),
    ),
)


@pytest.mark.parametrize("columns", [60, 80, 120, 200])
def test_lines_fit_but_for_what_must_not_be_broken(columns: int) -> None:
    lines = lines_of(LONG, columns)
    assert all(len(line) <= columns for line in lines if "xxx" not in line and "yyy" not in line)
    assert any(line.strip() == LONG.steps[1].notes[0] for line in lines), "a command is in one piece"
    assert any("y" * 200 in line for line in lines)
    goes_on = next(line for line in lines if line.strip().startswith("word") and "learned" not in line)
    assert goes_on.index("word") == next(line for line in lines if "learned" in line).index("word"), "under its column"


def test_without_a_terminal_each_thing_is_one_line() -> None:
    lines = lines_of(LONG, None)
    assert len(lines) == 3 + sum(1 + len(step.notes) for step in LONG.steps)


@given(st.text(max_size=60))
def test_nothing_from_outside_commands_the_terminal(text: str) -> None:
    story = Story(text, text, True, "done", text, steps=(Step("answer", text, (f"title: {text}", f"a   {text}")),))
    for columns in (None, 80):
        for line in lines_of(story, columns):
            assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066\u2028" for c in line)


# --- guard and attempts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("https://example.com/", None),
        ("http://93.184.216.34/", None),
        ("http://127.0.0.1/", "127.0.0.1 is a loopback address"),
        ("http://[::1]/", "::1 is a loopback address"),
        ("http://example.com:6667/", "The port 6667 belongs to another protocol."),
        ("http://me@example.com/", "A URL that carries a user name or password is not fetched."),
        ("gopher://example.com/", "Only http and https are spoken."),
    ],
)
def test_what_the_guard_says_of_a_url_before_it_is_resolved(url: str, reason: str | None) -> None:
    said = url_refusal(url)
    assert said == reason if reason is None else said is not None and reason in said


def test_the_guard_steps_aside_for_what_was_named_and_nothing_else() -> None:
    assert url_refusal("http://127.0.0.1:8080/", [("127.0.0.1", 8080)]) is None
    assert url_refusal("http://127.0.0.1:8081/", [("127.0.0.1", 8080)]) is not None
    assert url_refusal("http://localhost/", elsewhere=True) is not None
    assert url_refusal("http://localhost/") is None, "its address will be judged"


def test_the_last_attempts_are_remembered_and_no_more(tmp_path: Path) -> None:
    url = "https://h.example/p"

    async def crawl() -> None:
        settings = FrontierSettings(robots=False, politeness=Politeness(delay=0.0))
        frontier = RocksFrontier(tmp_path / "f", settings)
        await frontier.discover([Link(url)], T0)
        for number in range(7):
            now = T0 + 1_000 * number
            [lease] = await frontier.lease("w", 1, now)
            failed = Done(lease.id, Action.RETRY, 500 + number, detail="The server failed.", wait=10.0)
            await frontier.complete("w", [failed], now)
        [lease] = await frontier.lease("w", 1, T0 + 7_000)
        await frontier.complete("w", [Done(lease.id, Action.DONE, 200)], T0 + 7_000)
        await frontier.close()

    asyncio.run(crawl())
    with Ledger(tmp_path / "f") as ledger:
        record = ledger.record(url)
    assert record is not None
    assert (record.state, record.attempts, len(record.tries)) == (State.DONE, 8, TRIES)
    assert [each.status for each in record.tries] == [503, 504, 505, 506, 200]
    assert [each.at for each in record.tries] == [T0 + 1_000 * number for number in range(3, 8)]


def test_a_page_answered_at_once_costs_one_byte_for_its_attempts() -> None:
    record = UrlRecord("https://h.example/", State.DONE, 0, 0, 0, 0.5, T0, None, b"")  # type: ignore[arg-type]
    names = list(UrlRecord.__struct_fields__)
    raw = msgspec.msgpack.decode(encode(record))
    older = msgspec.msgpack.encode(raw[: names.index("tries")])
    assert decode_url(older) == record, "records of earlier versions are read as before"
    assert len(msgspec.msgpack.encode(raw[: names.index("tries") + 1])) - len(older) <= 3


# --- what a running crawl lets others see ---------------------------------------------------------------------------------


def test_a_trap_decision_is_on_disk_while_the_crawl_runs(tmp_path: Path) -> None:
    rules = TrapRules(template_urls=10, least_urls=10)

    async def crawl() -> tuple[HostLook | None, Trap | None]:
        frontier = RocksFrontier(tmp_path / "f", FrontierSettings(robots=False, traps=rules))
        await frontier.discover([Link(f"https://h.example/p?n={n}") for n in range(11)], T0)
        with Ledger(tmp_path / "f") as ledger:
            look = ledger.host("h.example")
        trap = look.shape.admit("https://h.example/p?n=77", T0, rules) if look is not None and look.shape else None
        await frontier.close()
        return look, trap

    look, trap = asyncio.run(crawl())
    assert look is not None
    assert look.shape is not None, "the first refusal is written at once"
    assert trap is not None
    assert trap.rule is Rule.TEMPLATE_BUDGET


def test_a_domain_with_too_many_hosts_is_seen_from_outside(tmp_path: Path) -> None:
    rules = TrapRules(domain_hosts=3)

    async def crawl() -> None:
        frontier = RocksFrontier(tmp_path / "f", FrontierSettings(robots=False, traps=rules))
        await frontier.discover([Link("https://h0.example/")], T0)
        await frontier.discover([Link(f"https://{n}.farm.example/") for n in range(5)], T0, "https://h0.example/")
        await frontier.close()

    asyncio.run(crawl())
    with Ledger(tmp_path / "f") as ledger:
        assert ledger.host("2.farm.example") is not None
        assert ledger.host("4.farm.example") is None
        trap = ledger.domain_trap("4.farm.example", rules)
        assert trap is not None
        assert trap.rule is Rule.DOMAIN_HOSTS
        assert ledger.domain_trap("www.elsewhere.example", rules) is None
