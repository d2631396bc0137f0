"""Is this host sending us in circles?

Some sites make URLs without end: relative links that pile up path segments, calendars that always have a next month, search
filters in every combination, session ids, redirects that wrap a URL into itself. Two guards stand against them.

`check(url, rules)` looks at the shape of one URL and remembers nothing. It runs on every link found, so it first counts
characters, which costs next to nothing, and takes apart only the few URLs that could break a rule.

`HostShape` belongs to the record of one host and remembers what that host's URLs have looked like. `template_of` replaces
what varies (numbers, dates, ids, parameter values) by placeholders; URLs that differ only there share a template, and each
template has a budget. Budgets are *earned*: `learned` is told whether a fetched page of the template was new or a copy of
another, so a forum with a million real threads goes on, and a calendar of empty months stops early. URLs without anything
that varies (`/about`) are counted for the host alone.

`HostShape` is a plain mutable object with one owner, the host's record: a frozen one would copy its table for each link. It
is bounded (`template_table` entries: when full, the half seen least is forgotten, so counts err on the side of admitting)
and is written down with msgspec. `admit` counts, so it is asked once for each new URL, after the check whether the URL is
known.

Both return None, or a `Trap` that names its rule and says why with the numbers in it. URLs are expected absolute and
canonical, as `gossamer.url` makes them; anything else gets an answer too.
"""

import re
from collections import Counter
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

__all__ = ["HostShape", "Rule", "TemplateCount", "Trap", "TrapRules", "check", "template_of"]


class Rule(StrEnum):
    """The name of what a URL was refused for."""

    TOO_LONG = "too-long"
    TOO_DEEP = "too-deep"
    REPEATED_SEGMENT = "repeated-segment"
    CYCLE = "cycle"
    TOO_MANY_PARAMETERS = "too-many-parameters"
    REPEATED_PARAMETER = "repeated-parameter"
    NESTED_URLS = "nested-urls"
    ENCODED_AGAIN = "encoded-again"
    HOST_BUDGET = "host-budget"
    TEMPLATE_BUDGET = "template-budget"
    CALENDAR = "calendar"


class Trap(msgspec.Struct, frozen=True):
    """A refusal: which rule, and a sentence with the numbers."""

    rule: Rule
    reason: str


class TrapRules(msgspec.Struct, frozen=True):
    """How far a URL, a template and a host may go; each number is the most that is still accepted."""

    length: Annotated[int, Meta(description="Characters in a URL.", ge=16, le=65_536)] = 2_048
    depth: Annotated[int, Meta(description="Segments in a path.", ge=1, le=1_000)] = 20
    segment_run: Annotated[int, Meta(description="Times the same path segment may come in a row.", ge=1, le=1_000)] = 3
    segment_total: Annotated[
        int, Meta(description="Times the same path segment may occur in one path, anywhere.", ge=1, le=1_000)
    ] = 5
    cycles: Annotated[
        int,
        Meta(description="Times a group of path segments may come in a row, as in /a/b/a/b.", ge=1, le=1_000),
    ] = 2
    parameters: Annotated[int, Meta(description="Parameters in a query.", ge=1, le=1_000)] = 32
    same_parameter: Annotated[
        int, Meta(description="Times one parameter name may occur in a query.", ge=1, le=1_000)
    ] = 16
    same_pair: Annotated[
        int, Meta(description="Times one parameter may occur with the same value.", ge=1, le=1_000)
    ] = 2
    nested_urls: Annotated[
        int, Meta(description="URLs written inside one another in one path or parameter.", ge=0, le=1_000)
    ] = 2
    encodings: Annotated[
        int,
        Meta(description="Times a percent sign may have been encoded again, as in %252F (once).", ge=0, le=100),
    ] = 2
    host_urls: Annotated[int, Meta(description="URLs of one host.", ge=1)] = 10_000_000
    template_urls: Annotated[
        int, Meta(description="URLs of one template on one host, before its pages have earned more.", ge=1)
    ] = 100_000
    odd_dates: Annotated[
        int,
        Meta(description="URLs of one template dated outside the years below, before they earn more.", ge=1),
    ] = 1_000
    first_year: Annotated[int, Meta(description="Dates in URLs before this year are odd.", ge=0, le=9_999)] = 1_990
    years_ahead: Annotated[int, Meta(description="Dates in URLs this many years ahead are odd.", ge=0, le=9_999)] = 2
    earned: Annotated[
        int,
        Meta(description="URLs that each new page adds to the budget of its template.", ge=0, le=1_000_000),
    ] = 20
    least_urls: Annotated[
        int, Meta(description="Budget that a template keeps however many copies it brought.", ge=1)
    ] = 100
    template_table: Annotated[int, Meta(description="Templates remembered for one host.", ge=2, le=65_536)] = 128


