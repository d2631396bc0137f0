"""What pages turned out to be decides which URLs of a host are still asked for; real sites of any size go on for ever."""

import random
import time
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.traps import HostShape, PageRead, Rule, TrapRules, groups_of

SITE = "https://example.com"
RULES = TrapRules()
dice = random.Random(7)


def text() -> int:
    """The likeness of a text that nobody else has."""
    return dice.getrandbits(64)


def near(likeness: int, bits: int) -> int:
    """That of a text most of which is the same."""
    for bit in dice.sample(range(64), bits):
        likeness ^= 1 << bit
    return likeness


@pytest.mark.parametrize(
    ("path", "group"),
    [
        ("/", "/"),
        ("/about", "/*"),
        ("/shop/blue-chair", "/shop/*"),
        ("/product/4711-blue-chair", "/product/*"),
        ("/thread/4711", "/thread/{n}"),
        ("/whats-on/2031/05", "/whats-on/{n}/{n}"),
        ("/whats-on/2031/05/17", "/whats-on/{n}/{n}/**"),
        ("/events/2031-05-17", "/events/{date}"),
        ("/maze/calm-harbour/grey-elm", "/maze/*/*"),
        ("/en/products/chair", "/en/products/*"),
        ("/s/8f3ba9c04711aa00/news/x", "/s/{id}/**"),
        ("/s/8f3ba9c04711aa00/", "/s/{id}/**"),
        ("/visit-8f3ba9c04711aa00/news/x/y", "/visit-{id}/**"),
        ("/(8f3ba9c04711aa00)/a", "/{id}/**"),
        ("/a/b/c/d/e/f", "/a/b/c/**"),
    ],
)
def test_urls_are_judged_in_groups(path: str, group: str) -> None:
    assert groups_of(SITE + path) == (group, ())


def test_each_parameter_is_judged_by_itself() -> None:
    assert groups_of(f"{SITE}/shop?sort=price&page=2&colour=red") == ("/shop", ("colour", "page", "sort"))
    assert groups_of(f"{SITE}/viewtopic.php?t=5") == ("/viewtopic.php", ("t",))


@given(st.text(max_size=300).map(lambda tail: f"{SITE}/{tail}") | st.text(max_size=100))
def test_any_url_has_a_group_and_any_page_is_taken_in(url: str) -> None:
    path, names = groups_of(url)
    assert len(path) < 200
    assert len(names) <= 8
    shape = HostShape()
    shape.read(PageRead(url, via=url, copy_of=url + "x", likeness=1), RULES)
    shape.read(PageRead(url, via=None, likeness=1, parent=2), RULES)
    assert shape.lost(url) is None


def feed(shape: HostShape, pages: list[PageRead], rules: TrapRules = RULES) -> int:
    """Pages come in, as far as the host's shape lets them; how many were fetched."""
    fetched = 0
    for page in pages:
        if shape.refuse(page.url, rules) is None:
            shape.read(page, rules)
            fetched += 1
    return fetched


def test_a_calendar_of_empty_months_is_given_up_and_says_why() -> None:
    shape, empty = HostShape(), text()
    months = [PageRead(f"{SITE}/cal/{2000 + n // 12}/{n % 12 + 1:02}", likeness=near(empty, 4)) for n in range(1200)]
    assert feed(shape, months) < 12
    trap = shape.lost(f"{SITE}/cal/2150/01")
    assert trap is not None
    assert trap.rule is Rule.COPIES
    group = shape.groups["/cal/{n}/{n}"]
    assert trap.reason == (
        f"Of {group.read} pages like /cal/{{n}}/{{n}}, {group.alike} were copies of others or nearly so, the last ones above all; "
        "only samples are followed."
    )
    assert shape.lost(f"{SITE}/calm/2150/01") is None, "nothing is said of other pages"
    before = msgspec.msgpack.encode(shape)
    shape.lost(f"{SITE}/cal/2150/02")
    assert msgspec.msgpack.encode(shape) == before, "asking changes nothing"


def test_months_with_events_are_read_before_the_empty_ones_are_given_up() -> None:
    shape, empty = HostShape(), text()
    busy = [PageRead(f"{SITE}/cal/2024/{n:02}", likeness=text()) for n in range(1, 61)]
    quiet = [PageRead(f"{SITE}/cal/2031/{n:02}", likeness=near(empty, 3)) for n in range(1, 1000)]
    assert feed(shape, busy) == 60
    assert feed(shape, quiet) < 40


