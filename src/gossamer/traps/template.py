"""Templates and groups: what a URL looks like once all that varies is taken out of it."""

import re

from gossamer.traps.rules import TrapRules

__all__ = ["plausible", "template_of", "varies", "year_of"]


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


def varies(template: str) -> bool:
    """Whether the template stands for more than one URL."""
    return "{" in template and _VARIES.search(template) is not None


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


def year_of(url: str, template: str) -> int | None:
    # The full search costs 5 µs; the template tells for most URLs that it would be in vain.
    may_be = "{date}" in template or "/{n}/{n}" in template or ("={n}" in template and _NAMED.search(template))
    found = _DATED.search(url, 8) if may_be else None
    return int(found[found.lastgroup]) if found and found.lastgroup else None


def plausible(year: int, now: float, rules: TrapRules) -> bool:
    return rules.first_year <= year <= 1970 + int(now // 31_556_952) + rules.years_ahead
