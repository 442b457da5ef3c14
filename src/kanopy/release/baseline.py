"""Plain methods of statistical offices, to compare with: treatments of whole columns by a seed that is not secret, and
samples of the rows. None of them promises a k (Martínez 2010, Table 1)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import polars as pl

from kanopy._errors import JobError, called
from kanopy._parameter_types import Share, taken
from kanopy._table.delimited import check_columns
from kanopy.release.treated.sampling import drawn_sample
from kanopy.treatments.apply import treat_frame
from kanopy.treatments.base import Secrets
from kanopy.treatments.registry import make_treatment


@dataclass(frozen=True)
class Baseline:
    """A method by name: what it does, what its one number (`amount`) is, and what it is if not said.

    It is the treatment `treatment`, whose parameter `parameter` is that number.
    """

    does: str
    amount: str
    usual: float | None
    treatment: str = ""
    parameter: str = ""


BASELINES: dict[str, Baseline] = {
    "noise": Baseline(
        "adds normal noise to each number", "the noise as a share of the column's spread", 0.1, "noise", "share"
    ),
    "correlated-noise": Baseline(
        "adds noise that keeps the correlations of the columns", "the noise as a share of the spread", 0.1, "noise",
        "share",
    ),
    "rounding": Baseline("rounds each number to a multiple", "the base", None, "round", "base"),
    "resampling": Baseline("replaces each rank by the mean of several draws", "how many draws", 3, "resample", "times"),
    "rank-swapping": Baseline(
        "swaps numbers of similar rank", "the largest shift of ranks, in percent of rows", 5, "rank-swap", "percent"
    ),
    "pram": Baseline("replaces categories at random", "the probability that a value stays", 0.8, "pram", "keep"),
    "sampling": Baseline("publishes some of the rows", "the share of the rows", 0.1),
}  # fmt: skip
"""What `kanopy baseline` offers; the treatments have more choices in a job (`kanopy treatments`)."""


def baseline(
    frame: pl.DataFrame, method: str, columns: Sequence[str], amount: float | None = None, *, seed: int = 0
) -> pl.DataFrame:
    """The named columns of a table after a plain method that promises no k; columns that are not named are left out.

    >>> baseline(pl.DataFrame({"age": [12, 17, 18], "name": ["a", "b", "c"]}), "rounding", ["age"], 5)["age"].to_list()
    [10, 15, 20]
    """
    chosen = BASELINES[called(method, BASELINES, "method")]
    if not columns:
        raise JobError("Name the columns to publish; others are left out.")
    check_columns(list(columns), frame.columns, "The table")
    number = chosen.usual if amount is None else amount
    if number is None:
        raise JobError(f"{method} needs a number: {chosen.amount}.")
    named = frame.select(columns)
    # The seed is public: who has it undoes what is random. Jobs draw secret numbers.
    secret = hashlib.sha256(f"kanopy baseline {seed}".encode()).digest()
    if not chosen.treatment:
        wanted = SimpleNamespace(sample=taken(Share(above=0, least=None), number, "amount"), unit=(), missing_tokens=())
        return drawn_sample(named, lambda frame, published_rows=None: frame, wanted, secret)[0]
    whole = isinstance(number, float) and number.is_integer()
    settings = {"method": chosen.treatment, chosen.parameter: int(number) if whole else number}
    secrets = Secrets(secret)
    if method == "correlated-noise":
        joint = make_treatment({**settings, "kind": "correlated", "together": list(columns[1:])})
        return named.with_columns(treat_frame(named, columns[0], joint, secrets).values())
    made = {name: treat_frame(named, name, make_treatment(settings), secrets)[name] for name in columns}
    return pl.DataFrame(list(made.values()))


def one_per_group(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Sampling by representatives: each published combination once, and how many people it stands for.

    Named as future work in Martínez 2010: a masked table, whose groups share their values, is published as one record
    per group.

    >>> one_per_group(pl.DataFrame({"why": ["bird", "beach", "bird"]}), ["why"]).rows()
    [('bird', 2), ('beach', 1)]
    """
    counted = "people" if "people" not in columns else "people_in_group"
    return frame.group_by(list(columns), maintain_order=True).len(name=counted)
