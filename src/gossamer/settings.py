"""Every setting of a crawl, in one tree of small frozen values.

The command line and a TOML file use the same names. A setting of everyday use has a plain name (`max_pages`, `delay`); the finer ones
live in sections (`politeness.backoff`). Where a plain name is a short form of a field in a section (`delay` is
`politeness.delay`), `SHORT` says so, and the field is the one place where it is kept.

An unknown name is an error that names the nearest known one. What a setting means stands where it is defined and
nowhere else; `docs/settings.md` is made from that, and a test fails when the two differ.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, Struct

from gossamer import __version__
from gossamer.errors import ConfigError
from gossamer.fetch import FetchSettings
from gossamer.fingerprint import NearRules
from gossamer.frontier import FrontierSettings, Order, Recrawl
from gossamer.parse import Bounds
from gossamer.politeness import Politeness
from gossamer.scope import Reach
from gossamer.sitemap import SitemapBounds
from gossamer.store import StoreSettings
from gossamer.traps import TrapRules
from gossamer.url import Rules

__all__ = ["SHORT", "NearDuplicates", "Setting", "Settings", "Text", "changed", "load", "merge", "settings_of"]


Positive = Annotated[int, Meta(ge=1)]
Count = Annotated[int, Meta(ge=0)]
Workers = Annotated[int, Meta(ge=0, le=256)]
Seconds = Annotated[float, Meta(gt=0)]


class NearDuplicates(StrEnum):
    """What becomes of a page whose text nearly repeats an earlier one."""

    SKIP = "skip"
    STORE = "store"
    OFF = "off"


class Text(StrEnum):
    """Which text of a page goes into the table."""

    MAIN = "main"
    FULL = "full"
    NONE = "none"


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A crawl."""

    scope: Annotated[Reach, Meta(description="How far from the seeds: `host`, `domain`, `prefix` or `any`.")] = (
        Reach.DOMAIN
    )
    include: Annotated[
        tuple[str, ...], Meta(description="Regular expressions: only URLs in which one of them is found are followed.")
    ] = ()
    exclude: Annotated[
        tuple[str, ...], Meta(description="Regular expressions: URLs in which one of them is found are not followed.")
    ] = ()
    order: Annotated[Order, Meta(description="Which page next: `bfs`, `dfs` or `best-first`.")] = Order.BFS
    max_pages: Annotated[Positive | None, Meta(description="Pages to fetch at most.")] = None
    max_depth: Annotated[Count | None, Meta(description="Links between a seed and a page at most.")] = None
    max_seconds: Annotated[Seconds | None, Meta(description="Seconds to crawl at most.")] = None
    max_bytes: Annotated[Positive | None, Meta(description="Bytes to download at most.")] = None
    max_pages_per_host: Annotated[Positive | None, Meta(description="Pages to fetch at most from one host.")] = None
    max_wait: Annotated[
        float,
        Meta(
            description="When all that is left has to wait longer than this (seconds), stop; a later run goes on.", ge=0
        ),
    ] = 600.0
    max_redirects: Annotated[int, Meta(description="Redirects followed in a row.", ge=0, le=100)] = 10
    patience: Annotated[
        float,
        Meta(
            description="Waits before a failed page is tried again are multiplied by this; 1 suits a crawl of days.",
            gt=0,
        ),
    ] = 0.1
    workers: Annotated[
        Workers | None,
        Meta(
            description="Worker processes; when absent as many as there is work for, up to one a core; 0 runs all in one process."
        ),
    ] = None
    concurrency: Annotated[int, Meta(description="Pages in flight in each worker.", ge=1, le=10_000)] = 128
    contact: Annotated[
        str | None, Meta(description="URL or e-mail address for site owners; it becomes part of the User-Agent.")
    ] = None
    sitemaps: Annotated[bool, Meta(description="Read sitemaps and feeds to find pages.")] = True
    near_duplicates: Annotated[
        NearDuplicates,
        Meta(
            description="Near-copies of pages: `skip` keeps a row without the body, `store` keeps all, `off` does not look."
        ),
    ] = NearDuplicates.SKIP
    text: Annotated[Text, Meta(description="Text for the page table: `main`, `full` or `none`.")] = Text.MAIN
    url: Rules = Rules()
    politeness: Politeness = Politeness()
    traps: TrapRules = TrapRules()
    recrawl: Recrawl = Recrawl()
    near: NearRules = NearRules()
    fetch: FetchSettings = FetchSettings()
    parse: Bounds = Bounds()
    sitemap: SitemapBounds = SitemapBounds()
    store: StoreSettings = StoreSettings()
    hosts_in_memory: Annotated[int, Meta(description="Hosts in play at a time; the others wait on disk.", ge=1)] = (
        20_000
    )
    frontier_cache: Annotated[
        int,
        Meta(description="Bytes of the frontier kept in memory for reading; write buffers come on top.", ge=1 << 20),
    ] = 256 << 20

    @property
    def frontier(self) -> FrontierSettings:
        """What the frontier needs of this."""
        return FrontierSettings(
            order=self.order,
            politeness=self.politeness,
            traps=self.traps,
            recrawl=self.recrawl,
            max_pages=self.max_pages,
            max_pages_per_host=self.max_pages_per_host,
            near_bits=self.near.k,
            hosts_in_memory=self.hosts_in_memory,
            cache=self.frontier_cache,
        )

    @property
    def user_agent(self) -> str:
        """The User-Agent header: as set, or Gossamer's own with the contact."""
        own = self.fetch.user_agent
        if own != FetchSettings().user_agent or self.contact is None:
            return own
        contact = self.contact if "@" in self.contact and "/" not in self.contact else f"+{self.contact}"
        return f"Gossamer/{__version__} ({contact})"


