"""Make `docs/files/people.csv`: the invented patients on which the pages of the documentation try things out.

    python tools/make_people.py

Nobody in it exists. The same seed gives the same file.
"""

from __future__ import annotations

import csv
import random
from datetime import date, timedelta
from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "docs" / "files" / "people.csv"
ROWS = 1000
FIRST = {"f": ["Ada", "Ines", "Mara", "Nora", "Olga", "Ruth"], "m": ["Adam", "Boris", "Emil", "Jan", "Otto", "Paul"]}
LAST = ["Adler", "Brandt", "Cole", "Dorn", "Engel", "Falk", "Gross", "Hahn", "Iver", "Jung", "Krause", "Lorenz"]
ZIPS = {
    "04": ["103", "105", "107", "109", "155", "157", "229", "315"],
    "06": ["108", "110", "112", "114", "484", "618"],
}
DIAGNOSES = {
    "asthma": 14,
    "diabetes": 18,
    "fracture": 16,
    "gastritis": 12,
    "hepatitis": 6,
    "HIV": 2,
    "influenza": 20,
    "pneumonia": 12,
}
LAST_DAY = date(2025, 12, 31)


def main() -> None:
    """Draw the people and write the file."""
    draw = random.Random(11)
    with TARGET.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["name", "born", "age", "sex", "zip", "admitted", "diagnosis", "nights"])
        for _ in range(ROWS):
            sex = draw.choice("fm")
            age = min(94, max(18, round(draw.gauss(51, 18))))
            admitted = LAST_DAY - timedelta(days=draw.randrange(730))
            born = admitted - timedelta(days=int(365.25 * age) + draw.randrange(1, 365))
            region = draw.choice("0006")
            zip_code = draw.choice(ZIPS["06"] if region == "6" else ZIPS["04"])
            diagnosis = draw.choices(list(DIAGNOSES), weights=list(DIAGNOSES.values()))[0]
            name = f"{draw.choice(FIRST[sex])} {draw.choice(LAST)}"
            nights = min(40, int(draw.expovariate(0.2)) + 1)
            prefix = "06" if region == "6" else "04"
            lines.writerow([name, born, age, sex, prefix + zip_code, admitted, diagnosis, nights])


if __name__ == "__main__":
    main()
