"""Google's own robots.txt cases, and the files that crawler-commons keeps, with what each must give written by hand."""

from typing import Any

import pytest

from gossamer.robots import RequestRate, RobotsTxt
from gossamer.robots._lines import product_token
from gossamer.robots._paths import escape_allow, path_of
from tests.conformance.suites import load_json, suite

CASES: list[dict[str, Any]] = load_json("google-robotstxt/cases.json")
HELPERS: dict[str, list[list[Any]]] = load_json("google-robotstxt/helpers.json")
FILES = suite("crawler-commons/robots")


def read(name: str) -> RobotsTxt:
    return RobotsTxt.parse((FILES / name).read_bytes())


def test_the_suite_holds_72_cases_of_the_rfc_and_73_of_google() -> None:
    assert sorted(case["google_specific"] for case in CASES) == [False] * 72 + [True] * 73


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case['test']}" for n, case in enumerate(CASES)])
def test_google_and_gossamer_decide_alike(case: dict[str, Any]) -> None:
    # No case is left out: there is no miss to name.
    rules = RobotsTxt.parse(case["robotstxt"].encode("latin-1"))
    assert rules.allows(case["user_agent"], case["url"]) is case["allowed"]
    assert rules.explain(case["user_agent"], case["url"]).allowed is case["allowed"]


@pytest.mark.parametrize(("url", "path"), HELPERS["path_params_query"])
def test_the_path_of_a_url_is_found_as_google_finds_it(url: str, path: str) -> None:
    assert path_of(url) == path


@pytest.mark.parametrize(("pattern", "escaped"), HELPERS["escape_pattern"])
def test_a_pattern_is_escaped_as_google_escapes_it(pattern: str, escaped: str) -> None:
    assert escape_allow(pattern.encode()) == escaped


@pytest.mark.parametrize(("agent", "valid"), HELPERS["valid_user_agent"])
def test_google_and_gossamer_agree_on_what_is_a_product_token(agent: str, valid: bool) -> None:
    # A valid token is one that is nothing but its token.
    assert (bool(agent) and product_token(agent) == agent.lower()) is valid


