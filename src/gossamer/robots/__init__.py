"""May I? What a robots.txt says: RFC 9309, and Google's leniency where the RFC is silent.

    rules = RobotsTxt.parse(body)
    rules.allows("Gossamer", "https://example.com/private/a")    # False
    rules.explain("Gossamer", "https://example.com/private/a")   # Verdict(False, line=7, text="Disallow: /private/")

A file is a list of groups: some `User-agent` lines, then the rules for them. All groups that name an agent count as one;
an agent that none names has the groups for `*`; an agent that is named has nothing of those. Of the rules that match, the
longest decides, Allow before Disallow when they are equally long, and no match means yes.

A file may name hundreds of agents and a crawl asks for one. So what is kept is the text (typically 2 KB) and, for each of
the last few agents asked for, its merged group compiled (`_rules`); the first question about an agent pays for that.

Nothing here raises on what a site sends, and no question costs more than time linear in the URL for each rule with a `*`
that could match it.
"""

import math
import re
from typing import Final

import msgspec

from gossamer.robots import _lines, _paths, _rules

__all__ = ["ALLOW_ALL", "DISALLOW_ALL", "RequestRate", "RobotsTxt", "Verdict"]

_AGENTS_KEPT: Final = 8

_NUMBER: Final = rb"([0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)"
_DELAY: Final = re.compile(_NUMBER + rb"\s*(?:s|secs?|seconds?)?", re.IGNORECASE)
_RATE: Final = re.compile(
    rb"([0-9]{1,9})\s*/\s*([0-9]{1,9})\s*([smh]?)(?:\s+([0-9]{2})([0-9]{2})\s*-\s*([0-9]{2})([0-9]{2}))?",
    re.IGNORECASE,
)
_UNITS: Final = {b"": 1, b"s": 1, b"m": 60, b"h": 3600}


class Verdict(msgspec.Struct, frozen=True):
    """Whether a URL may be fetched, and the line that says so (None: no rule speaks of it, so it may)."""

    allowed: bool
    line: int | None = None
    text: str | None = None


class RequestRate(msgspec.Struct, frozen=True):
    """At most `requests` in `seconds`; `window` is (from, to) in minutes after midnight UTC, or None for all day."""

    requests: int
    seconds: int
    window: tuple[int, int] | None = None

    @property
    def delay(self) -> float:
        """Seconds between two requests that keep this rate."""
        return self.seconds / self.requests


class _Group(msgspec.Struct, frozen=True, eq=False):
    """All that the file says to one agent."""

    allow: _rules.RuleSet | None
    disallow: _rules.RuleSet | None
    delay: float | None
    rate: RequestRate | None


class RobotsTxt(msgspec.Struct, frozen=True, eq=False):
    """A robots.txt, read. Made by `parse`; never changes."""

    source: bytes
    sitemaps: tuple[str, ...]
    _groups: dict[str, _Group]

    @classmethod
    def parse(cls, body: bytes) -> "RobotsTxt":
        """Read a body of any bytes: past 500 KiB nothing counts, and neither does a line cut there."""
        source = _lines.readable(body)
        return cls(source, _lines.sitemaps(source), {})

    def allows(self, agent: str, url: str) -> bool:
        """Whether the agent (its product token, or its whole user-agent string) may fetch the URL."""
        group = self._groups.get(agent) or self._group(agent)
        if group.disallow is None:
            return True
        allow_path, disallow_path = _paths.spellings(url)
        disallowed = group.disallow.best(disallow_path)
        if not disallowed or disallow_path == "/robots.txt":
            return True
        if group.allow is None:
            return False
        return group.allow.best(allow_path) >> _rules.LINE_BITS >= disallowed >> _rules.LINE_BITS

    def explain(self, agent: str, url: str) -> Verdict:
        """The same decision, with the line that made it."""
        group = self._groups.get(agent) or self._group(agent)
        allow_path, disallow_path = _paths.spellings(url)
        if disallow_path == "/robots.txt":
            return Verdict(True)  # RFC 9309 section 2.2.2: it is allowed whatever the rules say.
        allowed = group.allow.best(allow_path) if group.allow else 0
        disallowed = group.disallow.best(disallow_path) if group.disallow else 0
        decision = allowed >> _rules.LINE_BITS >= disallowed >> _rules.LINE_BITS
        deciding = allowed if decision else disallowed
        if not deciding:
            return Verdict(True)
        line = _rules.line_of(deciding)
        text = self.source.splitlines()[line - 1].decode("utf-8", "replace").strip()
        return Verdict(decision, line, text)

    def crawl_delay(self, agent: str) -> float | None:
        """Seconds to leave between two requests: the longest, where the agent's groups name several."""
        return (self._groups.get(agent) or self._group(agent)).delay

    def request_rate(self, agent: str) -> RequestRate | None:
        """The slowest of the rates that the agent's groups name."""
        return (self._groups.get(agent) or self._group(agent)).rate

    def __repr__(self) -> str:
        return f"<RobotsTxt of {len(self.source)} bytes>"

    def _group(self, agent: str) -> _Group:
        if len(self._groups) >= _AGENTS_KEPT:
            self._groups.clear()
        group = self._groups[agent] = _merge(self.source, _lines.product_token(agent))
        return group


