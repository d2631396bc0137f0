"""The options of `crawl`, made from the settings.

Name, type, bounds, default and help of an option stand where the setting is defined (`gossamer.settings`) and nowhere else; here is
only what a command line has and a TOML file has not: in which group of the help an option stands, what its value is called, and
which values may be written shorter (`--max-bytes 2G`, `--max-seconds 1h`).

An option that is not given is absent, not its default: only what was said overrides the file.
"""

import argparse
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec

from gossamer.errors import ConfigError
from gossamer.settings import SHORT, Setting, Settings, settings_of

__all__ = ["GROUPS", "add_options", "given_settings", "hint_of", "option_name", "plain_names", "set_value", "value_of"]

GROUPS = {
    "which pages": ("scope", "include", "exclude", "max_depth", "max_redirects", "sitemaps", "order"),
    "when to stop (a later run goes on)": (
        "max_pages", "max_pages_per_host", "max_seconds", "max_bytes", "max_wait",
    ),
    "again (times of next visits are kept in any case)": (
        "continuous", "recrawl_policy", "recrawl_share", "revisit_every", "visits_per_day",
    ),
    "how gently": ("delay", "host_connections", "patience", "user_agent", "contact"),
    "what to keep": ("text", "near_duplicates"),
    "how fast": ("workers", "concurrency", "hosts_in_memory", "frontier_cache"),
    "network": ("connect_to", "proxy", "nameservers", "insecure"),
}  # fmt: skip
"""Every plain name of a setting, by group of the help."""

