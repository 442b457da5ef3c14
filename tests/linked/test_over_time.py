"""Releases over time: nobody is told from fewer than k by all of them, and no more is suppressed than must be."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import kanopy
from kanopy._errors import DataError, JobError, VerificationFailed
from kanopy._table.datasets import path as bundled
from kanopy.linked.history.ledger import read_ledger
from kanopy.linked.history.over_time import anonymize_over_time, publish_over_time, verify_over_time
from kanopy.linked.history.several_tables import publish_tables_over_time
from kanopy.release.writing import Files

KEY = b"a key of sixteen bytes"
QUASI = ["age", "sex", "race", "marital-status", "education"]


def months(people: int, count: int, seed: int = 3) -> list[pl.DataFrame]:
    """Monthly tables of Adult rows: 5 % turnover and 2 % changed values."""
    rng = np.random.default_rng(seed)
    adult = pl.read_parquet(bundled("adult.parquet")).select(QUASI)
    rows = rng.integers(0, adult.height, people + count * people // 20 + 1)
    here, following, found = np.arange(people), people, []
    for _ in range(count):
        found.append(adult[rows[here]].with_columns(pl.Series("who", here)))
        gone = rng.choice(len(here), people // 20, replace=False)
        here = np.concatenate([np.delete(here, gone), np.arange(following, following + people // 20)])
        following += people // 20
        changed = rng.choice(here, people // 50, replace=False)
        rows[changed] = rng.integers(0, adult.height, len(changed))
    return found


def follow(
    tables: list[pl.DataFrame], folder: Path, suppress: str, seconds: list[float], **more: Any
) -> list[kanopy.Result]:
    """A release per table, with its processor time; after each, the published files alone say who agrees in all."""
    shown: list[dict[int, Any]] = []
    present: list[set[int]] = []
    results = []
    for month, table in enumerate(tables):
        histories = {
            who: tuple((who in there, own.get(who)) for there, own in zip(present, shown, strict=True))
            for who in table["who"].to_list()
        }
        shared = Counter(histories.values())
        job = kanopy.Job(
            quasi=QUASI,
            unit="who",
            k=5,
            suppress=suppress,
            suppressed_rows="drop",
            insensitive=["copy"],
            allow_dependent="copy",
            **more,
        )
        out = folder / f"m{month}.csv"
        table = table.with_columns(copy=pl.col("who") * 7)
        begun = time.process_time()
        result, _ = publish_over_time(table, job, Files(str(out)), folder / "ledger", KEY)
        seconds.append(time.process_time() - begun)
        results.append(result)
        must_go = sum(shared[history] < 5 for history in histories.values()) if month else 0
        assert table.height - result.rows == must_go
        published = pl.read_csv(out, infer_schema=False)
        labels = {int(row["copy"]) // 7: tuple(row[name] for name in QUASI) for row in published.iter_rows(named=True)}
        groups = Counter((histories[who], own) for who, own in labels.items())
        assert min(groups.values()) >= 5
        # Full-domain recoding: at these levels every larger group is there, so no less could be suppressed.
        assert result.solution is not None and result.suppressed == result.rows - len(labels)
        shown.append(labels)
        present.append(set(table["who"].to_list()))
    return results


def _texts(result: kanopy.Result) -> pl.Series:
    return result.published.select(pl.concat_str(pl.col("age", "sex").cast(pl.String))).to_series()


def test_two_months_together_keep_k(tmp_path: Path) -> None:
    adult = pl.read_parquet(bundled("adult.parquet")).head(4000).with_row_index("who")
    tables = [adult.sample(fraction=0.85, seed=seed).select("who", *QUASI) for seed in (1, 2)]
    first, second = follow(tables, tmp_path, "2%", [])
    assert second.losses["loss"] >= first.losses["loss"]


def test_six_months_of_changing_people_keep_k(tmp_path: Path) -> None:
    follow(months(1500, 6), tmp_path, "5%", [])


@pytest.mark.slow
def test_twelve_months_of_fifty_thousand_people_keep_k(tmp_path: Path) -> None:
    seconds: list[float] = []
    follow(months(50_000, 12), tmp_path, "5%", seconds)
    assert len(seconds) == 12 and seconds[-1] <= 2 * seconds[0], seconds


def test_later_k_other_columns_and_local_algorithms_are_kept(tmp_path: Path) -> None:
    table = months(600, 1)[0]
    release = lambda job, name: publish_over_time(table, job, Files(str(tmp_path / name)), tmp_path / "ledger", KEY)[0]  # noqa: E731
    first = release(kanopy.Job(quasi=QUASI, unit="who", k=5, suppress="5%"), "a.csv")
    second = release(kanopy.Job(quasi=["age", "sex"], unit="who", k=8, suppress="20%"), "b.csv")
    third = release(kanopy.Job(quasi=QUASI[:3], unit="who", k=3, suppress="5%", algorithm="mondrian"), "c.csv")
    labels = [r.published.select(pl.struct(r.prepared.names).rank("dense")).to_series().to_list() for r in (first,)]
    assert second.rows < first.rows and third.rows > 0 and labels
    both = pl.DataFrame({"first": pl.Series(labels[0]), "who": first.prepared.frame["who"]}).join(
        pl.DataFrame({"who": second.prepared.frame["who"], "now": _texts(second)}),
        on="who",
    )  # fmt: skip
    sizes = both.filter(pl.col("now") != "**").group_by("first", "now").len()["len"]
    assert sizes.min() >= 8  # type: ignore[operator]


def test_earlier_sensitive_values_satisfy_the_model_on_intersections(tmp_path: Path) -> None:
    who = [f"p{n}" for n in range(40)]
    first = pl.DataFrame({"who": who, "sex": ["f", "m"] * 20, "ill": ["x", "x", "y", "y"] * 10})
    job = kanopy.Job(quasi="sex", unit="who", k=2, models="l-distinct:ill:2", suppress="50%")
    publish_over_time(first, job, Files(str(tmp_path / "a.csv")), tmp_path / "ledger", KEY)
    # Those who had x in May are women in June: their group would tell what they had in May.
    second = pl.DataFrame(
        {"who": who, "sex": ["f", "f", "m", "m"] * 10, "ill": ["x", "y", "x", "y", "y", "x", "y", "x"] * 5}
    )
    found, _ = publish_over_time(second, job, Files(str(tmp_path / "b.csv")), tmp_path / "ledger", KEY)
    frame = found.published.with_columns(who=found.prepared.frame["who"])
    may = dict(zip(first["who"], zip(first["sex"], first["ill"], strict=True), strict=True))
    groups: dict[Any, set[str]] = {}
    gone = found.solution.recoding.group_of_row < 0  # type: ignore[union-attr]
    for row, away in zip(frame.iter_rows(named=True), gone.tolist(), strict=True):
        if not away:
            groups.setdefault((may[row["who"]][0], row["sex"]), set()).add(may[row["who"]][1])
    assert all(len(values) >= 2 for values in groups.values())
    # Without the model, June alone would tell what everybody had in May.
    for table in (second, second.drop("ill")):
        with pytest.raises(JobError, match="Release 1 kept a privacy model of"):
            publish_over_time(
                table,
                kanopy.Job(quasi="sex", unit="who", k=2),
                Files(str(tmp_path / "n.csv")),
                tmp_path / "ledger",
                KEY,
            )
    assert not (tmp_path / "n.csv").exists()
    ordered = kanopy.Job(quasi="sex", unit="who", k=2, models="t-ordered:pay:0.9")
    paid = first.with_columns(pay=pl.int_range(40) % 4)
    publish_over_time(paid, ordered, Files(str(tmp_path / "c.csv")), tmp_path / "other", KEY)
    with pytest.raises(JobError, match="keyed hashes only"):
        publish_over_time(
            paid.with_columns(pay=pl.col("pay").reverse()),
            ordered,
            Files(str(tmp_path / "d.csv")),
            tmp_path / "other",
            KEY,
        )


def test_the_second_look_notices_a_model_that_is_broken_on_the_intersection(tmp_path: Path) -> None:
    who, ledger = [f"p{n}" for n in range(16)], tmp_path / "ledger"
    job = kanopy.Job(quasi="sex", unit="who", k=2, models="l-distinct:ill:2", suppress="50%")
    may = pl.DataFrame({"who": who, "sex": ["f", "m"] * 8, "ill": ["x", "x", "y", "y"] * 4})
    publish_over_time(may, job, Files(str(tmp_path / "a.csv")), ledger, KEY)
    # A release that only looks at June: published sexes put those with the same illness of May together.
    june = may.with_columns(
        sex=pl.Series(["f", "f", "m", "m"] * 4), ill=pl.Series(["x"] * 4 + ["y"] * 4 + ["x"] * 4 + ["y"] * 4)
    )
    made = anonymize_over_time(june, job, read_ledger(ledger, KEY), KEY)
    verify_over_time(made, KEY)
    careless = replace(made, result=kanopy.anonymize(june, job))
    with pytest.raises(VerificationFailed, match="'l-distinct' of 'ill' in release 1"):
        verify_over_time(careless, KEY)


def tables(*months: int) -> Iterator[dict[str, Any]]:
    """Jobs of people and their visits: a month has people of its own number, and somebody moves every month."""
    for month, people in enumerate(months):
        rng = np.random.default_rng(month)
        ids = [f"p{n}" for n in range(people)]
        person = pl.DataFrame({"id": ids, "zip": [f"1{(n + month * (n % 9 == 0)) % 4}" for n in range(people)]})
        visits = pl.DataFrame({"id": rng.choice(ids, people // 2).tolist()}).with_columns(
            ward=pl.Series(rng.choice(["a", "b"], people // 2).tolist())
        )
        flat = {
            name: kanopy.Hierarchy.flat(values) for name, values in (("zip", ["10", "11", "12", "13"]), ("ward", "ab"))
        }
        links = [{"from": "visit.id", "to": "person.id"}]
        yield {"unit": "person.id", "k": 3, "suppress": 0.7, "links": links, "tables": {
            "person": {"data": person, "columns": {"zip": {"role": "quasi-identifier", "hierarchy": flat["zip"]}}},
            "visit": {"data": visits, "columns": {"ward": {"role": "quasi-identifier", "hierarchy": flat["ward"]}}},
        }}  # fmt: skip


@pytest.mark.parametrize("known", ["all", 0])
def test_several_tables_keep_k_over_time(tmp_path: Path, known: Any) -> None:
    """People who agree in all releases and tables number k, by the published files and the ledger's definition."""
    shown: list[dict[str, Any]] = []
    present: list[set[str]] = []
    for month, job in enumerate(tables(200, 200, 180)):
        found, files = publish_tables_over_time(job | {"known": known}, tmp_path / str(month), tmp_path / "ledger", KEY)
        read = {
            name: pl.read_csv(file, infer_schema=False) for name, file in zip(found.related.order, files, strict=True)
        }
        here, kept = found.related.frames["person"]["id"], pl.Series(found.kept["person"])
        who = dict(zip(found.frames["person"]["id"].cast(str).to_list(), here.filter(kept).to_list(), strict=True))
        events: dict[str, list[str]] = {}
        for key, ward in read["visit"].select("id", "ward").iter_rows():
            events.setdefault(key, []).append(ward)
        shown.append({
            who[key]: (place, () if known == 0 else tuple(sorted(events.get(key, ()))))
            for key, place in read["person"].select("id", "zip").iter_rows()
        })  # fmt: skip
        present.append(set(job["tables"]["person"]["data"]["id"].to_list()))
        histories = [
            tuple((p in there, own.get(p)) for there, own in zip(present, shown, strict=True)) for p in shown[-1]
        ]
        assert shown[-1] and min(Counter(histories).values()) >= 3
    assert any("left out" in note for note in found.notes) or known == 0
    assert [event["release"] for event in read_ledger(tmp_path / "ledger", KEY).releases] == [1, 2, 3]


