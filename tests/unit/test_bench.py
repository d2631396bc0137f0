"""The crawl benchmark's own parts: a figure is worth what the harness that makes it is worth."""

import sys
import time
from pathlib import Path

import pytest
from bench.bench_crawl import Figures, Round, table
from bench.peers import FLOOR, PEERS, SCRAPY, Peer
from bench.peers.measure import Used, measured
from bench.peers.profile import part_of, read_samples, shares
from bench.sites import Site, configuration, reachable

SPIN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def site(root: Path, pages: dict[str, str]) -> Site:
    for name, content in pages.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    return Site("test", "test-doc", root)


def test_reachable_pages_are_those_that_links_lead_to(tmp_path: Path) -> None:
    pages = {
        "index.html": '<a href="a.html#x">a</a><a href="a.html#y">a</a><a href="sub/b.html">b</a><a href="gone.html">-</a>',
        "a.html": '<a href="https://elsewhere.example/c.html">c</a><a href="notes.txt">t</a><a href="with%20space.html">s</a>',
        "sub/b.html": '<a href="../index.html">up</a><map><area href="d.html"></map>',
        "sub/d.html": "<p>the end",
        "with space.html": "<p>a name that is escaped",
        "c.html": "<p>nothing leads here",
        "notes.txt": '<a href="c.html">not HTML</a>',
    }
    assert reachable(site(tmp_path, pages)) == [
        "/index.html", "/a.html", "/sub/b.html", "/with space.html", "/sub/d.html",
    ]  # fmt: skip


def test_nginx_listens_on_loopback_alone_and_writes_into_its_folder_alone(tmp_path: Path) -> None:
    text = configuration(tmp_path, [(Site("a", "a-doc", Path("/srv/a")), 4001)], "someone")
    listens = [line.strip() for line in text.splitlines() if "listen " in line]
    assert listens == ["server { listen 127.0.0.1:4001 backlog=1024; root /srv/a; index index.html; }"]
    written = [
        line.split()[1] for line in text.splitlines() if "_temp_path" in line or line.startswith(("pid", "error"))
    ]
    assert len(written) == 7
    assert all(path.startswith(str(tmp_path)) for path in written)
    assert "user someone" not in text  # only root may change user; nginx warns about it otherwise


def test_cpu_time_of_a_command_is_that_of_its_whole_tree(tmp_path: Path) -> None:
    child = SPIN.format(0.15)
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])\n" + SPIN.format(0.1)
    used = measured([sys.executable, "-c", parent], tmp_path)
    assert used.code == 0
    assert used.cpu >= 0.25


def test_cpu_time_of_orphans_is_counted_too(tmp_path: Path) -> None:
    parent = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {SPIN.format(0.3)!r}])\n"
    used = measured([sys.executable, "-c", parent], tmp_path)
    assert used.code == 0
    assert used.cpu >= 0.3


def test_a_command_past_its_time_is_killed_with_its_children(tmp_path: Path) -> None:
    child = "import time; time.sleep(60)"
    parent = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {child!r}])"
    start = time.monotonic()
    used = measured([sys.executable, "-c", parent], tmp_path, timeout=0.5)
    assert used.code < 0
    assert time.monotonic() - start < 10  # not the 60 s of the child


def test_figures_are_the_median_with_its_spread() -> None:
    rounds = [Round(100, Used(0, cpu, 9.0)) for cpu in (1.0, 4.0, 2.0)]
    figures = Figures.of(rounds)
    assert (figures.rate, figures.least, figures.most, figures.cpu, figures.pages) == (50.0, 25.0, 100.0, 2.0, 100)


def test_a_crawler_that_used_nothing_has_no_rate() -> None:
    assert Round(0, Used(1, 0.0, 0.0)).rate == 0.0


def test_the_table_tells_ratios_and_names_who_missed_pages() -> None:
    figures = {
        SCRAPY.name: Figures.of([Round(100, Used(0, 1.0, 1.0))]),
        FLOOR.name: Figures.of([Round(100, Used(0, 0.05, 1.0))]),
        "gossamer": Figures.of([Round(90, Used(0, 0.1, 1.0))]),
    }
    lines = {line.split()[0]: line for line in table(figures, expected=100)[1:]}
    assert lines["gossamer"].split()[-6:] == ["9.00", "45%", "INCOMPLETE:", "90", "of", "100"]
    assert lines["Scrapy"].split()[-2:] == ["1.00", "5%"]
    assert "INCOMPLETE" not in lines["Scrapy"]


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_every_crawler_is_told_the_site_and_writes_into_its_folder(peer: Peer, tmp_path: Path) -> None:
    command = peer.command("http://127.0.0.1:4001/index.html", tmp_path)
    assert "http://127.0.0.1:4001/index.html" in command
    assert any(str(tmp_path) in word for word in command)


def test_samples_are_told_apart_by_process_and_by_start_up() -> None:
    samples = read_samples(
        [
            'process 1:"gossamer";<module> (x.py:1);_find_and_load (<frozen importlib._bootstrap>:1);load (y.py:1) 3',
            'process 1:"gossamer";process 2:"gossamer";visit (w.py:1);parse (p.py:1) 5',
            'process 1:"gossamer";visit (w.py:1) 2',
            "visit (w.py:1) 1",
        ]
    )
    assert [part_of(sample) for sample in samples] == ["imports", "workers", "parent", "parent"]
    assert shares(samples, own=True) == {"load (y.py:1)": 3, "parse (p.py:1)": 5, "visit (w.py:1)": 3}
    assert shares(samples, own=False)["visit (w.py:1)"] == 8
