"""Every error Kanopy raises, in one small tree.

A message says what is wrong, shows up to five offending values, and says what to do. The command line turns
`NoSolution` into exit status 1, every `InputError` into 2, a failed verification into 3 and an interruption
into 130 (143 for SIGTERM, 129 for SIGHUP).
"""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from kanopy._address import shown_address as shown_address
from kanopy._address import without_addresses
from kanopy._lazy import public

SHOWN = 5


@public("kanopy")
class KanopyError(Exception):
    """The root of all errors raised on purpose."""

    exit_status = 2

    def __init__(self, *given: object) -> None:
        super().__init__(
            *(without_addresses(argument) if isinstance(argument, str) else argument for argument in given)
        )


@public("kanopy.extend")
class InputError(KanopyError):
    """Something the user gave is wrong: a file, a column, a value, an option; `mistakes` lists all there are."""

    mistakes: tuple[str, ...] = ()


class DataError(InputError):
    """The table itself cannot be used as it is."""


@public("kanopy.extend")
class HierarchyError(InputError):
    """A hierarchy is malformed, does not nest, or does not fit the data."""


@public("kanopy.extend")
class OntologyError(InputError):
    """An ontology file is malformed, or a term or sense is not in it."""


@public("kanopy.extend")
class JobError(InputError):
    """The job asks for something contradictory or out of range."""


class NotAvailable(JobError):
    """Something needs all rows in memory, and the engine that made the release left them where they are."""


class MissingDependency(InputError):
    """An optional library is needed for what was asked; the message says how to install it."""


class Hint(str):
    """A change that would help, in words; `settings` are those of the job that make it, where that is all it takes.

    >>> hint = Hint("lower k to 3", k=3)
    >>> print(hint, hint.settings)
    lower k to 3 {'k': 3}
    """

    settings: dict[str, Any]

    def __new__(cls, words: str, **settings: Any) -> Hint:
        """Words, and what they stand for."""
        made = super().__new__(cls, words)
        made.settings = settings
        return made

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as of the advice that a release comes with; nothing was tried, so no loss is known."""
        return {"change": str(self), "settings": self.settings, "loss": None}


@public("kanopy")
class NoSolution(KanopyError):
    """No release satisfies the job. This is an answer, not a crash.

    `best` is the candidate that came closest (or `None`), `reason` says which model it violates and by how
    much, and `advice` lists changes to the job that would make it feasible (see `Hint`).
    """

    exit_status = 1

    def __init__(self, reason: str, *, best: Any = None, advice: Sequence[str] = ()) -> None:
        self.reason = reason
        self.best = best
        self.advice = tuple(hint if isinstance(hint, Hint) else Hint(hint) for hint in advice)
        hint = "".join(f"\n  - {line}" for line in self.advice)
        super().__init__(reason + (f"\nWhat would help:{hint}" if hint else ""))

    def __reduce__(self) -> Any:
        # Between processes without the candidate, which may hold the whole table.
        return functools.partial(NoSolution, advice=self.advice), (self.reason,)


class VerificationFailed(KanopyError):
    """The independent check of the published labels disagreed. Nothing was written."""

    exit_status = 3


class Cancelled(KanopyError):
    """The caller's progress callback, or Ctrl-C, asked to stop. Nothing was written."""

    exit_status = 130


def some(values: Iterable[object], total: int | None = None) -> str:
    """Up to five values, quoted, and how many more there are.

    >>> some(["a", "b"])
    "'a', 'b'"
    >>> some(range(8))
    '0, 1, 2, 3, 4 and 3 more'
    """
    examples: list[object] = []
    count = 0
    for value in values:
        count += 1
        if len(examples) < SHOWN:
            examples.append(value)
        elif total is not None:
            break
    count = count if total is None else total
    text = ", ".join(short(value) for value in examples)
    return text + (f" and {count - len(examples)} more" if count > len(examples) else "")


def listed(texts: Sequence[str]) -> str:
    """Up to five phrases, and how many more there are.

    >>> listed(["line 3 has 2", "line 7 has 4"])
    'line 3 has 2; line 7 has 4'
    """
    return "; ".join(texts[:SHOWN]) + (f" and {len(texts) - SHOWN} more" if len(texts) > SHOWN else "")


