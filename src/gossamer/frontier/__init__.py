"""Which URL next, and when: the heart of a crawl.

`contract` says what every engine promises; `rocks` is the engine of one machine. Politeness is by construction: a host is taken
from the workbench before one of its URLs is leased, and put back at its next-allowed time when the lease comes back.
"""

from gossamer.frontier.contract import (
    Body,
    Content,
    Copy,
    Done,
    FailurePage,
    FailureView,
    Frontier,
    HostView,
    Kept,
    Kind,
    Lease,
    Link,
    Place,
    Requeued,
    RobotsFile,
    State,
    Stats,
    Stored,
    UrlView,
)
from gossamer.frontier.order import Order
from gossamer.frontier.records import FrontierSettings, Recrawl
from gossamer.frontier.rocks import RocksFrontier

__all__ = [
    "Body",
    "Content",
    "Copy",
    "Done",
    "FailurePage",
    "FailureView",
    "Frontier",
    "FrontierSettings",
    "HostView",
    "Kept",
    "Kind",
    "Lease",
    "Link",
    "Order",
    "Place",
    "Recrawl",
    "Requeued",
    "RobotsFile",
    "RocksFrontier",
    "State",
    "Stats",
    "Stored",
    "UrlView",
]