DEFAULT = TrapRules()


def check(url: str, rules: TrapRules = DEFAULT) -> Trap | None:
    """The rule that the shape of this URL breaks, or None."""
    if len(url) > rules.length:
        return Trap(Rule.TOO_LONG, f"The URL has {len(url):,} characters; at most {rules.length:,} are followed.")
    path, _, query = url.partition("?")
    # Three slashes belong to "https://host/": one segment alone repeats nothing.
    if path.count("/") > 3 and (trap := _check_path(path, rules)):
        return trap
    if "&" in query and (trap := _check_query(query, rules)):
        return trap
    if url.find("http", 8) > 0 and (trap := _check_nested(url, rules)):
        return trap
    if "%25" in url and "%25" + "25" * rules.encodings in url:
        times = max(len(run) for run in _ENCODED.findall(url)) // 2
        return Trap(
            Rule.ENCODED_AGAIN,
            f"A percent sign was encoded {times} times over; at most {rules.encodings} are followed.",
        )
    return None


def _check_path(path: str, rules: TrapRules) -> Trap | None:
    segments = path.split("/")[3:]
    if not segments[-1]:
        segments.pop()
    if len(segments) > rules.depth:
        return Trap(Rule.TOO_DEEP, f"The path has {len(segments)} segments; at most {rules.depth} are followed.")
    repeats = len(segments) - len(set(segments))
    if not repeats or repeats < min(rules.segment_run, rules.segment_total, 2 * rules.cycles):
        return None
    most, total = Counter(segments).most_common(1)[0]
    run = _longest_run(segments, 1)
    if run > rules.segment_run:
        return Trap(
            Rule.REPEATED_SEGMENT,
            f"A path segment comes {run} times in a row; at most {rules.segment_run} are followed.",
        )
    if total > rules.segment_total:
        return Trap(
            Rule.REPEATED_SEGMENT,
            f"The path segment {_short(most)} occurs {total} times; at most {rules.segment_total} are followed.",
        )
    for period in range(2, len(segments) // (rules.cycles + 1) + 1):
        if (cycles := _longest_run(segments, period)) > rules.cycles:
            return Trap(
                Rule.CYCLE,
                f"A group of {period} path segments comes {cycles} times in a row; at most {rules.cycles} are followed.",
            )
    return None


def _longest_run(segments: list[str], period: int) -> int:
    """How many times in a row some group of `period` segments comes, at most."""
    longest = length = 0
    for now, before in zip(segments[period:], segments, strict=False):
        length = length + 1 if now == before else 0
        longest = max(longest, length)
    return 1 + longest // period


def _check_query(query: str, rules: TrapRules) -> Trap | None:
    count = query.count("&") + 1
    if count > rules.parameters:
        return Trap(
            Rule.TOO_MANY_PARAMETERS,
            f"The query has {count} parameters; at most {rules.parameters} are followed.",
        )
    if count <= rules.same_pair and count <= rules.same_parameter:
        return None
    pairs = query.split("&")
    if count - len(set(pairs)) >= rules.same_pair:
        pair, times = Counter(pairs).most_common(1)[0]
        if times > rules.same_pair and pair not in _NO_PAIRS:
            return Trap(
                Rule.REPEATED_PARAMETER,
                f"The parameter {_short(pair)} comes {times} times alike; at most {rules.same_pair} are followed.",
            )
    if count > rules.same_parameter:
        name, times = Counter(pair.partition("=")[0] for pair in pairs).most_common(1)[0]
        if times > rules.same_parameter and name:
            return Trap(
                Rule.REPEATED_PARAMETER,
                f"The parameter {_short(name)} comes {times} times; at most {rules.same_parameter} are followed.",
            )
    return None


# Left over by "&&" and by an ampersand escaped twice.
_NO_PAIRS = ("", "amp;")
_ENCODED = re.compile(r"%((?:25)+)")
_NESTED = re.compile(r"https?(?::|%(?:25)*3a)", re.IGNORECASE)


def _check_nested(url: str, rules: TrapRules) -> Trap | None:
    if len(_NESTED.findall(url, 8)) <= rules.nested_urls:
        return None
    # A sign-in link may carry several URLs side by side; a trap carries one inside another.
    nested = max(len(_NESTED.findall(part)) for part in url[8:].split("&"))
    if nested <= rules.nested_urls:
        return None
    return Trap(
        Rule.NESTED_URLS,
        f"The URL has {nested} others written inside one another; at most {rules.nested_urls} are followed.",
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


class TemplateCount(msgspec.Struct, array_like=True, gc=False):
    """What has come of one template of a host."""

    seen: int = 0
    """URLs admitted."""
    odd: int = 0
    """Of them, those with an odd date."""
    fresh: int = 0
    """Pages fetched that were new."""
    copies: int = 0
    """Pages fetched that were exact or near copies of others."""

    def budget(self, base: int, rules: TrapRules) -> int:
        """`base` and what new pages earned, times the share of pages that were new."""
        share = (self.fresh + 1) / (self.fresh + self.copies + 1)
        return max(int(share * (base + rules.earned * self.fresh)), min(base, rules.least_urls))


class HostShape(msgspec.Struct):
    """What the URLs of one host have looked like so far; mutable, owned by the host's record."""

    urls: int = 0
    refused: int = 0
    templates: dict[str, TemplateCount] = {}

    def admit(self, url: str, now: float, rules: TrapRules = DEFAULT) -> Trap | None:
        """Count a URL that is new to the host, or say why it is one too many."""
        trap = self._over_budget(url, now, rules)
        if trap is None:
            self.urls += 1
        else:
            self.refused += 1
        return trap

    def learned(self, template: str, duplicate: bool) -> None:
        """A page of the template was fetched, and was new or a copy; templates without budget are of no interest."""
        count = self.templates.get(template)
        if count is None:
            return
        if duplicate:
            count.copies += 1
        else:
            count.fresh += 1

    def _over_budget(self, url: str, now: float, rules: TrapRules) -> Trap | None:
        if self.urls >= rules.host_urls:
            return Trap(
                Rule.HOST_BUDGET,
                f"The host has brought {self.urls:,} URLs; at most {rules.host_urls:,} are followed.",
            )
        template = template_of(url)
        if "{" not in template or not _VARIES.search(template):
            return None
        count = self.templates.get(template)
        if count is None:
            if len(self.templates) >= rules.template_table:
                self._forget_half()
            count = self.templates[template] = TemplateCount()
        if count.seen >= rules.least_urls and count.seen >= (most := count.budget(rules.template_urls, rules)):
            return Trap(
                Rule.TEMPLATE_BUDGET,
                f"The host has brought {count.seen:,} URLs like {template} ({count.fresh:,} new pages, "
                f"{count.copies:,} copies); at most {most:,} are followed.",
            )
        if (year := _year_of(url, template)) is not None and not _plausible(year, now, rules):
            if count.odd >= (most := count.budget(rules.odd_dates, rules)):
                return Trap(
                    Rule.CALENDAR,
                    f"The year {year} is odd, and {count.odd:,} URLs like {template} had such dates; "
                    f"at most {most:,} are followed.",
                )
            count.odd += 1
        count.seen += 1
        return None

    def _forget_half(self) -> None:
        # A sort of the whole table, but once in as many new templates as it makes room for.
        by_count = sorted(self.templates.items(), key=lambda item: item[1].seen, reverse=True)
        self.templates = dict(by_count[: len(by_count) // 2])


def template_of(url: str) -> str:
    """Path and query with what varies replaced: `/a/2024-05-12/b7?page=3` gives `/a/{date}/b{n}?page={n}`.

    `{n}` is a number, `{date}` a day or month, `{id}` a long mixed token (hex, UUID, session), `{slug}` a segment of many
    words, `{v}` any other parameter value.
    """
    start = url.find("/", 8)
    if start < 0:
        return "/"
    path, mark, query = url[start:].partition("?")
    path = _SLUG.sub("{slug}", _TOKEN.sub(_placeholder, path))
    if not mark:
        return path[:_LONGEST_TEMPLATE]
    return f"{path}?{_VALUE.sub(_value, query)}"[:_LONGEST_TEMPLATE]


_LONGEST_TEMPLATE = 200
_VARIES = re.compile(r"\{(?:n|id|date|v)\}")
# Each alternative starts only where a word starts (the lookbehind), so a long word is walked once, not once a letter.
# A word after a percent sign is an encoded character, not a number.
_TOKEN = re.compile(
    r"(?<![0-9A-Za-z%])(?:"
    r"(?P<uuid>[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})"
    r"|(?P<date>[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:T[0-9:.Z+-]*)?)?)(?![0-9A-Za-z])"
    r"|(?P<word>[A-Za-z]*+[0-9][0-9A-Za-z]*)"
    r")"
)
_SLUG = re.compile(r"(?<=/)[^/{}_-]++(?:[_-][^/{}_-]*+){3,}+(?![^/])")
_VALUE = re.compile(r"(?<==)[^&]+")
_DIGITS = re.compile(r"[0-9]+")
_HEX = re.compile(r"[0-9A-Fa-f]{8,}")


def _placeholder(match: re.Match[str]) -> str:
    kind, text = match.lastgroup, match[0]
    if kind == "date":
        return "{date}"
    if kind == "uuid":
        return "{id}"
    if text.isdigit():
        return "{n}"
    if len(text) >= 16 or _HEX.fullmatch(text):
        return "{id}"
    return _DIGITS.sub("{n}", text)


def _value(match: re.Match[str]) -> str:
    text = match[0]
    if text.isdigit():
        return "{n}"
    token = _TOKEN.fullmatch(text)
    return _placeholder(token) if token else "{v}"


_MONTH = r"(?:0?[1-9]|1[0-2])(?![0-9])"
_DAY = r"(?:0?[1-9]|[12][0-9]|3[01])(?![0-9A-Za-z_])"
# A year and a month alone could be a thread and its page: it takes a full date, a name, or a word for calendars nearby.
_DATED = re.compile(
    rf"(?<![0-9A-Za-z%])(?<![0-9]-)(?P<iso>[0-9]{{4}})-(?:0[1-9]|1[0-2])(?:-{_DAY})?(?![0-9A-Za-z-])"
    rf"|/(?P<path>[0-9]{{4}})/{_MONTH}/{_DAY}"
    r"|[?&](?:year|yr)=(?P<named>[0-9]{1,4})(?![0-9A-Za-z])"
    r"|[?&](?:date|day|month)=(?P<compact>[0-9]{4})(?:0[1-9]|1[0-2])(?:[0-3][0-9])?(?![0-9])"
    rf"|(?:calend|event|agenda|schedule|month)[^?]{{0,40}}/(?P<word>[0-9]{{4}})/{_MONTH}",
    re.IGNORECASE,
)


_NAMED = re.compile(r"[?&](?:year|yr|date|day|month)=\{n\}", re.IGNORECASE)


def _year_of(url: str, template: str) -> int | None:
    # The full search costs 5 µs; the template tells for most URLs that it would be in vain.
    may_be = "{date}" in template or "/{n}/{n}" in template or ("={n}" in template and _NAMED.search(template))
    found = _DATED.search(url, 8) if may_be else None
    return int(found[found.lastgroup]) if found and found.lastgroup else None


def _plausible(year: int, now: float, rules: TrapRules) -> bool:
    return rules.first_year <= year <= 1970 + int(now // 31_556_952) + rules.years_ahead
