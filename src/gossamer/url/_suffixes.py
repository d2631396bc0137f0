"""The Public Suffix List: which part of a name can be registered.

The list comes with the package `publicsuffixlist`; it is read here, because 10,000 rules as three sets take 8 ms to read where the
package's own reader takes 60, and every process of a crawl needs them.
"""

from functools import cache
from pathlib import Path

from ada_url import idna_to_ascii
from publicsuffixlist import PSLFILE

__all__ = ["registrable"]

Rules = tuple[frozenset[str], frozenset[str], frozenset[str]]


@cache
def _rules() -> Rules:
    """Suffixes, parents of wildcards (`*.ck` is kept as `ck`), and exceptions to these, all in ASCII."""
    plain, wild, excepted = set(), set(), set()
    for line in Path(PSLFILE).read_text(encoding="utf-8").split("\n"):
        if not line or line[0] in "/ \t\r":
            continue
        rule = line.split()[0]
        if not rule.isascii():
            rule = _ascii(rule)
        if rule.startswith("*."):
            wild.add(rule[2:])
        elif rule.startswith("!"):
            excepted.add(rule[1:])
        else:
            plain.add(rule)
    return frozenset(plain), frozenset(wild), frozenset(excepted)


def _ascii(name: str) -> str:
    mark = name[: 2 if name.startswith("*.") else 1 if name.startswith("!") else 0]
    return mark + ".".join(_label(label) for label in name[len(mark) :].split("."))


def _label(label: str) -> str:
    if label.isascii():
        return label
    converted: bytes = idna_to_ascii(label)
    return converted.decode("ascii")


def registrable(name: str) -> str | None:
    """The registrable part of a lower-case name, in the spelling it came in; None for a suffix and for what is no name."""
    labels = name.split(".")
    if not all(labels):
        return None
    known = labels if name.isascii() else [_label(label) for label in labels]
    plain, wild, excepted = _rules()
    start = len(labels) - 1  # an unlisted top-level domain is a suffix
    for at in range(len(labels)):
        candidate = ".".join(known[at:])
        if candidate in excepted:
            start = at + 1
            break
        if candidate in plain or candidate.partition(".")[2] in wild:
            start = at
            break
    return ".".join(labels[start - 1 :]) if start else None
