#!/usr/bin/env python3
"""Faults at random places of the source: does a test near the place notice?

    tools/draw_mutations.py [--count 60] [--seed 29] [--only 3,17] [--tests 40] [--seconds 20] [TEST …]

Each fault is one of: a comparison flipped, a number one more, `and` for `or`, a constant returned, a line dropped, two
arguments swapped. Places and faults follow from the seed. Everything runs in one process, and no file is changed: the
code of the functions that are loaded is replaced, the tests that speak most of the place run, the nearest first, until
one fails, and the test that failed must pass without the fault. A fault outside of functions is only named. `TEST`s
are asked as well. Kernels, pages and drawings are left out: twins are compared with loops, and people look at pages.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import functools
import gc
import importlib
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("_kernel.py", ".pyi", "__init__.py", "__main__.py", "/report/", "/app/")
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


class TooLong(BaseException):
    """The tests of a fault took more than their time."""


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """A piece of code with all that is defined in it, in the order of definition."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from code_objects(constant)


def own(code: CodeType) -> tuple[Any, ...]:
    """A piece of code without what is defined in it."""
    return code.co_code, code.co_names, tuple(one for one in code.co_consts if not isinstance(one, CodeType))


class Patch:
    """A fault in the functions that are loaded; `hits` counts how often its place was reached."""

    def __init__(self, fault: Fault) -> None:
        name = ".".join(fault.file.relative_to(ROOT / "src").with_suffix("").parts)
        self.file = str(importlib.import_module(name).__file__)
        raw = fault.file.read_bytes()
        new = {"a constant returned": "return (__hit__(), None)[1]", "a line dropped": "__hit__()"}.get(
            fault.kind, f"(__hit__(), {fault.new})[1]"
        )
        changed = raw[: fault.start] + new.encode() + raw[fault.end :]
        sound, faulty = (
            list(code_objects(compile(text, self.file, "exec", dont_inherit=True))) for text in (raw, changed)
        )
        if len(sound) != len(faulty):  # what was defined in the place is gone
            names_left = {code.co_qualname for code in faulty}
            sound = [code for code in sound if code.co_qualname in names_left]
        functions = [each for each in gc.get_objects() if type(each) is FunctionType]
        here = [each for each in functions if each.__code__.co_filename == self.file]
        self.codes = [
            (each, before, after)
            for each in here
            for before, after in zip(sound, faulty, strict=True)
            if each.__code__ == before and before != after
        ]
        where = [before.co_qualname for before, after in zip(sound, faulty, strict=True) if own(before) != own(after)]
        names = {each.__code__.co_qualname for each, *_ in self.codes}
        self.reaches_it = bool(where) and any(each.partition(".<locals>")[0] in names for each in where)
        self.hits = 0

    def _hit(self) -> None:
        self.hits += 1

    def _forget(self) -> None:
        for cached in gc.get_objects():
            if type(cached) is functools._lru_cache_wrapper:  # a weak reference would pretend
                code = getattr(cached.__wrapped__, "__code__", None)
                if code is not None and code.co_filename == self.file:
                    cached.cache_clear()

    def __enter__(self) -> Patch:
        builtins.__hit__ = self._hit  # type: ignore[attr-defined]
        for function, _, after in self.codes:
            function.__code__ = after
        self._forget()
        return self

    def __exit__(self, *_: object) -> None:
        for function, before, _ in self.codes:
            function.__code__ = before
        self._forget()


@functools.cache
def pieces_of(path: Path) -> dict[str, str]:
    """The text of every function of a file of tests."""
    text = text_of(path)
    return {
        node.name: ast.get_source_segment(text, node) or "" for node in ast.parse(text).body
        if isinstance(node, ast.FunctionDef)
    }  # fmt: skip


@functools.cache
def text_of(path: Path) -> str:
    """A file of tests."""
    return path.read_text(encoding="utf-8")


