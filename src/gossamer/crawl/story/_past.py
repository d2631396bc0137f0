"""What has happened to a URL that the crawl knows: found where, tried when, answered what, kept where."""

from typing import Any

from gossamer.crawl.story._rules import checks_of, excluding
from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._values import Step, counted, moment
from gossamer.frontier import Kind
from gossamer.frontier.records import UrlRecord
from gossamer.outcome import ErrorClass, for_error, for_status
from gossamer.store import Capture, Location, StoreError, read
from gossamer.worker import row_maker

__all__ = ["answer_steps", "attempts_step", "error_words", "found_steps", "redirect_step"]

WAY = 50
"""Steps back towards a seed that are followed."""
SHOWN = 12
HOPS = 30
"""Redirects that are followed forward."""


# --- found --------------------------------------------------------------------------------------------------------------


def found_steps(scene: Scene, record: UrlRecord) -> list[Step]:
    """Where and when the URL was found, and the way from a seed to it."""
    at = moment(record.found)
    how = _how(scene, record)
    away = counted(record.depth, "link") + " from a seed"
    if record.via is None:
        seed = record.url in scene.seeds.urls
        sentence = f"{at}, as a seed" if seed else f"{at}, {away}"
    else:
        sentence = f"{at} {how} {record.via}" + (f", {away}" if record.kind is Kind.PAGE else "")
    facts = {"at": record.found, "via": record.via, "how": how, "depth": record.depth, "hops": record.hops}
    if record.kind is not Kind.PAGE:
        sentence += "; it is read as a sitemap or feed, not as a page"
    steps = [Step("found", sentence, (), facts | {"kind": record.kind.name.lower()})]
    way = _way(scene, record)
    if len(way) > 2:
        lines = [f"{'→ ' if number else ''}{url}{how}" for number, (url, how) in enumerate(way)]
        if len(lines) > SHOWN:
            lines[SHOWN // 2 : -SHOWN // 2] = [f"   … {len(lines) - SHOWN} more …"]
        steps.append(Step("way", f"{len(way) - 1} steps:", tuple(lines), {"urls": [url for url, _ in way]}))
    return steps


def _how(scene: Scene, record: UrlRecord) -> str:
    """How `via` led to the URL, in words that end before the name of `via`."""
    if record.via is None:
        return "seed"
    if record.via.endswith("/robots.txt") and record.kind is Kind.SITEMAP and record.hops == 0:
        return "as a sitemap of the host, after reading"
    if record.hops:
        return f"by redirect {record.hops} in a row, from"
    source = scene.ledger.record(record.via)
    return "in the sitemap" if source is not None and source.kind is Kind.SITEMAP else "by a link on"


def _way(scene: Scene, record: UrlRecord) -> list[tuple[str, str]]:
    """(URL, how it was reached) from the seed to the URL itself; the farthest that is known comes first."""
    way: list[tuple[str, str]] = []
    seen = {record.url}
    here: UrlRecord | None = record
    while here is not None and len(way) < WAY:
        way.append((here.url, "" if here.via is None else "   (redirect)" if here.hops else ""))
        via = here.via
        if via is None or via in seen:
            return way[::-1]
        seen.add(via)
        here = scene.ledger.record(via)
        if here is None:
            way.append((via, ""))
    return way[::-1]


# --- tried --------------------------------------------------------------------------------------------------------------


def error_words(error: str | None, status: int) -> str:
    """An error class or a status, with its meaning."""
    if error is not None:
        known = error in list(ErrorClass)
        return f"{error}: {for_error(ErrorClass(error)).reason}" if known else error
    return f"status {status}: {for_status(status).reason}" if status else "no answer"


_UNASKED = (ErrorClass.ROBOTS_DENIED, ErrorClass.GUARD_REFUSED)


def attempts_step(record: UrlRecord) -> Step | None:
    """The tries, of which the last few are remembered; None for a page that was answered at once, or never tried."""
    if not record.tries:
        return None
    notes = [f"{moment(each.at)}   {error_words(each.error, each.status)}" for each in record.tries]
    forgotten = record.attempts - len(record.tries)
    if forgotten > 0:
        notes.insert(0, f"… {counted(forgotten, 'earlier one')} …")
    if record.detail and not any(record.detail in note for note in notes[-1:]):
        notes[-1] += f" ({record.detail.rstrip('.')})"
    if record.deaths:
        notes.append(f"{counted(record.deaths, 'worker')} died with it in hand")
    tries = [{"at": each.at, "status": each.status or None, "error": each.error} for each in record.tries]
    facts = {"count": record.attempts, "error": record.error, "detail": record.detail, "last": tries}
    facts["deaths"] = record.deaths
    if len(notes) == 1:
        unasked = "not asked for, " if record.error in _UNASKED else ""
        return Step("tried", notes[0].replace("   ", f", {unasked}", 1), (), facts)
    times = max(record.attempts, len(record.tries))
    return Step("tried", f"{counted(times, 'time')}:", tuple(notes), facts)


# --- answered and kept --------------------------------------------------------------------------------------------------


def answer_steps(scene: Scene, record: UrlRecord, command: str) -> list[Step]:
    """The answer that settled the URL, what it repeats, and where it lies; `command` shows it."""
    place = record.place
    if place is None:
        if not record.status or not record.fetched:
            return []
        return [Step("answer", _answered(record, record.fetched), (), {"status": record.status, "at": record.fetched})]
    location = Location(place.file, place.offset, place.length)
    stored: dict[str, Any] = {"file": place.file, "offset": place.offset, "length": place.length}
    where = f"warc/{place.file}, {place.length:,} bytes from byte {place.offset:,}"
    try:
        capture = read(scene.path, location)
    except (StoreError, ValueError, EOFError) as error:
        lost = Step("stored", where, (f"it cannot be read there: {error}",), stored | {"readable": False})
        return [Step("answer", _answered(record, record.fetched), (), {"status": record.status}), lost]
    steps = [_answer(scene, record, capture, location)]
    copy = _copy(record, capture)
    if copy is not None:
        steps.append(copy)
    body = capture.body_stored and capture.duplicate is None
    stored |= {"readable": True, "body": body}
    notes: tuple[str, ...] = (command,)
    if capture.duplicate is not None:
        notes = ("without the body, which lies with the original", command)
    elif not body:
        notes = ("the head alone: the body was not kept", f"{command} --headers")
    return [*steps, Step("stored", where, notes, stored)]


def _answered(record: UrlRecord, at: float) -> str:
    return f"{moment(at)}, {error_words(None, record.status)}"


_ROW = ("media_type", "encoding", "language", "title", "canonical", "robots", "link_count", "cuts", "error", "digest")


def _answer(scene: Scene, record: UrlRecord, capture: Capture, location: Location) -> Step:
    at = record.fetched or capture.at  # what is stored and not yet read does not count as fetched
    facts: dict[str, Any] = {"status": record.status, "at": at, "bytes": capture.length}
    notes = []
    row = row_maker(scene.settings)(capture, location) if record.kind is Kind.PAGE else None
    if row is not None:
        kind = ", ".join(filter(None, (row.media_type, row.encoding, row.language)))
        notes.append(f"{kind or 'no media type'}; {capture.length:,} bytes in {capture.notes.fetch_ms:,} ms")
        if row.title:
            notes.append(f"title: {row.title}")
        if row.canonical and row.canonical != record.url:
            notes.append(f"it names another page as its canonical one: {row.canonical}")
        if row.robots:
            notes.append(f"it asks robots for: {', '.join(row.robots)}{_asked(row.robots)}")
        if row.link_count:
            notes.append(f"{counted(row.link_count, 'link')}, {len(row.links):,} different")
        notes += [f"cut: {cut}" for cut in row.cuts]
        facts |= {name: getattr(row, name) for name in _ROW}
        if _unwanted(record, capture):
            notes.append("the page asks not to be kept (noindex)")
            facts["noindex"] = True
    elif record.kind is Kind.PAGE:
        notes.append("it is stored as it came, and nobody has managed to read it yet")
    if capture.truncated is not None:
        notes.append(f"the body ends early: {capture.truncated}")
        facts["truncated"] = capture.truncated
    facts |= {"fetch_ms": capture.notes.fetch_ms, "address": capture.address or None}
    return Step("answer", _answered(record, at), tuple(notes), facts)


def _unwanted(record: UrlRecord, capture: Capture) -> bool:
    """Whether a body that would have been kept was not, for the page's own wish: no other reason is left."""
    kept = capture.body_stored or capture.duplicate is not None or record.copy_of is not None
    return not kept and capture.length > 0 and for_status(record.status).stores_body


def _asked(robots: tuple[str, ...]) -> str:
    return "; so its links were not followed" if "nofollow" in robots else ""


def _copy(record: UrlRecord, capture: Capture) -> Step | None:
    if capture.duplicate is not None and capture.duplicate.profile == "identical-payload-digest":
        kind, of = "exact", capture.duplicate.url
        sentence = f"exactly the content of {of}, so its links were not followed again"
    elif record.copy_of is not None:
        kind, of = "near" if capture.notes.near_of else "exact", record.copy_of
        sentence = f"nearly the text of {of}"
    else:
        return None
    return Step("copy", sentence, (), {"of": of, "kind": kind})


def redirect_step(scene: Scene, record: UrlRecord) -> Step | None:
    """Where it leads, hop after hop, as far as the crawl went."""
    if record.redirect is None:
        return None
    lines, hops, seen = [], list[dict[str, Any]](), {record.url}
    target: str | None = record.redirect
    while target is not None and len(hops) < HOPS:
        loops = target in seen
        seen.add(target)
        there = scene.ledger.record(target)
        state = there.state.name.lower() if there is not None else _outside(scene, target)
        status = f", status {there.status}" if there is not None and there.status else ""
        end = "   (a loop: it was there before)" if loops else f"   ({state}{status})"
        lines.append(f"→ {target}{end}")
        hops.append({"url": target, "state": state, "loop": loops})
        target = None if loops or there is None else there.redirect
    if target is not None:
        lines.append("→ … and on")
    return Step("leads to", f"{counted(len(hops), 'hop')}:", tuple(lines), {"hops": hops})


def _outside(scene: Scene, target: str) -> str:
    """What keeps the target of a redirect out of the crawl."""
    rule = excluding(checks_of(scene, target, ()))
    return "not in the crawl" + (f": {rule.reason.rstrip('.')}" if rule is not None else "")
