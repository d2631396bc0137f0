"""The URL rules against suites nobody here wrote: WPT, the Public Suffix List, crawler-commons, 59,000 real URLs."""

import csv
import re
import time
from typing import Any

import pytest

from gossamer.errors import InvalidURL
from gossamer.url import AGGRESSIVE, DEFAULT, canonicalize, registrable_domain, resolve
from tests.conformance.suites import load_json, suite


def resolved(href: str, base: str | None) -> str | None:
    try:
        return resolve(href, base)
    except InvalidURL:
        return None


def wpt_url_cases() -> list[dict[str, Any]]:
    return [case for case in load_json("wpt-url/urltestdata.json") if isinstance(case, dict)]


def test_every_wpt_case_resolves_to_its_href_or_fails_as_it_must() -> None:
    cases = wpt_url_cases()
    wrong = [c for c in cases if resolved(c["input"], c.get("base")) != (None if c.get("failure") else c["href"])]
    http = [c for c in cases if not c.get("failure") and c["href"].startswith(("http:", "https:"))]
    assert len(http) == 247
    assert wrong == []


def test_every_wpt_toascii_case_converts_as_it_must() -> None:
    cases = [case for case in load_json("wpt-url/toascii.json") if isinstance(case, dict)]
    assert len(cases) == 87
    for case in cases:
        expected = None if case["output"] is None else f"https://{case['output']}/x"
        assert resolved(f"https://{case['input']}/x", None) == expected, case


def test_public_suffix_vectors_give_the_registrable_domain() -> None:
    text = suite("publicsuffix/tests/test_psl.txt").read_text(encoding="utf-8")
    vectors = re.findall(r"^checkPublicSuffix\((null|'.*?'), (null|'.*?')\);", text, re.MULTILINE)
    assert len(vectors) == 78
    for given, expected in vectors:
        if given != "null":
            assert registrable_domain(given.strip("'")) == (None if expected == "null" else expected.strip("'")), given


def test_crawler_commons_references_resolve() -> None:
    rows = [r for r in _csv("crawler-commons/url-utils/url-resolve.csv") if len(r) == 3]
    assert len(rows) == 22
    # WHATWG differs from RFC 3986 here: each pair is the reference and what the standard makes of it.
    standard = {"/a%2fc": "http://example.org/a%2fc"}
    for reference, base, expected in rows:
        assert resolved(reference, base or None) == resolve(standard.get(reference, expected)), (
            reference,
            base,
        )


# Where canonicalize answers otherwise than crawler-commons, and why it means to.
KEPT_SLASHES = "a run of slashes may be another resource; the rule `slashes` (aggressive) merges them"
NO_HOST = "http and ftp URLs have a host: WHATWG refuses them, as browsers do"
FILE = "WHATWG writes file URLs with an empty host; no crawl fetches them"
NO_SCHEME = "not absolute; what a person types at the command line gets its scheme there"
EMPTY_VALUE = "a server can tell `b=` from `b`: kept as written"
EMPTY_NAME = "a parameter without a name is still sent: kept"
DISAGREEMENTS = {
    "http://foo.com//aa/bb/foo.html": KEPT_SLASHES,
    "http://foo.com/aa//bb/foo.html": KEPT_SLASHES,
    "http://foo.com/aa/bb//foo.html": KEPT_SLASHES,
    "http://foo.com//aa//bb//foo.html": KEPT_SLASHES,
    "http://foo.com////aa////bb//foo.html": KEPT_SLASHES,
    "http://foo.com////aa////bb////foo.html": KEPT_SLASHES,
    "ftp:/": NO_HOST,
    "http:////": NO_HOST,
    "http:///////": NO_HOST,
    "foo.com/index.html": NO_SCHEME,
    "file:/path/index.html": FILE,
    "file:/var/www/html/////./bar/index.html": FILE,
    "file:/var/www/html/foo/../bar/index.html": FILE,
    "http://foo.com/index?a=1&b=": EMPTY_VALUE,
    "http://foo.com/index?b=&a=1": EMPTY_VALUE,
    "http://foo.com/index?&=1&a=1": EMPTY_NAME,
    "http://foo.com/index?=1&b=1&a=1": EMPTY_NAME,
}


def test_crawler_commons_normalizer_agrees_except_where_we_say_why() -> None:
    rows = [r for r in _csv("crawler-commons/normalizer/weirdToNormalizedUrls.csv") if len(r) == 2]
    assert len(rows) >= 110
    differing = {}
    for given, expected in rows:
        try:
            ours = canonicalize(given)
        except InvalidURL:
            ours = "InvalidURL"
        if ours != expected:
            differing[given] = ours
    assert differing.keys() == DISAGREEMENTS.keys(), {k: v for k, v in differing.items() if k not in DISAGREEMENTS}


def test_crawler_commons_invalid_urls_are_refused() -> None:
    for line in suite("crawler-commons/normalizer/invalidUrls.csv").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            with pytest.raises(InvalidURL):
                canonicalize(line)


def real_urls() -> list[str]:
    files = (suite("url-datasets/kasztp.txt"), suite("url-datasets/userbait.txt"))
    return [line for file in files for line in file.read_text(encoding="utf-8-sig").splitlines() if line]


@pytest.mark.parametrize("rules", [DEFAULT, AGGRESSIVE], ids=["default", "aggressive"])
def test_real_urls_canonicalize_once_and_for_all(rules: Any) -> None:
    urls = real_urls()
    assert len(urls) > 59_000
    started = time.process_time()
    refused = 0
    for url in urls:
        try:
            once = canonicalize(url, rules)
        except InvalidURL:
            refused += 1
            continue
        assert canonicalize(once, rules) == once, url
    assert refused < len(urls) / 100
    assert (time.process_time() - started) / len(urls) < 100e-6  # a generous ceiling; `make bench` gives the figure


def _csv(name: str) -> list[list[str]]:
    lines = suite(name).read_text(encoding="utf-8").split("\n")
    kept = [line for line in lines if line.strip() and not line.startswith("#")]
    return list(csv.reader(kept, skipinitialspace=True))