def test_a_million_real_pages_of_one_template_are_all_fetched() -> None:
    shape, rules = HostShape(), TrapRules(host_urls=2_000_000)
    likeness = random.Random(3).getrandbits
    start = time.process_time()
    for n in range(1_000_000):
        url = f"{SITE}/thread/{n}"
        # Every tenth is a copy: threads that were moved, or asked twice.
        if n % 10 == 9:
            page = PageRead(url, via=f"{SITE}/board?page={n // 20}", copy_of=f"{SITE}/moved/{n - 1}")
        else:
            page = PageRead(url, via=f"{SITE}/thread/{n - 1}", likeness=likeness(64), kin=4, known=2)
        assert shape.refuse(url, rules) is None
        shape.read(page, rules)
    spent = time.process_time() - start
    assert shape.groups["/thread/{n}"].fresh == 900_000
    assert len(msgspec.msgpack.encode(shape)) < 4_000
    assert spent < 200, "microseconds a page, on a machine that is also doing other things"


def test_urls_of_one_template_are_admitted_past_its_first_budget_while_their_pages_are_new() -> None:
    shape = HostShape()
    for n in range(3 * RULES.template_urls):
        url = f"{SITE}/item/{n}"
        assert shape.admit(url, 1.7e9) is None
        if n % 5 == 0:
            shape.learned("/item/{n}", duplicate=False)


def test_pages_that_are_numbers_of_one_listing_are_real() -> None:
    shape = HostShape()
    listing = [
        PageRead(f"{SITE}/shop?cat=oak&page={n}", via=f"{SITE}/shop?cat=oak&page={n - 1}", likeness=text(), parent=text(), outward=10)
        for n in range(2, 3_000)
    ]  # fmt: skip
    assert feed(shape, listing) == len(listing)


def test_topics_under_one_script_are_real_even_if_they_lead_nowhere() -> None:
    shape = HostShape()
    topics = [
        PageRead(f"{SITE}/viewtopic.php?t={n}", via=f"{SITE}/viewtopic.php?t={n - 1}", likeness=text(), parent=text())
        for n in range(3_000)
    ]
    assert feed(shape, topics) == len(topics)


def test_a_parameter_that_changes_nothing_is_noise_on_every_path_and_urls_are_asked_for_without_it() -> None:
    shape = HostShape()
    for n in range(8):
        url = f"{SITE}/{'abcdefgh'[n]}/page-{n}.html"
        shape.read(PageRead(f"{url}?tok=1", likeness=text()), RULES)
        shape.read(PageRead(f"{url}?tok=2", copy_of=f"{url}?tok=1"), RULES)
    url = f"{SITE}/never/seen?id=7&tok=99"
    trap = shape.lost(url)
    assert trap is not None
    assert (trap.rule, "'tok'" in trap.reason, "8 of 8" in trap.reason) == (Rule.NOISE, True, True)
    assert shape.stripped(url) == f"{SITE}/never/seen?id=7"
    assert shape.stripped(f"{SITE}/never/seen?id=7") is None
    assert shape.lost(f"{SITE}/never/seen?id=7") is None


def test_a_plain_page_is_not_blamed_for_its_copy_with_a_session() -> None:
    shape = HostShape()
    for n in range(50):
        plain = f"{SITE}/news/page-{n}"
        shape.read(PageRead(f"{plain}?tok={n}", likeness=text()), RULES)
        shape.read(PageRead(plain, copy_of=f"{plain}?tok={n}"), RULES)
    assert shape.lost(f"{SITE}/news/other") is None
    assert shape.stripped(f"{SITE}/news/other?tok=3") == f"{SITE}/news/other"


def test_filters_of_a_listing_are_noise_and_its_pages_are_not() -> None:
    shape = HostShape()
    for n in range(2, 30):
        base = f"{SITE}/shop?page={n}"
        listed, before = text(), text()
        shape.read(PageRead(base, via=f"{SITE}/shop?page={n - 1}", likeness=listed, parent=before, outward=10), RULES)
        shape.read(
            PageRead(f"{SITE}/shop?colour=red&page={n}", via=base, likeness=near(listed, 16), parent=listed), RULES
        )
    assert shape.stripped(f"{SITE}/shop?colour=blue&page=77") == f"{SITE}/shop?page=77"
    assert shape.lost(f"{SITE}/shop?page=77") is None


