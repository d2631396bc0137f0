"""Traps are refused with their numbers; what real sites do passes; memory is bounded and earns its keep."""

import re
import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.traps import HostShape, Rule, TemplateCount, TrapRules, check, template_of

NOW = 1_700_000_000.0  # November 2023
SITE = "https://example.com"

urls = st.text(alphabet="abAB01239%25/?&=-_.:httpsw ", max_size=300).map(lambda tail: SITE + "/" + tail)
anything = st.text(max_size=400) | urls


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        (SITE + "/" + "x" * 2_048, Rule.TOO_LONG),
        (SITE + "".join(f"/{n}" for n in range(21)), Rule.TOO_DEEP),
        (SITE + "/a/a/a/a", Rule.REPEATED_SEGMENT),
        (SITE + "/en/shop/shop/shop/shop/item", Rule.REPEATED_SEGMENT),
        (SITE + "/a/1/a/2/a/3/a/4/a/5/a", Rule.REPEATED_SEGMENT),
        (SITE + "/x/////y", Rule.REPEATED_SEGMENT),
        (SITE + "/a/b/a/b/a/b", Rule.CYCLE),
        (SITE + "/start/a/b/c/a/b/c/a/b/c/end", Rule.CYCLE),
        (SITE + "/?" + "&".join(f"p{n}={n}" for n in range(33)), Rule.TOO_MANY_PARAMETERS),
        (SITE + "/?a=1&a=1&a=1", Rule.REPEATED_PARAMETER),
        (SITE + "/?" + "&".join(f"a={n}" for n in range(17)), Rule.REPEATED_PARAMETER),
        (SITE + "/go/http://a.com/go/http://a.com/go/https:/a.com/", Rule.NESTED_URLS),
        (
            SITE + "/in?to=https%3A//a.b/in%3Fto=https%253A//a.b/in%253Fto=https%25253A//a.b/",
            Rule.NESTED_URLS,
        ),
        (SITE + "/?q=%25252525", Rule.ENCODED_AGAIN),
        (SITE + "/a%25252520b", Rule.ENCODED_AGAIN),
    ],
)
def test_a_trap_is_refused_by_its_rule(url: str, rule: Rule) -> None:
    trap = check(url)
    assert trap is not None
    assert trap.rule is rule


@pytest.mark.parametrize(
    "url",
    [
        SITE,
        SITE + "/",
        SITE + "/" + "x" * (2_048 - len(SITE) - 1),
        SITE + "".join(f"/{n}" for n in range(20)) + "/",
        SITE + "/2010/10/10/10-reasons",
        SITE + "/10/10/10/",
        SITE + "/docs/api/v1/docs/api/v1/index.html",
        SITE + "/blog/blog/blog",
        SITE + "/a/a/a/b/b",
        SITE + "/a/b/a/b/c/d/c/d",
        "https://web.archive.org/web/20010101000000/http://example.com/a//b",
        SITE + "/shop?colour[]=red&colour[]=blue&colour[]=green&size=l&size=m&sort=price",
        SITE + "/login?next=%2Flogin%3Fnext%3D%252Fhome",
        SITE + "/signin?return_to=https://a.com/&identity=http://b.net/x&claimed_id=http://b.net/x&ns=http://c.org/",
        SITE + "/search?q=a&&&&b",
        "not a url",
        "",
        "http://",
    ],
)
def test_an_ordinary_url_passes(url: str) -> None:
    assert check(url) is None


def test_a_refusal_gives_the_numbers() -> None:
    reasons = [trap.reason for path in ("/a/a/a/a/a", "/a/b/a/b/a/b") if (trap := check(SITE + path))]
    assert reasons == [
        "A path segment comes 5 times in a row; at most 3 are followed.",
        "A group of 2 path segments comes 3 times in a row; at most 2 are followed.",
    ]


def test_limits_are_the_most_that_is_accepted_and_can_be_moved() -> None:
    assert check(SITE + "/a/a", TrapRules(segment_run=1)) is not None
    assert check(SITE + "/a/b/a/b", TrapRules(cycles=1)) is not None
    assert check(SITE + "/a/a/a/a", TrapRules(segment_run=4)) is None
    assert check(SITE + "/a/b", TrapRules(depth=1)) is not None
    assert check(SITE + "/?q=%2520", TrapRules(encodings=0)) is not None


