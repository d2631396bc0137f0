"""Writing and reading back: the store keeps what it was given, where it says, and nothing else."""

import gzip
import re
import threading
from pathlib import Path

import msgspec
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import GossamerError
from gossamer.store import (
    COLUMNS,
    SCHEMA,
    Capture,
    Location,
    Notes,
    PageRow,
    Revisit,
    Store,
    StoreError,
    StoreSettings,
    bare_row,
    original,
    query,
    read,
)
from tests.exchanges import HEAD, NOON, capture, html, read_back, row_of, stored, warcs

SMALL = StoreSettings(warc_bytes=8_192, part_rows=5)


def test_what_was_appended_is_read_back_from_its_location(tmp_path: Path) -> None:
    given_captures = [capture(n) for n in range(20)]
    with Store(tmp_path, "w0") as store:
        places = stored(store, *given_captures)
    assert [read(tmp_path, place) for place in places] == given_captures


def test_a_location_cuts_out_exactly_one_gzip_member(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        place = stored(store, capture(1), capture(2), capture(3))[1]
    data = (tmp_path / "warc" / place.file).read_bytes()[place.offset : place.offset + place.length]
    record = gzip.decompress(data)
    assert record.startswith(b"WARC/1.1\r\nWARC-Type: response\r\n")
    assert record.endswith(html(2) + b"\r\n\r\n")


def test_the_time_is_kept_to_the_millisecond(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        places = [store.append(capture(at=at)) for at in (0.0, 1.9996, 1767268800.1234, -5.0, 1e15)]
    assert [read(tmp_path, place).at for place in places] == [0.0, 2.0, 1767268800.123, 0.0, 253402300799.0]


def test_an_exact_copy_is_a_revisit_that_leads_to_its_original(tmp_path: Path) -> None:
    first = capture(1)
    copy = capture(1, url="https://mirror.example/", at=NOON + 9, duplicate=Revisit(first.url, first.at))
    with Store(tmp_path, "w0") as store:
        _, place = stored(store, first, copy)
    found = read(tmp_path, place)
    assert found.body == b""
    assert found.duplicate == copy.duplicate
    assert found.length == len(first.body), "the head tells the length of the body that is elsewhere"
    assert original(tmp_path, found) == first


def test_a_copy_of_something_that_is_not_here_has_no_original(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, capture(1, duplicate=Revisit("https://elsewhere.example/", NOON)))
        place = stored(store, capture(2, duplicate=Revisit("https://site.example/page/1", NOON)))[0]
    assert original(tmp_path, read(tmp_path, place)) is None


def test_a_page_that_has_not_changed_keeps_its_head_and_leads_to_the_page(tmp_path: Path) -> None:
    first = capture(1)
    unchanged = capture(
        1,
        at=NOON + 99,
        body=b"",
        response_head=b'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\n\r\n',
        payload_digest="",
        duplicate=Revisit(first.url, first.at, "server-not-modified"),
    )
    with Store(tmp_path, "w0") as store:
        place = stored(store, first, unchanged)[1]
    found = read(tmp_path, place)
    assert found == unchanged
    assert found.status == 304
    assert original(tmp_path, found) == first
    assert bare_row(found, place).duplicate_of is None


def test_a_body_that_is_not_stored_leaves_head_notes_and_digest(tmp_path: Path) -> None:
    near = capture(1, body_stored=False, notes=Notes(near_of="https://site.example/page/0", depth=3))
    with Store(tmp_path, "w0") as store:
        place = stored(store, near)[0]
    found = read(tmp_path, place)
    assert found.body == b""
    assert not found.body_stored
    assert found.notes == near.notes
    assert found.payload_digest == near.payload_digest
    assert found.length == len(near.body)
    row = bare_row(found, place)
    assert (row.duplicate_of, row.duplicate_kind, row.status) == ("https://site.example/page/0", "near", 200)
    assert original(tmp_path, found) is None


@given(
    url=st.text(max_size=40).map(lambda text: "https://site.example/" + text),
    head=st.binary(max_size=60).map(lambda raw: b"HTTP/1.1 200 OK\r\n" + raw) | st.binary(max_size=60),
    body=st.binary(max_size=200),
    notes=st.builds(
        Notes,
        via=st.text(max_size=20),
        depth=st.integers(0, 10**9 - 1),
        outcome=st.text(max_size=10),
        extra=st.dictionaries(st.text(max_size=8), st.text(max_size=20), max_size=3),
    ),
)
def test_nothing_a_server_sends_breaks_a_record(
    tmp_path_factory: pytest.TempPathFactory, url: str, head: bytes, body: bytes, notes: Notes
) -> None:
    folder = tmp_path_factory.mktemp("store")
    odd = capture(1, url=url, response_head=head, body=body, notes=notes)
    with Store(folder, "w0") as store:
        place = store.append(odd)
        after = store.append(capture(2))
    found = read(folder, place)
    assert found.body == body
    assert found.payload_digest == odd.payload_digest
    assert found.notes.depth == notes.depth
    assert read(folder, after) == capture(2)
    assert len(read_back(warcs(folder)[0])) == 2


def test_file_names_are_made_of_time_worker_and_count_alone(tmp_path: Path) -> None:
    with Store(tmp_path, "w7", SMALL, clock=lambda: NOON) as store:
        stored(store, *(capture(n, url=f"https://a.example/../../../etc/{n}") for n in range(40)))
    names = [path.name for path in warcs(tmp_path)]
    assert len(names) > 3
    assert names == [f"gossamer-20260101120000-w7-{n:05}.warc.gz" for n in range(len(names))]
    for path in (tmp_path / "pages").iterdir():
        assert re.fullmatch(r"gossamer-20260101120000-w7-\d{5}-\d{4}\.parquet", path.name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pages", "warc"]


@pytest.mark.parametrize("name", ["", "../w", "a-b", "w 0", "w\n", "é", "w" * 65])
def test_a_worker_name_that_could_be_a_path_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="letters, digits"):
        Store(tmp_path, name)


def test_a_location_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    for name in ("../secret", "/etc/passwd", "..", ".hidden"):
        with pytest.raises(StoreError, match="no file of a store"):
            read(tmp_path, Location(name, 0, 10))


def test_a_location_that_holds_no_answer_is_an_error_and_no_guess(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        place = stored(store, capture(1))[0]
    for offset in (0, 7, place.offset - 1, place.offset + 1, place.offset + place.length, 10**12):
        with pytest.raises(StoreError, match="no readable answer"):
            read(tmp_path, Location(place.file, offset, place.length))
    with pytest.raises(StoreError, match="no such file"):
        read(tmp_path, Location("gossamer-x.warc.gz", 0, 1))


def test_a_file_that_is_full_is_followed_by_another(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", SMALL) as store:
        places = stored(store, *(capture(n) for n in range(60)))
    sizes = [path.stat().st_size for path in warcs(tmp_path)]
    assert len(sizes) > 4
    assert all(8_192 <= size < 8_192 + 2_000 for size in sizes[:-1])
    assert [read(tmp_path, place) for place in places] == [capture(n) for n in range(60)]
    assert sum(len(read_back(path)) for path in warcs(tmp_path)) == 60


def test_two_stores_of_one_name_in_one_second_do_not_share_a_file(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", clock=lambda: NOON) as one, Store(tmp_path, "w0", clock=lambda: NOON) as two:
        stored(one, capture(1))
        stored(two, capture(2))
    assert [len(read_back(path)) for path in warcs(tmp_path)] == [1, 1]


def test_a_store_that_stored_nothing_leaves_no_file(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        assert store.sync().captures == 0
    assert warcs(tmp_path) == []
    assert list((tmp_path / "pages").iterdir()) == []


def test_a_closed_store_refuses_and_closing_twice_is_fine(tmp_path: Path) -> None:
    store = Store(tmp_path, "w0")
    stored(store, capture(1))
    store.close()
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.append(capture(2))


def test_sync_tells_how_far_it_went_and_can_run_beside_appends(tmp_path: Path) -> None:
    """The promise behind every commit: what was appended before the call is covered by its answer."""
    store = Store(tmp_path, "w0", StoreSettings(warc_bytes=30_000, part_rows=20))
    done = threading.Event()
    synced: list[int] = []

    def keep_syncing() -> None:
        while not done.is_set():
            synced.append(store.sync().captures)
            store.write_parts()

    thread = threading.Thread(target=keep_syncing)
    thread.start()
    try:
        places = [place for n in range(600) for place in stored(store, capture(n))]
    finally:
        done.set()
        thread.join()
    last = store.sync()
    assert last.captures == 600
    assert last.offset == warcs(tmp_path)[-1].stat().st_size
    assert synced == sorted(synced)
    store.close()
    assert [read(tmp_path, place).url for place in places] == [capture(n).url for n in range(600)]
    assert query(tmp_path, "SELECT count(*) AS n, count(DISTINCT url) AS u FROM pages").to_pylist() == [
        {"n": 600, "u": 600}
    ]


def test_rows_wait_for_their_part_and_are_all_written_on_closing(tmp_path: Path) -> None:
    now = NOON
    store = Store(tmp_path, "w0", StoreSettings(part_rows=10, part_seconds=60), clock=lambda: now)
    pages = tmp_path / "pages"
    stored(store, *(capture(n) for n in range(13)))
    assert store.write_parts() == 1
    assert [pq.read_metadata(path).num_rows for path in pages.iterdir()] == [10]
    now += 59
    assert store.write_parts() == 0
    now += 2
    assert store.write_parts() == 1, "a row that has waited a minute is written"
    stored(store, capture(13))
    store.close()
    assert sorted(pq.read_metadata(path).num_rows for path in pages.iterdir()) == [1, 3, 10]


def test_a_part_is_written_early_when_its_text_is_long(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", StoreSettings(part_rows=1_000, part_bytes=20_000)) as store:
        stored(store, *(capture(n, body=b"x" * 9_000) for n in range(4)))
        assert store.write_parts() == 1


def test_parts_do_not_pile_up_when_nobody_asks_for_them(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", StoreSettings(part_rows=2)) as store:
        stored(store, *(capture(n) for n in range(20)))
        assert len(list((tmp_path / "pages").iterdir())) >= 7


def test_a_row_must_belong_to_a_capture_of_this_store_and_come_once(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        place = store.append(capture(1))
        row = row_of(capture(1), place)
        store.add_row(row)
        for wrong in (row, msgspec.structs.replace(row, warc_offset=1), msgspec.structs.replace(row, warc_file="x")):
            with pytest.raises(ValueError, match="no capture waits"):
                store.add_row(wrong)
        rowless = store.append(capture(2), row_follows=False)
        with pytest.raises(ValueError, match="no capture waits"):
            store.add_row(row_of(capture(2), rowless))


def test_a_row_survives_what_its_columns_cannot_hold(tmp_path: Path) -> None:
    """One page with a lone surrogate or an absurd number must not cost a part its other rows."""
    with Store(tmp_path, "w0") as store:
        for n in range(3):
            place = store.append(capture(n))
            row = bare_row(capture(n), place)
            if n == 1:
                row = msgspec.structs.replace(
                    row, title="a\ud800b", status=99_999, simhash=2**64 - 1, links=("https://x/\udfff",), depth=2**40
                )
            store.add_row(row)
    rows = query(tmp_path, "SELECT title, status, simhash, links, depth FROM pages ORDER BY url").to_pylist()
    assert len(rows) == 3
    assert rows[1] == {
        "title": "a?b",
        "status": 65_535,
        "simhash": 2**64 - 1,
        "links": ["https://x/?"],
        "depth": 2**31 - 1,
    }


def test_every_column_is_described_and_typed() -> None:
    assert [column.name for column in COLUMNS] == list(PageRow.__struct_fields__) == SCHEMA.names
    for column in COLUMNS:
        assert column.description.endswith("."), column.name
        assert len(column.description) > 15, column.name


def test_every_setting_has_a_description() -> None:
    schema = msgspec.json.schema(StoreSettings)["$defs"]["StoreSettings"]["properties"]
    assert schema.keys() == set(StoreSettings.__struct_fields__)
    assert all(field["description"].endswith(".") for field in schema.values())


def test_the_bare_row_says_what_the_head_says() -> None:
    head = (
        b'HTTP/1.1 200 OK\r\nContent-Type: Text/HTML; charset=utf-8\r\nETag: "e"\r\nServer: nginx\r\n'
        b"Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\nX-Robots-Tag: noindex\r\n\r\n"
    )
    row = bare_row(capture(3, response_head=head, truncated="time"), Location("f.warc.gz", 5, 6))
    assert (row.status, row.media_type, row.etag, row.depth, row.via) == (
        200,
        "text/html",
        '"e"',
        1,
        "https://site.example/",
    )
    assert (row.host, row.domain, row.truncated) == ("site.example", "site.example", "time")
    assert dict(row.headers) == {"server": "nginx", "x-robots-tag": "noindex"}
    assert (row.warc_file, row.warc_offset, row.warc_length) == ("f.warc.gz", 5, 6)
    assert bare_row(capture(url="no url at all"), Location("f", 0, 0)).host == ""


def test_the_error_of_the_store_is_one_of_ours() -> None:
    assert issubclass(StoreError, GossamerError)


def test_the_warcinfo_names_the_software_and_cannot_be_forged(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", info={"software": "Gossamer/0.1", "operator": "A\r\nWARC-Type: response"}) as store:
        stored(store, capture(1))
    first = gzip.decompress(warcs(tmp_path)[0].read_bytes()).split(b"WARC/1.1")[1]
    assert b"WARC-Type: warcinfo\r\n" in first
    assert b"software: Gossamer/0.1\r\n" in first
    assert b"operator: A WARC-Type: response\r\n" in first


def test_a_capture_is_a_value() -> None:
    assert capture(1) == capture(1)
    with pytest.raises(AttributeError):
        capture(1).url = "x"  # type: ignore[misc]
    assert Capture("u", 0.0, b"", HEAD, b"").status == 200
