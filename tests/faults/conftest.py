"""The web that the crash tests crawl, and an undisturbed crawl of it: one for all of them."""

from collections.abc import Iterator

import pytest

from tests.faults.crashes import PAGES, Site, site


@pytest.fixture(scope="session")
def crash_web(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("crashes"), PAGES) as found:
        yield found