@given(anything, st.builds(TrapRules, length=st.integers(16, 200), depth=st.integers(1, 5)))
def test_any_text_gets_an_answer_and_each_refusal_is_a_sentence_with_numbers(url: str, rules: TrapRules) -> None:
    trap = check(url, rules)
    if trap is not None:
        assert re.search(r"\d", trap.reason)
        assert trap.reason[0].isupper()
        assert trap.reason.endswith(" are followed.")


@given(
    st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
    st.integers(3, 6),
    st.lists(st.just("z"), max_size=2),
)
def test_any_group_of_segments_that_comes_three_times_is_refused(group: list[str], times: int, lead: list[str]) -> None:
    trap = check(SITE + "/" + "/".join(lead + group * times), TrapRules(segment_run=2, depth=100))
    assert trap is not None
    assert trap.rule in (Rule.CYCLE, Rule.REPEATED_SEGMENT)


@given(st.lists(st.text("abcdef", min_size=1, max_size=3), max_size=20, unique=True))
def test_a_path_of_different_segments_is_no_cycle(segments: list[str]) -> None:
    assert check(SITE + "/" + "/".join(segments)) is None


@pytest.mark.parametrize(
    "url",
    [
        SITE + "/" + "a" * 2_000,
        SITE + "/" + "a/" * 1_000,
        SITE + "/?" + "a=1&" * 500,
        SITE + "/" + "calend" * 330,
        SITE + "/" + "%25" * 660,
        SITE + "/" + "http:" * 400,
        SITE + "/" + "a1-" * 660,
        SITE + "/" + "-" * 2_000,
    ],
)
def test_no_shape_of_url_is_expensive(url: str) -> None:
    start = time.process_time()
    for _ in range(20):
        check(url, TrapRules(depth=1_000, segment_run=1_000, segment_total=1_000, cycles=1_000))
        HostShape().admit(url, NOW)
    assert (time.process_time() - start) / 20 < 0.005


@pytest.mark.parametrize(
    ("url", "template"),
    [
        ("https://example.com", "/"),
        ("/", "/"),
        (SITE + "/about", "/about"),
        (SITE + "/a/2024-05-12/b7?page=3", "/a/{date}/b{n}?page={n}"),
        (SITE + "/calendar/2024/05", "/calendar/{n}/{n}"),
        (SITE + "/cal?month=2024-05&view=week&empty=&flag", "/cal?month={date}&view={v}&empty=&flag"),
        (SITE + "/s/0f8fad5b-d9cb-469f-a165-70867728950e/x", "/s/{id}/x"),
        (SITE + "/s/deadbeef01/x", "/s/{id}/x"),
        (SITE + "/s/Zx81kQpL09mNb7Ty/x", "/s/{id}/x"),
        (SITE + "/questions/4711/how-do-i-leave-vim", "/questions/{n}/{slug}"),
        (SITE + "/wiki/%E3%81%82", "/wiki/%E3%81%82"),
        (SITE + "/file.php?t=2024-05-12T10:00:00Z", "/file.php?t={date}"),
    ],
)
def test_a_template_has_placeholders_for_what_varies(url: str, template: str) -> None:
    assert template_of(url) == template


@given(anything)
def test_templates_are_bounded(url: str) -> None:
    assert len(template_of(url)) <= 200
    assert HostShape().admit(url, NOW) is None


def test_a_template_runs_out_of_budget() -> None:
    shape, rules = HostShape(), TrapRules(template_urls=500)
    answers = [shape.admit(f"{SITE}/list?page={n}", NOW, rules) for n in range(501)]
    assert answers[:500] == [None] * 500
    trap = answers[500]
    assert trap is not None
    assert trap.rule is Rule.TEMPLATE_BUDGET
    assert trap.reason == (
        "The host has brought 500 URLs like /list?page={n} (0 new pages, 0 copies); at most 500 are followed."
    )
    assert shape.admit(f"{SITE}/other/7", NOW, rules) is None
    assert (shape.urls, shape.refused) == (501, 1)


