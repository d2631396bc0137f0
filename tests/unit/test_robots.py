"""robots.txt: who a rule is for, which rule decides, how spellings compare, and that no file can hurt."""

import random
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.robots import ALLOW_ALL, DISALLOW_ALL, RequestRate, RobotsTxt, Verdict

SITE = "https://example.com"


def allows(text: str | bytes, path: str, agent: str = "Gossamer") -> bool:
    body = text if isinstance(text, bytes) else text.encode()
    rules = RobotsTxt.parse(body)
    answer = rules.allows(agent, SITE + path)
    assert rules.explain(agent, SITE + path).allowed is answer
    return answer


def for_all(*lines: str) -> str:
    return "\n".join(["User-agent: *", *lines])


# Who a rule is for


def test_an_empty_file_allows_everything() -> None:
    assert ALLOW_ALL.allows("Gossamer", SITE + "/a")
    assert ALLOW_ALL.explain("Gossamer", SITE + "/a") == Verdict(True, None, None)


def test_disallow_all_refuses_everything_but_the_file_itself() -> None:
    assert not DISALLOW_ALL.allows("Gossamer", SITE + "/")
    assert not DISALLOW_ALL.allows("Gossamer", SITE + "/robots.txt.bak")
    assert DISALLOW_ALL.allows("Gossamer", SITE + "/robots.txt")
    assert DISALLOW_ALL.explain("Gossamer", SITE + "/robots.txt") == Verdict(True)


def test_groups_for_the_same_agent_are_one_wherever_they_stand() -> None:
    text = "User-agent: gossamer\nDisallow: /a\n\nUser-agent: x\nDisallow: /\n\nUser-agent: GOSSAMER\nDisallow: /b\n"
    assert not allows(text, "/a")
    assert not allows(text, "/b")
    assert allows(text, "/c")


def test_a_named_agent_has_nothing_of_the_rules_for_everyone() -> None:
    text = "User-agent: *\nDisallow: /\nCrawl-delay: 9\n\nUser-agent: gossamer\nAllow: /\n"
    assert allows(text, "/a")
    assert not allows(text, "/a", agent="other")
    assert RobotsTxt.parse(text.encode()).crawl_delay("gossamer") is None


def test_an_agent_named_without_rules_may_fetch_everything() -> None:
    assert allows("User-agent: *\nDisallow: /\n\nUser-agent: gossamer", "/a")


@pytest.mark.parametrize(
    "agent",
    ["gossamer", "Gossamer", "Gossamer/1.0", "Gossamer/1.0 (+https://a.example/)", "Gossamer (+https://a/)"],
)
def test_a_whole_user_agent_string_counts_as_its_product_token(agent: str) -> None:
    assert not allows("User-agent: Gossamer/0.9\nDisallow: /", "/a", agent)


@pytest.mark.parametrize("agent", ["goss", "gossamer2", "gossamer-news", "Other Gossamer", "", "*", "(x)", "ツ"])
def test_another_product_token_is_another_agent(agent: str) -> None:
    assert allows("User-agent: gossamer\nDisallow: /", "/a", agent)


def test_a_line_that_names_nobody_is_not_for_an_agent_without_a_name() -> None:
    assert allows("User-agent:\nDisallow: /\nUser-agent: ツ\nDisallow: /", "/a", agent="")


def test_agents_that_differ_in_a_digit_are_different() -> None:
    text = "User-agent: bot1\nDisallow: /1\n\nUser-agent: bot2\nDisallow: /2\n"
    assert [allows(text, path, "bot1") for path in ("/1", "/2")] == [False, True]
    assert [allows(text, path, "bot2/5.0") for path in ("/1", "/2")] == [True, False]


def test_more_agents_than_are_kept_still_have_each_their_own_rules() -> None:
    names = [f"agent{n}" for n in range(50)]
    rules = RobotsTxt.parse("\n".join(f"User-agent: {name}\nDisallow: /{name}/" for name in names).encode())
    for _ in range(2):
        for name in names:
            assert not rules.allows(name, f"{SITE}/{name}/")
            assert rules.allows(name, f"{SITE}/other/")
    assert len(rules._groups) <= 8


