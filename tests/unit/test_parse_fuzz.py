"""Nothing the web can send raises, whatever was cut from where."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse import Page, parse_media_type, parse_page
from gossamer.parse.decoders import decode
from gossamer.parse.labels import encoding_named
from gossamer.parse.refresh import parse_refresh
from tests.conformance.suites import ROOT

URL = "https://example.com/dir/page.html"
FRAGMENTS = st.sampled_from(
    [
        *(
            "<p>",
            "</p>",
            "<a href=/x>",
            "</a>",
            "<a href='http://[x'>",
            "<div class=share>",
            "</div>",
            "<table>",
            "<td>",
        ),
        *(
            "<tr>",
            "<select>",
            "<option>",
            "<b>",
            "</b>",
            "<i class=x>",
            "<svg>",
            "<title>",
            "</title>",
            "<script>",
            "</script>",
        ),
        *(
            "<!--",
            "-->",
            "<meta charset=x>",
            "<base href=//>",
            "<br>",
            "<template>",
            "</template>",
            "<form>",
            "<frameset>",
        ),
        *(
            "<frame src=x>",
            "<html lang=x>",
            "<body>",
            "<math>",
            "<mi>",
            "&amp;",
            "&#0;",
            "&#xD800;",
            "&bogus;",
            "\x00",
            "é",
        ),
        *(
            "日本",
            "text",
            "words",
            " ",
            "<meta http-equiv=refresh content=0;url=x>",
            "<link rel=canonical href=:>",
            "<p ",
        ),
        *("<a ", "'", '"', "=", ">", "<iframe src=x>", "<plaintext>", "</table>", "<meta name=robots content=none>"),
        *(
            "<aside>",
            "<nav>",
            "</nav>",
            "<span>",
            "</span>",
            "<button>",
            "<applet>",
            "<nobr>",
            "<ruby><rt>",
            "</svg>",
            "<desc>",
        ),
    ]
)
ENCODINGS = [
    *(
        "utf-8",
        "utf-16le",
        "utf-16be",
        "gb18030",
        "big5",
        "euc-jp",
        "iso-2022-jp",
        "shift_jis",
        "euc-kr",
        "replacement",
    ),
    *("x-user-defined", "windows-1255", "koi8-u", "iso-8859-8-i", "macintosh", "windows-874"),
]


def check(page: Page) -> None:
    for text in (page.title, page.text, page.full_text, page.description, *page.cuts):
        text.encode("utf-8")
    for link in page.links:
        link.text.encode("utf-8")
        assert link.url.startswith(("http://", "https://"))
        assert link.url.isascii()


@settings(max_examples=300, deadline=1000)
@given(st.lists(FRAGMENTS, max_size=60), st.sampled_from(["main", "full", "both", "none"]))
def test_any_soup_of_tags_parses(parts: list[str], mode: str) -> None:
    check(parse_page("".join(parts).encode("utf-8", "replace"), URL, "text/html; charset=utf-8", text=mode))  # type: ignore[arg-type]


@settings(max_examples=200, deadline=1000)
@given(st.binary(max_size=2000), st.sampled_from([None, "text/html", "text/html; charset=gbk", "text/plain", "x/y"]))
def test_any_bytes_parse(body: bytes, content_type: str | None) -> None:
    check(parse_page(body, URL, content_type))


@settings(max_examples=200)
@given(
    st.binary(max_size=300),
    st.sampled_from(ENCODINGS),
)
def test_any_bytes_decode_in_any_encoding(body: bytes, label: str) -> None:
    name = encoding_named(label)
    assert name is not None
    decode(body, name).encode("utf-8")


@given(st.text(max_size=60))
def test_any_header_value_is_read_or_refused(value: str) -> None:
    parsed = parse_media_type(value)
    if parsed is not None:
        assert parse_media_type(str(parsed)) == parsed


@given(st.text(alphabet="0123456789.;, \turl='\"x", max_size=40))
def test_any_refresh_is_read_or_refused(content: str) -> None:
    parsed = parse_refresh(content)
    assert parsed is None or 0 <= parsed[0] <= 86_400


@pytest.mark.parametrize("seed", range(4))
def test_every_file_of_the_suites_parses_cut_and_damaged(seed: int) -> None:
    folders = ("html5lib-tests", "wpt-charset", "wpt-mimesniff", "article-extraction-benchmark", "crawler-commons")
    files = [path for folder in folders for path in sorted((ROOT / folder).rglob("*")) if path.is_file()]
    if not files:
        pytest.skip(f"the conformance suites are not at {ROOT}")
    chance = random.Random(seed)
    for path in chance.sample(files, min(80, len(files))):
        body = bytearray(path.read_bytes()[:200_000])
        if not body:
            continue
        del body[chance.randrange(len(body)) :]
        for _ in range(chance.randrange(20)):
            if body:
                body[chance.randrange(len(body))] = chance.choice(b"\0<>\"'&=/ \xff")
        check(parse_page(bytes(body), URL, chance.choice(["text/html", None, "text/html; charset=big5"])))
