"""From tags and texts to entries.

The reader knows three depths: outside an item (`<url>`, `<sitemap>`, `<item>`, `<entry>`), in one, and in a child of one, whose
text is a field. Deeper is ignored, which is what keeps `<image:loc>` from being taken for `<loc>`. Names are local names in lower
case, whatever their namespace: the wrong namespaces of the web are mostly right ones with a letter changed.

A tag that was never closed is closed by whatever cannot stand within it: an item by the next item, a field by the next field,
anything by the end tag of what is around it. An end tag that closes nothing is ignored.
"""

from gossamer.sitemap._fields import (
    CHANGEFREQS,
    attributes_of,
    is_absolute,
    names_entity,
    parse_date,
    parse_priority,
    unescaped,
)
from gossamer.sitemap._problems import Problems
from gossamer.sitemap._site import Site
from gossamer.sitemap._values import Alternate, Child, Entry, Kind, SitemapBounds

__all__ = ["Enough", "Reader"]

_SITEMAP_ITEMS = frozenset({"url", "sitemap"})
_FEED_ITEMS: dict[Kind, frozenset[str]] = {"rss": frozenset({"item"}), "atom": frozenset({"entry"})}
_SITEMAP_FIELDS = frozenset({"loc", "lastmod", "changefreq", "priority", "link"})
# The dates of a feed, best first: RSS has pubDate and dc:date; Atom updated and published; Atom 0.3 the rest.
_DATES = ("updated", "modified", "pubdate", "date", "published", "issued", "created")
_FEED_FIELDS = frozenset({"link", "guid", "id", *_DATES})
_NAMESPACES = frozenset({"http://www.sitemaps.org/schemas/sitemap/0.9", "https://www.sitemaps.org/schemas/sitemap/0.9"})
# Extensions, by their customary prefix, that have names like ours (image:loc, media:link) and mean something else.
_EXTENSIONS = frozenset({b"image", b"video", b"news", b"mobile", b"media", b"itunes", b"content", b"source"})
_REMEMBERED = 1_000
_NAMES = 1_000  # the largest feeds, with all their extensions, have some dozens
_NEAR = 8
_PIECES = 100


class Enough(Exception):
    """A bound was reached, and the problem is noted: raised to end the reading."""


