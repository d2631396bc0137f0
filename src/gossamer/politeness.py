"""How long a host is to be left alone.

A host has a small state, and things happen to it: a fetch ended, a fetch failed, its robots.txt was read. `after` takes the
state, the event and the time and gives the next state; `HostState.next_allowed` is the only question anyone asks of it.
The same state and function serve an address that several hosts share.

The pause runs from the END of one fetch to the start of the next. It is the longest of

- our own `delay`;
- the host's Crawl-delay, up to `crawl_delay_cap`: a host that asks for an hour is visited at the cap, not dropped;
- `answer_multiple` times the smoothed time of its answers, up to `stretch_cap`: a slow server is a busy one (not with a
  `delay` of 0, by which the operator says that no pause is wanted);
- a pause that doubles with each sign of strain, up to `stretch_cap`: the throttle level plus the failures in a row.

A 429 or 503 (or 509, 529, which say the same) raises the throttle level and stops the host for what Retry-After asks, up to
`retry_after_cap`, or for `backoff` times two to the power of earlier refusals. The level falls back to zero at once when the
host has been quiet for `forgive_after`: so long after the end of the last such wait, without another refusal. Counting from
the end and not from the refusal matters: waits longer than half an hour would otherwise forgive themselves.
A 403 is a decision, not a rate limit; it changes nothing. A host that cannot be reached is left alone for
`failure_backoff`, doubled for each failure in a row; any answer ends the row.

Time is the caller's wall clock, which may be set back. Each event is stamped; when one arrives before the last, what the
host still has to wait is moved along with the clock, so it is neither cut short nor stretched by the jump. `rebased` does
the same for a host without events (at start-up, say).
"""

import calendar
import re
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta

from gossamer.outcome import ErrorClass, for_error

__all__ = [
    "Event",
    "Failed",
    "Fetched",
    "HostState",
    "Politeness",
    "RobotsRead",
    "after",
    "delay_of",
    "forgiven",
    "longest_wait",
    "parse_retry_after",
    "rebased",
]


class Politeness(msgspec.Struct, frozen=True):
    """How gently hosts are treated; every time is in seconds."""

    delay: Annotated[
        float,
        Meta(description="Pause between the end of a fetch and the next on the same host.", ge=0, le=86_400),
    ] = 1.0
    connections: Annotated[int, Meta(description="Fetches that may run on one host at a time.", ge=1, le=64)] = 1
    address_connections: Annotated[
        int,
        Meta(
            description="Fetches that may run on one address at a time, whichever of its hosts they are for.",
            ge=1,
            le=10_000,
        ),
    ] = 8
    crawl_delay_cap: Annotated[
        float, Meta(description="Longest Crawl-delay obeyed; a longer one is paced at this.", ge=0, le=86_400)
    ] = 300.0
    answer_multiple: Annotated[
        float,
        Meta(
            description="The pause is at least this many times the host's smoothed answer time, unless `delay` is 0.",
            ge=0,
            le=100,
        ),
    ] = 3.0
    stretch_cap: Annotated[
        float,
        Meta(description="Longest pause that slow answers and strain can bring about.", ge=0, le=86_400),
    ] = 60.0
    backoff: Annotated[
        float,
        Meta(
            description="Wait after a first 429 or 503 without Retry-After; doubles with each.",
            ge=1,
            le=86_400,
        ),
    ] = 60.0
    backoff_cap: Annotated[float, Meta(description="Longest such wait.", ge=1, le=604_800)] = 86_400.0
    retry_after_cap: Annotated[
        float, Meta(description="Longest Retry-After obeyed; a longer one is cut to this.", ge=1, le=604_800)
    ] = 86_400.0
    forgive_after: Annotated[
        float,
        Meta(description="Quiet time after the last such wait that sets the level to zero.", ge=0, le=604_800),
    ] = 1_800.0
    failure_backoff: Annotated[
        float,
        Meta(
            description="Wait after a first failure to reach a host; doubles with each in a row.",
            ge=0,
            le=86_400,
        ),
    ] = 30.0
    failure_cap: Annotated[float, Meta(description="Longest wait after such failures.", ge=0, le=604_800)] = 21_600.0


