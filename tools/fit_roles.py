"""Fit the weights of the evidence about roles: `python tools/fit_roles.py [--tables FOLDER] [--shared FOLDER]`.

Multinomial logistic regression with a ridge towards what each entry points at (`evidence.toml`). A label is the set of
roles that a steward would accept; the likelihood of a column is the sum of their probabilities. Labelled columns: the
fixture of the tests (names and shapes of 84 tables), and, where they are there, the shared oracle (`--shared`) and a
folder with `labels.json` and `tables/NAME.csv` (`--tables`), of which those with split T are used.

Writes `src/kanopy/data/roles/weights.toml`, and prints how often a guess of which probability is right on tables that
the fit has not seen (ten folds of whole tables).
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from scipy.optimize import minimize

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "src")]

from kanopy._table.guessing.evidence import model  # noqa: E402
from kanopy._table.guessing.evidence.context import context, parts_of_undecided  # noqa: E402
from kanopy._table.guessing.evidence.views import ColumnView  # noqa: E402
from kanopy._table.guessing.guess import _guess, view  # noqa: E402
from kanopy._table.sources import read_table  # noqa: E402

RIDGE, RIDGE_OF_BIAS, FOLDS, MOST_ALIKE = 0.25, 2.0, 10, 4.0
ROUNDS = 3
LETTERS = "".join(model.LETTERS)
WORDS = {str(role): letter for letter, role in model.LETTERS.items()}


def labelled(tables: Path | None, shared: Path | None) -> Iterator[tuple[str, pl.DataFrame, dict[str, str]]]:
    """Every labelled table with the accepted roles of its columns as letters."""
    from tests.table.made_up import made_up

    fixture = json.loads((ROOT / "tests/table/steward_roles.json").read_text(encoding="utf-8"))
    for name, columns in fixture.items():
        frame = pl.DataFrame([made_up(each, shape, at) for at, (each, (_, shape)) in enumerate(columns.items())])
        yield f"fixture {name}", frame, {column: roles for column, (roles, _) in columns.items()}
    if shared is not None:
        oracle = json.loads((shared / "oracles/roles.json").read_text(encoding="utf-8"))["tables"]
        for name, truth in oracle.items():
            text = gzip.decompress((shared / f"data/tables/{name}.csv.gz").read_bytes()).decode("latin-1")
            frame = pl.read_csv(io.StringIO(text), infer_schema_length=None, null_values=["NA"])
            roles = {c: "".join(WORDS[r] for r in truth["columns"].get(c, truth["default"])) for c in frame.columns}
            yield f"oracle {name}", frame, roles
    if tables is not None:
        for name, truth in json.loads((tables / "labels.json").read_text(encoding="utf-8")).items():
            if truth["split"] == "T":
                yield f"table {name}", read_table(tables / f"tables/{name}.csv"), truth["columns"]


def accepted(column: ColumnView, letters: str) -> np.ndarray:
    """Accepted roles as a mask; a unit counts as an identifier, and a survey weight that is harmless as withheld."""
    found = set(letters.replace("u", "i"))
    if "n" in found and (column.has("says:a survey weight") or column.has("standard:weight")):
        found = {"x"}
    if "i" in found and column.has("standard:withheld"):
        found.add("x")  # a key of households or clusters stays out, whatever its role is called
    return np.array([letter in found for letter in LETTERS])


class Data:
    """Entries that hold per column, what is accepted, how much it counts, and its table."""

    def __init__(self) -> None:
        self.entries: list[list[int]] = []
        self.right: list[np.ndarray] = []
        self.table: list[int] = []
        self.surely: list[bool] = []
        self.names: list[str] = []

    def matrix(self) -> np.ndarray:
        found = np.zeros((len(self.entries), len(model.evidence())))
        for row, entries in enumerate(self.entries):
            found[row, entries] = 1
        return found

    def counts(self) -> np.ndarray:
        alike = Counter(zip(self.table, map(tuple, self.entries), strict=True))
        return np.array(
            [min(1.0, MOST_ALIKE / alike[t, tuple(e)]) for t, e in zip(self.table, self.entries, strict=True)]
        )


def collect(tables: list[tuple[str, pl.DataFrame, dict[str, str]]], views: list, known: model.Weights) -> Data:
    """The entries that hold for every labelled column, with what neighbours say under the weights so far."""
    model.weights = lambda: known  # type: ignore[assignment]
    data = Data()
    for number, ((name, _, roles), (table, columns)) in enumerate(zip(tables, views, strict=True)):
        for column in columns.values():
            column.context = {}
            column.forget_meaning()
        verdicts = {each: model.judge(column) for each, column in columns.items()}
        found = {each: _guess(columns[each], verdict) for each, verdict in verdicts.items()}
        for finding in (context(table, columns, found).items(), parts_of_undecided(table, found)):
            for each, (fact, relation, other) in finding:
                columns[each].context = {fact: other, "relation": relation}
                columns[each].forget_meaning()
                found[each] = _guess(columns[each], model.judge(columns[each]))
        for each, letters in roles.items():
            column = columns[each]
            data.entries.append(model.holding(column))
            data.right.append(accepted(column, letters))
            data.table.append(number)
            data.names.append(f"{name}.{each}")
            agree = column.has("agree") or column.has("speaks") or column.has("standard:") or column.has("empty")
            data.surely.append(agree and not column.has("partly") and not column.has("faint"))
    return data


def fit(matrix: np.ndarray, right: np.ndarray, counts: np.ndarray) -> model.Weights:
    """The weights that make the accepted roles most probable, near what the entries point at."""
    prior = np.array([[each.points.get(letter, 0.0) for letter in LETTERS] for each in model.evidence()])
    shape = (len(prior) + 1, len(LETTERS))
    ridge = np.array([[1e4 if each.fixed else RIDGE] for each in model.evidence()])

    def loss(flat: np.ndarray) -> tuple[float, np.ndarray]:
        both = flat.reshape(shape)
        scores = matrix @ both[1:] + both[0]
        scores -= scores.max(axis=1, keepdims=True)
        raised = np.exp(scores)
        every = raised / raised.sum(axis=1, keepdims=True)
        good = np.where(right, every, 0)
        total = np.maximum(good.sum(axis=1, keepdims=True), 1e-12)
        slope = (every - good / total) * counts[:, None]
        apart = both[1:] - prior
        value = (
            -(np.log(total[:, 0]) * counts).sum()
            + (ridge * apart**2).sum() / 2
            + RIDGE_OF_BIAS / 2 * (both[0] ** 2).sum()
        )
        return value, np.vstack([slope.sum(axis=0) + RIDGE_OF_BIAS * both[0], matrix.T @ slope + ridge * apart]).ravel()

    start = np.vstack([np.zeros(len(LETTERS)), prior])
    both = minimize(loss, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500}).x.reshape(shape)
    return model.Weights(both[0], both[1:], 0.97, 0.6)


def unseen(data: Data) -> np.ndarray:
    """Probabilities of each column from a fit without its fold of tables."""
    matrix, right, counts, table = data.matrix(), np.array(data.right), data.counts(), np.array(data.table)
    fold = np.random.default_rng(0).permutation(table.max() + 1)[table] % FOLDS
    found = np.zeros((len(table), len(LETTERS)))
    for at in range(FOLDS):
        known = fit(matrix[fold != at], right[fold != at], counts[fold != at])
        found[fold == at] = [model.probabilities(data.entries[row], known) for row in np.flatnonzero(fold == at)]
    return found


def report(data: Data, chances: np.ndarray) -> float:
    """Print how good guesses on unseen tables are; return from which probability on they are right 99 times in 100."""
    right, worth = np.array(data.right), Counter()
    best = [model.decide(each) for each in chances]
    ok = np.array([role is not None and right[row, role] for row, role in enumerate(best)])
    for row, role in enumerate(best):
        good = right[row]
        if role is None:
            worth["undecided"] += 1
        elif good[role]:
            worth["right"] += 1
        elif LETTERS[role] in "ix":
            worth["right" if good[0] or good[4] else "dropped"] += 1
        elif (LETTERS[role] == "n") or (LETTERS[role] == "s" and not (good[2] or good[3])):
            worth["unsafe"] += 1
        else:
            worth["wrong"] += 1
    print("unseen tables:", {k: f"{v} ({100 * v / len(best):.1f} %)" for k, v in worth.items()})
    top = np.array([chances[row, role] if role is not None else 0 for row, role in enumerate(best)])
    for low, high in ((0, 0.5), (0.5, 0.7), (0.7, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 0.98), (0.98, 1.01)):
        inside = (top >= low) & (top < high) & np.array([role is not None for role in best])
        if inside.any():
            print(f"  {low:.2f}-{high:.2f}: {inside.sum():5d} guesses, {100 * ok[inside].mean():.1f} % right")
    surely = np.array(data.surely)
    for limit in np.arange(0.80, 0.999, 0.005):
        chosen = surely & (top >= limit)
        if chosen.any() and ok[chosen].mean() >= 0.995:
            print(f"sure from {limit:.3f}: {chosen.sum()} guesses, {100 * ok[chosen].mean():.2f} % right")
            for row in np.flatnonzero(chosen & ~ok):
                print("   sure and wrong:", data.names[row], LETTERS[best[row]])
            return float(limit)
    return 0.99


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=Path)
    parser.add_argument("--shared", type=Path)
    given = parser.parse_args()
    tables = list(labelled(given.tables, given.shared))
    views = [view(frame) for _, frame, _ in tables]
    known = model.Weights(
        np.zeros(len(LETTERS)), np.array([[e.points.get(x, 0.0) for x in LETTERS] for e in model.evidence()]), 0.97, 0.6
    )
    for _ in range(ROUNDS):
        data = collect(tables, views, known)
        known = fit(data.matrix(), np.array(data.right), data.counts())
    print(f"{len(data.entries)} columns of {len(tables)} tables")
    sure = report(data, unseen(data))
    lines = ["# Written by tools/fit_roles.py. Per entry of evidence.toml its weights for identifier, quasi-identifier,",
             "# sensitive, insensitive and withheld.", f"sure = {sure:.3f}", "likely = 0.6",
             f"bias = {[round(float(x), 2) for x in known.bias]}", "", "[weights]"]  # fmt: skip
    used = data.matrix().sum(axis=0)
    for entry, row, count in zip(model.evidence(), known.table, used, strict=True):
        lines.append(f'"{entry.when}" = {[round(float(x), 2) for x in row]}  # {int(count)} columns')
    (ROOT / "src/kanopy/data/roles/weights.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
