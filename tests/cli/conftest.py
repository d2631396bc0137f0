"""One small web and one finished crawl of it, for all tests that only look."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from gossamer.cli import main
from gossamer.sim.web import Web, start_in_process
from tests.cli.runs import Site, gossamer


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A web of four hosts and 60 pages."""
    web = Web(hosts=4, pages=60)
    with start_in_process(web, log=tmp_path_factory.mktemp("web") / "served.jsonl") as running:
        yield Site(web, running)


@pytest.fixture(scope="session")
def corners(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A web with compressed bodies, copies, redirects and robots rules."""
    web = Web(hosts=2, pages=10, corners={"compressed", "copies", "redirects", "robots"}, corner_pages=3)
    with start_in_process(web, log=tmp_path_factory.mktemp("web") / "served.jsonl") as running:
        yield Site(web, running)


@pytest.fixture(scope="session")
def crawled(site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl of `site`."""
    folder = tmp_path_factory.mktemp("crawled") / "c"
    done = gossamer(*site.crawl(folder, "--quiet"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return folder


@pytest.fixture(scope="session")
def crawled_corners(corners: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of `corners`, as far as it gets without waiting."""
    folder = tmp_path_factory.mktemp("crawled") / "c"
    quick = {
        "failure_backoff": 0.05,
        "failure_cap": 0.1,
        "stretch_cap": 0.1,
        "backoff": 1,
        "backoff_cap": 1,
        "crawl_delay_cap": 0,
    }
    paces = [f"--set=politeness.{name}={value}" for name, value in quick.items()]
    done = gossamer(
        *corners.crawl(
            folder, "--patience", "0.0005", "--max-wait", "0.3", "--host-connections", "4", "--quiet", *paces
        )
    )
    assert done.returncode in (0, 3), done.stderr
    return folder


class Said:
    """Run commands in this process; what they said and their exit code."""

    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture
        self.out = self.err = ""
        self.raw = b""

    def __call__(self, *arguments: str) -> int:
        self._capture.readouterr()
        code = main(list(arguments))
        self.raw, err = self._capture.readouterr()
        self.out, self.err = self.raw.decode("utf-8", "replace"), err.decode()
        return code


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Said:
    return Said(capfdbinary)
