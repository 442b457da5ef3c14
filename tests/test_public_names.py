"""What a user may import, and what that costs."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from types import ModuleType

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


ROOT = Path(__file__).resolve().parents[1]
ROOMS = ("kanopy", "kanopy.extend", "kanopy.hierarchy", "kanopy.ontology", "kanopy.privacy")
DICTIONARIES = {"BUILDERS", "MEASURES", "MODELS"}
ANSWERS = {"Check", "Comparison", "Improvement", "Marginality", "Result", "SemanticQuality", "Senses", "Suggestion",
           "WordPair"}  # fmt: skip
"""Classes that users only get as an answer: the function that answers has the example."""
BASES = {"Builder", "Model"}
OF_AUTHORS = {
    "About", "ContractBroken", "Flag", "HierarchyError", "InputError", "JobError", "MaskingTable", "Name",
    "OntologyError", "Optional", "Problem", "Text", "recoding_from_nodes", "release_levels",
}  # fmt: skip
"""What extensions are made of: `examples/extension/` and its page show these together."""


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_are_importable_and_explained_by_an_example(room: str) -> None:
    module = importlib.import_module(room)
    assert module.__doc__ and dir(module) == sorted(module.__all__)
    if room != "kanopy":
        assert "implementation detail" in module.__doc__
    for name in set(module.__all__) - DICTIONARIES:
        thing = getattr(module, name)
        assert thing.__doc__ and len(thing.__doc__) > 20, name
        inside = vars(thing).values() if isinstance(thing, (type, ModuleType)) else ()
        shown = any(">>>" in (getattr(each, "__doc__", None) or "") for each in (thing, *inside))
        assert shown or name in ANSWERS | BASES | OF_AUTHORS, f"{room}.{name} has no running example"
    with pytest.raises(AttributeError, match="no attribute 'anonymise'"):
        module.anonymise  # noqa: B018


@pytest.mark.parametrize("room", ROOMS)
def test_what_type_checkers_see_is_what_is_loaded(room: str) -> None:
    module = importlib.import_module(room)
    tree = ast.parse(Path(str(module.__file__)).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    seen = {alias.asname: node.module for node in imports for alias in node.names}
    assert sorted(seen) == sorted(module.__all__)
    for name, home in seen.items():
        there = importlib.import_module(str(home))
        assert getattr(module, name) is getattr(there, name), name


@pytest.mark.parametrize("room", ROOMS)
def test_public_names_say_the_path_that_users_import_them_from(room: str) -> None:
    """Messages, help and pickles name it, whatever file the name is in today; annotations are still resolved."""
    import pickle
    import typing

    module = importlib.import_module(room)
    for name in set(module.__all__) - DICTIONARIES:
        thing = getattr(module, name)
        if isinstance(thing, ModuleType):
            continue
        rooms = [importlib.import_module(each) for each in (ROOMS[0], *ROOMS[2:], ROOMS[1])]
        first = next(each.__name__ for each in rooms if name in each.__all__ and getattr(each, name) is thing)
        assert thing.__module__ == first and pickle.loads(pickle.dumps(thing)) is thing, name
    if room == "kanopy.privacy":
        assert "k" in typing.get_type_hints(module.KMap)


@pytest.mark.parametrize("room", ROOMS)
def test_help_describes_public_names_only(room: str) -> None:
    """Python lists the files of a package above; what it describes are the names that users may import."""
    import pydoc

    module = importlib.import_module(room)
    page = pydoc.plain(pydoc.render_doc(module))
    described = {
        name
        for title, pattern in (("CLASSES", r"^    class (\w+)"), ("FUNCTIONS", r"^    (\w+)\("))
        for name in re.findall(pattern, page.partition(f"\n{title}\n")[2].partition("\nDATA\n")[0], re.MULTILINE)
    }
    assert described and described <= set(module.__all__)


def test_a_retired_name_works_with_a_warning_and_is_not_listed() -> None:
    from kanopy._lazy import lazy_names

    package = {"__name__": "kanopy.privacy", "__file__": kanopy.privacy.__file__}
    load, listed, _ = lazy_names(package, retired={"PeopleMap": ("KMap", "0.9", "2.0")})
    with pytest.warns(DeprecationWarning, match=r"PeopleMap is deprecated since Kanopy 0.9 and is removed in 2.0"):
        assert load("PeopleMap") is kanopy.privacy.KMap
    assert "PeopleMap" not in listed()


def test_the_page_of_the_public_surface_names_every_room() -> None:
    page = (ROOT / "docs" / "reference" / "stability.md").read_text(encoding="utf-8")
    assert all(f"{each}`" in page for each in (*ROOMS, *REGISTERING)) and "KANOPY_KERNELS=plain" in page


def test_a_warning_of_any_package_is_an_error() -> None:
    """Only objects that are collected late, and one call of another package, are left out."""
    with pytest.raises(DeprecationWarning):
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    with pytest.raises(UserWarning):
        warnings.warn_explicit("odd", UserWarning, "elsewhere.py", 1, module="another_package")


REGISTERING = ("kanopy.frames",)
"""Modules that users import for what this does, not for a name in them."""


def _is_public(dotted: str) -> bool:
    """Whether a name such as `kanopy.hierarchy.rename` starts with what users may import."""
    if dotted in REGISTERING:
        return True
    room, _, rest = dotted.partition(".")
    for part in rest.split(".") if rest else ():
        module = importlib.import_module(room)
        if part not in [*module.__all__, "__version__"]:
            return False
        room = f"{room}.{part}"
        if room not in ROOMS:
            return True  # what hangs on a public name is public
    return True


def _code_of(page: Path) -> list[str]:
    """The lines of Python in a page: fenced or indented blocks and examples, wherever they name the package."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        return text.split("\n")
    fenced = re.findall(r"```(?:python|pycon|py)\n(.*?)```", text, re.DOTALL)
    lines = [line for block in fenced for line in block.split("\n")]
    return lines + [line for line in text.split("\n") if line.startswith((">>>", "    "))]


PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_documents_use_public_names_only(page: Path) -> None:
    named = []
    for line in _code_of(page):
        if found := re.search(r"from (kanopy[\w.]*) import \(?([\w, ]+)", line):
            named += [f"{found[1]}.{name.split(' as ')[0].strip()}" for name in found[2].split(",") if name.strip()]
        elif found := re.search(r"import (kanopy[\w.]*)", line):
            named.append(found[1])
        else:
            named += re.findall(r"(?<![\w./-])kanopy(?:\.[A-Za-z_]\w*)+", line)
    assert [name for name in named if not _is_public(name)] == []


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
    assert spent < 0.3  # a twentieth of a second on a quiet machine


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


@pytest.mark.slow
def test_without_the_compiler_everything_is_the_same() -> None:
    code = (
        f"import json, sys; sys.path.insert(0, {str(Path(__file__).parents[1])!r});"
        "from tests.test_public_names import small_releases; found = small_releases();"
        "assert 'numba' not in sys.modules; print(json.dumps(found))"
    )
    plain = json.loads(python(code, KANOPY_KERNELS="plain"))
    assert plain == json.loads(json.dumps(small_releases()))


def test_the_usual_steps_need_neither_the_compiler_nor_pictures(tmp_path: Path) -> None:
    """Reading, `check`, `risk`, hierarchies and a small release where Numba and vl-convert cannot be imported."""
    (tmp_path / "t.csv").write_text("age,sex\n21,f\n22,f\n31,m\n32,m\n")
    code = f"""
import sys
sys.modules |= dict.fromkeys(("numba", "llvmlite", "vl_convert"))
import kanopy
people = kanopy.read_table({str(tmp_path / "t.csv")!r})
job = kanopy.Job(quasi=["age", "sex"], k=2, hierarchies={{"age": {{"method": "widths", "widths": [10]}}}})
tree = kanopy.build_hierarchy([1, 2, 3, 4], "widths", widths=[2])
result = kanopy.anonymize(people, job)
risk = kanopy.assess_risk(people, quasi=["age", "sex"])
print(kanopy.check(result.data, quasi=["age", "sex"]).k, tree.height, risk.sizes.rows, "<h1" in result.to_html())
"""
    assert python(code).split() == ["2", "2", "4", "True"]


STUDIES = ("anonymize", "assess", "assess_risk", "check", "compare", "explore", "lower_bound", "mask")
CALLED = {"weight": "sampling_weight", "columns": "quasi", "shared_by": "on", "linked_by": "on"}
"""Names that a function may not use for what has another name everywhere."""


@pytest.mark.parametrize("name", STUDIES)
def test_functions_of_a_table_take_the_same_things_by_the_same_names(name: str) -> None:
    parameters = inspect.signature(getattr(kanopy, name)).parameters
    by_position = [each.name for each in parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert by_position in (["data", "job"], ["original", "released", "job"])
    assert len(parameters) <= 16
    assert not [f"{wrong}: call it {right}" for wrong, right in CALLED.items() if wrong in parameters]
    assert "key" not in parameters or name in ("anonymize", "mask")  # the secret of pseudonyms, and nothing else
    if "quasi" in parameters:
        assert parameters["quasi"].annotation == "str | Iterable[str] | None"
    if name != "mask":
        assert "JobSource" in parameters["job"].annotation or name == "anonymize"


@pytest.mark.parametrize("name", ["anonymize", "assess_risk", "check", "compare", "explore", "lower_bound"])
def test_functions_of_a_job_refuse_what_is_none_in_words(name: str) -> None:
    more = {"explore": {"ks": [2]}}.get(name, {})
    with pytest.raises(kanopy.KanopyError, match=r"A job is a .*quasi=…|[Jj]ob"):
        getattr(kanopy, name)({"age": [1, 1, 2]}, ["age"], **more)
