"""What all evidence about a column says of its role: multinomial logistic regression over the entries that hold.

The score of a role is the sum of its weights over the entries that hold; probabilities are their softmax. The role with
the least expected cost is guessed, where publishing what identifies is far worse than leaving out what is harmless, and
leaving a column undecided has a small cost of its own. Entries, weights and costs are data (`data/roles/`), fitted by
`tools/fit_roles.py` on labelled columns.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from kanopy._arrays import Floats
from kanopy._table.guessing.evidence.readings import DATA
from kanopy._table.guessing.evidence.views import ColumnView, Condition
from kanopy._table.roles import Role

LETTERS = {
    "i": Role.IDENTIFIER,
    "q": Role.QUASI_IDENTIFIER,
    "s": Role.SENSITIVE,
    "n": Role.INSENSITIVE,
    "x": Role.WITHHELD,
}
ROLES = tuple(LETTERS.values())
PUBLISHED_AS_IT_IS = (Role.SENSITIVE, Role.INSENSITIVE)


@dataclass(frozen=True)
class Evidence:
    """An entry: when it holds, why it matters, what it points at, and an example of a column."""

    when: str
    condition: Condition
    because: str
    points: Mapping[str, float]
    example: tuple[str, ...]
    fixed: bool = False
    """Whether its weights are what it points at, and not fitted."""


@dataclass(frozen=True, eq=False)
class Weights:
    """What was fitted: a weight per entry and role, and from which probability on a guess is sure or likely."""

    bias: Floats
    table: Floats
    sure: float
    likely: float


@dataclass(frozen=True, eq=False)
class Verdict:
    """What follows from the evidence: a role or `None` (undecided), its probability, and the entry that says most."""

    role: Role | None
    probability: float
    reason: Evidence | None
    held: tuple[Evidence, ...]


@cache
def evidence() -> tuple[Evidence, ...]:
    """All entries, read once.

    >>> next(entry.because for entry in evidence() if entry.when == "empty")
    'is empty'
    """
    plain = tomllib.loads((DATA / "evidence.toml").read_text(encoding="utf-8"))["evidence"]
    return tuple(
        Evidence(
            entry["when"],
            Condition.read(entry["when"]),
            entry["because"],
            entry["points"],
            tuple(entry["example"]),
            entry.get("fixed", False),
        )
        for entry in plain
    )


@cache
def costs() -> Floats:
    """Per true role (rows) and guessed role or `undecided` (columns) what a guess costs."""
    plain = tomllib.loads((DATA / "costs.toml").read_text(encoding="utf-8"))["costs"]
    return np.array([[float(plain[true][guess]) for guess in (*LETTERS, "undecided")] for true in LETTERS])


@cache
def weights() -> Weights:
    """The fitted weights, in the order of the entries; an entry that was not fitted has what it points at."""
    plain = tomllib.loads((DATA / "weights.toml").read_text(encoding="utf-8"))
    fitted = plain["weights"]
    table = [fitted.get(entry.when, [entry.points.get(letter, 0.0) for letter in LETTERS]) for entry in evidence()]
    return Weights(np.array(plain["bias"], float), np.array(table, float), float(plain["sure"]), float(plain["likely"]))


def holding(column: ColumnView) -> list[int]:
    """The entries that hold for a column, by their number."""
    return [number for number, entry in enumerate(evidence()) if entry.condition.holds(column)]


def probabilities(entries: Sequence[int], fitted: Weights | None = None) -> Floats:
    """How probable each role is, given the entries that hold."""
    fitted = weights() if fitted is None else fitted
    scores = fitted.bias + fitted.table[list(entries)].sum(axis=0)
    raised = np.exp(scores - scores.max())
    chances: Floats = raised / raised.sum()
    return chances


def decide(chances: Floats) -> int | None:
    """The role with the least expected cost; `None` where leaving it undecided costs less.

    >>> decide(np.array([0.0, 0.99, 0.01, 0.0, 0.0])), decide(np.array([0.1, 0.3, 0.3, 0.3, 0.0]))
    (1, None)
    """
    expected = chances @ costs()
    best = int(expected.argmin())
    return None if best == len(ROLES) else best


def judge(column: ColumnView) -> Verdict:
    """The verdict on a column whose name has been read."""
    entries = holding(column)
    fitted = weights()
    chances = probabilities(entries, fitted)
    best = decide(chances)
    if (
        best is not None
        and ROLES[best] == Role.INSENSITIVE
        and not any(evidence()[number].points.get("n", 0) > 0 for number in entries)
    ):
        best = ROLES.index(Role.SENSITIVE)  # nothing says that it is harmless: it may be guarded
    held = tuple(evidence()[number] for number in entries)
    most = int(chances.argmax()) if best is None else best
    # What an entry says for a role is its weight beside the mean of the others.
    says = {number: fitted.table[number, most] - fitted.table[number].mean() for number in entries}
    if best is None:  # what is said of an undecided column is what makes it more than harmless
        says = {number: max(evidence()[number].points.values(), default=0.0) for number in entries}
    first = max(says, key=says.__getitem__, default=None)
    reason = None if first is None or says[first] <= 0 else evidence()[first]
    # Guarding what is harmless is safe: a sensitive column may as well be insensitive.
    sure_of = chances[2] + chances[3] if ROLES[most] == Role.SENSITIVE else chances[most]
    return Verdict(None if best is None else ROLES[best], float(sure_of), reason, held)
