"""Hostile hosts and a healthy web in one crawl: run, measured, and asked afterwards what became of each."""

import atexit
import ssl
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any

import msgspec

from gossamer.frontier import UrlView
from gossamer.sim.web import start_in_process
from tests.crawl.harness import explained, stored_in
from tests.faults.attacks import Attack, healthy_web
from tests.faults.crawler import Order, Outcome
from tests.faults.front import fronting
from tests.loopback import certificate

__all__ = ["SETTINGS", "Figures", "Siege", "besiege"]

SETTINGS: dict[str, Any] = {
    "scope": "any",
    "workers": 2,
    "delay": 0.1,
    "patience": 0.0002,
    "max_wait": 60,
    "politeness": {
        "answer_multiple": 0,
        "stretch_cap": 0.2,
        "backoff": 1,
        "backoff_cap": 1,
        "failure_backoff": 0.05,
        "failure_cap": 0.1,
    },
    "fetch": {"connect_timeout": 3, "first_byte_timeout": 3, "total_timeout": 10, "low_speed_seconds": 2},
}
"""Waits are short, so that an attack is over soon; every bound of memory is the one that users have."""


class Figures(msgspec.Struct, frozen=True):
    """What was measured of one crawl."""

    parent: int
    """Peak resident bytes of the parent process."""
    worker: int
    """Of the largest worker."""
    healthy: float
    """Seconds from the start until the last page of the healthy web was answered."""
    whole: float
    """Seconds until the crawl was over."""


class Siege(msgspec.Struct, frozen=True):
    """A crawl of the healthy web, with some attacks or none."""

    folder: Path
    outcome: Outcome
    figures: Figures
    stored: frozenset[str]
    """Pages of the healthy web in the archive."""
    views: dict[str, UrlView | None]
    asked: dict[str, int]
    """Requests to each hostile host."""


def besiege(folder: Path, attacks: Sequence[Attack], seconds: float = 200.0) -> Siege:
    """Crawl the healthy web and these hosts together, each attack from its own seeds."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = healthy_web()
    for make in (make for attack in attacks for make in attack.makes):
        make()
    plays = {host: play for attack in attacks for host, play in attack.plays.items()}
    secure = {host: _context(host) for attack in attacks for host in attack.secure}
    with (
        start_in_process(plan, log=folder / "served.jsonl", warm=True) as running,
        fronting(plays, running.port, secure) as front,
    ):
        order = Order(
            str(folder / "crawl"),
            _settings(attacks, f"127.0.0.1:{front.port}"),
            [*plan.seeds(every_host=True), *(seed for attack in attacks for seed in attack.starts)],
        )
        (folder / "order.json").write_bytes(msgspec.json.encode(order))
        outcome = _crawl(folder / "order.json", seconds)
        served = running.served()
        asked = dict(front.asked)
    last = max(each.wall + each.end - each.start for each in served)
    stored = stored_in(folder / "crawl")
    assert len(stored) == len(set(stored)), "no page is stored twice"
    figures = Figures(outcome.parent, max(outcome.workers), last - outcome.began, outcome.ended - outcome.began)
    wanted = [url for attack in attacks for url in attack.fates]
    healthy = plan.reachable(plan.seeds(every_host=True), "any").stored
    views = explained(folder / "crawl", wanted)
    return Siege(folder / "crawl", outcome, figures, healthy & set(stored), views, asked)


def _settings(attacks: Sequence[Attack], connect_to: str) -> dict[str, Any]:
    fetch = SETTINGS["fetch"] | {"connect_to": connect_to, "ca_file": str(_authorities())}
    settings = SETTINGS | {"fetch": fetch}
    for attack in attacks:
        settings |= attack.settings
    return settings


def _crawl(order: Path, seconds: float) -> Outcome:
    command = [sys.executable, "-m", "tests.faults.crawler", str(order)]
    log = order.with_suffix(".log")
    with log.open("w") as said:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=said, timeout=seconds, check=False)
    assert done.returncode == 0, log.read_text()[-4000:]
    return msgspec.json.decode(done.stdout.splitlines()[-1], type=Outcome)


# --- certificates with a fault each -----------------------------------------------------------------------------------


def _folder() -> Path:
    folder = Path(mkdtemp(prefix="gossamer-hostile-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    return folder


@cache
def _certificate(host: str) -> Path:
    if host == "tls-wrong-name.test":
        return certificate("another-name.test")
    if host != "tls-expired.test":
        return certificate(host)
    folder = _folder()
    both, request = folder / "both.pem", folder / "request.pem"
    key = folder / "key.pem"
    making: list[str | Path] = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    subprocess.run(
        [*making, "-keyout", key, "-out", request, "-subj", f"/CN={host}", "-addext", f"subjectAltName=DNS:{host}"],
        check=True, capture_output=True,
    )  # fmt: skip
    signing: list[str | Path] = [
        "openssl",
        "x509",
        "-req",
        "-in",
        request,
        "-signkey",
        key,
        "-days",
        "-1",
        "-copy_extensions",
        "copy",
    ]
    made = subprocess.run(signing, check=True, capture_output=True).stdout
    both.write_bytes(key.read_bytes() + made)
    return both


@cache
def _authorities() -> Path:
    """What the crawl trusts: the makers of the expired certificate and of the one for another name."""
    trusted = _folder() / "trusted.pem"
    trusted.write_bytes(
        b"".join(_certificate(host).read_bytes() for host in ("tls-expired.test", "tls-wrong-name.test"))
    )
    return trusted


def _context(host: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(host))
    return context