# Which rule decides


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        (["Disallow: /a", "Allow: /a"], "/a", True),
        (["Allow: /a", "Disallow: /a/b"], "/a/b/c", False),
        (["Disallow: /a/", "Allow: /a/b"], "/a/bc", True),
        (["Disallow:"], "/a", True),
        (["Disallow: *"], "/a", False),
        (["Disallow: a"], "/a", True),
        (["Disallow: $"], "/", True),
        (["Disallow: /$"], "/", False),
        (["Disallow: /$"], "/a", True),
        (["Disallow: /a*$"], "/abc", False),
        (["Disallow: /*.pdf$"], "/x/a.pdf", False),
        (["Disallow: /*.pdf$"], "/x/a.pdf?b", True),
        (["Disallow: /*/b/*/d"], "/a/b/c/d", False),
        (["Disallow: /*/b/*/d"], "/a/b/d", True),
        (["Disallow: /*ab*b$"], "/ab", True),
        (["Disallow: /*ab*b$"], "/abb", False),
        (["Disallow: /a$b"], "/a$bc", False),
        (["Disallow: /a$b"], "/a", True),
        # RFC 9309 section 2.2.3: a special character is matched by its escape.
        (["Disallow: /a-%2A"], "/a-*", False),
        (["Disallow: /a-%2A"], "/a-b", True),
        (["Disallow: /a%24"], "/a$b", False),
        # Each star counts as one character of length, even where it changes nothing.
        (["Disallow: /a***", "Allow: /ab"], "/abc", False),
        (["Disallow: /a*", "Allow: /ab"], "/abc", True),
        (["Allow: /x/index.html", "Disallow: /"], "/x/", True),
        (["Allow: /x/index.htm", "Disallow: /"], "/x/", True),
        (["Allow: /x/index.html", "Disallow: /"], "/x/y", False),
        (["Allow: /x/index.html", "Disallow: /x/*"], "/x/", True),
        (["Disallow: /x/index.html"], "/x/", True),
    ],
)
def test_the_longest_matching_rule_decides_and_allow_wins_ties(lines: list[str], path: str, allowed: bool) -> None:
    assert allows(for_all(*lines), path) is allowed
    assert allows(for_all(*reversed(lines)), path) is allowed


def test_the_verdict_names_the_line_that_decided() -> None:
    rules = RobotsTxt.parse(b"# hello\r\nUser-agent: *\r\n\r\nDisallow: /a # why\r\n  Allow: /a/*b\r\nDisallow: /a\r\n")
    assert rules.explain("x", SITE + "/a/c") == Verdict(False, 4, "Disallow: /a # why")
    assert rules.explain("x", SITE + "/a/b") == Verdict(True, 5, "Allow: /a/*b")
    assert rules.explain("x", SITE + "/c") == Verdict(True, None, None)


# How spellings compare


@pytest.mark.parametrize(
    ("pattern", "path", "same"),
    [
        ("/~joe", "/%7Ejoe", True),
        ("/%7ejoe", "/~joe", True),
        ("/%7Ejoe", "/%7ejoe", True),
        ("/a%3cd", "/a%3Cd", True),
        ("/a%2fb", "/a/b", False),
        ("/a/b", "/a%2Fb", False),
        ("/a%2fb", "/a%2Fb", True),
        ("/ü", "/%C3%BC", True),
        ("/%c3%bc", "/%C3%BC", True),
        ("/%c3%bc", "/ü", True),
        ("/%62ar", "/bar", True),
        ("/bar", "/%62ar", True),
        ("/a b", "/a%20b", True),
        ("/{id}", "/%7Bid%7D", True),
        ("/{id}", "/{id}", True),
        ("/a%3", "/a%3", True),
        ("/a%zz", "/a%zz", True),
        ("/a?b=c&d", "/a?b=c&d=e", True),
        ("/A", "/a", False),
    ],
)
def test_a_disallow_closes_every_spelling_of_its_path(pattern: str, path: str, same: bool) -> None:
    assert allows(for_all(f"Disallow: {pattern}"), path) is not same


