"""Link graphs: a generated web, farms that attack it, and graphs read from a file; and their PageRank."""

import gzip
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
from numpy.typing import NDArray

from gossamer.url import host_of, registrable_domain

__all__ = ["Graph", "farm", "pagerank", "read_graph", "web"]

Ints = NDArray[np.int64]
DAMPING = 0.85


class Graph(msgspec.Struct, frozen=True):
    """Pages 0 to n - 1, their links, and where they are."""

    starts: Ints
    """Where the links of each page begin in `targets`, and where the last ones end."""
    targets: Ints
    host: Ints
    """Of each page."""
    domain: Ints
    """Of each host."""
    farm: NDArray[np.bool_]
    """Of each page: whether it belongs to an attacker."""
    copy: NDArray[np.bool_]
    """Of each page: whether it nearly repeats another."""
    seeds: Ints

    @property
    def pages(self) -> int:
        return len(self.host)

    def links(self) -> Callable[[int], list[int]]:
        """A function that says where the links of a page lead."""
        starts: list[int] = self.starts.tolist()
        targets: list[int] = self.targets.tolist()
        return lambda page: targets[starts[page] : starts[page + 1]]


def _graph(
    edges: Ints, host: Ints, domain: Ints, farm: NDArray[np.bool_], copy: NDArray[np.bool_], seeds: Ints
) -> Graph:
    """From (page, page) rows; a link said twice counts once, and one to itself not at all."""
    pages = len(host)
    flat = np.unique(edges[:, 0] * pages + edges[:, 1])
    sources, targets = flat // pages, flat % pages
    sources, targets = sources[sources != targets], targets[sources != targets]
    starts = np.concatenate(([0], np.cumsum(np.bincount(sources, minlength=pages))))
    return Graph(starts, targets, host, domain, farm, copy, seeds)


