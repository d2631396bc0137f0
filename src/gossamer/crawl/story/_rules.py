"""The rules of the crawl, run again for a URL that is not in it: which of them keeps it out?

They come in the order in which a crawl asks them. Those of admission are asked when a link is found; the others when the
URL is about to be fetched, so they never keep a URL out of the books, but tell what would have become of it.
"""

from collections.abc import Iterator

import msgspec

from gossamer.crawl.story._linking import Linking
from gossamer.crawl.story._robots import robots_check
from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._traps import LEARNED, learned_check, lost_checks, shape_check
from gossamer.crawl.story._values import Check, Step, counted
from gossamer.fetch import url_refusal
from gossamer.scope import Reach, Scope

__all__ = ["checks_of", "excluding", "rules_step"]


def checks_of(scene: Scene, url: str, pages: tuple[Linking, ...]) -> list[Check]:
    """What each rule says; `pages` are those that are known to name the URL."""
    if not url.startswith(("http://", "https://")):
        scheme = url.partition(":")[0]
        return [Check("scheme", True, f"Only http and https are crawled, and this is {scheme}.")]
    found = [*_places(scene, url), *_depth(scene, pages), shape_check(scene, url)]
    if pages and all(page.unfollowed for page in pages):
        first = pages[0]
        rule = "redirects" if first.redirects else "nofollow"
        found.append(Check(rule, True, f"{first.url} names it, but {first.unfollowed}."))
    return [*found, learned_check(scene, url), *_fetching(scene, url)]


def excluding(checks: list[Check]) -> Check | None:
    """The rule that keeps the URL out of the books; None when it was only never found."""
    return next((each for each in checks if each.refuses and each.admission), None)


def _places(scene: Scene, url: str) -> Iterator[Check]:
    """Reach, exclude and include, told apart."""
    s = scene.settings
    reach = scene.scope(patterns=False).refusal(url)
    yield Check("scope", reach is not None, reach or f"The scope is {s.scope}, and it lies within.")
    if s.exclude:
        refusal = Scope(scene.seeds.urls, Reach.ANY, (), s.exclude).refusal(url)
        yield Check("exclude", refusal is not None, refusal or "No exclude pattern is found in it.")
    if s.include:
        refusal = Scope(scene.seeds.urls, Reach.ANY, s.include, ()).refusal(url)
        yield Check("include", refusal is not None, refusal or "An include pattern is found in it.")


def _depth(scene: Scene, pages: tuple[Linking, ...]) -> Iterator[Check]:
    most = scene.settings.max_depth
    if most is None:
        return
    followed = [page for page in pages if page.unfollowed is None] or pages
    nearest = min((page.reaches for page in followed), default=None)
    if nearest is None:
        reason = f"Pages up to {counted(most, 'link')} from a seed are fetched; how far this one is, is not known."
        yield Check("max_depth", None, reason)
    else:
        reason = f"It is {counted(nearest, 'link')} from a seed; at most {most} are followed."
        yield Check("max_depth", nearest > most, reason)


def _fetching(scene: Scene, url: str) -> Iterator[Check]:
    """What is asked when the URL is about to be fetched."""
    s, look = scene.settings, scene.host(url)
    if look is not None and look.view.dead is not None:
        yield Check("host", True, f"Its host was given up: {look.view.dead}", admission=False)
    yield from lost_checks(scene, url)
    yield robots_check(scene, url)
    most = s.max_pages_per_host
    if most is not None and look is not None and look.taken >= most:
        reason = f"The host's budget of {counted(most, 'page')} is spent."
        yield Check("max_pages_per_host", True, reason, admission=False)
    allowed = [(host.strip("[]"), port) for host, port in scene.seeds.named]
    elsewhere = s.fetch.connect_to is not None or s.fetch.proxy is not None
    guard = url_refusal(url, allowed, elsewhere=elsewhere)
    passed = "Nothing in it names an address that is not public."
    yield Check("guard", guard is not None, guard or passed, admission=False)


def rules_step(checks: list[Check]) -> Step:
    """All rules, one a line."""
    told = [(each, *_label(each)) for each in checks]
    room = max(len(label) for _, label, _ in told)
    lines = [f"{_MARKS[each.refuses]} {label:<{room}}  {reason}" for each, label, reason in told]
    refusing = sum(each.refuses is True for each in checks)
    sentence = f"{counted(refusing, 'rule')} against it:" if refusing else "none is against it:"
    return Step("rules", sentence, tuple(lines), {"checks": [msgspec.to_builtins(each) for each in checks]})


def _label(each: Check) -> tuple[str, str]:
    """The name of a rule in a narrow column, and its reason: which trap it is goes with the reason."""
    for label in (LEARNED, "trap"):
        if each.rule.startswith(f"{label} "):
            return label, f"{each.rule.removeprefix(f'{label} ')}: {each.reason}"
    return each.rule, each.reason


_MARKS = {True: "✗", False: "✓", None: "?"}
