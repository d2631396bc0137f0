"""Pages that change on a schedule: `changing`.

A page's version is a pure function of web time: version = ⌊(now − epoch) / period + phase⌋, with period and phase from its
address. So what changed between two moments is computed, not recorded, and a fast clock (`Settings.speed`) makes days pass
in seconds. Pages differ in what they say about it: an ETag, Last-Modified, both, nothing; some never change; some vanish
(404 or 410) in every odd version and come back.
"""

import math
import time
from collections.abc import Callable
from typing import Literal

import msgspec

from gossamer.sim.web.corners.sitemaps import urlset_xml
from gossamer.sim.web.model import Answer, Request, Settings, Site
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.table import HTML, TableSite, link_to
from gossamer.sim.web.wire import http_date
from gossamer.sim.web.words import hash64, paragraphs, slug, unit

__all__ = ["HOST", "Change", "Schedule", "changes", "changing", "schedule"]

HOST = "changing.test"
SIGNALS = ("etag", "modified", "both", "neither")


class Change(msgspec.Struct, frozen=True):
    """A page became another, went, or came back, at a web time."""

    url: str
    at: float
    kind: Literal["changed", "gone", "back"]
    version: int


class Schedule(msgspec.Struct, frozen=True):
    """How one page changes."""

    target: str
    period: float  # seconds of web time between versions; infinite for a page that never changes
    phase: float
    epoch: float
    vanishes: bool
    signal: str

    def version(self, at: float) -> int:
        return 0 if math.isinf(self.period) else max(0, math.floor((at - self.epoch) / self.period + self.phase))

    def since(self, version: int) -> float:
        """The web time at which a version began; the first one is a year older than the web."""
        return self.epoch + (version - self.phase) * self.period if version else self.epoch - 31_536_000.0

    def gone(self, version: int) -> bool:
        return self.vanishes and version % 2 == 1


def schedule(settings: Settings, number: int) -> Schedule:
    """Page `number` of the corner. Periods spread log-uniformly over a factor of 32 around the typical one."""
    target = f"/live/{slug(number, hash64(settings.seed, 'live'))}"
    still = number % 7 == 6
    period = math.inf if still else settings.change_seconds * 2 ** (5 * unit(settings.seed, "period", number) - 2)
    vanishes = number % 5 == 4 and not still
    return Schedule(target, period, unit(settings.seed, "phase", number), settings.epoch, vanishes, SIGNALS[number % 4])


def changes(settings: Settings, since: float, until: float) -> list[Change]:
    """Every change after `since` and not after `until`, oldest first."""
    found = []
    for number in range(settings.corner_pages):
        plan = schedule(settings, number)
        for version in range(plan.version(since) + 1, plan.version(until) + 1):
            kind: Literal["changed", "gone", "back"] = "changed"
            if plan.vanishes:
                kind = "gone" if plan.gone(version) else "back"
            found.append(Change(f"http://{HOST}{plan.target}", plan.since(version), kind, version))
    return sorted(found, key=lambda change: change.at)


def changing(settings: Settings) -> list[Site]:
    """One host of `corner_pages` such pages, its sitemap with true `lastmod`, and a page whose footer alone always differs."""
    site = TableSite(settings, HOST, size=1)
    plans = [schedule(settings, number) for number in range(settings.corner_pages)]
    for plan in plans:
        site.add(plan.target, _live(site, plan), "free" if plan.vanishes else "page", title=site.title(plan.target))

    def sitemap(request: Request) -> Answer:
        entries = ((site.url(plan.target), plan.version(request.at), plan) for plan in plans)
        parts = [
            urlset_xml([url], _w3c(plan.since(version))) for url, version, plan in entries if not plan.gone(version)
        ]
        inner = "".join(part[part.index("<url>") : part.index("</urlset>")] for part in parts)
        empty = urlset_xml([])
        return Answer(
            200,
            (("Content-Type", "application/xml"),),
            empty.replace("</urlset>", f"{inner}</urlset>").encode(),
            fixed=False,
        )

    def volatile(request: Request) -> Answer:
        body = site.write("/volatile").replace("</footer>", f"<p>Made for you at {request.at:.3f}.</p></footer>")
        return Answer(200, (HTML,), body.encode(), fixed=False)

    site.add("/sitemap.xml", sitemap, "binary", linked=False)
    site.add("/volatile", volatile, title=site.title("/volatile"))
    return [site]


def _live(site: TableSite, plan: Schedule) -> Callable[[Request], Answer]:
    key = site.tree.key

    def make(request: Request) -> Answer:
        version = plan.version(request.at)
        if plan.gone(version):
            return Answer(
                410 if hash64(plan.target) & 1 else 404,
                (HTML,),
                b"<title>Gone</title><p>Gone.</p>\n",
                fixed=False,
            )
        modified = http_date(plan.since(version))
        tag = f'{"W/" if hash64(plan.target) & 2 else ""}"{hash64(plan.target, version):x}"'
        signals = []
        if plan.signal in ("etag", "both"):
            signals.append(("ETag", tag))
        if plan.signal in ("modified", "both"):
            signals.append(("Last-Modified", modified))
        # RFC 9110, 13.2.2: where If-None-Match is present, If-Modified-Since is not looked at.
        asked_tag, asked_date = request.headers.get("if-none-match"), request.headers.get("if-modified-since")
        if "ETag" in dict(signals) and asked_tag is not None:
            unchanged = tag.removeprefix("W/") in [part.strip().removeprefix("W/") for part in asked_tag.split(",")]
        else:
            unchanged = asked_tag is None and "Last-Modified" in dict(signals) and asked_date == modified
        if unchanged:
            return Answer(304, tuple(signals), b"", fixed=False)
        lasting = paragraphs(1800, key, plan.target)
        fresh = paragraphs(1200, key, plan.target, version)
        home = [link_to(site.url("/"), "/")]
        body = write_page(site.title(plan.target), [f"Version {version}.", *fresh, *lasting], home, site=site.host)
        return Answer(200, (HTML, *signals), body.encode(), fixed=False)

    return make


def _w3c(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
