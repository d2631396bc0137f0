"""What the URLs of one host have looked like, and what its pages have been worth."""

import msgspec

from gossamer.fingerprint import distance
from gossamer.traps.groups import groups_of, pairs_of, path_of, without
from gossamer.traps.rules import DEFAULT, Rule, Trap, TrapRules
from gossamer.traps.template import plausible, template_of, varies, year_of
from gossamer.traps.worth import UNLIKE, Group, PageRead

__all__ = ["HostShape", "TemplateCount"]


class TemplateCount(msgspec.Struct, array_like=True, gc=False):
    """What has come of one template of a host."""

    seen: int = 0
    """URLs admitted."""
    odd: int = 0
    """Of them, those with an odd date."""
    fresh: int = 0
    """Pages fetched that were new."""
    copies: int = 0
    """Pages fetched that were exact or near copies of others."""

    def budget(self, base: int, rules: TrapRules) -> int:
        """`base` and what new pages earned, times the share of pages that were new."""
        share = (self.fresh + 1) / (self.fresh + self.copies + 1)
        return max(int(share * (base + rules.earned * self.fresh)), min(base, rules.least_urls))


class HostShape(msgspec.Struct):
    """What the URLs of one host have looked like so far; mutable, owned by the host's record."""

    urls: int = 0
    refused: int = 0
    templates: dict[str, TemplateCount] = {}
    groups: dict[str, Group] = {}
    """By path (`/shop/*`), and by path and parameter (`/shop?sort`)."""

    def admit(self, url: str, now: float, rules: TrapRules = DEFAULT) -> Trap | None:
        """Count a URL that is new to the host, or say why it is one too many."""
        trap = self._over_budget(url, now, rules)
        if trap is None:
            self.urls += 1
        else:
            self.refused += 1
        return trap

    def learned(self, template: str, duplicate: bool) -> None:
        """A page of the template was fetched, and was new or a copy; templates without budget are of no interest."""
        count = self.templates.get(template)
        if count is None:
            return
        if duplicate:
            count.copies += 1
        else:
            count.fresh += 1

    def _over_budget(self, url: str, now: float, rules: TrapRules) -> Trap | None:
        if self.urls >= rules.host_urls:
            return Trap(
                Rule.HOST_BUDGET,
                f"The host has brought {self.urls:,} URLs; at most {rules.host_urls:,} are followed.",
            )
        template = template_of(url)
        if not varies(template):
            return None
        count = self.templates.get(template)
        if count is None:
            if len(self.templates) >= rules.template_table:
                self._forget_half()
            count = self.templates[template] = TemplateCount()
        if count.seen >= rules.least_urls and count.seen >= (most := count.budget(rules.template_urls, rules)):
            return Trap(
                Rule.TEMPLATE_BUDGET,
                f"The host has brought {count.seen:,} URLs like {template} ({count.fresh:,} new pages, "
                f"{count.copies:,} copies); at most {most:,} are followed.",
            )
        if (year := year_of(url, template)) is not None and not plausible(year, now, rules):
            if count.odd >= (most := count.budget(rules.odd_dates, rules)):
                return Trap(
                    Rule.CALENDAR,
                    f"The year {year} is odd, and {count.odd:,} URLs like {template} had such dates; "
                    f"at most {most:,} are followed.",
                )
            count.odd += 1
        count.seen += 1
        return None

    def _forget_half(self) -> None:
        # A sort of the whole table, but once in as many new templates as it makes room for.
        by_count = sorted(self.templates.items(), key=lambda item: item[1].seen, reverse=True)
        self.templates = dict(by_count[: len(by_count) // 2])

    # --- what pages were worth ------------------------------------------------------------------------------------

    def read(self, page: PageRead, rules: TrapRules = DEFAULT) -> None:
        """A page was fetched: compare it, and let its groups gain or lose by it."""
        path, names = groups_of(page.url)
        group = self._group(path, rules)
        target = _target(page.url)
        if page.copy_of is not None:
            self._copied(page, path, rules)
            return
        if page.likeness is None:
            if not names:
                group.judged("fresh", rules)
            return
        away, other = group.nearest(page.likeness, target)
        if page.parent is not None and (up := distance(page.likeness, page.parent)) < away:
            away, other = up, _target(page.via or "")
        alike = away <= rules.alike_bits
        noise = _differing(target, other) if alike else ()
        if noise:
            self._noise(path, noise, rules, exact=False)
        elif names:
            alike = self._filters(group, path, page, target, rules) or alike
        elif alike:
            group.judged("alike", rules, page.outward > 0)
        else:
            adrift = group.drifts(page, rules) and _within(page, path)
            group.judged("adrift" if adrift else "fresh", rules)
        if not alike:
            group.remember(page.likeness, target, 16 if len(self.groups) <= 32 else 4)

    def unsure(self, url: str) -> bool:
        """Whether the page at this URL should be compared with the one it was found on."""
        path, names = groups_of(url)
        group = self.groups.get(path)
        return bool(names) or group is None or not group.proven

    def _copied(self, page: PageRead, path: str, rules: TrapRules) -> None:
        """Of two pages with one text, the parameter in which they differ is to blame, or the group that is worth less."""
        original = page.copy_of or ""
        if not original.startswith(page.url[: page.url.find("/", 8) + 1]):
            return  # a mirror is no trap
        if path_of(original) == path_of(page.url):
            self._noise(path, _differing(page.url, original), rules, exact=True)
            return
        there, blamed = groups_of(original)[0], path
        if there != path and there in self.groups:
            mine, theirs = self.groups[path], self.groups[there]
            if (theirs.worth, "{id}" not in there) < (mine.worth, "{id}" not in path):
                blamed = there
        self.groups[blamed].judged("copies", rules, page.outward > 0)

    def _noise(self, path: str, names: tuple[str, ...], rules: TrapRules, *, exact: bool) -> None:
        for name in names:
            for where in (path, ANYWHERE):
                group = self._group(f"{where}?{name}", rules)
                group.judged("copies" if exact else "alike", rules)

    def _filters(self, group: Group, path: str, page: PageRead, target: str, rules: TrapRules) -> bool:
        """Whether a parameter of the page only filters; where one shows that it changes the page, that counts for it."""
        assert page.likeness is not None
        others = [(page.parent, _target(page.via or ""))] if page.parent is not None else []
        changed = optional = ""
        for likeness, other in [*others, *reversed(group.pages)]:
            if len(differing := _differing(target, other)) != 1:
                continue
            name = differing[0]
            if name in dict(pairs_of(other.partition("?")[2])):
                changed = changed or name
            elif page.outward == 0 and distance(page.likeness, likeness) <= UNLIKE:
                # It was added, took away part of the text and led to nothing new.
                self._noise(path, differing, rules, exact=False)
                return True
            else:
                optional = name
        if changed and (page.outward or changed != optional):
            for where in (path, ANYWHERE):
                self._group(f"{where}?{changed}", rules).judged("fresh", rules)
        return False

    def lost(self, url: str, rules: TrapRules = DEFAULT) -> Trap | None:
        """Why the pages that were fetched speak against this URL; None when they do not. Counts nothing."""
        found = self._lost(url, rules) if self.groups else None
        return _reason(*found) if found is not None else None

    def refuse(self, url: str, rules: TrapRules = DEFAULT) -> Trap | None:
        """The same for a URL whose turn has come: now and then one passes, as a sample."""
        found = self._lost(url, rules)
        if found is None or found[1].passes(rules):
            return None
        self.refused += 1
        return _reason(*found)

    def stripped(self, url: str, rules: TrapRules = DEFAULT) -> str | None:
        """The URL without the parameters that are noise; None when it has none."""
        path, names = groups_of(url)
        bare = url
        for name in names:
            if self._is_noise(path, name, rules) is not None:
                bare = without(bare, name)
        return bare if bare != url else None

    def _lost(self, url: str, rules: TrapRules) -> tuple[str, Group] | None:
        path, names = groups_of(url)
        for name in names:
            if (found := self._is_noise(path, name, rules)) is not None:
                return found
        group = self.groups.get(path)
        return (path, group) if group is not None and group.spent(rules) else None

    def _is_noise(self, path: str, name: str, rules: TrapRules) -> tuple[str, Group] | None:
        """The group that says so: of this path, or of all paths where this one has not shown otherwise."""
        for where in (path, ANYWHERE):
            group = self.groups.get(f"{where}?{name}")
            if group is not None and group.spent(rules):
                return f"{where}?{name}", group
            if group is not None and group.fresh:
                return None
        return None

    def _group(self, name: str, rules: TrapRules) -> Group:
        group = self.groups.get(name)
        if group is None:
            if len(self.groups) >= rules.group_table:
                kept = sorted(self.groups.items(), key=lambda item: item[1].read, reverse=True)
                self.groups = dict(kept[: len(kept) // 2])
            group = self.groups[name] = Group()
        return group


_LONGEST_TARGET = 200
ANYWHERE = "/**"


def _target(url: str) -> str:
    """Path and query."""
    return url[url.find("/", 8) :][:_LONGEST_TARGET]


def _within(page: PageRead, path: str) -> bool:
    """Whether the page was found on another of its group."""
    return page.via is not None and groups_of(page.via) == (path, ())


def _differing(one: str, other: str) -> tuple[str, ...]:
    """The parameters in which two URLs of one path differ; nothing when the paths differ."""
    path, _, query = one.partition("?")
    there, _, others = other.partition("?")
    if path != there:
        return ()
    return tuple(sorted({name for name, _ in set(pairs_of(query)) ^ set(pairs_of(others))}))


def _reason(name: str, group: Group) -> Trap:
    path, mark, parameter = name.partition("?")
    same = group.copies + group.alike
    if mark:
        return Trap(
            Rule.NOISE,
            f"The parameter {parameter!r} of {path} made no difference in {same:,} of {group.read:,} comparisons; "
            "pages are asked for without it.",
        )
    if group.adrift > same:
        return Trap(
            Rule.MAZE,
            f"Of {group.read:,} pages like {path}, {group.adrift:,} were found only on each other and led to nothing "
            "known; only samples are followed.",
        )
    return Trap(
        Rule.COPIES,
        f"Of {group.read:,} pages like {path}, {same:,} were copies of others or nearly so, the last ones above all; "
        "only samples are followed.",
    )
