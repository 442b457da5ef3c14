"""Random jobs of several linked tables, and of several releases, judged by code written from the definitions."""

from __future__ import annotations

import os
import random
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

import kanopy
from kanopy._errors import InputError, KanopyError, NoSolution, VerificationFailed
from kanopy.linked.history.over_time import publish_over_time
from kanopy.linked.history.several_tables import publish_tables_over_time
from kanopy.linked.run import anonymize_tables
from kanopy.release.writing import Files
from tests.linked.definition import LETTERS, Drawn, breaches, published, tree_over

KEY = b"a key of sixteen bytes"
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where releases are written: every one waits until its files are on the disk."""


def judge_linked(seed: int) -> str:
    """Run and judge the job of a number: several tables, or several releases."""
    if seed % 8 == 0:
        return judge_tables_over_time(seed // 8)
    return judge_tables(seed // 2) if seed % 2 else judge_releases(seed // 2)


def judge_tables(seed: int) -> str:
    """Run a job of several tables and count by definition who can be told from fewer than k."""
    drawn = Drawn(seed, most_people=12)
    job = drawn.job() | {"keys": drawn.rng.choice(["numbers", "hash"])}
    guarded = drawn.rng.choice(["", "", "person", "visit"])
    if guarded:
        own = job["tables"][guarded]
        ills = pl.Series("ill", [drawn.rng.choice("xyz") for _ in range(own["data"].height)], dtype=pl.String)
        own["data"] = own["data"].with_columns(ills)
        own["models"] = ["l-distinct:ill:2"]
    try:
        found = anonymize_tables(job, key=KEY if job["keys"] == "hash" else None)
    except NoSolution:
        return "no solution"
    except InputError:
        return "refused"
    assert breaches(found.frames, drawn.quasi, drawn.links, drawn.k, drawn.known, drawn.together) == 0
    if guarded:
        assert not alike(found.frames, drawn, guarded), "a group of people has one value of a guarded column"
    searched = set(drawn.rows) if drawn.known else {"person", guarded or "person"}
    rows = sum(len(drawn.rows[name]) for name in searched)
    gone = rows - sum(found.frames[name].height for name in searched)
    assert gone <= int(drawn.suppress * rows + 1e-9), "more rows are suppressed than the job allows"
    for name, rows in drawn.rows.items():
        for column in drawn.quasi[name]:
            labels = set(found.frames[name][column].cast(pl.String).to_list())
            tree = drawn.trees[name, column]
            if column not in found.levels[name]:
                assert not labels, "a table that was not searched is published"
                continue
            possible = {tree.generalize(row[column], found.levels[name][column]) for row in rows}
            assert labels <= possible, "a label is not of its level"
    return "published"


def alike(frames: Mapping[str, pl.DataFrame], drawn: Drawn, guarded: str) -> list[Any]:
    """Groups of people, by what is published of the person and of one row, in which a guarded column has one value:
    in its table and in all tables below it, by the published keys."""
    quasi, links = drawn.quasi, {each["from"].split(".")[0]: each for each in drawn.links}
    rows = {
        name: {row.get("id", row.get("key", place)): row for place, row in enumerate(frame.iter_rows(named=True))}
        for name, frame in frames.items()
    }
    found: dict[Any, set[str]] = {}
    for name in frames:
        if drawn.known == 0 and name != "person":
            continue
        for row in rows[name].values():
            chain, at = [(name, row)], name
            while at != "person":
                column, above = links[at]["from"].split(".")[1], links[at]["to"].split(".")[0]
                chain.append((above, rows[above][chain[-1][1][column]]))
                at = above
            values = [own["ill"] for table, own in chain if table == guarded]
            if not values:
                continue
            said = [table for table, _ in chain if table in (name, "person")]
            if drawn.together:
                said = [table for table, _ in chain]
            key = tuple(str(own[c]) for table, own in chain if table in said for c in quasi[table])
            found.setdefault((name, key), set()).add(values[0])
    return [group for group, values in found.items() if len(values) < 2]


def judge_tables_over_time(seed: int) -> str:
    """Run releases of several changing tables with a ledger and count by definition who can be told by all of them."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        return _tables_judged(seed, Path(folder))


