"""Tables in which several rows are about the same person, and what a release promises of them, counted in SQL."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import polars as pl

ILLNESSES = ("flu", "asthma", "diabetes", "fracture", "migraine")


def visits(patients: int = 80, rows: int = 348, seed: int = 0, spread: float = 0.0) -> pl.DataFrame:
    """Visits of patients: sex and zip are fixed, age and ward vary. With `spread`, few patients have most visits."""
    draw = np.random.default_rng(seed)
    likely = 1.0 / np.arange(1, patients + 1) ** spread
    more = draw.choice(patients, rows - patients, p=likely / likely.sum())
    of_row = draw.permutation(np.concatenate([np.arange(patients), more]))
    born, place, sex = (
        draw.integers(1930, 2006, patients),
        draw.integers(0, 12, patients),
        draw.integers(0, 2, patients),
    )
    year = draw.integers(2015, 2022, rows)
    return pl.DataFrame(
        {
            "patient": [f"P{number:05d}" for number in of_row],
            "age": year - born[of_row],
            "zip": [f"10{number:02d}" for number in place[of_row]],
            "sex": np.array(["f", "m"])[sex[of_row]].tolist(),
            "ward": draw.choice(["A", "B", "C", "D"], rows).tolist(),
            "ill": draw.choice(ILLNESSES, rows).tolist(),
        }
    )


def fewest(released: pl.DataFrame, whose: pl.Series, quasi: list[str], known: int | str) -> int | None:
    """How many people what is known of the easiest to find fits, counted by DuckDB; rows of stars are suppressed."""
    hidden = pl.all_horizontal(pl.col(name).cast(pl.String) == "*" for name in quasi)
    frame = released.select(quasi).with_columns(whose.alias("whose")).filter(~hidden.fill_null(False))
    if not frame.height:
        return None
    texts = frame.select("whose", pl.concat_str([pl.col(name).cast(pl.String) for name in quasi], separator="|"))
    table = texts.rename({quasi[0]: "label"})
    sql: Any = duckdb.connect()
    sql.register("release", table.to_arrow())
    counted = "SELECT min(n) FROM ("
    if known == "all":
        query = (
            "SELECT count(*) AS n FROM (SELECT whose, list_sort(list(label)) AS trace FROM release GROUP BY whose) "
            "GROUP BY trace)"
        )
        return int(sql.execute(counted + query).fetchone()[0])
    least = int(sql.execute(counted + "SELECT count(DISTINCT whose) AS n FROM release GROUP BY label)").fetchone()[0])
    if known == 2:
        pairs = (
            "SELECT count(DISTINCT a.whose) AS n FROM numbered a JOIN numbered b ON a.whose = b.whose AND a.i <> b.i "
            "AND a.label <= b.label GROUP BY a.label, b.label)"
        )
        numbered = "WITH numbered AS (SELECT whose, label, row_number() OVER () AS i FROM release) "
        found = sql.execute(numbered + counted + pairs).fetchone()[0]
        least = least if found is None else min(least, int(found))
    return least
