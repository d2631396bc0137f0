"""Sitemaps: what each form gives, what is forgiven, and what cannot be made to cost."""

import gzip
import time
import tracemalloc
from collections.abc import Callable
from datetime import UTC, datetime
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal import isal_zlib
from lxml import etree

from gossamer.sitemap import DEFAULT_BOUNDS, Alternate, Child, Entry, Sitemap, SitemapBounds, parse_sitemap
from gossamer.sitemap._problems import Problems
from gossamer.sitemap._reader import Reader
from gossamer.sitemap._scan import Scanner
from gossamer.sitemap._site import Site
from gossamer.url import resolve
from tests.conformance.suites import suite

URL = "https://www.example.com/sitemap.xml"
SPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
OPEN = f'<urlset xmlns="{SPACE}">'


def parse(text: str | bytes, url: str = URL, content_type: str | None = None, **bounds: int) -> Sitemap:
    body = text if isinstance(text, bytes) else text.encode()
    return parse_sitemap(body, url, content_type, SitemapBounds(**bounds) if bounds else DEFAULT_BOUNDS)


def urlset(inner: str) -> str:
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{OPEN}{inner}</urlset>\n'


def located(*paths: str) -> str:
    return "".join(f"<url><loc>https://www.example.com{path}</loc></url>" for path in paths)


def urls(found: Sitemap) -> list[str]:
    return [entry.url.removeprefix("https://www.example.com") for entry in found.entries]


def said(found: Sitemap, words: str) -> bool:
    return any(words in problem for problem in found.problems)


# --- fields -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1997", "1997-01-01T00:00:00+00:00"),
        ("1997-07", "1997-07-01T00:00:00+00:00"),
        ("1997-07-16", "1997-07-16T00:00:00+00:00"),
        ("1997-07-16T19:20+01:00", "1997-07-16T18:20:00+00:00"),
        ("1997-07-16T19:20:30+01:00", "1997-07-16T18:20:30+00:00"),
        ("1997-07-16T19:20:30.45+01:00", "1997-07-16T18:20:30.450000+00:00"),
        ("1997-07-16T19:20:30.123456789Z", "1997-07-16T19:20:30.123457+00:00"),
        ("1997-07-16T19:20:30Z", "1997-07-16T19:20:30+00:00"),
        ("1997-07-16T19:20:30", "1997-07-16T19:20:30+00:00"),
        ("1997-07-16T19:20:60Z", "1997-07-16T19:21:00+00:00"),
        ("  2005-01-01\n", "2005-01-01T00:00:00+00:00"),
        ("2005-1-2", "2005-01-02T00:00:00+00:00"),
        ("2005/01/02", "2005-01-02T00:00:00+00:00"),
        ("2005-01-02 03:04:05 +0100", "2005-01-02T02:04:05+00:00"),
        ("2005-01-02 03:04:05 UTC", "2005-01-02T03:04:05+00:00"),
        ("2005-01-02T3:04", "2005-01-02T03:04:00+00:00"),
        ("2005-01-02T03:04:05-02", "2005-01-02T05:04:05+00:00"),
        ("Sun, 06 Sep 2009 16:20:00 +0000", "2009-09-06T16:20:00+00:00"),
        ("Sun, 06 Sep 2009 16:20:00 EST", "2009-09-06T21:20:00+00:00"),
        ("6 Sep 09 16:20 GMT", "2009-09-06T16:20:00+00:00"),
        ("1577836800", "2020-01-01T00:00:00+00:00"),
        ("1577836800000", "2020-01-01T00:00:00+00:00"),
    ],
)
def test_dates_are_read_in_every_precision_and_in_the_usual_slips(text: str, expected: str) -> None:
    found = parse(urlset(f"<url><loc>/a</loc><lastmod>{text}</lastmod></url>"))
    assert found.problems == ()
    assert found.entries[0].lastmod == pytest.approx(datetime.fromisoformat(expected).timestamp(), abs=1e-6)


@pytest.mark.parametrize(
    "text",
    ["yesterday", "2005-13-01", "2005-02-30", "0001-01-01T00:00:00", "0000-00-00", "1970-01-01", "20", "x" * 999],
)
def test_a_date_that_says_nothing_is_none_and_noted(text: str) -> None:
    found = parse(urlset(f"<url><loc>/a</loc><lastmod>{text}</lastmod></url>"))
    assert found.entries[0].lastmod is None
    assert said(found, "a date cannot be read")