SHORT = {
    "delay": "politeness.delay",
    "host_connections": "politeness.connections",
    "continuous": "recrawl.continuous",
    "recrawl_share": "recrawl.share",
    "recrawl_policy": "recrawl.policy.name",
    "revisit_every": "recrawl.policy.interval",
    "visits_per_day": "recrawl.visits_per_day",
    "user_agent": "fetch.user_agent",
    "connect_to": "fetch.connect_to",
    "insecure": "fetch.insecure",
    "proxy": "fetch.proxy",
    "nameservers": "fetch.nameservers",
}
"""Plain names for fields of sections."""


class Setting(Struct, frozen=True):
    """One setting, as the documentation shows it."""

    name: str
    type: str
    default: Any
    description: str


def settings_of(struct: type[Struct] = Settings, prefix: str = "") -> Iterator[Setting]:
    """Every setting there is, sections last."""
    hints = get_type_hints(struct, include_extras=True)
    sections: list[tuple[str, type[Struct]]] = []
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        if isinstance(hint, type) and issubclass(hint, Struct):
            sections.append((field.name, hint))
            continue
        metas = [m for m in get_args(hint)[1:] if isinstance(m, Meta)] if get_origin(hint) is Annotated else []
        described = " ".join(m.description for m in metas if m.description)
        yield Setting(prefix + field.name, _shown(hint), field.default, described)
    for name, section in sections:
        yield from settings_of(section, f"{prefix}{name}.")


def _shown(hint: Any) -> str:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _shown(arguments[0])
    if origin in (Union, UnionType):
        return " or ".join(_shown(argument) if argument is not NoneType else "none" for argument in arguments)
    if origin is Literal:
        return " | ".join(f"`{value}`" for value in arguments)
    if origin is tuple:
        return f"list of {_shown(arguments[0])}"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return " | ".join(f"`{member}`" for member in hint)
    return str(hint.__name__)


def load(path: Path) -> dict[str, Any]:
    """The settings of a TOML file, with short forms spelled out; ConfigError names what is wrong and where."""
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {(error.strerror or str(error)).lower()}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}") from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply: settings have a section at most") from None
    return found


def merge(*layers: Mapping[str, Any]) -> Settings:
    """Settings from layers of plain names, later ones winning: a file's content, then the command line's."""
    tree: dict[str, Any] = {}
    known = {setting.name for setting in settings_of()} | SHORT.keys()
    for layer in layers:
        for name, value in _flat(layer):
            if name not in known:
                raise ConfigError(_unknown(name, known))
            *sections, last = SHORT.get(name, name).split(".")
            place = tree
            for section in sections:
                place = place.setdefault(section, {})
            place[last] = value
    try:
        return msgspec.convert(tree, Settings)
    except msgspec.ValidationError as error:
        raise ConfigError(_invalid(str(error))) from None


DEEPEST = 4
"""Sections within sections that a name is looked for in; there is no setting as deep as that."""
LONGEST = 100
"""Characters of a name that a message repeats."""
MOST_SAID = 500
"""Characters of what is wrong with a value."""


def _flat(layer: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in layer.items():
        name = prefix + key.replace("-", "_")
        if isinstance(value, Mapping) and name.count(".") < DEEPEST:
            yield from _flat(value, f"{name}.")
        else:
            yield name, value


def _unknown(name: str, known: set[str]) -> str:
    if len(name) > LONGEST:
        return f"there is no setting {name[:LONGEST]!r}…"
    near = difflib.get_close_matches(name, known, 1) or difflib.get_close_matches(
        name.rpartition(".")[2], {k.rpartition(".")[2]: k for k in known}, 1
    )
    return f"there is no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def _invalid(message: str) -> str:
    what, _, where = message.rpartition(" - at `$.") if " - at `$." in message else (message, "", "")
    what, name = what[:MOST_SAID], where.rstrip("`")[:LONGEST]
    short = {full: plain for plain, full in SHORT.items()}.get(name, name)
    return f"setting {short!r}: {what[:1].lower()}{what[1:]}" if name else what


def changed(before: Settings, after: Settings) -> list[str]:
    """Which settings differ, each as a line: `delay: 1.0 → 0.5`."""
    lines = []
    plain = {full: short for short, full in SHORT.items()}
    for setting in settings_of():
        old, new = _value(before, setting.name), _value(after, setting.name)
        if old != new:
            lines.append(f"{plain.get(setting.name, setting.name)}: {_told(old)} → {_told(new)}")
    return lines


def _value(settings: Settings, name: str) -> Any:
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _told(value: Any) -> str:
    if value is None or value == ():
        return "none"
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)
