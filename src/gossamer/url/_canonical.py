"""The one spelling of a URL.

The order of the steps matters for idempotence: the WHATWG parser first (it removes dot segments, also escaped ones, and
converts the host), then escapes, then names in the query (which escapes may have hidden), then sorting. Escapes are decided
in one pass from left to right, and a percent sign that begins no escape becomes %25: otherwise decoding `%%36%31` would
give `%61`, which a second pass would decode again.

Most links are already canonical and plain; one regular expression proves it in half a microsecond and the parse is not needed.
"""

import re
from typing import ClassVar
from urllib.parse import quote

from ada_url import URL, normalize_url

from gossamer.errors import InvalidURL
from gossamer.url._rules import DEFAULT, Rules

__all__ = ["canonicalize"]

# A host of lower-case letters, digits and hyphens whose last label is no number (no IPv4 in disguise).
_HOST = r"https?://(?:[a-z0-9][a-z0-9-]*\.)*+[a-z][a-z0-9-]*+"
# Plain: no port, no user, no query, no escape, no parameter; the path only of unreserved characters. `/.` could begin a
# dot segment and xn-- needs checking, so these take the long way.
_PLAIN = re.compile(_HOST + r"/[A-Za-z0-9/_~.-]*+\Z").match
# Parsed: the parser would return it unchanged, though the rules may not: nothing it escapes, no default port, no dots.
_PARSED = re.compile(_HOST + r"(?::(?!(?:80|443|0[0-9]*)/)[0-9]{1,4})?/[!$%&()*+,./0-9:;=?@A-Z\[\]_a-z|~-]*+\Z").match
_ESCAPED_DOT = re.compile("%2e", re.IGNORECASE).search


def canonicalize(url: str, rules: Rules = DEFAULT) -> str:
    """The canonical spelling of an absolute URL; raises InvalidURL when it is none."""
    if rules.fragment:
        url = url.partition("#")[0]  # the first # always begins the fragment
    if "/." not in url and "xn--" not in url:
        if _PLAIN(url) and not _touches_plain(rules):
            return url
        if _PARSED(url) and not _ESCAPED_DOT(url):
            return _rewrite(url, rules)
    try:
        href: str = normalize_url(url)
    except ValueError:
        raise InvalidURL(f"not an absolute URL: {url[:200]!r}") from None
    return _rewrite(href, rules)


def _touches_plain(rules: Rules) -> bool:
    return rules.trailing_slash or rules.slashes or bool(rules.documents)


def _rewrite(href: str, rules: Rules) -> str:
    """Apply the rules to a URL as the WHATWG parser serialises it."""
    head, hash_, fragment = href.partition("#")
    head, mark, query = head.partition("?")
    start = head.find("://") + 3
    if start < 3 or head.find(":") != start - 3:  # mailto:, data: and the like have no host and no hierarchy
        return head + mark + query if rules.fragment else href
    slash = head.find("/", start)
    if slash < 0:
        slash = len(head)
    authority, path = _authority(head[:slash], start, rules), head[slash:]
    if rules.percent:
        path = _FORBIDDEN.sub(_escape, path)
        query = _FORBIDDEN.sub(_escape, query)
    if ";" in path and rules.sessions:
        path = _Compiled.of(rules).session("", path)
        if "/." in path:  # `/..;sid=1/` has just become a dot segment
            path = URL(f"http://h{path}").pathname
    if query:
        query = _query(query, rules)
    if query or not rules.empty_query:
        query = mark + query
    if _touches_plain(rules):
        path = _tidy(path, rules)
    return f"{authority}{path}{query}" if rules.fragment else f"{authority}{path}{query}{hash_}{fragment}"


def _authority(head: str, start: int, rules: Rules) -> str:
    """`scheme://authority`, whose authority begins at `start`."""
    if "@" in head and rules.credentials:
        head = head[:start] + head.rpartition("@")[2]
    if rules.host_dot and (head.endswith(".") or ".:" in head):
        host, colon, port = head[start:].partition(":")
        try:  # what is left may be no host, or a number that means an address: the parser decides
            host = URL(f"{head[:start]}{host.rstrip('.')}/").hostname
        except ValueError:
            return head
        return head[:start] + host + colon + port
    return head


# --- percent-encoding ---------------------------------------------------------------------------------------------

# Allowed raw in a path or query by RFC 3986 (pchar, "/" and "?"): everything else is escaped.
_FORBIDDEN = re.compile(r"%(?:[0-9A-Fa-f]{2})?|[^A-Za-z0-9\-._~!$&'()*+,;=:@/?]+")
_UNRESERVED = frozenset(map(ord, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"))


def _escape(match: re.Match[str]) -> str:
    found = match[0]
    if found[0] != "%":
        return quote(found, safe="")
    if len(found) == 1:
        return "%25"
    code = int(found[1:], 16)
    return chr(code) if code in _UNRESERVED else found.upper()


# --- query ----------------------------------------------------------------------------------------------------------


def _query(query: str, rules: Rules) -> str:
    """The query without its `?`: what is left of it, in order."""
    unwanted = _Compiled.of(rules).unwanted
    if "&" not in query:
        return "" if unwanted(query) else query
    fields = [field for field in query.split("&") if not unwanted(field) and (field or not rules.empty_query)]
    if rules.sort_query:
        fields.sort(key=_name)
    return "&".join(fields)


def _name(field: str) -> str:
    return field.partition("=")[0]


class _Compiled:
    """The name lists of one `Rules` as patterns. Kept by identity: hashing the lists would cost more than using them."""

    __slots__ = ("rules", "session", "unwanted")
    known: ClassVar[dict[int, "_Compiled"]] = {}

    def __init__(self, rules: Rules) -> None:
        self.rules = rules  # keeps the object, and so its id, alive
        names = _alternatives(rules.tracking + rules.sessions) or "(?!)"
        self.unwanted = re.compile(rf"(?:{names})(?:=|\Z)", re.IGNORECASE).match
        self.session = re.compile(rf";(?:{_alternatives(rules.sessions) or '(?!)'})=[^/;]*", re.IGNORECASE).sub

    @classmethod
    def of(cls, rules: Rules) -> "_Compiled":
        found = cls.known.get(id(rules))
        if found is None:
            if len(cls.known) > 1_000:  # rules made on the fly: forget the old ones
                cls.known.clear()
            found = cls.known[id(rules)] = cls(rules)
        return found


def _alternatives(names: tuple[str, ...]) -> str:
    return "|".join(re.escape(n[:-1]) + "[^=&/;]*" if n.endswith("*") else re.escape(n) for n in names)


# --- path -----------------------------------------------------------------------------------------------------------


def _tidy(path: str, rules: Rules) -> str:
    """Rules that change the end of the path, until none applies: `/index.html/` ends in a document only once its slash is gone."""
    if rules.slashes and "//" in path:
        path = _SLASHES.sub("/", path)
    before = ""
    while path != before:
        before = path
        if rules.trailing_slash:
            path = path.rstrip("/") or path[:1]
        directory, slash, last = path.rpartition("/")
        if last and last.lower() in rules.documents:
            path = directory + slash
    return path


_SLASHES = re.compile("/{2,}")
