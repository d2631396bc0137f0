"""Main text and full text, and the language they are in."""

import pytest

from gossamer.parse import parse_page
from gossamer.parse.language import language_of

URL = "https://example.com/"
PROSE = "The river had been rising since Tuesday and nobody in the valley believed it would stop before the bridge. "


def texts(markup: str) -> tuple[str, str]:
    page = parse_page(markup.encode(), URL, "text/html; charset=utf-8")
    return page.text, page.full_text


def test_boilerplate_is_left_out_of_the_main_text_and_kept_in_the_full_text() -> None:
    main, full = texts(
        f"""<header><nav><a href=/1>Home</a></nav></header><div class=story><h1>Title</h1><p>{PROSE}</p>
        <div class="share-buttons share">Share this</div><aside>Sponsored</aside><p>{PROSE}</p><ul><li>
        <a href=/2>Another story</a></li></ul></div><div class="comments"><p>{PROSE * 3} said a reader</p></div>
        <footer>Imprint</footer>"""
    )
    assert main == f"{PROSE.strip()}\n{PROSE.strip()}"
    for words in ("Home", "Title", "Share this", "Sponsored", "Another story", "said a reader", "Imprint"):
        assert words in full


def test_a_block_is_a_line_and_inline_elements_do_not_break_it() -> None:
    _, full = texts(
        "<p>One <b>bold</b>, <a href=/x>linked</a>\n  word</p><p>Two<br>Three</p><ul><li>A</li><li>B</li></ul>"
    )
    assert full == "One bold, linked word\nTwo\nThree\nA\nB"


def test_scripts_and_styles_are_no_text() -> None:
    _, full = texts("<style>p{}</style><script>var x</script><p>Seen</p><template>no</template><noscript>no</noscript>")
    assert full == "Seen"


@pytest.mark.parametrize(
    "article",
    [
        "<div>" + "<br><br>".join([PROSE] * 6) + "</div>",
        "<div>" + "".join(f"<div>{PROSE}</div>" for _ in range(6)) + "</div>",
        "<span>" + f"<p>{PROSE}</p>" * 6 + "</span>",
        "<table><tr><td>" + f"<p>{PROSE}</p>" * 6 + "</td></tr></table>",
    ],
    ids=["breaks", "divs", "inline root", "table"],
)
def test_articles_are_found_in_whatever_they_are_built_of(article: str) -> None:
    main, _ = texts(
        f"<div class=menu><a href=/a>Menu item</a></div>{article}<div class=footer>All rights reserved</div>"
    )
    assert main.count("The river") == 6
    assert "Menu item" not in main
    assert "reserved" not in main


def test_a_page_without_an_article_has_its_words_as_main_text() -> None:
    main, _ = texts("<h2>Contact</h2><div>Ring us any day.</div>")
    assert main == "Contact\nRing us any day."


def test_a_page_of_links_has_them_as_main_text() -> None:
    main, _ = texts(f"<nav><a href=/>Home</a></nav><ul>{'<li><a href=/x>An entry of the index</a></li>' * 9}</ul>")
    assert main == "\n".join(["An entry of the index"] * 9)


def test_the_target_of_a_link_is_no_link() -> None:
    main, _ = texts(f"<div><h2><a name=high>High water</a></h2><p>{PROSE * 3}</p><p><a href=/x>More</a></p></div>")
    assert main == f"High water\n{(PROSE * 3).strip()}"


def test_a_class_that_would_take_the_article_away_is_not_believed() -> None:
    main, _ = texts(f"<div><div class='social'><p>{PROSE * 5}</p></div><p>{PROSE}</p></div>")
    assert main.count("The river") == 6


def test_both_modes_give_the_same_main_text_when_asked_for_alone() -> None:
    markup = (
        f"<div><p>{PROSE}</p><p>See <a href=/x>this</a>. {PROSE}</p><p><a href=/y>Only a link</a></p></div>".encode()
    )
    alone = parse_page(markup, URL, "text/html", text="main").text
    assert alone == parse_page(markup, URL, "text/html", text="both").text
    assert "Only a link" not in alone


@pytest.mark.parametrize(
    ("text", "declared", "header", "expected"),
    [
        (PROSE, "", "", "en"),
        (PROSE, "en-GB", "", "en"),
        ("Der Fluss war seit Dienstag gestiegen, und niemand im Tal glaubte, dass er vor der Brücke halten würde.", "en", "", "de"),
        ("Short", "fr-CA", "", "fr"),
        ("Short", "", "pt-BR, en", "pt"),
        ("Short", "nonsense!", "", ""),
        ("", "", "", ""),
        ("1 2 3 4 5 6 7 8 9 " * 20, "sv", "", "sv"),
    ],
)  # fmt: skip
def test_the_language_is_the_texts_with_the_pages_word_as_a_hint(
    text: str, declared: str, header: str, expected: str
) -> None:
    assert language_of(text, declared, header) == expected