@pytest.mark.parametrize(
    ("pattern", "path", "same"),
    [("/~joe", "/%7ejoe", True), ("/ü", "/%c3%bc", True), ("/%62", "/%62", True), ("/%62", "/b", False)],
)
def test_an_allow_opens_no_spelling_on_which_the_rfc_and_google_differ(pattern: str, path: str, same: bool) -> None:
    assert allows(for_all("Disallow: /", f"Allow: {pattern}"), path) is same


@pytest.mark.parametrize("octet", range(256))
def test_the_digits_of_an_escape_may_be_of_either_case_and_an_unreserved_one_is_its_character(
    octet: int,
) -> None:
    escape = f"%{octet:02x}"
    unreserved = octet < 128 and (chr(octet).isalnum() or chr(octet) in "-._~")
    text = for_all(f"Disallow: /x{chr(octet) if unreserved else escape}$")
    assert [allows(text, "/x" + spelling) for spelling in (escape, escape.upper())] == [False, False]


def test_octets_that_are_not_utf8_are_compared_as_octets() -> None:
    assert not allows(b"User-agent: *\nDisallow: /\xfc\xff", "/%FC%FFx")


@pytest.mark.parametrize(
    "url", ["https://example.com/a#/b", "//example.com/a", "example.com/a", "/a", "HTTP://U@e:1/a"]
)
def test_only_path_and_query_of_a_url_are_compared(url: str) -> None:
    assert not RobotsTxt.parse(b"User-agent: *\nDisallow: /a$").allows("x", url)


# What a file looks like


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\r", " \t\n", "#c\n"])
def test_any_line_end_ends_a_line(end: str) -> None:
    assert not allows(end.join(["User-agent: *", "Disallow: /a", "Disallow: /b", ""]), "/b")


