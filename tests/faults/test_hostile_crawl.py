"""Hostile hosts beside a healthy web, in whole crawls: every attack ends, costs little, and harms nobody else.

In the short form all attacks come at once, against one crawl. In the long one (`make test-faults`) each comes alone, so that memory and
time are its own. `docs/reliability.md` shows the figures of such a run; this file holds it to the list of attacks.
"""

from pathlib import Path

import pytest
from tools.reliability_page import MEMORY, measured, read_section, section

from tests.crawl.harness import records_of, rows_of
from tests.faults.attacks import ATTACKS, LONG, NO_NAMES, Attack, healthy_web
from tests.faults.hostile import Figures, Siege, besiege

MEGABYTE = 1 << 20
LATE = 60.0 if not LONG else 120.0
"""Seconds that the healthy web may be late, at the very most: the machine may be busy with other things."""

GROUPS = [(attack,) for attack in ATTACKS] if LONG else [tuple(ATTACKS)]


@pytest.fixture(scope="session")
def peace(tmp_path_factory: pytest.TempPathFactory) -> Siege:
    """The same crawl without any attack."""
    return besiege(tmp_path_factory.mktemp("peace"), [])


@pytest.fixture(scope="session", params=GROUPS, ids=lambda group: group[0].name if len(group) == 1 else "all")
def siege(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[Attack, ...], Siege]:
    group: tuple[Attack, ...] = request.param
    return group, besiege(tmp_path_factory.mktemp("siege"), group, seconds=500)


def test_without_attacks_all_is_stored(peace: Siege) -> None:
    assert peace.outcome.report.ending == "finished"
    assert len(peace.stored) == healthy_web().settings.pages


def test_the_crawl_ends_by_itself_with_every_healthy_page(siege: tuple[tuple[Attack, ...], Siege]) -> None:
    _, found = siege
    report = found.outcome.report
    assert (report.ending, report.queued, report.waiting, report.worker_deaths) == ("finished", 0, 0, 0)
    assert len(found.stored) == healthy_web().settings.pages


def test_every_hostile_url_has_the_fate_it_should(siege: tuple[tuple[Attack, ...], Siege]) -> None:
    group, found = siege
    wrong = []
    for attack in group:
        for url, fate in attack.fates.items():
            view = found.views[url]
            said = "" if view is None else f"{view.state.name}: {view.error} {view.detail}"
            if view is None or view.state is not fate.state or fate.words not in said:
                wrong.append(f"{attack.name}: {url[:100]} should be {fate}, is {said or 'not known'}")
    assert wrong == []


def test_no_process_grows_beyond_its_bound(siege: tuple[tuple[Attack, ...], Siege], peace: Siege) -> None:
    group, found = siege
    print(*(attack.name for attack in group), told(found.figures, peace.figures), sep="\n  ")
    assert found.figures.parent < MEMORY
    assert found.figures.worker < MEMORY


def test_the_healthy_web_is_hardly_late(siege: tuple[tuple[Attack, ...], Siege], peace: Siege) -> None:
    _, found = siege
    assert found.figures.healthy - peace.figures.healthy < LATE


def test_what_is_stored_can_be_read_back(siege: tuple[tuple[Attack, ...], Siege]) -> None:
    _, found = siege
    rows = {row["url"] for row in rows_of(found.folder)}
    captured = {capture.url for _, capture in records_of(found.folder) if "kind" not in capture.notes.extra}
    assert rows == captured
    assert found.stored <= rows


def test_what_is_no_name_is_never_asked(siege: tuple[tuple[Attack, ...], Siege]) -> None:
    group, found = siege
    known = {host for attack in group for host in attack.plays} | {url.split("/")[2] for a in group for url in a.fates}
    below = tuple(host.removeprefix("*") for host in known if host.startswith("*") and host != "*.unicode.test")
    assert {host for host in found.asked if not host.endswith(below or ("none",))} <= known
    assert len(NO_NAMES) > 5


def told(found: Figures, peace: Figures) -> str:
    return (
        f"parent {found.parent / MEGABYTE:.0f} MB, worker {found.worker / MEGABYTE:.0f} MB, "
        f"healthy pages {found.healthy - peace.healthy:+.1f} s, whole crawl {found.whole - peace.whole:+.1f} s"
    )


# --- the page that tells of it ----------------------------------------------------------------------------------------


def test_the_page_has_a_row_for_each_attack_and_no_other() -> None:
    assert [row.attack for row in measured().rows] == [attack.name for attack in ATTACKS]
    assert [row.happens for row in measured().rows] == [attack.happens for attack in ATTACKS]


def test_the_page_is_made_from_the_figures() -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
    assert read_section(page.read_text(encoding="utf-8")) == section(measured())


def test_the_figures_are_within_the_bounds_that_the_page_states() -> None:
    for row in measured().rows:
        assert max(row.parent, row.worker) < MEMORY, row.attack
        assert row.late < LATE, row.attack
