"""All papers at once: every item of each, its place in Kanopy, and what is true of it.

The items are listed in `items.txt`. Where an item is a claim, its verdict is the one that rerunning the paper computes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kanopy._progress import SILENT, Progress
from kanopy.report.shell import Tile, fold, section, shell, table
from kanopy.report.text import Markup, esc, plural
from kanopy_papers.reproduction import PAPERS, RATED, VERDICTS, Claim, Reproduction, reproduce_paper

if TYPE_CHECKING:
    from collections.abc import Iterator

ITEMS = Path(__file__).with_name("items.txt")
STATES = ("done", "claim", "partly", "not done", "not defined")
MARKS = {"done": "✓", "not checked": "○", "holds": "✓", "does not hold": "✗", "not decidable": "?", "partly": "◐",
         "not done": "–", "not defined": "·"}  # fmt: skip
TITLES = {
    "ayala2014": "Ayala-Rivera et al. 2014: quality of hierarchies by an ontology",
    "campan2011": "Campan, Cooper, Truta 2011: on-the-fly hierarchies",
    "martinez2010": "Martínez 2010: masking text by meaning (master thesis, with its appended papers)",
    "yaseen2018": "Yaseen et al. 2018: hierarchies by halving, divisors and cardinality",
}


@dataclass(frozen=True)
class Item:
    """Something a paper defines, does or claims: where, what, its place in Kanopy, its state and why."""

    paper: str
    part: str
    what: str
    place: str
    state: str
    why: str = ""


@lru_cache(maxsize=1)
def items() -> tuple[Item, ...]:
    """Every item of every paper.

    >>> first = items()[0]
    >>> first.paper, first.place
    ('ayala2014', 'kanopy.ontology.load:load_ontology')
    """
    return tuple(_read(ITEMS.read_text(encoding="utf-8").splitlines()))


def _read(lines: Sequence[str]) -> Iterator[Item]:
    paper = ""
    for line in lines:
        if line.startswith("["):
            paper = line.strip("[] ")
        elif line.strip() and not line.startswith("#"):
            item_part, what, name_in_kanopy, state = (text.strip() for text in line.split(" | "))
            name, _, why = state.partition(": ")
            yield Item(paper, item_part, what, name_in_kanopy, name, why)


@lru_cache(maxsize=256)
def _holds(check: str) -> bool:
    from kanopy_papers.checks import CHECKS

    return CHECKS[check]()


def claims_of(item: Item, reproduction: Reproduction) -> list[Claim]:
    """The claims of a rerun paper that an item stands for."""
    return [claim for claim in reproduction.claims if item.why in claim.claim]


def verdict_of(item: Item, reproduction: Reproduction) -> tuple[str, str]:
    """What is true of an item, in a word and in a sentence; of several claims how many hold.

    >>> verdict_of(Item("p", "1", "x", "y", "partly", "half of it"), None)
    ('partly', 'half of it')
    """
    if item.state == "done":
        if not item.why:
            return "not checked", "there, but nothing is computed here that could show it to be wrong"
        return ("done", f"computed: {item.why}") if _holds(item.why) else ("does not hold", f"computed: {item.why}")
    if item.state != "claim":
        return item.state, item.why
    claims = claims_of(item, reproduction)
    counts = Counter(claim.verdict for claim in claims)
    if len(claims) == 1:
        return claims[0].verdict, f"published: {claims[0].published}; here: {claims[0].ours}"
    listed = ", ".join(f"{counts[verdict_name]} {verdict_name}" for verdict_name in VERDICTS if counts[verdict_name])
    worst = next(verdict_name for verdict_name in ("does not hold", "not decidable", "holds") if counts[verdict_name])
    return worst, f"{plural(len(claims), 'claim')}: {listed}"


@dataclass(frozen=True)
class Overview:
    """The four papers rerun, and what is true of each of their items."""

    papers: Mapping[str, Reproduction]

    def rows(self) -> list[tuple[Item, str, str]]:
        """Every item with its verdict."""
        return [(item, *verdict_of(item, self.papers[item.paper])) for item in items()]

    def json(self) -> dict[str, Any]:
        """What `kanopy reproduce all --json` prints."""
        rows = self.rows()
        return {
            "paper": "all",
            "items": [
                {"paper": i.paper, "part": i.part, "item": i.what, "place": i.place, "verdict": word, "why": why}
                for i, word, why in rows
            ],
            "verdicts": dict(Counter(word for _, word, _ in rows)),
            "papers": {key: reproduction.json() for key, reproduction in self.papers.items()},
        }

    def page(self) -> str:
        """One page over all papers: a table per paper to tick off."""
        rows = self.rows()
        counts = Counter(word for _, word, _ in rows)
        tiles: list[Tile] = [
            (word, f"{mark} {counts[word]}", f"of {plural(len(rows), 'item')}")
            for word, mark in MARKS.items()
            if counts[word]
        ]
        parts = []
        for key, reproduction in self.papers.items():
            item_rows = [
                [item.part, item.what, Markup(f"<code>{esc(item.place)}</code>"), f"{MARKS[word]} {word}", why]
                for item, word, why in rows
                if item.paper == key
            ]
            listing = table(
                TITLES[key], ["In the paper", "Item", "In Kanopy", "Verdict", "Why, or what came out"], item_rows
            )
            link = f'<p><a href="{key}/index.html">{esc(reproduction.title)}</a>: claims, figures and tables.</p>'
            items_of = fold("Items", plural(len(item_rows), "item"), listing, opened=True)
            parts.append((key, key, section(TITLES[key], "", link, items_of)))
        return shell(
            "Reproduction of four papers",
            "all",
            verdict="What four papers define, do and claim, and its place in Kanopy",
            good=None,
            sentences=["Verdicts on claims are computed from the runs beside this page; the others say what is there."],
            tiles=tiles,
            parts=parts,
        )

    def write(self, folder: str | Path, progress: Progress = SILENT) -> list[Path]:
        """Every paper in a folder of its own, and the page over all of them (`index.html`)."""
        from kanopy._files import write_whole

        written = [
            path
            for key, reproduction in self.papers.items()
            for path in reproduction.write(Path(folder) / key, progress)
        ]
        written.append(Path(folder) / "index.html")
        write_whole(written[-1], self.page())
        return written


def reproduce_all(*, quick: bool = False, progress: Progress = SILENT, ratings: Sequence[Path] = ()) -> Overview:
    """Rerun the four papers."""
    given = {key: ratings if key == RATED else () for key in PAPERS}
    return Overview({key: reproduce_paper(key, quick=quick, progress=progress, ratings=given[key]) for key in PAPERS})


def markdown(overview: Overview) -> str:
    """The statement of what is implemented, as it stands in the documentation."""
    rows = overview.rows()
    lines = [
        "# The four papers, item by item",
        "",
        "What the papers behind Kanopy define, do and claim, where it is in Kanopy, and what is true of it. Verdicts "
        "on claims are those of `kanopy reproduce all`, computed with every run; what came out is on "
        "its page. *Done* is what a check computes and confirms (`reproductions/kanopy_papers/checks.py`); "
        "*not checked* is there, but nothing on this page shows that it is right. This page is made by "
        "`python tools/papers.py` from `reproductions/kanopy_papers/items.txt`.",
        "",
    ]
    counts = Counter(word for _, word, _ in rows)
    lines += ["| " + " | ".join(counts) + " | all |", "|" + "---|" * (len(counts) + 1)]
    lines += ["| " + " | ".join(map(str, counts.values())) + f" | {len(rows)} |", ""]
    for key in PAPERS:
        lines += [
            f"## {TITLES[key]}",
            "",
            "| in the paper | item | in Kanopy | verdict | why |",
            "|---|---|---|---|---|",
        ]
        for item, word, why in rows:
            if item.paper == key:
                reason = "" if item.state == "claim" or word == "not checked" else why
                cells = (item.part, item.what, f"`{item.place}`", f"{MARKS[word]} {word}", reason)
                lines.append("| " + " | ".join(cells) + " |")
        lines.append("")
    return "\n".join(lines)
