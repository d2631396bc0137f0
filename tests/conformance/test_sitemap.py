"""Sitemaps and feeds as crawler-commons collected them. What each must give was written down by reading the file."""

import random
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.sitemap import Alternate, Child, Entry, Sitemap, parse_sitemap
from tests.conformance.suites import suite

FIXTURES = suite("crawler-commons")
EXAMPLE = "http://www.example.com/sitemap.xml"


def read(name: str, url: str = EXAMPLE) -> Sitemap:
    return parse_sitemap((FIXTURES / name).read_bytes(), url)


def at(*parts: int, zone: float = 0) -> float:
    return datetime(*parts, tzinfo=timezone(timedelta(hours=zone))).timestamp()  # type: ignore[arg-type,misc]


def page(path: str, **fields: object) -> Entry:
    return Entry(f"http://www.example.com/{path}", **fields)  # type: ignore[arg-type]


def urls_of(found: Sitemap) -> list[str]:
    return [entry.url for entry in found.entries] + [child.url for child in found.children]


def urlset(*entries: Entry, problems: tuple[str, ...] = ()) -> Sitemap:
    return Sitemap("urlset", entries, problems=problems)


def test_a_gzipped_sitemap_gives_all_its_fields() -> None:
    assert read("sitemaps/xmlSitemap.gz") == urlset(
        page("", lastmod=at(2005, 1, 1), changefreq="monthly", priority=0.8),
        page("catalog?item=12&desc=vacation_hawaii", changefreq="weekly"),
        page("catalog?item=73&desc=vacation_new_zealand", lastmod=at(2004, 12, 23), changefreq="weekly"),
        page("catalog?item=74&desc=vacation_newfoundland", lastmod=at(2004, 12, 23, 18, 0, 15), priority=0.3),
        page("catalog?item=83&desc=vacation_usa", lastmod=at(2004, 11, 23)),
    )


def test_a_gzipped_list_gives_its_lines() -> None:
    assert read("sitemaps/sitemap.txt.gz") == Sitemap(
        "text",
        (
            page(""),
            page("catalog?item=12&desc=vacation_hawaii"),
            page("catalog?item=73&desc=vacation_new_zealand"),
            page("catalog?item=74&desc=vacation_newfoundland"),
            page("catalog?item=83&desc=vacation_usa"),
        ),
    )


@pytest.mark.parametrize("name", ["sitemaps/sitemap.txt", "sitemaps/sitemap-with-bom.txt"])
def test_a_list_gives_its_lines_with_a_byte_order_mark_or_without(name: str) -> None:
    pages = (Entry("http://www.domain.com/page1.html"), Entry("http://www.domain.com/page2.html"))
    assert read(name, "http://domain.com/sitemap.txt") == Sitemap("text", pages)


def test_a_list_of_one_line_without_a_line_end_is_a_list() -> None:
    assert read("sitemaps/do-not-visit.txt") == Sitemap("text", (page("do-not-visit-here"),))


def test_a_wrong_namespace_is_noted_and_the_entries_are_read() -> None:
    problem = "the namespace is not that of the sitemap protocol: 'http://www.google.com/schemas/sitemap/0.9'"
    assert read("sitemaps/sitemap.badns.xml") == urlset(
        page("1", changefreq="daily"), page("2", changefreq="daily"), problems=(problem,)
    )


def test_a_prefix_on_every_tag_changes_nothing() -> None:
    assert read("sitemaps/sitemap.ns.xml") == urlset(page("1", changefreq="daily"), page("2", changefreq="daily"))


def test_an_index_without_loc_gives_the_urls_that_stand_in_its_sitemaps() -> None:
    codes = (10260, 2, 10080, 10140, 10340, 10400, 10430, 10440, 10450, 10460, 10470, 10480, 10490, 10550, 10570)
    found = read("sitemaps/sitemap.index.xml", "https://example.com/sitemap.xml")
    assert found.kind == "index"
    assert found.entries == ()
    assert found.children == tuple(Child(f"https://example.com/sitemap.jss?portalCode={n}&lang=en") for n in codes)
    assert [problem.partition(":")[0] for problem in found.problems] == ["a URL stands in its entry without a <loc>"]


def test_an_atom_feed_gives_the_first_alternate_link_of_each_entry() -> None:
    assert read("sitemaps/atom.xml", "http://example.org/feed/") == Sitemap(
        "atom",
        (
            Entry(
                "http://example.org/2003/12/13/atom03",
                lastmod=at(2003, 12, 13, 18, 30, 2),
                alternates=(Alternate("", "http://example.org/2003/12/13/atom03.html"),),
            ),
        ),
    )


def test_an_rss_feed_gives_links_guids_and_links_with_references_or_cdata() -> None:
    assert read("rss/feed.rss", "https://www.example.com/feed.rss") == Sitemap(
        "rss",
        (
            Entry("https://www.example.com/blog/post/1", lastmod=at(2009, 9, 6, 16, 20)),
            Entry("https://www.example.com/guid.html"),
            Entry("https://www.example.com/foo?q=a&l=en"),
            Entry("https://www.example.com/foo?q=a&l=fr"),
        ),
    )


def test_rss_dates_are_read_with_and_without_weekday_century_and_zone() -> None:
    seconds = [at(2017, 1, 5, 12, 34, second) for second in (51, 52, 53, 54)]
    without_zone = at(2017, 1, 5, 13, 34, 55)
    found = read("rss/xmlRss_pubDate.xml")
    assert found == Sitemap(
        "rss",
        tuple(
            page(f"article_{number}", lastmod=lastmod)
            for number, lastmod in enumerate([*seconds, without_zone, None, None], 1)
        ),
    )


