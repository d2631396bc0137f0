"""Scrapy as its documentation teaches it: a CrawlSpider, a LinkExtractor, items to a JSON lines file.

    python bench/peers/scrapy_spider.py URL FILE.jsonl [canonical]

With `canonical` the extractor drops fragments (`LinkExtractor(canonicalize=True)`), so that `page.html#one` and `page.html#two`
are one link before they become requests: what someone would do who looked at a profile. It helps where pages have many such
links and costs a little elsewhere; the ratios of the table are to Scrapy without it.

64 requests at a time, no delay, no throttle, no cookies, no telnet console, warnings only; the reactor, the downloader and the
duplicate filter are its defaults, and robots.txt is not asked for, which is its default too.
"""

import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from scrapy.crawler import CrawlerProcess
from scrapy.http import Response, TextResponse
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

SETTINGS = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
}


class Pages(CrawlSpider):  # type: ignore[misc]  # mypy does not read scrapy
    """Follows every link of the site and gives each page's text."""

    name = "pages"

    def __init__(self, canonical: bool, *args: Any, **kwargs: Any) -> None:
        self.rules = (Rule(LinkExtractor(canonicalize=canonical), callback="page", follow=True),)
        super().__init__(*args, **kwargs)

    def parse_start_url(self, response: Response, **kwargs: Any) -> Iterator[dict[str, str | None]]:
        return self.page(response)

    def page(self, response: Response) -> Iterator[dict[str, str | None]]:
        if isinstance(response, TextResponse) and response.selector.type == "html":
            yield {
                "url": response.url,
                "title": response.xpath("//title/text()").get(),
                "text": " ".join(response.xpath("//body//text()").getall()),
            }


def main(url: str, out: str, canonical: bool) -> None:
    process = CrawlerProcess(SETTINGS | {"FEEDS": {out: {"format": "jsonlines", "overwrite": True}}})
    process.crawl(Pages, canonical, start_urls=[url], allowed_domains=[urlsplit(url).hostname])
    process.start()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], "canonical" in sys.argv[3:])
