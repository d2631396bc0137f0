"""`gossamer crawl` as a process: exit codes, the report, resuming, and everything that can be wrong with a command."""

import os
import resource
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from gossamer.cli.crawl import folder_for, seeds_from
from gossamer.errors import ConfigError
from gossamer.settings import Settings
from gossamer.store import query
from tests.cli.conftest import Said
from tests.cli.runs import FAST, Site, gossamer

REPORTED = {"fetched", "stored", "duplicates", "failed", "queued", "urls_seen", "bytes", "seconds", "cpu_seconds"}


def stored(folder: Path) -> list[str]:
    return [row["url"] for row in query(folder, "SELECT url FROM pages WHERE status = 200 ORDER BY url").to_pylist()]


def test_a_finished_crawl_is_0_and_json_is_one_object_on_stdout(site: Site, tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = gossamer(*site.crawl(tmp_path / "c", "--json", "--quiet", "--workers", "2"))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert (done.returncode, done.stderr) == (0, "")
    report = msgspec.json.decode(done.stdout)
    assert report.keys() >= REPORTED
    assert (report["ending"], report["exit_code"], report["into"]) == ("finished", 0, str(tmp_path / "c"))
    assert report["stored"] == len(site.expected())
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    assert 0.7 * used < report["cpu_seconds"] < 1.05 * used  # of the parent and both workers, their imports included
    assert stored(tmp_path / "c") == sorted(site.expected())


def test_a_budget_is_3_and_the_same_command_with_more_goes_on(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c", "--max-pages", "10")) == 3
    assert "stopped by --max-pages: 10 pages are fetched" in run.out
    assert f"gossamer crawl --into {tmp_path}/c --max-pages 20" in run.out
    # Without a seed: the settings it was begun with, but for what is said.
    assert run("crawl", "--into", str(tmp_path / "c"), "--max-pages", "none", "--json") == 0
    assert stored(tmp_path / "c") == sorted(site.expected())


def test_other_settings_are_refused_and_forced(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c", "--max-pages", "5", "--quiet")) == 3
    assert run(*site.crawl(tmp_path / "c", "--max-depth", "1", "--exclude", "/tools/", "--quiet")) == 2
    assert run.out == ""
    assert "was begun with other settings:\n" in run.err
    assert "\n  max_depth: none → 1\n" in run.err
    assert "\n  exclude: none → /tools/\n" in run.err
    assert "--force" in run.err
    assert run(*site.crawl(tmp_path / "c", "--max-depth", "1", "--exclude", "/tools/", "--quiet", "--force")) == 0
    assert (run.out, run.err) == ("", "")


def test_a_finished_crawl_run_again_has_nothing_to_do(site: Site, crawled: Path, run: Said) -> None:
    before = len(site.running.served())
    assert run(*site.crawl(crawled, "--json")) == 0
    assert msgspec.json.decode(run.out)["stored"] == len(site.expected())
    assert len(site.running.served()) == before


def test_the_summary_says_what_there_is_where_and_what_next(site: Site, tmp_path: Path, run: Said) -> None:
    assert run(*site.crawl(tmp_path / "c")) == 0
    assert run.out.startswith("finished: everything within reach is fetched\n  60 pages of 4 hosts, ")
    assert f"{tmp_path}/c/warc holds every answer" in run.out
    assert f"gossamer pages {tmp_path}/c" in run.out


def test_settings_come_from_a_file_and_the_command_line_wins(site: Site, tmp_path: Path, run: Said) -> None:
    config = tmp_path / "crawl.toml"
    config.write_text('max-pages = 3\nscope = "host"\nworkers = 0\n[politeness]\ndelay = 0\nanswer_multiple = 0\n')
    command = ["crawl", site.seed, "--into", str(tmp_path / "c"), "--connect-to", site.running.connect_to, "--json"]
    assert run(*command, "--config", str(config), "--max-pages", "7") == 3
    assert msgspec.json.decode(run.out)["fetched"] == 7
    kept = msgspec.json.decode((tmp_path / "c" / "crawl.json").read_bytes())["settings"]
    assert (kept["scope"], kept["politeness"]["delay"], kept["max_pages"]) == ("host", 0, 7)


def test_seeds_from_a_file_from_standard_input_and_a_folder_of_their_own(site: Site, tmp_path: Path) -> None:
    seeds = site.web.seeds(every_host=True)
    (tmp_path / "seeds.txt").write_text(f"# hosts\n{seeds[1]}   # a comment\n\n")
    command = ["crawl", "@seeds.txt", "-", "--connect-to", site.running.connect_to, "--scope", "host", *FAST[2:]]
    done = gossamer(*command, "--max-depth", "0", "--log-every", "60", stdin=f"{seeds[2]}\n", cwd=tmp_path)
    host = seeds[1].split("/")[2]
    assert done.returncode == 0, done.stderr
    assert f"crawling into crawls/{host}\n" in done.stderr
    assert stored(tmp_path / "crawls" / host) == sorted(seeds[1:3])


def test_a_fragment_in_a_seed_is_no_comment(tmp_path: Path) -> None:
    (tmp_path / "s").write_text("http://a.example/#top\n#b\n  # c\nhttp://c.example/ # d\n")
    assert seeds_from([f"@{tmp_path}/s", "http://d.example/"]) == [
        "http://a.example/#top",
        "http://c.example/",
        "http://d.example/",
    ]


@pytest.mark.parametrize(
    ("seed", "name"),
    [("http://www.a.example:8080/x", "www.a.example"), ("http://[::1]:80/", "___1_"), ("http://../", "crawl")],
)
def test_the_folder_is_named_after_the_host_and_nothing_else(seed: str, name: str) -> None:
    assert folder_for([seed], Settings()) == Path("crawls") / name


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["http://"], 2, "the seed 'http://' is not a URL"),
        (["ftp://a.example/"], 2, "the seed 'ftp://a.example/' is not an http or https URL"),
        (["@missing.txt"], 2, "cannot read the seeds in missing.txt: no such file or directory"),
        (["@empty.txt"], 2, "there is no seed in @empty.txt"),
        ([], 2, "there is nothing to crawl: name a URL, or a folder to go on with (--into DIR)"),
        (["--into", "nothing"], 2, "there is no crawl in nothing to go on with: name a URL to begin one"),
        (["http://a.example/", "--scope", "world"], 2, "--scope cannot be 'world': it is one of host, domain, prefix, any"),
        (["http://a.example/", "--include", "("], 2, "--include '(' is not a regular expression: missing ), unterminated subpattern at position 0"),
        (["http://a.example/", "--config", "missing.toml"], 2, "cannot read missing.toml: no such file or directory"),
        (["http://a.example/", "--config", "broken.toml"], 2, "broken.toml is not TOML: Invalid value (at line 1, column 13)"),
        (["http://a.example/", "--into", "empty.txt"], 2, "empty.txt is a file; name a folder to crawl into"),
        (["http://a.example/", "--into", "other"], 2, "other is not the folder of a crawl, but has warc in it: name another one"),
        (["http://a.example/", "--into", "alien"], 1, "alien/crawl.json cannot be read: "),
        (["http://a.example/", "--into", "empty.txt/sub"], 1, "cannot write empty.txt/sub/crawl.json: a part of the path is a file"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence(
    arguments: list[str], code: int, sentence: str, tmp_path: Path, run: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("# nothing\n")
    (tmp_path / "broken.toml").write_text("max_pages = = 3")
    (tmp_path / "other" / "warc").mkdir(parents=True)
    (tmp_path / "alien").mkdir()
    (tmp_path / "alien" / "crawl.json").write_text('{"name": "something else"}')
    assert run("crawl", *arguments) == code
    assert run.out == ""
    assert run.err.startswith(f"gossamer: {sentence}")
    assert run.err.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path, run: Said) -> None:
    # Not even root writes into /proc.
    assert run("crawl", "http://a.example/", "--into", "/proc/gossamer") == 1
    assert run.err.startswith("gossamer: cannot write /proc/gossamer/crawl.json: ")


def test_a_metrics_port_in_use_is_said_before_anything_is_fetched(site: Site, tmp_path: Path, run: Said) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert run(*site.crawl(tmp_path / "c", "--metrics-port", str(port))) == 1
    assert run.err == f"gossamer: cannot serve metrics on port {port}: it is in use; name another, or 0 for any\n"


def test_a_quiet_crawl_does_not_pay_for_what_it_does_not_show(site: Site, tmp_path: Path) -> None:
    code = (
        "import sys; from gossamer.cli import main; code = main(sys.argv[1:])\n"
        "print(sorted({'rich', 'typer', 'click', 'duckdb', 'http.server'} & sys.modules.keys()), file=sys.stderr); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *site.crawl(tmp_path / "c", "--json", "--quiet", "--workers", "1")],
        capture_output=True, text=True, timeout=60, env=os.environ,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_there_is_no_seed_in_an_empty_list() -> None:
    with pytest.raises(ConfigError, match="there is no seed in @/dev/null"):
        seeds_from(["@/dev/null"])
