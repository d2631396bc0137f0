"""Groups: which URLs of a host are judged together by what their pages turned out to be.

A template (`template_of`) tells two URLs apart by every word in them, which is right for budgets and too fine for learning: each page of a
maze, of a session in the path, each combination of filters would be a template of its own. A group is coarser. `/shop/blue-chair` belongs
to `/shop/*`, `/events/2031/05` to `/events/{n}/{n}`, `/s/8f3b…/news/x` to `/s/{id}/**`; and a query puts a URL into one group for each of its
parameters, `/shop?sort` and `/shop?page`, because it is parameters that are noise or not, and seldom their combinations.
"""

import re
from functools import lru_cache

__all__ = ["groups_of", "pairs_of", "path_of", "without"]

DEPTH = 3
PARAMETERS = 8
_LONGEST = 120
# A word of a path that is part of its structure, not the name of a page: `/en/products/…`.
_PLAIN = re.compile(r"[A-Za-z]{1,14}(?:\.[a-z]{2,5})?")
_FIRST = re.compile(r"[A-Za-z._-]{1,24}")
_ID = re.compile(r"(?=.*[0-9])[0-9A-Za-z]{16,}|(?=.*[0-9])[0-9A-Fa-f]{8,}|[0-9A-Fa-f]{8}-[0-9A-Fa-f-]{27}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2})?")


def path_of(url: str) -> str:
    """The URL up to its query."""
    return url.partition("?")[0]


def groups_of(url: str) -> tuple[str, tuple[str, ...]]:
    """The group of a URL's path, and the names of its parameters."""
    start = url.find("/", 8)
    path, _, query = (url[start:] if start >= 0 else "/").partition("?")
    if not query:
        return _group(path[:_LONGEST], script=False), ()
    return _group(path[:_LONGEST], script=True), tuple(sorted(dict(pairs_of(query)))[:PARAMETERS])


def pairs_of(query: str) -> list[tuple[str, str]]:
    """Names and values of a query."""
    split = (pair.partition("=") for pair in query.split("&") if pair)
    return [(name[:40], value) for name, _, value in split]


def without(url: str, name: str) -> str:
    """The URL without a parameter."""
    path, _, query = url.partition("?")
    kept = "&".join(pair for pair in query.split("&") if pair.partition("=")[0][:40] != name)
    return f"{path}?{kept}" if kept else path


@lru_cache(maxsize=8_192)
def _group(path: str, *, script: bool) -> str:
    """`script`: the path has a query, so its last word names what answers, not a page."""
    segments = path.split("/")[1:]
    found: list[str] = []
    last = len(segments) - 1
    for at, segment in enumerate(segments):
        if found and (found[-1].endswith("{id}") or at == DEPTH) and (segment or at < last or at < DEPTH):
            return "/" + "/".join([*found, "**"])
        page = not script and (at == last or (at == last - 1 and not segments[last]))
        found.append(_kind(segment, word=_PLAIN if at else _FIRST, page=page))
    return "/" + "/".join(found)


def _kind(segment: str, *, word: re.Pattern[str], page: bool) -> str:
    if not segment:
        return ""
    if segment.isdigit():
        return "{n}"
    if _DATE.fullmatch(segment):
        return "{date}"
    name, mark, token = segment.rpartition("-")
    if _ID.fullmatch(token.strip("()") if mark else segment.strip("()")):
        return f"{name}{mark}{{id}}" if len(name) < 8 and not any(map(str.isdigit, name)) else "{id}"
    return segment if not page and word.fullmatch(segment) else "*"
