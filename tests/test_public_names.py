"""What a user may import, and what that costs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import kanopy
from kanopy.search.algorithms import ALGORITHMS
from tests.quick import QUICK

HEAVY = ("numba", "llvmlite", "pandas", "pyarrow", "duckdb", "nicegui", "fastapi", "vl_convert", "pronto", "typer")


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_about_a_dozen_names_each_explained() -> None:
    assert 10 <= len(kanopy.__all__) <= 30
    for name in kanopy.__all__:
        thing = getattr(kanopy, name)
        assert thing.__doc__ and len(thing.__doc__) > 20, name
        assert name in dir(kanopy)
    for name in ("anonymize", "Job", "Hierarchy", "build_hierarchy", "check", "datasets", "NoSolution"):
        assert name in kanopy.__all__
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        kanopy.anonymise  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("first", ["import kanopy.release.run", "from kanopy.study.check import Check"])
def test_functions_stay_functions_whatever_is_imported_first(first: str) -> None:
    code = f"import kanopy; {first}; kanopy.Check; print(callable(kanopy.anonymize), callable(kanopy.check))"
    assert python(code, KANOPY_KERNELS="plain").split() == ["True", "True"]


def test_import_is_light_and_quick() -> None:
    code = (
        "import json, sys, time; begun = time.perf_counter(); import kanopy; spent = time.perf_counter() - begun;"
        "print(json.dumps([spent, sorted({name.partition('.')[0] for name in sys.modules})]))"
    )
    spent, loaded = json.loads(python(code))
    assert not set(loaded) & {*HEAVY, "polars", "numpy"}
    assert spent < 1.0


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom kanopy.cli import main\nsys.argv = ['kanopy', 'anonymize', '--help']\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "print('LOADED', sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    loaded = python(code).partition("LOADED")[2]
    assert loaded and not [name for name in HEAVY if name != "typer" and f"'{name}'" in loaded]


def small_releases() -> list[list[object]]:
    """One release per algorithm and suppression limit, as plain data."""
    frame = kanopy.datasets.adult().head(300).select("age", "sex", "race", "income")
    found: list[list[object]] = []
    for algorithm in ALGORITHMS:
        for suppress in (0.0, 0.05):
            # A search that stops by the clock would go further where it is compiled; give it steps instead.
            given = QUICK.get(algorithm, {})
            quasi = ["age", "sex", "race"]
            job = kanopy.Job(quasi=quasi, k=3, suppress=suppress, algorithm=algorithm, parameters=given)
            result = kanopy.anonymize(frame, job)
            found.append([algorithm, result.levels, round(result.score, 12), result.data.rows()])
    return found


def test_without_the_compiler_everything_is_the_same() -> None:
    code = (
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r});"
        "from tests.test_public_names import small_releases; found = small_releases();"
        "assert 'numba' not in sys.modules; print(json.dumps(found))"
    )
    plain = json.loads(python(code, KANOPY_KERNELS="plain"))
    assert plain == json.loads(json.dumps(small_releases()))
