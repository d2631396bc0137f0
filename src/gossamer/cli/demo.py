"""`gossamer demo`: the synthetic web on this machine, in a process of its own, and a crawl of it if wanted.

The web ends when its standard input does: however this process ends, no server is left behind.
"""

import argparse
import contextlib
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gossamer.cli.commands import Help
from gossamer.errors import ConfigError, GossamerError

__all__ = ["parser", "run"]

CORNERS = (
    "slow", "throttle", "errors", "redirects", "robots", "sitemaps", "copies", "traps", "soft404", "charsets", "broken",
    "changing", "compressed", "bombs", "meta", "idn", "binary", "mire",
)  # fmt: skip
# Its hosts are ours: a pause that shows politeness at work without making anybody wait for it.
PACE = ("--scope", "any", "--delay", "0.02", "--host-connections", "4", "--set", "politeness.answer_multiple=0")


class _Said(msgspec.Struct, frozen=True):
    """What the server announces of itself."""

    port: int
    hosts: int
    seeds: list[str]


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        "gossamer demo",
        usage="gossamer demo [--hosts N] [--pages N] [--corners NAMES] [--port PORT] [--crawl [CRAWL OPTIONS]]",
        description="A made-up web on 127.0.0.1, always the same for the same numbers. It runs until Ctrl-C, and tells how to\n"
        "crawl it; with --crawl it is crawled at once, and options of gossamer crawl may follow.",
        epilog="examples:\n"
        "  gossamer demo --crawl\n"
        "  gossamer demo --crawl --hosts 200 --pages 20000 --workers 2\n"
        "  gossamer demo --corners robots,traps,throttle --crawl --max-pages 500 --into /tmp/corners\n\n"
        f"corners, each adding hosts with a difficulty of that name:\n  {', '.join(CORNERS)}; or: all",
        formatter_class=Help,
        allow_abbrev=False,
    )  # fmt: skip
    made.add_argument("--hosts", type=int, default=50, metavar="N", help="plain hosts [default: 50]")
    made.add_argument(
        "--pages", type=int, default=3_000, metavar="N", help="pages of all plain hosts together [default: 3000]"
    )
    made.add_argument("--corners", metavar="NAMES", help="what else there is, separated by commas, or: all")
    made.add_argument("--seed", type=int, metavar="N", help="another web of the same kind")
    made.add_argument("--port", type=int, default=0, metavar="PORT", help="where to listen [default: a free port]")
    made.add_argument("--log", type=Path, metavar="FILE", help="write what was served, one JSON object a line")
    made.add_argument("--crawl", action="store_true", help="crawl it, then end")
    made.set_defaults(hands_on=True)  # what it does not know is for the crawl
    return made  # fmt: skip


def run(given: argparse.Namespace) -> int:
    if given.rest and not given.crawl:
        raise ConfigError(f"there is no option {given.rest[0]}; options of gossamer crawl need --crawl")
    with _web(given) as said:
        into = Path("crawls") / "demo"
        command = ["crawl", said.seeds[0], "--connect-to", f"127.0.0.1:{said.port}", *PACE]
        if given.crawl:
            own = [] if "--into" in given.rest else ["--into", str(into)]
            from gossamer.cli.commands import run as run_command

            return run_command([*command, *own, *given.rest])
        hosts = f"{said.hosts:,} host{'' if said.hosts == 1 else 's'}"
        sys.stdout.write(
            f"A made-up web of {hosts} is on 127.0.0.1:{said.port}. Ctrl-C ends it.\n"
            f"In another terminal:\n  gossamer {shlex.join(command)} --into {into}\n"
        )
        sys.stdout.flush()
        return _wait()


def _wait() -> int:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            signal.pause()
    return 0


@contextlib.contextmanager
def _web(given: argparse.Namespace) -> Iterator[_Said]:
    command = [sys.executable, "-m", "gossamer.sim.web", "--until-eof"]
    for name in ("hosts", "pages", "corners", "seed", "port", "log"):
        value = getattr(given, name)
        if value is not None:
            command += [f"--{name}", str(value)]
    with tempfile.TemporaryFile() as words:
        # In a session of its own: Ctrl-C is for the crawl, which may want to finish pages that are under way.
        child = subprocess.Popen(  # noqa: S603 - our own module, started with our own interpreter
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words, start_new_session=True
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            line = child.stdout.readline()
            if not line:
                child.wait()
                words.seek(0)
                raise _not_started(words.read().decode("utf-8", "replace"))
            yield msgspec.json.decode(line, type=_Said)
        finally:
            child.stdin.close()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            child.stdout.close()


def _not_started(words: str) -> GossamerError:
    last = words.strip().splitlines()[-1] if words.strip() else "it said nothing"
    if "error: " in last:  # argparse: what was asked for is wrong
        return ConfigError(last.partition("error: ")[2])
    return GossamerError(f"the made-up web did not start: {last.partition('Error: ')[2] or last}")
