"""One name for each resource: how a reference becomes a URL, and which spelling stands for all the others.

    resolve(href, base)       what a browser would request (WHATWG URL Standard), or InvalidURL
    canonicalize(url, rules)  the one spelling under which a crawl knows the resource; idempotent
    Resolver(base, memory)    resolve for the many links of one page, remembering across pages
    host_of, authority_of, origin_of, registrable_domain, surt
    fingerprint(url)          64 bits that stand for a canonical URL in the seen set

`resolve` never interprets, it only follows the standard. `canonicalize` decides: every decision is a field of `Rules`, and
the lists of names it removes (tracking parameters, session ids) are in one place, `_rules.py`.
"""

from gossamer.url._canonical import canonicalize
from gossamer.url._parts import authority_of, fingerprint, host_of, origin_of, registrable_domain, surt
from gossamer.url._resolve import LinkMemory, Resolver, resolve
from gossamer.url._rules import AGGRESSIVE, DEFAULT, Rules

__all__ = [
    "AGGRESSIVE",
    "DEFAULT",
    "LinkMemory",
    "Resolver",
    "Rules",
    "authority_of",
    "canonicalize",
    "fingerprint",
    "host_of",
    "origin_of",
    "registrable_domain",
    "resolve",
    "surt",
]
