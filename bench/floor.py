"""What the machine allows: the same pages through the same libraries, and nothing else.

One process, a list of URLs known beforehand, 64 transfers at a time through libcurl's multi interface; each body goes through
SHA-256, lexbor's tree builder and isal's gzip into a file. No frontier, no links, no text, no fingerprints, no politeness,
no durability: a crawler's share of this is how much of its CPU time goes into what cannot be avoided.

    python -m bench.floor URL_OF_SITE FILE_OF_PATHS FILE_TO_WRITE
"""

import hashlib
import io
import sys
from pathlib import Path
from urllib.parse import urljoin

import pycurl
from isal import igzip
from selectolax.lexbor import LexborHTMLParser

__all__ = ["main"]

CONCURRENT = 64
GZIP_LEVEL = 2


def _handle(agent: str) -> pycurl.Curl:
    handle = pycurl.Curl()
    handle.setopt(pycurl.USERAGENT, agent)
    handle.setopt(pycurl.NOSIGNAL, 1)
    return handle


def _give(handle: pycurl.Curl, url: str) -> None:
    body = io.BytesIO()
    handle.body = body
    handle.setopt(pycurl.URL, url)
    handle.setopt(pycurl.WRITEDATA, body)


def main(site: str, paths: Path, out: Path) -> int:
    """Fetch and digest every page; how many there were."""
    waiting = [urljoin(site, path) for path in reversed(paths.read_text().split("\n"))]
    multi = pycurl.CurlMulti()
    multi.setopt(pycurl.M_MAX_HOST_CONNECTIONS, CONCURRENT)
    handles = [_handle("floor/1") for _ in range(min(CONCURRENT, len(waiting)))]
    for handle in handles:
        _give(handle, waiting.pop())
        multi.add_handle(handle)
    pages, running = 0, len(handles)
    with out.open("wb") as sink:
        while running:
            multi.select(1.0)
            _, running = multi.perform()
            while True:
                left, finished, failed = multi.info_read()
                if failed:
                    raise OSError(failed[0][2])
                for handle in finished:
                    content = handle.body.getvalue()
                    hashlib.sha256(content).digest()
                    LexborHTMLParser(content)
                    sink.write(igzip.compress(content, GZIP_LEVEL))
                    pages += handle.getinfo(pycurl.RESPONSE_CODE) == 200
                    multi.remove_handle(handle)
                    if waiting:
                        _give(handle, waiting.pop())
                        multi.add_handle(handle)
                        running += 1
                if not left:
                    break
    return pages


if __name__ == "__main__":
    print(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])))
