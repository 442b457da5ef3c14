#!/usr/bin/env python3
"""Faults at random places of the source: do the tests of the affected room notice them?

    tools/draw_mutations.py [--count 60] [--seed 29] [--first 0] [--seconds 240]

Each fault is one of: a comparison flipped, a number one more, `and` for `or`, a constant returned, a line dropped, two
arguments swapped. The source itself is never touched, as in `tools/mutate`; places and faults follow from the seed. The
tests are those of the folder of `tests/` that is called as the room, and those whose name has the module's.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("_kernel.py", ".pyi", "__init__.py", "__main__.py", "/report/", "/app/")
"""Loops that are compiled have twins that tests compare; pages and drawings are looked at, not computed with."""
ROOMS = {
    "_core": ["tests/table", "tests/search/test_full_domain.py"],
    "_table": ["tests/table"],
    "_job": ["tests/test_job_models.py", "tests/test_init.py", "tests/test_anonymize.py", "tests/study"],
    "study": ["tests/study", "tests/test_check.py", "tests/test_assess.py", "tests/test_assess_risk.py"],
    "release": ["tests/test_anonymize.py", "tests/test_compare.py", "tests/test_explore.py",
                "tests/engine/test_surface.py"],
    "verify": ["tests/verify", "tests/test_verify.py", "tests/test_promise.py"],
    "cli": ["tests/cli/test_release_commands.py", "tests/cli/test_risk_commands.py", "tests/cli/test_shared_options.py",
            "tests/cli/test_bad_input.py"],
    "metrics": ["tests/metrics"],
    "extend": ["tests/extend/test_extensions.py", "tests/contracts/test_newcomer.py"],
}  # fmt: skip
MOST_FILES = 6
"""So many files of tests are run for a fault."""
FLIPPED = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """A piece of a file in other words."""

    file: Path
    line: int
    kind: str
    old: str
    new: str
    start: int
    end: int


def faults_of(path: Path) -> Iterator[Fault]:
    """Every fault that could be put into a file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    starts = [0]
    for line in text.encode().splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    raw = text.encode()

    def fault(kind: str, node: ast.AST, new: str) -> Fault:
        start = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
        end = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
        return Fault(path, node.lineno, kind, raw[start:end].decode(), new, start, end)  # type: ignore[attr-defined]

    typed = {
        id(inner) for node in ast.walk(tree) if isinstance(node, ast.AnnAssign) for inner in ast.walk(node.annotation)
    }
    checked = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    typing = {id(inner) for node in checked for inner in ast.walk(node)}
    for node in ast.walk(tree):
        if id(node) in typed or id(node) in typing:
            continue
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in FLIPPED:
            other = ast.Compare(node.left, [FLIPPED[type(node.ops[0])]()], node.comparators)
            yield fault("comparison flipped", node, f"({ast.unparse(other)})")
        elif isinstance(node, ast.BoolOp):
            other_op = ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
            yield fault("and for or", node, f"({ast.unparse(other_op)})")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            if isinstance(node.right, ast.Constant) and isinstance(node.right.value, int):
                moved = ast.BinOp(node.left, node.op, ast.Constant(node.right.value + 1))
                yield fault("a number one more", node, f"({ast.unparse(moved)})")
        elif isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
            yield fault("a constant returned", node, "return None")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield fault("a line dropped", node, "pass")
        elif (
            isinstance(node, ast.Call)
            and len(node.args) >= 2
            and not any(isinstance(a, ast.Starred) for a in node.args)
        ):
            first, second, *rest = node.args
            swapped = ast.Call(node.func, [second, first, *rest], node.keywords)
            yield fault("arguments swapped", node, ast.unparse(swapped))


def drawn(count: int, seed: int) -> list[Fault]:
    """So many faults at random lines of the source."""
    draw = random.Random(seed)
    files = sorted(p for p in (ROOT / "src").rglob("*.py") if not any(each in str(p) for each in LEFT_OUT))
    sizes = [len(path.read_bytes()) for path in files]
    found: list[Fault] = []
    while len(found) < count:
        possible = list(faults_of(draw.choices(files, sizes)[0]))
        kind = draw.choice(sorted({each.kind for each in possible})) if possible else ""
        found += [draw.choice([each for each in possible if each.kind == kind])] if possible else []
    return found


def tests_of(path: Path) -> list[str]:
    """The tests of the room that a file is in: those first that speak most of the names it defines."""
    parts = path.relative_to(ROOT / "src" / "kanopy").parts
    room, module = parts[0].removesuffix(".py"), path.stem
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {each.name for each in tree.body if isinstance(each, (ast.FunctionDef, ast.ClassDef))} | {module}
    own = ROOMS.get(room, [f"tests/{room}"] if (ROOT / "tests" / room).is_dir() else ["tests/test_anonymize.py"])
    ranked: list[tuple[int, str]] = []
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        text, place = test.read_text(encoding="utf-8"), str(test.relative_to(ROOT))
        spoken = sum(bool(re.search(rf"\b{re.escape(name)}\b", text)) for name in names)
        near = any(place.startswith(each) for each in own)
        if near or f".{module} import" in text:
            ranked.append(
                (-2 * spoken - 5 * (f".{module} import" in text) - 3 * (module.strip("_") in test.stem), place)
            )
    return [place for _, place in sorted(ranked)[:MOST_FILES]]


def noticed(source: Path, tests: list[str], seconds: float) -> str:
    """How the tests end with this source: `noticed`, `survived`, or `too long`, which is noticed by whoever waits."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(source), str(ROOT), str(ROOT / "reproductions")])}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "--tb=no",
        "-m",
        "not slow",
        "-p",
        "no:cacheprovider",
    ]
    try:
        done = subprocess.run([*command, *tests], cwd=ROOT, env=environment, capture_output=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return "too long"
    return {0: "survived", 1: "noticed", 2: "noticed"}.get(done.returncode, f"not run ({done.returncode})")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=240, help="for the tests of one fault")
    asked = parser.parse_args()
    ends: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="kanopy-drawn-") as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        for number, fault in list(enumerate(drawn(asked.count, asked.seed)))[asked.first :]:
            place, began = source / fault.file.relative_to(ROOT / "src"), time.perf_counter()
            raw = place.read_bytes()
            try:
                place.write_bytes(raw[: fault.start] + fault.new.encode() + raw[fault.end :])
                end = noticed(source, tests_of(fault.file), asked.seconds)
            finally:
                place.write_bytes(raw)
            ends[end] = ends.get(end, 0) + 1
            where = f"{fault.file.relative_to(ROOT)}:{fault.line}"
            sys.stdout.write(f"{number:3} {end:9} {fault.kind} {where}: {fault.old[:60]!r} -> {fault.new[:60]!r} "
                             f"({time.perf_counter() - began:.0f} s)\n")  # fmt: skip
            sys.stdout.flush()
    sys.stdout.write(f"{ends}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
