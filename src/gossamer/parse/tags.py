"""Reading a body tag by tag, for the few that could hurt the tree builder, and leaving out the tags that would.

This is HTML's tokenizer as far as the borders of tags go (quotes, comments, raw text), and a rough account of its open
elements. Where the account is unsure it counts too many, never too few: a start tag left out by mistake costs a little
structure, one let through by mistake costs minutes. Regular expressions here are possessive, so none of them backtracks.
"""

import re

__all__ = ["MOST_ATTRIBUTES", "MOST_NAMES", "REST_OF_TAG", "formatting_kinds", "has_flood", "prune"]

_WS = rb"[\t\n\f\r ]"
_VALUE = rb"(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|[^\t\n\f\r >\"'][^\t\n\f\r >]*+)"
_ATTRIBUTE = rb"[\t\n\f\r /]*+[^\t\n\f\r />][^\t\n\f\r />=]*+(?:" + _WS + rb"*+=" + _WS + rb"*+" + _VALUE + rb"?+)?+"
_REST = rb"(?:" + _ATTRIBUTE + rb")*+[\t\n\f\r /]*+>"
REST_OF_TAG = re.compile(_REST)
_TAG = re.compile(rb"<(/?)([a-zA-Z][^\t\n\f\r />]*+)(" + _REST + rb")")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_NAMES = re.compile(
    rb"[\t\n\f\r /]*+([^\t\n\f\r />][^\t\n\f\r />=]*+)(?:" + _WS + rb"*+=" + _WS + rb"*+" + _VALUE + rb"?+)?+"
)
MOST_NAMES = 20_000
"""Different attribute names a body may have; honest ones have some hundred."""
MOST_ATTRIBUTES = 400_000
"""Attributes of a whole body: each takes some 300 bytes of the tree."""
_COMMENT_END = re.compile(rb"--!?>")

_VOID = frozenset(
    b"area base basefont bgsound br col embed frame hr image img input keygen link meta param source track wbr".split()
)
# They close one another, or themselves, so they cannot nest without one of the others between them.
_FLAT = frozenset(b"html head body p li dt dd tr td th tbody thead tfoot colgroup rt rp a nobr".split())
_FORMATTING = frozenset(b"b big code em font i s small strike strong tt u".split())
_FORMATTING_TAG = re.compile(rb"(?i)<(?:[bisu]|big|code|em|font|small|strike|strong|tt)(?=[\t\n\f\r /])" + _REST)
_CLOSED_ALONE = _FORMATTING | {b"a", b"nobr"}  # the adoption agency: their end tags leave what is inside them open
_MARKERS = frozenset(b"td th caption applet object marquee template".split())
# No end tag reaches past one of these.
_SCOPES = frozenset(
    b"table caption applet object marquee template button select svg math foreignobject desc title annotation-xml mi mo"
    b" mn ms mtext".split()
)
_RAW = {
    name: re.compile(rb"(?i)</" + name + rb"[\t\n\f\r />]")
    for name in (b"script", b"style", b"title", b"textarea", b"xmp", b"iframe", b"noframes", b"noembed")
}
_RAW_TAG = re.compile(rb"(?i)<(script|style|title|textarea|xmp|iframe|noframes|noembed|svg|math)[\t\n\f\r />]")
_FOREIGN = (b"svg", b"math")
_ROOTS = (b"html", b"body")
_MOST_ROOTS = 8
_MOST_SCOPES = 64  # links may nest in one another where these stand between, and their texts are read one by one
_MOST_WORK = 3_000_000  # steps of the account itself: half a second


def formatting_kinds(body: bytes) -> int:
    """How many different formatting tags with attributes there are; at most three alike stay open (the Noah's Ark clause)."""
    return len({match[0] for match in _FORMATTING_TAG.finditer(body)})


def has_flood(body: bytes, attributes: int, all_names: bool = True) -> bool:
    """Whether some tag has more than `attributes` attributes, or never ends, or, of `all_names`, there are too many.

    About 1 µs a tag. Once svg or math has been seen, scripts and the like are read through too: there they may not be raw text.
    """
    foreign = False
    total = 0
    names: set[bytes] = set()
    at = body.find(b"<")
    while at >= 0:
        # Most tags have no equals sign, so no quotes to hide a `>` in.
        end = body.find(b">", at)
        if end < 0 or end - at > attributes or body.find(b"=", at, end) >= 0 or body.startswith(b"<!", at):
            match = _TAG.match(body, at)
            if match is None:
                end = _other(body, at)
                if end < 0:
                    return True
                at = body.find(b"<", end)
                continue
            rest = match[3]
            if len(rest) > 2 * attributes and _first_attributes(rest, attributes) is not None:
                return True
            if all_names:
                mine = _NAMES.findall(rest)
                names.update(mine)
                total += len(mine)
                if len(names) > MOST_NAMES or total > MOST_ATTRIBUTES:
                    return True
            end = match.end() - 1
        raw = _RAW_TAG.match(body, at)
        if raw is not None and raw[1].lower() in _FOREIGN:
            foreign = True
        elif raw is not None and not foreign:
            closed = _RAW[raw[1].lower()].search(body, end)
            if closed is None:
                return False
            end = closed.start() - 1
        at = body.find(b"<", end + 1)
    return False