def test_a_newspaper_with_images_and_videos_gives_its_74_articles_and_none_of_its_pictures() -> None:
    site = "http://www.hebdenbridgetimes.co.uk"
    found = read("sitemaps/extension/hebdenbridgetimes-articles-sitemap.xml", f"{site}/sitemap.xml")
    assert (found.kind, found.problems, len(found.entries)) == ("urlset", (), 74)
    assert found.entries[0] == Entry(
        f"{site}/news/local/video-tour-de-yorkshire-in-calderdale-1-7242580",
        lastmod=at(2015, 5, 3, 18, 51, 50, zone=1),
        changefreq="daily",
    )
    assert found.entries[-1] == Entry(
        f"{site}/news/local/now-you-see-it-now-you-don-t-it-s-off-the-wall-1-7229940",
        lastmod=at(2015, 4, 26, 17, 47, 55, zone=1),
        changefreq="daily",
    )
    assert all(entry.changefreq == "daily" and entry.inside and entry.lastmod for entry in found.entries)
    assert not any("webimage" in entry.url for entry in found.entries)
    # Newest first, to the second, but for one pair that was touched in the same second.
    assert len({entry.lastmod for entry in found.entries}) == 73


def test_languages_are_kept_as_alternates() -> None:
    others = tuple(
        Alternate(lang, f"http://www.example.com/{path}/")
        for lang, path in (("de", "deutsch"), ("de-ch", "schweiz-deutsch"), ("en", "english"))
    )
    assert read("sitemaps/extension/sitemap-links.xml") == urlset(
        page("english/", alternates=others),
        page("deutsch/", alternates=others),
        page("schweiz-deutsch/", alternates=others),
    )


@pytest.mark.parametrize(
    ("name", "site", "paths"),
    [
        ("pagemaps-sitemap.xml", "http://www.example.com", ["/foo", "/bar"]),
        ("sitemap-images.xml", "http://www.example.com", ["/images/some_image_landing_page.html"]),
        (
            "sitemap-mobile.xml",
            "http://www.example.com",
            ["/mobile-friendly-1/", "/mobile-friendly-2/", "/no-mobile/"],
        ),
        ("sitemap-news.xml", "http://www.example.org", ["/business/article55.html", "/empty_news_name.html"]),
        ("sitemap-videos-tvshow.xml", "https://example.org", ["/my-tv-show/23/13/"]),
        (
            "sitemap-videos.xml",
            "http://www.example.com",
            [f"/videos/some_video_landing_page{suffix}.html" for suffix in ("", "-2", "-3")],
        ),
        (
            "shinpaideshou-news-sitemap.xml",
            "https://shinpaideshou.wordpress.com",
            [
                "/2017/04/25/job-opening-reischauer-policy-research-fellow/",
                "/2017/04/24/call-for-papers-nation-gender-and-history-asian-cinemas-in-perspective-2/",
                "/2017/04/24/job-opening-lecturer-in-japanese-studies-university-of-leeds/",
            ],
        ),
    ],
)
def test_extensions_are_passed_over(name: str, site: str, paths: list[str]) -> None:
    found = read(f"sitemaps/extension/{name}", f"{site}/sitemap.xml")
    assert found == urlset(*(Entry(site + path) for path in paths))


def test_what_another_site_lists_is_outside() -> None:
    found = read("sitemaps/xmlSitemap.gz", "http://www.example.net/sitemap.gz")
    assert [entry.inside for entry in found.entries] == [False] * 5


EVERY_FILE = sorted(path for folder in ("sitemaps", "rss") for path in (FIXTURES / folder).rglob("*") if path.is_file())


def test_every_fixture_has_its_expectation_here() -> None:
    assert len(EVERY_FILE) == 20
    text = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in EVERY_FILE if path.name not in text] == []


@given(st.sampled_from(EVERY_FILE), st.integers(0, 2**32), st.booleans())
def test_fixtures_cut_and_mutated_never_raise(path: Path, seed: int, cut: bool) -> None:
    chance = random.Random(seed)
    body = bytearray(path.read_bytes())
    if cut:
        del body[chance.randrange(len(body)) :]
    for _ in range(chance.randrange(12)):
        where = chance.randrange(len(body) + 1)
        kind = chance.randrange(3)
        if kind == 0:
            body[where : where + 1] = chance.randbytes(1)
        elif kind == 1:
            del body[where : where + chance.randrange(60)]
        else:
            body[where:where] = chance.choice([b"<", b">", b"&", b"]]>", b"<!--", b"<![CDATA[", b'"', b"\0", b"</url>"])
    found = parse_sitemap(bytes(body), EXAMPLE)
    assert found.kind != "unknown" or found.problems
    assert len(found.problems) < 30
    assert all(entry.url.startswith(("http://", "https://")) for entry in found.entries)


@pytest.mark.parametrize("path", EVERY_FILE, ids=lambda path: path.name)
def test_a_fixture_cut_short_gives_a_beginning_of_what_the_whole_gives(path: Path) -> None:
    whole_body = path.read_bytes()
    whole = urls_of(parse_sitemap(whole_body, EXAMPLE))
    chance = random.Random(path.name)
    for _ in range(10):
        part = parse_sitemap(whole_body[: chance.randrange(len(whole_body))], EXAMPLE)
        urls = urls_of(part)
        if part.kind == "text" and urls:  # nothing shows that the last line of a list is only half of it
            assert whole[len(urls) - 1].startswith(urls.pop().removesuffix("/"))
        assert urls == whole[: len(urls)]
