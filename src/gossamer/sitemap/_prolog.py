"""What stands before the root element, and which element that is.

XML allows a declaration, comments, processing instructions and one DOCTYPE there (XML 1.0, 2.8). All of it is stepped over here,
so the XML parser never sees a DTD: entities cannot be declared, neither internal bombs nor external files. In broken documents
other things stand there too (blank lines, a PHP warning); they are stepped over up to the first root element we know.
"""

import re

from msgspec import Struct

from gossamer.sitemap._problems import Problems

__all__ = ["Root", "find_root"]


class Root(Struct, frozen=True):
    """The root element: its local name in lower case, and where its tag begins."""

    name: str
    at: int
    entities: bool = False
    """Whether a DTD declared entities: then a reference means something we refuse to know."""


_PREFIX = rb"<(?:[A-Za-z_][\w.-]{0,100}:)?"
_ANY = re.compile(_PREFIX + rb"([A-Za-z_][\w.-]{0,100})(?=[\s/>])").match
_KNOWN = re.compile(_PREFIX + rb"(urlset|sitemapindex|rss|rdf|feed)(?=[\s/>])", re.IGNORECASE)
_HTML = frozenset(
    {"head", "title", "meta", "script", "style", "body", "div", "p", "h1", "center", "br", "b"}
)  # its tag left out
_BLANK = re.compile(rb"[\s\0]*").match
_DOCTYPE = re.compile(rb"<!doctype\s+([\w:.-]*)", re.IGNORECASE).match
_DOCTYPE_MARK = re.compile(rb"[\"'\[\]<>]").search


def find_root(head: bytes, problems: Problems) -> Root | None:
    """The root element, or None where there is none to be seen (a list of URLs, an image, nothing)."""
    at, entities = 0, False
    while True:
        blank = _BLANK(head, at)
        at = blank.end() if blank else at
        if head.startswith(b"<?", at):
            if at and head.startswith(b"<?xml ", at):
                problems.add("something stands before the XML declaration")
            end = _behind(head, b"?>", at + 2)
        elif head.startswith(b"<!--", at):
            end = _behind(head, b"-->", at + 4)
        elif doctype := _DOCTYPE(head, at):
            if doctype[1].lower() == b"html":
                return Root("html", at)
            end = _behind_doctype(head, doctype.end())
            if b"<!ENTITY" in head[at : end or None]:
                entities = True
                problems.add("a DTD declares entities; they are never expanded")
        else:
            break
        if not end:
            return _after_junk(head, at, entities, problems)
        at = end
    found = _ANY(head, at)
    if found is None:
        return _after_junk(head, at, entities, problems)
    name = found[1].decode("ascii", "replace").lower()
    if name != "html" and not _KNOWN.match(head, at):
        return _after_junk(head, at, entities, problems) or Root("html" if name in _HTML else name, at)
    return Root(name, at, entities)


def _after_junk(head: bytes, at: int, entities: bool, problems: Problems) -> Root | None:
    found = _KNOWN.search(head, at)
    if found is None:
        return None
    problems.add("something that is no part of the document stands before it")
    return Root(found[1].decode("ascii").lower(), found.start(), entities)


def _behind(head: bytes, mark: bytes, at: int) -> int:
    found = head.find(mark, at)
    return found + len(mark) if found >= 0 else 0


def _behind_doctype(head: bytes, at: int) -> int:
    """Just behind the `>` that ends the DOCTYPE, 0 where there is none.

    Quoted strings, comments and instructions hide brackets. Each mark is found once and left behind, so this is linear.
    """
    subset = False
    while mark := _DOCTYPE_MARK(head, at):
        at = mark.end()
        if mark[0] == b"[":
            subset = True
        elif mark[0] == b"]":
            subset = False
        elif mark[0] in b"\"'":
            at = _behind(head, mark[0], at)
        elif head.startswith(b"!--", at):
            at = _behind(head, b"-->", at)
        elif head.startswith(b"?", at):
            at = _behind(head, b"?>", at)
        elif mark[0] == b">" and not subset:
            return at
        if not at:
            break
    return 0
