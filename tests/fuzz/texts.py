"""Targets that read text: robots.txt, sitemaps, pages, URLs, header values, settings."""

import atexit
import gzip
import math
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

import msgspec

from gossamer.cli.options import set_value
from gossamer.errors import ConfigError, InvalidURL
from gossamer.fetch import decode, url_refusal
from gossamer.parse import Bounds, parse_media_type, parse_page
from gossamer.parse.mime import media_type_of
from gossamer.parse.refresh import parse_refresh
from gossamer.politeness import parse_retry_after
from gossamer.robots import RobotsTxt
from gossamer.scope import Reach, Scope
from gossamer.settings import Settings, load, merge
from gossamer.sitemap import SitemapBounds, parse_sitemap
from gossamer.traps import HostShape, TrapRules, check, template_of
from gossamer.url import (
    AGGRESSIVE,
    DEFAULT,
    LinkMemory,
    Resolver,
    canonicalize,
    fingerprint,
    host_of,
    origin_of,
    registrable_domain,
    resolve,
    surt,
)
from tests.fuzz import texts_seeds as seeds
from tests.fuzz.target import Target

__all__ = ["MEMORY", "SCRATCH", "TEXTS", "scratch"]

HOME = "https://www.example.com/folder/page.html?x=1"
AGENT = "Gossamer/1.0 (+https://operator.example/)"


def robots(data: bytes) -> None:
    """First line: the path that is asked about; the rest: the file."""
    path, _, body = data.partition(b"\n")
    url = "https://example.com/" + path.decode("latin-1")
    rules = RobotsTxt.parse(body)
    again = RobotsTxt.parse(rules.source)
    assert again.sitemaps == rules.sitemaps
    lines = rules.source.splitlines()
    for agent in (AGENT, "*", "", "Other"):
        said = rules.explain(agent, url)
        assert rules.allows(agent, url) == said.allowed == again.allows(agent, url)
        assert rules.allows(agent, "https://example.com/robots.txt")
        assert said.line is None or 1 <= said.line <= len(lines)
        delay, rate = rules.crawl_delay(agent), rules.request_rate(agent)
        assert delay is None or (delay >= 0 and math.isfinite(delay))
        assert rate is None or (rate.delay >= 0 and math.isfinite(rate.delay))
    for named in rules.sitemaps:
        named.encode("utf-8")


SITEMAP_TYPES = (
    None,
    "application/xml",
    "text/plain",
    "text/xml; charset=utf-16",
    "application/gzip",
    "text/html; charset=x",
)
SMALL = SitemapBounds(bytes_unpacked=300_000, entries=500, alternates=50, url_length=200, nesting=16, tags=20_000)


def sitemap(data: bytes) -> None:
    """First byte: the media type it comes with; the rest: the file."""
    kind, body = SITEMAP_TYPES[(data[0] if data else 0) % len(SITEMAP_TYPES)], data[1:]
    found = parse_sitemap(body, "https://example.com/sitemap.xml", kind, SMALL)
    assert found == parse_sitemap(body, "https://example.com/sitemap.xml", kind, SMALL)
    assert len(found.entries) + len(found.children) <= SMALL.entries
    for entry in found.entries:
        _usable(entry.url)
        assert entry.priority is None or 0 <= entry.priority <= 1
        assert entry.lastmod is None or math.isfinite(entry.lastmod)
    for child in found.children:
        _usable(child.url)
    for problem in found.problems:
        assert problem.strip(), "a problem without words"
        problem.encode("utf-8")
    if not body.startswith(b"\x1f\x8b") and len(body) < 100_000:
        packed = parse_sitemap(gzip.compress(body, 1), "https://example.com/sitemap.xml", kind, SMALL)
        assert (packed.entries, packed.children) == (found.entries, found.children)


def _usable(url: str) -> None:
    assert url.startswith(("http://", "https://")), url
    assert url.isascii(), url
    assert len(url) <= SMALL.url_length * 12  # escaped, a character is up to twelve
    assert resolve(url) == url


PAGE_TYPES = (
    None,
    "text/html",
    "text/html; charset=gbk",
    "application/xhtml+xml",
    "text/plain",
    "text/html; charset=utf-16",
)
NARROW = Bounds(
    max_bytes=200_000, max_tags=5_000, max_depth=64, max_links=500, max_text=20_000, max_anchor=50, max_title=80
)


def page(data: bytes) -> None:
    """First byte: the media type it comes with; the rest: the body."""
    kind, body = PAGE_TYPES[(data[0] if data else 0) % len(PAGE_TYPES)], data[1:]
    found = parse_page(body, HOME, kind, text="both", bounds=NARROW)
    for text in (found.title, found.text, found.full_text, found.description, found.language, *found.cuts):
        text.encode("utf-8")
    assert len(found.title) <= NARROW.max_title
    assert len(found.text) <= NARROW.max_text
    assert len(found.full_text) <= NARROW.max_text
    assert len(found.links) <= NARROW.max_links
    for link in (*found.links, *found.feeds):
        assert link.url.startswith(("http://", "https://"))
        assert resolve(link.url) == link.url
        assert len(link.text) <= NARROW.max_anchor
    memory = LinkMemory(DEFAULT, most=50)
    for _ in range(2):
        remembered = parse_page(body, HOME, kind, text="none", bounds=NARROW, memory=memory)
        assert [link.url for link in remembered.links] == [canonicalize(link.url, DEFAULT) for link in found.links]


