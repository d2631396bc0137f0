"""Sites as they are, each with real pages and nine times as many addresses that are none: `mire`.

Real pages look like traps, and traps like real pages. There are dated archives and empty calendars; listings with pages, and the same
listings sorted, filtered and viewed in every combination; threads with numbers, and their printed forms, reply forms and member cards; pages
under fresh session ids, in the query and in the path; hosts that answer whatever they are asked; mazes of made-up text; relative links that
should have been absolute; and pages for every trade in every town. Every real page can be reached without entering a trap.

The names of paths and parameters, and the form of tokens, are drawn by the seed (`dialect`), so that another seed is another web to
whoever has learned names by heart. With `mire_depth` at 0 the traps have no end.
"""

from gossamer.sim.web.corners.mire.calendar import diary
from gossamer.sim.web.corners.mire.made_up import deeper, flood, lost, maze
from gossamer.sim.web.corners.mire.market import forum, shop
from gossamer.sim.web.corners.mire.visits import paths, visits
from gossamer.sim.web.model import Settings, Site

__all__ = ["mire"]


def mire(settings: Settings) -> list[Site]:
    """Nine sites, nine in ten of whose addresses are traps."""
    return [made(settings) for made in (diary, shop, forum, visits, paths, lost, maze, deeper, flood)]