def web(pages: int, domains: int, seed: int) -> Graph:
    """A web of domains: sizes and popularity by power laws, most links inside a domain, its home page and menu linked from everywhere.

    Links between domains go by popularity (which attracts links as size does, and chance besides), four in ten of them to domains of
    the same topic; half of them to the home page, the rest to pages by a power law.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.permutation(np.arange(1, domains + 1) ** -0.8)
    sizes = np.maximum(1, np.round(sizes / sizes.sum() * pages)).astype(np.int64)
    pages = int(sizes.sum())
    first = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    of = np.repeat(np.arange(domains), sizes)
    local = np.arange(pages) - first[of]
    size = sizes[of]
    page = np.arange(pages)
    found = []

    def link(sources: Ints, targets: Ints) -> None:
        found.append(np.stack((sources, targets), axis=1))

    inner = page[local > 0]
    parent = first[of[inner]] + (local[inner] - 1) // 12
    link(parent, inner)
    back = rng.random(len(inner)) < 0.5
    link(inner[back], parent[back])
    home = rng.random(pages) < 0.8
    link(page[home], first[of[home]])
    for _ in range(3):
        link(page, first[of] + rng.integers(0, np.minimum(size, 8)))
    for near in (True, False):
        sources = np.repeat(page, rng.poisson(2.0, pages))
        if near:
            at = np.clip(local[sources] + rng.integers(-20, 21, len(sources)), 0, size[sources] - 1)
        else:
            at = (size[sources] * rng.random(len(sources)) ** 3).astype(np.int64)
        link(sources, first[of[sources]] + at)
    popularity = sizes**0.5 * rng.lognormal(0.0, 1.5, domains)
    talks = rng.lognormal(-1.0, 1.5, pages)
    sources = np.repeat(page, rng.poisson(np.minimum(talks, 30.0)))
    anywhere = rng.choice(domains, len(sources), p=popularity / popularity.sum())
    topic = max(2, domains // 40)
    base = of[sources] // topic * topic
    heard = np.cumsum(popularity)
    low = np.where(base > 0, heard[base - 1], 0.0)
    high = heard[np.minimum(base + topic, domains) - 1]
    kindred = np.searchsorted(heard, low + rng.random(len(sources)) * (high - low)).clip(0, domains - 1)
    to = np.where(rng.random(len(sources)) < 0.4, kindred, anywhere)
    deep = (sizes[to] * rng.random(len(sources)) ** 2.5).astype(np.int64)
    link(sources, first[to] + np.where(rng.random(len(sources)) < 0.5, 0, deep))
    nobody = np.zeros(pages, dtype=bool)
    seeds = first[rng.choice(domains, 5, replace=False, p=popularity / popularity.sum())]
    return _graph(np.concatenate(found), of, np.arange(domains), nobody, nobody.copy(), seeds)


def farm(
    good: Graph, seed: int, *, share: float, domains: int, hosts: int = 1, links: int = 10, sold_by: str = "anyone",
    copies: float = 0.0,
) -> Graph:  # fmt: skip
    """The web with a link farm, which is `share` of the pages there are then.

    `domains` domains of `hosts` hosts each; every page links to its home page, to pages of its own domain, to ten pages all over the
    farm, and to three of ten pages that the farm is there for. `links` pages of the good web link to those ten: of anyone, of the
    most linked tenth of domains (`good hosts`), or of those the most linked pages (`front pages`, four times as many as are taken). A
    share of the farm's pages may be near-copies.
    """
    rng = np.random.default_rng(seed + 1_000_003)
    count = int(good.pages * share / (1.0 - share))
    page = np.arange(good.pages, good.pages + count)
    per = domains * hosts
    slot = np.sort(rng.integers(0, per, count))
    first = np.searchsorted(slot, np.arange(per)).clip(0, count - 1) + good.pages
    host = len(good.domain) + slot
    domain = good.domain.max() + 1 + np.arange(per) // hosts
    own_first = np.searchsorted(slot // hosts, slot // hosts)
    own_last = np.searchsorted(slot // hosts, slot // hosts, side="right")
    targets = rng.choice(page, 10, replace=False)
    found = [np.stack((page, first[slot]), axis=1)]
    found += [np.stack((page, good.pages + rng.integers(own_first, own_last)), axis=1) for _ in range(5)]
    found += [np.stack((page, rng.choice(page, count)), axis=1) for _ in range(10)]
    found += [np.stack((page, rng.choice(targets, count)), axis=1) for _ in range(3)]
    sources = rng.choice(_sellers(good, sold_by, links), links, replace=False)
    found.append(np.stack((sources, rng.choice(targets, links)), axis=1))
    known = np.stack((np.repeat(np.arange(good.pages), np.diff(good.starts)), good.targets), axis=1)
    return _graph(
        np.concatenate((known, *found)),
        np.concatenate((good.host, host)),
        np.concatenate((good.domain, domain)),
        np.concatenate((good.farm, np.ones(count, dtype=bool))),
        np.concatenate((good.copy, rng.random(count) < copies)),
        good.seeds,
    )


def _sellers(good: Graph, sold_by: str, links: int) -> Ints:
    if sold_by == "anyone":
        return np.arange(good.pages)
    domain = good.domain[good.host]
    fame = np.bincount(domain[good.targets], minlength=len(good.domain))
    famous = np.argsort(-fame, kind="stable")[: len(good.domain) // 10]
    pages = np.flatnonzero(np.isin(domain, famous))
    if sold_by == "front pages":
        inlinks = np.bincount(good.targets, minlength=good.pages)[pages]
        pages = pages[np.argsort(-inlinks, kind="stable")][: 4 * links]
    return pages


def read_graph(path: Path, seeds: int = 5) -> Graph:
    """A graph from lines "source target": URLs or any other names, gzipped or not; lines that begin with # are left out.

    Names that are no URLs are pages of one domain each by what stands before their first slash. The seeds are the pages with the
    most links out of as many domains.
    """
    names: dict[str, int] = {}
    rows = []
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            parts = line.split()
            if len(parts) >= 2 and not line.startswith("#"):
                rows.append((names.setdefault(parts[0], len(names)), names.setdefault(parts[1], len(names))))
    edges = np.array(rows, dtype=np.int64)
    hosts: dict[str, int] = {}
    domains: dict[str, int] = {}
    host = np.array([hosts.setdefault(_host(name), len(hosts)) for name in names], dtype=np.int64)
    domain = np.array([domains.setdefault(_domain(name), len(domains)) for name in hosts], dtype=np.int64)
    nobody = np.zeros(len(names), dtype=bool)
    return _graph(edges, host, domain, nobody, nobody.copy(), _talkers(edges[:, 0], domain[host], seeds))


def _host(name: str) -> str:
    return host_of(name) if "://" in name else name.split("/", 1)[0]


def _domain(host: str) -> str:
    return registrable_domain(host) or host


def _talkers(sources: Ints, domain: Ints, most: int) -> Ints:
    chosen: dict[int, int] = {}
    for page in np.argsort(-np.bincount(sources, minlength=len(domain)), kind="stable"):
        chosen.setdefault(int(domain[page]), int(page))
        if len(chosen) == most:
            break
    return np.array(list(chosen.values()), dtype=np.int64)


def pagerank(graph: Graph, rounds: int = 60) -> NDArray[np.float64]:
    """PageRank of the whole graph, damping 0.85; a page without links gives to all alike."""
    pages = graph.pages
    degree = np.diff(graph.starts)
    sources = np.repeat(np.arange(pages), degree)
    value = np.full(pages, 1.0 / pages)
    for _ in range(rounds):
        each = np.divide(value, degree, out=np.zeros(pages), where=degree > 0)
        flow = np.bincount(graph.targets, weights=each[sources], minlength=pages)
        value = (1.0 - DAMPING) / pages + DAMPING * (flow + value[degree == 0].sum() / pages)
    return value
