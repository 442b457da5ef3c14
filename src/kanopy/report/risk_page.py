"""The page of `kanopy risk`: how likely people in a table are to be found again, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.report import assessment_charts as charts
from kanopy.report.shell import drawing, shell, table
from kanopy.report.words import esc, listed, percent, plural, whole

MOST_HEAT, MOST_SUBSETS = 10, 15

BASES = {
    "worst-case": "Nothing was said about the population, so the table is taken for all of it: the worst case.",
    "estimated": "Estimated from the sampling fraction: how many people outside the table share a row's values.",
    "counted": "Counted in the population table.",
}
MODELS = {
    "pitman": ("Pitman", "The sample splits into groups by Pitman's sampling formula (Hoshino 2001)."),
    "zayatz": ("Zayatz", "Groups of the population have the sizes of those of the sample (Zayatz 1991)."),
    "snb": ("Slide negative binomial", "Group sizes follow a shifted negative binomial (Chen, Keller-McNulty 1998)."),
}


def risk_page(
    found: Mapping[str, Any],
    *,
    given_away: Mapping[str, Sequence[Mapping[str, Any]]],
    source: str,
    version: str,
) -> str:
    """The whole page from what `RiskAssessment.to_dict` gives; `given_away` are examples with values."""
    limit = found["threshold"]
    good = limit["rows"] == 0
    verdict = (
        f"No row is above the accepted risk of {percent(limit['above'])}."
        if good
        else f"{percent(limit['share'])} of rows are above the accepted risk of {percent(limit['above'])}."
    )
    names = found["quasi_identifiers"]
    sentences = [
        f"Judged by {plural(len(names), 'column')} that others may know: {listed(names, 12)}."
        + (" They were suggested by the table itself; name your own with -q." if _suggested(found) else ""),
        f"{plural(found['unique_rows'], 'row')} of {whole(found['rows'])} stand alone: nobody shares their combination "
        "of these values.",
    ]
    warning = "This page describes the table. Keep it as safe as the table itself" + (
        ": it names values that groups give away." if any(given_away.values()) else "."
    )
    parts = [
        ("groups", "Groups", _groups(found)),
        ("attackers", "Attackers", _attackers(found)),
        ("population", "Population", _population(found)),
        ("columns", "Columns", _columns(found)),
        ("linkage", "Linkage attack", _attacks(found)),
        ("disclosure", "Given away", _disclosure(found, given_away)),
    ]
    footer = "Suppressed rows publish no quasi-identifier: they are in no group and in no denominator."
    return shell(
        "Risk assessment", source, version,
        good=good, verdict=verdict, sentences=sentences, warning=warning,
        tiles=_tiles(found), parts=parts, footer=footer,
    )  # fmt: skip


def _suggested(found: Mapping[str, Any]) -> bool:
    return bool(found["quasi_identifiers_suggested"])


def _tiles(found: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    tiles = [
        ("Smallest group", plural(found["k"], "row"), f"{plural(found['classes'], 'group')} in all"),
        ("Highest risk", percent(found["prosecutor"]["highest"]), "one over the smallest group"),
        ("Average risk", percent(found["prosecutor"]["average"]), "of a row picked at random"),
        ("Rows that stand alone", percent(found["unique_share"]), whole(found["unique_rows"])),
        ("Expected matches", percent(found["marketer"]), "of rows, if all were linked to a register"),
    ]
    population = found["population"]
    if population is not None:
        share = population["dankar"]["share"]
        note = f"of {whole(population['population'])} people, estimated ({population['chosen']})"
        tiles.append(("Unique in the population", percent(share), note))
    elif found["journalist"]["k_map"] is not None:
        tiles.append(("k-map", whole(found["journalist"]["k_map"]), "people share each row's values at least"))
    return tiles


def _groups(found: Mapping[str, Any]) -> str:
    bins = found["class_sizes"]
    total = sum(each["rows"] for each in bins) or 1
    labels = [_range(each["from"], each["to"]) for each in bins]
    shares = [(label, each["rows"] / total) for label, each in zip(labels, bins, strict=True)]
    chart = charts.columns_chart(shares[:12], "Share of rows", "Rows in the group")
    rows = [[label, whole(each["classes"]), whole(each["rows"])] for label, each in zip(labels, bins, strict=True)]
    limits = found["rows_at_risk"]
    over = [(f"above {percent(each['above'])}", each["share"]) for each in limits]
    second = charts.bars(over, "Share of rows")
    described = "; ".join(f"{name}: {percent(share)}" for name, share in over)
    return (
        "<h2>How large the groups are</h2><p>Rows that agree in all quasi-identifiers form a group; its members cannot "
        "be told apart by what others know. The risk of a row is one over the size of its group.</p>"
        f'<div class="pair">{drawing(chart, "sizes", "Share of rows by the size of their group")}'
        f"{table('Groups by size', ['Rows in the group', 'Groups', 'Rows'], rows, [1, 2])}</div>"
        f"{drawing(second, 'limits', 'Rows above each risk. ' + described, 'Rows above each risk.')}"
    )


def _range(low: int, high: int) -> str:
    return whole(low) if low == high else f"{whole(low)}–{whole(high)}"


def _attackers(found: Mapping[str, Any]) -> str:
    prosecutor, journalist = found["prosecutor"], found["journalist"]
    rows = [
        ["Prosecutor, highest", percent(prosecutor["highest"]), "Someone who knows that a person is in the table and "
         "looks for the row: the chance of picking the right one, for the person easiest to find."],
        ["Prosecutor, average", percent(prosecutor["average"]), "The same for a person picked at random."],
        ["Journalist, highest", percent(journalist["highest"]), "Someone who does not know who is in the table. "
         + BASES[journalist["basis"]]],
        ["Journalist, average", percent(journalist["average"]), "The same for a person picked at random."],
        ["Marketer", percent(found["marketer"]), "Someone links the whole table to a register: the share of rows "
         "expected to be matched rightly."],
    ]  # fmt: skip
    if journalist["k_map"] is not None:
        rows.append(["k-map", whole(journalist["k_map"]), "At least so many people of the population share the values "
                     "of any row."])  # fmt: skip
        presence = percent(journalist["highest_presence"])
        rows.append(["Presence, highest", presence, "The largest share of a population group that is in the table: how "
                     "sure one can be that a member of it is."])  # fmt: skip
    return "<h2>Three attackers</h2><p>They differ in what they know and what they want.</p>" + table(
        "Risks", ["Attack", "Risk", "In words"], rows, [1]
    )


def _population(found: Mapping[str, Any]) -> str:
    population = found["population"]
    if population is None:
        return ""
    rows, drawn = [], []
    for key, (name, words) in MODELS.items():
        estimate = population[key]
        chosen = " (chosen)" if key == population["chosen"] else ""
        people = "–" if estimate is None else whole(round(estimate["people"]))
        share = "no estimate" if estimate is None else percent(estimate["share"])
        rows.append([name + chosen, people, share, words])
        if estimate is not None:
            drawn.append((name + chosen, estimate["share"]))
    chart = charts.bars(drawn, "Share of the population that is unique", top=None) if drawn else None
    picture = drawing(chart, "uniques", "Estimated share of unique people by model") if chart else ""
    return (
        "<h2>How many people are unique in the population</h2><p>"
        f"The table holds {esc(percent(population['sampling_fraction']))} of {whole(population['population'])} people. "
        "Who stands alone in the table may have doubles outside it. Three models estimate how many people have none; "
        "which one to trust depends on the sampling fraction (Dankar et al. 2012): up to 10% Pitman's, above it the "
        "smaller of the other two.</p>"
        f"{picture}{table('Unique people', ['Model', 'People', 'Share', 'What it assumes'], rows, [1, 2])}"
    )


def _columns(found: Mapping[str, Any]) -> str:
    identifying = found["identifying"]
    if identifying is None:
        return ""
    subsets = identifying["subsets"]
    singles = {each["columns"][0]: each for each in subsets if len(each["columns"]) == 1}
    ordered = sorted(singles, key=lambda name: -singles[name]["separation"])
    chart = charts.bars([(name, singles[name]["separation"]) for name in ordered[:20]], "Pairs of rows told apart")
    shown = ordered[:MOST_HEAT]
    place = {name: number for number, name in enumerate(shown)}
    cells: dict[tuple[int, int], float] = {}
    for each in subsets:
        columns = each["columns"]
        if len(columns) <= 2 and all(name in place for name in columns):
            i, j = place[columns[0]], place[columns[-1]]
            cells[i, j] = cells[j, i] = each["unique_share"]
    heat = charts.heat(shown, cells, "Rows that stand alone by one column (diagonal) or two")
    largest = sorted(subsets, key=lambda each: (-each["unique_share"], len(each["columns"])))[:MOST_SUBSETS]
    rows = [
        [
            " + ".join(each["columns"]),
            whole(each["combinations"]),
            percent(each["distinction"]),
            percent(each["separation"]),
            f"{whole(each['unique_rows'])} ({percent(each['unique_share'])})",
        ]
        for each in largest
    ]
    facts = [("Suggested as quasi-identifiers", listed(identifying["suggested"], 20) or "none")]
    if identifying["identifiers"]:
        facts.append(("Name people directly", listed(identifying["identifiers"], 20)))
    if identifying["passed_over"]:
        facts.append(("Passed over (too many columns)", listed(identifying["passed_over"], 12)))
    listing = "".join(f"<dt>{esc(name)}</dt><dd>{esc(text)}</dd>" for name, text in facts)
    every = f"Every set of up to {plural(identifying['largest'], 'column')} was looked at ({whole(len(subsets))} sets)"
    return (
        "<h2>Which columns identify people</h2><p>Separation is the share of pairs of rows that differ, distinction "
        f"the share of different combinations among all rows (Motwani and Xu 2007). {every}; a column is suggested if "
        f"it singles out {esc(percent(identifying['level']))} of the rows more when added to others.</p>"
        f'<dl class="facts">{listing}</dl><div class="pair">'
        f"{drawing(chart, 'separation', 'Share of pairs told apart by each column')}"
        f"{drawing(heat, 'pairs', 'Share of rows that stand alone by pairs of columns')}</div>"
        + table(
            "Sets that single out most rows",
            ["Columns", "Combinations", "Distinction", "Separation", "Rows that stand alone"],
            rows,
            [1, 2, 3, 4],
        )
    )


def _attacks(found: Mapping[str, Any]) -> str:
    attacks = found["attacks"]
    if not attacks:
        return ""
    words = {
        "exact": "Takes the published rows that allow all that is known.",
        "nearest": "Takes the nearest published rows, numbers and categories together.",
    }
    rows = [
        [
            each["kind"].capitalize(),
            f"{each['found']:,.1f} ({percent(each['share'])})",
            whole(each["certain"]),
            whole(each["wrong"]),
            whole(each["unmatched"]),
            percent(each["highest_risk"]),
            f"{each['median_candidates']:,.0f}",
            words.get(each["kind"], ""),
        ]
        for each in attacks
    ]
    people = attacks[0]
    sample = "" if people["attempts"] == people["people"] else f" (a random sample of {whole(people['people'])})"
    return (
        "<h2>Attacking the release</h2><p>Someone knows the original quasi-identifiers of "
        f"{whole(people['attempts'])} people{sample} and looks for their rows in the release; among several candidates "
        "one is picked at random.</p>"
        + table(
            "Record linkage",
            ["Attack", "Found", "Certain", "Wrong", "Unmatched", "Highest risk", "Candidates (median)", "How"],
            rows,
            [1, 2, 3, 4, 5, 6],
        )
    )


def _disclosure(found: Mapping[str, Any], given_away: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    columns = found["disclosure"]
    if not columns:
        return ""
    rows = [
        [
            each["column"],
            whole(each["distinct"]),
            f"{whole(each['certain_rows'])} ({percent(each['certain_rows'] / each['rows'] if each['rows'] else 0)})",
            f"{whole(each['likely_rows'])} ({percent(each['likely_rows'] / each['rows'] if each['rows'] else 0)})",
            percent(each["baseline"]),
            percent(each["expected_confidence"]),
            f"{each['information']:.2f} of {each['uncertainty']:.2f}",
            percent(each["largest_shift"]),
        ]
        for each in columns
    ]
    level = percent(columns[0]["level"])
    pairs = [(each["column"], each["certain_rows"] / each["rows"] if each["rows"] else 0.0) for each in columns]
    chart = charts.bars(pairs, "Rows whose group holds a single value")
    examples = "".join(_examples(name, lines) for name, lines in given_away.items() if lines)
    return (
        "<h2>What groups give away</h2><p>Who knows a person's group learns what its rows have in common, without "
        "knowing which row it is. A guess is given away if the group makes it much more certain than it was for "
        "anybody.</p>"
        + drawing(chart, "given", "Share of rows whose group holds a single value")
        + table(
            "Sensitive columns",
            [
                "Column",
                "Fewest values in a group",
                "Rows with a single value",
                f"Rows {level} certain",
                "Best guess for anybody",
                "Best guess by group",
                "Bits learned",
                "Largest shift",
            ],
            rows,
            [1, 2, 3, 4, 5, 6, 7],
        )
        + examples
    )


def _examples(name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    rows = [
        [
            ", ".join(f"{column} = {value}" for column, value in line["class"].items()),
            str(line["value"]),
            whole(line["rows"]),
            percent(line["confidence"]),
        ]
        for line in lines
    ]
    inner = table(f"Groups that give {name} away", ["Group", "Value", "Rows", "Certainty"], rows, [2, 3])
    return f"<details><summary><b>{esc(name)}</b>: examples</summary><div class='in'>{inner}</div></details>"
