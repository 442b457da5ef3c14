"""Every option that more than one command has, stated once: the same option means the same everywhere.

The words come from the declarations in the library where help can read them at once; names of columns may be given in
several options or in one, separated by commas and quoted as in a CSV file: `-q age,sex -q '"city, country"'`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._kinds import Names
from kanopy.cli.console import begin, note

# Written out, so that help needs no search; a test compares the names with the dictionaries.
METRIC_HELP = "The loss to minimise: loss, loss-geometric, aecs, discernibility, precision, entropy, height."
MODEL_HELP = "A privacy model besides k, e.g. t-equal:income:0.2; repeatable, all must hold. See `kanopy models`."
ALGORITHM_HELP = "The algorithm: optimal (the default), best, mondrian, … `kanopy algorithms` lists all."
SEVERAL = "separated by commas; repeatable"

Data = Annotated[
    str,
    typer.Argument(
        help="The table: a CSV, Parquet, Excel or Arrow file, a database, an address, or - for standard input."
    ),
]
Output = Annotated[
    str,
    typer.Option(
        "--output",
        "-o",
        help="Where the release goes; the suffix gives the format, - is standard output.",
        show_default=False,
    ),
]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of delimited text, if it is not found right: cp1252, …")
]
SolutionFile = Annotated[
    Path | None,
    typer.Option(help="Write the solution, for `kanopy apply` to new rows. It holds original values: keep it inside."),
]
LinkingKey = Annotated[str | None, typer.Option(help="A column that tells which rows of both tables belong together.")]
EarlierRelease = Annotated[
    str | None, typer.Option("--beside", help="An earlier release of the same people: what do both give away together?")
]
EarlierQuasi = Annotated[
    list[str] | None,
    typer.Option(help="Quasi-identifiers of the earlier release [default: its manifest says, else the same]."),
]
ReleaseHierarchies = Annotated[
    Path | None, typer.Option(help="A folder with the hierarchies whose labels the release uses.")
]

COLUMNS, FILE, TEXT, FLAG = list[str] | None, Path | None, str | None, bool
SHARED: dict[str, tuple[Any, ...]] = {
    "job": (FILE, "A job file (`kanopy init` writes one)."),
    "quasi": (COLUMNS, f"Quasi-identifiers: columns others may know, {SEVERAL}.", "--quasi", "-q"),
    "sensitive": (COLUMNS, f"Columns nobody should learn about others, {SEVERAL}.", "--sensitive", "-s"),
    "identifiers": (COLUMNS, f"Columns that never leave, {SEVERAL}."),
    "insensitive": (COLUMNS, f"Columns that are published as they are, {SEVERAL}."),
    "rest": (TEXT, "Columns without a role: 'leave out' (the default) or publish."),
    "allow_dependent": (COLUMNS, f"Columns published though they tell what a generalized one hides, {SEVERAL}."),
    "shuffle": (
        bool | None,
        "Write rows in an order that tells nothing (the default), or keep theirs, which may tell who is who.",
        "--shuffle/--keep-order",
    ),
    "unit": (COLUMNS, f"Columns that say whose row it is: k then counts people, {SEVERAL}."),
    "known": (TEXT, "Rows of one person that others may know: 1 (the default), 2, …, or all."),
    "separator": (list[str] | None, "What parts the elements of lists in texts: column=sign; repeatable."),
    "repeats": (TEXT, "Equal labels of one list are published once (the default) or each."),
    "k": (int | None, "Rows that must share each published combination.", "--k", "-k"),
    "suppress": (TEXT, "Rows that may be suppressed, e.g. 2%."),
    "hierarchies": (FILE, "A folder with hierarchies: <column>.csv or files ending in _<column>.csv."),
    "metric": (TEXT, METRIC_HELP),
    "model": (list[str] | None, MODEL_HELP),
    "population": (TEXT, "The table of everybody, for models such as k-map."),
    "missing": (TEXT, "Missing values: as-value, suppress or error."),
    "missing_tokens": (COLUMNS, f"Texts that mean missing, such as '?,NA', {SEVERAL}."),
    "unknown": (TEXT, "Values a hierarchy lacks: error, suppress or add."),
    "neutralize_formulas": (
        FLAG,
        "Text files: an apostrophe before what a spreadsheet would run.",
        "--neutralize-formulas",
    ),
    "param": (list[str] | None, "A parameter of algorithm or method: name=value; repeatable.", "--param", "-p"),
    "seed": (int, "Settles what is left to chance."),
    "budget": (TEXT, "Work a search may do: 1s, 30s, 5m of an ordinary machine. The same budget, the same bytes."),
    "threads": (
        int | None,
        "Threads that search at the same time [default: one per processor]. The release stays the same.",
    ),
    "key_file": (FILE, "The secret key for pseudonyms [default: the variable KANOPY_KEY]."),
    "mapping": (FILE, "Write original → published per column, with counts, as CSV. Keep it inside."),
    "manifest": (FILE, "Write what was done, without any value of the table, as JSON."),
    "report": (FILE, "Write a report: a page (.html), the numbers (.json), a script (.py)."),
    "report_values": (FLAG, "Show original rows and values in the report. Keep it inside.", "--report-values"),
    "sampling_fraction": (TEXT, "The share of the population that is in the table, e.g. 2%."),
    "sampling_weight": (TEXT, "The column with sampling weights: how many people a row stands for.", "--weight"),
    "household": (TEXT, "The column whose equal values belong to one household."),
    "every": (TEXT, "Rows that share each combination of a few quasi-identifiers: 2:10,3:3 for any two, any three."),
    "target": (TEXT, "A column whose prediction is tried before and after."),
    "ontology": (str, "`wordnet`, or an ontology file; several joined by +."),
    "measure": (str, "A similarity measure."),
    "depth_offset": (int | None, "Wu-Palmer: what is added to a depth in links; 2 if not given, 0 counts links."),
    "output": (FILE, "Where the result goes.", "--output", "-o"),
    "json": (FLAG, "Print one JSON object on standard output, nothing else.", "--json"),
}
"""Per option its kind, its help, and its names where they are not simply its own."""
JOB_FIELDS = (
    "quasi", "k", "suppress", "metric", "sensitive", "identifiers", "insensitive", "rest", "missing", "missing_tokens",
    "unknown", "population", "sampling_weight", "household", "shuffle", "allow_dependent", "neutralize_formulas",
    "unit", "known", "repeats",
)  # fmt: skip
OUTPUTS = ("key_file", "mapping", "manifest", "report", "report_values", "sampling_fraction", "target")
"""What every release may read and write besides its table."""


def command(*names: str, **defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command: with options that others have too, which it receives by name, and with `--json`.

    They stand before the command's own options. `defaults` are shared options that are not simply absent.

    >>> @command("k", "quasi", budget="5s")
    ... def work(data: Data, encoding: Encoding = None, **given: Any) -> None: ...
    >>> list(inspect.signature(work).parameters)
    ['data', 'k', 'quasi', 'budget', 'encoding', 'json']
    """

    def shared(name: str) -> inspect.Parameter:
        kind, words, *called = SHARED[name]
        option = typer.Option(defaults.get(name, False if kind is FLAG else None), *called, help=words)
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(function)
        def run(json: bool, **given: Any) -> None:
            begin(json)
            function(**given)

        own = [
            each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for each in inspect.signature(function, eval_str=True).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD and each.name not in (*names, *defaults)
        ]
        first = next((place for place, each in enumerate(own) if each.default is not each.empty), len(own))
        added = [shared(name) for name in (*names, *defaults)]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [*own[:first], *added, *own[first:], shared("json")]
        )
        return run

    return decorate


