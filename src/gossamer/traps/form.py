"""The shape of one URL: what can be refused without knowing anything of its host."""

import re
from collections import Counter

from gossamer.traps.rules import DEFAULT, Rule, Trap, TrapRules

__all__ = ["check"]


def check(url: str, rules: TrapRules = DEFAULT) -> Trap | None:
    """The rule that the shape of this URL breaks, or None."""
    if len(url) > rules.length:
        return Trap(Rule.TOO_LONG, f"The URL has {len(url):,} characters; at most {rules.length:,} are followed.")
    path, _, query = url.partition("?")
    # Three slashes belong to "https://host/": one segment alone repeats nothing.
    if path.count("/") > 3 and (trap := _check_path(path, rules)):
        return trap
    if "&" in query and (trap := _check_query(query, rules)):
        return trap
    if url.find("http", 8) > 0 and (trap := _check_nested(url, rules)):
        return trap
    if "%25" in url and "%25" + "25" * rules.encodings in url:
        times = max(len(run) for run in _ENCODED.findall(url)) // 2
        return Trap(
            Rule.ENCODED_AGAIN,
            f"A percent sign was encoded {times} times over; at most {rules.encodings} are followed.",
        )
    return None


def _check_path(path: str, rules: TrapRules) -> Trap | None:
    segments = path.split("/")[3:]
    if not segments[-1]:
        segments.pop()
    if len(segments) > rules.depth:
        return Trap(Rule.TOO_DEEP, f"The path has {len(segments)} segments; at most {rules.depth} are followed.")
    repeats = len(segments) - len(set(segments))
    if not repeats or repeats < min(rules.segment_run, rules.segment_total, 2 * rules.cycles):
        return None
    most, total = Counter(segments).most_common(1)[0]
    run = _longest_run(segments, 1)
    if run > rules.segment_run:
        return Trap(
            Rule.REPEATED_SEGMENT,
            f"A path segment comes {run} times in a row; at most {rules.segment_run} are followed.",
        )
    if total > rules.segment_total:
        return Trap(
            Rule.REPEATED_SEGMENT,
            f"The path segment {_short(most)} occurs {total} times; at most {rules.segment_total} are followed.",
        )
    for period in range(2, len(segments) // (rules.cycles + 1) + 1):
        if (cycles := _longest_run(segments, period)) > rules.cycles:
            return Trap(
                Rule.CYCLE,
                f"A group of {period} path segments comes {cycles} times in a row; at most {rules.cycles} are followed.",
            )
    return None


def _longest_run(segments: list[str], period: int) -> int:
    """How many times in a row some group of `period` segments comes, at most."""
    longest = length = 0
    for now, before in zip(segments[period:], segments, strict=False):
        length = length + 1 if now == before else 0
        longest = max(longest, length)
    return 1 + longest // period


def _check_query(query: str, rules: TrapRules) -> Trap | None:
    count = query.count("&") + 1
    if count > rules.parameters:
        return Trap(
            Rule.TOO_MANY_PARAMETERS,
            f"The query has {count} parameters; at most {rules.parameters} are followed.",
        )
    if count <= rules.same_pair and count <= rules.same_parameter:
        return None
    pairs = query.split("&")
    if count - len(set(pairs)) >= rules.same_pair:
        pair, times = Counter(pairs).most_common(1)[0]
        if times > rules.same_pair and pair not in _NO_PAIRS:
            return Trap(
                Rule.REPEATED_PARAMETER,
                f"The parameter {_short(pair)} comes {times} times alike; at most {rules.same_pair} are followed.",
            )
    if count > rules.same_parameter:
        name, times = Counter(pair.partition("=")[0] for pair in pairs).most_common(1)[0]
        if times > rules.same_parameter and name:
            return Trap(
                Rule.REPEATED_PARAMETER,
                f"The parameter {_short(name)} comes {times} times; at most {rules.same_parameter} are followed.",
            )
    return None


# Left over by "&&" and by an ampersand escaped twice.
_NO_PAIRS = ("", "amp;")
_ENCODED = re.compile(r"%((?:25)+)")
_NESTED = re.compile(r"https?(?::|%(?:25)*3a)", re.IGNORECASE)


def _check_nested(url: str, rules: TrapRules) -> Trap | None:
    if len(_NESTED.findall(url, 8)) <= rules.nested_urls:
        return None
    # A sign-in link may carry several URLs side by side; a trap carries one inside another.
    nested = max(len(_NESTED.findall(part)) for part in url[8:].split("&"))
    if nested <= rules.nested_urls:
        return None
    return Trap(
        Rule.NESTED_URLS,
        f"The URL has {nested} others written inside one another; at most {rules.nested_urls} are followed.",
    )


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
