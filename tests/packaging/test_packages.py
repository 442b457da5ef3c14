"""Wheels and the sdist: right tags, machine code only where it fits, the same bytes every time, offline."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from tools.try_extras import USES, fault_of_project, libraries

from tests.test_house import _tracked

ROOT = Path(__file__).resolve().parents[2]
WHEELS = {"platform": "py3-none-manylinux2014_x86_64", "pure": "py3-none-any"}
BLOCKED = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")


def copy_of_sources(target: Path, age: int) -> Path:
    """The tracked files elsewhere, with another time."""
    for path in _tracked():
        if path.is_file():
            place = target / path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, place)
            os.utime(place, (age, age))
    return target


def build(sources: Path, kind: str, umask: int = 0o022) -> Path:
    """One package, built without the network."""
    target = "sdist" if kind == "sdist" else "wheel"
    out = sources.parent / f"dist-{sources.name}-{kind}"
    environment = {**os.environ, **BLOCKED, "KANOPY_WHEEL": kind if target == "wheel" else ""}
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(out)],
        cwd=sources, env=environment, capture_output=True, text=True, umask=umask, timeout=120,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (package,) = out.iterdir()
    return package


@pytest.mark.slow
def test_packages_have_the_right_tags_and_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("hatchling", reason="tools/environment test installs it")
    first = copy_of_sources(tmp_path / "a", 1_000_000_000)
    second = copy_of_sources(tmp_path / "b", 1_700_000_000)
    digests = {}
    for kind in ("platform", "pure", "sdist"):
        one, other = build(first, kind), build(second, kind, umask=0o077)
        assert one.name == other.name
        digests[kind] = hashlib.sha256(one.read_bytes()).hexdigest()
        assert digests[kind] == hashlib.sha256(other.read_bytes()).hexdigest(), kind
        if kind == "sdist":
            continue
        assert one.name.endswith(f"-{WHEELS[kind]}.whl")
        with zipfile.ZipFile(one) as wheel:
            names = wheel.namelist()
            (about,) = [name for name in names if name.endswith("/WHEEL")]
            lines = wheel.read(about).decode().splitlines()
        assert f"Tag: {WHEELS[kind]}" in lines and f"Root-Is-Purelib: {str(kind == 'pure').lower()}" in lines
        machine_code = {Path(name).name for name in names if name.endswith(".bin")}
        built = {path.name for path in (ROOT / "src/kanopy/_compiler/prebuilt").glob("*.bin")}
        assert machine_code == (built if kind == "platform" else set()) and built
        assert not [name for name in names if name.startswith(("tests/", "docs/"))]
    # A wheel made from the sdist is the wheel made from the repository.
    with tarfile.open(build(first, "sdist") if not (tmp_path / "dist-a-sdist").exists() else next(
        (tmp_path / "dist-a-sdist").iterdir()
    )) as archive:  # fmt: skip
        archive.extractall(tmp_path / "sdist", filter="data")
    (unpacked,) = (tmp_path / "sdist").iterdir()
    again = build(unpacked, "platform")
    assert hashlib.sha256(again.read_bytes()).hexdigest() == digests["platform"]


def test_each_extra_is_tried_and_core_has_none_of_them() -> None:
    extras = set(libraries())
    assert set(USES) == extras | {"core"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    core = {re.split(r"[<>=\[]", each)[0] for each in project["dependencies"]}
    assert not core & set().union(*libraries().values())
    assert len(core) <= 9, "the core installation does not grow"


def test_only_contradictions_are_the_fault_of_the_project() -> None:
    for said in ("error: Failed to fetch: connection refused", "No solution found: there is no version of numba==9"):
        assert not fault_of_project(said)
    assert fault_of_project(
        "× No solution found when resolving dependencies: because kanopy depends on polars>=2 and …"
    )


def test_the_conda_recipe_asks_for_what_the_package_asks_for() -> None:
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load((ROOT / "integrations" / "conda" / "recipe.yaml").read_text("utf-8"))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project, asked = settings["project"], recipe["requirements"]
    assert recipe["context"]["version"] == project["version"]
    assert recipe["build"]["python"]["entry_points"] == [f"kanopy = {project['scripts']['kanopy']}"]
    assert [each.replace(" ", "") for each in asked["run"]] == [
        f"python{project['requires-python']}", *project["dependencies"]
    ]  # fmt: skip
    assert {each.replace(" ", "") for each in asked["host"]} >= {"pip", *settings["build-system"]["requires"]}


@pytest.mark.slow
def test_the_conda_recipe_renders_and_builds(tmp_path: Path) -> None:
    python = ROOT / ".venv-conda" / "bin" / "python"
    if not python.exists():
        pytest.skip("`make conda-test` installs the builder of conda packages in .venv-conda and runs this")
    sources = copy_of_sources(tmp_path / "sources", 1_000_000_000)
    script = ROOT / "tools" / "conda_build.py"
    built = subprocess.run(
        [python, script, sources, tmp_path], env={**os.environ, **BLOCKED}, capture_output=True, text=True, timeout=300
    )
    assert built.returncode == 0, (built.stdout + built.stderr)[-3000:]
    package = json.loads(built.stdout.splitlines()[-1])
    assert (package["name"], package["noarch"], package["tests"]) == ("kanopy", "python", 2)
    assert "numpy >=2.0" in package["depends"] and "python >=3.11" in package["depends"]
    files = package["files"]
    assert {"site-packages/kanopy/__init__.py", "site-packages/kanopy_papers/__init__.py"} <= set(files)
    assert not [name for name in files if name.endswith(".bin")] and any(
        "WordNet" in name or "data" in name for name in files
    )


def test_citation_and_version_agree() -> None:
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in text
    assert text.count("\n  - type: ") >= 6, "the papers behind it"
    import yaml

    cited = yaml.safe_load(text)
    for each in cited["references"]:
        assert each["title"] and each["authors"] and int(each["year"]) > 1990


def test_templates_are_forms_that_can_be_read() -> None:
    import yaml

    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert {form.stem for form in forms} == {"bug", "config", "idea", "number"}
    for form in forms:
        content = yaml.safe_load(form.read_text("utf-8"))
        if form.stem == "config":
            assert content["blank_issues_enabled"] is True
            continue
        assert content["name"] and content["description"] and content["body"]
        for field in content["body"]:
            assert field["type"] in {"markdown", "input", "textarea", "dropdown", "checkboxes"}
        assert "person" in form.read_text("utf-8"), "every form asks for no data about people"