def columns(given: Iterable[str] | None) -> tuple[str, ...]:
    """Names from the options that list them.

    >>> columns(["age,sex", '"city, country"'])
    ('age', 'sex', 'city, country')
    """
    return tuple(dict.fromkeys(name for text in given or () for name in Names().read(text)))


def separators(given: Iterable[str] | None) -> dict[str, str]:
    """What parts the elements of lists, by column."""
    return dict(_separator(text) for text in given or ())


def _separator(text: str) -> tuple[str, str]:
    """A column and what parts the elements of its lists.

    >>> _separator("bought=;")
    ('bought', ';')
    """
    from kanopy._errors import JobError

    name, is_said, sign = text.rpartition("=") if not text.endswith("==") else (text[:-2], "=", "=")
    if not name or not is_said or not sign:
        raise JobError(f"--separator takes column=sign, such as bought=';', not {text!r}.")
    return name, sign


def job_of(given: dict[str, Any], **settings: Any) -> Any:
    """The job of a command: its job file, with what the options say instead or in addition.

    Models add up: one on the command line never takes away one of the job file.
    """
    from kanopy._errors import some
    from kanopy._job.job import Job
    from kanopy.hierarchy.files.files import find_hierarchies

    file, folder, models = (given.get(name) for name in ("job", "hierarchies", "model"))
    own = Job.read(file) if file is not None else Job()
    fields = {name: given.get(name) for name in JOB_FIELDS} | settings
    changes = {
        name: columns(value) if isinstance(value, list) else value
        for name, value in fields.items()
        if value is not None and (value is not False or name == "shuffle") and value != []
    }
    if settings.get("local") and settings.get("algorithm") is None:
        # Allowed on the command line, so wanted: the search that a job file names for full-domain releases yields.
        changes = {"algorithm": None, "parameters": {}, **changes}
    for role in ("identifiers", "undecided", "insensitive", "sensitive"):
        # The job file's role of a column yields to the unit that is named now; a quasi-identifier is no unit.
        left = tuple(name for name in getattr(own, role) if name not in changes.get("unit", ()))
        if role not in changes and left != getattr(own, role):
            changes[role] = left
    if given.get("separator"):
        changes["separators"] = {**own.separators, **separators(given["separator"])}
    models = [*(models or ()), *([f"subset-k:{given['every']}"] if given.get("every") else ())]
    if models:
        changes["models"] = (*own.models, *models)
    wanted = own.replaced(**changes) if changes else own
    if folder is not None:
        found = find_hierarchies(folder, wanted.quasi)
        if without := [name for name in wanted.quasi if name not in found and name not in wanted.hierarchies]:
            note(f"{folder} has no hierarchy for {some(without)}: built from the data.")
        wanted = wanted.replaced(hierarchies={**wanted.hierarchies, **found})
    return wanted