class Reader:
    """Collects the fields of the open item, and makes an entry or a child of them when it closes."""

    def __init__(self, kind: Kind, entities: bool, site: Site, bounds: SitemapBounds, problems: Problems) -> None:
        self.entries: list[Entry] = []
        self.children: list[Child] = []
        self.keep = False
        """Whether text is wanted now."""
        self._feed = kind in _FEED_ITEMS
        self._items = _FEED_ITEMS.get(kind, _SITEMAP_ITEMS)
        self._wanted = self._fields_wanted = _FEED_FIELDS if self._feed else _SITEMAP_FIELDS
        self._entities = entities
        self._site = site
        self._bounds = bounds
        self._problems = problems
        self._items_left = bounds.entries
        self._alternates_left = bounds.alternates
        self._references_left = bounds.tags
        # Few distinct texts, many times: names of tags, and the dates that a generator stamps on everything.
        self._names: dict[bytes, str] = {}
        self._dates: dict[str, float | None] = {}
        self._priorities: dict[str, float | None] = {}
        self._stack: list[bytes] = []
        self._base = site.base
        # The open item. Its depth is the length of the stack just within it; 0 means that none is open.
        self._item = ""
        self._item_depth = 0
        self._item_base = site.base
        self._fields: dict[str, str] = {}
        self._alternates: list[Alternate] = []
        # The open field, always one deeper than the item, and the text collected for it.
        self._field = ""
        self._text: list[str] = []

    # --- what the scanner finds ---

    def leaf(self, tag: bytes, text: bytes) -> None:
        """An element with nothing in it but text: nearly all there is in a sitemap, so this is the hot path."""
        name = self._names.get(tag)
        if name is None:
            name = self._learn(tag)
        if name in self._wanted and len(self._stack) == self._item_depth > 0:
            if self.keep:
                self._own_text()
            value = self._unescaped(text).strip()
            if value and self._fields.setdefault(name, value) is not value:
                self._set(name, value)
        elif self.keep or name in self._items or (self._field and name in self._wanted):
            self.start(tag, b"")
            if self.keep:
                self.text(text)
            self.end(tag)

    def start(self, tag: bytes, attributes: bytes) -> None:
        name = self._names.get(tag)
        if name is None:
            name = self._learn(tag)
        stack, item_depth = self._stack, self._item_depth
        empty = attributes.endswith(b"/")
        if name in self._items:
            if item_depth:
                self._problems.add("a tag is never closed", self._item)
                self._pop(item_depth - 1)
            self._open(name, len(stack) + 1, attributes)
        elif item_depth:
            if empty and not self.keep:  # nothing to collect and nothing to close
                if name == "link" and len(stack) == item_depth and name in self._wanted:
                    self._link(attributes)
                return
            if self._field and name in self._wanted:
                self._problems.add("a tag is never closed", self._field)
                self._pop(item_depth)
            if len(stack) == item_depth:
                self._start_child(name, attributes)
        elif not stack:
            self._root(tag, attributes)
        elif empty:
            return
        stack.append(tag)
        if empty:
            self._pop(len(stack) - 1)
        elif len(stack) > self._bounds.nesting:
            self._problems.add(f"elements deeper than {self._bounds.nesting} were taken as never closed")
            del stack[max(item_depth + (self._field != ""), 1) :]

    def text(self, data: bytes, literal: bool = False) -> None:
        """A text, or (`literal`) the inside of a CDATA section, where an ampersand is an ampersand."""
        text = data.decode("utf-8", "replace") if literal else self._unescaped(data)
        # A field that goes on and on: enough is kept to show that it is too long.
        most = 2 * self._bounds.url_length
        self._text.append(text[:most])
        if len(self._text) > _PIECES:
            self._text[:] = ["".join(self._text)[:most]]

    def end(self, tag: bytes) -> None:
        stack = self._stack
        if stack and stack[-1] == tag:
            self._pop(len(stack) - 1)
            return
        self._problems.add("an end tag does not match", tag.decode("ascii", "replace"))
        # Near the top only: a search through all of it for each of a million end tags would be an attack.
        near = stack[-_NEAR:]
        if tag in near:
            near.reverse()
            self._pop(len(stack) - 1 - near.index(tag))
        elif self._item_depth and self._names.get(tag) == self._item:
            self._pop(self._item_depth - 1)

    def finish(self) -> None:
        """The input is over. An open item counts with the fields it has; a field cut in two does not."""
        if self._stack:
            self._problems.add("the document ends before its end")
        self._field, self.keep = "", False
        if self._item_depth and self._href():
            self._close()

    # --- the parts of an item ---

    def _learn(self, tag: bytes) -> str:
        """The local name in lower case; empty for names of extensions that look like ours and are not."""
        prefix, _, local = tag.rpartition(b":")
        name = "" if prefix.lower() in _EXTENSIONS else local.decode("utf-8", "replace").lower()
        if len(self._names) >= _NAMES:
            self._problems.add(f"more than {_NAMES} different tags; the rest was not read")
            raise Enough
        self._names[tag] = name
        return name

    def _root(self, tag: bytes, attributes: bytes) -> None:
        found = self._attributes(attributes)
        self._base = self._rebased(self._base, found)
        if not self._feed:
            prefix = tag.rpartition(b":")[0].decode("ascii", "replace")
            namespace = found.get(f"xmlns:{prefix}" if prefix else "xmlns", "").strip()
            if namespace not in _NAMESPACES:
                self._problems.add("the namespace is not that of the sitemap protocol", namespace)

    def _open(self, name: str, depth: int, attributes: bytes = b"") -> None:
        if not self._items_left:
            self._problems.add(f"more than {self._bounds.entries} URLs; the rest was not read")
            raise Enough
        self._items_left -= 1
        self._item, self._item_depth = name, depth
        self._item_base = self._base
        self._wanted = self._fields_wanted
        self._fields = {}
        self._alternates = []
        self._field, self.keep = "", not self._feed  # see _own_text
        self._text.clear()
        if self._feed and attributes:
            found = self._attributes(attributes)
            self._item_base = self._rebased(self._base, found)
            if "rdf:about" in found:
                self._fields["about"] = found["rdf:about"]

    def _start_child(self, name: str, attributes: bytes) -> None:
        if self.keep:
            self._own_text()
        self._field = name if name in self._wanted else ""
        self.keep = self._field != ""
        self._text.clear()
        if name == "link" and attributes:
            self._link(attributes)

    def _pop(self, depth: int) -> None:
        """Close all that is open down to a depth of the stack."""
        if 0 < self._item_depth >= depth:
            if self._field:
                field, self._field, self.keep = self._field, "", False
                self._set(field, "".join(self._text))
            if depth < self._item_depth:
                if self.keep:
                    self._own_text()
                self._close()
        del self._stack[depth:]

    def _own_text(self) -> None:
        """`<sitemap>https://…</sitemap>`: some write the URL where its `<loc>` should be."""
        self.keep = False
        if not self._text:
            return
        text = "".join(self._text).strip()
        if text and is_absolute(text):
            self._fields["own"] = text
            self._problems.add("a URL stands in its entry without a <loc>", text)

    def _set(self, field: str, text: str) -> None:
        """The first text of a field counts, but no URL is lost: a second `<loc>` is an entry of its own."""
        text = text.strip()
        if not text:
            return
        if field == "loc" and "loc" in self._fields:
            self._problems.add("an entry names more than one URL; each was taken")
            depth = self._item_depth
            self._close()
            self._open(self._item, depth)
            self.keep = False
        self._fields.setdefault(field, text)

    def _link(self, tag: bytes) -> None:
        """`<xhtml:link rel="alternate" hreflang href>` of a sitemap, `<link rel href>` of Atom."""
        first = self._feed and "href" not in self._fields
        if not first:
            if not self._alternates_left:
                self._problems.add(f"more than {self._bounds.alternates} alternates; the rest was not read")
                self._wanted -= {"link"}  # until the next item, whose first link may be its URL
                return
            self._alternates_left -= 1
        attributes = self._attributes(tag)
        href = attributes.get("href", "").strip()
        rel = attributes.get("rel", "alternate").strip().lower()
        if not href or not rel.endswith("alternate"):  # RFC 4287, 4.2.7.2: the relation may be written as an IANA URI
            return
        base = self._rebased(self._item_base, attributes)
        if first:
            self._fields["href"], self._item_base = href, base
            return
        url = None if self._refused(href) else self._site.remembered(href, base)
        if url is not None:
            self._alternates.append(Alternate(attributes.get("hreflang", "").strip()[:40], url))

    def _close(self) -> None:
        """The item is complete, or as complete as it gets."""
        fields = self._fields
        self._item_depth, self._field, self.keep = 0, "", False
        href = self._href()
        if not href:
            self._problems.add("an entry without a URL was skipped")
            return
        url = None if self._refused(href) else self._site.url(href, self._item_base)
        if url is None:
            return
        inside = self._site.inside(url)
        if self._feed:
            date = next((fields[name] for name in _DATES if name in fields), None)
            self.entries.append(Entry(url, self._date(date), None, None, tuple(self._alternates), inside))
            return
        lastmod = self._date(fields.get("lastmod"))
        if self._item == "sitemap":
            self.children.append(Child(url, lastmod, inside))
            return
        changefreq = self._changefreq(fields.get("changefreq"))
        priority = self._priority(fields.get("priority"))
        self.entries.append(Entry(url, lastmod, changefreq, priority, tuple(self._alternates), inside))

    # --- the fields of an item ---

    def _unescaped(self, data: bytes) -> str:
        if b"&" not in data:
            return data.decode("utf-8", "replace")
        self._count_references(data)
        return unescaped(data, self._problems)

    def _attributes(self, tag: bytes) -> dict[str, str]:
        if b"&" in tag:
            self._count_references(tag)
        return attributes_of(tag)

    def _count_references(self, data: bytes) -> None:
        """A reference costs half as much as a tag, and 50 MiB have room for ten millions."""
        self._references_left -= data.count(b"&")
        if self._references_left < 0:
            self._problems.add(f"more than {self._bounds.tags} references; the rest was not read")
            raise Enough

    def _href(self) -> str | None:
        """The field that holds the item's URL. A guid, an id or an rdf:about does so only if it looks like one."""
        fields = self._fields
        if not self._feed:
            return fields.get("loc") or fields.get("own")
        found = fields.get("link") or fields.get("href")
        if found:
            return found
        return next((fields[n] for n in ("guid", "id", "about") if n in fields and is_absolute(fields[n])), None)

    def _refused(self, href: str) -> bool:
        if not self._entities or not names_entity(href):
            return False
        self._problems.add("a URL needs an entity of the DTD and was skipped", href)
        return True

    def _date(self, text: str | None) -> float | None:
        if text is None:
            return None
        if text in self._dates:
            return self._dates[text]
        date = parse_date(text)
        if date is None:
            self._problems.add("a date cannot be read and was ignored", text)
        if len(self._dates) >= _REMEMBERED:
            self._dates.clear()
        self._dates[text] = date
        return date

    def _changefreq(self, text: str | None) -> str | None:
        if text is None or text in CHANGEFREQS:
            return text
        if text.lower() in CHANGEFREQS:
            return text.lower()
        self._problems.add("a changefreq is none of the protocol's and was ignored", text)
        return None

    def _priority(self, text: str | None) -> float | None:
        if text is None:
            return None
        if text in self._priorities:
            return self._priorities[text]
        priority = parse_priority(text)
        if priority is None:
            self._problems.add("a priority is no number and was ignored", text)
        if len(self._priorities) >= _REMEMBERED:
            self._priorities.clear()
        self._priorities[text] = priority
        return priority

    def _rebased(self, base: str | None, attributes: dict[str, str]) -> str | None:
        """The base that an xml:base attribute sets (feeds have them)."""
        href = attributes.get("xml:base")
        return base if href is None else self._site.remembered(href, base) or base