@given(st.datetimes(datetime(1990, 1, 2), datetime(9000, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_any_date_in_iso_form_comes_back(when: datetime) -> None:
    found = parse(urlset(f"<url><loc>/a</loc><lastmod>{when.isoformat()}</lastmod></url>"))
    assert found.entries[0].lastmod == when.timestamp()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.8", 0.8),
        (" 1 ", 1.0),
        ("0,5", 0.5),
        ("7", 1.0),
        ("-3", 0.0),
        (".3", 0.3),
        ("high", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_a_priority_is_brought_between_0_and_1(text: str, expected: float | None) -> None:
    found = parse(urlset(f"<url><loc>/a</loc><priority>{text}</priority></url>"))
    assert found.entries[0].priority == expected
    assert said(found, "a priority is no number") == (expected is None)


@pytest.mark.parametrize(("text", "expected"), [("daily", "daily"), (" Weekly ", "weekly"), ("fortnightly", None)])
def test_a_changefreq_is_one_of_the_protocols_seven(text: str, expected: str | None) -> None:
    found = parse(urlset(f"<url><loc>/a</loc><changefreq>{text}</changefreq></url>"))
    assert found.entries[0].changefreq == expected
    assert said(found, "a changefreq") == (expected is None)


def test_alternates_are_kept_with_and_without_a_language_and_other_links_are_not() -> None:
    found = parse(
        f'<urlset xmlns="{SPACE}" xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>/a</loc>'
        '<xhtml:link rel="alternate" hreflang="de" href="/de/a?x=1&amp;y=2"/>'
        '<xhtml:link rel="alternate" media="only screen and (max-width: 640px)" href="https://m.example.com/a"></xhtml:link>'
        '<xhtml:link rel="stylesheet" href="/style.css"/></url></urlset>'
    )
    assert found.problems == ()
    assert found.entries[0].alternates == (
        Alternate("de", "https://www.example.com/de/a?x=1&y=2"),
        Alternate("", "https://m.example.com/a"),
    )


# --- URLs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sitemap", "url", "inside"),
    [
        ("https://www.example.com/sitemap.xml", "https://www.example.com/a", True),
        ("https://www.example.com/deep/below/sitemap.xml", "https://www.example.com/a", True),
        ("https://www.example.com/sitemap.xml", "http://example.com:8080/a", True),
        ("https://cdn.example.co.uk/sitemap.xml", "https://shop.example.co.uk/a", True),
        ("https://www.example.com/sitemap.xml", "https://www.example.org/a", False),
        ("https://www.example.com/sitemap.xml", "https://notexample.com/a", False),
        ("https://a.co.uk/sitemap.xml", "https://b.co.uk/a", False),
        ("https://one.github.io/sitemap.xml", "https://two.github.io/a", False),
        ("http://192.0.2.1/sitemap.xml", "http://192.0.2.1/a", True),
        ("http://192.0.2.1/sitemap.xml", "http://1.192.0.2.1.example/a", False),
        ("http://localhost:8000/sitemap.xml", "http://localhost:9000/a", True),
    ],
)
def test_inside_means_the_same_registrable_domain(sitemap: str, url: str, inside: bool) -> None:
    assert parse(urlset(f"<url><loc>{url}</loc></url>"), sitemap).entries[0].inside is inside
    index = parse(f'<sitemapindex xmlns="{SPACE}"><sitemap><loc>{url}</loc></sitemap></sitemapindex>', sitemap)
    assert index.children == (Child(url, None, inside),)


@pytest.mark.parametrize(
    ("loc", "words"),
    [
        ("http://[broken/", "a URL is not valid"),
        ("mailto:someone@example.com", "neither http nor https"),
        ("https://www.example.com/" + "x" * 9_000, "longer than allowed"),
        ("", "without a URL"),
    ],
)
def test_a_url_that_is_none_is_skipped_and_noted(loc: str, words: str) -> None:
    found = parse(urlset(located("/before") + f"<url><loc>{loc}</loc></url>" + located("/after")))
    assert urls(found) == ["/before", "/after"]
    assert said(found, words)


def test_relative_urls_are_resolved_against_the_sitemap() -> None:
    found = parse(urlset("<url><loc>/a</loc></url><url><loc>b</loc></url>"), "https://www.example.com/maps/sitemap.xml")
    assert urls(found) == ["/a", "/maps/b"]


def test_a_sitemap_at_no_valid_url_still_gives_its_absolute_urls() -> None:
    found = parse(urlset(located("/a") + "<url><loc>b</loc></url>"), "not a url")
    assert found.entries == (Entry("https://www.example.com/a", inside=False),)
    assert said(found, "the sitemap's own URL is not valid")


# --- forms ------------------------------------------------------------------------------------------------------------


def test_an_index_gives_children_with_dates() -> None:
    found = parse(
        f'<sitemapindex xmlns="{SPACE}"><sitemap><loc>https://www.example.com/1.xml.gz</loc><lastmod>2004-10-01</lastmod>'
        "</sitemap><sitemap><loc>https://cdn.example.net/2.xml</loc></sitemap></sitemapindex>"
    )
    date = datetime(2004, 10, 1, tzinfo=UTC).timestamp()
    children = (
        Child("https://www.example.com/1.xml.gz", date, True),
        Child("https://cdn.example.net/2.xml", None, False),
    )
    assert found == Sitemap("index", (), children)


@pytest.mark.parametrize(
    "feed",
    [
        (
            "<rss version='0.91'><channel><link>/home</link><image><url>/logo.png</url><link>/logo</link></image>"
            "<item><link>{0}</link><pubDate>06 Sep 2009 16:20:00 GMT</pubDate></item></channel></rss>"
        ),
        (
            "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"
            "<channel rdf:about='/home'><link>/home</link><items><rdf:Seq><rdf:li resource='/no'/></rdf:Seq></items></channel>"
            "<item rdf:about='/no'><link>{0}</link><dc:date>2009-09-06T16:20Z</dc:date></item></rdf:RDF>"
        ),
        "<rdf:RDF><item rdf:about='{0}'><title>no link</title><dc:date>2009-09-06T16:20Z</dc:date></item></rdf:RDF>",
        (
            "<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel><atom:link rel='self' href='/feed'/>"
            "<item><media:link>/no</media:link><enclosure url='/no.mp3'/><guid isPermaLink='true'>https://www.example.com/no</guid>"
            "<link>{0}</link><pubDate>Sun, 06 Sep 2009 16:20:00 +0000</pubDate></item></channel></rss>"
        ),
        "<rss version='2.0'><channel><item><guid>{0}</guid><pubDate>Sun, 06 Sep 2009 16:20:00 +0000</pubDate></item></channel></rss>",
        (
            "<rss version='2.0'><channel><item><atom:link rel='replies' href='/no'/><atom:link href='{0}'/>"
            "<pubDate>Sun, 06 Sep 2009 16:20:00 +0000</pubDate></item></channel></rss>"
        ),
        (
            "<feed xmlns='http://www.w3.org/2005/Atom'><link href='/home'/><entry><link rel='self' href='/no'/>"
            "<link rel='alternate' href='{0}'/><published>2001-01-01T00:00:00Z</published><updated>2009-09-06T16:20:00Z</updated>"
            "<content type='xhtml'><div><a href='/no'>no</a><link href='/no'/></div></content></entry></feed>"
        ),
        (
            "<feed xml:base='https://www.example.com/posts/'><entry xml:base='2009/'><link href='../../a'/>"
            "<modified>2009-09-06T16:20:00Z</modified></entry></feed>"
        ),
        (
            "<a:feed xmlns:a='http://www.w3.org/2005/Atom'><a:entry><a:id>{0}</a:id><a:updated>2009-09-06T16:20:00Z</a:updated>"
            "</a:entry></a:feed>"
        ),
    ],
    ids=["0.91", "1.0", "1.0 about", "2.0", "2.0 guid", "2.0 atom link", "atom", "atom xml:base", "atom id"],
)
def test_feeds_give_one_url_and_date_an_item(feed: str) -> None:
    found = parse(feed.format("https://www.example.com/a"))
    when = datetime(2009, 9, 6, 16, 20, tzinfo=UTC).timestamp()
    assert found.kind == ("atom" if "feed" in feed.partition(">")[0] else "rss")
    assert found.entries == (Entry("https://www.example.com/a", when),)
    assert found.problems == ()


def test_a_list_keeps_absolute_urls_and_notes_other_lines() -> None:
    found = parse("# ours\r\n\r\nhttps://www.example.com/a\r\n  HTTPS://www.example.com/b  \rwww.example.com/c\n/d")
    assert (found.kind, urls(found)) == ("text", ["/a", "/b"])
    assert found.problems == ("a line is not an absolute URL and was skipped: 'www.example.com/c' (and 1 more)",)


@pytest.mark.parametrize(
    "page",
    [
        "<!DOCTYPE html><html><body>Not found: <urlset></body></html>",
        "\n<!-- cached --><!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN'><title>404</title>",
        "<HTML><body>https://www.example.com/a</body></HTML>",
        "<script>location = '/login'</script>",
        "<?xml version='1.0'?><html xmlns='http://www.w3.org/1999/xhtml'><head/></html>",
    ],
)
def test_an_html_page_is_called_one(page: str) -> None:
    assert parse(page) == Sitemap("unknown", problems=("an HTML page, not a sitemap",))


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "empty"),
        (b" \n\t", "empty"),
        (b'{"urls": []}', "neither XML with a known root element nor a list of URLs"),
        (b"\x89PNG\r\n\x1a\n", "neither XML with a known root element nor a list of URLs"),
        (b"Not found", "neither XML with a known root element nor a list of URLs"),
        (b"<opml version='2.0'/>", "not a sitemap or feed: the root element is: 'opml'"),
    ],
)
def test_what_is_no_sitemap_is_unknown_and_says_why(body: bytes, problem: str) -> None:
    found = parse(body)
    assert (found.kind, found.entries, found.children) == ("unknown", (), ())
    assert problem in found.problems


