"""The table is total, its rows are sane, and each reads as a sentence."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.outcome import Action, ErrorClass, Outcome, for_error, for_status, retry_wait, settled

FINAL = {Action.DONE, Action.REDIRECT, Action.NOT_MODIFIED, Action.GONE, Action.REFUSED, Action.DEAD}
ROWS = [(str(code), for_status(code)) for code in [*range(100, 600), 0, -1, 600, 999]]
ROWS += [(error.value, for_error(error)) for error in ErrorClass]


@given(st.integers())
def test_every_integer_has_a_row(code: int) -> None:
    assert isinstance(for_status(code), Outcome)


def test_every_error_class_has_a_row_with_a_reason_of_its_own() -> None:
    reasons = {for_error(error).reason for error in ErrorClass}
    assert len(reasons) == len(ErrorClass)


def test_each_row_reads_as_a_sentence() -> None:
    odd = [
        (name, row.reason)
        for name, row in ROWS
        if not re.fullmatch(r"[A-Z]([A-Za-z',;]| (?! ))+(\.[a-z]+)?[A-Za-z',; ]*\.", row.reason)
        or len(row.reason.split()) < 4
    ]
    assert odd == []


def test_a_row_that_waits_says_how_long_and_how_often_and_ends() -> None:
    for name, row in ROWS:
        waits = row.action in {Action.RETRY, Action.DEFER_HOST}
        assert (row.retries > 0) == waits, name
        assert (row.base_wait > 0) == waits, name
        assert settled(row, row.retries + 1) in FINAL, name


@pytest.mark.parametrize(
    ("codes", "action"),
    [
        ((200, 203, 204, 205, 206, 207, 226, 299, 300), Action.DONE),
        ((301, 302, 303, 307, 308), Action.REDIRECT),
        ((304,), Action.NOT_MODIFIED),
        ((404, 410), Action.GONE),
        ((401, 402, 403, 451, 999), Action.REFUSED),
        ((202, 408, 425, 500, 502, 504, 520, 524, 0, -7, 700, 100, 101), Action.RETRY),
        ((429, 503, 509, 521, 522, 523, 529), Action.DEFER_HOST),
        ((305, 400, 405, 414, 499 - 7, 501, 505), Action.DEAD),
    ],
)
def test_statuses_do_what_a_crawler_should(codes: tuple[int, ...], action: Action) -> None:
    assert {code: for_status(code).action for code in codes} == dict.fromkeys(codes, action)


def test_a_forbidden_page_is_no_rate_limit() -> None:
    row = for_status(403)
    assert not row.defers_host
    assert settled(row, 1) is Action.REFUSED


def test_a_missing_page_is_not_asked_for_again_at_once() -> None:
    assert for_status(404).retries == 0
    assert settled(for_status(404), 1) is Action.GONE


def test_an_unknown_code_takes_the_row_of_its_class() -> None:
    assert for_status(299) == for_status(250)
    assert for_status(499 - 9) == for_status(400)
    assert for_status(599) == for_status(500)


def test_bodies_are_kept_of_pages_and_redirects_only() -> None:
    kept = {code for code in range(100, 600) if for_status(code).stores_body}
    assert kept == (set(range(200, 400)) - {204, 205, 304, 305, 306})


def test_trouble_of_the_host_is_told_from_trouble_of_the_page() -> None:
    of_host = {error for error in ErrorClass if for_error(error).defers_host}
    assert of_host == {
        ErrorClass.DNS_NOT_FOUND,
        ErrorClass.DNS_FAILED,
        ErrorClass.CONNECT_REFUSED,
        ErrorClass.CONNECT_TIMEOUT,
        ErrorClass.UNREACHABLE,
        ErrorClass.TLS_INVALID,
        ErrorClass.TLS_FAILED,
        ErrorClass.ROBOTS_UNREACHABLE,
    }


def test_what_our_own_rules_forbid_is_not_a_failure() -> None:
    for error in (ErrorClass.GUARD_REFUSED, ErrorClass.ROBOTS_DENIED):
        assert settled(for_error(error), 1) is Action.REFUSED


def test_a_url_that_kills_workers_ends_in_the_dead_letter_list() -> None:
    row = for_error(ErrorClass.WORKER_DIED)
    assert [settled(row, attempt) for attempt in (1, 2, 3)] == [Action.RETRY, Action.RETRY, Action.DEAD]


def test_a_body_that_stays_short_is_kept_in_the_end() -> None:
    row = for_error(ErrorClass.BODY_TRUNCATED)
    assert settled(row, row.retries + 1) is Action.DONE
    assert row.stores_body


@given(st.integers(-5, 5_000), st.floats(0, 1), st.sampled_from([row for _, row in ROWS]))
def test_waits_double_within_their_bounds(attempt: int, jitter: float, row: Outcome) -> None:
    wait = retry_wait(row, attempt, jitter)
    assert row.base_wait <= wait <= 86_400
    assert retry_wait(row, attempt + 1, jitter) >= wait
    assert retry_wait(row, attempt, 1.0) >= wait >= retry_wait(row, attempt, 0.0)


def test_the_second_wait_is_twice_the_first() -> None:
    row = for_status(500)
    assert retry_wait(row, 1, 0.0) == 300
    assert retry_wait(row, 2, 0.0) == 600
    assert retry_wait(row, 1, 1.0) == 450


def test_a_page_that_cannot_be_read_is_given_up_with_its_body_kept() -> None:
    row = for_error(ErrorClass.PARSE_FAILED)
    assert settled(row, 1) is Action.DEAD
    assert row.stores_body
