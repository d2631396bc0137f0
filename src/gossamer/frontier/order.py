"""In which order a host's URLs are fetched, and how much hosts are preferred to one another.

A queue entry sorts by (rank, order): rank says how good, order says when it was found. Front classes are Mercator's front
queues: a host is in the class of its best URL, and classes are served by a fixed pattern in which a better class has more
turns, never all of them.
"""

from enum import StrEnum

__all__ = ["CLASSES", "TURNS", "Order", "front_class", "rank"]


class Order(StrEnum):
    """How discovery unfolds."""

    BFS = "bfs"
    DFS = "dfs"
    BEST_FIRST = "best-first"


CLASSES = 4
# 15 turns: 8, 4, 2 and 1 for the classes, spread out so that none comes in a burst.
TURNS = (0, 1, 0, 2, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1, 0)

_NEWEST = (1 << 63) - 1


def rank(order: Order, depth: int, priority: float, serial: int) -> tuple[int, int]:
    """(rank, order) of a new queue entry: smaller comes first. `serial` counts discoveries. Rank 0 is for sitemaps."""
    depth = min(depth, 0xFFFD)
    if order is Order.BFS:
        return depth + 1, serial
    if order is Order.DFS:
        return 0xFFFF - depth, _NEWEST - serial
    # A page's worth halves with each step from the seeds: priority 1 at depth 3 equals priority 0.5 at depth 2.
    worth = min(max(priority, 0.0), 1.0) * 0.5 ** min(depth, 15)
    return 1 + int((1.0 - worth) * 0xFFFE), serial


def front_class(order: Order, best_rank: int) -> int:
    """The front class of a host whose best URL has this rank."""
    if order is Order.BFS:
        return min(max(best_rank, 1).bit_length() - 1, CLASSES - 1)
    if order is Order.DFS:
        return 0
    return min(best_rank * CLASSES // 0x10000, CLASSES - 1)
