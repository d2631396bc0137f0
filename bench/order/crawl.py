"""Crawls of a graph in several orders. All but the omniscient know only the links of pages they have fetched.

`Crawl` is the engine in small: host queues, front classes by turns, and politeness counted in fetches: a host rests while `REST`
pages of other hosts are fetched (unless nothing else is left). It calls `gossamer.importance` as its docstring says.
"""

import heapq
from collections import deque
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from bench.order.graph import Graph
from gossamer.importance import (
    CLASSES,
    Economy,
    Standing,
    Weights,
    endow,
    front_class,
    rank,
    refer,
    spend,
    turn_class,
)

__all__ = ["REST", "BestFirst", "breadth_first", "clairvoyant", "omniscient", "polite_breadth_first"]

REST = 20
UNKNOWN = 0
FETCHED = -1
_BREADTH_TURNS = (0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0)


def omniscient(value: NDArray[np.float64], budget: int) -> list[int]:
    """The best pages of all: nobody can do better."""
    return [int(page) for page in np.argsort(-value, kind="stable")[:budget]]


def clairvoyant(graph: Graph, value: NDArray[np.float64], budget: int) -> list[int]:
    """The best of the pages found so far, by their true value."""
    links, worth = graph.links(), value.tolist()
    order: list[int] = []
    known = set(graph.seeds.tolist())
    heap = [(-worth[page], page) for page in known]
    heapq.heapify(heap)
    while heap and len(order) < budget:
        page = heapq.heappop(heap)[1]
        order.append(page)
        for target in links(page):
            if target not in known:
                known.add(target)
                heapq.heappush(heap, (-worth[target], target))
    return order


def breadth_first(graph: Graph, budget: int) -> list[int]:
    """As in the textbook: first found, first fetched, whichever the host."""
    links = graph.links()
    order: list[int] = graph.seeds.tolist()
    known = set(order)
    for page in order:
        if len(order) >= budget:
            break
        for target in links(page):
            if target not in known:
                known.add(target)
                order.append(target)
    return order[:budget]


class Host:
    """A host's queue of (rank, order, page), and its front class while it is ready (-1: it is not)."""

    __slots__ = ("front", "id", "queue", "resting")

    def __init__(self, host: int) -> None:
        self.id = host
        self.queue: list[tuple[int, int, int]] = []
        self.front = -1
        self.resting = False


class Ready:
    """Hosts that may be fetched from, first come first served within a class."""

    def __init__(self, classes: int) -> None:
        self._queues: list[deque[Host]] = [deque() for _ in range(classes)]
        self._counts = [0] * classes

    def put(self, host: Host, front: int) -> None:
        """Place a host, or move it; what is left of it elsewhere is passed over."""
        if front != host.front:
            self.withdraw(host)
            host.front = front
            self._counts[front] += 1
            self._queues[front].append(host)

    def withdraw(self, host: Host) -> None:
        if host.front >= 0:
            self._counts[host.front] -= 1
            host.front = -1

    def take(self, nth: int) -> Host | None:
        """A host of the nth class that has one, or else of the best."""
        served = [front for front, count in enumerate(self._counts) if count]
        if not served:
            return None
        front = served[nth] if nth < len(served) else served[0]
        while True:
            host = self._queues[front].popleft()
            if host.front == front:
                self.withdraw(host)
                return host