# --- encodings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("text", [urlset(located("/é")), "https://www.example.com/é\n"], ids=["xml", "text"])
def test_unicode_encodings_are_recognised_by_their_bytes(encoding: str, text: str) -> None:
    found = parse(text.encode(encoding))
    assert urls(found) == ["/%C3%A9"]
    assert found.problems == ()


@pytest.mark.parametrize(
    ("declared", "header", "actual"),
    [
        ("ISO-8859-1", None, "latin-1"),
        ("UTF-16", None, "utf-8"),
        ("ISO-8859-1", None, "utf-8"),
        ("UTF-8", "text/xml; charset=iso-8859-1", "latin-1"),
        ("no-such-thing", None, "latin-1"),
        ("zlib", None, "latin-1"),
        ("UTF-8", None, "cp1252"),
    ],
)
def test_a_wrong_declaration_of_the_encoding_does_no_harm(declared: str, header: str | None, actual: str) -> None:
    text = f'<?xml version="1.0" encoding="{declared}"?>{OPEN}{located("/é", "/b")}</urlset>'
    assert urls(parse(text.encode(actual), content_type=header)) == ["/%C3%A9", "/b"]


def test_characters_cut_in_two_by_the_pieces_of_reading_are_whole_again() -> None:
    paths = [f"/ü{'é' * (n % 7)}{n}" for n in range(20_000)]
    assert urls(parse(urlset(located(*paths)))) == urls(parse("\n".join("https://www.example.com" + p for p in paths)))