def prune(body: bytes, depth: int, attributes: int, formatting: int) -> tuple[bytes, list[str]]:
    """`body` without the tags over the bounds, and sentences about them."""
    kept: list[bytes] = []
    since = 0
    too_deep = too_many = reopened = roots = unnamed = total = 0
    names: set[bytes] = set()
    account = _Account(depth, formatting)
    ended = ""
    at = body.find(b"<")
    while at >= 0:
        match = _TAG.match(body, at)
        if match is None:
            end = _other(body, at)
            if end < 0:
                ended = f"A tag that never ends was cut, byte {at:,} of {len(body):,}."
                kept.append(body[since:at])
                since = len(body)
                break
            at = body.find(b"<", end)
            continue
        closing, name, rest = match[1], match[2].lower(), match[3]
        start, end = at, match.end()
        drop = False
        if closing:
            account.close(name)
        else:
            if name in _ROOTS:
                roots += 1
                drop = roots > _MOST_ROOTS
            if not drop:
                reason = account.open(name)
                drop = reason != 0
                too_deep += reason == 1
                reopened += reason == 2
            if name in _RAW and not account.foreign:
                closed = _RAW[name].search(body, end)
                at = len(body) if closed is None else closed.start()
            else:
                at = end
        if drop:
            kept.append(body[since:start])
            since = end
        else:
            short: bytes | None = None
            if len(rest) > 2 * attributes and (short := _first_attributes(rest, attributes)) is not None:
                too_many += 1
            if len(rest) > 2:
                mine = _NAMES.findall(short or rest)
                total += len(mine)
                account.work += 3 * len(mine)
                if total > MOST_ATTRIBUTES:
                    too_many += short is None
                    short = b""
                elif len(names) < MOST_NAMES:
                    names.update(mine)
                elif not names.issuperset(mine):
                    unnamed += 1
                    short = b"".join(m[0] for m in _NAMES.finditer(short or rest) if m[1] in names)
            if short is not None:
                kept += (body[since : start + 1], closing, name, short, b">")
                since = end
        if account.work > _MOST_WORK:
            ended = f"The body was cut where its nesting could no longer be followed, byte {end:,} of {len(body):,}."
            kept.append(body[since:end])
            since = len(body)
            break
        at = body.find(b"<", max(at, end))
    kept.append(body[since:])
    cuts = [
        f"{count:,} {what}"
        for count, what in (
            (too_deep, f"start tags nested deeper than {depth} were left out."),
            (reopened, f"formatting tags over {formatting} unclosed ones were left out."),
            (too_many, f"tags lost their attributes past number {attributes}, or {MOST_ATTRIBUTES:,} of the whole."),
            (unnamed, f"tags lost attributes whose names came after {MOST_NAMES:,} others."),
            (max(0, roots - _MOST_ROOTS), f"html and body tags past number {_MOST_ROOTS} were left out."),
        )
        if count
    ]
    return b"".join(kept), cuts + ([ended] if ended else [])


def _other(body: bytes, at: int) -> int:
    """Where a comment, a declaration or a lone `<` ends; -1 when it is a tag that never does."""
    after = body[at + 1 : at + 2]
    if after == b"!" and body.startswith(b"<!--", at):
        if body.startswith((b">", b"->"), at + 4):
            return at + 5
        end = _COMMENT_END.search(body, at + 4)
        return len(body) if end is None else end.end()
    if after in (b"!", b"?") or (after == b"/" and not body[at + 2 : at + 3].isalpha()):
        end_at = body.find(b">", at + 2)
        return len(body) if end_at < 0 else end_at + 1
    if after.isalpha() or after == b"/":
        return -1
    return at + 1


def _first_attributes(rest: bytes, most: int) -> bytes | None:
    """The first `most` attributes of a tag, or None when it has no more than that."""
    at = 0
    for _ in range(most):
        match = _ATTRIBUTES.match(rest, at)
        if match is None:
            return None
        at = match.end()
    return rest[:at] if _ATTRIBUTES.match(rest, at) else None


class _Account:
    """Which elements are open, as far as it matters here."""

    __slots__ = (
        "_counts",
        "_depth",
        "_formatting",
        "_formatting_most",
        "_in_scope",
        "_open",
        "_scoped",
        "foreign",
        "work",
    )

    def __init__(self, depth: int, formatting: int) -> None:
        self._depth = depth
        self._formatting_most = formatting
        self._open: list[bytes] = []
        self._counts: dict[bytes, int] = {}
        self._formatting = 0  # on the list of active formatting elements
        self._scoped = 0
        self._in_scope: dict[bytes, int] = {}  # of those, since the last marker
        self.foreign = 0  # svg, math or select open: raw text elements may not be raw there
        self.work = 0

    def open(self, name: bytes) -> int:
        """0 to keep the tag; 1, 2 to leave it out as too deep, as one formatting element too many."""
        if name in _VOID:
            return 0
        if name in _FORMATTING:
            if self._formatting >= self._formatting_most:
                return 2
            self._formatting += 1
            self._in_scope[name] = self._in_scope.get(name, 0) + 1
        elif name in _MARKERS:
            self._in_scope = {}
        if name in _FLAT:
            return 0
        if len(self._open) >= self._depth:
            return 1
        if name in _SCOPES:
            if self._scoped >= _MOST_SCOPES:
                return 1
            self._scoped += 1
        self._open.append(name)
        self._counts[name] = self._counts.get(name, 0) + 1
        if name in (b"svg", b"math", b"select"):
            self.foreign += 1
        return 0

    def close(self, name: bytes) -> None:
        if name in _FORMATTING and self._in_scope.get(name):
            self._in_scope[name] -= 1
            self._formatting -= 1
        if not self._counts.get(name):
            return
        stack = self._open
        at = len(stack) - 1
        while stack[at] != name:
            self.work += 1
            if at == 0 or stack[at] in _SCOPES:
                return
            at -= 1
        if name in _CLOSED_ALONE:
            del stack[at]
            self._counts[name] -= 1
            return
        for gone in stack[at:]:
            self._counts[gone] -= 1
            self.work += 1
            if gone in _SCOPES:
                self._scoped -= 1
                if gone in (b"svg", b"math", b"select"):
                    self.foreign -= 1
        del stack[at:]
