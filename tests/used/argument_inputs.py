"""Tables, hierarchies, ontologies and files that the generated test of arguments is run on."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import kanopy
from kanopy._progress import Clock
from kanopy.hierarchy import Hierarchy


def people() -> dict[str, list[Any]]:
    """A table about people."""
    chance = random.Random(3)
    table: dict[str, list[Any]] = {name: [] for name in ("id", "age", "sex", "zip", "ill", "w", "home", "person")}
    for i in range(48):
        table["id"].append(str(1000 + i))
        table["age"].append(str(20 + chance.randrange(24)))
        table["sex"].append("fm"[i % 2])
        table["zip"].append(str(13000 + i % 4))
        table["ill"].append(chance.choice(["flu", "cold", "cough"]))
        table["w"].append(1 + i % 4)
        table["home"].append(i // 3)
        table["person"].append(i // 2)
    return table


def mapped() -> dict[str, list[Any]]:
    """The people with where they live, in two columns."""
    return {**people(), "lat": [50.1 + i % 4 for i in range(48)], "lon": [8.5 + i % 3 for i in range(48)]}


def placed() -> dict[str, list[Any]]:
    """The same people with their places in one column, as a release has them."""
    return {**people(), "flat": [f"{50.1 + i % 4:g}, {8.5 + i % 3:g}" for i in range(48)]}


def others() -> dict[str, list[Any]]:
    """The same table with other values."""
    return {**people(), "age": [str(30 + i % 7) for i in range(48)], "sex": ["f"] * 40 + ["m"] * 8}


def turned() -> pl.DataFrame:
    """A release of the people in another order."""
    return released().reverse()


def released() -> pl.DataFrame:
    """A release of the people by age and sex, with what identifies their rows."""
    rows = pl.DataFrame(people())
    age = [f"[{int(a) // 10 * 10}, {int(a) // 10 * 10 + 9}]" for a in rows["age"]]
    return rows.select("id", pl.Series("age", age), "sex", "ill")


def gone() -> pl.DataFrame:
    """A release of which two ages are missing."""
    rows = pl.DataFrame({**people(), "age": [None, "30", None, *people()["age"][3:]]})
    return rows.select("id", "age", "sex", "ill")


def earlier() -> pl.DataFrame:
    """An earlier release, which says more of the place and less of the sex."""
    rows = pl.DataFrame(people())
    return rows.select("id", pl.lit("*").alias("sex"), "zip", pl.Series("age", ["*"] * rows.height))


def baskets() -> dict[str, list[Any]]:
    """What people bought, as texts with several things."""
    chance = random.Random(5)
    goods = ("ale", "beer", "nuts", "rice")
    return {
        "bought": [";".join(sorted(set(chance.choices(goods, k=chance.randrange(1, 4))))) for _ in range(40)],
        "age": [str(20 + i % 4) for i in range(40)],
    }


def animals() -> dict[str, list[Any]]:
    """A table with words."""
    kinds = ["dog", "cat", "horse", "eagle", "hawk", "trout"]
    return {
        "animal": [kinds[i * i % 6] for i in range(30)],
        "kept": [f"{'ab'[i % 2]}{i % 3}" for i in range(30)],
        "legs": [i % 5 for i in range(30)],
        "id": [str(100 + i) for i in range(30)],
    }


ANIMALS = [["dog", "mammal", "*"], ["cat", "mammal", "*"], ["horse", "bird", "*"], ["eagle", "bird", "*"],
           ["hawk", "bird", "*"], ["trout", "fish", "*"]]  # fmt: skip
ILLS = Hierarchy.from_rows([["flu", "light", "*"], ["cold", "light", "*"], ["cough", "other", "*"]], name="ill")
SEXES = Hierarchy.from_rows([["f", "person", "*"], ["m", "person", "*"]], name="sex")


def animal_tree() -> Hierarchy:
    """A hierarchy with a horse among the birds."""
    return Hierarchy.from_rows(ANIMALS, name="animal")


def other_tree() -> Hierarchy:
    """Another hierarchy of the same values."""
    return Hierarchy.from_rows([[row[0], "pet" if row[0] in ("dog", "cat") else "wild", "*"] for row in ANIMALS])


def beasts() -> kanopy.ontology.Taxonomy:
    """A small ontology."""
    return kanopy.ontology.Taxonomy.from_hierarchy(
        Hierarchy.from_rows(
            [[w, {"horse": "mammal"}.get(w, above), "animal"] for w, above, _ in ANIMALS], name="beasts"
        )
    )


def wordnet() -> kanopy.ontology.Taxonomy:
    """The one that comes with Kanopy."""
    return kanopy.load_ontology("wordnet")


def choices(**senses: str) -> kanopy.ontology.SenseChoices:
    """Chosen senses."""
    return kanopy.ontology.SenseChoices(senses=senses)


def write_inputs(folder: Path) -> None:
    """The files that the cases name."""
    pl.DataFrame(people()).write_csv(folder / "people.csv")
    (folder / "umlauts.csv").write_bytes("town,n\nKöln,1\nMünchen,2\nDüsseldorf,3\n".encode("cp1252"))
    pl.DataFrame(others()).write_csv(folder / "others.csv")
    pl.DataFrame(people()).write_parquet(folder / "people.parquet")
    two = pl.concat([pl.DataFrame(people())] * 3)
    two.write_csv(folder / "everybody.csv")
    (folder / "animal.csv").write_text("".join(";".join(row) + "\n" for row in ANIMALS), encoding="utf-8")
    (folder / "broken.csv").write_text("a;x;*\nb;x;+\n", encoding="utf-8")
    (folder / "broken_animal.csv").write_text("a;x;1;*\nb;x;2;*\n", encoding="utf-8")
    (folder / "trees").mkdir()
    (folder / "trees" / "sex.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    (folder / "trees" / "age.csv").write_text("1;*\n2;*\n", encoding="utf-8")
    (folder / "more").mkdir()
    (folder / "more" / "age.csv").write_text("1;*\n2;*\n", encoding="utf-8")
    table = "value,level_1,age\n1,low,x\n2,low,y\n"
    (folder / "table.csv").write_text(table, encoding="utf-8")
    words = [f"{row[0]},{row[1]}\n" for row in ANIMALS]
    (folder / "words.csv").write_text("animal,\nmammal,animal\nbird,animal\nfish,animal\n" + "".join(words))
    (folder / "others.obo").write_text(
        "format-version: 1.2\n\n[Term]\nid: A:1\nname: animal\n\n[Term]\nid: A:2\nname: dog\n"
        "relationship: kind A:1\n\n[Typedef]\nid: kind\nname: kind\n"
    )
    with contextlib.closing(sqlite3.connect(folder / "held.sqlite")) as database:
        database.execute("CREATE TABLE people (age TEXT)")
    (folder / "own.senses.toml").write_text('[senses]\ndog = "dog#3"\n', encoding="utf-8")
    (folder / "other.senses.toml").write_text('[senses]\ncat = "cat#2"\n', encoding="utf-8")


def job(**more: Any) -> kanopy.Job:
    """A plain job."""
    return kanopy.Job(**{"quasi": ("age", "sex"), "k": 3, "suppress": 0.2, **more})


def everybody() -> pl.DataFrame:
    """Everybody the people could be."""
    return pl.DataFrame(people())[list(range(48)) * 2 + list(range(0, 48, 3)) * 3]


def problem(k: int = 2, table: Callable[[], Any] = people) -> Any:
    """A small problem of a search."""
    from kanopy.release.prepare import make_problem, prepare

    asked = job(k=k, suppress=1, hierarchies={"age": {"method": "order", "fan_out": [4, 2]}, "sex": SEXES})
    return make_problem(prepare(table(), asked).domain, asked)


def judged(levels: int = 0) -> Any:
    """A candidate of the problem, judged: that of the highest levels, or one below it."""
    of_it = problem()
    highest = of_it.lattice.highest
    return of_it.evaluate((*highest[:-1], highest[-1] - levels))


def recoded(table: Callable[[], Any] = people, low: bool = False) -> dict[str, Any]:
    """Arguments of a recoding that publishes the same node of every column for all rows: its top, or its first."""
    domain = problem(table=table).domain
    nodes = np.array([[0 if low else int(h.roots[0]) for h in domain.hierarchies]], np.int32)
    return {"domain": domain, "group_of_row": np.zeros(48, np.int32), "nodes": nodes}


KIN = "bird < animal\nfish < animal\nheron < bird\ntrout < fish\n"


def read_kin(path: Path, **settings: Any) -> kanopy.ontology.Taxonomy:
    """An ontology from lines such as `heron < bird`."""
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    pairs = [[part.strip() for part in line.partition("<")[::2]] for line in lines]
    if not pairs or not all(map(all, pairs)):
        raise kanopy.extend.OntologyError(f"{path.name} has a line that is none such as heron < bird.")
    names = dict.fromkeys(name for pair in pairs for name in pair)
    above = {name: tuple(b for a, b in pairs if a == name) for name in names}
    concepts = [kanopy.ontology.Concept(name, (name,), above[name]) for name in names]
    return kanopy.ontology.Taxonomy.from_concepts(concepts, name="kin")


def tree(*rows: str) -> Hierarchy:
    """A hierarchy of rows such as `a x *`."""
    return Hierarchy.from_rows([row.split() for row in rows], name="tree")


def deep_tree() -> Hierarchy:
    """A hierarchy of four levels."""
    return tree("a x 1 *", "b x 1 *", "c y 2 *", "d z 2 *")


def wrong_tree() -> Hierarchy:
    """A hierarchy with two groups whose names are too wide."""
    return tree("cat homeotherm *", "dog homeotherm *", "eagle vertebrate *", "hawk vertebrate *", "trout fish *")


def even_tree() -> Hierarchy:
    """A hierarchy with the same labels on two levels."""
    return tree("a a *", "b b *", "c c *")


def twice_tree() -> Hierarchy:
    """The hierarchy of animals with values that are called as groups are."""
    rows = [" ".join(row) for row in ANIMALS]
    return tree(*rows, "bird bird *", "mammal mammal *", "fish fish *", "hawk2 hawk *")


def two_splits() -> Hierarchy:
    """A hierarchy in which two groups have the same values to part."""
    return tree("eagle bird *", "hawk bird *", "horse bird *", "a other *", "b other *")


def seen_steps() -> Any:
    """A callback that keeps what it is told."""
    steps: list[str] = []

    def callback(step: Any) -> None:
        steps.append(str(getattr(step, "stage", getattr(step, "message", step))))

    callback.steps = steps  # type: ignore[attr-defined]
    return callback


def timing() -> Clock:
    """A clock that keeps which stages it timed."""
    return Clock()


def fine() -> dict[str, list[str]]:
    """Words, of which one is rare, beside what all have."""
    return {"age": ["low", "low", "low", "mid"], "ill": ["flu"] * 4}


def paid() -> dict[str, list[str]]:
    """Numbers in texts with a comma."""
    return {"pay": ["1,5", "1,50", "2,0", "2"]}


def skipped() -> dict[str, list[str]]:
    """A table with a row below its header that says what the columns are."""
    return {name: ["what", *map(str, values)] for name, values in people().items()}


def gaps() -> dict[str, list[Any]]:
    """A table in which texts mean that an age is missing."""
    return {**people(), "age": ["99", "30", "?", *people()["age"][3:]]}


def many() -> dict[str, list[str]]:
    """More people than an attack looks for."""
    return {"zip": [str(i % 7) for i in range(100_050)]}


def many_released() -> dict[str, list[str]]:
    """A release of them."""
    return {"zip": [each if each < "3" else "*" for each in many()["zip"]]}