# --- broken XML -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inner", "expected"),
    [
        ("<url><loc>/a?x=1&y=2&copy=3</loc></url>", ["/a?x=1&y=2&copy=3"]),
        ("<url><loc>/a&#38;b&#x26;c&#0;</loc></url>", ["/a&b&c%EF%BF%BD"]),
        ("<url><loc><![CDATA[/a?x=1&y=2]]></loc></url>", ["/a?x=1&y=2"]),
        ("<url><loc>/a<!-- no --></loc></url>", ["/a"]),
        ("<url><loc>/a</loc><url><loc>/b</loc><url><loc>/c</loc>", ["/a", "/b", "/c"]),
        ("<url><loc>/a<lastmod>2004</lastmod></url><url><loc>/b</loc></url>", ["/a", "/b"]),
        ("<url><loc>/a</lok></url><url><loc>/b</loc></url>", ["/a", "/b"]),
        ("<url><loc>/a</loc></ulr><url><loc>/b</loc></url>", ["/a", "/b"]),
        ("</nothing><url><loc>/a</loc></url>", ["/a"]),
        ("<url><loc>/a</loc><loc>/b</loc></url>", ["/a", "/b"]),
        ("<url><image:image><image:loc>/no</image:loc></image:image><loc>/a</loc></url>", ["/a"]),
        ("<url><image:loc>/no</image:loc><loc>/a</loc></url>", ["/a"]),
        ("<URL><Loc>/a</Loc></URL>", ["/a"]),
        ("<url ><loc\n>/a</loc ></url\t>", ["/a"]),
        ("< << <url><loc>/a</loc></url><", ["/a"]),
        ("<a title='it's'><url><loc>/a</loc></url></a>", ["/a"]),
        ("<!-- <url><loc>/no</loc></url> --><?x <url><loc>/no</loc></url> ?><url><loc>/a</loc></url>", ["/a"]),
        ("<!-- -- - <a> ---><url><loc>/a</loc></url>", ["/a"]),
        ("<url><loc>/a</loc></url><url><loc>/cut-o", ["/a"]),
        ("<url><loc>/a</loc><lastmod>20", ["/a"]),
        ("<url><loc>/a</loc></url><url><lo", ["/a"]),
        ("<url><loc>/a</loc></url></urlset><urlset><url><loc>/b</loc></url>", ["/a", "/b"]),
    ],
)
def test_broken_xml_gives_what_can_be_had(inner: str, expected: list[str]) -> None:
    assert urls(parse(OPEN + inner)) == expected


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (urlset("<url><loc>/a?x=1&y=2</loc></url>"), "an ampersand is not escaped"),
        (urlset("<url><loc>/a</loc><url><loc>/b</loc></url>"), "a tag is never closed: 'url'"),
        (urlset("<url><loc>/a</loc></ulr></url>"), "an end tag does not match: 'ulr'"),
        (urlset(located("/a")).removesuffix("</urlset>\n"), "the document ends before its end"),
        (urlset(located("/a") + "<!-- "), "never closed"),
        (urlset(located("/a") + "<<"), "a tag is broken"),
        (urlset("<url><loc>/a</loc></url>").replace(f' xmlns="{SPACE}"', ""), "the namespace is not"),
        ("Warning: something in line 3<br/>\n" + urlset(located("/a")), "no part of the document"),
        ("\n\n" + urlset(located("/a")), "before the XML declaration"),
    ],
)
def test_what_is_wrong_is_said(document: str, words: str) -> None:
    found = parse(document)
    assert found.entries
    assert said(found, words)


