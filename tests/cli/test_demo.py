"""`gossamer demo`: the made-up web in the foreground, and crawled at once."""

import shlex
import signal
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Said
from tests.cli.runs import gossamer, started


def test_the_demo_serves_until_it_is_interrupted_and_says_how_to_crawl_it(tmp_path: Path, run: Said) -> None:
    with started("demo", "--hosts", "2", "--pages", "10") as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(3)]
        assert "2 hosts is on 127.0.0.1:" in said[0]
        command = shlex.split(said[2])
        assert command[:2] == ["gossamer", "crawl"]
        at = command.index("--into")
        assert command[at : at + 2] == ["--into", "crawls/demo"]
        assert run(*command[1:at], "--into", str(tmp_path / "c"), "--workers", "0", "--json") == 0
        assert msgspec.json.decode(run.out)["stored"] == 10
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_the_demo_crawls_itself_with_options_of_the_crawl(tmp_path: Path) -> None:
    done = gossamer(
        "demo", "--crawl", "--hosts", "2", "--pages", "12", "--workers", "0", "--json", "--quiet", cwd=tmp_path
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert msgspec.json.decode(done.stdout)["stored"] == 12
    assert (tmp_path / "crawls" / "demo" / "crawl.json").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--corners", "nonsense"], "nonsense"),
        (["--hosts", "0"], "hosts"),
        (["--max-pages", "3"], "there is no option --max-pages; options of gossamer crawl need --crawl"),
    ],
)
def test_what_cannot_be_served_is_a_usage_error(arguments: list[str], sentence: str, run: Said) -> None:
    assert run("demo", *arguments) == 2
    assert sentence in run.err
    assert run.err.count("\n") == 1
