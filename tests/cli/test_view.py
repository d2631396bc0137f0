"""The live view, the progress lines and the metrics: one sample, three ways to tell it."""

import http.client
import io
import os
import pty
import re
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pytest
from rich.console import Console

from gossamer.cli.limits import Limit, Limiting
from gossamer.cli.logs import FIELDS, entry_of, fields_of, progress_line
from gossamer.cli.metrics import METRICS, render
from gossamer.cli.sample import Sample
from gossamer.cli.view import View, frame
from gossamer.frontier import HostView, Stats
from gossamer.frontier.inspect import Standing
from gossamer.politeness import HostState
from gossamer.settings import Settings
from gossamer.worker import Counts
from tests.cli.runs import Site, started
from tests.cli.test_stop import lines

SAMPLE = Sample(
    seconds=83.0,
    stats=Stats(seen=9_000, queued=5_000, waiting=12, stored=2_800, done=2_900, failed=7, fetched=3_000, copies=100, size=20_000_000, hosts=60, leased=40, in_play=50),
    counts=Counts(pages=3_000, statuses={2: 2_900, 4: 90, 5: 3, 0: 7}, exact=60, near=40, cpu=12.5),
    hosts=Standing(ready=0, busy=12, waiting=38),
    slowest=(HostView("slow\x1b.example", HostState(answer=2.5), 9, 0, 1, 0, None, None),),
    pages_now=120.0,
    pages_mean=110.0,
    bytes_now=1_500_000.0,
    worker_cpu=0.4,
    workers=2,
    capacity=256,
    limit=Limit(Limiting.POLITENESS, "38 hosts in play are left alone for a moment"),
)  # fmt: skip


def shown(width: int, settings: Settings = Settings()) -> list[str]:  # noqa: B008 - frozen
    return [text.plain for _, text in frame(SAMPLE, "http://a.example/ → c", settings, [1.0, 2.0, 4.0], width)]


def test_a_frame_tells_all_that_matters() -> None:
    text = "\n".join(shown(100))
    for words in (
        "3,000  ·  120/s  ·  110/s on average", "20.0 MB  ·  1.5 MB/s", "2,900 2xx  ·  90 4xx  ·  3 5xx  ·  7 no answer",
        "2,800 stored  ·  100 copies  ·  7 failed", "5,000  ·  12 to be tried again",
        "50 in play  ·  12 busy  ·  0 ready  ·  38 waiting", "slow .example 2.50 s",
        "politeness: 38 hosts in play are left alone for a moment", "0:01:23",
    ):  # fmt: skip
        assert words in text


def test_a_budget_shows_what_is_left_of_it() -> None:
    text = "\n".join(shown(120, Settings(max_pages=6_000)))
    assert "50% of 6,000  ·  25 s left" in text


@pytest.mark.parametrize(("width", "height"), [(100, 40), (60, 12), (30, 5), (10, 2)])
def test_a_frame_fits_every_window(width: int, height: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("LINES", str(height))
    monkeypatch.setenv("TERM", "xterm-256color")
    out = Recorded()
    with View("http://a.example/ → c", Settings(), out) as view:
        view.show(SAMPLE)
        drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out.getvalue())
    rows = drawn.strip("\r\n").split("\n")
    assert len(rows) <= height - 1
    assert all(len(row.strip("\r")) <= width for row in rows)
    assert any("3,000" in row or width < 20 for row in rows), "the pages are the last to go"


class Recorded(io.StringIO):
    """A terminal that only remembers."""

    def isatty(self) -> bool:
        return True


def test_a_second_of_view_costs_less_than_a_hundredth_of_a_core() -> None:
    with open(os.devnull, "w") as nowhere:
        view = View("title", Settings(), nowhere)
        view._console = Console(file=nowhere, force_terminal=True, width=100, height=40)
        view._size = view._console.size
        view._live = view._begun()
        with view:
            view.show(SAMPLE)
            began = time.process_time()
            pauses = []
            for _ in range(40):
                view.show(SAMPLE)
                pauses.append(view.pause)
            each = (time.process_time() - began) / 40
    assert each / (sum(pauses) / 40) <= 0.011


