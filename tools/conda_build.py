"""Build the conda recipe without a channel of conda: run by the Python of .venv-conda (`make conda-test`).

Usage: python conda_build.py SOURCES FOLDER. Packages named python, pip and hatchling are made first, in a channel in
the folder; that `python` runs the one of this environment.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import rattler_build as conda

MINOR = f"{sys.version_info[0]}.{sys.version_info[1]}"


def stand_in(folder: Path, name: str, version: str, script: list[str]) -> None:
    """A package that stands for another in the channel of the folder."""
    place = folder / name
    place.mkdir()
    recipe = {"package": {"name": name, "version": version}, "build": {"number": 0, "script": script}}
    (place / "recipe.yaml").write_text(json.dumps(recipe))
    made = conda.Stage0Recipe.from_file(place / "recipe.yaml")
    made.run_build(output_dir=folder / "channel", channels=[], no_build_id=True)


def main(sources: Path, folder: Path) -> None:
    """Build, and print what is in the package."""
    python = f"{MINOR}.{sys.version_info[2]}"
    run = f"printf '#!/bin/sh\\nexec {sys.executable} \"$@\"\\n' > $PREFIX/bin/python"
    place = f"mkdir -p $PREFIX/bin $PREFIX/lib/python{MINOR}/site-packages"
    stand_in(folder, "python", python, [place, run, "chmod +x $PREFIX/bin/python"])
    stand_in(folder, "pip", "25.0", ["true"])
    stand_in(folder, "hatchling", "1.27.0", ["true"])
    recipe = conda.Stage0Recipe.from_file(sources / "integrations" / "conda" / "recipe.yaml")
    (built,) = recipe.run_build(output_dir=folder / "out", channels=[str(folder / "channel")], no_build_id=True)
    package = conda.Package.from_file(built.packages[0])
    found = {
        "name": package.name,
        "version": package.version,
        "noarch": str(package.noarch),
        "depends": package.depends,
    }
    files = [str(path) for path in package.files]
    sys.stdout.write("\n" + json.dumps({**found, "tests": package.test_count, "files": files}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
