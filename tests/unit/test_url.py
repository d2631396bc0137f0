"""What canonical means, rule by rule, and what holds for every URL."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.errors import InvalidURL
from gossamer.url import (
    AGGRESSIVE,
    DEFAULT,
    LinkMemory,
    Resolver,
    Rules,
    authority_of,
    canonicalize,
    fingerprint,
    host_of,
    origin_of,
    registrable_domain,
    resolve,
    surt,
)
from gossamer.url._canonical import _rewrite

SAME = [
    ("HTTP://Example.COM/", "http://example.com/", "scheme and host in lower case"),
    ("https://bücher.example/", "https://xn--bcher-kva.example/", "IDN as punycode"),
    ("http://example.com:80/a", "http://example.com/a", "default port of http"),
    ("https://example.com:443/a", "https://example.com/a", "default port of https"),
    ("https://example.com:80/a", "https://example.com:80/a", "another scheme's port stays"),
    ("https://example.com/a#b", "https://example.com/a", "fragment removed"),
    ("https://example.com/a/./b/../c", "https://example.com/a/c", "dot segments"),
    ("https://example.com/a/%2e%2E/c", "https://example.com/c", "escaped dot segments"),
    ("https://example.com/%7euser/%41", "https://example.com/~user/A", "unreserved decoded"),
    ("https://example.com/a%2fb%3f", "https://example.com/a%2Fb%3F", "reserved kept, hex in upper case"),
    ("https://example.com/caf\u00e9", "https://example.com/caf%C3%A9", "UTF-8 escaped"),
    ("https://example.com/100%", "https://example.com/100%25", "a lone percent sign is escaped"),
    ("https://example.com/%%36%31", "https://example.com/%2561", "decoding never makes a new escape"),
    (
        "https://example.com/?b=1&a=2&b=0",
        "https://example.com/?a=2&b=1&b=0",
        "query sorted, equal names in order",
    ),
    ("https://example.com/?", "https://example.com/", "empty query dropped"),
    ("https://example.com/?&&a=1&", "https://example.com/?a=1", "empty parameters dropped"),
    ("https://example.com/?utm_source=x&id=1&fbclid=y", "https://example.com/?id=1", "tracking removed"),
    ("https://example.com/?UTM_Source=x", "https://example.com/", "tracking names in any case"),
    ("https://example.com/?%75tm_source=x", "https://example.com/", "tracking names in escapes"),
    ("https://example.com/a;jsessionid=1F?x=1", "https://example.com/a?x=1", "session in the path"),
    ("https://example.com/?PHPSESSID=1&sid=2&x=3", "https://example.com/?x=3", "session in the query"),
    ("https://example.com/a/..;sid=1/b", "https://example.com/b", "a session id hid a dot segment"),
    ("https://user:secret@example.com/", "https://example.com/", "credentials removed"),
    ("https://example.com./", "https://example.com/", "the root's dot"),
    ("http://0x7f.1/", "http://127.0.0.1/", "addresses in disguise shown"),
    ("https://example.com/?ref=a&source=b", "https://example.com/?ref=a&source=b", "generic names stay"),
    ("https://example.com/a/index.html", "https://example.com/a/index.html", "default documents stay"),
    ("https://example.com/a/", "https://example.com/a/", "the trailing slash stays"),
]


@pytest.mark.parametrize(("given_url", "expected", "why"), SAME, ids=[why for *_, why in SAME])
def test_default_rules(given_url: str, expected: str, why: str) -> None:
    assert canonicalize(given_url) == expected


@pytest.mark.parametrize(
    ("given_url", "expected"),
    [
        ("https://example.com/a/index.html", "https://example.com/a"),
        ("https://example.com/Default.aspx", "https://example.com/"),
        ("https://example.com/index.html/", "https://example.com/"),
        ("https://example.com/a//b/", "https://example.com/a/b"),
        ("https://example.com/?ref=a&x=1", "https://example.com/?x=1"),
    ],
)
def test_aggressive_rules(given_url: str, expected: str) -> None:
    assert canonicalize(given_url, AGGRESSIVE) == expected


@pytest.mark.parametrize(
    ("off", "url"),
    [
        (Rules(fragment=False), "https://example.com/a#b"),
        (Rules(credentials=False), "https://user:secret@example.com/"),
        (Rules(host_dot=False), "https://example.com./"),
        (Rules(percent=False), "https://example.com/%7euser"),
        (Rules(sort_query=False), "https://example.com/?b=1&a=2"),
        (Rules(empty_query=False), "https://example.com/?"),
        (Rules(tracking=()), "https://example.com/?utm_source=x"),
        (Rules(sessions=()), "https://example.com/a;jsessionid=1?sid=2"),
    ],
)
def test_each_rule_can_be_switched_off(off: Rules, url: str) -> None:
    assert canonicalize(url, off) == url
    assert canonicalize(url) != url


URL_PIECES = st.lists(
    st.sampled_from(
        ["%", "%2", "%2e", "%2E", "%41", "%25", "/", "//", ".", "..", ";", ";sid=1", "?", "&", "=", "a", "B", "é", "|", "[",
         "utm_x=1", "index.html", "#", " ", "\\", "^", "0x7f", ":80", "@", "xn--", "~", "\ud800", "'", '"', "{"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
HOSTS = st.sampled_from(
    ["example.com", "Example.com.", "a..", "1.2.3.4", "0x7f.1.", "[::1]", "bücher.de", "u:p@h", "h:8080"]
)


@given(
    st.sampled_from(["http://", "https://", "ftp://", "foo://"]),
    HOSTS,
    URL_PIECES,
    st.sampled_from([DEFAULT, AGGRESSIVE]),
)
@example("http://", "foo.0x4..", "/", DEFAULT)
def test_canonicalize_twice_is_canonicalize_once(scheme: str, host: str, rest: str, rules: Rules) -> None:
    try:
        url = resolve(f"{scheme}{host}/{rest}")
    except InvalidURL:
        return
    once = canonicalize(url, rules)
    assert once == _rewrite(url, rules), "the short cuts give what the long way gives"
    assert canonicalize(once, rules) == once
    assert resolve(once) == once, "what is canonical is what a browser would send"


@given(st.text())
def test_no_text_makes_resolve_raise_anything_but_invalid_url(text: str) -> None:
    for base in (None, "https://example.com/a/b?c"):
        try:
            url = resolve(text, base)
        except InvalidURL:
            continue
        canonicalize(url)
        fingerprint(url)


@given(st.from_regex(r"(?:[A-Za-z0-9._~/-]|%[0-9a-fA-F]{2}){0,20}", fullmatch=True))
def test_escapes_keep_their_meaning(path: str) -> None:
    """The bytes a server reads after decoding are those of the original, reserved characters aside."""
    from urllib.parse import unquote_to_bytes

    url = resolve(f"https://example.com/x/{path}")
    assert unquote_to_bytes(canonicalize(url)) == unquote_to_bytes(url)
    reserved = re.compile("%2[1346789ABCFabcf]|%3[ABDFabdf]|%5[BDbd]")
    assert len(reserved.findall(canonicalize(url))) == len(reserved.findall(url))


def test_a_resolver_with_memory_answers_as_one_without() -> None:
    memory = LinkMemory(DEFAULT, most=50)
    hrefs = [
        "a",
        "./b",
        "../c",
        "/d",
        "//other.example/e",
        "https://x.example/",
        "?q=1",
        "#f",
        "",
        " ?q=2",
        "http://[",
        "a?utm_id=1",
    ]
    pages = [
        "https://h.example/x/p1",
        "https://h.example/x/p2?at=/y/z",
        "https://h.example/y/p3#a/b",
        "https://h.example/x/",
    ]
    for _ in range(5):
        for page in pages:
            resolver = Resolver(page, memory)
            for href in hrefs:
                try:
                    expected: str | None = canonicalize(resolve(href, page))
                except InvalidURL:
                    expected = None
                assert resolver.resolve(href) == expected, (href, page)


def test_parts_of_a_url() -> None:
    assert host_of("https://Example.com:8080/a@b") == "example.com"
    assert host_of("http://[::1]:80/") == "[::1]"
    assert authority_of("https://user@Example.com:8080/") == "example.com:8080"
    assert authority_of("https://example.com:443/") == "example.com"
    assert origin_of("https://example.com:8443/x?y") == "https://example.com:8443"
    assert origin_of("HTTP://EXAMPLE.com") == "http://example.com"
    with pytest.raises(InvalidURL, match="not an absolute URL"):
        host_of("/relative")


def test_registrable_domain_takes_hosts_and_urls() -> None:
    assert registrable_domain("https://a.b.example.co.uk/x") == "example.co.uk"
    assert registrable_domain("someone.github.io") == "someone.github.io"
    assert registrable_domain("co.uk") is None
    assert registrable_domain("192.0.2.7") is None
    assert registrable_domain("http://[2001:db8::1]/") is None


def test_surt_sorts_a_domain_together() -> None:
    assert surt("https://www.example.com/a?b=1") == "com,example,www)/a?b=1"
    assert surt("http://example.com:8080/") == "com,example:8080)/"
    assert surt("http://192.0.2.7/x") == "192.0.2.7)/x"
    assert surt("HTTP://EXAMPLE.com") == "com,example)/"


def test_fingerprints_are_64_bits_and_stable() -> None:
    assert fingerprint("https://example.com/") == 0x4CA4CA394042CCEB
    assert 0 <= fingerprint("https://example.com/") < 2**64
    assert fingerprint("https://example.com/a") != fingerprint("https://example.com/b")


def test_an_invalid_url_is_named_in_the_error() -> None:
    with pytest.raises(InvalidURL, match=r"not a URL: 'http://\[' on 'https://example.com/'"):
        resolve("http://[", "https://example.com/")
