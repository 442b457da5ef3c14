"""The promise of several tables, written again from its definition, by plain loops over labels."""

from __future__ import annotations

import itertools
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from kanopy import Hierarchy

LETTERS = "abcdef"


def tree_over(values: Sequence[str], rng: random.Random) -> Hierarchy:
    """A hierarchy of two or three levels."""
    if rng.random() < 0.4:
        return Hierarchy.flat(values)
    return Hierarchy.from_rows([[value, f"G{place // 2}", "*"] for place, value in enumerate(values)])


class Drawn:
    """A random job of two to four tables about a few people, with its trees."""

    def __init__(self, seed: int, most_people: int = 14) -> None:
        rng = self.rng = random.Random(seed)
        people = rng.randint(4, most_people)
        self.k = rng.choice([2, 2, 3])
        self.known: int | str = rng.choice([0, 1, 1, 2, 2, 3, "all"])
        self.suppress = rng.choice([0.0, 0.1, 0.3, 0.6])
        self.shared = rng.random() < 0.3
        self.together = rng.random() < 0.25
        values = LETTERS[: rng.randint(2, 5)]
        place = tree_over(values, rng)
        self.trees: dict[tuple[str, str], Hierarchy] = {}
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.links: list[dict[str, Any]] = []
        self.quasi: dict[str, list[str]] = {"person": ["zip", *(["sex"] if rng.random() < 0.7 else [])]}
        self.trees["person", "zip"] = place
        self.trees["person", "sex"] = Hierarchy.flat("fm")
        self.rows["person"] = [
            {"id": f"p{n}", "zip": rng.choice(values), "sex": rng.choice("fm")} for n in range(people)
        ]
        chained = rng.random() < 0.6
        for name in ["visit", "drug", "lab"][: rng.randint(1, 3)]:
            own = LETTERS[: rng.randint(1, 4)]
            chain = chained and name != "visit"
            self.quasi[name] = ["code"] if not (self.shared and name == "visit") else ["code", "ward"]
            self.trees[name, "code"] = tree_over(own, rng)
            if self.shared and name == "visit":
                self.trees[name, "ward"] = place
            rows = []
            if chain:
                for n in range(rng.randint(0, 2 * len(self.rows["visit"]) + 1) if self.rows["visit"] else 0):
                    visit = rng.choice(self.rows["visit"])
                    rows.append(
                        {"key": f"{name}{n}", "visit": visit["key"], "code": rng.choice(own), "owner": visit["owner"]}
                    )
                self.links.append({"from": f"{name}.visit", "to": "visit.key", "together": self.together})
            else:
                for n in range(rng.randint(0, 3 * people)):
                    owner = f"p{rng.randrange(people)}"
                    rows.append({"key": f"{name}{n}", "person": owner, "code": rng.choice(own), "owner": owner,
                                 **({"ward": rng.choice(values)} if "ward" in self.quasi[name] else {})})  # fmt: skip
                self.links.append({"from": f"{name}.person", "to": "person.id"})
            self.rows[name] = rows
        self._same_tree_by_name()

    def _same_tree_by_name(self) -> None:
        """Quasi-identifiers of one name in tables of events share labels: they have one tree."""
        trees = [self.trees[name, "code"] for name in self.rows if name != "person"]
        widest = max(trees, key=lambda tree: tree.size)
        for name in self.rows:
            if name != "person":
                self.trees[name, "code"] = widest

    @property
    def domains(self) -> list[tuple[tuple[str, str], ...]]:
        """Columns that have one level."""
        codes = tuple((name, "code") for name in self.rows if name != "person")
        found = [codes] if len(codes) > 1 else []
        return found + ([(("person", "zip"), ("visit", "ward"))] if self.shared else [])

    def job(self) -> dict[str, Any]:
        """The job as plain data."""
        tables = {}
        for name, rows in self.rows.items():
            keys = {"person": ["id"]}.get(
                name,
                ["key", *(["visit"] if any(link["from"] == f"{name}.visit" for link in self.links) else ["person"])],
            )
            columns = [*keys, *self.quasi[name]]
            frame = pl.DataFrame(
                [[row[c] for c in columns] for row in rows], schema=dict.fromkeys(columns, pl.String), orient="row"
            )
            tables[name] = {
                "data": frame,
                "columns": {
                    c: {"role": "quasi-identifier", "hierarchy": self.trees[name, c]} for c in self.quasi[name]
                },
            }
        domains = [{"columns": ["person.zip", "visit.ward"]}] if self.shared else []
        return {"unit": "person.id", "k": self.k, "known": self.known, "suppress": self.suppress, "tables": tables,
                "links": self.links, "domains": domains}  # fmt: skip

    # ---- by definition ------------------------------------------------------------------------------------

    def candidates(self) -> Iterator[dict[tuple[str, str], int]]:
        """All choices of levels in which the columns of a domain agree."""
        columns = [(name, c) for name in self.rows for c in self.quasi[name]]
        if self.known == 0:
            tied = {c for own in self.domains for c in own if ("person", "zip") in own}
            columns = [c for c in columns if c[0] == "person" or c in tied]
        for levels in itertools.product(*(range(self.trees[c].height + 1) for c in columns)):
            chosen = dict(zip(columns, levels, strict=True))
            if all(len({chosen[c] for c in own if c in chosen}) <= 1 for own in self.domains):
                yield chosen

    def events(
        self, levels: Mapping[tuple[str, str], int]
    ) -> tuple[dict[str, Any], list[tuple[str, str, Any, str | None]]]:
        """The label of every person, and per event its table, key, person, label and the event it belongs to."""

        def label(name: str, row: Mapping[str, Any]) -> Any:
            return tuple(self.trees[name, c].generalize(row[c], levels[name, c]) for c in self.quasi[name])

        person = {row["id"]: label("person", row) for row in self.rows["person"]}
        if self.known == 0:
            return person, []
        visits = {row["key"]: label("visit", row) for row in self.rows.get("visit", [])}
        found = []
        for name, rows in self.rows.items():
            for row in rows if name != "person" else []:
                own = (name, label(name, row))
                if self.together and "visit" in row:
                    own = (*own, visits[row["visit"]])
                found.append((row["key"], row["owner"], own, row.get("visit")))
        return person, found

    def largest_safe(self, levels: Mapping[tuple[str, str], int]) -> tuple[set[str], set[str]]:
        """Suppressed people and events: the fewest, found by taking away what breaks the promise until nothing does."""
        person, events = self.events(levels)
        people, left = set(person), {key for key, *_ in events}
        while True:
            gone_people, gone = self._breaking(person, [e for e in events if e[0] in left], people)
            if not gone_people and not gone:
                return set(person) - people, {key for key, *_ in events} - left
            people -= gone_people
            left -= gone
            left -= {key for key, owner, *_ in events if owner not in people}
            while orphans := {
                key for key, _, _, above in events if key in left and above is not None and above not in left
            }:
                left -= orphans

    def _breaking(
        self, person: Mapping[str, Any], events: Sequence[Any], people: set[str]
    ) -> tuple[set[str], set[str]]:
        held: dict[str, list[Any]] = defaultdict(list)
        for _, owner, own, _ in events:
            held[owner].append(own)
        if self.known in (0, 1):
            sizes = Counter(person[u] for u in people)
            fits: dict[Any, set[str]] = defaultdict(set)
            for _, owner, own, _ in events:
                fits[person[owner], own].add(owner)
            few = {u for u in people if sizes[person[u]] < self.k}
            return few, {key for key, owner, own, _ in events if len(fits[person[owner], own]) < self.k}
        if self.known == "all":
            traces = Counter((person[u], tuple(sorted(held[u]))) for u in people)
            return {u for u in people if traces[person[u], tuple(sorted(held[u]))] < self.k}, set()
        supports: dict[Any, set[str]] = defaultdict(set)
        mine: dict[str, set[Any]] = {}
        for u in people:
            own = sorted(held[u])
            mine[u] = {
                (person[u], part)
                for size in range(int(self.known) + 1)
                for part in itertools.combinations(own, min(size, len(own)))
            }
            for each in mine[u]:
                supports[each].add(u)
        return {u for u in people if any(len(supports[each]) < self.k for each in mine[u])}, set()

    def score(self, levels: Mapping[tuple[str, str], int]) -> float | None:
        """The loss of a candidate, or nothing if it suppresses too much."""
        people, gone = self.largest_safe(levels)
        rows = len(self.rows["person"]) + (
            0 if self.known == 0 else sum(len(r) for n, r in self.rows.items() if n != "person")
        )
        if len(people) + len(gone) > int(self.suppress * rows + 1e-9):
            return None
        losses = []
        for (name, c), level in levels.items():
            if self.known == 0 and name != "person":
                continue
            tree, n = self.trees[name, c], len(self.rows[name])
            shares = {v: tree.leaf_counts[tree.table[level, tree.find(v)]] / tree.size for v in tree.values}
            covered = sum(
                1.0 if (row["id"] in people if name == "person" else row["key"] in gone) else shares[row[c]]
                for row in self.rows[name]
            )
            whole = n - n / tree.size
            losses.append(0.0 if whole <= 0 else max(0.0, (covered - n / tree.size) / whole))
        return sum(losses) / len(losses)

    def optimum(self) -> float | None:
        """The least loss over all nodes."""
        scores = [found for levels in self.candidates() if (found := self.score(levels)) is not None]
        return min(scores) if scores else None


