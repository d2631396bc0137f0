"""parse: what a page costs over the bare tree, and how good the main text is, beside resiliparse and trafilatura.

Three kinds of pages: 181 real news pages (174 KB on average, mostly scripts), and two built ones that are mostly text and
links (14 KB with 40 links, 95 KB with 257), the sizes the crawl benchmarks use.
"""

import gzip
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from resiliparse.extract.html2text import extract_plain_text
from resiliparse.parse.html import HTMLTree
from selectolax.lexbor import LexborHTMLParser
from tests.conformance.suites import ROOT

from bench.harness import cpu_us, row, title
from gossamer.parse import DEFAULT, parse_page
from gossamer.parse.bounds import guard
from gossamer.parse.html import read_tree
from gossamer.url import LinkMemory

__all__ = ["run"]

SUITE = ROOT / "article-extraction-benchmark"
HTML = "text/html; charset=utf-8"
URL = "https://example.com/section/page.html"
WORDS = re.compile(r"\w+")
PROSE = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt"
SLOW_PEER_PAGES = 40


def built_page(links: int, size: int) -> bytes:
    """A page with half of its links in a menu and half in paragraphs, filled up with prose."""
    half = links // 2
    parts = ["<!doctype html><html lang=en><head><meta charset=utf-8><title>A page</title></head><body><nav><ul>"]
    parts += [f'<li><a href="/section/{n}/page-{n}.html">Link number {n}</a></li>' for n in range(half)]
    parts.append("</ul></nav><main><article>")
    parts += [f'<p>{PROSE} <a href="/article/{n}?id={n}">see {n}</a> {PROSE}.</p>' for n in range(links - half)]
    length = sum(map(len, parts))
    filling = f"<p>{PROSE}</p>"
    parts += [filling] * max(0, (size - length) // len(filling))
    return "".join([*parts, "</article></main></body></html>"]).encode()


def run() -> None:
    for links, size in ((40, 14_000), (257, 95_000)):
        body = built_page(links, size)
        title(f"parse: a page of {len(body) // 1000} KB with {links} links, CPU µs a page")
        _costs([body] * 20, [URL] * 20)
    if not SUITE.exists():
        print(f"\n  article-extraction-benchmark is not at {ROOT}: real pages and extraction are not measured")
        return
    truth = json.loads((SUITE / "ground-truth.json").read_text(encoding="utf-8"))
    pages = {name: gzip.decompress(_file(name).read_bytes()) for name in sorted(truth)}
    mean = sum(map(len, pages.values())) // len(pages) // 1000
    title(f"parse: {len(pages)} news pages of {mean} KB, CPU µs a page")
    _costs(list(pages.values()), [truth[name]["url"] for name in pages])
    _extraction(pages, truth)


def _file(name: str) -> Path:
    return SUITE / "html" / f"{name}.html.gz"


def _costs(bodies: list[bytes], urls: list[str]) -> None:
    memory = LinkMemory()
    trees = [LexborHTMLParser(body) for body in bodies]
    modes = ("none", "main", "full", "both")
    jobs: dict[str, Callable[[], object]] = {
        "lexbor alone": lambda: [LexborHTMLParser(body) for body in bodies],
        "guard alone": lambda: [guard(body) for body in bodies],
        "walk and links alone": lambda: [
            read_tree(tree, url, (), "gossamer", DEFAULT, None, "none") for tree, url in zip(trees, urls, strict=True)
        ],
        "walk and links alone, links seen before": lambda: [
            read_tree(tree, url, (), "gossamer", DEFAULT, memory, "none") for tree, url in zip(trees, urls, strict=True)
        ],
    }
    for mode in modes:
        jobs[f"parse_page, text={mode}"] = lambda mode=mode: [  # type: ignore[misc]
            parse_page(body, url, HTML, text=mode, memory=memory) for body, url in zip(bodies, urls, strict=True)
        ]
    spent = cpu_us(jobs, len(bodies))
    bare = spent["lexbor alone"]
    for name, value in spent.items():
        row(name, value, "µs", f"{value / bare:.2f} x lexbor")
    main = spent["parse_page, text=main"] - spent["parse_page, text=none"]
    row("main text (the difference)", main, "µs", f"{main / bare:.2f} x lexbor")


def _extraction(pages: dict[str, bytes], truth: dict[str, dict[str, str]]) -> None:
    title("parse: main text against what a person marked (token 4-gram), cost with the parse")
    peers: dict[str, tuple[Callable[[bytes], str], int]] = {
        "gossamer": (lambda body: parse_page(body, URL, HTML, text="main").text, len(pages)),
        "resiliparse, main_content": (_resiliparse, len(pages)),
    }
    try:
        from trafilatura import extract
    except ImportError:
        print("  trafilatura (or lxml_html_clean, which it needs) is not installed: not measured")
    else:
        peers[f"trafilatura ({SLOW_PEER_PAGES} pages)"] = (lambda body: extract(body) or "", SLOW_PEER_PAGES)
        peers[f"gossamer ({SLOW_PEER_PAGES} pages)"] = (peers["gossamer"][0], SLOW_PEER_PAGES)
    for name, (extractor, count) in peers.items():
        chosen = list(pages)[:count]
        found: dict[str, str] = {}

        def job(
            extractor: Callable[[bytes], str] = extractor, chosen: list[str] = chosen, found: dict[str, str] = found
        ) -> None:
            found.update({page: extractor(pages[page]) for page in chosen})

        spent = cpu_us({name: job}, count, rounds=1 if count == SLOW_PEER_PAGES else 3)[name]
        scores = [_score(truth[page]["articleBody"], text) for page, text in found.items()]
        precision, recall = (sum(values) / len(scores) for values in zip(*scores, strict=True))
        f1 = 2 * precision * recall / (precision + recall)
        row(name, spent, "µs", f"F1 {f1:.3f}, precision {precision:.3f}, recall {recall:.3f}")


def _resiliparse(body: bytes) -> str:
    tree = HTMLTree.parse_from_bytes(body)
    return str(extract_plain_text(tree, main_content=True, list_bullets=False, links=False, alt_texts=False))


def _score(true: str, text: str) -> tuple[float, float]:
    expected, got = _shingles(true), _shingles(text)
    both = sum((expected & got).values())
    extra, missing = sum((got - expected).values()), sum((expected - got).values())
    if not extra and not missing:
        return 1.0, 1.0
    return both / (both + extra) if both + extra else 0.0, both / (both + missing) if both + missing else 0.0


def _shingles(text: str, size: int = 4) -> Counter[tuple[str, ...]]:
    words = WORDS.findall(text)
    size = min(size, len(words)) or 1
    return Counter(tuple(words[at : at + size]) for at in range(len(words) - size + 1))