def test_on_a_terminal_there_is_a_view_and_after_it_a_summary(site: Site, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "LINES": "30"}
    with subprocess.Popen(
        [sys.executable, "-m", "gossamer", *site.crawl(tmp_path / "c", "--delay", "0.02")],
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, env=environment,
    ) as process:  # fmt: skip
        os.close(theirs)
        drawn = b""
        try:
            while data := os.read(ours, 65_536):
                drawn += data
        except OSError:  # the other end is closed: Linux says EIO
            pass
        assert process.stdout is not None
        summary = process.stdout.read().decode()
        assert process.wait(30) == 0
    os.close(ours)
    text = drawn.decode()
    assert "limited by" in text
    assert "on average" in text
    assert text.count("\x1b[?25l") == text.count("\x1b[?25h") == 1, "the cursor is hidden once and shown again"
    assert summary.startswith("finished: ")


def test_a_progress_line_has_every_field_that_is_documented() -> None:
    assert fields_of(SAMPLE).keys() == FIELDS.keys()
    assert progress_line(SAMPLE) == (
        "3,000 pages (120/s, 1.5 MB/s), 5,000 queued, 7 failed, 50 hosts in play (38 waiting); "
        "politeness: 38 hosts in play are left alone for a moment"
    )


def test_what_a_worker_writes_becomes_an_entry() -> None:
    entry = entry_of("WARNING gossamer.store: the disk is slow")
    assert (entry.level, entry.logger, entry.message) == ("warning", "gossamer.store", "the disk is slow")
    assert entry_of("Segmentation fault").message == "Segmentation fault"


def test_the_metrics_are_in_the_text_format() -> None:
    text = render(SAMPLE)
    names = [metric.name for metric in METRICS]
    assert re.findall(r"^# TYPE (\S+) (?:counter|gauge)$", text, re.MULTILINE) == names
    assert re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE) == names
    for line in text.splitlines():
        assert line.startswith("#") or re.fullmatch(r'gossamer_[a-z_]+(\{[a-z]+="[a-z0-9-]+"\})? [0-9.e+-]+', line), (
            line
        )
    assert "\ngossamer_pages_total 3000\n" in f"\n{text}"
    assert '\ngossamer_answers_total{class="2xx"} 2900\n' in text
    assert '\ngossamer_limited{by="politeness"} 1\n' in text
    assert all(metric.name.endswith("_total") == (metric.kind == "counter") for metric in METRICS)


def asked(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def test_metrics_are_served_while_it_runs_and_every_log_line_is_json(site: Site, tmp_path: Path) -> None:
    more = ("--delay", "0.05", "--log-json", "--log-every", "0.1", "--metrics-port", "0", "--workers", "1", "-v")
    command = [*site.crawl(tmp_path / "c"), *more[:-1], "--verbose"]
    with started(*command) as process:
        said = lines(process)
        port = next(line["metrics_port"] for line in said if "metrics_port" in line)
        next(line for line in said if line.get("fetched", 0) >= 5)
        status, text = asked(port, "/metrics")
        assert status == 200
        values = dict(line.split(" ") for line in text.splitlines() if not line.startswith("#"))
        assert 5 <= int(values["gossamer_pages_total"]) <= 60
        assert int(values['gossamer_urls{state="queued"}']) > 0
        assert asked(port, "/elsewhere")[0] == 404
        rest = list(said)  # each of them JSON, or this raises
        assert process.wait(30) == 0
        assert process.stdout is not None
        assert process.stdout.read() == ""
    assert {"time", "level", "logger", "message"} <= rest[-1].keys()
    assert msgspec.json.encode(rest)