def test_problems_are_one_sentence_a_kind_however_many_there_are() -> None:
    found = parse(urlset("<url><loc>http://[</loc><lastmod>x</lastmod></url><url></url>" * 5_000))
    assert found.problems == (
        "a URL is not valid and was skipped: 'http://[' (and 4999 more)",
        "an entry without a URL was skipped (and 4999 more)",
    )


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
_NOISE = st.sampled_from(
    [
        "<image:image><image:loc>/no</image:loc></image:image>",
        "<!-- <loc>/no</loc> -->",
        "<?pi <loc>?>",
        "<mobile:mobile/>",
        "\n  ",
    ]
)


@given(
    st.lists(st.tuples(_TEXT, _TEXT, st.lists(_NOISE, max_size=3), st.booleans()), max_size=8),
    st.sampled_from([("", "xmlns"), ("sit:", "xmlns:sit")]),
)
def test_well_formed_documents_are_read_as_lxml_reads_them(
    pages: list[tuple[str, str, list[str], bool]], prefix: tuple[str, str]
) -> None:
    """The scanner against a conforming parser, on what such a parser accepts."""
    name, declaration = prefix
    body = "".join(
        f"<{name}url>{''.join(noise)}<{name}loc>"
        + (f"<![CDATA[/p{path.replace(']]>', '')}]]>" if cdata else "/p" + escape(path))
        + f"</{name}loc><xhtml:link rel='alternate' hreflang={quoteattr(lang)} href='/x'/></{name}url>"
        for path, lang, noise, cdata in pages
    )
    document = (
        f'<{name}urlset {declaration}="{SPACE}" xmlns:xhtml="x:h" xmlns:image="x:i" xmlns:mobile="x:m">{body}</{name}urlset>'
    ).encode()
    tree = etree.fromstring(document)
    found = parse(document)
    assert [entry.url for entry in found.entries] == [
        resolve(loc.text.strip(), URL) for loc in tree.iter(f"{{{SPACE}}}loc")
    ]
    langs = [link.get("hreflang").strip()[:40] for link in tree.iter("{x:h}link")]
    assert [alternate.lang for entry in found.entries for alternate in entry.alternates] == langs
    assert found.problems == ()


