"""What robots.txt may say, and the ways it may fail to say it: `robots`."""

from gossamer.sim.web.model import Answer, Delivery, Node, Settings, Site
from gossamer.sim.web.table import HTML, TEXT, TableSite

__all__ = ["robots"]


def robots(settings: Settings) -> list[Site]:
    """Rules, groups, delays; robots.txt missing, denied, failing, moved, huge, or not robots.txt at all."""
    agent = settings.agent
    rules = """
        # the rules of this host
        User-agent: *
        Disallow: /closed/
        Allow: /closed/but-open
        Disallow: /*.private$
        Disallow: /search?*q=
        Allow: /search?*q=open
        Disallow: /caf%C3%A9
        """
    closed = ["/closed/", "/closed/one", "/closed/deep/er", "/notes.private", "/search?a=1&q=2", "/caf%C3%A9"]
    opened = [
        "/closed/but-open",
        "/closed/but-open/too",
        "/notes.private.html",
        "/search?a=1&q=open",
        "/search?a=1",
        "/CLOSED/",
    ]
    own = f"""
        User-agent: *
        Disallow: /

        User-agent: otherbot
        User-agent: {agent.upper()}
        Disallow: /closed/
        """
    plain = "User-agent: *\nDisallow: /closed/\n"
    delay = f"User-agent: *\nCrawl-delay: {settings.crawl_delay:g}\nDisallow: /closed/\n"
    huge = "User-agent: *\nDisallow: /closed/\n" + "# padding\n" * 55_000 + "Disallow: /\n"
    moved = TableSite(settings, "robots-moved.test")
    moved.add("/robots.txt", Answer(301, (("Location", "/rules.txt"),)), "redirect", linked=False)
    moved.add("/rules.txt", Answer(302, (("Location", "/rules/robots.txt"),)), "redirect", linked=False)
    moved.add("/rules/robots.txt", text(plain), linked=False)
    abroad = TableSite(settings, "robots-abroad.test")
    abroad.add("/robots.txt", Answer(302, (("Location", "http://robots-rules.test/robots.txt"),)), linked=False)
    loop = TableSite(settings, "robots-loop.test")
    loop.add("/robots.txt", Answer(302, (("Location", "/robots.txt"),)), linked=False)
    denied = ["/closed/one", "/closed/two?x=1"]
    return [
        with_rules(TableSite(settings, "robots-rules.test"), dedent(rules), closed, opened),
        with_rules(TableSite(settings, "robots-agent.test"), dedent(own), denied, ["/open"]),
        with_rules(TableSite(settings, "robots-delay.test", delay=settings.crawl_delay), delay, denied),
        with_rules(TableSite(settings, "robots-bom.test"), "\ufeff" + plain.replace("\n", "\r"), denied),
        with_rules(TableSite(settings, "robots-huge.test"), huge, denied),
        with_rules(moved, None, denied),
        with_rules(abroad, None, denied, ["/closed/but-open"]),
        loop,  # more than five redirects: unavailable, so allowed (RFC 9309, 2.3.1.2)
        answered(settings, "robots-404.test", Answer(404, (TEXT,), plain.encode())),
        answered(settings, "robots-403.test", Answer(403, (TEXT,), b"User-agent: *\nDisallow: /\n")),
        answered(
            settings,
            "robots-html.test",
            Answer(200, (HTML,), b"<!DOCTYPE html><title>Home</title><p>Disallow nothing</p>\n"),
        ),
        answered(settings, "robots-garbage.test", Answer(200, (TEXT,), bytes(range(256)) * 64)),
        shut(settings, "robots-503.test", Answer(503, (TEXT,), b"later\n")),
        shut(settings, "robots-500.test", Answer(500, (TEXT,), b"broken\n")),
        shut(settings, "robots-reset.test", Answer(0, delivery=Delivery(reset=True))),
        shut(settings, "robots-all.test", text("User-agent: *\nDisallow: /\n")),
    ]


def dedent(block: str) -> str:
    return "\n".join(line.strip() for line in block.strip().splitlines()) + "\n"


def text(body: str) -> Answer:
    return Answer(200, (TEXT,), body.encode())


def with_rules(site: TableSite, body: str | None, closed: list[str], opened: list[str] | None = None) -> Site:
    """A host whose `closed` addresses are linked and denied, and whose `opened` ones only look denied."""
    if body is not None:
        site.add("/robots.txt", text(body), linked=False)
    for target in closed:
        site.page(target, "forbidden")
    for target in opened or []:
        site.page(target)
    return site


def answered(settings: Settings, host: str, answer: Answer) -> Site:
    """robots.txt says nothing that binds: all is allowed."""
    site = TableSite(settings, host)
    site.add("/robots.txt", answer, linked=False)
    return site


def shut(settings: Settings, host: str, answer: Answer) -> Site:
    """Nothing but robots.txt may be asked for: it forbids all, or it cannot be had and so all is forbidden for now."""
    site = TableSite(settings, host)
    site.add("/robots.txt", answer, linked=False)
    site.verdict = lambda node: Node(node.url, "forbidden")
    return site
