"""`python -m gossamer.sim.web`: serve a synthetic web on loopback and say where."""

import argparse
import sys
from pathlib import Path

import msgspec

from gossamer.errors import ConfigError
from gossamer.sim.web.model import Settings
from gossamer.sim.web.plan import Web
from gossamer.sim.web.process import run_loop, run_server


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m gossamer.sim.web", description=main.__doc__ or __doc__)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--seed", type=int, help="which of the endlessly many webs")
    parser.add_argument("--hosts", type=int, help="number of plain hosts")
    parser.add_argument("--pages", type=int, help="pages of all plain hosts together")
    parser.add_argument("--corners", help="names separated by commas, or: all")
    parser.add_argument("--settings", help="all settings as one JSON object")
    parser.add_argument("--log", type=Path, help="write what was served to this file, one JSON object a line")
    parser.add_argument("--until-eof", action="store_true", help="end when standard input ends")
    parser.add_argument("--warm", action="store_true", help="make the plain pages before the first request")
    given = parser.parse_args(arguments)
    changes: dict[str, object] = {
        name: value for name in ("seed", "hosts", "pages") if (value := getattr(given, name)) is not None
    }
    if given.corners:
        changes["corners"] = given.corners if given.corners == "all" else frozenset(given.corners.split(","))
    try:
        settings = msgspec.json.decode(given.settings, type=Settings) if given.settings else Settings()
        web = Web(settings, **changes)
    except (msgspec.ValidationError, ConfigError) as error:
        parser.error(str(error))
    run_loop(run_server(web, given.host, given.port, given.log, until_eof=given.until_eof, warm=given.warm))
    return 0


if __name__ == "__main__":
    sys.exit(main())
