"""Publish the same columns of Adult with several algorithms and see what each of them loses.

Run: python examples/compare_algorithms.py [FOLDER]. Writes algorithms.html.
"""

from __future__ import annotations

import sys
from pathlib import Path

import kanopy

ALGORITHMS = ("optimal", "top-down-specialization", "mondrian", "xu", "he-naughton", "best")


def main(folder: Path) -> None:
    adult = kanopy.datasets.adult(complete=True)
    job = kanopy.Job(
        quasi=["age", "sex", "race", "marital-status", "education"],
        k=5,
        hierarchies=kanopy.datasets.adult_hierarchies(),
    )
    found = kanopy.compare(adult, job, algorithms=ALGORITHMS, budget="1s")
    for entry in found.solved:
        print(f"{entry.name:<24} {entry.recoding:<12} loss {entry.losses['loss']:.4f}   {entry.seconds:.2f} s")
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "algorithms.html"
    page.write_text(found.to_html("Adult"), encoding="utf-8")
    print(f"Open {page} in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
