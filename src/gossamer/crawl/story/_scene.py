"""Everything a story is told from, opened once: the folder's record, its books, its seeds and scope, and the time."""

from pathlib import Path

from gossamer.crawl.folder import Crawled
from gossamer.crawl.run import Seeds
from gossamer.frontier.inspect import HostLook, Ledger
from gossamer.scope import Scope
from gossamer.url import host_of

__all__ = ["Scene"]


class Scene:
    """A crawl as it lies before whoever explains one of its URLs; nothing here changes it."""

    def __init__(self, path: Path, crawled: Crawled, ledger: Ledger, process: int | None, now: float) -> None:
        self.path = path
        self.settings = crawled.settings
        self.seeds = Seeds.of(list(crawled.seeds), crawled.settings)
        self.ledger = ledger
        self.process = process
        """The process that crawls there; None when none does."""
        self.now = now
        self._hosts: dict[str, HostLook | None] = {}

    def scope(self, *, patterns: bool = True) -> Scope:
        """The places of the crawl; without `patterns`, those that the reach alone allows."""
        s = self.settings
        return Scope(self.seeds.urls, s.scope, s.include if patterns else (), s.exclude if patterns else ())

    def host(self, url: str) -> HostLook | None:
        name = host_of(url)
        if name not in self._hosts:
            self._hosts[name] = self.ledger.host(name)
        return self._hosts[name]
