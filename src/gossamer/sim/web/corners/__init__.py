"""The corners: each name gives the hosts that are dedicated to it. See the table in `gossamer.sim.web`."""

from collections.abc import Callable, Mapping

from gossamer.sim.web.corners.bombs import bombs
from gossamer.sim.web.corners.broken import broken
from gossamer.sim.web.corners.changing import changing
from gossamer.sim.web.corners.content import binary, charsets, compressed, idn, meta
from gossamer.sim.web.corners.copies import copies
from gossamer.sim.web.corners.delivery import errors, slow, throttle
from gossamer.sim.web.corners.mire import mire
from gossamer.sim.web.corners.redirects import redirects
from gossamer.sim.web.corners.robots import robots
from gossamer.sim.web.corners.sitemaps import sitemaps
from gossamer.sim.web.corners.traps import soft404, traps
from gossamer.sim.web.model import Settings, Site

__all__ = ["CORNERS"]

CORNERS: Mapping[str, Callable[[Settings], list[Site]]] = {
    corner.__name__: corner
    for corner in (
        binary, bombs, broken, changing, charsets, compressed, copies, errors, idn, meta, mire, redirects, robots, sitemaps, slow,
        soft404, throttle, traps,
    )
}  # fmt: skip