_METAVAR = {
    "include": "REGEX", "exclude": "REGEX", "connect_to": "HOST:PORT", "proxy": "URL", "nameservers": "ADDRESS",
    "user_agent": "TEXT", "contact": "URL|EMAIL", "max_bytes": "SIZE", "frontier_cache": "SIZE", "max_seconds": "TIME", "max_wait": "TIME",
    "delay": "SECONDS", "patience": "FACTOR", "revisit_every": "TIME", "recrawl_share": "PART",
    "recrawl_policy": "optimal|adaptive|fixed",
}  # fmt: skip
_SPELLED = {"nameservers": "--nameserver"}
_MORE = {
    "include": "May be given several times.",
    "exclude": "May be given several times.",
    "nameservers": "May be given several times.",
    "max_bytes": "K, M, G or T may follow.",
    "frontier_cache": "K, M, G or T may follow.",
    "max_seconds": "s, m, h or d may follow.",
    "max_wait": "s, m, h or d may follow.",
    "revisit_every": "Given alone, it means --recrawl-policy fixed. s, m, h or d may follow.",
}
_SCALES = {
    "max_bytes": {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12},
    "frontier_cache": {"k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12},
    "max_seconds": {"s": 1, "m": 60, "h": 3_600, "d": 86_400},
    "max_wait": {"s": 1, "m": 60, "h": 3_600, "d": 86_400},
    "revisit_every": {"s": 1, "m": 60, "h": 3_600, "d": 86_400},
}


def option_name(name: str) -> str:
    """`max_pages` is `--max-pages`."""
    return _SPELLED.get(name, "--" + name.replace("_", "-"))


def add_options(parser: argparse.ArgumentParser) -> None:
    """One option for each setting that has a plain name."""
    known = {setting.name: setting for setting in settings_of()}
    for title, names in GROUPS.items():
        group = parser.add_argument_group(title)
        for name in names:
            _add(group, name, known[SHORT.get(name, name)])


def _add(group: "argparse._ArgumentGroup", name: str, setting: Setting) -> None:
    hint = _bare(hint_of(setting.name))
    words = " ".join(filter(None, (setting.description.replace("`", ""), _MORE.get(name), _default(setting.default))))
    words = words.replace("%", "%%")
    if hint is bool:
        both = setting.default is True
        action: Any = argparse.BooleanOptionalAction if both else "store_const"
        extra: dict[str, Any] = {} if both else {"const": True}
        group.add_argument(option_name(name), dest=name, action=action, default=None, help=words, **extra)
        return
    many = get_origin(hint) is tuple
    metavar = _METAVAR.get(name) or (
        "|".join(hint) if isinstance(hint, type) and issubclass(hint, Enum) else _kind(hint)
    )
    group.add_argument(
        option_name(name), dest=name, action="append" if many else "store", metavar=metavar, default=None, help=words
    )


def _default(default: Any) -> str:
    if default is True:
        return "[default: yes]"
    if default is None or default is False or default is msgspec.NODEFAULT or default == ():
        return ""
    return f"[default: {default:g}]" if isinstance(default, float) else f"[default: {default}]"


def _kind(hint: Any) -> str:
    return {int: "N", float: "NUMBER", str: "TEXT"}.get(hint, "VALUE")


def hint_of(name: str) -> Any:
    """The annotated type of a setting, `politeness.delay` or `max_pages`; ConfigError where there is none."""
    hint: Any = Settings
    for part in SHORT.get(name, name).split("."):
        fields = _fields(hint) if isinstance(hint, type) else {}
        if part not in fields:
            raise ConfigError(f"there is no setting {name!r}")
        hint = fields[part]
    return hint


@cache
def _fields(struct: type) -> dict[str, Any]:
    return get_type_hints(struct, include_extras=True)


def _bare(hint: Any) -> Any:
    """Without annotations and without None: what a value is made of."""
    while True:
        if get_origin(hint) is Annotated:
            hint = get_args(hint)[0]
        elif type(None) in get_args(hint):
            hint = next(each for each in get_args(hint) if each is not type(None))
        else:
            return hint


def value_of(name: str, text: str, option: str) -> Any:
    """The value that `text` stands for; ConfigError says what it should be."""
    hint = hint_of(name)
    kind = _bare(hint)
    if text.lower() == "none" and type(None) in get_args(_unannotated(hint)):
        return None
    try:
        if get_origin(kind) is tuple:
            return msgspec.convert([part.strip() for part in text.split(",") if part.strip()], hint)
        return msgspec.to_builtins(msgspec.convert(_scaled(name, text), hint, strict=False))
    except msgspec.ValidationError as error:
        raise ConfigError(f"{option} cannot be {text[:100]!r}: {_expected(kind, str(error))[:500]}") from None


def _unannotated(hint: Any) -> Any:
    return get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _scaled(name: str, text: str) -> str:
    scale = _SCALES.get(name, {}).get(text[-1:].lower())
    try:
        return text if scale is None else f"{float(text[:-1]) * scale:.15g}"
    except ValueError:
        return text


_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a text"}


def _expected(kind: Any, said: str) -> str:
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"it is one of {', '.join(kind)}"
    said = said.partition(" - at `")[0]
    bound = next((said[said.index(sign) :] for sign in (">", "<") if sign in said), "")
    if kind in _WORDS and said.startswith("Expected"):
        if "matching regex" in said:
            return "it is a HOST:PORT" if "0-9" in said else f"it is {said[said.index('matching') :]}"
        return f"it is {_WORDS[kind]} {bound}".rstrip()
    return said[:1].lower() + said[1:]


def given_settings(given: argparse.Namespace) -> dict[str, Any]:
    """What was said on the command line, by the names the settings have."""
    found: dict[str, Any] = {}
    for name in (name for names in GROUPS.values() for name in names):
        said = getattr(given, name)
        if isinstance(said, str):
            found[name] = value_of(name, said, option_name(name))
        elif said is not None:
            found[name] = said
    found.update(set_value(text) for text in given.set or ())
    if "revisit_every" in found:
        found.setdefault("recrawl_policy", "fixed")
    return found


def set_value(text: str) -> tuple[str, Any]:
    """`--set NAME=VALUE`, for any setting there is."""
    name, equals, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if not equals:
        raise ConfigError(f"--set wants NAME=VALUE, and {text[:100]!r} has no =")
    if name not in _all_names():
        from gossamer.settings import merge

        merge({name: value})  # raises, and names the nearest one
    return name, value_of(name, value.strip(), f"--set {name}")


def _all_names() -> set[str]:
    return {setting.name for setting in settings_of()} | SHORT.keys()


def plain_names() -> Iterator[str]:
    """Every setting of everyday use: without a section, or with a short name."""
    yield from (setting.name for setting in settings_of() if "." not in setting.name)
    yield from SHORT