# --- gzip -------------------------------------------------------------------------------------------------------------

DOCUMENT = urlset(located(*(f"/{number}" for number in range(3_000)))).encode()
LIST = b"".join(b"https://www.example.com/%d\n" % number for number in range(3_000))


@pytest.mark.parametrize(
    "packed",
    [
        gzip.compress(DOCUMENT),
        gzip.compress(gzip.compress(DOCUMENT)),
        gzip.compress(DOCUMENT[:1]) + gzip.compress(DOCUMENT[1:50_000]) + gzip.compress(DOCUMENT[50_000:]),
        gzip.compress(DOCUMENT) + b"\0" * 512,
    ],
    ids=["once", "twice", "members", "padded"],
)
def test_gzip_is_unpacked_once_twice_in_members_and_with_padding(packed: bytes) -> None:
    assert parse(packed) == parse(DOCUMENT)


def test_gzip_within_gzip_within_gzip_is_refused() -> None:
    found = parse(gzip.compress(gzip.compress(gzip.compress(DOCUMENT))))
    assert found.kind == "unknown"
    assert said(found, "gzipped more than 2 times")


@pytest.mark.parametrize("body", [DOCUMENT, LIST], ids=["xml", "text"])
def test_gzip_cut_off_gives_what_it_has_and_no_half_url(body: bytes) -> None:
    packed = gzip.compress(body)
    for size in range(1_000, len(packed), 1_777):
        found = parse(packed[:size])
        assert 0 < len(found.entries) < 3_000
        assert urls(found) == [f"/{number}" for number in range(len(found.entries))]
        assert said(found, "the gzip file is cut off")


def test_damaged_gzip_gives_what_came_before_the_damage() -> None:
    packed = bytearray(gzip.compress(DOCUMENT, 0))  # stored blocks: the damage is where we put it
    packed[-8] ^= 0xFF  # the checksum, so all but the last piece of 64 KiB is good
    found = parse(bytes(packed))
    assert urls(found) == [f"/{number}" for number in range(len(found.entries))]
    assert len(found.entries) > 2_000
    assert said(found, "the gzip file is damaged")


def test_junk_behind_gzip_is_ignored_and_noted() -> None:
    found = parse(gzip.compress(DOCUMENT) + b"junk")
    assert len(found.entries) == 3_000
    assert said(found, "behind the end of the gzip file")


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("document", [DOCUMENT, LIST], ids=["xml", "text"])
def test_bounds_are_kept_and_named(document: bytes) -> None:
    assert urls(parse(document, entries=3)) == ["/0", "/1", "/2"]
    assert said(parse(document, entries=3), "more than 3 ")
    assert parse(document, entries=3_000).problems == ()
    short = parse(document, bytes_unpacked=10_000)
    assert urls(short) == [f"/{number}" for number in range(len(short.entries))]
    assert 100 < len(short.entries) < 400
    assert said(short, "longer than allowed; the rest was not read")
    assert parse(document, bytes_unpacked=len(document)).problems == ()


def test_tags_and_alternates_are_bounded_too() -> None:
    assert len(parse(DOCUMENT, tags=301).entries) == 100
    assert said(parse(DOCUMENT, tags=301), "more than 301 tags")
    link = '<xhtml:link rel="alternate" hreflang="de" href="/de"/>'
    found = parse(urlset(f"<url><loc>/a</loc>{link * 5}</url><url><loc>/b</loc>{link}</url>"), alternates=4)
    assert [len(entry.alternates) for entry in found.entries] == [4, 0]
    assert said(found, "more than 4 alternates")


def test_elements_too_deep_do_not_hide_what_follows() -> None:
    found = parse(
        urlset("<url>" + "<a>" * 1_000 + "<loc>/no</loc>" + "</a>" * 1_000 + "<loc>/a</loc></url>" + located("/b"))
    )
    assert urls(found)[-2:] == ["/a", "/b"]
    assert said(found, "deeper than 256")