def short(value: object, limit: int = 60) -> str:
    """A value as Python writes it, cut where it is long.

    >>> short("x" * 100, 10), short(10**5000)
    ("'xxxxxxxx…", 'a number of more than 4300 digits')
    """
    try:
        text = repr(value)
    except ValueError:  # Python refuses to write out very long numbers
        return "a number of more than 4300 digits" if isinstance(value, int) else f"a {type(value).__name__}"
    return text if len(text) <= limit else text[: limit - 1] + "…"


def in_words(error: Exception) -> str:
    """What the system or Python refused, as a message.

    >>> in_words(FileNotFoundError(2, "No such file or directory", "people.csv"))
    "No such file or directory: 'people.csv'."
    """
    if isinstance(error, OSError) and error.strerror:
        named = "" if error.filename is None else f": {short(error.filename)}"
        return f"{error.strerror}{named}."
    what = {
        RecursionError: "The input is nested too deeply. Flatten it.",
        MemoryError: "There is not enough memory. Give fewer rows or columns.",
        OverflowError: f"A number is too large ({error}).",
    }
    return what.get(type(error), f"A file cannot be read or written ({error}).")


def is_panic(error: BaseException | None) -> bool:
    """Whether a compiled library gave up: its error is no `Exception`, and passes by whoever waits for one."""
    return type(error).__name__ == "PanicException"


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Whatever libraries raise over a file that is damaged, panics of compiled ones included, is told in plain words.

    >>> with readable("people.parquet"):
    ...     raise EOFError("the end of the footer is missing")
    Traceback (most recent call last):
    kanopy._errors.DataError: people.parquet cannot be read: the end of the footer is missing. Check that it is complete
    and that its suffix fits.
    """
    try:
        yield
    except (KanopyError, MemoryError):
        raise
    except BaseException as error:
        if isinstance(error, Exception):
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
        elif is_panic(error):
            reason = "its content is damaged"
        else:
            raise
        raise DataError(
            f"{name} cannot be read: {reason}. Check that it is complete and that its suffix fits."
        ) from None


def too_few_rows(k: int, rows: int) -> JobError:
    """A table with fewer rows than have to be alike.

    >>> print(too_few_rows(5, 1))
    k is 5 but the table has only 1 row. Choose a smaller k.
    """
    return JobError(f"k is {k:,} but the table has only {rows:,} row{'s' * (rows != 1)}. Choose a smaller k.")


def called(name: str, known: Iterable[str], what: str, error: type[KanopyError] | None = None) -> str:
    """The known name that is meant; `-` and `_` are the same. Other names are answered with the near misses.

    >>> called("k_member", ["mondrian", "k-member"], "algorithm")
    'k-member'
    """
    names = list(known)
    for spelled in (name, name.replace("_", "-"), name.replace("-", "_")):
        if spelled in names:
            return spelled
    raise (error or JobError)(f"There is no {what} called {short(name)}. {near_miss(name, names)}")


def near_miss(name: str, known: Iterable[str]) -> str:
    """A hint with the closest known names, or the known names themselves.

    >>> near_miss("agee", ["age", "sex"])
    "Did you mean 'age'?"
    >>> near_miss("t-closeness", ["delta-disclosure", "t-equal", "t-ordered"])
    "Did you mean 't-equal' or 't-ordered'?"
    """
    options = [str(option) for option in known]
    folded = {option.casefold().replace("_", "-"): option for option in options}
    asked = str(name).casefold().replace("_", "-")
    close = difflib.get_close_matches(asked, list(folded), n=3, cutoff=0.6)
    if not close or difflib.SequenceMatcher(None, asked, close[0]).ratio() < 0.8:
        begin = asked.partition("-")[0]
        close = [option for option in folded if option.startswith(f"{begin}-")][:3] or close
    if close:
        return "Did you mean " + " or ".join(repr(folded[match]) for match in close) + "?"
    return "Known: " + (some(options) if options else "none") + "."


def refuse(mistakes: list[str], error: type[InputError] = JobError, what: str = "settings") -> None:
    """Raise one error that lists all mistakes, unless there are none."""
    if not mistakes:
        return
    mistakes = list(dict.fromkeys(mistakes))
    listed = "".join(f"\n  - {mistake}" for mistake in mistakes)
    exception = error(mistakes[0] if len(mistakes) == 1 else f"{len(mistakes)} {what} are wrong:{listed}")
    exception.mistakes = tuple(mistakes)
    raise exception


@contextmanager
def collected(mistakes: list[str]) -> Iterator[None]:
    """What is refused in the block is added to the mistakes, and work goes on."""
    try:
        yield
    except InputError as error:
        mistakes += error.mistakes or (str(error),)
