"""Build hierarchies for one column in several ways, compare what they lose at k = 10, and draw the best.

Run: python examples/compare_hierarchies.py [FOLDER]. Writes hours.svg and hours.csv.
"""

from __future__ import annotations

import sys
from pathlib import Path

import kanopy
from kanopy.hierarchy import halving_note, suggest_hierarchies, tree_svg


def main(folder: Path) -> None:
    hours = kanopy.datasets.adult(complete=True)["hours-per-week"]
    found = suggest_hierarchies(hours, k=10, name="hours-per-week")
    for suggestion in found:
        print(f"{suggestion.method:<24} loss {suggestion.loss:.4f}   {suggestion.hierarchy.height + 1} levels")
    print(halving_note(found))
    folder.mkdir(parents=True, exist_ok=True)
    best = found[0].hierarchy.with_levels(6)
    (folder / "hours.svg").write_text(tree_svg(best), encoding="utf-8")
    kanopy.write_hierarchy(best, folder / "hours.csv")
    print(f"Open {folder / 'hours.svg'} in a browser.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output"))
