"""From `init` straight to `anonymize`: what the first release of a table keeps, beside one level per column.

    python benchmarks/first_releases.py FOLDER [--part 1/5]

Every table (CSV, Parquet, …) of the folder gets the job that `kanopy init` writes, untouched. Per table:
quasi-identifiers, columns that the release wipes, columns of these that a local recoding keeps at least a tenth of
(there should be none), the loss, that of the same job with full-domain recoding, and processor seconds of guessing and
of the release. Tables of R packages come with `pydataset`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from statistics import median
from typing import Any

from kanopy._errors import KanopyError
from kanopy._job.guess import guess_job
from kanopy._table.sources import read_source
from kanopy.release.run import anonymize

WIPED, KEPT = 0.999, 0.9
SUFFIXES = {".csv", ".tsv", ".parquet", ".dta", ".sav", ".xlsx"}


def losses(frame: Any, job: Any, **changes: Any) -> dict[str, float] | None:
    """The loss per column, or nothing where there is no release."""
    try:
        found = anonymize(frame, job.replaced(**changes) if changes else job)
    except KanopyError:
        return None
    return {name: float(loss) for name, loss in found.column_losses.items()}


def mean(found: dict[str, float] | None) -> float:
    return sum(found.values()) / len(found) if found else 1.0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", default="1/1", help="which part of the tables, such as 2/5")
    asked = parser.parse_args()
    part, parts = map(int, asked.part.split("/"))
    files = sorted(file for file in asked.folder.iterdir() if file.suffix in SUFFIXES)[part - 1 :: parts]
    saved, wiped_in_vain, released, nothing = [], 0, 0, 0
    print(f"{'table':<28}{'rows':>8}{'quasi':>6}{'loss':>7}{'full':>7}{'less':>6}{'guess':>7}{'run':>7}  wiped")
    for file in files:
        frame = read_source(str(file)).frame
        begun = time.process_time()
        job = guess_job(frame).job
        guessed = time.process_time() - begun
        if not job.quasi:
            nothing += 1
            print(f"{file.stem:<28}{frame.height:>8}{0:>6}  no quasi-identifier")
            continue
        begun = time.process_time()
        try:
            own: dict[str, float] | None = dict(anonymize(frame, job).column_losses)
        except KanopyError as error:
            own = None
            print(f"{file.stem:<28}{frame.height:>8}{len(job.quasi):>6}  no release: {str(error)[:150]}")
        spent = time.process_time() - begun
        if own is None:
            continue
        released += 1
        # Populations, weights and their models are left to the job itself: what is compared are recodings.
        full = own if job.algorithm == "optimal" else losses(frame, job, algorithm="optimal", parameters={})
        wiped = [name for name, loss in own.items() if loss >= WIPED]
        local = losses(frame, job, algorithm="mondrian", parameters={}) if wiped else None
        vain = [name for name in wiped if local is not None and local[name] < KEPT]
        wiped_in_vain += len(vain)
        less = 1 - mean(own) / mean(full) if mean(full) else 0.0
        saved.append((mean(own), mean(full), less))
        shown = ", ".join(f"{name} ({local[name]:.2f} local)" if local else name for name in wiped)
        print(
            f"{file.stem:<28}{frame.height:>8}{len(own):>6}{mean(own):>7.3f}{mean(full):>7.3f}{less:>6.0%}"
            f"{guessed:>7.1f}{spent:>7.1f}  {shown}{' IN VAIN: ' + ', '.join(vain) if vain else ''}",
            flush=True,
        )
    if saved:
        print(
            f"{released} released, {nothing} without a quasi-identifier; wiped in vain: {wiped_in_vain}; median loss "
            f"{median(own for own, *_ in saved):.3f}, full-domain {median(full for _, full, _ in saved):.3f}, median "
            f" reduction {median(less for *_, less in saved):.0%}"
        )


if __name__ == "__main__":
    main()
