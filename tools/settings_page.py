"""Write docs/settings.md from the settings themselves: `make docs`. A test compares the two."""

from pathlib import Path

from gossamer.settings import SHORT, Setting, settings_of

PAGE = Path(__file__).resolve().parents[1] / "docs" / "settings.md"

INTRODUCTION = """# Settings

Made by `make docs` from the definitions; what a setting means is written where it is defined.

The command line and a TOML file (`--config`) use the same names: `--max-pages 100` is `max_pages = 100`. A name with a dot is
in a section: `politeness.backoff = 5`, or `--set politeness.backoff=5`. What is given on the command line wins over the file.

"""


def shown(value: object) -> str:
    if value is None or value == ():
        return ""
    if isinstance(value, tuple):
        return f"{len(value)} names" if len(value) > 4 else ", ".join(f"`{item}`" for item in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"`{value:,}`" if isinstance(value, int) else f"`{value}`"


def table(settings: list[Setting]) -> str:
    short = {full: plain for plain, full in SHORT.items()}
    rows = ["| setting | type | default | meaning |", "|---|---|---|---|"]
    for setting in settings:
        also = f" (also `{short[setting.name]}`)" if setting.name in short else ""
        kind = setting.type.replace("|", "\\|")
        rows.append(f"| `{setting.name}`{also} | {kind} | {shown(setting.default)} | {setting.description} |")
    return "\n".join(rows) + "\n"


def page() -> str:
    everything = list(settings_of())
    sections: dict[str, list[Setting]] = {}
    for setting in everything:
        sections.setdefault(setting.name.rpartition(".")[0], []).append(setting)
    parts = [INTRODUCTION + "## The crawl\n\n" + table(sections.pop(""))]
    parts += [f"## {name}\n\n{table(settings)}" for name, settings in sections.items()]
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
