"""Which URLs belong to a crawl."""

import pytest

from gossamer.errors import ConfigError
from gossamer.scope import Reach, Scope

SEEDS = ["https://www.example.co.uk/docs/intro?x=/y/"]
URLS = {
    "https://www.example.co.uk/docs/intro?x=/y/": "seed",
    "https://www.example.co.uk/docs/more": "prefix",
    "https://www.example.co.uk/blog/": "host",
    "http://blog.example.co.uk/": "domain",
    "https://other.co.uk/": "any",
}
REACHED = {
    Reach.PREFIX: {"seed", "prefix"},
    Reach.HOST: {"seed", "prefix", "host"},
    Reach.DOMAIN: {"seed", "prefix", "host", "domain"},
    Reach.ANY: {"seed", "prefix", "host", "domain", "any"},
}


@pytest.mark.parametrize("reach", list(Reach))
def test_each_reach_holds_what_it_says(reach: Reach) -> None:
    scope = Scope(SEEDS, reach)
    assert {kind for url, kind in URLS.items() if scope.holds(url)} == REACHED[reach]
    for url in URLS:
        assert (scope.refusal(url) is None) == scope.holds(url)


def test_patterns_narrow_the_scope_but_never_lose_a_seed() -> None:
    scope = Scope(SEEDS, Reach.DOMAIN, include=[r"/docs/", r"/blog/"], exclude=[r"\.pdf$", "intro"])
    assert scope.holds(SEEDS[0])
    assert scope.holds("https://example.co.uk/blog/1")
    assert scope.refusal("https://example.co.uk/shop/") == "None of the include patterns is found in it."
    assert scope.refusal("https://example.co.uk/docs/a.pdf") == r"The exclude pattern '\\.pdf$' is found in it."


def test_a_host_without_a_registrable_domain_is_its_own_site() -> None:
    scope = Scope(["http://127.0.0.1:8000/"])
    assert scope.holds("http://127.0.0.1:9000/x")
    assert not scope.holds("http://127.0.0.2:8000/")
    assert "127.0.0.1" in (scope.refusal("http://127.0.0.2/") or "")


def test_a_pattern_that_is_none_is_named() -> None:
    with pytest.raises(ConfigError, match=r"--include '\(' is not a regular expression"):
        Scope(SEEDS, include=["("])
