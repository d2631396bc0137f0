"""A synthetic web on loopback: endless, reproducible, with corners switched on by name. It is the demo, and the oracle of tests.

`Web(seed=0, hosts=200, pages=5000, corners={"robots", "traps"})` is pure: it computes any page, and says what a correct crawl
makes of it (`reachable`, `node`, `is_trap`). `serve` and `start_in_process` put it on one loopback port for all its hosts, told
apart by the Host header (point the crawler there with `--connect-to`). The log of what was served, when and to whom is read
by `read_log` and judged by `gossamer.sim.web.audit`.

Without corners it is a plain web: hosts of power-law size under `.example` and `.test`, every page reachable from its host's
home page, every host from the first; addresses in many spellings; rel=nofollow links to pages that must not be asked for.
Each corner adds hosts of its own (`web.corner_hosts(name)`), linked from plain home pages and each with an ordinary tree of
`corner_pages` pages, so that a crawl that stumbles there is seen:

| corner       | what its hosts do                                                | what a correct crawl does (the kind of the node)            |
|--------------|------------------------------------------------------------------|-------------------------------------------------------------|
| `slow`       | five hosts answer after 1-2 × `slow_seconds`                     | stores all (page); others are not slowed                    |
| `throttle`   | every 6th request: 429 or 503, Retry-After as seconds or date,   | stores all, asks nothing before the time                    |
|              | or (once) without; goes on refusing until then                   | (`audit.retry_after_violations`)                            |
| `errors`     | 5xx, reset, empty reply, cut body: heal after 1-2 tries, or never| stores the healed (page); the rest are failed; 4xx missing  |
| `redirects`  | chains of every code, loops, other hosts, relative, unicode, no  | follows (redirect) and stores the end; loops are failed;    |
|              | Location, meta refresh, endless chain, ways to inside addresses  | inside addresses are never asked for (forbidden)            |
| `robots`     | subtrees, wildcards, groups, Crawl-delay; robots.txt 404, 403,   | obeys (forbidden); 4xx, HTML and garbage allow; 5xx and     |
|              | 5xx, reset, moved, looping, huge, BOM, HTML, garbage             | unreachable forbid the host                                 |
| `sitemaps`   | pages named only by sitemaps: index, gzip, text, RSS, broken,    | stores them too (`Site.hidden`)                             |
|              | cyclic; named in robots.txt or at /sitemap.xml                   |                                                             |
| `copies`     | exact copies (other path, other host), near copies               | stores one of each group (copy, near: `Expected.groups`)    |
| `traps`      | calendar, counter, facets, deeper and deeper, maze, session ids  | stores the real pages; trap addresses as few as possible    |
| `mire`       | nine sites, real pages and `mire_depth` times as many traps that | stores the real pages; traps are learned, as few as possible|
|              | look like them: shop, forum, diary, sessions, mazes, floods, …   |                                                             |
| `soft404`    | dead links answered 200 with an apology, or sent home            | recognises them (soft404)                                   |
| `charsets`   | many encodings; declared in header, page, BOM, wrongly, nowhere  | `node.title` is what a browser would show                   |
| `broken`     | bad HTML, bytes, lengths, types; hardly HTTP                     | pages that can be read are stored and lead on; rest is free |
| `changing`   | versions by schedule; ETag, Last-Modified, 304; vanishing pages  | `web.changes`, `web.version`; vanishing pages are free      |
| `compressed` | gzip, deflate, raw deflate, br, zstd, two codings; lies          | stores all (page); lies are free                            |
| `bombs`      | packed, nested, endless, dripping, mute; floods of headers,      | survives, stays small, goes on (free); the subdomain farm   |
|              | links, cookies, subdomains; robots.txt and sitemap bombs         | and sitemap families are traps                              |
| `meta`       | noindex, nofollow, X-Robots-Tag, canonical, base                 | noindex is not kept; behind nofollow is forbidden           |
| `idn`        | names and paths beyond ASCII, in several spellings               | one canonical address each (page)                           |
| `binary`     | images, PDF, zip, JSON, CSS, … with right types                  | fetched, no links taken (binary)                            |
"""

from gossamer.sim.web.log import Served, read_log
from gossamer.sim.web.model import Answer, Kind, Node, Request, Scope, Settings
from gossamer.sim.web.plan import Expected, Web
from gossamer.sim.web.process import Running, start_in_process
from gossamer.sim.web.server import Server, serve

__all__ = [
    "Answer", "Expected", "Kind", "Node", "Request", "Running", "Scope", "Served", "Server", "Settings", "Web", "read_log",
    "serve", "start_in_process",
]  # fmt: skip