# file, agent, paths that are allowed, paths that are not
DECISIONS: list[tuple[str, str, list[str], list[str]]] = [
    ("astore.amazon.com-robots.txt", "gossamer", ["/", "/any"], []),
    ("crawl-delay-group-merging.txt", "mybot", ["/", "/login/"], ["/private/a"]),
    ("crawl-delay-group-merging.txt", "yourbot", ["/"], ["/private/a", "/login/a"]),
    ("crawl-delay-group-merging.txt", "otherbot", ["/", "/private/a", "/login/a"], []),
    ("directive-typos-robots.txt", "bot1", ["/", "/useragent/"], ["/desallow/a", "/dissalow/a"]),
    ("directive-typos-robots.txt", "bot2", ["/", "/desallow/"], ["/useragent/a"]),
    ("directive-typos-robots.txt", "bot3", ["/", "/useragent/"], ["/useg-agent/a"]),
    ("directive-typos-robots.txt", "bot4", ["/", "/useg-agent/"], ["/useragent-no-colon/a"]),
    ("dos-line-endings.txt", "gossamer", ["/"], []),
    ("extended-standard-robots.txt", "bot1", ["/"], []),
    ("extension-robots.txt", "gossamer", ["/", "/private/", "/secret/"], []),
    ("extension-robots.txt", "mybot", ["/", "/secret/"], ["/private/"]),
    ("extension-robots.txt", "otherbot", ["/", "/private/"], ["/admin/"]),
    ("extensions-group-merging.txt", "gossamer", ["/llms.txt"], ["/", "/private/"]),
    # Clean-Param ends no run of User-agent lines, so the last rule is for mybot too.
    ("extensions-group-merging.txt", "mybot", ["/"], ["/private/", "/login/"]),
    ("extensions-group-merging.txt", "yourbot", ["/"], ["/private/", "/login/"]),
    ("format-errors-robots.txt", "bot1", ["/"], ["/whitespace-before-colon/", "/no-colon/"]),
    ("format-errors-robots.txt", "bot2", ["/", "/no-colon/"], ["/no-colon-useragent/"]),
    ("format-errors-robots.txt", "bot3", ["/whitespace-before-colon"], ["/", "/a"]),
    (
        "malformed-path.txt",
        "gossamer",
        ["/wiki/Main", "/wiki/Wikipedia_talk%3AMediation_Committee/"],
        ["/wiki/Wikipedia_talk:Mediation_Committee/", "/wiki/Wikipedia_talk%3Mediation_Committee/"],
    ),
    ("many-user-agents.txt", "Alexibot", ["/robots.txt"], ["/", "/faq"]),
    ("many-user-agents.txt", "OutfoxBot", [], ["/"]),
    ("many-user-agents.txt", "FlashGet/1.9", [], ["/"]),
    ("many-user-agents.txt", "wget", [], ["/"]),
    (
        "many-user-agents.txt",
        "gossamer",
        ["/", "/faq", "/lang/"],
        ["/translate/", "/home.php", "/bot-trap/x", "/g/1"],
    ),
    ("merge-rules.txt", "testy", [], ["/", "/foo/bar"]),
    ("merge-rules.txt", "wget", ["/foo/bar", "/", "/ckh/bar"], ["/tmp/bar"]),
    ("merge-rules.txt", "gossamer", ["/", "/ckh/bar"], ["/foo/bar", "/tmp/bar"]),
    ("precedence-of-rules.txt", "testy", ["/", "/foo/bar", "/foo/bar/b"], ["/foo", "/foo/b", "/foo/bz"]),
    ("precedence-of-rules.txt", "wget", ["/foo", "/foo/b", "/index.html", "/"], ["/fo", "/bar"]),
    (
        "relative-sitemap-robots.txt",
        "gossamer",
        ["/", "/sitemap.xml"],
        ["/cache/", "/cp/x", "/docs/", "/files/a"],
    ),
    (
        "rfc9309-example-longest-match-robots.txt",
        "foobot",
        ["/example/page/", "/example/page/allowed.gif"],
        ["/example/page/disallowed.gif"],
    ),
    ("rfc9309-example-rule-group-merging.txt", "ExampleBot", ["/", "/qux"], ["/foo", "/bar", "/baz"]),
    ("rfc9309-example-rule-group-merging.txt", "BazBot", ["/foo", "/bar"], ["/baz"]),
    ("rfc9309-example-rule-group-merging.txt", "otherbot", ["/baz"], ["/foo", "/bar"]),
    (
        "rfc9309-example-simple-robots.txt",
        "gossamer",
        ["/", "/publications/", "/a.gif?x"],
        ["/a.gif", "/example/"],
    ),
    (
        "rfc9309-example-simple-robots.txt",
        "foobot",
        ["/example/page.html", "/example/allowed.gif"],
        ["/", "/publications/", "/example/"],
    ),
    ("rfc9309-example-simple-robots.txt", "barbot", ["/", "/a.gif"], ["/example/page.html"]),
    ("rfc9309-example-simple-robots.txt", "bazbot", ["/", "/a.gif"], ["/example/page.html"]),
    ("rfc9309-example-simple-robots.txt", "quxbot", ["/", "/a.gif", "/example/page.html"], []),
    *(
        (
            f"robots-with-{encoding}-bom.txt",
            agent,
            ["/", "/a"],
            ["/login.aspx", "/profile/x", "/b/output/print"],
        )
        for encoding in ("utf8", "utf16le", "utf16be")
        for agent in ("gossamer", "Googlebot")
    ),
    ("sitemap-robots.txt", "gossamer", ["/", "/dir/my-sitemap.xml"], []),
    ("twitter.com-robots.txt", "gossamer", ["/", "/user"], ["/user?page=1", "/?a", "/user/with_friends"]),
    (
        "wildcards.txt",
        "gossamer",
        [
            "/",
            "/wishlist/universal",
            "/wishlist/vendor-button/x",
            "/gp/wishlist/ipad-install",
            "/rss/people/1/reviews",
        ],
        [
            "/wishlist/a",
            "/gp/registry/wishlist/1/reserve",
            "/any/gcrnsts",
            "/gp/cart/view.html",
            "/gp/wishlist/a",
        ],
    ),
    (
        "wildcards.txt",
        "Googlebot",
        ["/", "/rss/people/"],
        ["/rss/people/1/reviews", "/a/sim/B001132UEE", "/gp/cart"],
    ),
    ("wildcards.txt", "EtaoSpider", ["/robots.txt"], ["/", "/wishlist/universal"]),
    (
        "www.flot.com-robots.txt",
        "gossamer",
        ["/", "/image/"],
        ["/bitrix/a", "/admin/", "/upload/1.jpg", "/img/"],
    ),
]