def test_the_sitemaps_of_these_tests_are_what_the_protocol_allows() -> None:
    schema = etree.XMLSchema(etree.parse(str(suite("sitemaps-xsd") / "sitemap.xsd")))
    index = etree.XMLSchema(etree.parse(str(suite("sitemaps-xsd") / "siteindex.xsd")))
    schema.assertValid(etree.fromstring(DOCUMENT))
    fields = "<lastmod>2004-10-01T18:23:17+00:00</lastmod><changefreq>daily</changefreq><priority>0.3</priority>"
    whole = urlset(f"<url><loc>https://www.example.com/a?x=1&amp;y=2</loc>{fields}</url>").encode()
    schema.assertValid(etree.fromstring(whole))
    assert parse(whole).entries == (Entry("https://www.example.com/a?x=1&y=2", 1096654997.0, "daily", 0.3),)
    children = (
        f'<sitemapindex xmlns="{SPACE}"><sitemap><loc>https://www.example.com/1.xml</loc></sitemap></sitemapindex>'
    )
    index.assertValid(etree.fromstring(children))
    assert parse(children).children == (Child("https://www.example.com/1.xml"),)
    assert not schema.validate(
        etree.fromstring(urlset("<url><loc>https://a.example/</loc><priority>7</priority></url>").encode())
    )


# --- hostile input ----------------------------------------------------------------------------------------------------

LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


@pytest.mark.parametrize(
    "subset",
    [
        f'<!ENTITY l0 "lol">{LAUGHS}',
        '<!ENTITY l11 SYSTEM "file:///etc/passwd">',
        '<!ENTITY % l11 SYSTEM "http://127.0.0.1:9/x.dtd"> %l11;',
        '<!ENTITY l11 "]>">',
        "<!-- ]> --><!ENTITY l11 'x'>",
    ],
    ids=["billion laughs", "file", "network", "bracket in quotes", "bracket in comment"],
)
def test_entities_are_never_expanded(subset: str) -> None:
    links = '<xhtml:link rel="alternate" hreflang="x" href="/&l11;"/>'
    found = parse(
        f'<?xml version="1.0"?><!DOCTYPE urlset [{subset}]>{OPEN}<url><loc>https://www.example.com/&l11;</loc></url>'
        f"<url><loc>/a?x=1&amp;y=2</loc>{links}<lastmod>&l11;</lastmod></url></urlset>"
    )
    assert found.entries == (Entry("https://www.example.com/a?x=1&y=2"),)
    assert said(found, "a DTD declares entities; they are never expanded")
    assert said(found, "a URL needs an entity of the DTD and was skipped: 'https://www.example.com/&l11;' (and 1 more)")


def test_a_doctype_without_entities_is_stepped_over() -> None:
    dtd = '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://127.0.0.1:9/rss-0.91.dtd">'
    found = parse(f"{dtd}<rss><channel><item><link>/a</link></item></channel></rss>")
    assert found == Sitemap("rss", (Entry("https://www.example.com/a"),))


