"""What a page says, each fact by a small page that says it."""

import pytest

from gossamer.parse import Bounds, Link, MetaRobots, Page, Refresh, parse_page
from gossamer.url import LinkMemory

URL = "https://example.com/dir/page.html"


def parse(markup: str, **options: object) -> Page:
    return parse_page(markup.encode(), URL, "text/html; charset=utf-8", **options)  # type: ignore[arg-type]


def test_links_are_absolute_with_kind_rel_and_text() -> None:
    page = parse(
        """<head><link rel="Next  Prefetch" href="2.html"></head>
        <a href="/a" rel="NoFollow ugc"> An
           <b>anchor</b> </a><map><area href="b" alt="Area"></map>
        <iframe src="//other.example/frame" title="Frame"></iframe>"""
    )
    assert page.links == (
        Link("https://example.com/a", "a", "nofollow ugc", "An anchor"),
        Link("https://example.com/dir/b", "area", "", "Area"),
        Link("https://other.example/frame", "iframe", "", "Frame"),
        Link("https://example.com/dir/2.html", "link", "next prefetch", ""),
    )


def test_frames_are_links() -> None:
    page = parse("<frameset><frame src=left.html><frame src=right.html></frameset>")
    assert [(link.kind, link.url) for link in page.links] == [
        ("frame", "https://example.com/dir/left.html"),
        ("frame", "https://example.com/dir/right.html"),
    ]


@pytest.mark.parametrize(
    "href",
    [
        "mailto:a@b.c",
        "javascript:void(0)",
        " JavaScript:alert(1)",
        "data:text/html,x",
        "tel:+123",
        "#top",
        "",
        "ftp://x/y",
    ],
)
def test_what_cannot_be_fetched_is_no_link(href: str) -> None:
    assert parse(f'<a href="{href}">x</a>').links == ()


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("HTTPS://Example.COM/Up", "https://example.com/Up"),
        ("  /trimmed\n", "https://example.com/trimmed"),
        ("time:table.html?x", None),
        ("page:2", None),
        ("/wiki/Talk:Page", "https://example.com/wiki/Talk:Page"),
        ("?q=a:b", "https://example.com/dir/page.html?q=a:b"),
        ("http://[bad", None),
    ],
)
def test_a_colon_does_not_make_a_scheme(href: str, url: str | None) -> None:
    assert [link.url for link in parse(f'<a href="{href}">x</a>').links] == ([] if url is None else [url])


def test_a_reference_repeated_is_one_link_with_the_first_text_that_says_something() -> None:
    page = parse("<a href=/x><img src=i></a><a href=/x>Words</a><a href=/x>Other</a><a href=/x rel=nofollow>N</a>")
    assert [(link.text, link.rel) for link in page.links] == [("Words", ""), ("N", "nofollow")]


def test_the_base_element_moves_all_relative_links_even_those_before_it() -> None:
    page = parse("<a href=x>1</a><base href=/other/><base href=/ignored/><a href=y>2</a>")
    assert page.base == "https://example.com/other/"
    assert [link.url for link in page.links] == ["https://example.com/other/x", "https://example.com/other/y"]


@pytest.mark.parametrize("href", ["data:text/html,x", "javascript:1", "http://[bad", "mailto:x@y"])
def test_a_base_that_is_no_web_address_is_ignored(href: str) -> None:
    assert parse(f'<base href="{href}"><a href=x>1</a>').links[0].url == "https://example.com/dir/x"


def test_links_come_out_as_a_memory_remembers_them() -> None:
    memory = LinkMemory()
    first = parse("<a href=x>1</a>", memory=memory)
    assert parse("<a href=x>1</a>", memory=memory).links == first.links


