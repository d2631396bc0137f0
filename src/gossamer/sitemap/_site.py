"""The sitemap's own site: turns what it writes into absolute URLs, and says which of them are its own."""

from gossamer.errors import InvalidURL
from gossamer.sitemap._problems import Problems
from gossamer.sitemap._values import SitemapBounds
from gossamer.url import host_of, registrable_domain, resolve

__all__ = ["Site"]

_REMEMBERED = 10_000


class Site:
    """Resolves and judges the URLs of one sitemap.

    The versions of a page in n languages name each other, n × n references to n URLs close together, and all URLs share a
    few origins: both are remembered, and forgotten when there are too many, so that memory stays bounded.
    """

    __slots__ = ("_length", "_origins", "_problems", "_resolved", "base", "name")

    def __init__(self, url: str, bounds: SitemapBounds, problems: Problems) -> None:
        self._problems = problems
        self._length = bounds.url_length
        self._resolved: dict[tuple[str, str | None], str | None] = {}
        self._origins: dict[str, bool] = {}
        self.base: str | None = None
        self.name: str | None = None
        try:
            self.base = resolve(url)
            self.name = _site_name(host_of(self.base))
        except InvalidURL:
            problems.add("the sitemap's own URL is not valid", url)

    def url(self, href: str, base: str | None) -> str | None:
        """The absolute http(s) URL, or None and a problem."""
        if len(href) > self._length:
            self._problems.add("a URL is longer than allowed and was skipped", href)
            return None
        try:
            found = resolve(href, base)
        except InvalidURL:
            self._problems.add("a URL is not valid and was skipped", href)
            return None
        if not found.startswith(("https://", "http://")):
            self._problems.add("a URL is neither http nor https and was skipped", href)
            return None
        return found

    def remembered(self, href: str, base: str | None) -> str | None:
        """As `url`, for references that tend to repeat."""
        key = (href, base)
        if key not in self._resolved:
            if len(self._resolved) >= _REMEMBERED:
                self._resolved.clear()
            self._resolved[key] = self.url(href, base)
        return self._resolved[key]

    def inside(self, url: str) -> bool:
        """Whether an absolute URL is of the same site as the sitemap."""
        origin = url[: url.find("/", 8)]  # the standard's serialisation always has a slash behind the authority
        known = self._origins.get(origin)
        if known is None:
            if len(self._origins) >= _REMEMBERED:
                self._origins.clear()
            known = self._origins[origin] = self._same_site(host_of(url))
        return known

    def _same_site(self, host: str) -> bool:
        # The suffix first: the list of public suffixes costs ten times as much.
        return self.name is not None and host.endswith(self.name) and _site_name(host) == self.name


def _site_name(host: str) -> str:
    return registrable_domain(host) or host
