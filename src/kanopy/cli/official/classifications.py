"""Commands about official classifications: list them, search their codes and labels, show one."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from kanopy._errors import InputError
from kanopy.cli import options as o
from kanopy.cli.console import emit, grid

classifications = typer.Typer(help="Official classifications: list, search, show.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="A name of `kanopy classifications list`, a version, or a file.")]
MOST_FOUND = 50


@classifications.command("list")
@o.command()
def list_all() -> None:
    """List the classifications: what each is about, its versions, its licence, and where others come from."""
    from kanopy.classifications.registry import BUNDLED, SOURCES, load_classification

    listed: list[dict[str, Any]] = []
    for name, source in SOURCES.items():
        entry: dict[str, Any] = {"name": name, "title": source.title, "kind": source.kind}
        if source.kind == BUNDLED:
            newest = load_classification(source.files[0])
            entry |= {
                "versions": list(source.files), "codes": newest.size, "levels": list(newest.levels),
                "role": newest.about.role, "source": newest.about.source, "licence": newest.about.licence,
                "languages": list(newest.languages), "needs": "",
            }  # fmt: skip
        else:
            entry |= {
                "versions": [], "codes": 0, "levels": [], "role": source.role, "source": "", "licence": "",
                "languages": [], "needs": source.where,
            }  # fmt: skip
        listed.append(entry)

    def show(console: Any) -> None:
        rows = [
            (
                entry["name"], entry["title"], f"{entry['codes']:,}" if entry["codes"] else "–",
                ", ".join(entry["versions"]) or f"needs {entry['needs']}", entry["licence"] or "–",
            )
            for entry in listed
        ]  # fmt: skip
        console.print(grid(["name", "about", "codes", "versions", "licence"], rows))

    emit({"classifications": listed}, show)


@classifications.command("search")
@o.command()
def search(
    words: Annotated[str, typer.Argument(help="A code, or words of a label.")],
    name: Annotated[str | None, typer.Option("--in", help="Only this classification, or file.")] = None,
    most: Annotated[int, typer.Option(help="How many codes to show at most.")] = MOST_FOUND,
) -> None:
    """Search codes and labels; without --in, in all that come with Kanopy."""
    from kanopy.classifications.registry import BUNDLED, SOURCES
    from kanopy.classifications.search import find_codes

    if most < 1:
        raise InputError(f"--most must be at least 1, not {most}.")
    where = (
        [name]
        if name is not None
        else [source_name for source_name, source in SOURCES.items() if source.kind == BUNDLED]
    )
    codes = find_codes(words, where)

    def show(console: Any) -> None:
        rows = [
            (entry["classification"], entry["code"], entry["label"], " < ".join(entry["above"]))
            for entry in codes[:most]
        ]
        console.print(grid(["classification", "code", "label", "in"], rows))
        if len(codes) > most:
            console.print(f"and {len(codes) - most:,} more")
        if not codes:
            console.print(f"No code or label contains {words!r}.", markup=False)

    emit({"found": codes[:most], "count": len(codes)}, show)


@classifications.command("show")
@o.command()
def show_one(
    name: Name,
    code: Annotated[
        str | None, typer.Option(help="Show only this code, with its broader and directly narrower codes.")
    ] = None,
    language: Annotated[str, typer.Option(help="The language of labels.")] = "",
) -> None:
    """Show a classification: version, source, licence, levels, its broadest codes; or one code of it."""
    from kanopy.classifications.registry import load_classification

    classification = load_classification(name)
    labels = classification.labels(language)
    about = classification.about

    def entry(at: int) -> dict[str, Any]:
        return {
            "code": classification.codes[at],
            "label": labels[at],
            "level": classification.levels[int(classification.rank[at])],
        }

    facts: dict[str, Any] = {
        "name": classification.name, "title": about.title, "version": about.version, "source": about.source,
        "licence": about.licence, "role": about.role, "codes": classification.size, "levels": classification.counts(),
        "languages": list(classification.languages),
    }  # fmt: skip
    if code is None:
        below = [entry(at) for at in classification.children.get(-1, [])]
        facts["broadest"] = below
    else:
        at = classification.find(code)
        below = [entry(node) for node in classification.children.get(at, [])]
        facts |= {"code": entry(at), "above": [entry(node) for node in classification.chain(at)[1:]], "below": below}

    def show(console: Any) -> None:

        console.line(f"{about.title or classification.name}, {about.version}", style="bold")
        for label, value in (("source", about.source), ("licence", about.licence), ("usual role", about.role)):
            console.line(f"{label}: {value}")
        console.line("levels: " + ", ".join(f"{level} ({n:,})" for level, n in classification.counts().items()))
        if code is not None:
            chain = " < ".join(f"{entry['code']} {entry['label']}" for entry in (facts["code"], *facts["above"]))
            console.line(chain)
        console.print(
            grid(["code", "label", "level"], [(e["code"], e["label"], e["level"]) for e in below[:MOST_FOUND]])
        )
        if len(below) > MOST_FOUND:
            console.print(f"and {len(below) - MOST_FOUND:,} more")

    emit(facts, show)