def test_what_the_head_says() -> None:
    page = parse(
        """<html lang="de-AT"><head><title> A
        title </title><meta name="Description" content="What it is">
        <meta property="og:title" content="OG"><meta property="og:image" content="/i.png">
        <link rel=canonical href="/canon"><link rel="alternate" hreflang="fr-CA" href="/fr">
        <link rel="alternate" type="application/rss+xml; charset=utf-8" title="News" href="/feed">
        <meta http-equiv="refresh" content="3; url=next.html"></head><body>Kurz"""
    )
    assert page.title == "A title"
    assert page.description == "What it is"
    assert page.open_graph == (("title", "OG"), ("image", "/i.png"))
    assert page.canonical == "https://example.com/canon"
    assert page.hreflang == (("fr-CA", "https://example.com/fr"),)
    assert page.feeds == (Link("https://example.com/feed", "link", "alternate", "News"),)
    assert page.refresh == Refresh(3, "https://example.com/dir/next.html")
    assert page.language == "de"


def test_the_first_canonical_and_the_first_title_count() -> None:
    page = parse("<title>1</title><link rel=canonical href=/1><link rel=canonical href=/2><body><title>2</title>")
    assert (page.title, page.canonical) == ("1", "https://example.com/1")


@pytest.mark.parametrize(
    ("metas", "headers", "expected"),
    [
        ("<meta name=robots content='NOINDEX, nofollow'>", (), MetaRobots(noindex=True, nofollow=True)),
        ("<meta name=robots content=none>", (), MetaRobots(noindex=True, nofollow=True)),
        ("<meta name=Gossamer content=noarchive>", (), MetaRobots(noarchive=True)),
        ("<meta name=otherbot content=noindex>", (), MetaRobots()),
        ("<meta name=robots content='index, follow, all'>", (), MetaRobots()),
        ("<meta name=robots content=noindex>", [("X-Robots-Tag", "nosnippet")], MetaRobots(noindex=True, nosnippet=True)),
        ("", [("x-robots-tag", "otherbot: noindex, nofollow")], MetaRobots()),
        ("", [("x-robots-tag", "Gossamer: noindex"), ("X-Robots-Tag", "other: none")], MetaRobots(noindex=True)),
        ("", [("x-robots-tag", "otherbot: noindex, gossamer: nofollow")], MetaRobots(nofollow=True)),
        ("", [("x-robots-tag", "noimageindex, notranslate")], MetaRobots(noimageindex=True, notranslate=True)),
        ("<meta name=robots content='max-snippet:20, nosnippet'>", (), MetaRobots(nosnippet=True, max_snippet=20)),
        (
            "",
            [("x-robots-tag", "unavailable_after: 25 Jun 2030 15:00:00 PST")],
            MetaRobots(unavailable_after="25 Jun 2030 15:00:00 PST"),
        ),
    ],
)  # fmt: skip
def test_what_the_page_asks_of_crawlers(metas: str, headers: list[tuple[str, str]], expected: MetaRobots) -> None:
    assert parse(metas, headers=headers).robots == expected


def test_the_agent_name_is_a_parameter() -> None:
    markup = "<meta name=mybot content=noindex>"
    assert parse(markup, agent="MyBot").robots.noindex
    assert not parse(markup).robots.noindex


@pytest.mark.parametrize(
    ("body", "content_type", "encoding", "source", "text"),
    [
        (b"\xef\xbb\xbfcaf\xc3\xa9", "text/html; charset=latin1", "UTF-8", "bom", "café"),
        (b"\xff\xfec\x00a\x00f\x00\xe9\x00", "text/html", "UTF-16LE", "bom", "café"),
        (b"\xfe\xff\x00c\x00a\x00f\x00\xe9", "text/html", "UTF-16BE", "bom", "café"),
        (b"caf\xe9", "text/html; charset=iso-8859-1", "windows-1252", "header", "café"),
        (b"<meta charset=utf-8>caf\xe9", "text/html; charset=latin1", "windows-1252", "header", "café"),
        (b"<meta charset=koi8-r>\xc1\xc2", "text/html", "KOI8-R", "meta", "аб"),
        (b"<meta charset=utf-16le>caf\xc3\xa9", "text/html", "UTF-8", "meta", "café"),
        (b"<meta charset=nonsense>caf\xc3\xa9", "text/html; charset=nonsense", "UTF-8", "detected", "café"),
        (b"plain", "text/html", "windows-1252", "default", "plain"),
        (b"\x93quoted\x94 \x81", "text/html; charset=ascii", "windows-1252", "header", "“quoted” \x81"),
        (b"<meta charset=shift_jis>\x93\xfa\x96{", "text/html", "Shift_JIS", "meta", "日本"),
        (b"<meta charset=hz-gb-2312>x", "text/html", "replacement", "meta", "\ufffd"),
    ],
)  # fmt: skip
def test_the_encoding_and_where_it_came_from(
    body: bytes, content_type: str, encoding: str, source: str, text: str
) -> None:
    page = parse_page(body, URL, content_type, text="full")
    assert (page.encoding, page.encoding_source, page.full_text) == (encoding, source, text)


