"""What robots.txt says of a URL: the line that decides, and when it was read."""

from typing import Any

from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._values import Check, Step, moment
from gossamer.frontier import RobotsFile
from gossamer.robots import RobotsTxt, Verdict
from gossamer.url import origin_of

__all__ = ["robots_check", "robots_file_step", "robots_step"]


def robots_step(scene: Scene, url: str) -> Step:
    """Whether the URL may be fetched, as the file says that was read last."""
    file, verdict = _ask(scene, url)
    facts: dict[str, Any] = {"origin": origin_of(url), "allowed": None if verdict is None else verdict.allowed}
    if file is None or verdict is None:
        return Step("robots", _unread(scene, url), (), facts)
    facts |= {"status": file.status, "fetched": file.fetched, "expires": file.expires}
    facts |= {"line": verdict.line, "text": verdict.text}
    return Step("robots", _sentence(file, verdict), _old(scene, file), facts)


def robots_check(scene: Scene, url: str) -> Check:
    file, verdict = _ask(scene, url)
    if file is None or verdict is None:
        return Check("robots", None, _unread(scene, url), admission=False)
    return Check("robots", not verdict.allowed, _sentence(file, verdict), admission=False)


def robots_file_step(scene: Scene, file: RobotsFile) -> Step:
    """The story of a robots.txt itself: it is read before anything else of its host, and is no page."""
    agent = scene.settings.user_agent
    rules = RobotsTxt.parse(file.body)
    notes = [f"{len(file.body):,} bytes" if 200 <= file.status < 300 else "so everything may be fetched"]
    delay = rules.crawl_delay(agent)
    if delay is not None:
        notes.append(f"it asks {agent} for a Crawl-delay of {delay:g} s")
    notes += [f"it names the sitemap {sitemap}" for sitemap in rules.sitemaps[:5]]
    notes.append(f"read again after {moment(file.expires)}")
    facts = {"status": file.status, "fetched": file.fetched, "expires": file.expires, "crawl_delay": delay}
    sentence = f"status {file.status}, {moment(file.fetched)}"
    return Step("answer", sentence, tuple(notes), facts | {"sitemaps": list(rules.sitemaps)})


def _ask(scene: Scene, url: str) -> tuple[RobotsFile | None, Verdict | None]:
    file = scene.ledger.robots(url)
    if file is None:
        return None, None
    return file, RobotsTxt.parse(file.body).explain(scene.settings.user_agent, url)


def _sentence(file: RobotsFile, verdict: Verdict) -> str:
    where, read = f"{file.origin}/robots.txt", f"read {moment(file.fetched)}"
    if not 200 <= file.status < 300:
        none = "there is none" if file.status in (404, 410) else "it cannot be had, which counts as none"
        return f"{none} (status {file.status}, {read}), so it may be fetched"
    if verdict.line is None:
        return f"no line of {where} ({read}) speaks of it, so it may be fetched"
    word = "allows" if verdict.allowed else "forbids"
    return f"line {verdict.line} of {where} {word} it: {verdict.text} ({read})"


def _unread(scene: Scene, url: str) -> str:
    look = scene.host(url)
    if look is not None and look.view.dead is not None:
        return f"{origin_of(url)}/robots.txt was never read: the host was given up"
    tries = look.robots_tries if look is not None else 0
    failed = f"; {tries} tries in a row failed" if tries > 1 else "; one try failed" if tries else ""
    return f"{origin_of(url)}/robots.txt has not been read yet{failed}"


def _old(scene: Scene, file: RobotsFile) -> tuple[str, ...]:
    if file.expires > scene.now:
        return ()
    return (f"it is read again before the next fetch: it was good until {moment(file.expires)}",)
