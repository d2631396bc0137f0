"""`make soak`: does a crawl that runs for an hour use at its end what it used after warm-up, and do as much?

A web without end, with all its corners, is crawled by two workers at a pace that politeness sets and that leaves the machine
half idle: so throughput says whether the crawler keeps up, not how fast the machine is today. Every ten seconds the
processes are looked at from outside (`probe`), and the crawl is asked for its own figures; at the end `verdict` judges.
"""