@pytest.mark.parametrize("codec", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_first_line(codec: str) -> None:
    assert not allows("User-agent: *\nDisallow: /ü".encode(codec), "/%C3%BC")


def test_big_endian_utf16_is_read_too() -> None:
    assert not allows(b"\xfe\xff" + "User-agent: *\nDisallow: /a".encode("utf-16-be"), "/a")


@pytest.mark.parametrize(
    "line",
    [
        *("disallow:/a", "DISALLOW : /a", "  Disallow:\t/a", "Disallow /a", "Disallow\t/a", "Disallow: /a#b"),
        *("Dissallow: /a", "dissalow: /a", "Disalow: /a", "Diasllow: /a", "disallaw: /a", "Desallow: /a"),
        *("Disallows: /a", "Dissalow /a"),
    ],
)
def test_a_disallow_is_understood_however_it_is_misspelt(line: str) -> None:
    assert not allows(for_all(line), "/a")


@pytest.mark.parametrize(
    "line",
    ["useragent: x", "user agent: x", "User_Agent: x", "User-agent x", "USER-AGENT:x", "User-agent: x y"],
)
def test_a_user_agent_line_is_understood_however_it_is_misspelt(line: str) -> None:
    assert not allows(f"{line}\nDisallow: /a", "/a", agent="x")


@pytest.mark.parametrize("line", ["Disallow /a /b", "Disallow", "/a", ": /a", "<p>Disallow: /a", "Noindex: /a"])
def test_a_line_that_cannot_be_understood_says_nothing(line: str) -> None:
    assert allows(for_all(line), "/a")


def test_a_colon_inside_the_value_does_not_stand_for_a_forgotten_one() -> None:
    assert not allows(for_all("Disallow /a:b"), "/a:b")
    assert RobotsTxt.parse(b"Sitemap https://example.com/s.xml").sitemaps == ("https://example.com/s.xml",)


def test_sitemaps_are_kept_as_written_wherever_they_stand_and_once_each() -> None:
    body = "Sitemap: /s.xml\nUser-agent: x\nSITE-MAP: https://a/Ü.xml # c\nsitemap:\nDisallow: /\nSitemap:/s.xml"
    assert RobotsTxt.parse(body.encode()).sitemaps == ("/s.xml", "https://a/Ü.xml")


@pytest.mark.parametrize(("past", "read"), [(-1, True), (0, True), (1, False), (9, False)])
def test_past_500_kib_nothing_counts_and_neither_does_a_line_cut_there(past: int, read: bool) -> None:
    # given a line whose last octet is `past` octets past the limit
    head, line = "User-agent: *\nDisallow: /first\n", "Disallow: /abc"
    comment = "#" * (512_000 + past - len(head) - len(line) - 1) + "\n"
    text = head + comment + line + "\nDisallow: /never\n"
    # then it counts whole or not at all
    assert allows(text, "/abc") is not read
    assert allows(text, "/abd")
    assert not allows(text, "/first")
    assert allows(text, "/never")


def test_a_utf16_file_is_cut_at_a_whole_line_too() -> None:
    text = "User-agent: *\nDisallow: /first\n" + "Disallow: /abcdefgh\n" * 20_000
    rules = RobotsTxt.parse(b"\xff\xfe" + text.encode("utf-16-le"))
    assert set(rules.source.splitlines()[2:]) == {b"Disallow: /abcdefgh"}
    assert not rules.allows("x", SITE + "/first")


# Delays and rates


@pytest.mark.parametrize(
    ("value", "delay"),
    [
        *(("10", 10.0), ("0.5", 0.5), ("0,5", 0.5), (".5", 0.5), ("1.", 1.0), ("0", 0.0), ("5 # why", 5.0)),
        *(("5s", 5.0), ("5 seconds", 5.0), ("-1", None), ("nan", None), ("inf", None), ("1e9", None)),
        *(("", None), ("ten", None), ("1 2", None), ("9" * 400, None), ("٣", None)),
    ],
)
def test_a_crawl_delay_is_a_plain_number_of_seconds(value: str, delay: float | None) -> None:
    assert RobotsTxt.parse(for_all(f"Crawl-delay: {value}").encode()).crawl_delay("x") == delay


def test_of_several_delays_and_rates_for_one_agent_the_gentlest_holds() -> None:
    text = for_all(
        "Crawl-delay: 2",
        "Request-rate: 1/5",
        "Disallow: /",
        "User-agent: *",
        "Crawl-delay: 7",
        "Crawl-delay: 3",
    )
    rules = RobotsTxt.parse((text + "\nRequest-rate: 10/1m 0600-0845\nCrawl-delay: soon").encode())
    assert rules.crawl_delay("x") == 7.0
    assert rules.request_rate("x") == RequestRate(10, 60, (360, 525))


def test_a_delay_does_not_end_a_run_of_user_agent_lines() -> None:
    rules = RobotsTxt.parse(b"User-agent: a\nCrawl-delay: 5\nUser-agent: b\nDisallow: /x")
    assert [rules.allows(agent, SITE + "/x") for agent in "ab"] == [False, False]
    assert [rules.crawl_delay(agent) for agent in "ab"] == [5.0, None]


@pytest.mark.parametrize(
    ("value", "rate"),
    [
        *(("1/5", RequestRate(1, 5)), ("30/1m", RequestRate(30, 60)), ("2 / 1H", RequestRate(2, 3600))),
        *(("1/10s 2200-0600", RequestRate(1, 10, (1320, 360))), ("1/10 9900-0000", RequestRate(1, 10))),
        *(
            ("0/5", None),
            ("5/0", None),
            ("-1/5", None),
            ("1/5d", None),
            ("1", None),
            ("", None),
            ("1/" + "9" * 99, None),
        ),
    ],
)
def test_a_request_rate_is_requests_a_time_and_perhaps_a_window(value: str, rate: RequestRate | None) -> None:
    assert RobotsTxt.parse(for_all(f"Request-rate: {value}").encode()).request_rate("x") == rate


def test_a_rate_says_how_far_apart_requests_are() -> None:
    assert RequestRate(30, 60).delay == 2.0


# No file can hurt


def seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


STARS = ("*a" * 1_000).encode()


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"/" + STARS + b"*b", "/" + "a" * 100_000),
        (b"/" + STARS + b"*b", "/b" + "a" * 100_000),
        (b"/" + STARS + b"*b$", "/" + "ab" * 50_000 + "c"),
        (b"/" + b"*" * 10_000 + b"b", "/" + "a" * 100_000),
        (b"/*" + b"a" * 8_000 + b"b", "/" + "a" * 100_000),
        (b"/*" + b"ab" * 4_000 + b"*aa$", "/" + "ab" * 50_000),
    ],
)
def test_a_thousand_stars_and_a_path_of_100_kb_are_done_in_a_moment(pattern: bytes, path: str) -> None:
    rules = RobotsTxt.parse(b"User-agent: *\nDisallow: " + pattern + b"\n")
    answers: list[bool] = []
    assert seconds(lambda: answers.append(rules.allows("x", SITE + path))) < 1
    assert answers == [True]


