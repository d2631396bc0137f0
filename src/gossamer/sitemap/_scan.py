"""Bytes of XML → tags and texts: a scanner that forgives.

Why not a library: a sitemap needs tags, texts and a handful of attributes, and an XML parser is a worse risk than that is worth.
lxml keeps every name it ever met in one table for the life of the process (measured: 80 bytes a name, never freed), so hostile
documents leak a worker's memory away, and a million different names take seconds; libxml2 in recovery mode drops the name behind
a bare `&`, turning `?a=1&b=2` into `?a=1=2`; and lxml's streaming interfaces need 4.5 to 5 µs for the tags of a URL, this 3. Here
no DTD, no entity and no namespace exists, an attribute is not looked at unless it is asked for, and a broken tag costs itself
only. That well-formed documents are read as lxml reads them is a property test.

One regular expression finds the tokens. It cannot go quadratic: every repetition is possessive and none crosses a `<`.
"""

import re

from gossamer.sitemap._problems import Problems
from gossamer.sitemap._reader import Enough, Reader
from gossamer.sitemap._values import SitemapBounds

__all__ = ["Scanner"]

_TOKENS = re.compile(
    rb"""<(?:
        ([A-Za-z_][\w:.-]{0,100}+)                                          # a name, and either
            (?: >([^<]*+)</\1\s*+>                                          # a whole element with nothing but text,
              | ((?:[^<>"']++ | "[^"<]*+" | '[^'<]*+')*+ | [^<>]*+)> )      # or its start tag with attributes
      | /([A-Za-z_][\w:.-]{0,100}+)[^<>]*+>                                 # an end tag
      | !\[CDATA\[([^<\]]*+)\]\]>                                          # short forms of what ends with its own mark
      | ( !--[^<-]*+--> | \?[^<?]*+\?> )
      | ( !-- | !\[CDATA\[ | \? )                                          # and its beginning
      | )                                                                   # a `<` that begins nothing""",
    re.VERBOSE,
).finditer
_LEAF, _START, _END, _CDATA, _COMMENT, _OPENING = 2, 3, 4, 5, 6, 7
_ENDS = {b"!--": b"-->", b"![CDATA[": b"]]>", b"?": b"?>"}


class Scanner:
    """Feeds a reader, piece by piece. Holds back what follows the last `<`: it may go on in the next piece."""

    __slots__ = ("_left", "_problems", "_reader", "_rest", "_tag_bytes", "_tags", "_until")

    def __init__(self, reader: Reader, bounds: SitemapBounds, problems: Problems) -> None:
        self._reader = reader
        self._problems = problems
        self._tags = self._left = bounds.tags
        self._tag_bytes = bounds.tag_bytes
        self._rest = b""
        self._until = b""  # within a comment, a CDATA section or an instruction: the mark that ends it

    def feed(self, piece: bytes, last: bool = False) -> None:
        data = self._rest + piece
        self._rest = b""
        at = 0
        while True:
            if self._until:
                at = self._skip(data, at)
                if self._until:
                    return
            end = len(data) if last else data.rfind(b"<", at)
            if end < 0:  # text only
                end = at
            at = self._tokens(data, at, end)
            if not self._until:
                break
        self._rest = data[at:]
        if len(self._rest) > self._tag_bytes:
            self._problems.add("a tag or a text is longer than allowed and was skipped")
            self._rest = b""

    def finish(self) -> None:
        """The input is over."""
        self.feed(b"", last=True)
        if self._until:
            self._problems.add("a comment or section is never closed")
        self._reader.finish()

    def _tokens(self, data: bytes, at: int, end: int) -> int:
        """Up to `end`, or to a comment, section or instruction that goes on: then `_until` is set. Returns how far it came."""
        reader = self._reader
        left = self._left
        for token in _TOKENS(data, at, end):
            if reader.keep and not (text := data[at : token.start()]).isspace() and text:
                reader.text(text)
            at = token.end()
            left -= 1
            if left < 0:
                self._problems.add(f"more than {self._tags} tags; the rest was not read")
                raise Enough
            kind = token.lastindex
            if kind == _LEAF:
                reader.leaf(token[1], token[2])
            elif kind == _START:
                reader.start(token[1], token[3])
            elif kind == _END:
                reader.end(token[4])
            elif kind == _CDATA:
                if reader.keep:
                    reader.text(token[5], literal=True)
            elif kind == _OPENING:
                self._until = _ENDS[token[7]]
                break
            elif kind != _COMMENT:
                self._problems.add("a tag is broken and was skipped")
                if reader.keep:
                    reader.text(b"<")
        else:
            if end > at and reader.keep:
                reader.text(data[at:end])
            at = end
        self._left = left
        return at

    def _skip(self, data: bytes, at: int) -> int:
        """Behind the mark that ends what was begun; without one, to the end, holding back what may be half a mark."""
        mark = self._until
        end = data.find(mark, at)
        if end >= 0:
            self._until = b""
        else:
            end = max(at, len(data) - len(mark) + 1)
            self._rest = data[end:]
        if mark == b"]]>" and self._reader.keep and end > at:
            self._reader.text(data[at:end], literal=True)
        return end + len(mark)
