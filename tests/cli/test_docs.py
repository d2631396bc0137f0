"""The page of commands is what the commands say of themselves."""

import pytest
from tools.commands_page import PAGE, page

from gossamer import __version__
from gossamer.cli.commands import COMMANDS, HELP, parser_of
from tests.cli.conftest import Said


def test_the_page_is_what_the_commands_say() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_the_help_names_every_command(run: Said) -> None:
    assert run("--help") == 0
    assert run.out == HELP
    for name in COMMANDS:
        assert f"\n  {name} " in HELP


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_teaches_by_examples(name: str, run: Said) -> None:
    assert run(name, "--help") == 0
    assert run.out == parser_of(name).format_help()
    assert "examples:\n  gossamer" in run.out


def test_the_version(run: Said) -> None:
    assert run("--version") == 0
    assert run.out == f"gossamer {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["crwal"], "gossamer: there is no command 'crwal'; did you mean 'crawl'?\n"),
        (["example.com"], "gossamer: 'example.com' is not a command; to crawl it: gossamer crawl example.com\n"),
        ([], HELP),
    ],
)
def test_a_wrong_command_is_a_usage_error(arguments: list[str], sentence: str, run: Said) -> None:
    assert run(*arguments) == 2
    assert (run.out, run.err) == ("", sentence)


def test_an_option_that_does_not_exist_names_the_nearest(run: Said) -> None:
    assert run("crawl", "http://a.example/", "--max-page", "3") == 2
    assert run.err.splitlines()[-1] == "gossamer crawl: error: there is no option --max-page; did you mean --max-pages?"