def test_a_thousand_stars_find_what_they_describe() -> None:
    assert not allows(b"User-agent: *\nDisallow: /" + STARS + b"*b$", "/" + "xa" * 1_000 + "xb")


@pytest.mark.parametrize(
    "line", ["Disallow: /p{}/x", "Disallow: /*-p{}-x", "Disallow: /p{}/*x", "Disallow: /p{}/x$"], ids=str
)
def test_ten_thousand_rules_and_a_thousand_urls_are_done_in_two_seconds(line: str) -> None:
    body = for_all(*(line.format(n) for n in range(10_000))).encode()
    urls = [SITE + f"/p{n}/x" for n in range(9_500, 10_500)] + [SITE + "/page-p9999-x"]
    answers: list[bool] = []

    def ask() -> None:
        rules = RobotsTxt.parse(body)
        answers.extend(rules.allows("x", url) for url in urls)

    assert seconds(ask) < 2
    assert answers.count(False) == (1 if "*-" in line else 500)


HOSTILE = {
    "nothing but zeros": b"\0" * 5_000_000,
    "one line of 5 MB": b"User-agent: *\nDisallow: /" + b"a" * 5_000_000,
    "lone carriage returns": b"\r" * 5_000_000,
    "nothing but colons": b":" * 5_000_000,
    "nothing but short lines": b"a:\n" * 1_000_000,
    "nothing but agents": b"User-agent: *\n" * 100_000,
    "nothing but rules": b"User-agent: *\n" + b"Allow: /a\n" * 100_000,
    "ever longer prefixes": b"User-agent: *\n" + b"".join(b"Disallow: /%b\n" % (b"a" * n) for n in range(1_000)),
    "ever longer prefixes with stars": b"User-agent: *\n"
    + b"".join(b"Disallow: /%b*b\n" % (b"a" * n) for n in range(1_000)),
    "a mark and half a character": b"\xff\xfe\x00",
    "blanks": b"User-agent: *\nDisallow" + b" " * 5_000_000,
    "escapes": b"User-agent: *\nDisallow: /" + b"%62" * 1_000_000,
    "random": random.Random(5).randbytes(1_000_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_no_bytes_raise_or_take_a_second(name: str) -> None:
    def work() -> None:
        rules = RobotsTxt.parse(HOSTILE[name])
        for path in ("/", "/" + "a" * 2_000, "/%62\udc80ü%"):
            assert rules.allows("Gossamer", SITE + path) is rules.explain("Gossamer", SITE + path).allowed
        rules.crawl_delay("Gossamer")
        rules.request_rate("Gossamer")

    assert seconds(work) < 1


def test_a_parsed_file_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ALLOW_ALL.source = b"User-agent: *\nDisallow: /"  # type: ignore[misc]


# Properties

PATTERN = st.text("/ab*$?", max_size=8)
PATH = st.text("/ab*$?", max_size=12).map(lambda text: "/" + text)
RULES = st.lists(
    st.tuples(st.sampled_from(["Allow", "Disallow"]), st.one_of(PATTERN, PATTERN.map(lambda p: "/" + p))),
    max_size=12,
)


def matches(pattern: str, path: str) -> bool:
    """By brute force: every place of the path that each beginning of the pattern can reach."""
    places = {0}
    for n, sign in enumerate(pattern):
        if sign == "$" and n == len(pattern) - 1:
            return len(path) in places
        if sign == "*":
            places = set(range(min(places), len(path) + 1))
        else:
            places = {place + 1 for place in places if path[place : place + 1] == sign}
        if not places:
            return False
    return True


def decide(rules: list[tuple[str, str]], path: str) -> bool:
    longest = {
        side: max((len(pattern) for name, pattern in rules if name == side and matches(pattern, path)), default=0)
        for side in ("Allow", "Disallow")
    }
    return longest["Allow"] >= longest["Disallow"]


@settings(max_examples=1_500)
@given(RULES, st.lists(PATH, min_size=1, max_size=8))
def test_compiled_rules_decide_as_brute_force_does(rules: list[tuple[str, str]], paths: list[str]) -> None:
    robots = RobotsTxt.parse(for_all(*(f"{name}: {pattern}" for name, pattern in rules)).encode())
    assert [robots.allows("x", SITE + path) for path in paths] == [decide(rules, path) for path in paths]


@settings(max_examples=300)
@given(RULES, PATH)
def test_the_line_named_is_a_rule_that_matches_and_is_of_the_side_that_won(
    rules: list[tuple[str, str]], path: str
) -> None:
    robots = RobotsTxt.parse(for_all(*(f"{name}: {pattern}" for name, pattern in rules)).encode())
    verdict = robots.explain("x", SITE + path)
    assert verdict.allowed is robots.allows("x", SITE + path)
    if verdict.line is None:
        assert not any(pattern and matches(pattern, path) for _, pattern in rules)
    else:
        name, pattern = rules[verdict.line - 2]
        assert verdict.text == f"{name}: {pattern}".strip()
        assert name == ("Allow" if verdict.allowed else "Disallow")
        assert matches(pattern, path)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.sampled_from(["*", "x", "y"]), RULES), max_size=6),
    PATH,
    st.randoms(use_true_random=False),
)
def test_the_order_of_groups_and_of_rules_changes_no_decision(
    groups: list[tuple[str, list[tuple[str, str]]]], path: str, rng: random.Random
) -> None:
    def body() -> bytes:
        # A rule that never matches ends each group, so that an empty one does not run into the next.
        return "".join(
            f"User-agent: {agent}\n" + "".join(f"{name}: {pattern}\n" for name, pattern in rules) + "Allow:\n"
            for agent, rules in groups
        ).encode()

    before = [RobotsTxt.parse(body()).allows(agent, SITE + path) for agent in "xyz"]
    rng.shuffle(groups)
    for _, rules in groups:
        rng.shuffle(rules)
    assert [RobotsTxt.parse(body()).allows(agent, SITE + path) for agent in "xyz"] == before