def _tables_judged(seed: int, folder: Path) -> str:
    drawn = Drawn(seed, most_people=16)
    rng, whole, ends = drawn.rng, drawn.rows, []
    drawn.known, drawn.suppress = rng.choice([0, "all"]), rng.choice([0.0, 0.3, 0.6])
    shown: list[dict[str, Any]] = []
    present: list[set[str]] = []
    for month in range(rng.randint(2, 3)):
        here = {row["id"] for row in whole["person"] if rng.random() < 0.9}
        drawn.rows = {name: [row for row in rows if (row.get("owner") or row["id"]) in here]
                      for name, rows in whole.items()}  # fmt: skip
        for row in drawn.rows["person"]:
            if rng.random() < 0.1:
                row["sex"] = rng.choice("fm")
        try:
            found, _ = publish_tables_over_time(drawn.job(), folder / f"m{month}", folder / "ledger", KEY)
        except NoSolution:
            ends.append("no solution")
            continue
        except InputError as error:
            assert "fewer than k" in str(error) or "k is" in str(error) or "None of the" in str(error), error
            ends.append("refused")
            continue
        ends.append("published")
        assert breaches(found.frames, drawn.quasi, drawn.links, drawn.k, drawn.known, drawn.together) == 0
        person, held = published(found.frames, drawn.quasi, drawn.links, drawn.together)
        names = found.related.frames["person"]["id"].filter(pl.Series(found.kept["person"])).to_list()
        keys = found.frames["person"]["id"].to_list()
        shown.append({
            who: (person[key], () if drawn.known == 0 else tuple(sorted(held[key])))
            for who, key in zip(names, keys, strict=True)
        })  # fmt: skip
        present.append(here)
        counted = Counter(_history(who, shown, present) for who in shown[-1])
        assert all(count >= drawn.k for count in counted.values()), "fewer than k agree in all releases"
        still = Counter(_history(who, shown[:-1], present[:-1]) for who in here)
        lost = {who for who in here if still[_history(who, shown[:-1], present[:-1])] < drawn.k}
        rows = [row for name, own in drawn.rows.items() for row in own if (row.get("owner") or row["id"]) not in lost]
        people = [row for row in drawn.rows["person"] if row["id"] not in lost]
        gone = len(people) - len(keys) if drawn.known == 0 else len(rows) - sum(f.height for f in found.frames.values())
        most = int(drawn.suppress * len(people if drawn.known == 0 else rows) + 1e-9)
        assert gone <= most, "more is suppressed than histories force and the job allows"
    return "published" if "published" in ends else ends[0]


def judge_releases(seed: int) -> str:
    """Run several releases of changing tables with a ledger and count by definition who can be told by all of them."""
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as folder:
        return _releases_judged(seed, Path(folder))


