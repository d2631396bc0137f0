"""`make bench-order`: how much of the web's PageRank a crawl has after 1, 5, 10 and 25 % of its pages, by order.

The web is generated (`graph.web`), or a link graph in a file (`--graph`: lines "source target", URLs or names, gzipped or not).
PageRank is that of the whole graph, damping 0.85. The crawls know only the links of pages they have fetched, and start at five pages.

    omniscient                   the best pages of all: an upper bound for any order
    omniscient among the found   the best of those found so far, by their true PageRank
    best-first                   `gossamer.importance`, with host queues, front classes and politeness as in the engine
    breadth-first                first found, first fetched, politeness ignored
    breadth-first, polite        host queues by depth, and politeness as for best-first

Politeness: a host rests while 20 pages of other hosts are fetched. Attackers own a fifth of all pages; what counts as captured is the
PageRank of the good pages alone.
"""
