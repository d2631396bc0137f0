"""When has a page changed, and when is it worth looking again?

**How often a page changes.** Changes are taken as a Poisson process of unknown rate λ. Visits come at irregular times, and a
visit tells only whether something changed since the last, not how often. An interval τ without change has likelihood
e^(−λτ); one with a change has 1 − e^(−λτ), or λe^(−λa) when the page says that its last change was a seconds ago. The belief
about λ is kept as a gamma distribution of two numbers, `shape` (changes) over `exposure` (seconds watched). An unchanged or
dated interval updates it exactly. A changed one leads out of the family, so the gamma with the same mean and variance takes
its place. The estimate `shape / exposure` then stays within a few percent of the exact posterior mean, at one
update a visit and no list of intervals. The prior gives a page never visited a finite rate; sitemap hints only move the prior.

**When to look.** Visiting in proportion to the rate of change is wrong: a page that changes every minute is stale a minute
after any visit, and its share is better spent on pages that stay fresh. Freshness under a budget is largest where every
page's next visit is worth the same. A visit at age t is worth (w/λ)(1 − e^−x − x·e^−x) with x = λt, in seconds of freshness
times the weight w. A page is due when that reaches a threshold μ, common to all. Where w/λ is below μ no age is enough: such a
page is seen at the ceiling, as are unimportant and dead ones (weight 0). None is visited more often than the floor or less
often than the ceiling. While a page has had few visits its rate is doubtful, and of the ages that the plausible rates
call for the earliest is taken.

**Within the budget.** `Pace` holds the threshold and what all plans ask for: `replanned` at the end of each visit,
`adjust_threshold` once an hour or so. `make bench-freshness` measures the whole against what perfect knowledge could reach.

The functions over arrays (`gossamer.recrawl.arrays`) stand apart: they need numpy, which a crawl does not load.
"""

from gossamer.recrawl._belief import History, Prior, observe, prior_from, rate
from gossamer.recrawl._pace import Pace, adjust_threshold, replanned
from gossamer.recrawl._visits import RecrawlPolicy, next_visit, value_of

__all__ = [
    "History",
    "Pace",
    "Prior",
    "RecrawlPolicy",
    "adjust_threshold",
    "next_visit",
    "observe",
    "prior_from",
    "rate",
    "replanned",
    "value_of",
]
