"""Scrapy over many hosts with a budget of pages: a CrawlSpider and a LinkExtractor, the same as over one site.

    python bench/peers/scrapy_budget.py URL PROXY PAGES [breadth]

Every host of the synthetic web answers on one loopback port, which is given as a proxy. With `breadth` the queues are those that Scrapy's
documentation gives for crawling in breadth-first order; its default goes for the newest link first. Links may lead anywhere, no limit of
depth, both of which are its defaults.
"""

import sys
from typing import Any

from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule

SETTINGS: dict[str, Any] = {
    "CONCURRENT_REQUESTS": 64,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 4,
    "DOWNLOAD_DELAY": 0,
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "ERROR",
}
BREADTH = {
    "DEPTH_PRIORITY": 1,
    "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
    "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
}


class Pages(CrawlSpider):  # type: ignore[misc]  # mypy does not read scrapy
    """Follows every link."""

    name = "pages"
    rules = (Rule(LinkExtractor(), follow=True),)


def main(url: str, proxy: str, pages: int, breadth: bool) -> None:
    import os

    os.environ["http_proxy"] = proxy  # as Scrapy's own HttpProxyMiddleware reads it
    process = CrawlerProcess(SETTINGS | {"CLOSESPIDER_PAGECOUNT": pages} | (BREADTH if breadth else {}))
    process.crawl(Pages, start_urls=[url])
    process.start()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), "breadth" in sys.argv[4:])
