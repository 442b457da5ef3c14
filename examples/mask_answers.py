"""Mask the open answers of a survey by meaning, so that at least five people share each combination.

Run: python examples/mask_answers.py [FOLDER]. Writes masked.csv and masking.html.
"""

from __future__ import annotations

import sys
from pathlib import Path

import polars as pl

import kanopy


def main(folder: Path) -> None:
    answers = pl.DataFrame(kanopy.datasets.survey())
    result = kanopy.mask(answers, kanopy.MaskJob(text=["reason1", "reason2"], k=5))
    numbers = result.summary()
    folder.mkdir(parents=True, exist_ok=True)
    result.write(folder / "masked.csv")
    (folder / "masking.html").write_text(result.to_html(), encoding="utf-8")
    print(f"{numbers['rows']:,} answers in {numbers['groups']} groups of at least {numbers['k']} people")
    print(f"semantic quality {numbers['semantic_quality']:.3f}, linkage {numbers['record_linkage_percent']:.2f} %")
    print(f"Open {folder / 'masking.html'} in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
