"""How long a host is left alone, and why."""

from typing import Any

from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._values import Step, counted, moment, span
from gossamer.frontier.inspect import HostLook
from gossamer.politeness import HostState, Politeness, delay_of

__all__ = ["host_step", "pause_of", "wait_of"]


def pause_of(state: HostState, polite: Politeness) -> tuple[float, str]:
    """Seconds between two fetches of the host, and what makes them so many."""
    pause = delay_of(state, polite)
    if pause <= polite.delay:
        return pause, "as configured"
    if state.crawl_delay and pause == min(state.crawl_delay, polite.crawl_delay_cap):
        capped = f" (for {span(state.crawl_delay)}, which is more than is obeyed)" if state.crawl_delay > pause else ""
        return pause, f"as its robots.txt asks for by Crawl-delay{capped}"
    strain = max(polite.delay, 1.0) * 2.0 ** min(state.level + state.failures, 16)
    if state.level + state.failures and strain >= state.answer * polite.answer_multiple * bool(polite.delay):
        return pause, f"stretched after {_strain(state)}"
    return pause, f"stretched, as its answers take {state.answer:.2f} s"


def wait_of(state: HostState, polite: Politeness, now: float) -> tuple[float, str]:
    """Seconds until the host may be asked again, and what it waits for; 0 when it may be asked now."""
    left = state.next_allowed - now
    if left <= 0:
        return 0.0, ""
    if state.next_allowed <= state.last_event + delay_of(state, polite) + 0.001:
        return left, "the pause between two fetches"
    if state.level and state.quiet_since >= state.next_allowed - 0.001:
        return left, f"backing off after {_strain(state)}"
    if state.failures:
        return left, f"backing off after {_strain(state)}"
    return left, "it was put off"


def _strain(state: HostState) -> str:
    parts = []
    if state.level:
        parts.append(counted(state.level, "refusal") + " (429 or 503)")
    if state.failures:
        parts.append(counted(state.failures, "failure") + " in a row")
    return " and ".join(parts)


def host_step(scene: Scene, look: HostLook) -> Step:
    """What the crawl knows of the host, and how it treats it."""
    view, polite = look.view, scene.settings.politeness
    pause, why = pause_of(view.state, polite)
    wait, waits_for = wait_of(view.state, polite, scene.now)
    notes = [f"{span(pause) if pause else 'no'} pause between two fetches, {why}"]
    if view.dead is not None:
        notes.insert(0, f"given up, so nothing more is asked of it: {view.dead}")
    elif wait:
        notes.append(f"left alone until {moment(view.state.next_allowed)} ({span(wait)}): {waits_for}")
    most = scene.settings.max_pages_per_host
    if most is not None:
        notes.append(f"{look.taken:,} of its budget of {counted(most, 'page')} are used (--max-pages-per-host)")
    facts: dict[str, Any] = {
        "name": view.name,
        "address": view.address,
        "fetched": view.fetched,
        "failed": view.failed,
        "bytes": view.size,
        "delay": pause,
        "delay_reason": why,
        "next_allowed": view.state.next_allowed,
        "waits_for": waits_for or None,
        "refusals": view.state.level,
        "failures_in_a_row": view.state.failures,
        "crawl_delay": view.state.crawl_delay,
        "answer": view.state.answer,
        "robots_tries": look.robots_tries,
        "taken": look.taken,
        "parked": look.parked,
        "dead": view.dead,
    }
    at = f" at {view.address}" if view.address else ""
    sentence = f"{view.name}{at}: {view.fetched:,} answered, {view.failed:,} given up"
    return Step("host", sentence, tuple(notes), facts)
