"""People instead of rows: what counting them costs beside counting rows, lists, and minimal sample uniques.

    python benchmarks/people.py [rows] [people]        # 1,000,000 rows of 100,000 people

Data is generated: visits of patients with eight quasi-identifiers, four of which are the same in all rows of a patient.
Each release is a process of its own; the peer is the same job on rows, for `best` the same people with one row each.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import kanopy

sys.path.insert(0, str(Path(__file__).parent / "scale"))
from run import measured

FIXED = ["zip", "sex", "race", "education"]
QUASI = ["age", *FIXED, "year", "ward", "kind"]


def visits(rows: int, people: int) -> pl.DataFrame:
    """Visits of patients: post code, sex, race and education are theirs; age, year, ward and kind are of the visit."""
    draw = np.random.default_rng(0)
    whose = draw.permutation(np.concatenate([np.arange(people), draw.integers(0, people, rows - people)]))
    born, place, sex = draw.integers(1930, 2006, people), draw.integers(0, 100, people), draw.integers(0, 2, people)
    race, education = draw.choice(5, people, p=[0.7, 0.12, 0.1, 0.05, 0.03]), draw.integers(0, 8, people)
    year = draw.integers(2015, 2022, rows)
    return pl.DataFrame(
        {
            "patient": [f"P{number:06d}" for number in whose],
            "age": year - born[whose],
            "zip": [f"1{number:03d}" for number in place[whose]],
            "sex": np.array(["f", "m"])[sex[whose]].tolist(),
            "race": np.array(list("abcde"))[race[whose]].tolist(),
            "education": np.array([f"e{number}" for number in range(8)])[education[whose]].tolist(),
            "year": year,
            "ward": draw.choice(list("ABCDEF"), rows).tolist(),
            "kind": draw.choice(["in", "out", "day"], rows).tolist(),
        }
    )


def released(table: pl.DataFrame, quasi: list[str], **more: Any) -> dict[str, Any]:
    """Seconds and loss of a release; hierarchies by widths and digits, so that their choice is no part of it."""
    hierarchies = {"age": {"method": "widths", "widths": [5, 10, 20, 40]}, "zip": {"method": "redact"}}
    job = kanopy.Job(quasi=quasi, k=5, hierarchies=hierarchies, **more)
    began = time.perf_counter()
    found = kanopy.anonymize(table, job)
    return {"seconds": time.perf_counter() - began, "loss": found.losses["loss"]}


def baskets() -> dict[str, Any]:
    """A hundred thousand baskets of ten items out of a thousand, of which two are known."""
    items = np.array([f"item {number:04d}" for number in range(1000)])
    table = pl.DataFrame({"items": items[np.random.default_rng(0).integers(0, 1000, (100_000, 10))].tolist()})
    tree = kanopy.Hierarchy.from_rows([[x, f"shelf {i // 10}", f"aisle {i // 100}", "*"] for i, x in enumerate(items)])
    began = time.perf_counter()
    found = kanopy.anonymize(table, kanopy.Job(quasi="items", k=5, known=2, hierarchies={"items": tree}))
    return {"seconds": time.perf_counter() - began, "loss": found.losses["loss"]}


def uniques() -> dict[str, Any]:
    """Minimal sample uniques of up to three of eight columns of Adult."""
    table, keys = kanopy.datasets.adult(), ["age", "workclass", "education", "marital-status", "occupation", "race"]
    keys += ["sex", "native-country"]
    began = time.perf_counter()
    kanopy.assess_risk(table, quasi=keys, suda=3)
    return {"seconds": time.perf_counter() - began, "loss": float("nan")}


def step(what: str, rows: int, people: int) -> dict[str, Any]:
    """One line of the table."""
    if what in ("baskets", "uniques"):
        return {"baskets": baskets, "uniques": uniques}[what]()
    if what.startswith("best"):
        table = visits(9_000, 2_000)
        if what == "best, one row each":
            one = table.unique("patient", keep="first", maintain_order=True)
            return released(one, ["age", "zip", "sex", "ward"], identifiers="patient", algorithm="best")
        return released(table, ["age", "zip", "sex", "ward"], unit="patient", algorithm="best")
    table, known = visits(rows, people), {"known 1": 1, "known 2": 2, "all known": "all"}
    whose = {"identifiers": "patient"} if what == "rows" else {"unit": "patient", "known": known[what]}
    return released(table, QUASI, suppress="2%", **whose)


PEERS = {"known 1": "rows", "known 2": "rows", "all known": "rows", "best, people": "best, one row each"}
LINES = ("rows", "known 1", "known 2", "all known", "best, one row each", "best, people", "baskets", "uniques")


def main(rows: int, people: int) -> None:
    found: dict[str, dict[str, Any]] = {}
    print("| what | seconds | of the peer | loss | of the peer | peak MB |\n|---|---|---|---|---|---|")
    for what in LINES:
        own = found[what] = measured("--step", what, str(rows), str(people), script=__file__)
        peer = found[PEERS[what]] if what in PEERS else {}
        ratios = [f"{own[key] / peer[key]:.2f}" if peer else "–" for key in ("seconds", "loss")]
        print(f"| {what} | {own['seconds']:.1f} | {ratios[0]} | {own['loss']:.4f} | {ratios[1]} | {own['peak']} |",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        told = step(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        print(json.dumps(told | {"peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))
    else:
        main(*(int(float(text)) for text in (*sys.argv[1:], "1e6", "1e5")[:2]))
