"""Which page first? Order `best-first`: what a URL is worth before anyone has read it, reckoned while the crawl runs.

**Cash.** Every page that is fetched hands what it has collected to its links; a queued URL is worth what it was handed so far. A part
goes back to a virtual root, which gives something to each page that is fetched, so what is lost comes in again (OPIC: Abiteboul, Preda and
Cobena, 2003). Where a page links to its own domain and to others, each side has half: a domain's thousand links to itself do
not outweigh what it says of others. What is paid to a page that was fetched already goes into its domain's *pot*, and the domain's next pages
pass it on: no finished record is rewritten for the sake of a link.

**Authority.** Of a registrable domain; links inside it count for nothing. It is the smaller of two counts: the different domains
that link to it (a sketch of at most 64 bytes), and what their links vouch with, in ordinary links. A link vouches with what
it carries where it stands on a domain with authority, and with next to nothing where not (the cube of little is nothing). A farm of domains that
link only to each other has the first count and not the second.

**Budget.** A domain is allowed pages as its authority grows, fewer where its pages are copies or its hosts more than its authority explains.
Hosts are compared by the cash of their best URL times allowance over pages fetched. Nothing is refused: beyond its allowance a domain comes
later, its pages hand on less, and the root gives them less. What the root gives goes by authority and by what others have vouched, so
new domains are no source of cash.

**Two levels.** `rank` (a URL in its host's queue) depends on the URL alone but for what its sitemap said; `front_class` (a host among hosts) on the
rank of its best URL and on the domain. So nothing in a queue is rewritten when a domain's standing changes: its hosts are placed
anew when they come back from a fetch or from disk. Both are small integers on a log scale: a queue entry is rewritten when its
URL's cash has grown by a fifth.

**How an engine calls it.** It keeps a `Standing` a registrable domain (the host's name where there is none), one `Economy`, and with each
queued URL its cash (4 or 8 bytes, beside its place in the queue). Time plays no part.

    seed              cash = endow(standing, economy); queued with rank(cash, 0, …)
    a new host        standing.hosts += 1
    sitemap entry     hear(standing, priority) where it names one; queued with cash 0 and rank(0, depth, …, priority)
    page fetched      paid = spend(standing, cash, links inside the domain, links to others, …, copy=…), then for each link:
        other domain      refer(its standing, hash of this domain, paid.vouch, economy)
        queued or new     cash += paid.inward or paid.outward; moved in its queue when rank(…) differs, in the same transition
        finished          its standing.pot += the same
        not followed      economy.returned += the same (refused by a trap, out of scope, nofollow)
    redirect          as a page with that one link
    error, gone       economy.returned += cash
    fetched again     spend(standing, 0, …, again=True), then as above; nothing where the page has not changed
    a host is placed  front_class(rank of its best URL, standing, …); moved when a better URL comes or its best one's rank changes
    a turn            turn_class(1, 2, 3 …) is which of the classes that have a host ready, counted from the best

At every instant `issued` equals `returned`, the cash of all queued URLs and all pots together. Every link counts, those that
were reported before too: a worker must not leave out repeated links as it may for breadth-first.
"""

from gossamer.importance.score import (
    CLASSES,
    LAST_RANK,
    Explanation,
    Paid,
    Term,
    endow,
    explain,
    front_class,
    rank,
    spend,
    turn_class,
)
from gossamer.importance.sketch import distinct, merged, noted
from gossamer.importance.standing import (
    Economy,
    Standing,
    Weights,
    allowance,
    authority,
    hear,
    purity,
    refer,
    sprawl,
)

__all__ = [
    "CLASSES",
    "LAST_RANK",
    "Economy",
    "Explanation",
    "Paid",
    "Standing",
    "Term",
    "Weights",
    "allowance",
    "authority",
    "distinct",
    "endow",
    "explain",
    "front_class",
    "hear",
    "merged",
    "noted",
    "purity",
    "rank",
    "refer",
    "spend",
    "sprawl",
    "turn_class",
]
