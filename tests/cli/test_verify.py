"""`gossamer verify` and `gossamer reparse` as a user sees them."""

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Said
from tests.cli.runs import Site, gossamer, started


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "c"
    shutil.copytree(crawled, copy)
    return copy


def test_a_whole_crawl_is_whole(crawled: Path, run: Said) -> None:
    assert run("verify", str(crawled)) == 0
    assert run.out.startswith(f"{crawled}: nothing is wrong. ")
    assert "60 rows" in run.out
    assert run("verify", str(crawled), "--quick") == 0
    assert "lengths and pointers only" in run.out
    assert run.err == ""


def test_so_is_one_with_corners(crawled_corners: Path, run: Said) -> None:
    assert run("verify", str(crawled_corners)) == 0, run.out


def test_damage_is_told_and_repaired(folder: Path, run: Said) -> None:
    next((folder / "pages").glob("*.parquet")).unlink()
    with open(next((folder / "warc").glob("*.warc.gz")), "ab") as file:
        file.write(b"torn" * 10)
    assert run("verify", str(folder)) == 1
    assert f"{folder}: 61 problems in " in run.out
    assert "      1  torn-tail: " in run.out
    assert "     60  row-missing: " in run.out
    assert "and 57 more" in run.out
    assert "--repair makes the rows of that WARC file anew" in run.out
    assert run("verify", str(folder), "--repair") == 0
    assert "40 bytes were cut off the end of gossamer-" in run.out
    assert "60 rows of gossamer-" in run.out
    assert "nothing is wrong" in run.out
    assert run("verify", str(folder)) == 0


def test_json_has_every_kind_and_its_cure(folder: Path, run: Said) -> None:
    assert run("verify", str(folder), "--json") == 0
    assert json.loads(run.out)["clean"] is True
    next((folder / "pages").glob("*.parquet")).unlink()
    assert run("verify", str(folder), "--json") == 1
    found = json.loads(run.out)
    assert (found["clean"], found["counts"]) == (False, {"row-missing": 60})
    assert len(found["problems"]) == 20, "examples, not all of them"
    assert set(found["problems"][0]) == {"kind", "sentence", "where", "repair"}
    assert run("verify", str(folder), "--repair", "--json") == 0
    assert json.loads(run.out)["done"]


def test_a_running_crawl_is_named(site: Site, tmp_path: Path) -> None:
    into = tmp_path / "c"
    with started(*site.crawl(into, "--delay", "30", "--log-every", "0.1")) as crawl:
        try:
            assert crawl.stderr is not None
            crawl.stderr.readline()
            for command in ("verify", "reparse"):
                refused = gossamer(command, str(into))
                assert refused.returncode == 1
                assert f"is being crawled by process {crawl.pid}: stop it first" in refused.stderr
        finally:
            crawl.kill()
            crawl.communicate()


def test_what_cannot_be_is_refused(tmp_path: Path, folder: Path, run: Said) -> None:
    assert run("verify", str(tmp_path / "nothing")) == 1
    assert "is not the folder of a crawl" in run.err
    assert run("verify", str(folder), "--repair", "--quick") == 2
    assert run("reparse", str(folder), "--text", "some") == 2
    assert run("reparse", str(folder), "--page-seconds", "0") == 2
    assert run("reparse", str(folder), "--workers", "0") == 2


def test_reparse_says_what_it_made(folder: Path, run: Said) -> None:
    assert run("reparse", str(folder), "--text", "full") == 0
    assert run.out.startswith("60 rows made anew from 1 WARC file in ")
    assert run("verify", str(folder)) == 0
    assert run("reparse", str(folder), "--workers", "1", "--json") == 0
    made = json.loads(run.out)
    assert (made["rows"], made["failed"], made["text"]) == (60, 0, "full")
