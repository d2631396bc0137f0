"""Crashes, power cuts and full disks: what was synced is there, what is torn is cut, nothing whole is touched."""

import errno
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import textwrap
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from isal import igzip_lib
from warcio.archiveiterator import ArchiveIterator

from gossamer.store import (
    Capture,
    Location,
    Mended,
    Notes,
    PageRow,
    Record,
    Recovery,
    Revisit,
    Store,
    StoreError,
    StoreSettings,
    captures,
    query,
    read,
    records,
    recover,
    rows_of,
)
from gossamer.store._warc_read import Damage
from tests.exchanges import NOON, capture, read_back, row_of, stored, warcs

COUNT = 12


def abandoned(folder: Path, *of: Capture, rows: bool = True, settings: StoreSettings | None = None) -> list[Location]:
    """Stores captures and dies: the folder is what a killed process leaves, without the rows it still had in memory."""
    alive = folder.with_name(folder.name + "-alive")
    with Store(alive, "w0", settings, clock=lambda: NOON) as store:
        places = stored(store, *of) if rows else [store.append(each) for each in of]
        store.write_parts()
        store.sync()
        shutil.copytree(alive, folder)
    shutil.rmtree(alive)
    return places


def sample() -> list[Capture]:
    """One of each kind of exchange, and a few more."""
    first = capture(0)
    return [
        first,
        capture(1, url="https://mirror.example/", body=first.body, duplicate=Revisit(first.url, first.at)),
        capture(2, body_stored=False),
        capture(3, body=random.Random(3).randbytes(40_000), truncated="length"),
        *(capture(n) for n in range(4, COUNT)),
    ]


def extents(path: Path) -> list[tuple[int, int]]:
    found = [item for item in records(path) if isinstance(item, Record)]
    return [(item.offset, item.offset + item.length) for item in found]


