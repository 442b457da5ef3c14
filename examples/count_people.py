"""Publish visits of patients so that every published combination belongs to five patients, not to five visits of one.

Run: python examples/count_people.py [FOLDER]. Writes visits.csv, release.csv and report.html. Nobody in it exists.
"""

from __future__ import annotations

import csv
import random
import sys
from pathlib import Path

import kanopy

QUASI = ["age", "zip", "sex"]
OWNERS = kanopy.Job(quasi=QUASI, rest="publish", insensitive=["patient"], allow_dependent=["patient"], k=5)
"""A wrong release, to count people in: whose row it is tells sex and zip code."""


def write_visits(target: Path, patients: int = 80, rows: int = 348, seed: int = 7) -> None:
    """A table of visits: sex and zip are the patient's, age and ward are of the visit."""
    draw = random.Random(seed)
    people = [
        (f"P{n:03d}", draw.randint(1930, 2005), f"041{draw.randint(0, 11):02d}", draw.choice("fm"))
        for n in range(patients)
    ]
    with target.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream, lineterminator="\n")
        out.writerow(["patient", "age", "zip", "sex", "ward", "diagnosis"])
        for number in range(rows):
            name, born, place, sex = people[number] if number < patients else draw.choice(people)
            ward, ill = draw.choice(["A", "B", "C"]), draw.choice(["asthma", "diabetes", "fracture", "influenza"])
            out.writerow([name, draw.randint(2015, 2021) - born, place, sex, ward, ill])


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "visits.csv"
    write_visits(table)
    by_rows = kanopy.anonymize(table, kanopy.Job(quasi=QUASI, sensitive=["diagnosis"], identifiers=["patient"], k=5))
    owners = kanopy.anonymize(table, OWNERS).data
    seen = kanopy.check(owners, quasi=QUASI, unit="patient")
    print(f"k = 5 rows: {by_rows.classes} classes, patients in the smallest: {seen.k}")
    for known in (1, 2):
        job = kanopy.Job(quasi=QUASI, sensitive=["diagnosis"], k=5, suppress="20%", unit="patient", known=known)
        result = kanopy.anonymize(table, job)
        found = f"{result.classes} classes, smallest {result.smallest_class}, loss {result.score:.3f}"
        print(f"k = 5 people, {known} known: {found}")
    baskets = [["ale", "nuts"], ["ale", "nuts"], ["ale", "chips"], ["cider", "nuts"], ["cider", "chips"]] * 20
    groups = {"method": "groups", "groups": {"drink": ["ale", "cider"], "snack": ["nuts", "chips"]}}
    job = kanopy.Job(quasi=["bought"], k=25, known=2, hierarchies={"bought": groups})
    bought = kanopy.anonymize({"bought": baskets}, job)
    print(f"what was bought, of which 2 are known: {bought.data['bought'][0]}")
    result.write(folder / "release.csv")
    (folder / "report.html").write_text(result.report.to_html(), encoding="utf-8")
    print(f"Open {folder / 'report.html'} in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
