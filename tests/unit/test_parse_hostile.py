"""Pages that crash, or would multiply, what reads them."""

import subprocess
import sys
from html.entities import html5

import pytest

from gossamer.parse import parse_page


@pytest.mark.parametrize("place", ["<p>%s", "<title>%s", "<a href=/x title='%s'>l</a>", "<textarea>%s"])
def test_references_shorter_than_what_they_stand_for(place: str) -> None:
    """In a process of its own: what this once did to the heap might show much later."""
    program = (
        "import sys\nfrom gossamer.parse import parse_page\n"
        f"body = ({place!r} % ('&nGt;' * 60_000 + '&nLt;' * 60_000)).encode()\n"
        "for _ in range(3): parse_page(body, 'http://e.test/', 'text/html')\n"
        "print(parse_page(b'<title>&nGt;&nLt;</title>', 'http://e.test/', 'text/html').title.encode('ascii', 'backslashreplace'))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, repr("≫⃒≪⃒".encode("ascii", "backslashreplace"))), done.stderr


def test_no_other_reference_is_shorter_than_what_it_stands_for() -> None:
    longer = {name for name, text in html5.items() if len(text.encode()) > len(name) + 1}
    assert longer == {"nGt;", "nLt;"}


def test_a_reference_whose_halves_are_joined_by_what_is_left_out() -> None:
    body = b"<title>t</title>" + b"<div>" * 20_000 + b"&nG<div>t;" * 20_000
    page = parse_page(body, "http://e.test/", "text/html")
    assert page.title == "t"


def test_a_long_base_is_not_repeated_in_every_link() -> None:
    base = b'<base href="http://e.test/%b/">' % (b"x" * 1_000_000)
    links = b"".join(b"<a href=l%d>l</a>" % n for n in range(5_000))
    heads = b"".join(b"<link rel=alternate type=application/rss+xml href=f%d>" % n for n in range(5_000))
    page = parse_page(base + heads + links + b"<a href=http://o.test/>o</a>", "http://e.test/", "text/html")
    assert sum(len(link.url) for link in page.links) < 5_000_000
    assert "http://o.test/" in {link.url for link in page.links}
    assert page.feeds == ()


def test_links_are_cut_when_they_are_too_long_together() -> None:
    base = b'<base href="http://e.test/%b/">' % (b"x" * 8_000)
    page = parse_page(base + b"".join(b"<a href=l%d>l</a>" % n for n in range(5_000)), "http://e.test/", "text/html")
    assert 3_900_000 < sum(len(link.url) for link in page.links) <= 4_000_000
    assert any("Links past number" in cut for cut in page.cuts)
