"""Two real sites on loopback: the manuals that Debian packages, served by nginx.

    postgresql-doc-15   small pages: about 1,170 of 14 KB, 21 links each; text and tables
    python3.11-doc      large pages: about 530 of 95 KB, 300 links each, most of them seen on the page before

`serve` starts one nginx with one worker for all sites, each on a free port of 127.0.0.1, with its files, its configuration
and its log in a temporary folder, and stops it. It runs outside the process tree of every crawler, so its CPU time is
nobody's. It sends files as they are: compressing on the fly would measure nginx.
"""

import ctypes
import getpass
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import msgspec
from selectolax.lexbor import LexborHTMLParser

__all__ = ["SITES", "MissingSite", "Site", "configuration", "one_page", "reachable", "serve"]

START_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1


class MissingSite(Exception):
    """Something the benchmark needs is not installed."""


class Site(msgspec.Struct, frozen=True):
    """A folder of HTML that a Debian package brings."""

    name: str
    package: str
    root: Path

    @property
    def entry(self) -> str:
        return "/index.html"


SITES = (
    Site("postgresql", "postgresql-doc-15", Path("/usr/share/doc/postgresql-doc-15/html")),
    Site("python", "python3.11-doc", Path("/usr/share/doc/python3.11/html")),
)


def one_page(folder: Path) -> Site:
    """The smallest site there is: what a crawl of it costs is what a crawler costs before and after its work."""
    folder.mkdir()
    (folder / "index.html").write_text(
        "<!doctype html><html lang=en><title>One</title><body><p>One page and no link.</p>"
    )
    folder.chmod(0o755)
    return Site("one page", "", folder)


def reachable(site: Site) -> list[str]:
    """Paths of the HTML pages that links lead to from the entry, in the order a breadth-first crawl meets them."""
    found = [site.entry]
    known = set(found)
    for path in found:
        for link in LexborHTMLParser((site.root / path[1:]).read_bytes()).css("a[href], area[href]"):
            target = urlsplit(urldefrag(urljoin(f"http://site{path}", link.attributes.get("href") or ""))[0])
            there = unquote(target.path)
            if target.netloc != "site" or there in known or not there.endswith(".html"):
                continue
            known.add(there)
            if (site.root / there[1:]).is_file():
                found.append(there)
    return found


def configuration(folder: Path, ports: Sequence[tuple[Site, int]], user: str) -> str:
    """An nginx.conf that writes nowhere but into `folder`."""
    scratch = "\n".join(
        f"    {kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    servers = "\n".join(
        f"    server {{ listen 127.0.0.1:{port} backlog=1024; root {site.root}; index index.html; }}"
        for site, port in ports
    )
    return f"""\
{f"user {user};" if user == "root" else ""}
worker_processes 1;
daemon off;
pid {folder / "nginx.pid"};
error_log {folder / "error.log"} warn;
events {{ worker_connections 1024; }}
http {{
    types {{ text/html html; text/css css; application/javascript js; image/svg+xml svg; image/png png; text/plain txt py; }}
    default_type application/octet-stream;
    access_log off;
    sendfile on;
    tcp_nopush on;
    keepalive_timeout 60;
    keepalive_requests 100000;
{scratch}
{servers}
}}
"""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serve(sites: Sequence[Site] = SITES) -> Iterator[dict[str, str]]:
    """The sites, served: the URL of each entry by the site's name."""
    nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
    missing = [site.package for site in sites if not (site.root / site.entry[1:]).is_file()]
    if nginx is None or missing:
        raise MissingSite("this needs the Debian packages " + " ".join(["nginx-light"] * (nginx is None) + missing))
    folder = Path(tempfile.mkdtemp(prefix="gossamer-nginx-"))
    ports = [(site, _free_port()) for site in sites]
    (folder / "nginx.conf").write_text(configuration(folder, ports, getpass.getuser()))
    command = [nginx, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    server = subprocess.Popen(command, preexec_fn=_end_with_parent)
    try:
        for _, port in ports:
            _await(port, server, folder)
        yield {site.name: f"http://127.0.0.1:{port}{site.entry}" for site, port in ports}
    finally:
        server.terminate()
        server.wait(START_SECONDS)
        shutil.rmtree(folder, ignore_errors=True)


def _end_with_parent() -> None:
    """Linux ends the server when the benchmark is killed and cannot do it itself."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def _await(port: int, server: "subprocess.Popen[bytes]", folder: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1.0).close()
        except OSError:
            if server.poll() is not None or time.monotonic() > end:
                raise MissingSite(f"nginx did not start: {(folder / 'error.log').read_text()}") from None
            time.sleep(0.02)
        else:
            return
