"""`gossamer recrawl`, `crawl --continuous`, and what `status` says of visits to known pages."""

import signal
from pathlib import Path

import msgspec

from gossamer.store import query
from tests.cli.conftest import Said
from tests.cli.runs import Site, started
from tests.cli.test_stop import lines


def test_recrawl_says_when_the_next_page_is_due_or_visits_all(site: Site, tmp_path: Path, run: Said) -> None:
    folder = tmp_path / "c"
    assert run(*site.crawl(folder, "--quiet")) == 0
    assert run("recrawl", str(folder)) == 0
    assert run.out.startswith("Nothing is due. The next page will be in ")
    assert run("status", str(folder)) == 0
    assert "to be visited again, the first in " in run.out

    assert run("recrawl", str(folder), "--older-than", "1d", "--json", "--quiet") == 0
    assert msgspec.json.decode(run.out)["revisits"] == 0
    assert run("recrawl", str(folder), "--all", "--json", "--quiet") == 0
    report = msgspec.json.decode(run.out)
    pages = len(site.expected())
    assert (report["ending"], report["exit_code"]) == ("finished", 0)
    assert report["revisits"] == report["changed"] + report["unchanged"] == pages
    assert report["unchanged"] == pages, "nothing on this web has changed"
    [row] = query(folder, "SELECT count(*) AS visits, count(DISTINCT url) AS pages FROM pages").to_pylist()
    assert (row["visits"], row["pages"]) == (2 * pages, pages)

    assert run("status", str(folder)) == 0
    assert f"{pages:,}  visits to known pages: {pages:,} unchanged" in run.out
    assert run("status", str(folder), "--json") == 0
    standing = msgspec.json.decode(run.out)
    assert (standing["again"]["revisits"], standing["again"]["overdue"]) == (pages, 0)
    assert standing["next_due"] > 1.7e9
    assert run("verify", str(folder)) == 0


def test_recrawl_refuses_what_makes_no_sense(site: Site, tmp_path: Path, run: Said) -> None:
    assert run("recrawl", str(tmp_path / "nothing")) == 1
    assert "is not the folder of a crawl" in run.err
    assert run(*site.crawl(tmp_path / "c", "--quiet", "--max-pages", "1")) == 3
    assert run("recrawl", str(tmp_path / "c"), "--older-than", "soon") == 2
    assert "is no time" in run.err
    assert run("recrawl", str(tmp_path / "c"), "--all", "--older-than", "1d") == 2


def test_a_continuous_crawl_ends_with_ctrl_c_and_its_settings_may_be_changed(
    site: Site, tmp_path: Path, run: Said
) -> None:
    folder = tmp_path / "c"
    often = (
        "--continuous",
        "--revisit-every",
        "1s",
        "--set",
        "recrawl.policy.floor=1",
        "--log-json",
        "--log-every",
        "0.1",
    )
    with started(*site.crawl(folder, *often, "--json")) as process:
        for line in lines(process):
            if line.get("fetched", 0) >= len(site.expected()):
                break
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        report = msgspec.json.decode(process.stdout.read())
        assert process.wait(30) == 130
    assert report["ending"] == "interrupted"
    assert report["next_due"] is not None
    assert run(*site.crawl(folder, "--quiet")) == 0, "whether it goes on for ever is no other crawl"
    assert run("recrawl", str(folder), "--all", "--quiet") == 0