def sound_elsewhere(path: Path) -> int:
    """The number of records that warcio reads to the end of the file, all digests checked."""
    count = 0
    with open(path, "rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            record.raw_stream.read()
            count += 1
    return count


def urls_of_rows(folder: Path) -> list[str]:
    urls: list[str] = query(folder, "SELECT url FROM pages ORDER BY fetched_at").column("url").to_pylist()
    return urls


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "crawl"
    abandoned(folder, *sample())
    return folder


def places_to_cut(path: Path) -> list[int]:
    """Every border of a record, the bytes around it, within gzip headers and trailers, and forty places by chance."""
    size = path.stat().st_size
    near = {end + step for pair in extents(path) for end in pair for step in (-8, -1, 0, 1, 9, 11)}
    dice = random.Random(7)
    return sorted({at for at in near | {dice.randrange(size) for _ in range(40)} if 0 < at <= size})


FILLINGS: dict[str, Callable[[int], bytes]] = {
    "nothing": lambda _: b"",
    "zeros": lambda missing: bytes(missing),
    "noise": lambda missing: random.Random(missing).randbytes(missing),
}


@pytest.mark.parametrize("filling", FILLINGS)
def test_a_file_cut_anywhere_keeps_every_whole_record_and_no_other(whole: Path, tmp_path: Path, filling: str) -> None:
    source = warcs(whole)[0]
    data, borders = source.read_bytes(), extents(source)
    answers = [item for item in captures(source) if not isinstance(item, Damage)]
    folder = tmp_path / "crawl"
    (folder / "warc").mkdir(parents=True)
    (folder / "pages").mkdir()
    path = folder / "warc" / source.name
    places = places_to_cut(source)
    for cut in places if filling == "nothing" else random.Random(filling).sample(places, 60):
        if cut < borders[0][1]:
            continue  # the very first record: a test of its own below
        path.write_bytes(data[:cut] + FILLINGS[filling](len(data) - cut))
        for part in (folder / "pages").iterdir():
            part.unlink()
        # Zeros may happen to be the very bytes that are missing: what counts is whether a record's bytes are all there.
        left = path.read_bytes()
        kept = max(end for _, end in borders if data[:end] == left[:end])

        report = recover(folder, row_of)

        assert path.read_bytes() == data[:kept], f"cut at {cut}"
        assert sound_elsewhere(path) == sum(end <= kept for _, end in borders)
        expected = [answer for place, answer in answers if place.offset + place.length <= kept]
        assert read_back(path) == expected
        rows = pq.read_table(folder / "pages", columns=["url"]).column("url").to_pylist()
        assert rows == [answer.url for answer in expected]
        assert sum(mended.cut for mended in report.files) == len(left) - kept
        assert recover(folder, row_of) == Recovery(), "a second run finds nothing to do"


def test_the_report_says_what_was_cut(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    path = warcs(folder)[0]
    last = extents(path)[-1]
    os.truncate(path, last[1] - 3)
    (mended,) = recover(folder, row_of).files
    assert mended == Mended(path.name, cut=last[1] - 3 - last[0], rows=COUNT - 1)
    assert f"{path.name}: a torn tail of {mended.cut} bytes was cut off, 11 rows were rebuilt." == str(mended)


@pytest.mark.parametrize("left", [0, 1, 9, 40, 150])
def test_a_file_that_never_got_its_first_record_is_removed(whole: Path, tmp_path: Path, left: int) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    os.truncate(warcs(folder)[0], left)
    report = recover(folder, row_of)
    assert "held no whole record and was removed" in report.files[0].problem
    assert warcs(folder) == []
    with Store(folder, "w0") as store:
        stored(store, capture(1))
    assert urls_of_rows(folder) == [capture(1).url]


def test_a_large_file_without_any_record_is_set_aside_not_removed(tmp_path: Path) -> None:
    abandoned(tmp_path / "crawl", capture(1))
    path = warcs(tmp_path / "crawl")[0]
    path.write_bytes(random.Random(1).randbytes(50_000))
    (mended,) = recover(tmp_path / "crawl", row_of).files
    assert "set aside" in mended.problem
    assert path.with_name(path.name + ".damaged").stat().st_size == 50_000


def test_a_file_that_is_not_ours_is_left_alone(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    path = warcs(folder)[0]
    first = extents(path)[0]
    strange = path.read_bytes()[first[1] :] + b"torn"
    path.write_bytes(strange)
    assert "left alone" in recover(folder, row_of).files[0].problem
    assert path.read_bytes() == strange


@pytest.mark.parametrize("seed", range(12))
def test_a_hole_between_whole_records_costs_only_what_it_covers(whole: Path, tmp_path: Path, seed: int) -> None:
    """Pages of a file reach the disk in any order: a power cut can leave zeros before records that are whole."""
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    path = warcs(folder)[0]
    data, borders = path.read_bytes(), extents(path)
    dice = random.Random(seed)
    start = dice.randrange(borders[0][1], borders[-3][0])
    length = min(dice.choice([1, 40, 700, 4_096, 20_000]), borders[-3][0] - start)
    hurt = bytearray(data)
    hurt[start : start + length] = bytes(length) if seed % 2 else dice.randbytes(length)
    path.write_bytes(hurt)
    untouched = [item for item in borders if data[item[0] : item[1]] == hurt[item[0] : item[1]]]

    (mended,) = recover(folder, row_of).files

    assert mended.cut == 0
    assert mended.blanked == sum(end - begin for begin, end in borders) - sum(end - begin for begin, end in untouched)
    after = path.read_bytes()
    assert len(after) == len(data)
    for begin, end in untouched:
        assert after[begin:end] == data[begin:end]
    assert not [item for item in records(path) if isinstance(item, Damage)]
    assert sound_elsewhere(path) > len(untouched), "every other reader gets past the hole"
    # An answer whose request or notes fell into the hole is still an answer, and never gets those of another.
    alive = [item for item in captures(path) if not isinstance(item, Damage)]
    before = {each.url: each for each in sample()}
    for place, each in alive:
        assert each.notes in (before[each.url].notes, Notes())
        alone = read(folder, place)
        assert (alone.url, alone.response_head, alone.body) == (each.url, each.response_head, each.body)
    assert [each.url for _, each in alive] == urls_of_rows(folder)
    assert recover(folder, row_of) == Recovery()


def test_records_inside_a_page_that_is_a_warc_file_never_pass_for_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server could plant captures of other sites: it serves a WARC file, and the crash tears the record that holds it."""
    abandoned(tmp_path / "theirs", *(capture(n, url="https://bank.example/") for n in range(3)))
    planted = warcs(tmp_path / "theirs")[0].read_bytes() + random.Random(5).randbytes(9_000)
    folder = tmp_path / "crawl"
    # Stored blocks are the worst case: what the server sent lies in the file as it is.
    monkeypatch.setattr("gossamer.store._warc_write._gzip", lambda record, level: zlib.compress(record, 0, 31))
    places = abandoned(folder, capture(1), capture(2, body=planted))
    path = warcs(folder)[0]
    data = path.read_bytes()
    answer = places[1]
    assert b"\x1f\x8b\x08" in data[answer.offset + 20 :], "the page's own members lie open in the file"
    os.truncate(path, len(data) - 4_000)
    (mended,) = recover(folder, row_of).files
    assert path.stat().st_size == answer.offset
    assert mended.cut == len(data) - 4_000 - answer.offset
    assert urls_of_rows(folder) == [capture(1).url]


def test_rows_that_were_in_memory_are_rebuilt_and_none_twice(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    abandoned(folder, *(capture(n) for n in range(25)), settings=StoreSettings(part_rows=10))
    assert len(urls_of_rows(folder)) == 20
    (mended,) = recover(folder, row_of, StoreSettings(part_rows=3)).files
    assert mended == Mended(mended.file, rows=5)
    assert urls_of_rows(folder) == [capture(n).url for n in range(25)]
    assert recover(folder, row_of) == Recovery()


def test_rebuilt_rows_equal_those_that_were_lost(tmp_path: Path) -> None:
    folder, twin = tmp_path / "crawl", tmp_path / "twin"
    whole_captures = [capture(n) for n in range(7)]
    abandoned(folder, *whole_captures)
    with Store(twin, "w0", clock=lambda: NOON) as store:
        stored(store, *whole_captures)
    recover(folder, row_of)
    columns = "* EXCLUDE (warc_length, warc_offset)"  # compressed sizes differ by the random record ids
    ours, theirs = (query(each, f"SELECT {columns} FROM pages ORDER BY url") for each in (folder, twin))
    assert ours.to_pylist() == theirs.to_pylist()


def test_a_row_that_came_out_of_order_leaves_no_gap(tmp_path: Path) -> None:
    """Captures 0..9 are appended, the row of 3 is still being made when parts are written and the process dies."""
    alive, folder = tmp_path / "alive", tmp_path / "crawl"
    with Store(alive, "w0", StoreSettings(part_rows=4)) as store:
        places = [store.append(capture(n)) for n in range(10)]
        for n in (9, 0, 1, 2, 4, 5, 6, 7):
            store.add_row(row_of(capture(n), places[n]))
        assert store.write_parts() == 2
        shutil.copytree(alive, folder)
    (mended,) = recover(folder, row_of).files
    assert mended.rows == 2, "rows 3 and 8, and no other a second time"
    assert urls_of_rows(folder) == [capture(n).url for n in range(10)]
    assert urls_of_rows(alive) == [capture(n).url for n in (0, 1, 2, 4, 5, 6, 7, 9)]


def test_a_late_row_after_rotation_still_finds_its_file(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        late = store.append(capture(0))
        store.rotate()
        stored(store, capture(1))
        store.write_parts(everything=True)
        store.add_row(row_of(capture(0), late))
    assert urls_of_rows(tmp_path) == [capture(0).url, capture(1).url]
    assert recover(tmp_path, row_of) == Recovery()


def test_an_orderly_end_leaves_nothing_to_recover_and_opens_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store(tmp_path, "w0", StoreSettings(warc_bytes=4_096, part_rows=3)) as store:
        stored(store, *(capture(n) for n in range(20)))
        store.append(capture(99, url="https://site.example/robots.txt"), row_follows=False)
    monkeypatch.setattr("gossamer.store._recover.records", None)
    monkeypatch.setattr("gossamer.store._recover.captures", None)
    assert recover(tmp_path, row_of) == Recovery()


def test_a_capture_that_belongs_into_no_row_gets_none(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    abandoned(folder, *(capture(n) for n in range(4)), rows=False)

    def parse(each: Capture, place: Location) -> PageRow | None:
        return None if each.url.endswith("2") else row_of(each, place)

    assert recover(folder, parse).files[0].rows == 3
    assert recover(folder, parse) == Recovery()


def test_a_page_that_kills_the_parser_becomes_a_row_that_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    abandoned(folder, *(capture(n) for n in range(4)), rows=False)

    def parse(each: Capture, place: Location) -> PageRow:
        if each.url.endswith("2"):
            raise RecursionError
        return row_of(each, place)

    (mended,) = recover(folder, parse).files
    assert (mended.rows, mended.unparsed) == (4, 1)
    found = query(folder, "SELECT url, status FROM pages WHERE error = 'parse-failed'").to_pylist()
    assert found == [{"url": capture(2).url, "status": 200}]


def test_half_written_and_broken_parts_are_put_away(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    abandoned(folder, *(capture(n) for n in range(9)), settings=StoreSettings(part_rows=3))
    first, second, third = sorted((folder / "pages").iterdir())
    os.truncate(second, second.stat().st_size // 2)
    third.rename(third.with_name(third.name + ".tmp"))
    (mended,) = recover(folder, row_of).files
    assert (mended.parts, mended.rows) == (2, 6)
    assert urls_of_rows(folder) == [capture(n).url for n in range(9)]
    assert pq.read_metadata(first).num_rows == 3


def test_without_a_parser_only_the_bytes_are_mended(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    shutil.copytree(whole, folder)
    os.truncate(warcs(folder)[0], warcs(folder)[0].stat().st_size - 1)
    assert recover(folder).files[0].cut > 0
    assert list((folder / "pages").iterdir()) == []
    assert len(list(rows_of(warcs(folder)[0], row_of))) == COUNT - 1


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store, Store(tmp_path, "w1") as dead:
        stored(store, capture(1))
        stored(dead, capture(2))
        dead.close()
        os.truncate(next((tmp_path / "warc").glob("*-w1-*")), 700)
        size = next((tmp_path / "warc").glob("*-w0-*")).stat().st_size
        named = {mended.file.split("-")[2]: mended for mended in recover(tmp_path, row_of).files}
        assert "another process is writing it" in named["w0"].problem
        assert named["w1"].cut > 0
        assert next((tmp_path / "warc").glob("*-w0-*")).stat().st_size == size
        assert [mended.file.split("-")[2] for mended in recover(tmp_path, row_of, worker="w1").files] == []


def test_after_recovery_the_crawl_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    abandoned(folder, *(capture(n) for n in range(5)))
    path = warcs(folder)[0]
    os.truncate(path, path.stat().st_size - 1)
    recover(folder, row_of)
    with Store(folder, "w0", clock=lambda: NOON) as store:
        stored(store, *(capture(n) for n in range(4, 8)))
    assert urls_of_rows(folder) == [capture(n).url for n in range(8)]
    assert sum(sound_elsewhere(path) for path in warcs(folder)) == 2 + 8 * 3 + 2, "two of the cut exchange are left"


@pytest.mark.parametrize("seed", range(6))
def test_power_loss_costs_nothing_that_was_synced(tmp_path: Path, seed: int) -> None:
    """All bytes after the last sync are dropped, torn or zeroed; all before it are the disk's."""
    dice = random.Random(seed)
    alive, folder = tmp_path / "alive", tmp_path / "crawl"
    with Store(alive, "w0", StoreSettings(part_rows=15), clock=lambda: NOON) as store:
        stored(store, *(capture(n) for n in range(dice.randrange(1, 20))))
        store.write_parts()
        safe = store.sync()
        stored(store, *(capture(n) for n in range(100, 100 + dice.randrange(1, 10))))
        shutil.copytree(alive, folder)
    path = folder / "warc" / safe.file
    size = path.stat().st_size
    left = dice.randrange(safe.offset, size + 1)
    path.write_bytes(path.read_bytes()[:left] + bytes(dice.choice([0, size - left, 5_000])))
    recover(folder, row_of)
    urls = [each.url for each in read_back(path)]
    assert urls[: safe.captures] == [capture(n).url for n in range(safe.captures)]
    assert urls_of_rows(folder) == urls


def test_bytes_that_were_once_safe_and_are_gone_are_noticed(tmp_path: Path) -> None:
    """No power cut does this, a bad disk or a careless copy does: rows are there, their records are not."""
    with Store(tmp_path, "w0", clock=lambda: NOON) as store:
        stored(store, *(capture(n) for n in range(6)))
        store.write_parts(everything=True)
        size = store.sync().offset
        stored(store, capture(6))
    path = warcs(tmp_path)[0]
    path.write_bytes(path.read_bytes()[: size - 700] + bytes(9_000))
    (mended,) = recover(tmp_path, row_of).files
    assert mended.cut == size - 700 + 9_000 - path.stat().st_size
    assert read_back(path) == [capture(n) for n in range(len(read_back(path)))]
    assert sound_elsewhere(path) >= 1 + 5 * 3


def test_a_killed_process_loses_nothing_it_called_safe(tmp_path: Path) -> None:
    program = textwrap.dedent("""
        import sys, threading
        from pathlib import Path
        from gossamer.store import Store, StoreSettings
        from tests.exchanges import capture, stored
        store = Store(Path(sys.argv[1]), "w0", StoreSettings(warc_bytes=40_000, part_rows=7))
        def keep_syncing():
            while True:
                print(store.sync().captures, flush=True)
                store.write_parts()
        threading.Thread(target=keep_syncing, daemon=True).start()
        for n in range(10**6):
            stored(store, capture(n))
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    safe = 0
    assert child.stdout is not None
    with child.stdout:
        for line in child.stdout:
            safe = int(line)
            if safe > 300:
                os.kill(child.pid, signal.SIGKILL)
                break
        rest = child.stdout.read().split()
    assert child.wait() == -signal.SIGKILL
    safe = int(rest[-1]) if rest else safe
    recover(tmp_path, row_of)
    urls = [each.url for path in warcs(tmp_path) for each in read_back(path)]
    assert len(urls) >= safe > 300
    assert urls == [capture(n).url for n in range(len(urls))]
    assert sorted(urls_of_rows(tmp_path)) == sorted(urls)


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    """A real refusal by the kernel after a part of a write: the nearest thing to a full disk that needs no disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_an_append_that_the_kernel_cuts_short_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, *(capture(n) for n in range(5)))
        size = store.sync().offset
        with files_no_larger_than(size + 500):
            for _ in range(3):
                with pytest.raises(
                    StoreError, match=r"^Cannot write .*: the file would be larger than .*ulimit -f\)\.$"
                ):
                    store.append(capture(5))
                assert warcs(tmp_path)[0].stat().st_size == size
        stored(store, *(capture(n) for n in range(5, 9)))
    assert read_back(warcs(tmp_path)[0]) == [capture(n) for n in range(9)]
    assert urls_of_rows(tmp_path) == [capture(n).url for n in range(9)]
    assert sound_elsewhere(warcs(tmp_path)[0]) == 1 + 9 * 3


class FullDisk:
    """os.write on a disk with `room` bytes left: takes what fits, then says ENOSPC, as a file system does."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.write = os.write

    def __call__(self, fd: int, data: Any) -> int:
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        taken = self.write(fd, memoryview(data)[: self.room])
        self.room -= taken
        return taken


@pytest.mark.parametrize("room", [0, 1, 300, 900])
def test_a_full_disk_is_one_sentence_and_appending_resumes_with_space(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, capture(0))
        size = warcs(tmp_path)[0].stat().st_size
        disk = FullDisk(room)
        monkeypatch.setattr(os, "write", disk)
        with pytest.raises(StoreError, match=r"^Cannot write .*: the disk is full; free some space .*\.$"):
            store.append(capture(1))
        assert warcs(tmp_path)[0].stat().st_size == size
        disk.room = 10**9
        stored(store, capture(1))
    assert read_back(warcs(tmp_path)[0]) == [capture(0), capture(1)]


def test_a_tail_that_cannot_be_removed_ends_the_file_and_another_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with Store(tmp_path, "w0") as store:
        stored(store, capture(0))
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", FullDisk(200))
            patch.setattr(os, "ftruncate", refuse)
            with pytest.raises(StoreError, match="disk is full"):
                store.append(capture(1))
        stored(store, capture(2))
    assert len(warcs(tmp_path)) == 2
    assert recover(tmp_path, row_of).files[0].cut == 200
    assert [each for path in warcs(tmp_path) for each in read_back(path)] == [capture(0), capture(2)]


def test_a_new_file_that_does_not_fit_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path, "w0")
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", FullDisk(50))
        with pytest.raises(StoreError, match="disk is full"):
            store.append(capture(0))
    assert warcs(tmp_path) == []
    stored(store, capture(0))
    store.close()
    assert urls_of_rows(tmp_path) == [capture(0).url]


def test_rows_wait_when_the_disk_has_no_room_for_their_part(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", StoreSettings(part_rows=5)) as store:
        stored(store, *(capture(n) for n in range(5)))
        store.sync()
        with files_no_larger_than(1_000), pytest.raises(StoreError, match=r"Cannot write .*\.parquet: "):
            store.write_parts()
        assert list((tmp_path / "pages").iterdir()) == []
        assert store.write_parts() == 1
    assert urls_of_rows(tmp_path) == [capture(n).url for n in range(5)]


def test_a_sync_that_failed_is_never_called_safe_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(fd: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    store = Store(tmp_path, "w0")
    stored(store, capture(0))
    with monkeypatch.context() as patch:
        patch.setattr(os, "fdatasync", fail)
        with pytest.raises(StoreError, match=r"Cannot secure .*: the disk reports an input/output error"):
            store.sync()
    for refused in (store.sync, lambda: store.append(capture(1)), store.close):
        with pytest.raises(StoreError, match="Nothing can be stored until the crawl is started again"):
            refused()
    assert list((tmp_path / "pages").iterdir()) == [], "no row before its record"
    assert recover(tmp_path, row_of).files[0].rows == 1


def test_no_row_reaches_the_disk_before_the_record_it_points_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order of the disk's own calls: the WARC is synced, then a part is renamed into place."""
    calls: list[str] = []

    def noted(name: str, call: Callable[..., None]) -> Callable[..., None]:
        def wrapped(*arguments: object) -> None:
            calls.append(name)
            call(*arguments)

        return wrapped

    monkeypatch.setattr(os, "fdatasync", noted("sync", os.fdatasync))
    monkeypatch.setattr(os, "rename", noted("part", os.rename))
    with Store(tmp_path, "w0", StoreSettings(part_rows=2)) as store:
        for _ in range(2):
            stored(store, capture(0), capture(1))
            store.write_parts()
    assert calls == ["sync", "part", "sync", "part"]


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        (errno.EROFS, "the disk is read-only"),
        (errno.EACCES, "permission is denied"),
        (errno.EDQUOT, "the disk quota is used up"),
        (errno.EMFILE, "too many files are open"),
        (errno.EXDEV, "invalid cross-device link"),
    ],
)
def test_a_disk_that_refuses_says_why_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    store = Store(tmp_path, "w0")
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(StoreError, match=rf"^Cannot write {tmp_path}/warc/gossamer-.*: {sentence}.*\.$"):
            store.append(capture(0))


def test_a_folder_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match=r"^Cannot create .*/warc: a part of the path is a file"):
        Store(tmp_path / "file" / "crawl", "w0")


def test_a_bomb_in_a_record_costs_its_cap_and_not_its_size(tmp_path: Path) -> None:
    """300 MB of zeros in a foreign record: read with a cap of 1 MB, the record is marked as cut and the next one is found."""
    size = 300_000_000
    head = b"WARC/1.1\r\nWARC-Type: response\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n" % size
    bomb = igzip_lib.compress(head + bytes(size) + b"\r\n\r\n", 1, igzip_lib.COMP_GZIP)
    path = tmp_path / "bomb.warc.gz"
    with Store(tmp_path, "w0") as store:
        stored(store, capture(1))
    path.write_bytes(bomb + warcs(tmp_path)[0].read_bytes())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = [item for item in records(path, most=1_000_000) if isinstance(item, Record)]
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert len(found) == 5
    assert found[0].cut
    assert len(found[0].block) < 1_000_000
    assert grown < 120, f"{grown:.0f} MB"
