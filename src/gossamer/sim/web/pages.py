"""HTML writing: a page of a plausible site from its parts."""

import html

from gossamer.sim.web.model import Link

__all__ = ["write_page"]


def write_page(
    title: str,
    text: list[str],
    links: list[Link],
    *,
    site: str,
    head: str = "",
    lang: str = "en",
    charset: str | None = "utf-8",
) -> str:
    """Title, description, navigation, an article whose paragraphs carry some of the links, a list of the others, a footer."""
    nav, inline, listed = links[:3], links[3 : 3 + len(text) // 2], links[3 + len(text) // 2 :]
    shown = _safe(title)
    meta = f'<meta charset="{charset}">\n' if charset else ""
    top = (
        f'<!DOCTYPE html>\n<html lang="{lang}">\n<head>\n{meta}<title>{shown}</title>\n'
        f'<meta name="description" content="{_safe(text[0][:150]) if text else shown}">\n'
        f"<style>main{{max-width:42em;margin:auto}}</style>\n{head}</head>\n<body>\n"
        f'<header><a class="logo" href="/">{site}</a></header>\n<nav><ul>'
    )
    parts = [
        top,
        *(f"<li>{_anchor(link)}</li>" for link in nav),
        f"</ul></nav>\n<main><article>\n<h1>{shown}</h1>\n",
    ]
    waiting = iter(inline)
    for at, paragraph in enumerate(text):
        link = next(waiting, None) if at % 2 else None
        parts.append(f"<p>{_safe(paragraph)}{' See ' + _anchor(link) + '.' if link else ''}</p>\n")
    rest = [*waiting, *listed]
    if rest:
        parts.append("</article>\n<section><h2>More</h2><ul>\n")
        parts += [f"<li>{_anchor(link)}</li>\n" for link in rest]
        parts.append("</ul></section></main>\n")
    else:
        parts.append("</article></main>\n")
    parts.append(f"<footer><p>{site}: pages made by rule. All rights waived.</p></footer>\n</body>\n</html>\n")
    return "".join(parts)


def _anchor(link: Link) -> str:
    rel = ' rel="nofollow"' if link.nofollow else ""
    return f'<a href="{_safe(link.href)}"{rel}>{_safe(link.text)}</a>'


def _safe(text: str) -> str:
    # Nearly no text needs it, and looking costs a tenth of replacing.
    return html.escape(text) if "&" in text or "<" in text or '"' in text else text