def test_what_a_ledger_of_several_tables_cannot_keep_is_refused(tmp_path: Path) -> None:
    job = next(tables(40))
    visit = job["tables"]["visit"]
    sick = {**visit, "data": visit["data"].with_columns(ill=pl.lit("x")), "models": ["l-distinct:ill:2"]}
    keyed = {**visit, "data": visit["data"].with_row_index("number")}
    deeper = {"data": pl.DataFrame({"visit": [1, 2]})}
    for change, words in (
        ({"known": 1}, "known = 1"),
        ({"tables": {**job["tables"], "visit": sick}}, "does not keep models"),
        ({"keys": "hash", "tables": {**job["tables"], "visit": keyed, "drug": deeper},
          "links": [*job["links"], {"from": "drug.visit", "to": "visit.number"}]}, "Hashed keys of events"),
    ):  # fmt: skip
        with pytest.raises(JobError, match=words):
            publish_tables_over_time(job | change, tmp_path / "out", tmp_path / "ledger", KEY)
    assert not (tmp_path / "out").exists() and not read_ledger(tmp_path / "ledger").releases
    publish_tables_over_time(job, tmp_path / "out", tmp_path / "ledger", KEY)
    with pytest.raises(JobError, match="was made with known = all"):
        publish_tables_over_time(job | {"known": 0}, tmp_path / "two", tmp_path / "ledger", KEY)
    with pytest.raises(DataError, match="another unit"):
        table = job["tables"]["person"]["data"]
        publish_over_time(
            table, kanopy.Job(quasi="zip", unit="id", k=3), Files(str(tmp_path / "o.csv")), tmp_path / "ledger", KEY
        )


def test_the_second_look_notices_tables_without_their_history(tmp_path: Path, monkeypatch: Any) -> None:
    import kanopy.linked.run

    release = kanopy.linked.run.release_tables
    monkeypatch.setattr(kanopy.linked.run, "release_tables", lambda *given: release(*given[:6]))
    with pytest.raises(VerificationFailed, match="What all releases together say"):
        for month, job in enumerate(tables(200, 200, 180)):
            publish_tables_over_time(job, tmp_path / str(month), tmp_path / "ledger", KEY)
    assert len(list(tmp_path.iterdir())) - 1 == len(read_ledger(tmp_path / "ledger", KEY).releases)