def test_invalid_bytes_become_replacement_characters_everywhere() -> None:
    page = parse_page(b"<title>\xff</title><a href=/\xff>\xed\xa0\x80</a>", URL, "text/html; charset=utf-8")
    assert page.title == "\ufffd"
    assert page.links[0].url == "https://example.com/%EF%BF%BD"
    page.links[0].text.encode()


@pytest.mark.parametrize(
    ("body", "content_type", "media_type", "text"),
    [
        (b"Just text", "text/plain", "text/plain", "Just text"),
        (b"<p>Markup</p>", "text/plain", "text/plain", "<p>Markup</p>"),
        (b'{"a": 1}', "application/json", "application/json", ""),
        (b"%PDF-1.7", None, "application/pdf", ""),
        (b"\x89PNG\r\n\x1a\n....", None, "image/png", ""),
        (b"<!DOCTYPE HTML><p>Hi</p>", None, "text/html", "Hi"),
        (b"  <html><p>Hi</p>", None, "text/html", "Hi"),
        (b"Just words", None, "text/plain", "Just words"),
        (b"<?xml version='1.0'?><html><p>Hi</p></html>", "application/xhtml+xml", "application/xhtml+xml", "Hi"),
        (b"x", "not a type", "text/plain", "x"),
        (b"", None, "text/plain", ""),
    ],
)
def test_the_media_type_decides_what_is_read(body: bytes, content_type: str | None, media_type: str, text: str) -> None:
    page = parse_page(body, URL, content_type)
    assert (page.media_type, page.text) == (media_type, text)


def test_the_content_type_may_come_with_the_headers() -> None:
    page = parse_page(b"<p>x", URL, None, [("Content-Type", "text/plain"), ("content-type", "text/html")])
    assert (page.media_type, page.text) == ("text/html", "x")


def test_a_text_mode_gives_what_it_names() -> None:
    markup = "<nav>Menu</nav><p>" + "A sentence that says something. " * 10
    texts = {mode: parse(markup, text=mode) for mode in ("main", "full", "both", "none")}
    assert "Menu" not in texts["main"].text
    assert not texts["main"].full_text
    assert texts["full"].full_text.startswith("Menu\nA sentence")
    assert not texts["full"].text
    assert texts["both"].text == texts["main"].text
    assert texts["both"].full_text == texts["full"].full_text
    assert texts["none"].text == texts["none"].full_text == ""


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        (Bounds(max_bytes=1024), "The body was cut at 1,024 of its"),
        (Bounds(max_links=3), "Links past number 3 were left out, of 10 references."),
        (Bounds(max_text=100), "The full text was cut at 100 of its"),
    ],
)
def test_a_bound_cuts_and_says_so_and_what_came_before_stays(bounds: Bounds, said: str) -> None:
    markup = "<title>T</title>" + "".join(f"<a href=/{n}>Link {n}</a>" for n in range(10)) + "<p>word </p>" * 200
    page = parse(markup, bounds=bounds)
    assert any(sentence.startswith(said) for sentence in page.cuts)
    assert page.title == "T"
    assert page.links[0].url == "https://example.com/0"


def test_long_anchors_and_titles_are_bounded() -> None:
    page = parse(f"<title>{'t ' * 9000}</title><a href=/x>{'w ' * 9000}</a>")
    assert len(page.title) <= 1000
    assert len(page.links[0].text) <= 200
