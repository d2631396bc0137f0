"""Settings: every one documented, none unknown, each layer in its turn."""

import re
from pathlib import Path

import pytest
from tools import pages_page
from tools.settings_page import PAGE, page

from gossamer.errors import ConfigError
from gossamer.settings import SHORT, Settings, changed, load, merge, settings_of

ROOT = PAGE.parents[1]
NAMES = {setting.name for setting in settings_of()}


def test_every_setting_is_documented_and_every_documented_setting_exists() -> None:
    documented = set(re.findall(r"^\| `([a-z0-9_.]+)`", PAGE.read_text(encoding="utf-8"), re.MULTILINE))
    assert documented == NAMES


def test_the_page_is_what_the_definitions_make() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make docs`"


def test_the_columns_of_the_page_table_are_documented_as_they_are() -> None:
    assert pages_page.PAGE.read_text(encoding="utf-8") == pages_page.page(), "run `make docs`"


def test_every_setting_says_what_it_means() -> None:
    assert [setting.name for setting in settings_of() if not setting.description.strip()] == []


def test_settings_named_in_other_documents_exist() -> None:
    known = NAMES | SHORT.keys()
    for document in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for name in re.findall(r"--set ([a-z_.]+)=", document.read_text(encoding="utf-8")):
            assert name in known, f"{document.name} speaks of {name}"


def test_short_names_stand_for_fields_that_exist() -> None:
    assert set(SHORT.values()) <= NAMES
    assert SHORT.keys().isdisjoint(NAMES)


def test_later_layers_win_and_short_names_reach_their_section() -> None:
    settings = merge({"delay": 2.0, "max_pages": 5, "politeness": {"backoff": 7.0}}, {"delay": 0.5})
    assert (settings.politeness.delay, settings.politeness.backoff, settings.max_pages) == (0.5, 7.0, 5)


def test_names_may_be_written_with_hyphens() -> None:
    assert merge({"max-pages": 3}).max_pages == 3


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"max_page": 5}, "there is no setting 'max_page'; did you mean 'max_pages'?"),
        ({"politeness": {"backof": 1}}, "there is no setting 'politeness.backof'; did you mean 'politeness.backoff'?"),
        ({"delay": -1}, "setting 'delay': expected `float` >= 0.0"),
        ({"scope": "world"}, "setting 'scope': invalid enum value 'world'"),
        ({"max_pages": "many"}, "setting 'max_pages': expected `int | null`, got `str`"),
    ],
)
def test_what_is_wrong_is_named(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ConfigError) as caught:
        merge(given)
    assert str(caught.value) == sentence


def test_files_that_cannot_be_read_are_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no such file"):
        load(tmp_path / "absent.toml")
    broken = tmp_path / "broken.toml"
    broken.write_text("max_pages = = 3")
    with pytest.raises(ConfigError, match="is not TOML"):
        load(broken)


def test_a_toml_file_is_a_layer(tmp_path: Path) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text('max_pages = 3\nscope = "host"\n[politeness]\ndelay = 0.25\n')
    assert merge(load(file)) == merge({"max_pages": 3, "scope": "host", "delay": 0.25})


def test_differences_are_told_by_their_plain_names() -> None:
    before, after = Settings(), merge({"delay": 0.5, "include": ["/docs/"]})
    assert changed(before, after) == ["include: none → /docs/", "delay: 1.0 → 0.5"]
    assert changed(after, after) == []


def test_the_user_agent_names_a_contact() -> None:
    assert merge({"contact": "https://example.org/bot"}).user_agent.endswith("(+https://example.org/bot)")
    assert merge({"contact": "crawl@example.org"}).user_agent.endswith("(crawl@example.org)")
    assert merge({"user_agent": "Mine/1.0", "contact": "x@example.org"}).user_agent == "Mine/1.0"
