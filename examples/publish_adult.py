"""Publish the bundled Adult data: six quasi-identifiers, k = 5, at most 2 % of the rows suppressed.

Run: python examples/publish_adult.py [FOLDER]. Writes release.csv, report.html, report.json and reproduce.py.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import kanopy


def main(folder: Path) -> None:
    data = kanopy.datasets.adult()
    job = kanopy.Job(
        quasi=["age", "sex", "race", "marital-status", "education", "native-country"],
        sensitive=["income"],
        identifiers=["fnlwgt"],
        k=5,
        suppress="2%",
        hierarchies=kanopy.datasets.adult_hierarchies(),
    )
    print(f"Anonymizing {data.height:,} rows of the Adult data (k = {job.k}) …")
    result = kanopy.anonymize(data, job)
    folder.mkdir(parents=True, exist_ok=True)
    report = result.report
    kanopy.datasets.write_adult_csv(folder / "adult.csv")
    result.write(folder / "release.csv")  # in an order that says nothing about the table's
    (folder / "report.html").write_text(report.to_html(), encoding="utf-8")
    (folder / "report.json").write_text(report.to_json(), encoding="utf-8")
    (folder / "reproduce.py").write_text(report.to_script(), encoding="utf-8")
    print(result)
    print("Proved optimal." if result.solution.optimal else "Not proved optimal.", end=" ")
    print(f"{result.solution.judged:,} of {result.solution.candidates:,} candidates judged.")
    for name, level in (result.levels or {}).items():
        print(f"  {name:<15} level {level}   loss {result.column_losses[name]:.3f}")
    second = kanopy.check(result.data, quasi=job.quasi, sensitive=job.sensitive)
    print(f"Checked again: the smallest class has {second.k} rows, {second.unique_rows} rows are unique.")
    print(f"Open {folder / 'report.html'} in a browser.")
    command = os.path.relpath(Path(sys.executable).with_name("kanopy"))
    print(f"Work on the data in the app: {command} app {folder / 'adult.csv'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
