"""Risk in plain words: the sections of the risk page and of a release's report.

Each takes what `RiskAssessment.to_dict` gives for one table, and for a release also what it gives `after`: then both
stand side by side. A section about which nothing is known is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.metrics.risk.class_sizes import SizeBin
from kanopy.report.charts import assessment as charts
from kanopy.report.charts.release_charts import class_sizes, rows_at_risk
from kanopy.report.shell import LEGEND, drawing, explained, fold, pair, part, records, table
from kanopy.report.text import listed, of_counted, percent, sentence, told, whole, worded

Found = Mapping[str, Any]

MOST_HEAT, MOST_SUBSETS = 10, 15

SIZE = "Rows in the group"


def groups(results: Found, after: Found | None = None) -> str:
    """Classes by size."""
    sides = [_bins(side) for side in _sides(results, after)]
    longest = max(sides, key=len)
    rows = []
    for number, size_bin in enumerate(longest):
        bins_at = [side[number] if number < len(side) else SizeBin(0, 0, 0, 0) for side in sides]
        rows.append([size_bin.label, *(whole(count) for one in bins_at for count in (one.classes, one.rows))])
    heads = [of_counted(SIZE), *_heads(("Groups", of_counted("Rows")), after)]
    listing = table("Groups by size", heads, rows, range(1, len(heads)))
    if after is None:
        total = sum(size_bin.rows for size_bin in longest) or 1
        chart = charts.columns_chart(
            [(b.label, b.rows / total) for b in longest[:12]], of_counted("Share of rows"), of_counted(SIZE)
        )
        picture = drawing(chart, "sizes", told("risk.groups.described"))
        return part("risk.groups", pair(picture, listing), change="", own=_own(results))
    described = sentence("risk.groups.described_both", before=results, after=after)
    before = {**results, "rows": members(results)}
    change = sentence("risk.groups.change", before=before, after=after)
    picture = drawing(class_sizes(*sides), "sizes", described, LEGEND)
    return part("risk.groups", pair(picture, listing), change=change, own=_own(results))


def members(results: Found) -> int:
    """How many there are of what is counted: rows, or people."""
    return int(results.get("units", results["rows"]))


def over(results: Found) -> str:
    """What a risk is one over: the smallest group, or those who fit what may be known."""
    words: list[str] = told("risk.over")
    return words[1] if results.get("known", 1) == 1 else words[0]


def _own(results: Found) -> str:
    """What the risk of one row, or person, is one over."""
    words: list[str] = told("risk.own")
    return over(results) if results.get("known", 1) != 1 else words["units" in results]


def _sides(results: Found, after: Found | None) -> list[Found]:
    return [results] if after is None else [results, after]


def _heads(names: Sequence[str], after: Found | None) -> list[str]:
    """Heads of columns that tell of one table, or of both."""
    return [f"{name}{phase}" for phase in ([""] if after is None else [" before", " after"]) for name in names]


def _bins(results: Found) -> list[SizeBin]:
    return [SizeBin(entry["from"], entry["to"], entry["classes"], entry["rows"]) for entry in results["class_sizes"]]


def attackers(results: Found, after: Found | None = None) -> str:
    """Prosecutor, journalist, marketer, rows that stand alone, and rows above each risk."""
    journalist = results["journalist"]
    sides = _sides(results, after)
    heads = ["Risk"] if after is None else ["Before", "After"]
    about = told("risk.attackers.lines") + (told("risk.attackers.lines_map") if journalist["k_map"] is not None else [])
    basis = told("risk.attackers.basis")[journalist["basis"]]
    rows = [
        [name, *(worded(number, side) for side in sides), worded(words, {"basis": basis, "over": over(results)})]
        for name, number, words in about
    ]
    listing = table("Three attackers", ["Attack", *heads, "In words"], rows, range(1, len(sides) + 1))
    return part("risk.attackers", listing, _at_risk(sides))


def _at_risk(sides: Sequence[Found]) -> str:
    """How many rows lie above each risk."""
    limits = [side["rows_at_risk"] for side in sides]
    heads = [of_counted(head) for head in (["Rows"] if len(sides) == 1 else ["Rows before", "Rows after"])]
    rows = [
        [
            f"above {percent(first['above'])}",
            f"fewer than {round(1 / first['above']):,}" if first["above"] else "any",
            *(f"{whole(risk_row['rows'])} ({percent(risk_row['share'])})" for risk_row in (first, *rest)),
        ]
        for first, *rest in zip(*limits, strict=True)
    ]
    described = "; ".join(
        f"above {percent(first['above'])}: " + ", then ".join(percent(risk_row["share"]) for risk_row in (first, *rest))
        for first, *rest in zip(*limits, strict=True)
    )
    if len(sides) == 1:
        over = [(f"above {percent(entry['above'])}", entry["share"]) for entry in limits[0]]
        picture = drawing(
            charts.bars(over, of_counted("Share of rows")), "limits", of_counted(f"Rows above each risk. {described}")
        )
    else:
        picture = drawing(rows_at_risk(*limits), "limits", of_counted(f"Rows above each risk. {described}"), LEGEND)
    listing = table(
        of_counted("Rows at risk"),
        [of_counted("Risk of a row"), of_counted(SIZE), *heads],
        rows,
        range(2, len(sides) + 2),
    )
    return pair(picture, listing)


def population(results: Found, after: Found | None = None) -> str:
    """How many people are estimated to be unique in the population."""
    uniques = results["population"]
    if uniques is None:
        return ""
    estimates = [side["population"] for side in _sides(results, after)]
    rows, drawn = [], []
    for key, (name, words) in told("risk.population.models").items():
        cells = []
        for side in estimates:
            estimate = None if side is None else side[key]
            cells += ["–" if estimate is None else whole(round(estimate["people"]))]
            cells += ["no estimate" if estimate is None else percent(estimate["share"])]
        chosen = " (chosen)" if key == uniques["chosen"] else ""
        rows.append([name + chosen, *cells, words])
        if uniques[key] is not None:
            drawn.append((name + chosen, uniques[key]["share"]))
    chart = charts.bars(drawn, "Share of the population that is unique", top=None) if drawn and after is None else None
    picture = drawing(chart, "uniques", "Estimated share of unique people by model") if chart else ""
    heads = _heads(("People", "Share"), after)
    told_change = ""
    if after is not None:
        share = "none" if estimates[-1] is None else percent(estimates[-1]["dankar"]["share"])
        told_change = sentence("risk.population.change", before=percent(uniques["dankar"]["share"]), after=share)
    listing = table("Unique people", ["Model", *heads, "What it assumes"], rows, range(1, len(heads) + 1))
    return part("risk.population", told_change, picture, listing, **uniques)


def columns(results: Found) -> str:
    """Distinction and separation of columns and sets of columns."""
    identifying = results["identifying"]
    if identifying is None:
        return ""
    subsets = identifying["subsets"]
    singles = {subset["columns"][0]: subset for subset in subsets if len(subset["columns"]) == 1}
    ordered = sorted(singles, key=lambda name: -singles[name]["separation"])
    chart = charts.bars([(name, singles[name]["separation"]) for name in ordered[:20]], "Pairs of rows told apart")
    names_shown = ordered[:MOST_HEAT]
    number_of_name = {name: number for number, name in enumerate(names_shown)}
    cells: dict[tuple[int, int], float] = {}
    for subset in subsets:
        names = subset["columns"]
        if len(names) <= 2 and all(name in number_of_name for name in names):
            i, j = number_of_name[names[0]], number_of_name[names[-1]]
            cells[i, j] = cells[j, i] = subset["unique_share"]
    heat = charts.heat(names_shown, cells, "Unique rows by one column (diagonal) or two")
    largest = sorted(subsets, key=lambda subset: (-subset["unique_share"], len(subset["columns"])))[:MOST_SUBSETS]
    largest = [{**subset, "names": " + ".join(subset["columns"])} for subset in largest]
    facts = [("Suggested as quasi-identifiers", listed(identifying["suggested"], 20) or "none")]
    if identifying["identifiers"]:
        facts.append(("Name people directly", listed(identifying["identifiers"], 20)))
    if identifying["passed_over"]:
        facts.append(("Passed over (too many columns)", listed(identifying["passed_over"], 12)))
    return part(
        "risk.columns",
        explained(facts),
        pair(
            drawing(chart, "separation", "Share of pairs told apart by each column"),
            drawing(heat, "pairs", "Share of unique rows by pairs of columns"),
        ),
        records("risk.columns", largest),
        sets=len(subsets),
        **identifying,
    )


def attacks(results: Found) -> str:
    """Record linkage of the original against the release."""
    if not results["attacks"]:
        return ""
    kinds = told("risk.attacks.kinds")
    tried = [
        {**entry, "attack": entry["kind"].capitalize(), "how": kinds.get(entry["kind"], "")}
        for entry in results["attacks"]
    ]
    first = tried[0]
    sample = "" if first["attempts"] == first["people"] else f" (a random sample of {whole(first['people'])})"
    return part("risk.attacks", records("risk.attacks", tried), attempts=first["attempts"], sample=sample)


def knowing_more(results: Found) -> str:
    """What the order of rows, an earlier release, and the time between the two give away."""
    numbers = {name: side for name in ("row_order", "beside") if (side := results.get(name)) is not None}
    if not numbers:
        return ""
    names = ["order"] if "row_order" in numbers else []
    if (both := numbers.get("beside")) is not None:
        ways = told("risk.more.joined")
        more = {"how": ways.get(both["joined_by"], f"joined by {both['joined_by']}")}
        more["narrowed"] = listed([f"{name} ({whole(rows)})" for name, rows in both["narrowed"].items()], 12)
        tables = both["counted"] != "rows"
        more["other"] = "the other release or table" if tables else "the earlier release"
        if both["releases"] > 1:
            more["other"] = f"{whole(both['releases'])} other releases or tables"
        one = {"people": "person"}.get(both["counted"], both["counted"].removesuffix("s"))
        for to, number in (("known", both["rows"]), ("came", both["added"])):
            more[to] = f"{whole(number)} {one if number == 1 else both['counted']}"
        numbers["beside"] = both | more
        names += ["together", "time"]
    texts = [told(f"risk.more.{name}") for name in names]
    rows = [[worded(text, numbers) for text in line] for line in texts]
    return part("risk.more", table("Other attacks", ["Attack", "Found", "In words"], rows, [1]))


def disclosure(results: Found, after: Found | None = None) -> str:
    """What groups say about sensitive columns."""
    sides = [("", results)] if after is None else [("before", results), ("after", after)]
    if not results["disclosure"]:
        return ""
    given = [
        {
            **entry,
            "name": f"{entry['column']}, {phase}" if phase else entry["column"],
            "certain_share": entry["certain_rows"] / (entry["rows"] or 1),
            "likely_share": entry["likely_rows"] / (entry["rows"] or 1),
        }
        for phase, side in sides
        for entry in side["disclosure"]
    ]
    # The two sides of a column stand together.
    given = [given[i] for i in sorted(range(len(given)), key=lambda i: i % len(results["disclosure"]))]
    certain = [(entry["name"], entry["certain_share"]) for entry in given]
    chart = charts.bars(certain, of_counted("Rows whose group discloses the value"))
    picture = drawing(chart, "given", of_counted("Share of rows whose group discloses the value"))
    level = results["disclosure"][0]["level"]
    return part("risk.disclosure", picture, records("risk.disclosure", given, level=level), level=level)


def examples(given_away: Mapping[str, Sequence[Found]]) -> str:
    """Groups that give a value away, with that value: for eyes that may see the table."""
    return "".join(
        _examples(name, examples_of_column) for name, examples_of_column in given_away.items() if examples_of_column
    )


def _examples(name: str, examples_of_column: Sequence[Found]) -> str:
    groups = [
        {**entry, "group": ", ".join(f"{column} = {value}" for column, value in entry["class"].items())}
        for entry in examples_of_column
    ]
    return fold(name, "examples", records("risk.examples", groups, name=name))