@functools.cache
def names_around(fault: Fault) -> list[str]:
    """The names of the functions and classes that a fault is in."""
    tree = ast.parse(fault.file.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    inside = [n for n in ast.walk(tree) if isinstance(n, kinds) and n.lineno <= fault.line <= (n.end_lineno or 0)]
    return [n.name for n in inside if not n.name.startswith("__")]


def nearness(item: pytest.Item, fault: Fault) -> int:
    """How much a test speaks of the place of a fault."""
    around = names_around(fault)
    if item.path == fault.file:
        return 6 * (item.name.rpartition(".")[2] in around) + 4
    if item.path.suffix != ".py" or "tests" not in item.path.parts:
        return 0
    text, module = text_of(item.path), fault.file.stem
    piece = pieces_of(item.path).get(item.name.partition("[")[0], "")
    spoken = sum(4 * bool(re.search(rf"\b{re.escape(name)}\b", piece)) for name in around)
    return spoken + 3 * (f".{module} import" in text) + 2 * (module.strip("_") in item.path.stem)


def files_near(fault: Fault, most: int) -> list[str]:
    """The files of tests that speak most of the place of a fault, and the examples of its module."""
    around, module, room = (
        names_around(fault),
        fault.file.stem,
        fault.file.relative_to(ROOT / "src" / "kanopy").parts[0],
    )
    ranked = []
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = text_of(path)
        spoken = sum(4 * bool(re.search(rf"\b{re.escape(name)}\b", text)) for name in around)
        spoken += 5 * (f".{module} import" in text) + 3 * (module.strip("_") in path.stem)
        if spoken:
            ranked.append((-spoken - 2 * (room.strip("_") in path.parts), str(path.relative_to(ROOT))))
    return [str(fault.file.relative_to(ROOT)), *(path for _, path in sorted(ranked)[:most])]


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Trials:
    """Runs the tests near each fault in the place of all tests."""

    def __init__(self, faults: Sequence[tuple[int, Fault]], tests: int, seconds: float, asked: Sequence[str]) -> None:
        self.faults, self.tests, self.seconds, self.asked = faults, tests, seconds, asked

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        ends: Counter[str] = Counter()
        for number, fault in self.faults:
            began = time.process_time()
            try:
                end, words = self.tried(session, fault)
            except Exception as error:
                end, words = "not run", repr(error)
            ends[end] += 1
            where = f"{fault.file.relative_to(ROOT)}:{fault.line}"
            say(f"{number:3} {end:11} {fault.kind} {where}: {fault.old[:70]!r} -> {fault.new[:70]!r} {words} "
                f"({time.process_time() - began:.1f} s)")  # fmt: skip
        say(str(dict(ends)))
        return True

    def tried(self, session: pytest.Session, fault: Fault) -> tuple[str, str]:
        """How the tests end with a fault, and by which."""
        asked = [one for one in session.items if any(one.nodeid.startswith(each) for each in self.asked)]
        ranked = sorted(((nearness(one, fault), one) for one in session.items), key=lambda each: -each[0])
        near, seen = list(asked), Counter[str]()
        for score, one in ranked:
            seen[one.nodeid.partition("[")[0]] += 1
            if score > 0 and one not in asked and seen[one.nodeid.partition("[")[0]] <= 3:
                near.append(one)
        patch = Patch(fault)
        if not patch.reaches_it:
            return "outside", "of functions that are loaded"
        ran, broken = 0, 0
        began = time.process_time()
        for one in near[: self.tests]:
            with patch:
                failed, late = self.run(one)
            ran += 1
            if late:
                return "too long", f"in {one.nodeid}"
            if failed and patch.hits:
                again, _ = self.run(one)
                if again:
                    broken += 1  # it fails by itself, here
                    continue
                return "noticed", f"by {one.nodeid}"
            if time.process_time() - began > self.seconds:
                break
        return ("survived" if patch.hits else "not reached"), f"{ran} tests, {patch.hits} times, {broken} broken"

    def run(self, item: pytest.Item) -> tuple[bool, bool]:
        def stop(*_: object) -> None:
            raise TooLong

        example = getattr(item, "dtest", None)
        names = None if example is None else dict(example.globs)  # an example that has run forgets its names
        signal.signal(signal.SIGVTALRM, stop)
        signal.setitimer(signal.ITIMER_VIRTUAL, self.seconds)
        try:
            reports = runtestprotocol(item, nextitem=None, log=False)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if names is not None:
                example.globs.update(names)
        return any(each.failed for each in reports), any(
            "TooLong" in str(each.longrepr) for each in reports if each.failed
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--only", default="", help="numbers of faults")
    parser.add_argument("--files", type=int, default=3, help="files of tests per fault")
    parser.add_argument("--tests", type=int, default=40, help="for one fault")
    parser.add_argument("--seconds", type=float, default=20, help="of processor time for one fault")
    parser.add_argument("more", nargs="*", help="tests to ask as well, for every fault")
    asked = parser.parse_args()
    only = {int(each) for each in asked.only.split(",") if each}
    faults = [(n, each) for n, each in enumerate(drawn(asked.count, asked.seed)) if not only or n in only]
    files = {path: None for _, fault in faults for path in files_near(fault, asked.files)}
    files |= {each.partition("::")[0]: None for each in asked.more}
    trials = Trials(faults, asked.tests, asked.seconds, asked.more)
    options = [
        "-q",
        "-n0",
        "--tb=short",
        "--assert=plain",
        "-s",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        "--rootdir",
        str(ROOT),
    ]
    return int(pytest.main([*options, *files], plugins=[trials]))


if __name__ == "__main__":
    sys.exit(main())
