"""The page table made anew from the WARC files: the same rows, in one step, whatever happens meanwhile."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gossamer.crawl import Folder, reparse
from gossamer.crawl.reparse import rebuild
from gossamer.crawl.verify import verify
from gossamer.settings import Settings, Text
from gossamer.sim.web import Running, Web
from gossamer.store import Capture, Location, PageRow, StoreError, _swap, recover
from gossamer.worker import row_maker
from tests.crawl.harness import crawl, online, rows_of

PAGES = 80


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    folder = tmp_path_factory.mktemp("web")
    with online(folder, hosts=5, pages=PAGES, corners=["copies", "compressed", "redirects"], corner_pages=4) as found:
        yield found


@pytest.fixture(scope="module")
def crawled(web: tuple[Web, Running], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl in several WARC files and several parts of each."""
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    crawl(folder, *web, store={"warc_bytes": 100_000, "part_rows": 15})
    assert len(list((folder / "warc").iterdir())) > 2
    return folder


@pytest.fixture(scope="module")
def full_texts(crawled: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str | None]:
    """What the texts are under another choice."""
    copy = tmp_path_factory.mktemp("full") / "crawl"
    shutil.copytree(crawled, copy)
    reparse.reparse(copy, text=Text.FULL)
    return {row["url"]: row["text"] for row in rows_of(copy)}


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "crawl"
    shutil.copytree(crawled, copy)
    return copy


def tidy(folder: Path) -> bool:
    """Whether nothing half-made is left."""
    return not (folder / "pages.new").exists() and not (folder / "pages.old").exists()


def test_the_same_settings_make_the_same_table(folder: Path) -> None:
    before = rows_of(folder)
    done = reparse.reparse(folder)
    assert (done.rows, done.failed, done.files) == (len(before), 0, len(list((folder / "warc").iterdir())))
    assert rows_of(folder) == before
    assert tidy(folder)
    assert verify(folder).clean


def test_a_table_that_is_lost_is_made_anew(folder: Path) -> None:
    before = rows_of(folder)
    shutil.rmtree(folder / "pages")
    reparse.reparse(folder, processes=1)
    assert rows_of(folder) == before


def test_another_choice_of_text_is_kept_by_the_crawl(folder: Path) -> None:
    before = {row["url"]: row["text"] for row in rows_of(folder)}
    reparse.reparse(folder, text=Text.FULL)
    assert Folder(folder).load().settings.text is Text.FULL
    full = {row["url"]: row["text"] for row in rows_of(folder)}
    assert full.keys() == before.keys()
    assert sum(len(text or "") for text in full.values()) > sum(len(text or "") for text in before.values())
    reparse.reparse(folder)
    assert {row["url"]: row["text"] for row in rows_of(folder)} == full, "and by the next reparse"
    reparse.reparse(folder, text=Text.NONE)
    assert not any(row["text"] for row in rows_of(folder))
    reparse.reparse(folder, text=Text.MAIN)
    assert {row["url"]: row["text"] for row in rows_of(folder)} == before


Make = Callable[[Capture, Location], PageRow | None]


def test_pages_that_hang_or_kill_their_parser_cost_only_themselves(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {row["url"]: row for row in rows_of(folder)}
    dice = random.Random(3)
    hanging, killing, sleeping, raising = dice.sample(sorted(url for url, row in before.items() if row["text"]), 4)

    def hostile(settings: Settings) -> Make:
        make = row_maker(settings)

        def made(capture: Capture, location: Location) -> PageRow | None:
            while capture.url == hanging:
                pass
            if capture.url == killing:
                os.kill(os.getpid(), signal.SIGSEGV)
            if capture.url == sleeping:
                time.sleep(600)
            if capture.url == raising:
                raise MemoryError
            return make(capture, location)

        return made

    monkeypatch.setattr(reparse, "row_maker", hostile)
    monkeypatch.setattr(reparse, "PATIENCE", 2)
    done = reparse.reparse(folder, page_seconds=0.5)
    assert (done.rows, done.failed) == (len(before), 3)
    after = {row["url"]: row for row in rows_of(folder)}
    errors = {url: row["error"] for url, row in after.items() if row["error"]}
    assert errors == {
        hanging: "parse-timeout",
        sleeping: "parse-timeout",
        killing: "parse-crashed",
        raising: "parse-failed",
    }
    assert {url: row for url, row in after.items() if url not in errors} == {
        url: row for url, row in before.items() if url not in errors
    }
    assert verify(folder).clean


def test_what_the_disk_refuses_leaves_the_old_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = rows_of(folder)

    def full(*_: object) -> int:
        raise StoreError("Cannot write: the disk is full.")

    monkeypatch.setattr(reparse, "write_rows", full)
    with pytest.raises(StoreError, match="the disk is full"):
        reparse.reparse(folder)
    assert rows_of(folder) == before
    assert tidy(folder)
    assert verify(folder).clean
    monkeypatch.undo()
    reparse.reparse(folder)
    assert rows_of(folder) == before
    assert tidy(folder)


@pytest.mark.parametrize("moment", [0.0, 0.15, 0.4, 0.8])
def test_killed_at_any_time_there_is_the_old_table_or_the_new_one(
    folder: Path, full_texts: dict[str, str | None], moment: float
) -> None:
    tables = {Text.MAIN: {row["url"]: row["text"] for row in rows_of(folder)}, Text.FULL: full_texts}
    script = (
        "from pathlib import Path\nfrom gossamer.crawl.reparse import reparse\nfrom gossamer.settings import Text\n"
        f"print('go', flush=True)\nreparse(Path({str(folder)!r}), text=Text.FULL)\n"
    )
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == "go\n"
        time.sleep(moment)
        victim.kill()
    found = {row["url"]: row["text"] for row in rows_of(folder)}
    assert found in tables.values()
    Folder(folder).adopt()
    assert found == tables[Folder(folder).load().settings.text], "the crawl knows which"
    reparse.reparse(folder, text=Text.FULL)
    assert {row["url"]: row["text"] for row in rows_of(folder)} == tables[Text.FULL]
    assert tidy(folder)


@pytest.mark.parametrize("step", range(2))
def test_where_folders_cannot_be_exchanged_a_cut_in_between_is_finished(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    before = rows_of(folder)
    monkeypatch.setattr(_swap, "_exchanged", lambda first, second: False)
    rename, left = os.rename, step

    def cut_off(*names: Any) -> None:
        nonlocal left
        if {"pages", "pages.new"} & {Path(name).name for name in names}:
            if left == 0:
                raise KeyboardInterrupt
            left -= 1
        rename(*names)

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", cut_off)
        with pytest.raises(KeyboardInterrupt):
            reparse.reparse(folder)
    assert (folder / "pages").exists() == (step == 0)
    recover(folder)
    assert rows_of(folder) == before
    assert tidy(folder)
    reparse.reparse(folder)
    assert rows_of(folder) == before


def test_rows_of_other_files_stay_as_they_are(folder: Path) -> None:
    first, *others = sorted((folder / "warc").iterdir())
    kept = {
        path.name: path.read_bytes()
        for path in (folder / "pages").iterdir()
        if not path.name.startswith(first.name[:-8])
    }
    before = rows_of(folder)
    rebuild(folder, [first], Folder(folder).load().settings)
    assert rows_of(folder) == before
    assert {name: (folder / "pages" / name).read_bytes() for name in kept} == kept
    assert len(others) > 1