def zipped(unit: bytes, size: int, head: bytes = b"") -> bytes:
    """gzip of `size` bytes, made without ever holding them."""
    packer = isal_zlib.compressobj(1, wbits=31)
    block = unit * (1_000_000 // len(unit))
    return b"".join(
        [packer.compress(head), *(packer.compress(block) for _ in range(size // len(block))), packer.flush()]
    )


HOSTILE: dict[str, Callable[[], bytes]] = {
    "200,000 nested tags": lambda: OPEN.encode() + b"<a>" * 200_000,
    "200,000 nested items": lambda: OPEN.encode() + b"<url>" * 200_000,
    "nested namespaces": lambda: OPEN.encode() + b"".join(b"<a xmlns:a%d='u%d'>" % (n, n) for n in range(100_000)),
    "100,000 attributes": lambda: OPEN.encode() + b"<url " + b"".join(b"a%d='1' " % n for n in range(100_000)) + b"/>",
    "100,000 attributes of a root": lambda: b"<urlset " + b"".join(b"a%d='1' " % n for n in range(100_000)) + b"/>",
    "unclosed quotes": lambda: OPEN.encode() + b"<a b='" * 200_000,
    "different tags": lambda: OPEN.encode() + b"".join(b"<t%d/>" % n for n in range(300_000)),
    "5 MB of one word": lambda: b"word" * 1_250_000,
    "5 MB of one word in a loc": lambda: OPEN.encode() + b"<url><loc>" + b"word" * 1_250_000 + b"</loc></url>",
    "5 MB of a line": lambda: b"https://www.example.com/\n" + b"a" * 5_000_000,
    "NULs": lambda: b"\0" * 5_000_000,
    "NULs in a sitemap": lambda: OPEN.encode() + b"\0" * 5_000_000,
    "angle brackets": lambda: OPEN.encode() + b"<" * 200_000,
    "ampersands": lambda: OPEN.encode() + b"<url><loc>" + b"&" * 500_000,
    "comments begun": lambda: OPEN.encode() + b"<!--" * 1_000_000,
    "CDATA begun": lambda: OPEN.encode() + b"<url><loc><![CDATA[" * 100_000,
    "comments in a DOCTYPE": lambda: b"<!DOCTYPE a [" + b"<!--" * 1_000_000,
    "stray end tags": lambda: OPEN.encode() + b"<b></c>" * 100_000,
    "invalid URLs": lambda: OPEN.encode() + b"<url><loc>http://[</loc></url>" * 30_000,
    "gzip of empty members": lambda: gzip.compress(b"") * 100_000,
    "gzip bomb of zeros": lambda: zipped(b"\0", 1_000_000_000),
    "gzip bomb of blanks in a sitemap": lambda: zipped(b" ", 1_000_000_000, OPEN.encode()),
    "gzip bomb in a gzip bomb": lambda: gzip.compress(
        zipped(b" ", 1_000_000_000, OPEN.encode() + located("/a").encode())
    ),
}


@pytest.fixture(scope="module", params=HOSTILE)
def hostile(request: pytest.FixtureRequest) -> bytes:
    return HOSTILE[request.param]()


def test_hostile_input_takes_under_a_second(hostile: bytes) -> None:
    start = time.process_time()
    found = parse(hostile)
    assert time.process_time() - start < 1
    assert found.problems


def test_hostile_input_takes_little_memory(hostile: bytes) -> None:
    tracemalloc.start()
    try:
        parse(hostile)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8_000_000


def test_a_large_sitemap_costs_the_memory_of_its_entries() -> None:
    images = (
        "<image:image><image:loc>https://www.example.com/i.jpg</image:loc><image:title>one</image:title></image:image>"
        * 12
    )
    document = urlset("".join(f"<url><loc>/page-{number}</loc>{images}</url>" for number in range(4_000))).encode()
    assert len(document) > 5_000_000
    tracemalloc.start()
    try:
        found = parse(document)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found.entries) == 4_000
    assert peak < 3_000_000


_MARKS = "<url> </url> <loc> </loc> /a <![CDATA[ ]]> <!-- --> <? ?> & &amp; < > <rss> <item> </item> <feed> <entry> <sitemap> </sitemap>"
_FRAGMENT = st.sampled_from([OPEN, "<link href='/b'/>", "<!DOCTYPE a [", "https://a.example/", *_MARKS.split()])


@given(
    st.one_of(
        st.binary(max_size=400),
        st.binary(max_size=400).map(lambda body: OPEN.encode() + body),
        st.binary(max_size=400).map(lambda body: b"\x1f\x8b\x08" + body),
        st.lists(_FRAGMENT, max_size=40).map(lambda parts: (OPEN + "".join(parts)).encode()),
        st.lists(_FRAGMENT, max_size=40).map(lambda parts: "".join(parts).encode()),
    ),
    st.one_of(st.just(URL), st.text(max_size=20)),
    st.one_of(st.none(), st.text(max_size=40), st.just("text/xml; charset=utf-7")),
)
def test_nothing_raises(body: bytes, url: str, content_type: str | None) -> None:
    found = parse_sitemap(body, url, content_type)
    assert found.kind != "unknown" or (found.problems and not found.entries)
    assert all(entry.url.startswith(("https://", "http://")) for entry in found.entries)


@given(st.lists(_FRAGMENT, max_size=60).map("".join), st.integers(1, 40))
def test_where_the_pieces_are_cut_makes_no_difference(text: str, size: int) -> None:
    """Pieces of a few bytes against the whole at once: nothing may depend on the border between two."""
    document = (OPEN + text).encode()
    results = []
    for step in (size, len(document)):
        problems = Problems()
        site = Site(URL, DEFAULT_BOUNDS, problems)
        reader = Reader("urlset", False, site, DEFAULT_BOUNDS, problems)
        scanner = Scanner(reader, DEFAULT_BOUNDS, problems)
        for at in range(0, len(document), step):
            scanner.feed(document[at : at + step])
        scanner.finish()
        results.append((reader.entries, reader.children))
    assert results[0] == results[1]