def test_a_template_of_copies_loses_its_budget_and_one_of_new_pages_earns_more() -> None:
    copies, fresh, rules = HostShape(), HostShape(), TrapRules(template_urls=1_000)
    admitted = {"copies": 0, "fresh": 0}
    for n in range(3_000):
        url = f"{SITE}/day/{n}"
        for name, shape in (("copies", copies), ("fresh", fresh)):
            if shape.admit(url, NOW, rules) is None:
                admitted[name] += 1
                shape.learned(template_of(url), duplicate=name == "copies")
    assert admitted == {"copies": 100, "fresh": 3_000}


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_a_copy_never_raises_a_budget_and_a_new_page_never_lowers_it(fresh: int, copies: int) -> None:
    rules = TrapRules()
    budget = TemplateCount(0, 0, fresh, copies).budget(100_000, rules)
    assert TemplateCount(0, 0, fresh, copies + 1).budget(100_000, rules) <= budget
    assert TemplateCount(0, 0, fresh + 1, copies).budget(100_000, rules) >= budget >= rules.least_urls


@pytest.mark.parametrize(
    "form",
    [
        "/calendar/{y}/{m:02}",
        "/events/list/{y}/{m}/",
        "/diary/{y}/{m:02}/15",
        "/cal?date={y}-{m:02}-15",
        "/cal?month={y}-{m:02}",
        "/cal?date={y}{m:02}15",
        "/cal?year={y}&month={m}",
        "/events/{y}-{m:02}",
        "/events-of-{y}-{m:02}-01.html",
    ],
)
def test_a_calendar_that_leaves_its_time_is_stopped_and_one_that_keeps_to_it_is_not(form: str) -> None:
    shape, rules = HostShape(), TrapRules(odd_dates=50)
    for year in range(1990, 2026):
        for month in range(1, 13):
            assert shape.admit(SITE + form.format(y=year, m=month), NOW, rules) is None
    answers = [shape.admit(SITE + form.format(y=2026 + n // 12, m=1 + n % 12), NOW, rules) for n in range(60)]
    assert [trap.rule for trap in answers if trap] == [Rule.CALENDAR] * 10
    assert shape.admit(SITE + form.format(y=1789, m=7), NOW, rules) is not None
    assert shape.admit(SITE + form.format(y=2024, m=1), NOW, rules) is None


def test_an_archive_of_old_newspapers_earns_its_dates() -> None:
    shape, rules = HostShape(), TrapRules(odd_dates=50)
    for n in range(1_000):
        url = f"{SITE}/paper/{1830 + n // 336}-{1 + n // 28 % 12:02}-{1 + n % 28:02}/"
        assert shape.admit(url, NOW, rules) is None
        shape.learned(template_of(url), duplicate=False)


@pytest.mark.parametrize(
    "url", ["/thread/1234/12", "/816-6408-10/", "/bitstream/10603/9835/10/10_chapter.pdf", "/9876"]
)
def test_numbers_that_are_no_dates_are_not_taken_for_odd_ones(url: str) -> None:
    shape = HostShape()
    shape.admit(SITE + url, NOW)
    assert [count.odd for count in shape.templates.values()] == [0]


def test_a_host_runs_out_of_budget() -> None:
    shape, rules = HostShape(), TrapRules(host_urls=3)
    answers = [shape.admit(f"{SITE}/{word}", NOW, rules) for word in ("a", "b", "c", "d")]
    assert answers[:3] == [None] * 3
    assert answers[3] is not None
    assert answers[3].rule is Rule.HOST_BUDGET


def test_memory_is_bounded_and_keeps_the_templates_seen_most() -> None:
    shape, rules = HostShape(), TrapRules(template_table=16)
    for n in range(2_000):
        shape.admit(f"{SITE}/word{'x' * (n % 190)}/{n}", NOW, rules)
        shape.admit(f"{SITE}/runaway/{n}", NOW, rules)
    assert len(shape.templates) <= 16
    assert shape.templates["/runaway/{n}"].seen == 2_000


def test_urls_in_which_nothing_varies_take_no_room() -> None:
    shape = HostShape()
    for word in ("about", "contact", "a-slug-of-five-words", "Main_Page"):
        shape.admit(f"{SITE}/{word}", NOW)
    shape.learned("/about", duplicate=True)
    assert shape == HostShape(urls=4)


def test_what_a_host_looked_like_survives_being_written_down() -> None:
    shape = HostShape()
    for n in range(200):
        shape.admit(f"{SITE}/day/{n}?view={n}", NOW)
        shape.learned("/day/{n}?view={n}", duplicate=n % 2 == 0)
    packed = msgspec.msgpack.encode(shape)
    assert msgspec.msgpack.decode(packed, type=HostShape) == shape
    assert len(packed) < 100


def test_two_hosts_share_nothing() -> None:
    one, other = HostShape(), HostShape()
    one.admit(f"{SITE}/7", NOW)
    assert other.templates == {}
