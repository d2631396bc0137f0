"""Crawlee as its documentation teaches it: a ParselCrawler that enqueues the links of each page and pushes its text.

    python bench/peers/crawlee_parsel.py URL FILE

Storage in memory (nothing reaches the disk but the number of pages, which goes to FILE), 64 requests at a time, its own HTTP
client (impit), links of the same host, robots.txt not asked for: all its defaults but the storage and the concurrency.
"""

import asyncio
import logging
import sys
from pathlib import Path

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

CONCURRENT = 64


async def page(context: ParselCrawlingContext) -> None:
    if context.selector.type == "html":
        await context.push_data(
            {
                "url": context.request.url,
                "title": context.selector.xpath("//title/text()").get(),
                "text": " ".join(context.selector.xpath("//body//text()").getall()),
            }
        )
    await context.enqueue_links()


async def crawl(url: str) -> int:
    """Crawl, and say how many pages with a title there were."""
    crawler = ParselCrawler(
        request_handler=page,
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(
            min_concurrency=CONCURRENT, desired_concurrency=CONCURRENT, max_concurrency=CONCURRENT
        ),
        configure_logging=False,
    )
    logging.getLogger("crawlee").setLevel(logging.ERROR)
    await crawler.run([url])
    return len({item["url"] for item in (await crawler.get_data()).items if item["title"]})


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(str(asyncio.run(crawl(sys.argv[1]))))
