"""Options are the settings: each of everyday use has one, and what is typed becomes what the setting wants."""

import argparse
from typing import Any

import pytest

from gossamer.cli.crawl import parser
from gossamer.cli.options import GROUPS, given_settings, option_name, plain_names
from gossamer.errors import ConfigError
from gossamer.settings import merge

NOT_SETTINGS = {
    "help", "seeds", "into", "force", "config", "set", "json", "quiet", "verbose", "log_json", "log_every", "metrics_port",
}  # fmt: skip


def typed(*arguments: str) -> dict[str, Any]:
    return given_settings(parser().parse_args(["http://a.example/", *arguments]))


def test_every_plain_setting_has_an_option_and_every_option_a_setting() -> None:
    options = {action.dest for action in parser()._actions} - NOT_SETTINGS
    assert options == set(plain_names())
    assert sorted(name for names in GROUPS.values() for name in names) == sorted(plain_names())


def test_every_option_tells_what_it_does_in_the_words_of_the_setting() -> None:
    for action in parser()._actions:
        assert action.help, action.dest


def test_an_option_that_is_not_given_is_absent() -> None:
    assert typed() == {}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--max-pages", "12"], {"max_pages": 12}),
        (["--max-pages=none"], {"max_pages": None}),
        (["--max-bytes", "1.5G"], {"max_bytes": 1_500_000_000}),
        (["--max-bytes", "10k"], {"max_bytes": 10_000}),
        (["--max-seconds", "2h"], {"max_seconds": 7_200.0}),
        (["--max-wait", "90"], {"max_wait": 90.0}),
        (["--delay", "0"], {"delay": 0.0}),
        (["--scope", "prefix", "--order", "best-first"], {"scope": "prefix", "order": "best-first"}),
        (["--include", "a,b", "--include", "c"], {"include": ["a,b", "c"]}),
        (["--nameserver", "1.1.1.1", "--nameserver", "9.9.9.9"], {"nameservers": ["1.1.1.1", "9.9.9.9"]}),
        (["--no-sitemaps", "--insecure"], {"sitemaps": False, "insecure": True}),
        (["--set", "politeness.backoff=5"], {"politeness.backoff": 5.0}),
        (["--set", "fetch.http2=false"], {"fetch.http2": False}),
        (["--set", "fetch.accept=text/html,*/*"], {"fetch.accept": "text/html,*/*"}),
        (["--set", "exclude=a, b"], {"exclude": ("a", "b")}),
        (["--set", "max-depth=3"], {"max_depth": 3}),
    ],
)
def test_what_is_typed_becomes_a_value(arguments: list[str], expected: dict[str, Any]) -> None:
    found = typed(*arguments)
    assert found == expected
    merge(found)  # and the settings take it


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--max-pages", "many"], "--max-pages cannot be 'many': it is a whole number"),
        (["--max-pages", "0"], "--max-pages cannot be '0': it is a whole number >= 1"),
        (["--scope", "world"], "--scope cannot be 'world': it is one of host, domain, prefix, any"),
        (["--delay", "-1"], "--delay cannot be '-1': it is a number >= 0.0"),
        (["--connect-to", "nowhere"], "--connect-to cannot be 'nowhere': it is a HOST:PORT"),
        (["--set", "politeness.backoff"], "--set wants NAME=VALUE, and 'politeness.backoff' has no ="),
        (["--set", "politeness.backof=5"], "there is no setting 'politeness.backof'; did you mean 'politeness.backoff'?"),
        (["--set", "fetch.http2=perhaps"], "--set fetch.http2 cannot be 'perhaps': it is true or false"),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_refused_in_one_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(ConfigError) as raised:
        typed(*arguments)
    assert str(raised.value) == sentence


def test_a_negative_number_is_a_value_not_an_option() -> None:
    assert parser().parse_args(["a", "--delay", "-1"]).delay == "-1"


def test_options_are_spelled_as_the_settings_are() -> None:
    assert {name: option_name(name) for name in ("max_pages", "nameservers")} == {
        "max_pages": "--max-pages",
        "nameservers": "--nameserver",
    }
    assert isinstance(parser(), argparse.ArgumentParser)
