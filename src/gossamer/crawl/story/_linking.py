"""Pages that name a URL which is not in the crawl, and why they did not lead to it."""

from pathlib import Path
from typing import Any

import msgspec

from gossamer.crawl.story._scene import Scene
from gossamer.crawl.story._values import Step
from gossamer.fetch import decode
from gossamer.parse import parse_page
from gossamer.settings import Settings
from gossamer.store import Capture, Location, StoreError, query, read
from gossamer.url import LinkMemory

__all__ = ["Linking", "linking_pages", "links_step"]

PAGES = 5
_SQL = f"""
    SELECT url, depth, robots, redirect_to, warc_file, warc_offset, warc_length FROM pages
    WHERE list_contains(links, $1) OR redirect_to = $1
    ORDER BY depth, fetched_at LIMIT {PAGES}
"""  # noqa: S608 - a number of our own


class Linking(msgspec.Struct, frozen=True):
    """A page in the table that links or redirects to the URL."""

    url: str
    depth: int
    redirects: bool
    unfollowed: str | None
    """Why the link was not followed; None where nothing on the page says so."""

    @property
    def reaches(self) -> int:
        """The depth that the URL has, found here."""
        return self.depth + (not self.redirects)


def linking_pages(scene: Scene, url: str) -> tuple[Linking, ...]:
    """The pages nearest to the seeds that name the URL. A walk over the whole table: a second for some 100,000 pages."""
    try:
        rows: list[dict[str, Any]] = query(scene.path, _SQL, [url]).to_pylist()
    except StoreError:  # no table yet
        return ()
    return tuple(_linking(scene, row, url) for row in rows)


def _linking(scene: Scene, row: dict[str, Any], url: str) -> Linking:
    redirects = row["redirect_to"] == url
    unfollowed = None
    if redirects:
        record = scene.ledger.record(row["url"])
        if record is not None and record.hops >= scene.settings.max_redirects:
            unfollowed = (
                f"it is redirect {record.hops + 1:,} in a row; at most {scene.settings.max_redirects} are followed"
            )
    elif "nofollow" in (row["robots"] or ()):
        unfollowed = "the page asks not to follow its links (nofollow)"
    else:
        location = Location(row["warc_file"], row["warc_offset"], row["warc_length"])
        unfollowed = _marked(scene.path, location, url, scene.settings)
    return Linking(row["url"], row["depth"], redirects, unfollowed)


def _marked(folder: Path, location: Location, url: str, settings: Settings) -> str | None:
    """What the markup of the link says against following it; the page is parsed again for it."""
    try:
        capture = read(folder, location)
    except (StoreError, ValueError, EOFError):
        return None
    head = _headers(capture)
    coding = ", ".join(value for name, value in head if name.lower() == "content-encoding")
    content = decode(capture.body, coding, settings.fetch.max_decoded).content if coding else capture.body
    memory = LinkMemory(settings.url)
    page = parse_page(content, capture.url, None, head, text="none", bounds=settings.parse, memory=memory)
    links = [link for link in page.links if link.url == url]
    if links and all("nofollow" in link.rel for link in links):
        return "the link is marked rel=nofollow"
    if links and all(link.kind == "link" for link in links):
        return f"it is named by a <link rel={links[0].rel.split(' ')[0]}> only, not by a link to a page"
    return None


def _headers(capture: Capture) -> tuple[tuple[str, str], ...]:
    pairs = (line.partition(":") for line in capture.response_head.decode("latin-1").split("\r\n")[1:] if ":" in line)
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


def links_step(pages: tuple[Linking, ...], process: int | None) -> Step:
    """Who names the URL."""
    facts = {"pages": [msgspec.to_builtins(page) for page in pages]}
    if not pages:
        late = ("while a crawl runs, pages appear in the table about a minute late",) if process is not None else ()
        return Step("links", "no page in the table links to it", late, facts)
    lines = []
    for page in pages:
        verb = "leads to it" if page.redirects else "links to it"
        why = f", but {page.unfollowed}" if page.unfollowed else ""
        lines.append(f"{page.url} (depth {page.depth}) {verb}{why}")
    more = (
        "the pages nearest to the seeds:" if len(pages) == PAGES else f"from {len(pages)} page{'s' * (len(pages) > 1)}:"
    )
    return Step("links", more, tuple(lines), facts)
