"""Write docs/commands.md from the commands themselves: `make docs`. A test compares the two."""

import os
from pathlib import Path
from unittest import mock

from gossamer.cli.commands import COMMANDS, HELP, parser_of
from gossamer.cli.logs import FIELDS
from gossamer.cli.metrics import METRICS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"

INTRODUCTION = """# Commands

Made by `make docs` from the commands' own help, so the two say the same.

"""

PROGRESS = """## Progress and logs

On a terminal `gossamer crawl` draws a live view on standard error; elsewhere it writes a progress line there every five seconds
(`--log-every`). With `--log-json` every line is an object with `time` (Unix seconds), `level`, `logger` and `message`; that of a
progress line also has:

| field | meaning |
|---|---|
"""

METRICS_HEAD = """
## Metrics

`--metrics-port PORT` serves these at `http://127.0.0.1:PORT/metrics` in Prometheus' text format while the crawl runs. What is not
said to be of this run goes on where an earlier run in the same folder ended.

| metric | type | meaning |
|---|---|---|
"""

REPORT = """
## The report

`gossamer crawl --json` prints one object at the end, and the folder keeps it in `report.json`: why the crawl ended (`ending`,
`reason`, `exit_code`), where it is (`into`), the counts `fetched`, `stored`, `duplicates`, `failed`, `refused`, `trapped`,
`queued`, `waiting`, `urls_seen`, `hosts` and `bytes` (of all runs in the folder), and `seconds`, `cpu_seconds` (all processes),
`peak_memory` and `worker_deaths` of this run.
"""


def page() -> str:
    parts = [INTRODUCTION, f"```text\n{HELP}```\n\n"]
    with mock.patch.dict(os.environ, COLUMNS="100"):  # as wide as help ever is
        parts += [f"## gossamer {name}\n\n```text\n{parser_of(name).format_help()}```\n\n" for name in COMMANDS]
    parts += [PROGRESS, *(f"| `{name}` | {meaning} |\n" for name, meaning in FIELDS.items())]
    parts += [METRICS_HEAD, *(f"| `{metric.name}` | {metric.kind} | {metric.help} |\n" for metric in METRICS)]
    return "".join([*parts, REPORT])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
