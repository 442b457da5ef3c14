"""`kanopy reproduce`: rerun the experiments of a paper and put each claim beside what came out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli import options as o
from kanopy.cli.console import emit, progress_bar, wants_json

STYLES = {"holds": "green", "does not hold": "red", "not decidable": "yellow"}


@o.command()
def reproduce(
    paper: Annotated[str, typer.Argument(help="ayala2014, campan2011, martinez2010, yaseen2018, or all")],
    quick: Annotated[bool, typer.Option("--quick", help="Use fewer settings; takes at most half a minute.")] = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for tables, figures and page [default: PAPER].")
    ] = None,
    ratings: Annotated[
        list[Path] | None,
        typer.Option(help="CSV files word,word,rating for Table 4 of martinez2010, one per benchmark; repeatable."),
    ] = None,
) -> None:
    """Rerun a paper on bundled or generated data: tables (CSV), figures (PNG, SVG) and a page with every claim.

    `all` reruns the four papers, with one page over them: every item of each, its place in Kanopy, and its verdict.
    With --json nothing is written to disk unless -o names a folder.
    """
    from kanopy._progress import Progress
    from kanopy_papers.overview import MARKS, Overview, reproduce_all
    from kanopy_papers.reproduction import reproduce_paper

    written: list[Path] = []
    with progress_bar() as callback:
        progress = Progress(callback)
        rerun = reproduce_all if paper == "all" else partial(reproduce_paper, paper)
        reproduction = rerun(quick=quick, progress=progress, ratings=ratings or ())
        if output is not None or not wants_json():
            written = reproduction.write(output or Path(paper), progress)

    def show(console: Any) -> None:
        from rich.table import Table
        from rich.text import Text

        if isinstance(reproduction, Overview):
            rows = reproduction.rows()
            for word in MARKS:
                if count := sum(verdict_word == word for _, verdict_word, _ in rows):
                    console.line(f"{MARKS[word]} {count} of {len(rows)} items: {word}")
            console.line(f"{len(written)} files written; open {written[-1]}")
            return
        table = Table(title=reproduction.title, title_justify="left", show_lines=True)
        for heading in ("The paper says", "Published", "Here", "Verdict"):
            table.add_column(heading, ratio=1 if heading == "Verdict" else 3)
        for claim in reproduction.claims:
            verdict = Text(claim.verdict, style=STYLES[claim.verdict])
            table.add_row(Text(claim.claim), Text(claim.published), Text(claim.ours), verdict)
        console.print(table)
        console.line(f"{len(written)} files written; open {written[-1]}")

    emit({**reproduction.json(), "files": [str(path) for path in written]}, show)
