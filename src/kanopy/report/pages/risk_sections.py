"""Risk in plain words: the sections of the risk page and of a release's report.

Each takes what `RiskAssessment.to_dict` gives for one table, and for a release also what it gives `after`: then both
stand side by side. A section about which nothing is known is empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kanopy.metrics.risk.class_sizes import SizeBin
from kanopy.report.charts import assessment as charts
from kanopy.report.charts.release import class_sizes, rows_at_risk
from kanopy.report.shell import LEGEND, drawing, explained, fold, pair, records, section, table
from kanopy.report.words import listed, percent, plural, whole

Found = Mapping[str, Any]

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
ATTACKS = {
    "exact": "Takes the published rows that allow all that is known.",
    "nearest": "Takes the nearest published rows, numbers and categories together.",
}


def groups(found: Found, after: Found | None = None) -> str:
    """Classes by size."""
    title = "How large the groups are"
    intro = (
        "Rows that agree in all quasi-identifiers form a group; its members cannot be told apart by what others know. "
        "The risk of a row is one over the size of its group."
    )
    bins = _bins(found)
    if after is None:
        total = sum(each.rows for each in bins) or 1
        chart = charts.columns_chart([(b.label, b.rows / total) for b in bins[:12]], "Share of rows", _SIZE)
        rows = [[each.label, whole(each.classes), whole(each.rows)] for each in bins]
        picture = drawing(chart, "sizes", "Share of rows by the size of their group")
        return section(title, intro, pair(picture, table("Groups by size", [_SIZE, "Groups", "Rows"], rows, [1, 2])))
    others = _bins(after)
    longer = bins if len(bins) >= len(others) else others
    lines = []
    for number, each in enumerate(longer):
        sides = [own[number] if number < len(own) else None for own in (bins, others)]
        counts = [whole(count) for own in sides for count in ((own.classes, own.rows) if own else (0, 0))]
        lines.append([each.label, *counts])
    described = (
        "Share of rows by the size of their group, before and after. "
        f"Before, {percent(found['unique_share'])} of rows were alone; "
        f"after, the smallest group has {plural(after['smallest_class'], 'row')}."
    )
    heads = [_SIZE, "Groups before", "Rows before", "Groups after", "Rows after"]
    alone = f"Before, {plural(found['unique_rows'], 'row')} of {whole(found['rows'])} stood alone"
    now = "1 does" if after["unique_rows"] == 1 else f"{whole(after['unique_rows'])} do"
    picture = drawing(class_sizes(bins, others), "sizes", described, LEGEND)
    listing = table("Groups by size", heads, lines, [1, 2, 3, 4])
    return section(title, f"{intro} {alone}; now {now}.", pair(picture, listing))


_SIZE = "Rows in the group"


def _bins(found: Found) -> list[SizeBin]:
    return [SizeBin(each["from"], each["to"], each["classes"], each["rows"]) for each in found["class_sizes"]]


def attackers(found: Found, after: Found | None = None) -> str:
    """Prosecutor, journalist, marketer, rows that stand alone, and rows above each risk."""
    journalist = found["journalist"]
    lines: list[tuple[str, Any, str]] = [
        ("Prosecutor, highest", lambda f: percent(f["prosecutor"]["highest"]),
         "Someone who knows that a person is in the table and looks for the row: the chance of picking the right one, "
         "for the person easiest to find. It is one over the smallest group."),
        ("Prosecutor, average", lambda f: percent(f["prosecutor"]["average"]),
         "The same for a person picked at random."),
        ("Journalist, highest", lambda f: percent(f["journalist"]["highest"]),
         "Someone who does not know who is in the table. " + BASES[journalist["basis"]]),
        ("Journalist, average", lambda f: percent(f["journalist"]["average"]),
         "The same for a person picked at random."),
        ("Marketer", lambda f: percent(f["marketer"]),
         "Someone links the whole table to a register: the share of rows expected to be matched rightly."),
        ("Rows that stand alone", lambda f: f"{whole(f['unique_rows'])} ({percent(f['unique_share'])})",
         "Rows with a combination of quasi-identifiers that no other row has."),
    ]  # fmt: skip
    if journalist["k_map"] is not None:
        lines += [
            ("k-map", lambda f: "–" if f["journalist"]["k_map"] is None else whole(f["journalist"]["k_map"]),
             "At least so many people of the population share the values of any row."),
            ("Presence, highest", lambda f: percent(f["journalist"]["highest_presence"]),
             "The largest share of a population group that is in the table: how sure one can be that a member of it "
             "is."),
        ]  # fmt: skip
    sides = [found] if after is None else [found, after]
    heads = ["Risk"] if after is None else ["Before", "After"]
    rows = [[name, *(number(side) for side in sides), words] for name, number, words in lines]
    return section(
        "How likely someone is to be found again",
        "Three attackers, who differ in what they know and what they want. Suppressed rows publish no quasi-identifier"
        ": they are in no group, and all shares are shares of published rows.",
        table("Three attackers", ["Attack", *heads, "In words"], rows, range(1, len(sides) + 1)),
        _at_risk(sides),
    )


def _at_risk(sides: Sequence[Found]) -> str:
    """How many rows lie above each risk."""
    limits = [side["rows_at_risk"] for side in sides]
    heads = ["Rows"] if len(sides) == 1 else ["Rows before", "Rows after"]
    rows = [
        [
            f"above {percent(first['above'])}",
            f"fewer than {round(1 / first['above']):,}" if first["above"] else "any",
            *(f"{whole(own['rows'])} ({percent(own['share'])})" for own in (first, *rest)),
        ]
        for first, *rest in zip(*limits, strict=True)
    ]
    described = "; ".join(
        f"above {percent(first['above'])}: " + ", then ".join(percent(own["share"]) for own in (first, *rest))
        for first, *rest in zip(*limits, strict=True)
    )
    if len(sides) == 1:
        over = [(f"above {percent(each['above'])}", each["share"]) for each in limits[0]]
        picture = drawing(charts.bars(over, "Share of rows"), "limits", f"Rows above each risk. {described}")
    else:
        picture = drawing(rows_at_risk(*limits), "limits", f"Rows above each risk. {described}", LEGEND)
    listing = table("Rows at risk", ["Risk of a row", _SIZE, *heads], rows, range(2, len(sides) + 2))
    return pair(picture, listing)


def _rows_and_share(found: tuple[int, float]) -> str:
    return f"{whole(found[0])} ({percent(found[1])})"


def population(found: Found, after: Found | None = None) -> str:
    """How many people are estimated to be unique in the population."""
    sides = [found] if after is None else [found, after]
    own = found["population"]
    if own is None:
        return ""
    estimates = [side["population"] for side in sides]
    rows, drawn = [], []
    for key, (name, words) in MODELS.items():
        cells = []
        for side in estimates:
            estimate = None if side is None else side[key]
            cells += ["–" if estimate is None else whole(round(estimate["people"]))]
            cells += ["no estimate" if estimate is None else percent(estimate["share"])]
        chosen = " (chosen)" if key == own["chosen"] else ""
        rows.append([name + chosen, *cells, words])
        if own[key] is not None:
            drawn.append((name + chosen, own[key]["share"]))
    chart = charts.bars(drawn, "Share of the population that is unique", top=None) if drawn and after is None else None
    picture = drawing(chart, "uniques", "Estimated share of unique people by model") if chart else ""
    phases = [""] if after is None else [" before", " after"]
    heads = [f"{what}{phase}" for phase in phases for what in ("People", "Share")]
    later = estimates[-1]
    told = ""
    if after is not None:
        share = "none" if later is None else percent(later["dankar"]["share"])
        told = (
            f"<p>Before, an estimated {percent(own['dankar']['share'])} of the population could be singled out "
            f"by the quasi-identifiers; after, {share}.</p>"
        )
    return section(
        "How many people are unique in the population",
        f"The table holds {percent(own['sampling_fraction'])} of {plural(own['population'], 'person', 'people')}. "
        "Who stands alone in the table may have doubles outside it. Three models estimate how many people have none; "
        "which one to trust depends on the sampling fraction (Dankar et al. 2012): up to 10% Pitman's, above it the "
        "smaller of the other two. Read them as orders of magnitude.",
        told,
        picture,
        table("Unique people", ["Model", *heads, "What it assumes"], rows, range(1, len(heads) + 1)),
    )


def columns(found: Found) -> str:
    """Distinction and separation of columns and sets of columns."""
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
        names = each["columns"]
        if len(names) <= 2 and all(name in place for name in names):
            i, j = place[names[0]], place[names[-1]]
            cells[i, j] = cells[j, i] = each["unique_share"]
    heat = charts.heat(shown, cells, "Rows that stand alone by one column (diagonal) or two")
    largest = sorted(subsets, key=lambda each: (-each["unique_share"], len(each["columns"])))[:MOST_SUBSETS]
    listing = records("Sets that single out most rows", largest, [
        ("Columns", lambda each: " + ".join(each["columns"]), str), ("Combinations", "combinations", whole),
        ("Distinction", "distinction", percent), ("Separation", "separation", percent),
        ("Rows that stand alone", lambda each: (each["unique_rows"], each["unique_share"]), _rows_and_share),
    ])  # fmt: skip
    facts = [("Suggested as quasi-identifiers", listed(identifying["suggested"], 20) or "none")]
    if identifying["identifiers"]:
        facts.append(("Name people directly", listed(identifying["identifiers"], 20)))
    if identifying["passed_over"]:
        facts.append(("Passed over (too many columns)", listed(identifying["passed_over"], 12)))
    every = (
        f"Every set of up to {plural(identifying['largest'], 'column')} was looked at ({plural(len(subsets), 'set')})"
    )
    return section(
        "Which columns identify people",
        "Separation is the share of pairs of rows that differ, distinction the share of different combinations among "
        f"all rows (Motwani and Xu 2007). {every}; a column is suggested if it singles out "
        f"{percent(identifying['level'])} of the rows more when added to others.",
        explained(facts),
        pair(
            drawing(chart, "separation", "Share of pairs told apart by each column"),
            drawing(heat, "pairs", "Share of rows that stand alone by pairs of columns"),
        ),
        listing,
    )


def attacks(found: Found) -> str:
    """Record linkage of the original against the release."""
    tried = found["attacks"]
    if not tried:
        return ""
    listing = records("Record linkage", tried, [
        ("Attack", lambda each: each["kind"].capitalize(), str),
        ("Found", lambda each: f"{each['found']:,.1f} ({percent(each['share'])})", "{}".format),
        ("Certain", "certain", whole), ("Wrong", "wrong", whole), ("Unmatched", "unmatched", whole),
        ("Highest risk", "highest_risk", percent), ("Candidates (median)", "median_candidates", "{:,.0f}".format),
        ("How", lambda each: ATTACKS.get(each["kind"], ""), str),
    ])  # fmt: skip
    people = tried[0]
    sample = "" if people["attempts"] == people["people"] else f" (a random sample of {whole(people['people'])})"
    words = [
        ("Found", "people whose own row is expected to be picked: one of m candidates counts as 1/m"),
        ("Certain", "people with a single candidate, and it is their own row"),
        ("Wrong", "people whose candidates are all somebody else's rows"),
        ("Unmatched", "people for whom no published row fits, such as suppressed ones"),
        ("Highest risk", "the greatest chance of finding one person"),
        ("Candidates", "rows among which a typical person hides"),
    ]
    return section(
        "Attacking the release",
        "Someone knows the original quasi-identifiers of "
        f"{plural(people['attempts'], 'person', 'people')}{sample} and looks for their rows in the release; among "
        "several candidates one is picked at random.",
        listing,
        explained(words),
    )


def disclosure(found: Found, after: Found | None = None) -> str:
    """What groups say about sensitive columns."""
    sides = [("", found)] if after is None else [("before", found), ("after", after)]
    if not found["disclosure"]:
        return ""
    given = [
        {**each, "name": f"{each['column']}, {phase}" if phase else each["column"], "total": each["rows"] or 1}
        for phase, side in sides
        for each in side["disclosure"]
    ]
    # The two sides of a column stand together.
    given = [given[i] for i in sorted(range(len(given)), key=lambda i: i % len(found["disclosure"]))]
    level = percent(found["disclosure"][0]["level"])
    listing = records("Sensitive columns", given, [
        ("Column", "name", str),
        ("Fewest values in a group", "distinct", whole),
        ("Rows with a single value", lambda e: (e["certain_rows"], e["certain_rows"] / e["total"]), _rows_and_share),
        (f"Rows {level} certain", lambda e: (e["likely_rows"], e["likely_rows"] / e["total"]), _rows_and_share),
        ("Best guess for anybody", "baseline", percent),
        ("Best guess by group", "expected_confidence", percent),
        ("Bits learned", lambda e: f"{e['information']:.2f} of {e['uncertainty']:.2f}", "{}".format),
        ("Largest shift", "largest_shift", percent),
    ])  # fmt: skip
    words = [
        (
            "Fewest values",
            "different values in the group that has fewest; with 1, that group gives its value away",
        ),
        ("Single value", "rows in such groups: whoever knows the group knows the value"),
        (f"{level} certain", "rows in groups where one value holds for that share of the rows or more"),
        ("Best guess", "how often the most frequent value is right: of the whole table, and of a person's own group"),
        ("Bits learned", "how much of the uncertainty about the value the group takes away on average"),
        ("Largest shift", "how far the group least like the table differs from it (total variation)"),
    ]
    certain = [(each["name"], each["certain_rows"] / each["total"]) for each in given]
    chart = charts.bars(certain, "Rows whose group holds a single value")
    return section(
        "What groups give away",
        "Who knows a person's group learns what its rows have in common, without knowing which row it is. A guess is "
        "given away if the group makes it much more certain than it was for anybody.",
        drawing(chart, "given", "Share of rows whose group holds a single value"),
        listing,
        explained(words),
    )


def examples(given_away: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Groups that give a value away, with that value: for eyes that may see the table."""
    return "".join(_examples(name, lines) for name, lines in given_away.items() if lines)


def _examples(name: str, lines: Sequence[Mapping[str, Any]]) -> str:
    inner = records(f"Groups that give {name} away", lines, [
        ("Group", lambda line: ", ".join(f"{column} = {value}" for column, value in line["class"].items()), str),
        ("Value", "value", str), ("Rows", "rows", whole), ("Certainty", "confidence", percent),
    ])  # fmt: skip
    return fold(name, "examples", inner)