def test_printed_forms_are_given_up_and_the_threads_are_not() -> None:
    shape = HostShape()
    for n in range(60):
        thread, said = f"{SITE}/thread/{n}", text()
        shape.read(PageRead(thread, via=f"{SITE}/board", likeness=said), RULES)
        shape.read(PageRead(f"{SITE}/print/{n}", via=thread, likeness=near(said, 6), parent=said), RULES)
    assert shape.lost(f"{SITE}/print/99") is not None
    assert shape.lost(f"{SITE}/thread/99") is None


def test_a_maze_is_given_up_and_a_wiki_is_not() -> None:
    maze, wiki = HostShape(), HostShape()
    lost = [
        PageRead(f"{SITE}/lore/grey-elm/page-{n}", via=f"{SITE}/lore/grey-elm/page-{n // 8}", likeness=text(), kin=9, known=1)
        for n in range(2_000)
    ]  # fmt: skip
    known = [
        PageRead(f"{SITE}/wiki/Page_{n}", via=f"{SITE}/wiki/Page_{n // 8}", likeness=text(), kin=40, known=12)
        for n in range(2_000)
    ]
    assert feed(maze, lost) < 40
    trap = maze.lost(f"{SITE}/lore/grey-elm/page-9999")
    assert trap is not None
    assert trap.rule is Rule.MAZE
    assert feed(wiki, known) == 2_000


def test_near_copies_that_lead_on_are_given_more_time() -> None:
    leading, idle = HostShape(), HostShape()
    same = text()
    pages = [PageRead(f"{SITE}/edition/{n}", likeness=near(same, 2)) for n in range(100)]
    assert feed(idle, pages) * 2 < feed(leading, [msgspec.structs.replace(page, outward=1) for page in pages]) < 60


def test_samples_come_at_longer_and_longer_distances_and_one_that_is_new_opens_the_door() -> None:
    shape, same, rules = HostShape(), text(), TrapRules(sample=10)
    dull = [PageRead(f"{SITE}/day/{n}", likeness=near(same, 2)) for n in range(3_000)]
    last = [n for n, page in enumerate(dull) if feed(shape, [page], rules)]
    gaps = [after - before for before, after in pairwise(last) if after - before > 1]
    assert gaps == [10, 30, 120, 480, 1920]
    bright = [PageRead(f"{SITE}/day/{n}", likeness=text()) for n in range(5_000, 20_000)]
    assert feed(shape, bright, rules) > 2_000


def test_copies_of_another_host_are_no_trap_of_this_one() -> None:
    shape = HostShape()
    pages = [PageRead(f"{SITE}/page/{n}", copy_of=f"https://mirror.example/page/{n}") for n in range(100)]
    assert feed(shape, pages) == 100


def test_without_near_copies_exact_ones_are_enough() -> None:
    shape = HostShape()
    pages = [PageRead(f"{SITE}/x/{n}", copy_of=f"{SITE}/x/0") for n in range(1, 100)]
    assert feed(shape, pages) < 10
    blind = [PageRead(f"{SITE}/y/{n}") for n in range(100)]
    assert feed(shape, blind) == 100, "a page without a text is nobody's copy"


def test_what_was_learned_survives_being_written_down() -> None:
    shape, same = HostShape(), text()
    feed(shape, [PageRead(f"{SITE}/day/{n}", likeness=near(same, 2)) for n in range(500)])
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(shape), type=HostShape)
    assert again == shape
    assert again.lost(f"{SITE}/day/9999") == shape.lost(f"{SITE}/day/9999") is not None


def test_a_shape_of_before_groups_is_read() -> None:
    old = msgspec.msgpack.encode({"urls": 3, "refused": 1, "templates": {"/a/{n}": [3, 0, 1, 0]}})
    assert msgspec.msgpack.decode(old, type=HostShape).groups == {}


def test_memory_of_a_host_is_bounded_whatever_it_sends() -> None:
    shape = HostShape()
    for n in range(20_000):
        url = f"{SITE}/{'abcdefghij'[n % 10] * (n % 24 + 1)}/x{n}?p{n % 300}=1&q{n % 77}={'v' * 300}"
        shape.read(PageRead(url, via=url, likeness=text(), copy_of=f"{url}2" if n % 3 else None), RULES)
    assert len(shape.groups) <= RULES.group_table
    assert len(msgspec.msgpack.encode(shape)) < 64_000


def test_equal_pages_in_equal_order_give_equal_verdicts() -> None:
    pages = [PageRead(f"{SITE}/{'ab'[n % 2]}/{n}?s={n % 5}", likeness=text() if n % 3 else 5) for n in range(500)]
    one, other = HostShape(), HostShape()
    assert feed(one, pages) == feed(other, pages)
    assert one == other
