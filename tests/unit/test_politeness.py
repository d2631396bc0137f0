"""Delays keep their floor, waits their caps, silence forgives, and the clock may be set back."""

import math
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.outcome import ErrorClass
from gossamer.politeness import (
    Event,
    Failed,
    Fetched,
    HostState,
    Politeness,
    RobotsRead,
    after,
    delay_of,
    forgiven,
    longest_wait,
    parse_retry_after,
    rebased,
)

NOW = 1_700_000_000.0
POLITE = Politeness()
FRESH = HostState()
# Times near 1.7e9 have a resolution of 2.4e-7 s.
TICK = 1e-6

seconds = st.floats(0, 1e6)
settings = st.builds(
    Politeness,
    delay=st.floats(0, 100),
    crawl_delay_cap=st.floats(0, 1_000),
    answer_multiple=st.floats(0, 20),
    stretch_cap=st.floats(0, 1_000),
    backoff=st.floats(1, 1_000),
    backoff_cap=st.floats(1, 1e5),
    retry_after_cap=st.floats(1, 1e5),
    forgive_after=st.floats(0, 1e4),
    failure_backoff=st.floats(0, 1_000),
    failure_cap=st.floats(0, 1e5),
)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(
        Fetched,
        status=st.sampled_from([200, 301, 403, 404, 429, 500, 503]),
        seconds=seconds,
        retry_after=st.none() | st.floats(allow_nan=True) | st.text(max_size=12) | st.integers().map(str),
    ),
    st.builds(Failed, error=st.sampled_from(ErrorClass), seconds=seconds),
    st.builds(RobotsRead, crawl_delay=st.none() | st.floats(allow_nan=True)),
)
walks = st.lists(st.tuples(events, st.floats(-1e5, 1e5), st.floats(0, 1)), min_size=1, max_size=30)


def wait_after(event: Event, state: HostState = FRESH, polite: Politeness = POLITE, jitter: float = 0.0) -> float:
    return after(state, event, NOW, polite, jitter).next_allowed - NOW


def test_the_pause_is_one_second_from_the_end_of_a_fetch() -> None:
    assert wait_after(Fetched(200, 0.1)) == pytest.approx(1.0)


def test_a_longer_crawl_delay_wins_and_a_shorter_one_does_not() -> None:
    for asked, given_ in (
        (10.0, 10.0),
        (0.2, 1.0),
        (3_600.0, 300.0),
        (None, 1.0),
        (-4.0, 1.0),
        (math.nan, 1.0),
    ):
        state = after(FRESH, RobotsRead(asked), NOW, POLITE)
        assert wait_after(Fetched(200, 0.1), state) == pytest.approx(given_), asked


def test_a_crawl_delay_counts_from_the_reading_of_robots() -> None:
    state = after(FRESH, Fetched(200, 0.1), NOW, POLITE)
    state = after(state, RobotsRead(20.0), NOW + 0.01, POLITE)
    assert state.next_allowed == pytest.approx(NOW + 20.01)


def test_a_crawl_delay_that_is_withdrawn_no_longer_counts() -> None:
    state = after(after(FRESH, RobotsRead(20.0), NOW, POLITE), RobotsRead(None), NOW + 100, POLITE)
    assert delay_of(state, POLITE) == 1.0


def test_slow_answers_stretch_the_pause_up_to_a_cap() -> None:
    assert wait_after(Fetched(200, 4.0)) == pytest.approx(12.0)
    assert wait_after(Fetched(200, 400.0)) == pytest.approx(60.0)


def test_one_slow_answer_among_fast_ones_counts_a_quarter() -> None:
    state = after(FRESH, Fetched(200, 0.1), NOW, POLITE)
    assert after(state, Fetched(200, 4.1), NOW + 5, POLITE).answer == pytest.approx(1.1)


@pytest.mark.parametrize("status", [429, 503, 509, 529])
def test_refusals_without_retry_after_double(status: int) -> None:
    state, now, waits = FRESH, NOW, []
    for _ in range(4):
        state = after(state, Fetched(status, 0.1), now, POLITE, jitter=0.0)
        waits.append(round(state.next_allowed - now))
        now = state.next_allowed
    assert waits == [60, 120, 240, 480]


def test_refusals_keep_doubling_where_the_wait_is_longer_than_the_time_to_forgive() -> None:
    state, now, waits = FRESH, NOW, []
    for _ in range(13):
        state = after(state, Fetched(429, 0.1), now, POLITE, jitter=0.0)
        waits.append(round(state.next_allowed - now))
        now = state.next_allowed
    assert waits[-3:] == [61_440, 86_400, 86_400]


def test_jitter_adds_up_to_half() -> None:
    assert wait_after(Fetched(429), jitter=1.0) == pytest.approx(90.0)


@pytest.mark.parametrize(
    ("header", "wait"),
    [("120", 120.0), ("1", 2.0), ("0", 2.0), ("999999", 86_400.0), ("soon", 60.0), ("", 60.0), (90.0, 90.0)],
)
def test_retry_after_is_kept_up_to_its_cap(header: str | float, wait: float) -> None:
    assert wait_after(Fetched(429, 0.1, header)) == pytest.approx(wait)


