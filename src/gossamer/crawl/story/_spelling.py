"""From what was typed to the one spelling under which the crawl knows the resource, and what was changed on the way."""

import re
from collections.abc import Callable, Iterator

import msgspec

from gossamer.crawl.story._values import Step
from gossamer.errors import InvalidURL
from gossamer.url import Rules, canonicalize, resolve

__all__ = ["CHANGES", "Spelling", "others", "read", "told"]

# Without "//" these are schemes; any other word before a colon is a host with a port.
_SCHEME = re.compile(r"(?:mailto|javascript|data|tel|sms|about|blob|view-source|urn|news|magnet):", re.IGNORECASE).match

CHANGES = {
    "fragment": "the fragment is removed: servers never see it",
    "credentials": "user name and password are removed: a crawler does not use what a link carries",
    "host_dot": "the final dot of the host is removed",
    "percent": "escapes are brought into their one form",
    "sort_query": "the parameters are sorted by name",
    "empty_query": "empty parameters are removed, and a ? with nothing after it",
    "tracking": "parameters that only track visitors are removed",
    "sessions": "what names a session is removed",
    "documents": "the default document is removed from the path",
    "trailing_slash": "the slash at the end of the path is removed",
    "slashes": "runs of slashes in the path are merged",
}
"""What each of the canonical rules does when it does something."""


class Spelling(msgspec.Struct, frozen=True):
    """A URL on its way from the keyboard to the books."""

    typed: str
    resolved: str
    """As a browser reads it."""
    url: str
    """Canonical."""
    rules: tuple[str, ...]
    """The canonical rules that changed it, by name."""


def read(typed: str, rules: Rules, known: Callable[[str], bool]) -> Spelling:
    """Read what was typed; without a scheme it is https, or http if only that is `known`. InvalidURL when it is no URL."""
    text = typed.strip()
    whole = "://" in text or _SCHEME(text) is not None
    found = _spelled(typed, text if whole else f"https://{text}", rules)
    if not whole and not known(found.url):
        plain = _spelled(typed, f"http://{text}", rules)
        if known(plain.url):
            return plain
    return found


def _spelled(typed: str, text: str, rules: Rules) -> Spelling:
    try:
        resolved = resolve(text)
        url = canonicalize(resolved, rules)
    except InvalidURL:
        raise InvalidURL(f"{typed!r} is not a URL") from None
    return Spelling(typed, resolved, url, tuple(_effective(resolved, url, rules)))


def _effective(resolved: str, url: str, rules: Rules) -> Iterator[str]:
    """The rules without which the canonical spelling would be another."""
    if resolved == url:
        return
    for field in msgspec.structs.fields(rules):
        value = getattr(rules, field.name)
        if value:
            without = msgspec.structs.replace(rules, **{field.name: False if value is True else ()})
            if canonicalize(resolved, without) != url:
                yield field.name


def others(url: str) -> Iterator[str]:
    """Spellings that name another resource to a server and often the same one to people."""
    scheme, _, rest = url.partition("://")
    if scheme not in ("http", "https") or not rest:
        return
    host, _, tail = rest.partition("/")
    path, mark, query = tail.partition("?")
    hosts = (host, host.removeprefix("www.") if host.startswith("www.") else f"www.{host}")
    toggled = (path.removesuffix("/") if path.endswith("/") else f"{path}/") + mark + query
    for near in hosts:
        for ending in (tail, toggled) if path else (tail,):
            for each in (scheme, "http" if scheme == "https" else "https"):
                if (other := f"{each}://{near}/{ending}") != url:
                    yield other


def told(spelling: Spelling, near: list[str]) -> Step:
    """The step of a story; `near` are other spellings that the crawl knows."""
    facts = {
        "typed": spelling.typed,
        "resolved": spelling.resolved,
        "canonical": spelling.url,
        "rules": list(spelling.rules),
    }
    notes = []
    if spelling.resolved != spelling.typed.strip():
        notes.append(f"as a browser reads it: {spelling.resolved}")
    notes += [CHANGES.get(rule, f"the rule {rule} applies") for rule in spelling.rules]
    notes += [f"the crawl knows it as {other}" for other in near]
    same = spelling.url == spelling.typed
    sentence = "canonical as typed" if same else f"as typed: {spelling.typed}"
    return Step("address", sentence, tuple(notes), facts | ({"also_known": near} if near else {}))
