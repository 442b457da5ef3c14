"""Success counts of the attacks equal those of plain loops over all people and rows, on small random tables."""

# ruff: noqa: E501 - tables
from __future__ import annotations

import random
from collections import Counter

import numpy as np
import polars as pl
import pytest

from kanopy.attacks.inference import inference
from kanopy.attacks.linking import linkability, membership
from kanopy.attacks.singling_out import _draw, isolated_people, singling_out
from kanopy.attacks.tables import read_tables

TOWNS = ["Bonn", "Köln", "Ulm", "Worms"]


def small_table(draw: random.Random, rows: int) -> list[dict]:
    return [
        {
            "age": draw.randint(20, 29),
            "town": draw.choice(TOWNS),
            "pay": draw.choice(["low", "high"]),
            "ill": draw.choice("abc"),
        }
        for _ in range(rows)
    ]


def label_of(draw: random.Random, name: str, value: object) -> tuple[str, set]:
    """A label in some notation, and the values it covers."""
    everything = set(range(20, 30)) if name == "age" else set(TOWNS)
    kind = draw.choice(["value", "all", "some"])
    if kind == "value":
        return str(value), {value}
    if kind == "all":
        return "*", everything
    if name == "age":
        low, high = draw.randint(18, value), draw.randint(value, 31)
        forms = [
            (f"[{low}, {high}]", high),
            (f"{low}-{high}", high),
            (f"[{low}, {high + 1})", high),
            (f"{low}–{high}", high),
        ]
        text, last = draw.choice(forms)
        return text, {each for each in everything if low <= each <= last}
    chosen = sorted({value, *draw.sample(TOWNS, draw.randint(1, 2))})
    return ("{" + ", ".join(chosen) + "}" if len(chosen) > 1 else chosen[0]), set(chosen)


def release_of(draw: random.Random, table: list[dict]) -> tuple[list[dict], list[dict]]:
    """Published rows, and what each label of them covers."""
    published, covered = [], []
    for row in draw.sample(table, len(table)):
        labels = {name: label_of(draw, name, row[name]) for name in ("age", "town")}
        published.append({**{name: text for name, (text, _) in labels.items()}, "pay": row["pay"], "ill": row["ill"]})
        covered.append(
            {**{name: inside for name, (_, inside) in labels.items()}, "pay": {row["pay"]}, "ill": {row["ill"]}}
        )
    return published, covered