def test_retry_after_is_heard_on_other_server_errors_but_not_on_a_forbidden_page() -> None:
    assert wait_after(Fetched(502, 0.1, "600")) == pytest.approx(600.0)
    assert wait_after(Fetched(403, 0.1, "600")) == pytest.approx(1.0)


def test_a_forbidden_page_is_no_rate_limit() -> None:
    state = after(FRESH, Fetched(403, 0.1), NOW, POLITE)
    assert (state.level, state.failures, state.next_allowed) == (0, 0, NOW + 1)


def test_until_it_is_forgiven_a_host_that_refused_is_visited_more_slowly() -> None:
    state = after(FRESH, Fetched(429), NOW, POLITE, jitter=0.0)
    assert delay_of(state, POLITE) == 2.0
    state = after(state, Fetched(200), state.next_allowed + 1_799, POLITE)
    assert state.level == 1
    state = after(state, Fetched(200), state.quiet_since + 1_800, POLITE)
    assert state.level == 0
    assert delay_of(state, POLITE) == 1.0


def test_a_refusal_after_half_an_hour_of_quiet_begins_anew() -> None:
    state = FRESH
    for _ in range(3):
        state = after(state, Fetched(503), NOW, POLITE, jitter=0.0)
    late = state.next_allowed + 1_800
    assert after(state, Fetched(503), late, POLITE, jitter=0.0).next_allowed == pytest.approx(late + 60)


def test_a_host_that_cannot_be_reached_is_left_alone_longer_each_time_until_it_answers() -> None:
    state, now, waits = FRESH, NOW, []
    for _ in range(12):
        state = after(state, Failed(ErrorClass.CONNECT_REFUSED), now, POLITE, jitter=0.0)
        waits.append(round(state.next_allowed - now))
        now = state.next_allowed
    assert waits[:3] == [30, 60, 120]
    assert waits[-1] == 21_600
    state = after(state, Fetched(200, 0.1), now, POLITE)
    assert (state.failures, state.next_allowed) == (0, now + 1)


def test_server_errors_in_a_row_slow_the_host_down_and_do_not_stop_it() -> None:
    state, now, waits = FRESH, NOW, []
    for _ in range(8):
        state = after(state, Fetched(500, 0.1), now, POLITE)
        waits.append(round(state.next_allowed - now))
        now = state.next_allowed
    assert waits == [2, 4, 8, 16, 32, 60, 60, 60]


@pytest.mark.parametrize("error", [ErrorClass.ROBOTS_DENIED, ErrorClass.GUARD_REFUSED])
def test_a_url_refused_before_a_byte_was_sent_costs_the_host_no_pause(error: ErrorClass) -> None:
    state = after(FRESH, Fetched(200), NOW, POLITE)
    assert after(state, Failed(error), NOW + 0.5, POLITE) == state


def test_an_answer_on_another_connection_does_not_lift_a_wait() -> None:
    state = after(FRESH, Fetched(429, 0.1, "3600"), NOW, POLITE)
    assert after(state, Fetched(200, 0.1), NOW + 0.2, POLITE).next_allowed == NOW + 3_600


def test_a_clock_set_back_neither_blocks_a_host_nor_lets_it_be_fetched_early() -> None:
    state = after(FRESH, Fetched(429, 0.1, "600"), NOW, POLITE)
    day = 86_400.0
    assert rebased(state, NOW - day).next_allowed == NOW - day + 600
    assert after(state, RobotsRead(None), NOW - day, POLITE).next_allowed == NOW - day + 600
    assert after(state, Fetched(200, 0.1), NOW - day, POLITE).next_allowed == NOW - day + 600
    assert rebased(state, NOW + 1) is state


@given(settings, walks)
def test_the_pause_keeps_its_floor_and_no_host_waits_past_the_caps(
    polite: Politeness, walk: list[tuple[Event, float, float]]
) -> None:
    state, now = FRESH, NOW
    for event, step, jitter in walk:
        now = max(now + step, 1e6)
        state = after(state, event, now, polite, jitter)
        assert all(math.isfinite(x) for x in msgspec.structs.astuple(state))
        assert state.next_allowed - now <= longest_wait(polite) + TICK
        assert delay_of(state, polite) >= polite.delay
        touched = isinstance(event, Fetched) or (
            isinstance(event, Failed) and event.error not in (ErrorClass.ROBOTS_DENIED, ErrorClass.GUARD_REFUSED)
        )
        if touched:
            assert state.next_allowed - now >= polite.delay - TICK
            assert state.next_allowed - now >= min(state.crawl_delay, polite.crawl_delay_cap) - TICK


