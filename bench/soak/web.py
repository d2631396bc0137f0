"""The web of a soak: plain hosts that never run out, and corners that come again and again.

The corners of the synthetic web are a few dozen hosts, and a crawl is through with them in minutes. So here each comes in *editions*,
under names of its own (`bombs.test` is `bombs-e7.test` in the seventh): the host EDITIONS has a page for each edition, links from
each to the next, and asks by its Crawl-delay to be read at the pace at which editions are to appear. An edition's host has
nothing new to say after its first `ANSWERS`: otherwise traps would pile up, and the crawl at the end would not be that of the beginning.
"""

import argparse
import re

import msgspec

from gossamer.sim.web import Answer, Node, Request, Settings, Web
from gossamer.sim.web.model import Site
from gossamer.sim.web.names import host_name, host_size
from gossamer.sim.web.pages import write_page
from gossamer.sim.web.process import run_loop, run_server
from gossamer.sim.web.table import TEXT, link_to
from gossamer.sim.web.tree import TreeSite
from gossamer.sim.web.words import paragraphs

__all__ = ["EDITIONS", "SoakWeb"]

EDITIONS = "editions.example"
ANSWERS = 60
GONE = Answer(404, (TEXT,), b"nothing more here\n", fixed=False)
_EDITION = re.compile(r"-e(\d+)(?=\.test$)")


class _Editions:
    """The host that names the editions, one a page."""

    host = EDITIONS
    remembers = False
    hidden: tuple[str, ...] = ()
    family = None

    def __init__(self, corner_hosts: list[str], every: float) -> None:
        self.crawl_delay: float | None = every
        self._corner_hosts = corner_hosts

    def answer(self, request: Request) -> Answer:
        if request.target == "/robots.txt":
            return Answer(200, (TEXT,), f"User-agent: *\nCrawl-delay: {self.crawl_delay:g}\n".encode())
        number = request.target.removeprefix("/edition/")
        at = int(number) if number.isdecimal() else 0
        links = [link_to(f"http://{named(host, at + 1)}/") for host in self._corner_hosts]
        links.append(link_to(f"http://{EDITIONS}/edition/{at + 1}"))
        body = write_page(f"Edition {at + 1}", paragraphs(800, "edition", at), links, site=EDITIONS)
        return Answer(body=body.encode())

    def node(self, target: str) -> Node:
        return Node(f"http://{EDITIONS}{target}", "page")


class SoakWeb(Web):
    """A `Web` whose corners come in editions, one every `every` seconds."""

    def __init__(self, settings: Settings, every: float) -> None:
        super().__init__(settings)
        hosts = [host for host in self._corner_sites if host.isascii() and host.endswith(".test")]
        self._editions = _Editions(hosts, every)
        self._asked: dict[str, int] = {}
        longest_first = sorted((host.removesuffix(".test") for host in hosts), key=len, reverse=True)
        self._names = re.compile(rb"\b(%s)\.test\b" % b"|".join(re.escape(name).encode() for name in longest_first))

    def site(self, host: str) -> Site | None:
        return self._editions if host == EDITIONS else super().site(_EDITION.sub("", host))

    def seeds(self, *, every_host: bool = False) -> list[str]:
        return [*super().seeds(every_host=every_host), f"http://{EDITIONS}/"]

    def _plain_site(self, number: int) -> TreeSite:
        """Without the links to the corners: they are met by their editions only."""
        return TreeSite(self.settings, host_name(self.settings, number), host_size(self.settings, number), number)

    def answer(self, host: str, request: Request) -> Answer:
        found = _EDITION.search(host)
        site = self.site(host)
        if isinstance(site, TreeSite | _Editions):
            return site.answer(request)
        corner = ".".join(host.rsplit(".", 2)[-2:])  # a farm of subdomains counts as one
        asked = self._asked[corner] = self._asked.get(corner, 0) + 1
        if asked > ANSWERS and request.target != "/robots.txt":
            return GONE
        answer = super().answer(_EDITION.sub("", host), request)
        if found is None:  # a name that an edition could not change, inside a packed body
            return answer
        rename = rb"\1-e%s.test" % found[1].encode()
        headers = tuple(
            (name, self._names.sub(rename, value.encode("latin-1", "replace")).decode("latin-1"))
            if name == "Location"
            else (name, value)
            for name, value in answer.headers
        )
        return msgspec.structs.replace(answer, headers=headers, body=self._names.sub(rename, answer.body))


def named(host: str, edition: int) -> str:
    """The name of a corner host in an edition."""
    return f"{host.removesuffix('.test')}-e{edition}.test"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.soak.web", description=__doc__.partition("\n")[0])
    parser.add_argument("--settings", required=True, help="the settings of the web as one JSON object")
    parser.add_argument("--every", type=float, required=True, help="seconds between two editions of the corners")
    given = parser.parse_args()
    web = SoakWeb(msgspec.json.decode(given.settings, type=Settings), given.every)
    run_loop(run_server(web, "127.0.0.1", 0, None, until_eof=True))


if __name__ == "__main__":
    main()