@pytest.mark.parametrize("seed", range(25))
def test_counts_are_those_of_plain_loops(seed: int) -> None:
    draw = random.Random(seed)
    table, others = small_table(draw, 14), small_table(draw, 9)
    published, covered = release_of(draw, table)
    tables = read_tables(
        pl.DataFrame(table), pl.DataFrame(published), pl.DataFrame(others), quasi=["age", "town"], sensitive=["ill"]
    )
    assert tables.untouched == ("pay",)
    everything = {name: {row[name] for row in table + others} for name in ("age", "town", "pay", "ill")}

    def covers(row: int, person: dict, names: list[str]) -> bool:
        return all(person[name] in covered[row][name] for name in names)

    # Singling out: every predicate over all columns that says something.
    random_numbers = np.random.default_rng(seed)
    drawn = _draw(tables, 1000, random_numbers, None)
    for predicate, row in zip(drawn.predicates, drawn.rows, strict=True):
        names = list(predicate)
        expected = sum(covers(row, person, names) for person in table)
        assert tables.matches(tables.people, predicate) == expected
        assert tables.matches(tables.control, predicate) == sum(covers(row, person, names) for person in others)
    found = isolated_people(tables, 1000, random_numbers)
    alone = set()
    for row in range(len(table)):
        matched = [place for place, person in enumerate(table) if covers(row, person, ["age", "town", "pay", "ill"])]
        if len(matched) == 1:
            alone.add(matched[0])
    assert found.people == len(alone)

    # A row is suppressed if both of its labels cover every value that occurs.
    shown = [
        row for row in range(len(published))
        if any(not everything[name] <= covered[row][name] for name in ("age", "town"))
    ]  # fmt: skip

    # Linkability: sources (age) and (town, pay) meet in exactly one class.
    for people, count_of in ((table, 0), (others, 1)):
        met = 0
        for person in people:
            both = [row for row in shown if covers(row, person, ["age"]) and covers(row, person, ["town", "pay"])]
            met += len({(published[row]["age"], published[row]["town"]) for row in both}) == 1
        measured = linkability(tables, 1000, np.random.default_rng(1), first=["age"])[0]
        assert (measured.successes, measured.control_successes)[count_of] == met

    # Membership.
    knows = membership(tables, 1000, np.random.default_rng(1))
    for measured, names in zip(knows, (["age", "town"], ["age", "town", "ill", "pay"]), strict=True):
        assert measured.successes == sum(any(covers(row, person, names) for row in shown) for person in table)
        assert measured.control_successes == sum(any(covers(row, person, names) for row in shown) for person in others)

    # Inference: the most frequent value of the rows that cover age and town; ties go to the first value.
    measured = inference(tables, 1000, np.random.default_rng(1), learn=False)[0][0]
    right = 0
    for person in table:
        rows = [row for row in shown if covers(row, person, ["age", "town"])]
        if not rows:
            break  # the nearest rows are asked: counted elsewhere
        counted = Counter(published[row]["ill"] for row in rows)
        right += min(counted, key=lambda value: (-counted[value], value)) == person["ill"]
    else:
        assert measured.successes == right


def test_people_are_counted_not_rows() -> None:
    visits = pl.DataFrame({"who": ["a", "a", "b"], "age": [31, 31, 40], "ill": ["flu", "flu", "flu"]})
    release = pl.DataFrame({"age": ["31", "31", "40"], "ill": ["flu", "flu", "flu"]})
    tables = read_tables(visits, release, quasi=["age"], sensitive=["ill"], unit=["who"])
    assert tables.people.count == 2
    label = tables.covers["age"].labels.index("31")
    assert tables.matches(tables.people, {"age": label}) == 1
    everything = singling_out(tables, 100, np.random.default_rng(1))[0]
    assert (everything.guesses, everything.successes) == (2, 2)


def test_labels_of_other_tools_are_read_and_the_rest_is_counted() -> None:
    before = pl.DataFrame({
        "born": ["1984-03-01", "1991-05-02", "1995-11-30", "2003-01-09"], "zip": ["13053", "13068", "14850", "14853"],
        "age": [31, 34, 52, 60],
    })  # fmt: skip
    after = pl.DataFrame({
        "born": ["1980s", "1990s", "1995-Q4", "2003"], "zip": ["130**", "1306*", "{14850, 14853}", None],
        "age": ["[30, 39]", "thirties", "≥ 50", "50+"],
    })  # fmt: skip
    tables = read_tables(before, after)
    seen = {
        name: {
            each: [covers.domain.labels[value] for value in covers.values_of(place)]
            for place, each in enumerate(covers.labels)
        }
        for name, covers in tables.covers.items()
    }
    assert seen["born"] == {
        "1980s": ["1984-03-01"], "1990s": ["1991-05-02", "1995-11-30"], "1995-Q4": ["1995-11-30"], "2003": ["2003-01-09"],
    }  # fmt: skip
    assert seen["zip"]["130**"] == ["13053", "13068"] and seen["zip"]["1306*"] == ["13068"]
    assert seen["zip"][None] == ["13053", "13068", "14850", "14853"]
    assert seen["age"] == {"[30, 39]": ["31", "34"], "thirties": [], "≥ 50": ["52", "60"], "50+": ["52", "60"]}
    [strange] = tables.unreadable
    assert (strange.column, strange.labels, strange.rows, strange.examples) == ("age", 1, 1, ("thirties",))
