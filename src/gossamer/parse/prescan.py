"""The top of a page, read before its encoding is known: which encoding does its own `meta` element name?

HTML's "prescan a byte stream" looks at 1,024 bytes and knows tags and comments only. Browsers go a little further, and so
does this: a meta counts while the head lasts, however long that is, and what stands inside a script, a style, a title or a
CDATA section is no meta. After the head, only the first 1,024 bytes count.
"""

import html
import re

from gossamer.parse.labels import encoding_named

__all__ = ["charset_in", "prescan"]

_FIRST = 1024
_MOST = 65_536  # a head longer than this does not hold the one element that matters at its end
_ATTRIBUTE = re.compile(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)"
    rb"(?:[\t\n\f\r ]*+=[\t\n\f\r ]*+(\"[^\"]*+\"|'[^']*+'|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)?+)?+"
)
_UNCLOSED = re.compile(rb"=[\t\n\f\r ]*$")
_TAG = re.compile(rb"<(/?)([A-Za-z][^\t\n\f\r />]*+)(?=[\t\n\f\r />])")
_CHARSET = re.compile(r"(?i)charset[\t\n\f\r ]*=[\t\n\f\r ]*")
_RAW = {
    name: re.compile(rb"(?i)</" + name + rb"[\t\n\f\r />]")
    for name in (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noframes", b"noembed")
}
_HEAD = frozenset(b"html head title base basefont bgsound link meta style script noscript noframes".split())


# Pages of a site begin alike: what was read of the last ones up to their meta element need not be read again.
_known: list[tuple[bytes, str]] = []
_MOST_KNOWN = 4


def prescan(body: bytes) -> str | None:
    """The encoding a meta element near the top names, or None."""
    for beginning, encoding in _known:
        if body.startswith(beginning):
            return encoding
    if body.startswith((b"<\x00?\x00x\x00", b"\x00<\x00?\x00x")):
        return "UTF-16LE" if body[0] else "UTF-16BE"
    head = body[:_MOST]
    in_head, in_svg = True, False
    at = head.find(b"<")
    while at >= 0 and (at < _FIRST or in_head):
        if match := _TAG.match(head, at):
            end, name = bool(match[1]), match[2].lower()
            attributes, after = _attributes(head, match.end())
            if name == b"meta" and not end and (found := _meta(attributes)) is not None:
                if after < len(head):
                    _known.insert(0, (head[: after + 1], found))
                    del _known[_MOST_KNOWN:]
                return found
            if name == b"svg":
                in_svg = not end
            in_head = in_head and name in _HEAD and not (end and name == b"head")
            if name in _RAW and not end and not in_svg:
                closing = _RAW[name].search(head, after)
                if closing is None:
                    return None
                after = closing.start()
            at = head.find(b"<", after)
            continue
        if head.startswith(b"<!--", at):
            stop, past = b"-->", 2
        elif in_svg and head.startswith(b"<![CDATA[", at):
            stop, past = b"]]>", 9
        elif head[at + 1 : at + 2] in (b"!", b"/", b"?"):
            stop, past = b">", 1
        else:
            at = head.find(b"<", at + 1)
            continue
        closed = head.find(stop, at + past)
        if closed < 0:
            return None
        at = head.find(b"<", closed + len(stop))
    return None


def _attributes(head: bytes, at: int) -> tuple[list[tuple[bytes, bytes]], int]:
    """Attributes from `at` to the end of the tag, and the place after them; a tag cut off by the end has none."""
    found: list[tuple[bytes, bytes]] = []
    while match := _ATTRIBUTE.match(head, at):
        at = match.end()
        quoted = head[at : at + 1] in (b'"', b"'") and match[2] is None
        if at == len(head) or (quoted and _UNCLOSED.search(match[0])):
            return [], len(head)
        value = match[2] or b""
        found.append((match[1].lower(), value[1:-1] if value[:1] in (b'"', b"'") else value))
    return found, at


def _meta(attributes: list[tuple[bytes, bytes]]) -> str | None:
    pragma = False
    needs_pragma: bool | None = None
    encoding: str | None = None
    seen: set[bytes] = set()
    for name, value in attributes:
        if name in seen:
            continue
        seen.add(name)
        text = value.decode("latin-1").lower()
        if "&" in text:  # the tree builder would read it so, and browsers agree
            text = html.unescape(text)
        if name == b"http-equiv":
            pragma = text == "content-type"
        elif name == b"content" and encoding is None:
            label = charset_in(text)
            if label is not None and (named := encoding_named(label)) is not None:
                encoding, needs_pragma = named, True
        elif name == b"charset":
            encoding, needs_pragma = encoding_named(text), False
    if needs_pragma is None or (needs_pragma and not pragma) or encoding is None:
        return None
    if encoding in ("UTF-16LE", "UTF-16BE"):  # the meta was readable, so it is not
        return "UTF-8"
    return "windows-1252" if encoding == "x-user-defined" else encoding


def charset_in(content: str) -> str | None:
    """The label in the content of `<meta http-equiv=content-type>`."""
    match = _CHARSET.search(content)
    if match is None:
        return None
    rest = content[match.end() :]
    quote = rest[:1]
    if quote in ('"', "'") and quote:
        label, closed, _ = rest[1:].partition(quote)
        return label if closed else None
    return re.split(r"[\t\n\f\r ;]", rest, maxsplit=1)[0] or None