@pytest.mark.parametrize(("name", "agent", "allowed", "refused"), DECISIONS)
def test_a_real_file_allows_and_refuses_what_a_reader_of_it_would_expect(
    name: str, agent: str, allowed: list[str], refused: list[str]
) -> None:
    rules = read(name)
    paths = allowed + refused
    assert [path for path in paths if rules.allows(agent, f"https://example.com{path}")] == allowed


SITEMAPS: dict[str, tuple[str, ...]] = {
    "extension-robots.txt": ("/sitemap.xml",),
    "format-errors-robots.txt": ("/sitemap.xml",),
    "relative-sitemap-robots.txt": ("/sitemap.xml",),
    "sitemap-robots-dedup.txt": ("http://example.org/sitemap.xml",),
    "sitemap-robots.txt": ("http://domain.com/sitemap.xml", "http://domain.com/dir/MixedCased-sitemap.xml"),
    "robots-with-utf8-bom.txt": ("http://www.newsweek.com/sitemap_index.xml",),
    "robots-with-utf16le-bom.txt": ("http://www.newsweek.com/sitemap_index.xml",),
    "robots-with-utf16be-bom.txt": ("http://www.newsweek.com/sitemap_index.xml",),
    "www.flot.com-robots.txt": ("http://flot.com/sitemap_index.xml",),
    "wildcards.txt": (
        "http://www.amazon.com/sitemap-manual-index.xml",
        "http://www.amazon.com/sitemap_vendor_videos_us.xml",
        "http://www.amazon.com/sitemap_vod_index.xml",
        "http://www.amazon.com/sitemaps.f3053414d236e84.SitemapIndex_0.xml.gz",
        "http://www.amazon.com/sitemaps.1946f6b8171de60.SitemapIndex_0.xml.gz",
        "http://www.amazon.com/sitemaps.bbb7d657c7e29fa.SitemapIndex_0.xml.gz",
        "http://www.amazon.com/sitemaps.11aafed315ee654.SitemapIndex_0.xml.gz",
        "http://www.amazon.com/sitemaps.c21f969b5f03d33.SitemapIndex_0.xml.gz",
    ),
}


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.glob("*.txt")))
def test_the_sitemaps_of_a_real_file_are_found_as_written(name: str) -> None:
    assert read(name).sitemaps == SITEMAPS.get(name, ())


@pytest.mark.parametrize(
    ("name", "agent", "delay"),
    [
        ("astore.amazon.com-robots.txt", "gossamer", 5.0),
        ("crawl-delay-group-merging.txt", "mybot", 10.0),
        ("crawl-delay-group-merging.txt", "yourbot", None),
        ("crawl-delay-group-merging.txt", "gossamer", 30.0),
        ("dos-line-endings.txt", "gossamer", 1.0),
        ("twitter.com-robots.txt", "Googlebot", None),
        ("twitter.com-robots.txt", "Slurp", 1.0),
        ("twitter.com-robots.txt", "msnbot", 10.0),
        ("twitter.com-robots.txt", "gossamer", None),
    ],
)
def test_the_crawl_delay_of_a_real_file_is_that_of_the_agent(name: str, agent: str, delay: float | None) -> None:
    assert read(name).crawl_delay(agent) == delay


@pytest.mark.parametrize(
    ("name", "agent", "rate"),
    [
        ("astore.amazon.com-robots.txt", "gossamer", RequestRate(1, 5)),
        ("extended-standard-robots.txt", "bot1", RequestRate(30, 60)),
        ("extended-standard-robots.txt", "bot2", RequestRate(1, 15)),
        ("extended-standard-robots.txt", "bot3", RequestRate(5, 60, (120, 1379))),
        ("extended-standard-robots.txt", "bot4", RequestRate(8, 1)),
        ("extended-standard-robots.txt", "gossamer", None),
        ("extension-robots.txt", "mybot", RequestRate(10, 60)),
        ("extension-robots.txt", "otherbot", RequestRate(5, 60)),
        ("extensions-group-merging.txt", "mybot", RequestRate(10, 60)),
        ("extensions-group-merging.txt", "yourbot", None),
        ("extensions-group-merging.txt", "gossamer", RequestRate(30, 60)),
    ],
)
def test_the_request_rate_of_a_real_file_is_that_of_the_agent(name: str, agent: str, rate: RequestRate | None) -> None:
    assert read(name).request_rate(agent) == rate