@settings(max_examples=300)
@given(RULES, PATH, st.data())
def test_a_path_of_disallow_rules_may_be_spelt_with_escapes(
    rules: list[tuple[str, str]], path: str, data: st.DataObject
) -> None:
    robots = RobotsTxt.parse(for_all(*(f"Disallow: {pattern}" for _, pattern in rules)).encode())
    spelt = "".join(f"%{ord(sign):02x}" if sign in "ab*$" and data.draw(st.booleans()) else sign for sign in path)
    assert robots.allows("x", SITE + spelt) is robots.allows("x", SITE + path)


LINES = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.tuples(
            st.sampled_from([b"User-agent", b"Disallow", b"Allow", b"Sitemap", b"Crawl-delay", b"Request-rate"]),
            st.sampled_from([b":", b" ", b" : "]),
            st.one_of(st.binary(max_size=20), st.sampled_from([b"*", b"x", b"/", b"/*", b"%", b"1/5", b"5"])),
        ).map(b"".join),
    ),
    max_size=20,
).map(b"\n".join)


@settings(max_examples=500)
@given(st.one_of(st.binary(max_size=300), LINES), st.text(max_size=20), st.text(max_size=30), st.data())
def test_no_bytes_however_cut_and_no_question_raises(body: bytes, agent: str, url: str, data: st.DataObject) -> None:
    for text in (body, body[: data.draw(st.integers(0, len(body)))], b"\xff\xfe" + body, b"\xfe\xff" + body):
        rules = RobotsTxt.parse(text)
        for asked in (url, SITE + "/" + url):
            assert rules.allows(agent, asked) is rules.explain(agent, asked).allowed
        delay, rate = rules.crawl_delay(agent), rules.request_rate(agent)
        assert delay is None or delay >= 0
        assert rate is None or rate.delay > 0
        assert all(rules.sitemaps)