@given(settings, walks, st.floats(0, 1e7), st.sampled_from([429, 503]), st.floats(0, 1))
def test_retry_after_is_honoured_whatever_came_before(
    polite: Politeness, walk: list[tuple[Event, float, float]], asked: float, status: int, jitter: float
) -> None:
    state, now = FRESH, NOW
    for event, step, j in walk:
        now += abs(step)
        state = after(state, event, now, polite, j)
    state = after(state, Fetched(status, 0.1, asked), now, polite, jitter)
    assert state.next_allowed - now >= min(asked, polite.retry_after_cap) - TICK


@given(settings, walks)
def test_thirty_quiet_minutes_after_any_history_forgive_all_refusals(
    polite: Politeness, walk: list[tuple[Event, float, float]]
) -> None:
    state, now = FRESH, NOW
    for event, step, jitter in walk:
        now += abs(step)
        state = after(state, event, now, polite, jitter)
    late = max(now, state.quiet_since + polite.forgive_after)
    assert after(state, Fetched(200, 0.1), late, polite).level == 0


@given(
    settings,
    st.floats(0, 50),
    st.floats(0, 500),
    st.lists(st.integers(0, 100), min_size=2, max_size=8).map(sorted),
)
def test_the_pause_grows_with_the_level(
    polite: Politeness, answer: float, crawl_delay: float, levels: list[int]
) -> None:
    delays = [delay_of(HostState(0.0, crawl_delay, answer, level), polite) for level in levels]
    assert all(a <= b for a, b in pairwise(delays))


@given(walks)
def test_a_state_survives_being_written_down(walk: list[tuple[Event, float, float]]) -> None:
    state = FRESH
    for event, _, jitter in walk:
        state = after(state, event, NOW, POLITE, jitter)
    packed = msgspec.msgpack.encode(state)
    assert msgspec.msgpack.decode(packed, type=HostState) == state
    assert len(packed) <= 60


@given(events)
def test_an_event_survives_the_wire(event: Event) -> None:
    again = msgspec.msgpack.decode(msgspec.msgpack.encode(event), type=Fetched | Failed | RobotsRead)
    assert msgspec.msgpack.encode(again) == msgspec.msgpack.encode(event)
    assert type(again) is type(event)


# 1994-11-06 08:49:37 UTC, the RFC's own example, is this many seconds after 1970.
EXAMPLE = 784_111_777.0


@pytest.mark.parametrize(
    "date",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "  sun, 6 nov 1994 08:49:37 utc ",
        "06 Nov 1994 08:49:37 +0000",
        "Sun, 06-Nov-1994 08:49:37 GMT",
    ],
)
def test_a_date_is_read_in_each_of_its_forms(date: str) -> None:
    assert parse_retry_after(date, EXAMPLE - 100) == 100
    assert parse_retry_after(date, EXAMPLE + 100) == 0


def test_a_two_digit_year_is_never_more_than_fifty_years_ahead() -> None:
    assert parse_retry_after("Sunday, 06-Nov-94 08:49:37 GMT", NOW) == 0
    assert parse_retry_after("Tuesday, 14-Nov-73 22:13:20 GMT", NOW) == 86_400


@pytest.mark.parametrize(
    ("value", "asked"),
    [("0", 0), ("17", 17), ("+5", 5), ("-5", 0), ("2.5", 2), ("9" * 5_000, 86_400), ("86401", 86_400)],
)
def test_seconds_are_read_and_bounded(value: str, asked: float) -> None:
    assert parse_retry_after(value, NOW) == asked


@pytest.mark.parametrize(
    "value",
    [
        "",
        "soon",
        "nan",
        "inf",
        "1e5",
        "1_000",
        "٣",
        "10 s",
        "Sun, 06 Foo 1994 08:49:37 GMT",
        "Sun, 99 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 PST",
    ],
)
def test_nonsense_asks_for_nothing(value: str) -> None:
    assert parse_retry_after(value, NOW) is None


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", fullmatch=True))
def test_no_header_raises_or_asks_for_more_than_the_cap(value: str) -> None:
    asked = parse_retry_after(value, NOW)
    assert asked is None or 0 <= asked <= 86_400


def test_a_delay_of_zero_means_no_pause_however_slow_the_answers_are() -> None:
    state = after(HostState(), Fetched(200, 5.0), 1_000.0, Politeness(delay=0.0))
    assert state.next_allowed == 1_000.0
    assert after(HostState(), Fetched(200, 5.0), 1_000.0, Politeness(delay=0.001)).next_allowed == 1_015.0


def test_a_host_that_is_forgiven_waits_for_no_failure_but_for_all_it_asked_for() -> None:
    polite = Politeness()
    state = HostState()
    for _ in range(8):
        state = after(state, Failed(ErrorClass.CONNECT_REFUSED), NOW, polite)
    assert state.next_allowed > NOW + 1_000
    free = forgiven(state, NOW + 5, polite)
    assert (free.failures, free.next_allowed) == (0, NOW + 5 + polite.delay)
    for status in (503, 500):
        asked = after(state, Fetched(status, retry_after="900"), NOW, polite)
        assert forgiven(asked, NOW + 5, polite).next_allowed >= NOW + 900
    assert forgiven(HostState(), NOW, polite).next_allowed <= NOW, "and one that waits for nothing need not begin to"
