"""Redirects of every kind: `redirects`."""

from gossamer.sim.web.model import Answer, Kind, Node, Settings, Site
from gossamer.sim.web.table import HTML, Spot, TableSite, always, link_to

__all__ = ["redirects"]

CODES = (301, 302, 303, 307, 308)


def redirects(settings: Settings) -> list[Site]:
    """Chains, loops, other hosts, relative and missing Location, meta refresh, an endless chain, and a way into the inside."""
    site = TableSite(settings, "redirects.test")
    other = TableSite(settings, "redirects-other.test")

    def hop(
        target: str,
        to: str,
        location: str | None = None,
        code: int = 302,
        kind: Kind = "redirect",
        linked: bool = True,
    ) -> None:
        headers = (HTML, ("Location", to if location is None else location))
        site.add(
            target,
            Answer(code, headers, b"<p>moved</p>\n"),
            kind,
            links=[to] if to.startswith("/") or kind == "redirect" else [],
            linked=linked,
        )

    for code in CODES:
        hop(f"/chain/{code}", f"/chain/{code}/second", code=code)
        hop(f"/chain/{code}/second", f"/chain/{code}/third", code=code, linked=False)
        hop(f"/chain/{code}/third", f"/chain/{code}/end", code=code, linked=False)
        site.page(f"/chain/{code}/end", linked=False)
    hop("/loop/self", "/loop/self", kind="failed")
    hop("/loop/left", "/loop/right", kind="failed")
    hop("/loop/right", "/loop/left", kind="failed", linked=False)
    hop("/folder", "/folder/", code=301)
    site.page("/folder/", linked=False)
    hop("/relative/start", "/relative/end", "end")
    site.page("/relative/end", linked=False)
    hop("/fragment", "/fragment-end", "/fragment-end#below")
    site.page("/fragment-end", linked=False)
    hop("/unicode", "/%C3%A9t%C3%A9", "/été")
    site.page("/%C3%A9t%C3%A9", linked=False)
    hop("/elsewhere", other.page("/welcome", linked=False), code=301)
    hop("/there-and-back", "http://redirects-other.test/back")
    other.add(
        "/back",
        Answer(307, (HTML, ("Location", site.url("/back-again")))),
        "redirect",
        links=[site.url("/back-again")],
        linked=False,
    )
    site.page("/back-again", linked=False)
    site.add("/no-location", Answer(302, (HTML,), b"<p>moved, but where to?</p>\n"), "failed")
    site.add("/empty-location", Answer(301, (HTML, ("Location", "")), b""), "failed")
    site.add("/bad-location", Answer(301, (HTML, ("Location", "http://[::bad/")), b""), "failed")
    site.page(
        "/refresh",
        head='<meta http-equiv="refresh" content="0; url=/refresh-end">\n',
        links=[link_to(site.url("/refresh-end"))],
    )
    site.page("/refresh-end", linked=False)
    # Inward and other schemes: the guard must refuse these; what arrives under another Host is seen in the log.
    for name, location in {
        "loopback": "http://127.0.0.1/secret",
        "metadata": "http://169.254.169.254/latest/meta-data/",
        "octal": "http://0177.0.0.1/secret",
        "mapped": "http://[::ffff:127.0.0.1]/secret",
        "file": "file:///etc/hostname",
        "script": "javascript:alert(1)",
    }.items():
        hop(f"/inward/{name}", location, kind="failed")
    site.add("/endless/0", always(_next(0)), "free")

    def endless(target: str) -> Spot | None:
        head, _, number = target.rpartition("/")
        if head != "/endless" or not number.isdecimal():
            return None
        return Spot(Node(site.url(target), "trap"), always(_next(int(number))))

    site.rules.append(endless)
    return [site, other]


def _next(number: int) -> Answer:
    return Answer(302, (HTML, ("Location", f"/endless/{number + 1}")), b"<p>a little further</p>\n")
