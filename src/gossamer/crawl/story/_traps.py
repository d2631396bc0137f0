"""What the rules against traps say of a URL: by its shape, and by what its host has sent so far."""

import copy
from collections.abc import Iterator
from typing import Any

from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._values import Check, Step, counted
from gossamer.traps import HostShape, Trap, TrapRules, check, template_of
from gossamer.url import host_of

__all__ = ["LEARNED", "learned_check", "lost_checks", "lost_trap", "shape_check", "traps_step"]

LEARNED = "learned trap"


def shape_check(scene: Scene, url: str) -> Check:
    """What can be told from the URL alone."""
    trap = check(url, scene.settings.traps)
    if trap is None:
        return Check("trap", False, "Its shape is that of an ordinary URL.")
    return Check(f"trap {trap.rule}", True, trap.reason)


def learned_check(scene: Scene, url: str) -> Check:
    """What the host has sent: budgets of URLs. A copy of its shape is asked, since asking counts."""
    look, rules = scene.host(url), scene.settings.traps
    trap: Trap | None = None
    if look is None:
        trap = scene.ledger.domain_trap(host_of(url), rules)
        passed = "Its host has sent nothing yet."
    elif look.shape is None:
        passed = "Its host has sent too few URLs for any budget."
    else:
        trap = copy.deepcopy(look.shape).admit(url, scene.now, rules)
        passed = _budget(look.shape, url, rules) or "Nothing in it varies, so only the budget of its host counts."
    return Check(LEARNED, False, passed) if trap is None else Check(f"{LEARNED} {trap.rule}", True, trap.reason)


def lost_checks(scene: Scene, url: str) -> Iterator[Check]:
    """What the pages of the host have taught: asked when the turn of a URL has come."""
    trap = lost_trap(scene, url)
    if trap is not None:
        yield Check(f"{LEARNED} {trap.rule}", True, trap.reason, admission=False)


def lost_trap(scene: Scene, url: str) -> Trap | None:
    """Why the pages that were fetched of its host speak against the URL."""
    look = scene.host(url)
    return None if look is None or look.shape is None else look.shape.lost(url, scene.settings.traps)


def _budget(shape: HostShape, url: str, rules: TrapRules) -> str | None:
    template = template_of(url)
    count = shape.templates.get(template)
    if count is None:
        return f"No URL like {template} was admitted yet." if "{" in template else None
    most = max(count.budget(rules.template_urls, rules), rules.least_urls)
    worth = f"of the pages read, {count.fresh:,} new and {count.copies:,} copies"
    return f"{count.seen:,} of at most {most:,} URLs like {template} are admitted; {worth}."


def traps_step(scene: Scene, url: str) -> Step | None:
    """How much of the budget of URLs like this one is used, and what their pages were worth; None when nothing counts."""
    look, rules = scene.host(url), scene.settings.traps
    if look is None or look.shape is None:
        return None
    shape, template, lost = look.shape, template_of(url), lost_trap(scene, url)
    count = shape.templates.get(template)
    facts: dict[str, Any] = {"template": template, "host_urls": shape.urls, "host_refused": shape.refused}
    told: list[str] = []
    if count is not None:
        facts |= {
            "admitted": count.seen,
            "budget": max(count.budget(rules.template_urls, rules), rules.least_urls),
            "new": count.fresh,
            "copies": count.copies,
            "odd_dates": count.odd,
            "odd_dates_budget": count.budget(rules.odd_dates, rules),
        }
        told += filter(None, [_budget(shape, url, rules)])
        if count.odd:
            told.append(f"{count.odd:,} of at most {facts['odd_dates_budget']:,} with an odd date are admitted.")
    if lost is not None:
        facts["lost"] = {"rule": lost.rule, "reason": lost.reason}
        told.append(f"{lost.rule}: {lost.reason}")
    if not told:
        return None
    if shape.refused:
        told.append(f"{counted(shape.refused, 'URL')} of the host refused as traps so far.")
    return Step("traps", told[0], tuple(told[1:]), facts)
