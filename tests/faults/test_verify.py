"""Damage of every kind: `verify` finds it and calls it by its name, `repair` cures it, and the crawl goes on to the end."""

import asyncio
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from isal import igzip_lib

from gossamer.crawl.repair import repair
from gossamer.crawl.verify import Examined, examine, verify
from gossamer.errors import GossamerError
from gossamer.frontier import Done, RocksFrontier, State, Stats
from gossamer.frontier.audit import decode_host, decode_stats, items, key_of
from gossamer.frontier.disk import ENTRY, Disk
from gossamer.frontier.records import decode_url, encode
from gossamer.outcome import Action, ErrorClass
from gossamer.sim.web import Running, Web, audit
from gossamer.store import Record, records
from tests.crawl.harness import crawl, online, rows_of, settings, stored_in

PAGES = 120
FETCHED = 90
CORNERS = ["copies", "redirects", "compressed", "sitemaps"]


@pytest.fixture(scope="module")
def web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Web, Running]]:
    with online(tmp_path_factory.mktemp("web"), hosts=8, pages=PAGES, corners=CORNERS, corner_pages=4) as found:
        yield found


@pytest.fixture(scope="module")
def half(web: tuple[Web, Running], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that a budget stopped half-way: pages stored, copies, failures, URLs queued, and one that waits for a time."""
    folder = tmp_path_factory.mktemp("half") / "crawl"
    crawl(folder, *web, max_pages=FETCHED, store={"part_rows": 40})
    asyncio.run(_one_waits_and_one_fails(folder, web[1]))
    verdict = verify(folder)
    assert verdict.clean, verdict.problems
    assert verdict.records > FETCHED - 5
    assert verdict.rows == FETCHED
    return folder


async def _one_waits_and_one_fails(folder: Path, running: Running) -> None:
    now = time.time()
    frontier = RocksFrontier(folder / "frontier", settings(running).frontier)
    [waits, fails] = await frontier.lease("w", 2, now)
    dead = Done(fails.id, Action.DEAD, error=ErrorClass.RESET)
    await frontier.complete("w", [Done(waits.id, Action.RETRY, 500, wait=0.5), dead], now)
    stats = await frontier.stats()
    assert (stats.waiting, stats.failed) == (1, 1)
    await frontier.close()


async def _try_again_what_failed(folder: Path, running: Running) -> None:
    frontier = RocksFrontier(folder / "frontier", settings(running).frontier)
    await frontier.requeue(time.time())
    await frontier.close()


@pytest.fixture
def folder(half: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    copy = tmp_path / "crawl"
    shutil.copytree(half, copy)
    return copy


# --- the damage -------------------------------------------------------------------------------------------------------

Damaging = Callable[[Path], None]


def warc(folder: Path) -> Path:
    return max((folder / "warc").glob("*.warc.gz"))


def parts(folder: Path) -> list[Path]:
    return sorted((folder / "pages").glob("*.parquet"))


def _records(folder: Path, kind: str) -> list[Record]:
    found = [each for each in records(warc(folder)) if isinstance(each, Record) and each.kind == kind]
    return found if kind != "response" else [each for each in found if b"text/html" in each.block[:400]]


def _overwrite(path: Path, offset: int, data: bytes) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        file.write(data)


def flip_in_response(folder: Path) -> None:
    record = _records(folder, "response")[10]
    _overwrite(warc(folder), record.offset + record.length // 2, b"\xff\x00\xff\x00")


def flip_in_metadata(folder: Path) -> None:
    pages = {each.headers["warc-record-id"] for each in _records(folder, "response")}
    record = [each for each in _records(folder, "metadata") if each.headers.get("warc-concurrent-to") in pages][20]
    _overwrite(warc(folder), record.offset + record.length // 2, b"\xff\x00\xff\x00")


def zeros_over_several(folder: Path) -> None:
    record = _records(folder, "response")[15]
    _overwrite(warc(folder), record.offset + 50, bytes(8_000))


def truncate(folder: Path) -> None:
    path = warc(folder)
    with open(path, "r+b") as file:
        file.truncate(path.stat().st_size * 2 // 3)


def garbage_at_the_end(folder: Path) -> None:
    with open(warc(folder), "ab") as file:
        file.write(random.Random(1).randbytes(3_000))


def _rewritten(folder: Path, record: Record, old: bytes, new: bytes) -> None:
    """Change bytes within a record and pack it again: sound gzip, wrong content. It has to fit, so it is filled up."""
    path = warc(folder)
    with open(path, "rb") as file:
        file.seek(record.offset)
        data = igzip_lib.decompress(file.read(record.length), igzip_lib.DECOMP_GZIP)
    assert old in data
    packed = igzip_lib.compress(data.replace(old, new, 1), 3, igzip_lib.COMP_GZIP)
    room = record.length - len(packed) - 1
    assert room >= 0
    _overwrite(path, record.offset, b"".join((packed[:3], b"\x10", packed[4:10], b" " * room, b"\0", packed[10:])))


def another_body(folder: Path) -> None:
    record = next(each for each in _records(folder, "response") if b"<title>" in each.block)
    _rewritten(folder, record, b"<title>", b"<tItle>")


def another_digest(folder: Path) -> None:
    record = _records(folder, "response")[5]
    digest = record.headers["warc-payload-digest"].encode()
    _rewritten(folder, record, digest, digest.replace(b":A", b":B") if b":A" in digest else b"sha256:A" + digest[8:])


def another_length(folder: Path) -> None:
    record = next(each for each in _records(folder, "response") if b"\r\nContent-Length: " in each.block)
    told = record.block.split(b"\r\nContent-Length: ")[1].split(b"\r\n")[0]
    _rewritten(folder, record, b"Content-Length: " + told + b"\r\n", b"Content-Length: " + b"1" * len(told) + b"\r\n")


def another_id(folder: Path) -> None:
    first, second = _records(folder, "response")[3:5]
    _rewritten(folder, second, second.headers["warc-record-id"].encode(), first.headers["warc-record-id"].encode())


def no_warc(folder: Path) -> None:
    warc(folder).unlink()


def no_beginning(folder: Path) -> None:
    _overwrite(warc(folder), 4, bytes(40))


def foreign_warc(folder: Path) -> None:
    (folder / "warc" / "gossamer-20200101000000-other-00000.warc.gz").write_bytes(b"<html>not a WARC file</html>" * 300)


def no_part(folder: Path) -> None:
    parts(folder)[0].unlink()


def part_twice(folder: Path) -> None:
    first = parts(folder)[0]
    shutil.copy(first, first.with_name(first.name.replace("-0000.", "-0099.")))


def flip_in_part(folder: Path) -> None:
    part = parts(folder)[0]
    _overwrite(part, part.stat().st_size // 2, b"\xff\x00\xff")


def part_cut(folder: Path) -> None:
    part = parts(folder)[0]
    part.write_bytes(part.read_bytes()[:-100])


def _changed_part(folder: Path, column: str, change: Callable[[list[object]], list[object]]) -> None:
    """A part of an earlier version, without a sum, in which one column was changed."""
    part = parts(folder)[0]
    table = pq.read_table(part)
    at = table.schema.get_field_index(column)
    values = pa.array(change(table.column(column).to_pylist()), table.schema.field(column).type)
    kept = {key: value for key, value in table.schema.metadata.items() if key != b"gossamer.sum"}
    pq.write_table(table.set_column(at, table.schema.field(at), values).replace_schema_metadata(kept), part)


def row_of_another(folder: Path) -> None:
    _changed_part(folder, "url", lambda urls: [*urls[1:], urls[0]])


def row_of_nothing(folder: Path) -> None:
    _changed_part(folder, "warc_offset", lambda offsets: [7, *offsets[1:]])


def column_gone(folder: Path) -> None:
    part = parts(folder)[0]
    table = pq.read_table(part)
    pq.write_table(table.drop_columns(["warc_offset"]).replace_schema_metadata(table.schema.metadata), part)


def part_of_nothing(folder: Path) -> None:
    shutil.copy(parts(folder)[0], folder / "pages" / "gossamer-20200101000000-other-00000-0000.parquet")


def half_a_part(folder: Path) -> None:
    part = parts(folder)[0]
    (folder / "pages" / (part.name.replace("-0000.", "-0098.") + ".tmp")).write_bytes(part.read_bytes()[:100])


def half_a_table(folder: Path) -> None:
    (folder / "pages.new").mkdir()
    shutil.copy(parts(folder)[0], folder / "pages.new")


def _on_disk(act: Callable[[Disk], None]) -> Damaging:
    def damaging(folder: Path) -> None:
        disk = Disk(folder / "frontier")
        try:
            act(disk)
            disk.sync()
        finally:
            disk.close()

    return damaging


def _of_state(disk: Disk, state: State) -> tuple[bytes, bytes]:
    return next(
        (key, raw)
        for key, raw in items(disk.of, "urls")
        if len(raw) != ENTRY and not raw.startswith(b"\xc1") and decode_url(raw).state is state
    )


def books(disk: Disk) -> None:
    saved: Stats = decode_stats(disk.of["meta"].get(b"stats") or b"")
    saved.done += 7
    saved.queued -= 2
    disk.of["meta"].put(b"stats", encode(saved))


def books_gone(disk: Disk) -> None:
    disk.of["meta"].put(b"stats", b"\xff\xff")


def queue_entry_gone(disk: Disk) -> None:
    entry, _ = next(items(disk.of, "queue"))
    disk.of["queue"].delete(entry)


def queue_entry_unreadable(disk: Disk) -> None:
    entry, _ = next(items(disk.of, "queue"))
    disk.of["queue"].put(entry, b"\xc1\xc1\xc1")


def queue_entry_of_a_finished_url(disk: Disk) -> None:
    key, raw = _of_state(disk, State.DONE)
    record = decode_url(raw)
    disk.of["queue"].put(key[:8] + record.entry, encode(msgspec.structs.replace(record, state=State.QUEUED)))


def pointer_gone(disk: Disk) -> None:
    _, raw = next(items(disk.of, "queue"))
    disk.of["urls"].delete(key_of(decode_url(raw).url))


def queued_but_not_in_the_queue(disk: Disk) -> None:
    entry, raw = next(items(disk.of, "queue"))
    disk.of["queue"].delete(entry)
    disk.of["urls"].put(key_of(decode_url(raw).url), raw)


def record_unreadable(disk: Disk) -> None:
    key, _ = _of_state(disk, State.DONE)
    disk.of["urls"].put(key, b"\xc1 this is no record")


def waiting_entry_gone(disk: Disk) -> None:
    key, _ = next(items(disk.of, "waiting"))
    disk.of["waiting"].delete(key)


def waiting_entry_of_another_time(disk: Disk) -> None:
    key, _ = next(items(disk.of, "waiting"))
    disk.of["waiting"].put(bytes(8) + key[8:], b"")


def failure_gone(disk: Disk) -> None:
    key, _ = next(items(disk.of, "failures"))
    disk.of["failures"].delete(key)


def failure_of_a_finished_url(disk: Disk) -> None:
    key, _ = _of_state(disk, State.DONE)
    disk.of["failures"].put(key, b"500")


def host_gone(disk: Disk) -> None:
    entry, _ = next(items(disk.of, "queue"))
    disk.of["hosts"].delete(entry[:8])


def host_out_of_play(disk: Disk) -> None:
    entry, _ = next(items(disk.of, "queue"))
    disk.of["active"].delete(entry[:8])


def host_parked_past_its_queue(disk: Disk) -> None:
    entry, _ = next(items(disk.of, "queue"))
    host = decode_host(disk.of["hosts"].get(entry[:8]) or b"")
    host.parked, host.cursor = b"\0" + bytes(12) + entry[:8], entry[:8] + b"\xff" * 10
    disk.of["hosts"].put(entry[:8], encode(host))
    disk.of["parked"].put(host.parked, b"")


def parked_twice(disk: Disk) -> None:
    host, _ = next(items(disk.of, "hosts"))
    disk.of["parked"].put(b"\1" + bytes(12) + host, b"")


def never_sealed(disk: Disk) -> None:
    for key, raw in list(items(disk.of, "urls"))[:40]:
        record = decode_url(raw) if len(raw) != ENTRY and not raw.startswith(b"\xc1") else None
        if record is not None and record.place is not None:
            disk.of["unsealed"].put(record.place.segment.encode() + b"\0" + key, b"")


def place_of_another(disk: Disk) -> None:
    key, raw = _of_state(disk, State.DONE)
    record = decode_url(raw)
    assert record.place is not None
    moved = msgspec.structs.replace(record.place, offset=record.place.offset + 1)
    disk.of["urls"].put(key, encode(msgspec.structs.replace(record, place=moved)))


def _stored(raw: bytes) -> bool:
    return len(raw) != ENTRY and not raw.startswith(b"\xc1") and decode_url(raw).stored


def not_stored_after_all(disk: Disk) -> None:
    key, raw = next((k, r) for k, r in items(disk.of, "urls") if _stored(r))
    disk.of["urls"].put(key, encode(msgspec.structs.replace(decode_url(raw), stored=False)))


def forgotten(disk: Disk) -> None:
    key, _ = _of_state(disk, State.DONE)
    disk.of["urls"].delete(key)


def content_of_nobody(disk: Disk) -> None:
    disk.of["exact"].put(b"0123456789abcdef", msgspec.msgpack.encode(["http://nobody.test/", 1.0]))
    disk.of["near"].put(bytes(17), b"\xc1")


def robots_unreadable(disk: Disk) -> None:
    key, _ = next(items(disk.of, "robots"))
    disk.of["robots"].put(key, b"\xc1")


DAMAGE: list[tuple[Damaging, set[str]]] = [
    (flip_in_response, {"record-damaged", "row-astray", "bytes-lost"}),
    (flip_in_metadata, {"record-damaged"}),
    (zeros_over_several, {"record-damaged", "row-astray", "bytes-lost"}),
    (truncate, {"torn-tail", "row-astray", "bytes-lost"}),
    (garbage_at_the_end, {"torn-tail"}),
    (another_body, {"digest-wrong", "row-astray"}),
    (another_digest, {"digest-wrong", "row-astray"}),
    (another_length, {"length-wrong", "row-astray"}),
    (another_id, {"record-id", "row-astray"}),
    (no_warc, {"part-orphaned", "bytes-lost"}),
    (no_beginning, {"record-damaged"}),
    (foreign_warc, {"torn-tail"}),
    (no_part, {"row-missing"}),
    (part_twice, {"row-twice"}),
    (flip_in_part, {"part-damaged", "row-missing"}),
    (part_cut, {"part-damaged", "row-missing"}),
    (row_of_another, {"row-differs"}),
    (row_of_nothing, {"row-astray", "row-missing"}),
    (column_gone, {"part-damaged", "row-missing"}),
    (part_of_nothing, {"part-orphaned"}),
    (half_a_part, {"left-over"}),
    (half_a_table, {"left-over"}),
    (_on_disk(books), {"books-wrong"}),
    (_on_disk(books_gone), {"books-wrong"}),
    (_on_disk(queue_entry_gone), {"url-lost", "books-wrong"}),
    (_on_disk(queue_entry_unreadable), {"queue-unreadable", "url-lost", "books-wrong"}),
    (_on_disk(queue_entry_of_a_finished_url), {"queue-stray"}),
    (_on_disk(pointer_gone), {"queue-stray", "books-wrong"}),
    (_on_disk(queued_but_not_in_the_queue), {"queue-missing"}),
    (_on_disk(record_unreadable), {"url-unreadable", "capture-unknown", "content-exact", "books-wrong"}),
    (_on_disk(waiting_entry_gone), {"waiting-missing"}),
    (_on_disk(waiting_entry_of_another_time), {"waiting-stray"}),
    (_on_disk(failure_gone), {"failure-missing"}),
    (_on_disk(failure_of_a_finished_url), {"failure-stray"}),
    (_on_disk(host_gone), {"host-missing", "books-wrong"}),
    (_on_disk(host_out_of_play), {"host-forgotten"}),
    (_on_disk(host_parked_past_its_queue), {"host-forgotten", "books-wrong"}),
    (_on_disk(parked_twice), {"parked-stray", "books-wrong"}),
    (_on_disk(never_sealed), {"unsealed"}),
    (_on_disk(place_of_another), {"bytes-lost"}),
    (_on_disk(not_stored_after_all), {"stored-wrong", "books-wrong"}),
    (_on_disk(forgotten), {"capture-unknown", "content-exact", "due-stray", "books-wrong"}),
    (_on_disk(content_of_nobody), {"content-exact", "content-near"}),
    (_on_disk(robots_unreadable), {"robots-unreadable"}),
]


def _name(value: object) -> str:
    closure = getattr(value, "__closure__", None)
    named = closure[0].cell_contents if closure else value
    return str(getattr(named, "__name__", ""))


@pytest.mark.parametrize(("damaging", "kinds"), DAMAGE, ids=_name)
def test_damage_is_found_named_and_cured(folder: Path, damaging: Damaging, kinds: set[str]) -> None:
    damaging(folder)
    verdict = verify(folder)
    assert set(verdict.counts) == kinds, verdict.problems
    assert all(problem.sentence and problem.where and problem.repair for problem in verdict.problems)
    done = repair(folder)
    assert done.done
    assert done.verdict.clean, (done.done, done.verdict.problems)


def test_everything_at_once_is_cured_and_a_second_repair_has_nothing_to_do(folder: Path) -> None:
    clash = {
        "waiting_entry_gone",
        "host_gone",
        "no_warc",
        "part_cut",
        "no_part",
        "column_gone",
        "row_of_another",
        "row_of_nothing",
        "books_gone",
    }  # nothing would be left to damage
    for damaging, _ in DAMAGE:
        if _name(damaging) not in clash:
            damaging(folder)
    assert len(verify(folder).counts) > 15
    done = repair(folder)
    assert done.verdict.clean, (done.done, done.verdict.problems)
    again = repair(folder)
    assert (again.done, again.verdict.clean) == ((), True)


@pytest.mark.parametrize(
    "damaging",
    [
        flip_in_response,
        zeros_over_several,
        truncate,
        no_warc,
        no_part,
        another_body,
        _on_disk(queue_entry_gone),
        _on_disk(record_unreadable),
        _on_disk(host_gone),
        _on_disk(host_parked_past_its_queue),
        _on_disk(forgotten),
    ],
    ids=_name,
)
def test_what_was_lost_is_fetched_again_and_the_crawl_ends_whole(
    web: tuple[Web, Running], folder: Path, damaging: Damaging
) -> None:
    plan, running = web
    damaging(folder)
    assert repair(folder).verdict.clean
    asyncio.run(_try_again_what_failed(folder, running))
    done = crawl(folder, plan, running)
    assert done.report.ending == "finished"
    assert audit.storage_problems(set(stored_in(folder)), plan.reachable(plan.seeds()), plan) == []
    verdict = verify(folder)
    assert verdict.clean, verdict.problems
    assert {row["url"] for row in rows_of(folder)} >= set(stored_in(folder))


def test_what_is_set_aside_is_never_thrown_away(folder: Path) -> None:
    path = warc(folder)
    before = path.read_bytes()
    flip_in_response(folder)
    garbage_at_the_end(folder)
    hurt = path.read_bytes()
    repair(folder)
    after = path.read_bytes()
    kept = {file.name: file.read_bytes() for file in (folder / "damaged").iterdir()}
    for name, data in kept.items():
        offset = int(name.removeprefix(path.name + "-").removesuffix(".bytes"))
        assert hurt[offset : offset + len(data)] == data
    changed = [at for at, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]
    [(offset, length)] = [(int(name.rpartition("-")[2].split(".")[0]), len(data)) for name, data in kept.items() if int(name.rpartition("-")[2].split(".")[0]) < len(before)]  # fmt: skip
    assert changed
    assert all(offset <= at < offset + length for at in changed), "no other byte was touched"


def test_a_crash_after_repair_of_the_bytes_loses_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cut off between any two of its steps, a repair is just run again."""
    zeros_over_several(folder)
    no_part(folder)
    from gossamer.crawl import repair as module

    for step in ("rebuild", "mend", "recount"):
        with monkeypatch.context() as patch:

            def cut_off(*_: object, **__: object) -> None:
                raise KeyboardInterrupt

            patch.setattr(module, step, cut_off)
            with pytest.raises(KeyboardInterrupt):
                repair(folder)
        assert not verify(folder).clean
    assert repair(folder).verdict.clean


def found_in(folder: Path) -> set[str]:
    """What is wrong with WARC files and rows; the frontier is left out, which saves most of the time."""
    found = Examined()
    examine(folder, None, found)
    return set(found.counts)


def test_any_byte_that_changes_in_a_warc_file_is_found_or_harmless(folder: Path) -> None:
    """Harmless is what no reader uses: the text flag, the time, the level and the system in a gzip header (bytes 3 to 9), and the bits
    that fill up the last byte of the compressed data. Nothing that is read differs."""
    path = warc(folder)
    sound = path.read_bytes()
    before = list(records(path))
    dice = random.Random(20)
    members = [(record.offset, record.length) for record in before]
    unused = {offset + at for offset, length in members for at in (3, 4, 5, 6, 7, 8, 9, length - 9)}
    places = [dice.randrange(len(sound)) for _ in range(60)]
    places += [
        offset + at for offset, length in dice.sample(members, 4) for at in (0, 1, 2, 3, 6, length - 9, length - 2)
    ]
    harmless = 0
    for place in places:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << dice.randrange(8)
        path.write_bytes(damaged)
        if not found_in(folder):
            assert place in unused, f"byte {place} is neither found nor known to be harmless"
            assert list(records(path)) == before
            harmless += 1
    assert harmless >= 4


def test_any_byte_that_changes_in_a_part_is_found(folder: Path) -> None:
    [part, *_] = parts(folder)
    sound = part.read_bytes()
    dice = random.Random(21)
    places = [dice.randrange(len(sound)) for _ in range(50)] + [
        len(sound) - 1 - dice.randrange(1_000) for _ in range(30)
    ]
    for place in places:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << dice.randrange(8)
        part.write_bytes(damaged)
        assert "part-damaged" in found_in(folder), f"byte {place}"


def test_a_crawl_that_runs_is_left_alone(folder: Path, web: tuple[Web, Running]) -> None:
    import subprocess
    import sys

    script = (
        "import sys, time\nfrom pathlib import Path\nfrom gossamer.frontier.disk import Disk\n"
        f"disk = Disk(Path({str(folder / 'frontier')!r}))\nprint('open', flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "open\n"
        for verb in (verify, repair):
            with pytest.raises(GossamerError, match=f"process {other.pid}"):
                verb(folder)
        other.communicate()


def test_a_frontier_that_cannot_be_read_is_said_and_the_rest_is_looked_at(folder: Path) -> None:
    for file in (folder / "frontier").glob("MANIFEST*"):
        file.write_bytes(b"this is no manifest")
    no_part(folder)
    verdict = verify(folder)
    assert set(verdict.counts) == {"frontier-unreadable", "row-missing"}
    after = repair(folder)
    assert set(after.verdict.counts) == {"frontier-unreadable"}, "rows need no frontier"
