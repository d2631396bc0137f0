"""What happens next to a URL that the crawl knows."""

import shlex
from typing import Any

from gossamer.crawl.story._pace import wait_of
from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._traps import lost_trap
from gossamer.crawl.story._values import Step, counted, moment, span
from gossamer.frontier import Order, State
from gossamer.frontier.order import CLASSES, front_class
from gossamer.frontier.records import UrlRecord, Watch
from gossamer.url import origin_of

__all__ = ["next_step"]

AHEAD = 10_000
"""URLs of its host before a queued one that are counted."""


def next_step(scene: Scene, record: UrlRecord) -> Step:
    """When it is fetched, or that it is not."""
    if record.state is State.QUEUED:
        return _queued(scene, record)
    if record.state is State.WAITING:
        left = record.again - scene.now
        when = f"in {span(left)}" if left > 0 else f"{span(-left)} ago"
        sentence = f"its time to be tried again is {moment(record.again)}, {when}"
        return Step("next", sentence, _resting(scene), {"again": record.again})
    if record.state is State.FAILED:
        command = f"gossamer failures {shlex.quote(str(scene.path))} --requeue --url {shlex.quote(record.url)}"
        sentence = (
            "nothing: it is on the list of failures; what puts it back into the queue of a crawl that is stopped:"
        )
        return Step("next", sentence, (command,), {"again": None})
    if record.watch is not None and record.watch.due:
        return _again(scene, record, record.watch)
    if record.watch is not None and record.watch.gone:
        sentence = f"nothing: it was found gone {counted(record.watch.gone, 'time')} in a row, and is visited again only if it is linked to anew"
        return Step("next", sentence, (), {"again": None})
    return Step("next", "nothing: it is settled", (), {"again": None})


def _again(scene: Scene, record: UrlRecord, watch: Watch) -> Step:
    left, history = watch.due - scene.now, watch.history
    when = f"due at {moment(watch.due)}, " + (f"in {span(left)}" if left > 0 else f"{span(-left)} ago")
    found = f"{counted(history.visits, 'visit')} found it so far, {history.changes:,} of them changed"
    gone = f"; the last {counted(watch.gone, 'one')} found it gone" if watch.gone else ""
    command = f"gossamer recrawl {shlex.quote(str(scene.path))}"
    notes = (
        () if scene.process is not None else ("the crawl is not running; what is due is visited again with:", command)
    )
    facts = {"again": watch.due, "visits": history.visits, "changes": history.changes}
    return Step("next", f"it is settled, and its next visit is {when}: {found}{gone}", notes, facts)


def _queued(scene: Scene, record: UrlRecord) -> Step:
    s, look = scene.settings, scene.host(record.url)
    front = front_class(s.order, int.from_bytes(record.entry[:2], "big"))
    ahead = scene.ledger.ahead(record, AHEAD)
    facts: dict[str, Any] = {"ahead": ahead, "front_class": front, "next_allowed": None, "waits_for": None}
    more = " or more" if ahead == AHEAD else ""
    before = f"{counted(ahead, 'URL')}{more} of its host come before it" if ahead else "it is the first of its host"
    by = "worth" if s.order is Order.BEST_FIRST else "depth"
    notes = [f"{before}; by its {by} it is in front class {front + 1} of {CLASSES}"]
    when = "it is fetched when its turn comes"
    if look is not None and look.view.dead is not None:
        when = f"it will be given up with its host: {look.view.dead}"
    elif look is not None:
        wait, why = wait_of(look.view.state, s.politeness, scene.now)
        if wait:
            when = f"its host may be asked again at {moment(look.view.state.next_allowed)}, in {span(wait)}: {why}"
            facts |= {"next_allowed": look.view.state.next_allowed, "waits_for": why}
        if look.parked:
            notes.append("its host waits on disk until one of the hosts in memory has had its turn")
        lost = None if record.attempts else lost_trap(scene, record.url)
        if lost is not None and record.via is not None:
            notes.append("it will be refused as a learned trap when its turn comes, unless it is taken as a sample")
        if record.place is not None:
            notes.append("its answer is stored and not yet read: it is read from there, and its host is not asked")
        elif look.robots.get(origin_of(record.url), 0.0) <= scene.now:
            notes.append("the robots.txt of its host is read first")
        if scene.process is not None and not wait:
            notes.append("it may be under way at this moment, which only the crawl itself knows")
    return Step("next", when, (*notes, *_resting(scene)), facts)


def _resting(scene: Scene) -> tuple[str, ...]:
    """Why nothing happens at all, and what to do about it."""
    command = f"gossamer crawl --into {shlex.quote(str(scene.path))}"
    most = scene.settings.max_pages
    if most is not None and (fetched := scene.ledger.stats().fetched) >= most:
        spent = (
            f"the budget of {counted(most, 'page')} is spent ({fetched:,} are fetched); with a larger one it goes on:"
        )
        return (spent, f"{command} --max-pages {2 * most}")
    return () if scene.process is not None else ("the crawl is not running; it goes on with:", command)
