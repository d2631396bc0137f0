"""Is this host sending us in circles?

Some sites make URLs without end: relative links that pile up path segments, calendars that always have a next month, search
filters in every combination, session ids, redirects that wrap a URL into itself. Three guards stand against them.

`check(url, rules)` looks at the shape of one URL and remembers nothing. It runs on every link found, so it first counts
characters, which costs next to nothing, and takes apart only the few URLs that could break a rule.

`HostShape` belongs to the record of one host and remembers what that host's URLs have looked like. `template_of` replaces
what varies (numbers, dates, ids, parameter values) by placeholders; URLs that differ only there share a template, and each
template has a budget. Budgets are *earned*: `learned` is told whether a fetched page of the template was new or a copy of
another, so a forum with a million real threads goes on, and a calendar of empty months stops early. URLs without anything
that varies (`/about`) are counted for the host alone.

Of what is admitted, what is fetched is decided when its turn comes, by what the pages fetched so far turned out to be: `HostShape.read` is
told of each, `HostShape.refuse` is asked before each (`worth.py` says how they judge, `groups.py` what is judged together).

`HostShape` is a plain mutable object with one owner, the host's record: a frozen one would copy its table for each link. It
is bounded (`template_table` entries: when full, the half seen least is forgotten, so counts err on the side of admitting)
and is written down with msgspec. `admit` counts, so it is asked once for each new URL, after the check whether the URL is
known.

Each returns None, or a `Trap` that names its rule and says why with the numbers in it. URLs are expected absolute and
canonical, as `gossamer.url` makes them; anything else gets an answer too.
"""

from gossamer.traps.form import check
from gossamer.traps.groups import groups_of
from gossamer.traps.host import HostShape, TemplateCount
from gossamer.traps.rules import Rule, Trap, TrapRules
from gossamer.traps.template import template_of
from gossamer.traps.worth import Group, PageRead

__all__ = [
    "Group",
    "HostShape",
    "PageRead",
    "Rule",
    "TemplateCount",
    "Trap",
    "TrapRules",
    "check",
    "groups_of",
    "template_of",
]
