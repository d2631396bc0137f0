"""A disk that is full or read-only: one sentence with the cause and the cure, exit code 1, and nothing is lost by it."""

import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.crawl import Folder
from tests.faults.crashes import LONG, Site, Victim, assert_sound, kept_in
from tests.faults.smalldisk import SmallDisk, small_disk

ROOM = 2 << 20 if LONG else 300_000
"""Bytes that are left: some hundred pages, of those that a whole crawl brings."""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as found:
        yield found


def begun(web: Site, disk: SmallDisk, tmp_path: Path, part: str) -> Path:
    """A crawl of a few pages, all of it or one part of it on the small disk."""
    folder = disk.folder / "c" if part == "all" else tmp_path / "c"
    code, _, err = Victim(web.command(folder, "--max-pages", "20")).ended()
    assert (code, err) == (3, "")
    if part != "all":
        shutil.move(folder / part, disk.folder / part)
        os.symlink(disk.folder / part, folder / part)
    return folder


def refused(web: Site, disk: SmallDisk, folder: Path, *more: str) -> str:
    """Run it, and see it end with one sentence and exit code 1 within a minute."""
    before = time.monotonic()
    code, _, err = Victim(web.command(folder, *more), limit=disk.limit).ended(60)
    assert code == 1, err
    assert err.startswith("gossamer: "), err
    assert err.count("\n") == 1, err
    print(f"ended after {time.monotonic() - before:.1f} s: {err.strip()}")
    return err


def assert_completes(web: Site, folder: Path, tmp_path: Path) -> None:
    """Run again it finishes, and is looked at where it can be reached by its own name."""
    Victim(web.command(folder)).finish()
    shutil.copytree(folder, tmp_path / "copy")
    assert kept_in(tmp_path / "copy", web.web) == web.kept
    assert_sound(tmp_path / "copy")


@pytest.mark.parametrize(
    ("part", "room", "more"),
    [
        ("all", ROOM, ()),
        ("frontier", ROOM, ()),
        ("frontier", ROOM, ("--workers", "0")),
        ("warc", ROOM, ()),
        ("pages", ROOM // 3, ("--set", "store.part_rows=100")),
    ],
)
def test_a_full_disk_ends_the_crawl_with_a_sentence_and_room_makes_it_whole(
    part: str, room: int, more: tuple[str, ...], crash_web: Site, disk: SmallDisk, tmp_path: Path
) -> None:
    folder = begun(crash_web, disk, tmp_path, part)
    disk.leave(room)
    said = refused(crash_web, disk, folder, *more)
    assert disk.full in said
    assert str(folder) in said
    assert Folder(folder).load().seeds, "the state is kept"
    if part == "all":
        assert disk.full in refused(crash_web, disk, folder), "and still full, it says so again"
    disk.free()
    assert_completes(crash_web, folder, tmp_path)


@pytest.mark.parametrize("part", ["all", "frontier", "warc", "pages"] if LONG else ["all", "frontier"])
def test_a_disk_that_came_back_read_only_is_named_and_nothing_is_harmed(
    part: str, crash_web: Site, disk: SmallDisk, tmp_path: Path
) -> None:
    folder = begun(crash_web, disk, tmp_path, part)
    disk.protect()
    said = refused(crash_web, disk, folder)
    assert disk.read_only in said
    assert str(folder) in said
    disk.free()
    assert_completes(crash_web, folder, tmp_path)


def test_a_folder_that_cannot_be_made_is_named(crash_web: Site, disk: SmallDisk) -> None:
    disk.protect()
    said = refused(crash_web, disk, disk.folder / "new" / "crawl")
    assert f"cannot write {disk.folder}/new/crawl/crawl.json: {disk.read_only}" in said
