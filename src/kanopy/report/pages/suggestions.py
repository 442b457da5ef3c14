"""One self-contained page about the hierarchies that fit a column: what each would lose, its levels, its tree."""

from __future__ import annotations

from collections.abc import Sequence

from kanopy._errors import some
from kanopy.hierarchy.suggest import Suggestion
from kanopy.report.drawings.icicle import can_draw, icicle_svg
from kanopy.report.drawings.tree import folding_tree, tree_script
from kanopy.report.shell import bullets, framed_picture, section, shell, table
from kanopy.report.text import plural

MOST_DRAWN = 6


def suggestions_page(column: str, k: int, proposals: Sequence[tuple[str, Suggestion, float | None]]) -> str:
    """The page for proposals, best first: each with what it is called and what a release would lose, if that is known.

    >>> from kanopy.hierarchy.suggest import suggest_hierarchies
    >>> found = suggest_hierarchies([17, 18, 25, 31, 44, 60] * 3, k=2)
    >>> page = suggestions_page("age", 2, [(one.method, one, None) for one in found])
    >>> "20–39" in page, "in the release" in page
    (True, False)
    """
    in_release = any(release is not None for _, _, release in proposals)
    titles = [
        "method",
        "loss",
        "typical loss",
        *(["in the release"] if in_release else []),
        "groups",
        "levels",
        "unsure",
    ]
    rows = []
    for name, one, release in proposals:
        released = [("–" if release is None else f"{release:.4f}")] if in_release else []
        counts = [f"{one.groups:,}", str(one.hierarchy.height + 1), str(len(one.unsure))]
        rows.append([name, f"{one.loss:.4f}", f"{one.typical_loss:.4f}", *released, *counts])
    ranking = table("best first", titles, rows, list(range(1, len(titles))))
    best = proposals[0][1]
    return shell(
        f"Hierarchies for {column}",
        column,
        verdict=f"{proposals[0][0]} comes first: {best.reason}.",
        sentences=[
            f"Loss: at the lowest level with groups of at least {k} rows; typical: averaged over larger groups. Of "
            f"those that lose at most 5 % more than the best{' in the release' if in_release else ''}, what reads well "
            "comes first."
        ],
        parts=[
            ("ranking", "Ranking", section("Ranking", "", ranking)),
            *(
                (f"p{number}", name, section(name, one.reason, _drawn(one)))
                for number, (name, one, _) in enumerate(proposals[:MOST_DRAWN])
            ),
        ],
        script=tree_script(),
    )


def _drawn(one: Suggestion) -> str:
    h = one.hierarchy
    unsure = f"{plural(len(one.unsure), 'value')} of unsure meaning: {some(one.unsure)}" if one.unsure else ""
    picture = framed_picture(icicle_svg(h, (), {})) if can_draw(h) else ""
    return (bullets([unsure]) if unsure else "") + picture + (folding_tree(h) if h.nested else "")