@cache
def _scopes() -> tuple[Scope, ...]:
    return tuple(Scope((HOME,), reach, (), ("[?&]sid=",)) for reach in Reach)


def url(data: bytes) -> None:
    """Two lines: a base and a reference."""
    first, _, second = data.partition(b"\n")
    base_text, href = first.decode("utf-8", "surrogateescape"), second.decode("utf-8", "surrogateescape")
    try:
        base = resolve(base_text)
    except InvalidURL:
        base = HOME
    try:
        absolute = resolve(href, base)
    except InvalidURL:
        return
    assert absolute.isascii()
    assert resolve(absolute) == absolute
    for rules in (DEFAULT, AGGRESSIVE):
        canonical = canonicalize(absolute, rules)
        assert canonicalize(canonical, rules) == canonical, "not idempotent"
        assert resolve(canonical) == canonical, "no URL that the standard would write"
    if href.isprintable():
        assert Resolver(base).resolve(href) == absolute
        memory = LinkMemory(DEFAULT)
        assert Resolver(base, memory).resolve(href) == Resolver(base, memory).resolve(href)
    _judged(canonicalize(absolute))


def _judged(canonical: str) -> None:
    if not canonical.startswith(("http://", "https://")):
        return
    host = host_of(canonical)
    assert host
    assert host_of(origin_of(canonical)) == host
    registrable_domain(host)
    assert surt(canonical)
    assert 0 <= fingerprint(canonical) < 1 << 64
    for scope in _scopes():
        assert scope.holds(canonical) == (scope.refusal(canonical) is None)
    rules = TrapRules()
    trap = check(canonical, rules)
    assert trap is None or (trap.rule and trap.reason)
    template_of(canonical)
    HostShape().admit(canonical, 1.7e9, rules)
    refused = url_refusal(canonical)
    assert refused is None or refused.endswith(".")


def headers(data: bytes) -> None:
    """The values of headers that are read: each line is tried as each of them."""
    for line in data.split(b"\n")[:20]:
        value = line.decode("latin-1")
        seconds = parse_retry_after(value, 1.7e9, 5_000.0)
        assert seconds is None or 0 <= seconds <= 5_000
        media = parse_media_type(value)
        assert media is None or parse_media_type(str(media)) == media
        media_type_of([value, value])
        refresh = parse_refresh(value)
        assert refresh is None or 0 <= refresh[0] <= 86_400
        answer = parse_page(
            b"<p>text",
            HOME,
            None,
            (
                ("X-Robots-Tag", value),
                ("Content-Type", value),
                ("Content-Language", value),
                ("Link", value),
                ("Refresh", value),
            ),
        )
        answer.text.encode("utf-8")
        for link in answer.links:
            assert resolve(link.url) == link.url


CODINGS = ("gzip", "deflate", "br", "zstd", "gzip, gzip", "br, gzip", "x-gzip", "identity, deflate", "nonsense")


def codings(data: bytes) -> None:
    """First byte: the coding; the rest: the body."""
    coding, body = CODINGS[(data[0] if data else 0) % len(CODINGS)], data[1:]
    for limit in (100_000, 10):
        found = decode(body, coding, limit)
        assert len(found.content) <= max(limit, len(body))
        assert found.problem is None or found.problem.strip()
    if found.problem is None and coding != "nonsense" and body:
        assert decode(body, coding, 100_000).problem is None


SCRATCH = "GOSSAMER_FUZZ_SCRATCH"
"""Names the folder for files, where whoever started this process clears it away: under libFuzzer nothing runs at the end."""


@cache
def scratch() -> Path:
    """A folder for files, in memory where there is one."""
    if given := os.environ.get(SCRATCH):
        return Path(given)
    folder = tempfile.mkdtemp(prefix="gossamer-fuzz-", dir=MEMORY if MEMORY.is_dir() else None)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


MEMORY = Path("/dev/shm")


def config(data: bytes) -> None:
    """A TOML file; and its lines as options of the command line."""
    path = scratch() / "settings.toml"
    path.write_bytes(data)
    try:
        made = merge(load(path))
    except ConfigError as error:
        _sentence(str(error))
    else:
        assert msgspec.json.decode(msgspec.json.encode(made), type=Settings) == made
        assert made.user_agent
    for line in data.split(b"\n")[:3]:
        try:
            name, value = set_value(line.decode("utf-8", "replace"))
            made = merge({name: value})
            assert msgspec.json.decode(msgspec.json.encode(made), type=Settings) == made
        except ConfigError as error:
            _sentence(str(error))


def _sentence(words: str) -> None:
    assert words.strip(), "an error without words"
    words.encode("utf-8")
    assert len(words) < 2_000, "an error of a page and more"


TEXTS = (
    Target("robots", robots, seeds.ROBOTS, seeds.ROBOTS_WORDS),
    Target("sitemap", sitemap, seeds.SITEMAPS, seeds.SITEMAP_WORDS, cpu_byte=30e-6),
    Target("page", page, seeds.PAGES, seeds.PAGE_WORDS, cpu_byte=40e-6, weight=2.0),
    Target("url", url, seeds.URLS, seeds.URL_WORDS),
    Target("headers", headers, seeds.HEADERS, seeds.HEADER_WORDS, cpu_byte=60e-6),
    Target("codings", codings, seeds.CODED, (b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"\x78\x9c")),
    Target("config", config, seeds.CONFIGS, seeds.CONFIG_WORDS, cpu_base=2.0, cpu_byte=60e-6),
)
