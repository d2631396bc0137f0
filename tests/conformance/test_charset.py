"""Which encoding a page is read in: html5lib's cases and the pages of web-platform-tests."""

import re

import pytest

from gossamer.parse.encoding import choose_encoding
from gossamer.parse.labels import encoding_named
from tests.conformance.suites import suite

# These three expect a meta inside a script or a style to count; browsers, and web-platform-tests (in-script, in-style), say no.
OVERRULED = (
    b"<script>document.write('<meta",
    b'<script type="text/plain"><meta',
    b'<style type="text/plain"><meta',
)


@pytest.mark.parametrize("name", ["tests1", "tests2", "test-yahoo-jp"])
def test_html5lib_cases(name: str) -> None:
    raw = (suite("html5lib-tests") / "encoding" / f"{name}.dat").read_bytes()
    wrong = []
    cases = raw.split(b"#data\n")[1:]
    assert cases
    for case in cases:
        page, _, rest = case.partition(b"\n#encoding\n")
        expected = encoding_named(rest.split(b"\n")[0].decode().strip())
        found, _ = choose_encoding(page, None)
        if found != expected and not any(known in page for known in OVERRULED):
            wrong.append((page[:200], expected, found))
    assert wrong == []


def test_pages_whose_meta_takes_effect_or_does_not() -> None:
    checked = 0
    wrong = []
    for path in sorted(suite("wpt-charset").glob("*.html")):
        page = path.read_bytes()
        relation = re.search(rb'rel="(match|mismatch)"', page)
        if relation is None:
            continue
        checked += 1
        takes_effect = choose_encoding(page, None)[0] == "windows-1251"
        if takes_effect != (relation[1] == b"match"):
            wrong.append(path.name)
    assert checked == 22
    assert wrong == []


@pytest.mark.parametrize("quotes", ["double-quotes", "single-quotes", "no-quotes"])
@pytest.mark.parametrize("form", ["meta-charset", "meta-http-equiv"])
def test_the_meta_is_read_in_every_spelling(form: str, quotes: str) -> None:
    page = (suite("wpt-charset") / f"{form}-{quotes}.html").read_bytes()
    assert choose_encoding(page, None) == ("ISO-8859-5", "meta")
