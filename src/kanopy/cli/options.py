"""Every option that more than one command has, stated once: the same option means the same everywhere.

The words come from the declarations in the library where help can read them at once; names of columns may be given in
several options or in one, separated by commas and quoted as in a CSV file: `-q age,sex -q '"city, country"'`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy._kinds import Names

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
    str, typer.Option("--output", "-o", help="Where the release goes; the suffix gives the format.", show_default=False)
]
OutputFile = Annotated[Path | None, typer.Option("--output", "-o", help="Where the result goes.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, nothing else.")]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of delimited text, if it is not found right: cp1252, …")
]

JobFile = Annotated[Path | None, typer.Option(help="A job file (`kanopy init` writes one).")]
ColumnList = list[str] | None
Quasi = Annotated[
    ColumnList, typer.Option("--quasi", "-q", help=f"Quasi-identifiers: columns others may know, {SEVERAL}.")
]
Sensitive = Annotated[
    ColumnList, typer.Option("--sensitive", "-s", help=f"Columns nobody should learn about others, {SEVERAL}.")
]
Identifiers = Annotated[ColumnList, typer.Option(help=f"Columns that never leave, {SEVERAL}.")]
Insensitive = Annotated[ColumnList, typer.Option(help=f"Columns that are published as they are, {SEVERAL}.")]
Rest = Annotated[
    str | None, typer.Option(help="Columns without a role: 'leave out' (the default) or publish.", show_default=False)
]
K = Annotated[int | None, typer.Option("-k", help="Rows that must share each published combination.")]
Suppress = Annotated[str | None, typer.Option(help="Rows that may be suppressed, e.g. 2%.")]
Hierarchies = Annotated[
    Path | None, typer.Option(help="A folder with hierarchies: <column>.csv or files ending in _<column>.csv.")
]
Metric = Annotated[str | None, typer.Option(help=METRIC_HELP)]
Models = Annotated[list[str] | None, typer.Option("--model", help=MODEL_HELP)]
Population = Annotated[str | None, typer.Option(help="The table of everybody, for models such as k-map.")]
Missing = Annotated[str | None, typer.Option(help="Missing values: as-value, suppress or error.")]
MissingTokens = Annotated[ColumnList, typer.Option(help=f"Texts that mean missing, such as '?,NA', {SEVERAL}.")]
Param = Annotated[
    list[str] | None, typer.Option("--param", "-p", help="A parameter of algorithm or method: name=value; repeatable.")
]
Seed = Annotated[int, typer.Option(help="Settles what is left to chance.")]
Budget = Annotated[
    str | None, typer.Option(help="How long a search may take, e.g. 1s, 30s or 5m (best and some others).")
]
KeyFile = Annotated[Path | None, typer.Option(help="The secret key for pseudonyms [default: the variable KANOPY_KEY].")]
Mapping = Annotated[
    Path | None, typer.Option(help="Write original → published per column, with counts, as CSV. Keep it inside.")
]
Manifest = Annotated[Path | None, typer.Option(help="Write what was done, without any value of the table, as JSON.")]
SolutionFile = Annotated[Path | None, typer.Option(help="Write the solution as JSON, for `kanopy apply` to new rows.")]
Report = Annotated[
    Path | None, typer.Option(help="Write a report: a page (.html), the numbers (.json), a script (.py).")
]
ReportValues = Annotated[
    bool, typer.Option("--report-values", help="Show original rows and values in the report. Keep it inside.")
]
SamplingFraction = Annotated[
    str | None, typer.Option(help="The share of the population that is in the table, e.g. 2%.")
]
Target = Annotated[str | None, typer.Option(help="A column whose prediction is tried before and after.")]
LinkingKey = Annotated[str | None, typer.Option(help="A column that tells which rows of both tables belong together.")]
ReleaseHierarchies = Annotated[
    Path | None, typer.Option(help="A folder with the hierarchies whose labels the release uses.")
]
Ontology = Annotated[str, typer.Option(help="`wordnet`, or an ontology file.")]
Measure = Annotated[str, typer.Option("--measure", "-m", help="A similarity measure.")]


def columns(given: Iterable[str] | None) -> tuple[str, ...]:
    """Names from the options that list them.

    >>> columns(["age,sex", '"city, country"'])
    ('age', 'sex', 'city, country')
    """
    return tuple(dict.fromkeys(name for text in given or () for name in Names().read(text)))


def job_of(
    job: Path | None, *, models: list[str] | None = None, hierarchies: Path | None = None, **settings: Any
) -> Any:
    """The job of a command: its job file, with what the options say instead or in addition.

    Models add up: one on the command line never takes away one of the job file.
    """
    from kanopy._errors import some
    from kanopy._job.job import Job
    from kanopy.cli.console import note
    from kanopy.hierarchy.files.files import find_hierarchies

    given = Job.read(job) if job is not None else Job()
    changes = {
        name: columns(value) if isinstance(value, list) else value
        for name, value in settings.items()
        if value is not None and value != []
    }
    if settings.get("local") and settings.get("algorithm") is None:
        # Allowed on the command line, so wanted: the search that a job file names for full-domain releases yields.
        changes = {"algorithm": None, "parameters": {}, **changes}
    if models:
        changes["models"] = (*given.models, *models)
    wanted = given.replaced(**changes) if changes else given
    if hierarchies is not None:
        found = find_hierarchies(hierarchies, wanted.quasi)
        if without := [name for name in wanted.quasi if name not in found and name not in wanted.hierarchies]:
            note(f"{hierarchies} has no hierarchy for {some(without)}: built from the data.")
        wanted = wanted.replaced(hierarchies={**wanted.hierarchies, **found})
    return wanted