def breaches(frames: Mapping[str, pl.DataFrame], quasi: Mapping[str, Sequence[str]], links: Sequence[Mapping[str, Any]],
             k: int, known: int | str, together: bool = False) -> int:  # fmt: skip
    """Published people whose data, with what may be known of them, fits fewer than k: from the frames alone."""
    person, held = published(frames, quasi, links, together)
    if known == 0:
        held = {u: [] for u in held}
    count = 0
    for u in person:
        same = [v for v in person if person[v] == person[u]]
        if known == "all":
            count += sum(sorted(held[v]) == sorted(held[u]) for v in same) < k
            continue
        parts = {
            p
            for size in range(int(known) + 1)
            for p in itertools.combinations(sorted(held[u]), min(size, len(held[u])))
        }
        count += any(sum(not (Counter(p) - Counter(held[v])) for v in same) < k for p in parts)
    return count


def published(
    frames: Mapping[str, pl.DataFrame], quasi: Mapping[str, Sequence[str]], links: Sequence[Mapping[str, Any]],
    together: bool = False,
) -> tuple[dict[Any, Any], dict[Any, list[Any]]]:  # fmt: skip
    """By published key of every person the labels, and those of the events that the published keys lead to."""
    owner: dict[str, dict[Any, Any]] = {"person": {key: key for key in frames["person"]["id"].to_list()}}
    person = {row["id"]: tuple(str(row[c]) for c in quasi["person"]) for row in frames["person"].iter_rows(named=True)}
    held: dict[Any, list[Any]] = {u: [] for u in person}
    shown: dict[Any, Any] = {}
    for name in (n for n in frames if n != "person"):
        link = next(each for each in links if each["from"].startswith(f"{name}."))
        column, above = link["from"].split(".")[1], link["to"].split(".")[0]
        owner[name] = {}
        for row in frames[name].iter_rows(named=True):
            assert row[column] in owner[above], "an orphan key"
            u = owner[name][row.get("key", len(owner[name]))] = owner[above][row[column]]
            own = (name, tuple(str(row[c]) for c in quasi[name]))
            if name == "visit":
                shown[row.get("key")] = own[1]
            held[u].append((*own, shown[row[column]]) if together and column == "visit" else own)
    return person, held