def _releases_judged(seed: int, folder: Path) -> str:
    rng = random.Random(seed)
    values = LETTERS[: rng.randint(2, 5)]
    trees = {"zip": tree_over(values, rng), "sex": kanopy.Hierarchy.flat("fm")}
    k, several = rng.choice([2, 2, 3]), rng.random() < 0.25
    model = rng.random() < 0.3 and not several
    people = {
        f"p{n}": {"zip": rng.choice(values), "sex": rng.choice("fm"), "ill": rng.choice("xyz")} for n in range(30)
    }
    shown: list[dict[str, Any]] = []
    present: list[set[str]] = []
    ills: list[dict[str, str]] = []
    ends: list[str] = []
    for month in range(rng.randint(2, 5)):
        here = sorted(who for who in people if rng.random() < 0.8)
        for who in here:
            if rng.random() < 0.1:
                people[who] = {"zip": rng.choice(values), "sex": rng.choice("fm"), "ill": rng.choice("xyz")}
        rows = [{"who": who, **people[who]} for who in here for _ in range(rng.choice([1, 2]) if several else 1)]
        rng.shuffle(rows)
        more: dict[str, Any] = {"known": "all"}
        if not several:
            more = {
                "models": ["l-distinct:ill:2"] if model else [], "insensitive": [] if model else ["ill"],
                "allow_dependent": "ill", "algorithm": rng.choice(["optimal", "optimal", "best", "mondrian"]),
                "suppressed_rows": rng.choice(["keep", "drop"]),
            }  # fmt: skip
            if more["algorithm"] == "best":
                more["parameters"] = {"steps": 20}
        job = kanopy.Job(
            quasi=["zip", "sex"], unit="who", pseudonymize="who", k=k, suppress=rng.choice([0.0, 0.2, 0.5]),
            hierarchies=trees, **more,
        )  # fmt: skip
        try:
            result, _ = publish_over_time(
                pl.DataFrame(rows), job, Files(str(folder / f"m{month}.csv")), folder / "ledger", KEY
            )
        except NoSolution:
            ends.append("no solution")
            continue
        except VerificationFailed:
            raise
        except InputError as error:
            assert "known" in str(error) or "k is" in str(error), error
            ends.append("refused")
            continue
        ends.append("published")
        frame = pl.read_csv(folder / f"m{month}.csv", infer_schema=False)
        traces: dict[str, list[Any]] = {}
        hashed = dict(zip(result.prepared.frame["who"].to_list(), _pseudonyms(result), strict=True))
        back = {pseudonym: who for who, pseudonym in hashed.items()}
        ill: dict[str, str] = {}
        for row in frame.iter_rows(named=True):
            if row["who"] is None:
                assert row["zip"] == row["sex"] == "*"
                continue
            if row["zip"] == row["sex"] == "*" and back.get(row["who"]) in _suppressed(result):
                continue
            traces.setdefault(back[row["who"]], []).append((row["zip"], row["sex"]))
            if model:
                ill[back[row["who"]]] = row["ill"]
        shown.append({who: tuple(sorted(own)) for who, own in traces.items()})
        present.append(set(here))
        ills.append({who: people[who]["ill"] for who in here})
        held = Counter(_history(who, shown, present) for who in shown[-1])
        assert all(count >= k for count in held.values()), "fewer than k agree in all releases"
        if model:
            for release, own in enumerate(ills):
                groups: dict[Any, set[str]] = {}
                for who in shown[-1]:
                    if who in own:
                        groups.setdefault(_history(who, shown, present), set()).add(own[who])
                assert all(len(found) >= 2 for found in groups.values()), (
                    f"the values of release {release} tell too much"
                )
    return "published" if "published" in ends else ends[0]


def _history(who: str, shown: list[dict[str, Any]], present: list[set[str]]) -> tuple[Any, ...]:
    """What all releases say of somebody, and at which ones the person was there."""
    return tuple((who in here, own.get(who)) for own, here in zip(shown, present, strict=True))


def _pseudonyms(result: Any) -> list[str]:
    from kanopy._table.pseudonyms import pseudonym

    return [pseudonym(value, "who", KEY) for value in result.prepared.frame["who"].to_list()]


def _suppressed(result: Any) -> set[str]:
    """People of whom every row is suppressed."""
    gone = result.solution.recoding.group_of_row < 0
    rows = result.prepared.frame["who"].to_list()
    left = {who for who, away in zip(rows, gone.tolist(), strict=True) if not away}
    return set(rows) - left


def crashes(seed: int) -> str:
    """The judge, with every known error as an end."""
    try:
        return judge_linked(seed)
    except KanopyError as error:
        if isinstance(error, VerificationFailed):
            raise
        return "refused"