class HostState(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What is remembered of a host: about 50 bytes, kept over restarts and shared by a fleet."""

    next_allowed: float = 0.0
    """When the next fetch may start."""
    crawl_delay: float = 0.0
    """As robots.txt has it, uncapped; 0 when it has none."""
    answer: float = 0.0
    """Smoothed seconds of an answer, a quarter of it the newest; 0 before the first."""
    level: int = 0
    """Refusals (429, 503) not yet forgiven."""
    failures: int = 0
    """Failures and 5xx answers in a row."""
    quiet_since: float = 0.0
    """When the wait of the last refusal ends."""
    last_event: float = 0.0
    """When something was last heard, to notice a clock set back."""


class Fetched(msgspec.Struct, frozen=True, array_like=True, tag="fetched", gc=False):
    """A fetch ended with a status."""

    status: int
    seconds: float = 0.0
    retry_after: str | float | None = None
    """The header as sent, or seconds."""


class Failed(msgspec.Struct, frozen=True, array_like=True, tag="failed", gc=False):
    """A fetch ended without an answer."""

    error: ErrorClass
    seconds: float = 0.0


class RobotsRead(msgspec.Struct, frozen=True, array_like=True, tag="robots", gc=False):
    """robots.txt was read and says this of our pace."""

    crawl_delay: float | None = None


Event: TypeAlias = Fetched | Failed | RobotsRead

_THROTTLING = frozenset({429, 503, 509, 529})
# Refused before a byte was sent: the host noticed nothing, so it is owed no pause (a host may have thousands of these).
_NO_CONTACT = frozenset({ErrorClass.ROBOTS_DENIED, ErrorClass.GUARD_REFUSED})
# Two to the sixteenth times the smallest backoff is most of a day; the caps do the rest.
_MOST_DOUBLINGS = 16
_SMOOTHING = 0.25
_UNIT = 1.0


def delay_of(state: HostState, settings: Politeness) -> float:
    """The pause the host is owed after an ordinary fetch."""
    return _pause(state.crawl_delay, state.answer, state.level + state.failures, settings)


def longest_wait(settings: Politeness) -> float:
    """No event puts `next_allowed` further ahead than this."""
    return max(
        settings.delay,
        settings.crawl_delay_cap,
        settings.stretch_cap,
        settings.backoff_cap,
        settings.retry_after_cap,
        settings.failure_cap,
    )


def after(state: HostState, event: Event, now: float, settings: Politeness, jitter: float = 0.5) -> HostState:
    """The state once `event` has happened at `now`; `jitter` (0 to 1, drawn by the caller) adds up to half to a backoff."""
    if now < state.last_event:
        state = rebased(state, now)
    if type(event) is Fetched:
        return _fetched(state, event, now, settings, jitter)
    if type(event) is Failed:
        return _failed(state, event, now, settings, jitter)
    assert type(event) is RobotsRead
    return _paced(state, event, now, settings)


def rebased(state: HostState, now: float) -> HostState:
    """The state moved along with a clock that was set back; the same state otherwise."""
    jump = state.last_event - now
    if jump <= 0.0:
        return state
    return msgspec.structs.replace(
        state, next_allowed=state.next_allowed - jump, quiet_since=state.quiet_since - jump, last_event=now
    )


def forgiven(state: HostState, now: float, settings: Politeness) -> HostState:
    """The state of a host whose failures are not held against it any more: what it asked for (Retry-After, 429) still is."""
    state = msgspec.structs.replace(rebased(state, now), failures=0)
    wait = max(state.quiet_since, now + delay_of(state, settings))
    return msgspec.structs.replace(state, next_allowed=min(state.next_allowed, wait))


def _fetched(state: HostState, event: Fetched, now: float, settings: Politeness, jitter: float) -> HostState:
    status, quiet_since, failures = event.status, state.quiet_since, 0
    level = _level(state, now, settings)
    answer = _smoothed(state.answer, event.seconds)
    if status in _THROTTLING:
        asked = _seconds_asked(event.retry_after, now, settings)
        if asked is None:
            asked = min(settings.backoff * (1 << level) * (1.0 + 0.5 * jitter), settings.backoff_cap)
        level = min(level + 1, _MOST_DOUBLINGS)
        wait = max(asked, _pause(state.crawl_delay, answer, level, settings))
        quiet_since = max(state.next_allowed, now + wait)
    elif status >= 500:
        failures = min(state.failures + 1, _MOST_DOUBLINGS)
        asked = _seconds_asked(event.retry_after, now, settings) or 0.0
        quiet_since = max(quiet_since, now + asked) if asked else quiet_since
        wait = max(asked, _pause(state.crawl_delay, answer, level + failures, settings))
    else:
        wait = _pause(state.crawl_delay, answer, level, settings)
    # With several connections another fetch may have earned a longer wait: an answer never shortens it.
    return HostState(max(state.next_allowed, now + wait), state.crawl_delay, answer, level, failures, quiet_since, now)


def _failed(state: HostState, event: Failed, now: float, settings: Politeness, jitter: float) -> HostState:
    if event.error in _NO_CONTACT:
        return state
    level = _level(state, now, settings)
    answer = _smoothed(state.answer, event.seconds)
    failures = min(state.failures + 1, _MOST_DOUBLINGS)
    wait = _pause(state.crawl_delay, answer, level + failures, settings)
    if for_error(event.error).defers_host:
        backoff = settings.failure_backoff * (1 << (failures - 1)) * (1.0 + 0.5 * jitter)
        wait = max(wait, min(backoff, settings.failure_cap))
    return HostState(
        max(state.next_allowed, now + wait),
        state.crawl_delay,
        answer,
        level,
        failures,
        state.quiet_since,
        now,
    )


def _paced(state: HostState, event: RobotsRead, now: float, settings: Politeness) -> HostState:
    crawl_delay = event.crawl_delay or 0.0
    if not 0.0 < crawl_delay < float("inf"):  # also refuses NaN
        crawl_delay = 0.0
    next_allowed = state.next_allowed
    if crawl_delay > state.crawl_delay:  # robots.txt itself was a fetch, and the longer pause counts from it
        pause = _pause(crawl_delay, state.answer, state.level + state.failures, settings)
        next_allowed = max(next_allowed, now + pause)
    return msgspec.structs.replace(state, next_allowed=next_allowed, crawl_delay=crawl_delay, last_event=now)


def _pause(crawl_delay: float, answer: float, strain: int, settings: Politeness) -> float:
    delay = settings.delay
    stretch = answer * settings.answer_multiple if delay else 0.0
    if strain:
        stretch = max(stretch, max(delay, _UNIT) * (1 << min(strain, _MOST_DOUBLINGS)))
    if stretch > delay:
        delay = max(delay, min(stretch, settings.stretch_cap))
    if crawl_delay > delay:
        delay = max(delay, min(crawl_delay, settings.crawl_delay_cap))
    return delay


def _level(state: HostState, now: float, settings: Politeness) -> int:
    if state.level and now >= state.quiet_since + settings.forgive_after:
        return 0
    return state.level


def _smoothed(answer: float, seconds: float) -> float:
    if not seconds > 0.0:
        return answer
    return answer + (seconds - answer) * _SMOOTHING if answer else seconds


def _seconds_asked(retry_after: str | float | None, now: float, settings: Politeness) -> float | None:
    if retry_after is None:
        return None
    if isinstance(retry_after, str):
        return parse_retry_after(retry_after, now, settings.retry_after_cap)
    return min(retry_after, settings.retry_after_cap) if retry_after > 0.0 else 0.0


_SECONDS = re.compile(r"([+-]?)(\d+)(?:\.\d*)?", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CLOCK = r"(?P<h>\d\d):(?P<m>\d\d):(?P<s>\d\d)"
_ZONE = r"(?: (?:GMT|UTC|UT|Z|[+-]0000))?"
# RFC 9110 section 5.6.7, in the order of its list; the zone is GMT by definition, and some servers spell that otherwise.
_DATES = tuple(
    re.compile(form, re.ASCII | re.IGNORECASE)
    for form in (
        rf"(?:[a-z]+, ?)?(?P<day>\d\d?) (?P<month>[a-z]{{3}}) (?P<year>\d{{4}}) {_CLOCK}{_ZONE}",
        rf"(?:[a-z]+, ?)?(?P<day>\d\d?)-(?P<month>[a-z]{{3}})-(?P<year>\d{{4}}|\d\d) {_CLOCK}{_ZONE}",
        rf"[a-z]+ (?P<month>[a-z]{{3}}) {{1,2}}(?P<day>\d\d?) {_CLOCK} (?P<year>\d{{4}})",
    )
)


def parse_retry_after(value: str, now: float, cap: float = 86_400.0) -> float | None:
    """Seconds from `now` that a Retry-After header asks for, from 0 to `cap`; None when it makes no sense.

    Seconds or any of the three HTTP dates. What lies in the past is 0.
    """
    value = value.strip()
    if number := _SECONDS.fullmatch(value):
        sign, digits = number.groups()
        if sign == "-":
            return 0.0
        # Ten digits are three centuries; more would only feed a huge number to int().
        return min(float(digits), cap) if len(digits) <= 10 else cap
    for form in _DATES:
        if found := form.fullmatch(value):
            at = _timestamp(found, now)
            return None if at is None else min(max(at - now, 0.0), cap)
    return None


def _timestamp(date: re.Match[str], now: float) -> float | None:
    name = date["month"].lower()
    year, day, hour, minute, second = (int(date[part]) for part in ("year", "day", "h", "m", "s"))
    if name not in _MONTHS or not 1 <= day <= 31 or hour > 23 or minute > 59 or second > 60:
        return None
    if len(date["year"]) == 2:
        # "more than 50 years in the future" means the most recent past year with those digits (RFC 9110, 5.6.7).
        this_year = 1970 + int(now // 31_556_952)
        year += this_year - this_year % 100
        if year > this_year + 50:
            year -= 100
    if year < 1:
        return None
    return float(calendar.timegm((year, 1 + _MONTHS.index(name), day, hour, minute, second)))
