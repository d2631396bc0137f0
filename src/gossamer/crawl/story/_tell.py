"""The story of a URL, put together: which steps it has depends on what became of the URL."""

import shlex
from pathlib import Path

from gossamer.crawl.folder import Folder
from gossamer.crawl.story import _spelling
from gossamer.crawl.story._future import next_step
from gossamer.crawl.story._linking import linking_pages, links_step
from gossamer.crawl.story._pace import host_step
from gossamer.crawl.story._past import answer_steps, attempts_step, found_steps, redirect_step
from gossamer.crawl.story._robots import robots_file_step, robots_step
from gossamer.crawl.story._rules import checks_of, excluding, rules_step
from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._traps import LEARNED, traps_step
from gossamer.crawl.story._values import Step, Story, counted, moment
from gossamer.errors import InvalidURL
from gossamer.frontier import State
from gossamer.frontier.inspect import Ledger, holder
from gossamer.frontier.records import UrlRecord
from gossamer.outcome import ErrorClass, for_status
from gossamer.traps import Rule

__all__ = ["tell"]


def tell(path: Path, typed: str, now: float, *, search_links: bool = True) -> Story:
    """All there is to say of a URL in the crawl in `path`; nothing is changed, and the crawl may be running.

    `search_links`: for a URL that is not in the books, look through the page table for pages that link to it.
    GossamerError when there is no crawl, InvalidURL when it is no URL.
    """
    folder = Folder(path)
    crawled = folder.load()
    _spelling.read(typed, crawled.settings.url, lambda url: True)  # what is no URL needs no opening of the books
    with Ledger(folder.frontier) as ledger:
        scene = Scene(path, crawled, ledger, holder(folder.frontier), now)
        spelling = _spelling.read(typed, crawled.settings.url, lambda url: _known(ledger, url))
        url = spelling.url
        record = ledger.record(url) if _is_web(url) else None
        if record is not None:
            return _of_known(scene, record, _spelling.told(spelling, []))
        near = [other for other in _spelling.others(url) if _known(ledger, other)]
        address = _spelling.told(spelling, near)
        file = ledger.robots(url) if _is_web(url) else None
        if file is not None and url == f"{file.origin}/robots.txt":
            verdict = f"it is the robots.txt of its host, last read {moment(file.fetched)}"
            steps = [address, robots_file_step(scene, file), *_about_host(scene, url)]
            return Story(typed, url, True, "robots", verdict, None, scene.process, tuple(steps))
        return _of_unknown(scene, url, address, search_links=search_links)


def _is_web(url: str) -> bool:
    return url.startswith(("http://", "https://"))


def _known(ledger: Ledger, url: str) -> bool:
    try:
        return _is_web(url) and ledger.record(url) is not None
    except InvalidURL:
        return False


def _about_host(scene: Scene, url: str) -> list[Step]:
    look = scene.host(url)
    return [] if look is None else [host_step(scene, look)]


# --- known --------------------------------------------------------------------------------------------------------------


def _of_known(scene: Scene, record: UrlRecord, address: Step) -> Story:
    url = record.url
    command = f"gossamer cat {shlex.quote(str(scene.path))} {shlex.quote(url)}"
    robots = robots_step(scene, url)
    steps: list[Step | None] = [address, *found_steps(scene, record), attempts_step(record)]
    steps += [*answer_steps(scene, record, command), redirect_step(scene, record)]
    steps += [robots, traps_step(scene, url), *_about_host(scene, url), next_step(scene, record)]
    told = tuple(step for step in steps if step is not None)
    verdict = _verdict(record)
    if record.error == ErrorClass.ROBOTS_DENIED:
        since = "" if robots.facts["allowed"] is False else "; as read since then"
        verdict = f"refused by robots.txt{since}: {robots.sentence}"
    return Story(address.facts["typed"], url, True, record.state.name.lower(), verdict, None, scene.process, told)


def _verdict(r: UrlRecord) -> str:
    why = r.detail or (for_status(r.status).reason if r.status else r.error or "")
    why = (why[:1].lower() + why[1:] if why[1:2].islower() or why[1:2] == " " else why).rstrip(".")
    match r.state:
        case State.QUEUED if r.attempts or r.tries:  # without attempts: by an operator, after it was given up
            return f"queued again, after {counted(r.attempts or len(r.tries), 'attempt')}: {why}"
        case State.QUEUED:
            return "queued, and not fetched yet"
        case State.WAITING:
            return f"waiting to be tried again, after {counted(r.attempts, 'attempt')}: {why}"
        case State.DONE if r.copy_of is not None:
            return f"done: fetched {moment(r.fetched)}, a copy of {r.copy_of}"
        case State.DONE:
            return f"done: fetched {moment(r.fetched)}, status {r.status}"
        case State.REDIRECTED:
            return f"redirected: it leads to {r.redirect or 'another address'}"
        case State.GONE:
            return f"gone: status {r.status}, {why}"
        case State.REFUSED if r.detail and r.detail.partition(":")[0] in list(Rule):
            return f"refused as a {LEARNED}: {r.detail}"
        case State.REFUSED:
            return f"refused: {why}"
        case _:
            return f"failed, and was given up: {why}"


# --- not known ----------------------------------------------------------------------------------------------------------

_PLACES = ("scope", "include", "exclude")
_WAYS = ("max_depth", "nofollow", "redirects")


def _of_unknown(scene: Scene, url: str, address: Step, *, search_links: bool) -> Story:
    web = _is_web(url)
    pages = linking_pages(scene, url) if web and search_links else ()
    checks = checks_of(scene, url, pages)
    reason = excluding(checks)
    later = next((each for each in checks if each.refuses and not each.admission), None)
    steps = [address, *([links_step(pages, scene.process)] if web and search_links else []), rules_step(checks)]
    if any(each.refuses and each.rule.startswith(LEARNED) for each in checks):
        steps += filter(None, [traps_step(scene, url)])
    if web:
        steps += _about_host(scene, url)
    if reason is not None:
        verdict = f"not in the crawl, excluded by {reason.rule}: {reason.reason}"
    elif later is not None:
        verdict = f"never found; were it found, it would not be fetched ({later.rule}: {later.reason.rstrip('.')})"
    elif pages:
        page = next((each for each in pages if each.unfollowed is None), pages[0])
        verdict = (
            f"not in the crawl, though {page.url} names it; no rule is against it now, a budget may have been then"
        )
    else:
        verdict = "it was never found; nothing excludes it"
    rule = reason.rule if reason is not None else None
    if web and later is None and rule in (None, *_PLACES, *_WAYS):
        steps.append(_how_to_add(scene, url, ", as a seed is always in scope" if rule in _PLACES else ""))
    return Story(address.facts["typed"], url, False, "unknown", verdict, rule, scene.process, tuple(steps))


def _how_to_add(scene: Scene, url: str, because: str) -> Step:
    command = f"gossamer crawl {shlex.quote(url)} --into {shlex.quote(str(scene.path))} --force"
    sentence = f"name it as a seed{because}, with the options that the crawl was begun with:"
    return Step("to add it", sentence, (command,), {"command": command})