class _Draft:
    """What has been gathered for one agent while the file is read."""

    __slots__ = ("allow", "delays", "disallow", "rates")

    def __init__(self) -> None:
        self.allow: list[tuple[int, int, str]] = []
        self.disallow: list[tuple[int, int, str]] = []
        self.delays: list[float] = []
        self.rates: list[RequestRate] = []

    def add(self, line: int, field: str, value: bytes) -> None:
        if field is _lines.DISALLOW:
            pattern = _paths.escape_allow(value)
            self.disallow.append((line, len(pattern), _paths.escape_disallow(pattern)))
        elif field is _lines.ALLOW:
            pattern = _paths.escape_allow(value)
            self.allow.append((line, len(pattern), pattern))
            folder, slash, document = pattern.rpartition("/")
            if document.startswith("index.htm"):
                # Google: allowing the index of a folder allows the folder's own URL.
                self.allow.append((line, len(folder) + 2, folder + slash + "$"))
        elif field is _lines.DELAY:
            self.delays += _delay(value)
        elif field is _lines.RATE:
            self.rates += _rate(value)

    def group(self) -> _Group:
        return _Group(
            _rules.compile_rules(self.allow),
            _rules.compile_rules(self.disallow),
            max(self.delays, default=None),
            max(self.rates, key=lambda rate: rate.delay, default=None),
        )


def _merge(source: bytes, token: str) -> _Group:
    """Everything said to the token, or, where no group names it, to everyone.

    Only Allow and Disallow end a run of `User-agent` lines (RFC 9309 section 2.2.4: other records must not). A delay or
    rate inside such a run is for the agents named up to there.
    """
    own, everyone = _Draft(), _Draft()
    for_own = for_everyone = named = rules_seen = False
    for line, field, value in _lines.records(source):
        if field is _lines.AGENT:
            if rules_seen:
                for_own = for_everyone = rules_seen = False
            agent = _lines.agent_of_line(value)
            if agent == "*":
                for_everyone = True
            elif agent == token and token:
                for_own = named = True
            continue
        if field is _lines.ALLOW or field is _lines.DISALLOW:
            rules_seen = True
        if for_own:
            own.add(line, field, value)
        if for_everyone and not named:
            everyone.add(line, field, value)
    return own.group() if named else everyone.group()


def _delay(value: bytes) -> tuple[float, ...]:
    """The one delay that a value names, or none: negative, endless and unreadable ones do not count."""
    found = _DELAY.fullmatch(value)
    seconds = float(found[1].replace(b",", b".")) if found else math.inf
    return (seconds,) if math.isfinite(seconds) else ()


def _rate(value: bytes) -> tuple[RequestRate, ...]:
    """The one rate that a value such as `1/5`, `30/1m` or `5/1m 0200-0600` names, or none."""
    found = _RATE.fullmatch(value)
    if found is None:
        return ()
    requests, seconds = int(found[1]), int(found[2]) * _UNITS[found[3].lower()]
    if not requests or not seconds:
        return ()
    if found[4] is None:
        return (RequestRate(requests, seconds),)
    begin, end = int(found[4]) * 60 + int(found[5]), int(found[6]) * 60 + int(found[7])
    return (RequestRate(requests, seconds, (begin, end) if max(begin, end) <= 24 * 60 else None),)


ALLOW_ALL: Final = RobotsTxt.parse(b"")
DISALLOW_ALL: Final = RobotsTxt.parse(b"User-agent: *\nDisallow: /\n")
