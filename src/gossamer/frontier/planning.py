"""When a page is visited next: the pure half of recrawl in the frontier. A visit comes in, a `Watch` goes out."""

from functools import lru_cache

import msgspec

from gossamer.frontier.contract import Kind, State
from gossamer.frontier.records import Recrawl, UrlRecord, Watch
from gossamer.outcome import ErrorClass
from gossamer.recrawl import History, Prior, RecrawlPolicy, next_visit, observe, prior_from

__all__ = ["BELIEVED", "FOR_GOOD", "Planned", "missed", "planned", "trust_after", "weight_of"]

BELIEVED = 0.25
"""The least trust at which what a host's sitemaps say of changes is acted on: it survives two lies in a row, not three."""
_BACK_OFF = 2.0
ANY_PAGE = Prior()
# These are no fault of the host, or of the moment: the same would happen again, and an operator has to look.
FOR_GOOD = frozenset({ErrorClass.PARSE_FAILED, ErrorClass.WORKER_DIED, ErrorClass.UNEXPECTED})


class Planned(msgspec.Struct, frozen=True):
    """What a visit changed of a page's plans."""

    state: State
    """What the URL is now: a visit that failed leaves it as it was."""
    watch: Watch
    counted: str | None = None
    """Which of the books counts the visit: `unchanged`, `changed` or `back`."""


def weight_of(record: UrlRecord) -> float:
    """What a page counts for: 1 for an ordinary one, 2 for a seed or what a sitemap calls its best."""
    return 1.0 if record.kind is Kind.SITEMAP else 2.0 * record.priority


def planned(
    record: UrlRecord,
    state: State,
    changed: bool,
    now: float,
    rules: Recrawl,
    threshold: float,
    trust: float,
    modified: float | None = None,
) -> Planned:
    """The plan of a page after an answer."""
    watch, policy = record.watch, rules.policy
    prior = prior_from(record.changefreq) if record.changefreq is not None and trust >= BELIEVED else ANY_PAGE
    weight = weight_of(record)
    if watch is None:
        watch = Watch(History())
    if state is State.DONE:
        again = watch.history.visits > 0 and not watch.gone
        before = watch.history if again else History()
        history = observe(before, changed, now, prior, modified)
        if again:
            due = max(next_visit(history, weight, threshold, now, policy, prior), now + policy.floor)
        else:
            due = now + first_interval(weight, threshold, policy, prior)
        counted = ("changed" if changed else "unchanged") if again else "back" if watch.gone else None
        return Planned(state, _told(watch, record, history, due, due - now, 0), counted)
    if state is State.GONE:
        interval = watch.planned or first_interval(weight, threshold, policy, prior)
        interval = min(max(interval, policy.floor) * _BACK_OFF, policy.ceiling)
        gone = watch.gone + 1
        due = 0.0 if gone >= rules.retire_after else now + interval
        return Planned(state, _told(watch, record, watch.history, due, interval, gone))
    return missed(record, state, watch, now, rules)


@lru_cache(4_096)
def first_interval(weight: float, threshold: float, policy: RecrawlPolicy, prior: Prior) -> float:
    """From the first visit to the second: of most pages nothing is known but what is known of all, so it is worked out once.

    A page that is said to change all the time is not given up on its sitemap's word: it is seen as soon as any other.
    """
    interval = next_visit(History(1), weight, threshold, 0.0, policy, prior)
    hasty = prior.changes * ANY_PAGE.seconds > ANY_PAGE.changes * prior.seconds
    return min(interval, next_visit(History(1), weight, threshold, 0.0, policy)) if hasty else interval


def missed(record: UrlRecord, state: State, watch: Watch, now: float, rules: Recrawl) -> Planned:
    """The plan of a page that a visit did not get to see: later, and the later the more often."""
    if state is State.FAILED:
        if record.error in FOR_GOOD:
            return Planned(state, msgspec.structs.replace(watch, due=0.0))
        state = State.GONE if watch.gone else State.REDIRECTED if record.redirect else State.DONE
    policy = rules.policy
    interval = min(max(watch.planned, policy.floor) * _BACK_OFF, policy.ceiling)
    return Planned(state, msgspec.structs.replace(watch, due=now + interval, planned=interval))


def _told(watch: Watch, record: UrlRecord, history: History, due: float, interval: float, gone: int) -> Watch:
    return Watch(
        history, due, interval, gone, watch.lastmod, False, watch.place, watch.kept, watch.body, record.status
    )  # fmt: skip


def trust_after(trust: float, *, true: bool) -> float:
    """A host's sitemap said that a page had changed: how far it is believed now."""
    return min(1.0, trust + 0.25) if true else trust / 2
