"""What a refusal is, and how far a URL, a template and a host may go."""

from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

__all__ = ["DEFAULT", "Rule", "Trap", "TrapRules"]


class Rule(StrEnum):
    """The name of what a URL was refused for."""

    TOO_LONG = "too-long"
    TOO_DEEP = "too-deep"
    REPEATED_SEGMENT = "repeated-segment"
    CYCLE = "cycle"
    TOO_MANY_PARAMETERS = "too-many-parameters"
    REPEATED_PARAMETER = "repeated-parameter"
    NESTED_URLS = "nested-urls"
    ENCODED_AGAIN = "encoded-again"
    HOST_BUDGET = "host-budget"
    TEMPLATE_BUDGET = "template-budget"
    CALENDAR = "calendar"
    DOMAIN_HOSTS = "domain-hosts"
    COPIES = "copies"
    NOISE = "noise"
    MAZE = "maze"


class Trap(msgspec.Struct, frozen=True):
    """A refusal: which rule, and a sentence with the numbers."""

    rule: Rule
    reason: str


class TrapRules(msgspec.Struct, frozen=True):
    """How far a URL, a template and a host may go; each number is the most that is still accepted."""

    length: Annotated[int, Meta(description="Characters in a URL.", ge=16, le=65_536)] = 2_048
    depth: Annotated[int, Meta(description="Segments in a path.", ge=1, le=1_000)] = 20
    segment_run: Annotated[int, Meta(description="Times the same path segment may come in a row.", ge=1, le=1_000)] = 3
    segment_total: Annotated[
        int, Meta(description="Times the same path segment may occur in one path, anywhere.", ge=1, le=1_000)
    ] = 5
    cycles: Annotated[
        int,
        Meta(description="Times a group of path segments may come in a row, as in /a/b/a/b.", ge=1, le=1_000),
    ] = 2
    parameters: Annotated[int, Meta(description="Parameters in a query.", ge=1, le=1_000)] = 32
    same_parameter: Annotated[
        int, Meta(description="Times one parameter name may occur in a query.", ge=1, le=1_000)
    ] = 16
    same_pair: Annotated[
        int, Meta(description="Times one parameter may occur with the same value.", ge=1, le=1_000)
    ] = 2
    nested_urls: Annotated[
        int, Meta(description="URLs written inside one another in one path or parameter.", ge=0, le=1_000)
    ] = 2
    encodings: Annotated[
        int,
        Meta(description="Times a percent sign may have been encoded again, as in %252F (once).", ge=0, le=100),
    ] = 2
    host_urls: Annotated[int, Meta(description="URLs of one host.", ge=1)] = 10_000_000
    domain_hosts: Annotated[
        int, Meta(description="Hosts of one registrable domain; those of seeds are always accepted.", ge=1)
    ] = 10_000
    template_urls: Annotated[
        int, Meta(description="URLs of one template on one host, before its pages have earned more.", ge=1)
    ] = 100_000
    odd_dates: Annotated[
        int,
        Meta(description="URLs of one template dated outside the years below, before they earn more.", ge=1),
    ] = 1_000
    first_year: Annotated[int, Meta(description="Dates in URLs before this year are odd.", ge=0, le=9_999)] = 1_990
    years_ahead: Annotated[int, Meta(description="Dates in URLs this many years ahead are odd.", ge=0, le=9_999)] = 2
    earned: Annotated[
        int,
        Meta(description="URLs that each new page adds to the budget of its template.", ge=0, le=1_000_000),
    ] = 20
    least_urls: Annotated[
        int, Meta(description="Budget that a template keeps however many copies it brought.", ge=1)
    ] = 100
    learn_after: Annotated[
        int, Meta(description="URLs that a host has brought before its pages are compared with each other.", ge=0)
    ] = 50
    patience: Annotated[
        int,
        Meta(description="Pages that bring nothing new before a group of URLs begins to be given up.", ge=1, le=1_000),
    ] = 5
    least_worth: Annotated[
        float,
        Meta(description="Share of new pages among the last of a group under which the rest is refused.", ge=0, le=1),
    ] = 0.3
    alike_bits: Annotated[
        int, Meta(description="Bits of SimHash within which pages of one group are alike.", ge=0, le=20)
    ] = 10
    maze_pages: Annotated[
        int,
        Meta(description="Pages of a group before those that lead only to more of themselves count against it.", ge=1),
    ] = 16
    sample: Annotated[
        int,
        Meta(description="URLs refused of a group before one is fetched again; four times as many each time.", ge=1),
    ] = 128
    group_table: Annotated[int, Meta(description="Groups of URLs remembered for one host.", ge=4, le=65_536)] = 64
    template_table: Annotated[int, Meta(description="Templates remembered for one host.", ge=2, le=65_536)] = 128


DEFAULT = TrapRules()
