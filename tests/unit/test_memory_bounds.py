"""What a worker remembers to save itself work is bounded, whatever a host sends."""

import sys

import msgspec
import pytest

from gossamer.frontier import Kind, Lease
from gossamer.parse import Link, Page
from gossamer.scope import Reach, Scope
from gossamer.settings import Settings
from gossamer.url import DEFAULT, LinkMemory, Resolver
from gossamer.worker import _links
from gossamer.worker._links import Follower

HOME = "https://example.com/"
LEASE = Lease(1, HOME, Kind.PAGE, 0, 0, 1, 0.0)


def remembered(memory: LinkMemory) -> int:
    """Characters that it holds."""
    directories = memory._directories
    return sum(
        len(directory) + sum(len(href) + len(url or "") for href, url in links.items())
        for directory, links in directories.items()
    )


def test_long_links_count_for_more_in_the_memory_of_links() -> None:
    memory = LinkMemory(DEFAULT, most=1_000)
    for number in range(500):
        Resolver(f"{HOME}page", memory).resolve(f"/{number}/" + "x" * 10_000)
        assert remembered(memory) < 1_000 * 3 * 256


def test_directories_without_links_are_forgotten_too() -> None:
    memory = LinkMemory(DEFAULT, most=1_000)
    for number in range(5_000):
        Resolver(f"{HOME}{number}/", memory)
        assert len(memory._directories) <= 1_002


def page(urls: list[str]) -> Page:
    return Page(url=HOME, links=tuple(Link(url, "a") for url in urls))


def follower(reach: Reach, **changes: object) -> Follower:
    return Follower(msgspec.convert(changes, Settings), Scope((HOME,), reach))


def test_links_out_of_scope_are_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    follow = follower(Reach.HOST)
    monkeypatch.setattr(_links, "REMEMBERED", 1_000)
    for block in range(50):
        assert follow.of_page(page([f"https://other.example/{block}/{n}" for n in range(100)]), LEASE) == []
        assert len(follow._reported) <= 1_000


def test_what_a_long_link_leaves_behind_is_short() -> None:
    follow = follower(Reach.ANY)
    urls = [f"https://other.example/{n}?" + "x" * 1_500 for n in range(100)]
    assert len(follow.of_page(page(urls), LEASE)) == 100
    assert follow.of_page(page(urls), LEASE) == []
    assert sum(map(sys.getsizeof, follow._reported)) < 100 * 64


def test_a_link_is_reported_again_only_from_a_smaller_depth() -> None:
    follow = follower(Reach.ANY)
    deep = msgspec.structs.replace(LEASE, depth=5)
    assert [link.depth for link in follow.of_page(page([HOME + "a"]), deep)] == [6]
    assert follow.of_page(page([HOME + "a"]), deep) == []
    assert [link.depth for link in follow.of_page(page([HOME + "a"]), LEASE)] == [1]


def test_a_link_too_deep_is_reported_when_it_is_found_nearer() -> None:
    follow = follower(Reach.ANY, max_depth=2)
    deep = msgspec.structs.replace(LEASE, depth=2)
    assert follow.of_page(page([HOME + "a"]), deep) == []
    assert [link.depth for link in follow.of_page(page([HOME + "a"]), LEASE)] == [1]
