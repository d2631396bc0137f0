"""Questions to the page table, asked with DuckDB, pandas and plain functions, also while it grows."""

from pathlib import Path

import msgspec
import pandas as pd
import pytest

from gossamer.store import Parts, Revisit, Store, StoreError, StoreSettings, batches, find, query, read
from tests.exchanges import NOON, capture, row_of, stored


def test_rows_come_back_with_their_types(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        page = capture(1)
        place = store.append(page)
        row = msgspec.structs.replace(
            row_of(page, place),
            links=("https://a.example/", "https://b.example/"),
            simhash=2**63 + 5,
            robots=("noindex",),
        )
        store.add_row(row)
    (found,) = query(tmp_path, "SELECT * FROM pages").to_pylist()
    assert found["url"] == page.url
    assert found["fetched_at"].isoformat() == "2026-01-01T12:00:01.250000+00:00"
    assert found["links"] == ["https://a.example/", "https://b.example/"]
    assert found["simhash"] == 2**63 + 5
    assert found["robots"] == ["noindex"]
    assert (found["warc_file"], found["warc_offset"], found["warc_length"]) == (place.file, place.offset, place.length)
    assert query(tmp_path, "SELECT unnest(links) AS link FROM pages").column("link").to_pylist() == list(row.links)


def test_pandas_opens_the_parts(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", StoreSettings(part_rows=4)) as store:
        stored(store, *(capture(n) for n in range(10)))
    frame = pd.read_parquet(tmp_path / "pages")
    assert sorted(frame["url"]) == sorted(capture(n).url for n in range(10))
    assert str(frame["fetched_at"].dtype) == "datetime64[ms, UTC]"
    assert (frame["status"] == 200).all()


def test_pages_that_are_found_by_url_come_newest_first(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        old, other, new = stored(store, capture(1), capture(2), capture(1, at=NOON + 500))
    assert find(tmp_path, capture(1).url) == [new, old]
    assert find(tmp_path, "https://site.example/'; DROP VIEW pages; --") == []
    assert read(tmp_path, find(tmp_path, capture(2).url)[0]) == capture(2)
    assert find(tmp_path, capture(2).url) == [other]


def test_latest_keeps_one_row_a_url(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, capture(1), capture(2), capture(1, at=NOON + 500, body=b"new"))
    rows = query(tmp_path, "SELECT url, text FROM latest ORDER BY url").to_pylist()
    assert [row["url"] for row in rows] == [capture(1).url, capture(2).url]
    assert rows[0]["text"] == "new"


def test_a_query_sees_complete_parts_of_a_crawl_that_runs(tmp_path: Path) -> None:
    with Store(tmp_path, "w0", StoreSettings(part_rows=5)) as store:
        assert query(tmp_path, "SELECT * FROM pages").num_rows == 0
        assert query(tmp_path, "SELECT url FROM latest").num_rows == 0
        stored(store, *(capture(n) for n in range(7)))
        (tmp_path / "pages" / "gossamer-0-w9-00000-0000.parquet.tmp").write_bytes(b"half a part")
        store.write_parts()
        assert query(tmp_path, "SELECT * FROM pages").num_rows == 5


def test_the_rows_of_a_copy_lead_to_its_original(tmp_path: Path) -> None:
    first = capture(1)
    with Store(tmp_path, "w0") as store:
        stored(store, first, capture(1, url="https://mirror.example/", duplicate=Revisit(first.url, first.at)))
    sql = """SELECT copy.url AS copy, first.url AS first FROM pages copy JOIN pages first ON copy.duplicate_of = first.url
             WHERE copy.duplicate_kind = 'exact' AND copy.digest = first.digest"""
    assert query(tmp_path, sql).to_pylist() == [{"copy": "https://mirror.example/", "first": first.url}]


def test_a_folder_of_any_name_can_be_queried(tmp_path: Path) -> None:
    folder = tmp_path / "it's [a] *crawl*?"
    with Store(folder, "w0") as store:
        stored(store, capture(1))
    assert query(folder, "SELECT url FROM pages").num_rows == 1


def test_a_result_can_be_read_in_batches(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, *(capture(n) for n in range(30)))
    reader = batches(tmp_path, "SELECT a.url FROM pages a, pages b, pages c WHERE a.depth = ?", [1])
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == 27_000
    assert len(sizes) > 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_text('/etc/hostname')",
        "COPY (SELECT 1) TO '/tmp/gossamer-out.csv'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
        "SELECT no_such_column FROM pages",
        "not sql",
    ],
)
def test_a_query_reaches_nothing_but_the_page_table(tmp_path: Path, sql: str) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, capture(1))
    with pytest.raises(StoreError, match="The query failed: "):
        query(tmp_path, sql)


def test_a_folder_without_a_crawl_says_so(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="There is no crawl in"):
        query(tmp_path, "SELECT 1")
    with pytest.raises(StoreError, match="There is no crawl in"):
        batches(tmp_path / "absent", "SELECT 1")


def test_a_part_that_is_broken_is_said(tmp_path: Path) -> None:
    with Store(tmp_path, "w0") as store:
        stored(store, capture(1))
    for part in (tmp_path / "pages").iterdir():
        part.write_bytes(b"PAR1 and nothing more")
    with pytest.raises(StoreError, match=r"The page table in .* cannot be read: .*gossamer verify"):
        query(tmp_path, "SELECT 1 FROM pages")


def test_steps_see_the_parts_of_one_state_and_find_rows_by_their_place(tmp_path: Path) -> None:
    folder = tmp_path / "it's [a] *crawl*?"
    with Store(folder, "w0", StoreSettings(part_rows=3)) as store:
        stored(store, *(capture(n) for n in range(6)))
        store.write_parts()
        with Parts(folder) as parts:
            stored(store, *(capture(n) for n in range(6, 9)))
            store.write_parts()
            parts.execute("CREATE TABLE chosen AS SELECT place, url FROM parts WHERE url <> ?", [capture(2).url])
            places = dict(parts.execute("SELECT place, url FROM chosen"))
            assert sorted(places.values()) == sorted(capture(n).url for n in (0, 1, 3, 4, 5))
            found = parts.rows(places, "url, text")
            assert {place: row["url"] for place, row in found.items()} == places
            assert {row["text"] for row in found.values()} == {capture(n).body.decode() for n in (0, 1, 3, 4, 5)}
            assert parts.rows([], "url") == {}
            with pytest.raises(StoreError, match="The query failed: "):
                parts.execute("SELECT * FROM read_text('/etc/hostname')")


def test_what_exceeds_the_memory_of_steps_goes_to_a_folder_that_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spill))
    with Store(tmp_path / "c", "w0") as store:
        stored(store, capture(1))
    with Parts(tmp_path / "c", memory=64 << 20) as parts:
        parts.execute(
            "CREATE TABLE large AS SELECT md5(n::VARCHAR) AS a, md5((n + 1)::VARCHAR) AS b FROM range(1500000) t(n)"
        )
        assert any(file.stat().st_size for file in spill.rglob("*") if file.is_file())
        assert parts.execute("SELECT count(*) FROM large") == [(1_500_000,)]
    assert list(spill.iterdir()) == []