class Crawl:
    """Host queues, front classes and rests: what both polite orders have in common."""

    def __init__(self, graph: Graph, classes: int, turn: Callable[[int], int], rest: int) -> None:
        self.host_of: list[int] = graph.host.tolist()
        self.place = [UNKNOWN] * graph.pages
        self.depth = [0] * graph.pages
        self.hosts: dict[int, Host] = {}
        self._graph = graph
        self._ready = Ready(classes)
        self._resting: deque[tuple[int, Host]] = deque()
        self._turn_class = turn
        self._rest = rest
        self._serial = self._turn = 0

    def begin(self, page: int) -> None:
        """A seed."""
        raise NotImplementedError

    def fetched(self, page: int, links: list[int]) -> None:
        """A page was fetched, and these are its links."""
        raise NotImplementedError

    def front(self, host: Host, best: int) -> int:
        raise NotImplementedError

    def queue(self, page: int, place: int) -> None:
        """Queue a page, or move it to another rank."""
        self.place[page] = place
        self._serial += 1
        host = self.hosts.get(self.host_of[page])
        if host is None:
            host = self.hosts[self.host_of[page]] = Host(self.host_of[page])
        better = not host.queue or place < host.queue[0][0]
        heapq.heappush(host.queue, (place, self._serial, page))
        if better and not host.resting:
            self._ready.put(host, self.front(host, place))

    def run(self, budget: int) -> list[int]:
        """The pages in the order they were fetched."""
        links = self._graph.links()
        for page in self._graph.seeds.tolist():
            self.begin(page)
        order: list[int] = []
        while len(order) < budget:
            host = self._next(len(order))
            if host is None:
                break
            page = heapq.heappop(host.queue)[2]
            order.append(page)
            self.place[page] = FETCHED
            host.resting = True
            self._resting.append((len(order) + self._rest, host))
            self.fetched(page, links(page))
        return order

    def _next(self, now: int) -> Host | None:
        while self._resting and self._resting[0][0] <= now:
            self._wake()
        while True:
            self._turn += 1
            host = self._ready.take(self._turn_class(self._turn))
            if host is None:
                if not self._resting:
                    return None
                self._wake()
            elif self._tidy(host):
                return host

    def _wake(self) -> None:
        host = self._resting.popleft()[1]
        host.resting = False
        if self._tidy(host):
            self._ready.put(host, self.front(host, host.queue[0][0]))

    def _tidy(self, host: Host) -> bool:
        """Drop what has moved or was fetched from the head of the queue; whether there is more."""
        queue = host.queue
        while queue and self.place[queue[0][2]] != queue[0][0]:
            heapq.heappop(queue)
        return bool(queue)


class BestFirst(Crawl):
    """The order under test."""

    def __init__(self, graph: Graph, weights: Weights = Weights(), rest: int = REST, *, once: bool = False) -> None:  # noqa: B008 - frozen
        super().__init__(graph, CLASSES, turn_class, rest)
        self.economy = Economy()
        self.weights = weights
        domains: list[int] = graph.domain.tolist()
        self.domain_of_host = domains
        self.domain_of = [domains[host] for host in self.host_of]
        self.standings = [Standing() for _ in range(max(domains) + 1)]
        self.cash = [0.0] * graph.pages
        self._copy: list[bool] = graph.copy.tolist()
        self._names = [xxh3_64_intdigest(domain.to_bytes(8, "big")) for domain in range(len(self.standings))]
        self._said: set[int] | None = set() if once else None
        """Links inside a domain that were reported, where they are reported once."""

    def begin(self, page: int) -> None:
        self._pay(page, endow(self.standings[self.domain_of[page]], self.economy))

    def _pay(self, page: int, amount: float) -> None:
        self.cash[page] += amount
        before = self.place[page]
        standing = self.standings[self.domain_of[page]]
        place = rank(self.cash[page], self.depth[page], standing, self.economy, self.weights)
        if place != before:
            if self.host_of[page] not in self.hosts:
                standing.hosts += 1
            self.queue(page, place)

    def front(self, host: Host, best: int) -> int:
        return front_class(best, self.standings[self.domain_of_host[host.id]], self.economy, self.weights)

    def fetched(self, page: int, links: list[int]) -> None:
        here = self.domain_of[page]
        outward = sum([self.domain_of[target] != here for target in links])
        paid = spend(
            self.standings[here], self.cash[page], len(links) - outward, outward, self.economy, self.weights,
            copy=self._copy[page],
        )  # fmt: skip
        self.cash[page] = 0.0
        for target in links:
            there = self.domain_of[target]
            amount = paid.inward
            if there != here:
                amount = paid.outward
                refer(self.standings[there], self._names[here], paid.vouch, self.economy)
            elif self._said is not None:
                if target in self._said:
                    self.standings[there].pot += amount
                    continue
                self._said.add(target)
            if self.place[target] == FETCHED:
                self.standings[there].pot += amount
                continue
            if self.place[target] == UNKNOWN:
                self.depth[target] = self.depth[page] + 1
            self._pay(target, amount)


class _PoliteBreadthFirst(Crawl):
    def begin(self, page: int) -> None:
        self.queue(page, 1)

    def front(self, host: Host, best: int) -> int:
        return min(best.bit_length() - 1, 3)

    def fetched(self, page: int, links: list[int]) -> None:
        for target in links:
            if self.place[target] == UNKNOWN:
                self.depth[target] = self.depth[page] + 1
                self.queue(target, self.depth[target] + 1)


def polite_breadth_first(graph: Graph, budget: int, rest: int = REST) -> list[int]:
    """Breadth-first as the engine does it: each host's queue by depth, hosts in four classes by the depth of their best."""
    turns = _BREADTH_TURNS
    return _PoliteBreadthFirst(graph, 4, lambda turn: turns[turn % len(turns)], rest).run(budget)
