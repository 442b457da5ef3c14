"""Every option that more than one command has, stated once: the same option means the same everywhere.

The words come from the declarations in the library where help can read them at once; names of columns may be given in
several options or in one, separated by commas and quoted as in a CSV file: `-q age,sex -q '"city, country"'`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import typer

from kanopy._job.usage import reduced, require_used
from kanopy._parameter_types import ColumnNames
from kanopy._parameters import unused
from kanopy._usage import Needs, in_vain, refuse_in_vain
from kanopy.cli.console import STANDARD, begin, note

# Written out, so that help needs no search; a test compares the names with the dictionaries.
METRIC_HELP = "The loss to minimise: loss, loss-geometric, aecs, discernibility, precision, entropy, height."
MODEL_HELP = "A further privacy model, e.g. t-equal:income:0.2; repeatable, all must hold. See `kanopy models`."
ALGORITHM_HELP = "The algorithm: optimal (the default), best, mondrian, … `kanopy algorithms` lists all."
SEVERAL = "separated by commas; repeatable"

Data = Annotated[
    str,
    typer.Argument(
        help="The table: a CSV, Parquet, Excel or Arrow file, a database, an address, or - for standard input."
    ),
]
DataOrJob = Annotated[
    str | None,
    typer.Argument(
        help="The table: a CSV, Parquet, Excel or Arrow file, a database, an address, or - for standard input. A job "
        "file may name several tables instead.",
        show_default=False,
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
LedgerFolder = Annotated[
    Path | None,
    typer.Option(
        "--ledger",
        help="A folder for internal use that records what each release discloses about each person: the promise then "
        "holds for all releases together.",
    ),
]
Form = Any
"""How the file of a table is read (`Layout`): a parameter `layout` of a command stands for these options."""
FORM: dict[str, tuple[Any, str]] = {
    "encoding": (str | None, "The encoding of delimited text, if detection fails: cp1252, …"),
    "delimiter": (str | None, "The delimiter of text files, if detection fails: ';', tab, …"),
    "sheet": (str | None, "The sheet of a workbook, if the detected one is wrong."),
    "header_row": (int | None, "The row with the column names, counted from 1, if detection fails."),
}
SolutionFile = Annotated[
    Path | None, typer.Option(help="Write the solution, for `kanopy apply` to new rows. For internal use.")
]
JoiningColumn = Annotated[str | None, typer.Option("--on", help="The key column that joins the rows of both tables.")]
EarlierRelease = Annotated[
    list[str] | None, typer.Option("--beside", help="An earlier release, or another table, to examine too; repeatable.")
]
EarlierQuasi = Annotated[
    list[str] | None,
    typer.Option(help="Quasi-identifiers of the earlier release [default: those of its manifest, or the same]."),
]
ReleaseHierarchies = Annotated[Path | None, typer.Option(help="A folder with the hierarchies of the release.")]

COLUMNS, FILE, TEXT, FLAG = list[str] | None, Path | None, str | None, bool
SHARED: dict[str, tuple[Any, ...]] = {
    "job": (FILE, "A job file (`kanopy init` writes one)."),
    "quasi": (COLUMNS, f"Quasi-identifiers: columns that an attacker may know, {SEVERAL}.", "--quasi", "-q"),
    "sensitive": (COLUMNS, f"Sensitive columns: published; models can guard them, {SEVERAL}.", "--sensitive", "-s"),
    "identifiers": (COLUMNS, f"Columns that identify people and are not published, {SEVERAL}."),
    "withheld": (COLUMNS, f"Columns that are not published although they identify nobody, such as weights, {SEVERAL}."),
    "insensitive": (COLUMNS, f"Columns that are published unchanged, {SEVERAL}."),
    "rest": (TEXT, "Columns without a role: 'leave out' (the default) or publish."),
    "allow_dependent": (COLUMNS, f"Columns to publish although they reveal a generalized column, {SEVERAL}."),
    "shuffle": (
        bool | None,
        "Shuffle the published rows (the default), or keep the order of the table, which may reveal who is who.",
        "--shuffle/--keep-order",
    ),
    "unit": (COLUMNS, f"Columns that identify the person of a row; k then counts people, {SEVERAL}."),
    "known": (
        TEXT,
        "Rows of one person that an attacker may know: 1, 2, … or all [default: 1, or all if the rows are linked].",
    ),
    "separator": (list[str] | None, "The separator of lists in texts: column=separator; repeatable."),
    "repeats": (TEXT, "Publish equal labels of one list once (the default) or each."),
    "k": (int | None, "Rows (people, with a unit) that must share each published combination.", "--k", "-k"),
    "suppress": (TEXT, "The share of rows that may be suppressed, e.g. 2%."),
    "hierarchies": (FILE, "A folder with hierarchies: <column>.csv or files ending in _<column>.csv."),
    "metric": (TEXT, METRIC_HELP),
    "margin": (float | None, "Choose the release at random among those within this loss of the least, e.g. 0.05."),
    "sample": (TEXT, "The share of rows (people, with a unit) to publish, drawn at random in secret, e.g. 30%."),
    "model": (list[str] | None, MODEL_HELP),
    "population": (TEXT, "A table of the population, for models such as k-map."),
    "missing": (TEXT, "What to do with missing values: as-value, suppress or error."),
    "missing_tokens": (COLUMNS, f"Texts that mean missing, such as '?,NA', {SEVERAL}."),
    "unknown": (TEXT, "What to do with values that are not in the hierarchy: error, suppress or add."),
    "neutralize_formulas": (
        FLAG,
        "Put an apostrophe before texts that a spreadsheet would execute (text files).",
        "--neutralize-formulas",
    ),
    "param": (list[str] | None, "A parameter of algorithm or method: name=value; repeatable.", "--param", "-p"),
    "seed": (int, "The seed of random choices."),
    "budget": (TEXT, "The work of the search, in time of an ordinary machine: 1s, 30s, 5m."),
    "threads": (int | None, "The number of threads [default: one per processor]. It does not change the release."),
    "key_file": (FILE, "The file with the secret key, e.g. for pseudonyms [default: the variable KANOPY_KEY]."),
    "mapping": (FILE, "Write original and published values per column, with counts, as CSV. For internal use."),
    "manifest": (FILE, "Write a manifest, without any value of the table: .json, or .jsonld for catalogues."),
    "report": (FILE, "Write a report: a page (.html), a document (.pdf, .docx), the numbers (.json), a script (.py)."),
    "report_values": (FLAG, "Show original rows and values in the report. For internal use.", "--report-values"),
    "sampling_fraction": (TEXT, "The share of the population that is in the table, e.g. 2%."),
    "sampling_weight": (TEXT, "The column with sampling weights: how many people of the population a row represents."),
    "household": (TEXT, "The column whose equal values belong to one household."),
    "every": (TEXT, "Rows that must share any combination of few quasi-identifiers: 2:10,3:3 for any two, any three."),
    "target": (TEXT, "A column to predict from the original and from the release."),
    "ontology": (str, "`wordnet`, or an ontology file; several joined by +."),
    "measure": (str, "A similarity measure."),
    "depth_offset": (int | None, "Wu-Palmer: the number added to a depth in links [default: 2]; 0 counts links."),
    "output": (FILE, "The file to write.", "--output", "-o"),
    "json": (FLAG, "Print one JSON object on standard output, and nothing else.", "--json"),
}
"""Per option its kind, its help, and its names where they are not simply its own."""
JOB_FIELDS = (
    "quasi", "k", "suppress", "metric", "sensitive", "identifiers", "withheld", "insensitive", "rest", "missing",
    "missing_tokens", "unknown", "population", "sampling_weight", "household", "shuffle", "allow_dependent",
    "neutralize_formulas", "unit", "known", "repeats", "margin", "sample",
)  # fmt: skip
OUTPUTS = ("key_file", "mapping", "manifest", "report", "report_values", "sampling_fraction", "target")
"""What every release may read and write besides its table."""


# ---- what options have no effect without; what settings of a job need is declared there ----------------------------

TEXTS = (".csv", ".tsv", ".tab", ".txt", "")
"""Suffixes of delimited text; what has none is taken for it, or is a folder or an address."""
PACKED = (".gz", ".zst", ".zip")


def is_text(location: Any) -> bool:
    """Whether something that is read or written may be delimited text.

    >>> is_text("people.csv.gz"), is_text("-"), is_text("people.parquet"), is_text("all.duckdb::people"), is_text(None)
    (True, True, False, False, False)
    """
    if location is None:
        return False
    if str(location) == STANDARD or "://" in str(location):
        return not str(location).startswith(("postgres://", "postgresql://"))
    path = Path(str(location).partition("::")[0].partition("?")[0])
    return Path(path.stem if path.suffix.lower() in PACKED else path).suffix.lower() in TEXTS


def is_workbook(path: Any) -> bool:
    """Whether something that is read is a workbook.

    >>> is_workbook("people.xlsx"), is_workbook("people.ods::2024"), is_workbook("people.csv")
    (True, True, False)
    """
    from kanopy._table.sources import KINDS

    return KINDS.get(Path(str(path).partition("::")[0]).suffix.lower()) == "excel"


def _table_of(given: Any) -> Any:
    """The one table that a command reads; `init` takes several."""
    several: list[str] = getattr(given, "tables", None) or []
    return several[0] if len(several) == 1 else getattr(given, "data", None) or getattr(given, "original", None)


def _reads_text(given: Any) -> bool:
    names = ("data", "tables", "original", "released", "beside", "population")
    several = getattr(given, "data", "") is None and getattr(given, "job", None) is not None  # the job names its tables
    values_given = [getattr(given, name, None) for name in names]
    return several or any(
        is_text(one) for value in values_given for one in (value if isinstance(value, list) else [value])
    )


def _writes_text(given: Any) -> bool:
    several = getattr(given, "data", "") is None  # a folder of tables, or a database
    return several or is_text(given.output) or getattr(given, "mapping", None) is not None


def _has_hierarchies(given: Any) -> bool:
    from kanopy.hierarchy.files.files import find_hierarchies

    job = given.wanted
    looked_at = (*job.quasi, *(name for model in job.models for name in model.sensitive))
    return bool(find_hierarchies(given.hierarchies, list(looked_at)))


def _has_threads(given: Any) -> bool:
    from kanopy.search.algorithms import takes

    return not given.wanted.masks and takes(given.wanted.algorithm, "threads")


def _has_timed(given: Any) -> bool:
    from kanopy.search.algorithms import timed_algorithms

    named = {name_text.strip().partition(":")[0].replace("_", "-") for name_text in given.algorithms.split(",")}
    return bool(named & {"all", *timed_algorithms()})


def _has_page(given: Any) -> bool:
    is_page = given.report is not None and given.report.suffix == ".html"
    return is_page and not given.wanted.masks


PAGE = Needs("a report as a page (--report FILE.html) of a release that generalizes", _has_page, "job")
PSEUDONYMS = Needs(
    "identifiers that are pseudonymized (--pseudonymize COLUMNS), a treatment with a key or random numbers, a "
    "margin, a sample, or a ledger (--ledger FOLDER)",
    lambda given: (
        given.wanted.pseudonymize
        or getattr(given.wanted, "margin", 0)
        or getattr(given.wanted, "sample", 1) < 1
        or getattr(given, "ledger", None)
        or any(treatment.secret != "none" for treatment in getattr(given.wanted, "protect", {}).values())
    ),
    "job",
)
HIERARCHIES = Needs("a file in that folder for a column in use", _has_hierarchies, "job")
TEXT_OUTPUT = Needs("delimited text as the output (-o FILE.csv)", _writes_text)
TEXT_INPUT = Needs("a table in delimited text", _reads_text)
TEXT_TABLE = Needs("a table in delimited text", lambda given: is_text(_table_of(given)))
WORKBOOK = Needs("a workbook (.xlsx, .ods, …)", lambda given: is_workbook(_table_of(given)))
TABLE_BELOW = Needs(
    "a table in delimited text or in a workbook",
    lambda given: is_text(_table_of(given)) or is_workbook(_table_of(given)),
)
THREADS = Needs("an algorithm that uses threads, such as 'optimal' or 'best'", _has_threads, "job")
EARLIER_RELEASE = Needs("an earlier release (--beside FILE)", lambda given: given.beside)
OTHER_RELEASE = Needs(
    "an earlier release (--beside FILE) or a release of the table (--released FILE)",
    lambda given: given.beside or getattr(given, "released", None) is not None,
)
RELEASED = Needs("a release of the table (--released FILE)", lambda given: given.released is not None)
WEIGHTS = Needs("sampling weights (--sampling-weight COLUMN)", lambda given: given.sampling_weight or given.job)
SKIPPED = Needs("a job that skips rows (skip-rows)", lambda given: given.wanted.skip_rows, "job")
DATA = Needs("data to measure on (--data FILE)", lambda given: given.data is not None)
CHANCE = Needs("a random choice (--learn, or --queries above 0)", lambda given: given.learn or given.queries)
PICTURE = Needs("a drawing (--svg FILE or --html FILE)", lambda given: given.svg is not None or given.html is not None)
PAIRS = Needs("words or pairs to compare (--benchmark tries every measure)", lambda given: not given.benchmark)
NO_VGH = Needs("no --vgh, which is an ontology already", lambda given: given.vgh is None)
DRAWN = Needs("a method with random numbers", lambda given: given.method != "rounding")
AUTO = Needs("the method auto", lambda given: given.method == "auto")
TIMED = Needs("an algorithm that takes a budget, such as 'best'", _has_timed)


def both(first: Needs, second: Needs) -> Needs:
    """Two needs of one option.

    >>> both(WEIGHTS, RELEASED).words
    'sampling weights (--sampling-weight COLUMN) and a release of the table (--released FILE)'
    """
    return Needs(f"{first.words} and {second.words}", lambda given: first.met(given) and second.met(given), first.once)


NEEDS = {
    "report_values": PAGE,
    "sampling_fraction": PAGE,
    "target": PAGE,
    "key_file": PSEUDONYMS,
    "hierarchies": HIERARCHIES,
    "neutralize_formulas": TEXT_OUTPUT,
    "encoding": TEXT_INPUT,
    "delimiter": TEXT_TABLE,
    "sheet": WORKBOOK,
    "header_row": TABLE_BELOW,
    "threads": THREADS,
    "on": OTHER_RELEASE,
    "beside_quasi": EARLIER_RELEASE,
}
"""What options have no effect without, unless a command says otherwise; those of a job say it there."""


def command(
    *names: str, needs: Mapping[str, Needs | None] | None = None, reads: Collection[str] | None = None, **defaults: Any
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command: with options that others have too, which it receives by name, and with `--json`.

    They stand before the command's own options. `defaults` are shared options that are not simply absent. `needs` are
    what options of this command have no effect without, where that is not as for all commands. `reads` are the fields
    of a job that it has a use for, if not all: it sees nothing else of a job file, which it shares with other commands.

    >>> @command("k", "quasi", budget="5s")
    ... def work(data: Data, layout: Form = None, **given: Any) -> None: ...
    >>> list(inspect.signature(work).parameters)[1:]
    ['data', 'k', 'quasi', 'budget', 'encoding', 'delimiter', 'sheet', 'header_row', 'json']
    """

    def shared(name: str) -> inspect.Parameter:
        kind, words, *called = SHARED[name]
        option = typer.Option(defaults.get(name, False if kind is FLAG else None), *called, help=words)
        return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        asked_for = {
            name: needs_of_option for name, needs_of_option in (NEEDS | dict(needs or {})).items() if needs_of_option
        }

        @functools.wraps(function)
        def run(json: bool, context: typer.Context, **given: Any) -> None:
            global _asked
            begin(json)
            context.obj = run
            _asked = context, given
            _refuse_options_in_vain(*_asked)
            try:
                function(**(_with_layout(given) if takes_layout else given))
            finally:
                _asked = None

        run.needs, run.reads = asked_for, reads  # type: ignore[attr-defined]

        takes_layout = "layout" in inspect.signature(function).parameters
        form = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=typer.Option(None, help=words), annotation=kind
            )
            for name, (kind, words) in FORM.items()
        ]
        parameters = [
            parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in inspect.signature(function, eval_str=True).parameters.values()
            if parameter.kind is not inspect.Parameter.VAR_KEYWORD and parameter.name not in (*names, *defaults)
        ]
        parameters = [parameter for other in parameters for parameter in (form if other.name == "layout" else [other])]
        first = next(
            (index for index, parameter in enumerate(parameters) if parameter.default is not parameter.empty),
            len(parameters),
        )
        added = [shared(name) for name in (*names, *defaults)]
        run.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
                *parameters[:first],
                *added,
                *parameters[first:],
                shared("json"),
            ]
        )
        return run

    return decorate


def _with_layout(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, with what is said of the form of a file as one."""
    from kanopy._job.job import Job
    from kanopy._parameter_types import taken
    from kanopy._parameters import parameters_of
    from kanopy._table.formats.layout import Layout

    declared = parameters_of(Job)
    layout_settings = {
        name: None if given[name] is None else taken(declared[name].kind, given[name], f"--{name.replace('_', '-')}")
        for name in FORM
    }
    return {**{name: value for name, value in given.items() if name not in FORM}, "layout": Layout(**layout_settings)}


_asked: tuple[typer.Context, dict[str, Any]] | None = None
"""What was given to the command that runs."""


def _refuse_options_in_vain(context: typer.Context, values: dict[str, Any], wanted: Any = None) -> None:
    """Refuse what was given on the command line and has no effect, and what the job of the command says in vain."""
    given = [name for name in context.params if _on_command_line(context, name)]
    field_of_option = {name: name if name in given else OF_FIELD.get(name, "") for name in (*JOB_FIELDS, *OF_FIELD)}
    called = {str(option.name): max(option.opts, key=len) for option in context.command.params}

    def label(name: str) -> str:
        return (
            called[field_of_option.get(name, name)]
            if field_of_option.get(name, name) in given
            else name.replace("_", "-")
        )

    unused_settings = {} if wanted is None else unused(wanted)
    about = SimpleNamespace(**values, wanted=wanted)
    unused_settings |= in_vain(given, context.obj.needs, about, "" if wanted is None else "job")
    refuse_in_vain(unused_settings, label)


def on_command_line() -> list[str]:
    """The parameters of the running command that were given on its command line."""
    context = None if _asked is None else _asked[0]
    return [] if context is None else [name for name in context.params if _on_command_line(context, name)]


def _on_command_line(context: typer.Context, name: str) -> bool:
    """Whether an option was given there: not by its default, and not by a variable."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


OF_FIELD = {"suppressed_rows": "drop_suppressed", "local": "local"}
"""Further fields of a job that an option says, and its name where it is another."""


def settle(wanted: Any) -> Any:
    """The job of a command, once it is known; what it says in vain is refused together with options that need it."""
    if _asked is None:
        require_used(wanted)
    else:
        _refuse_options_in_vain(*_asked, wanted)
    return wanted


def columns(given: Iterable[str] | None) -> tuple[str, ...]:
    """Names from the options that list them.

    >>> columns(["age,sex", '"city, country"'])
    ('age', 'sex', 'city, country')
    """
    return tuple(dict.fromkeys(name for text in given or () for name in ColumnNames().read(text)))


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


def job_of(given: dict[str, Any], *, settled: bool = True, **settings: Any) -> Any:
    """The job of a command: its job file, with what the options say instead or in addition.

    Models add up: one on the command line never takes away one of the job file. Where more is said of it later,
    `settled` is false, and what it says in vain is not asked yet (`settle`).
    """
    from kanopy._errors import some
    from kanopy._job.job import Job
    from kanopy.hierarchy.files.files import find_hierarchies

    file, folder, models = (given.get(name) for name in ("job", "hierarchies", "model"))
    file_job = Job() if file is None else Job.read(file)
    if _asked is not None and _asked[0].obj.reads is not None:
        file_job = reduced(file_job, _asked[0].obj.reads)
    fields = {name: given.get(name) for name in JOB_FIELDS} | settings
    changes = {
        name: columns(value) if isinstance(value, list) else value
        for name, value in fields.items()
        if value is not None and (value is not False or name == "shuffle") and value != []
    }
    if settings.get("local") and settings.get("algorithm") is None:
        # Allowed on the command line, so wanted: the search that a job file names for full-domain releases yields.
        changes = {"algorithm": None, "parameters": {}, **changes}
    for role in ("identifiers", "undecided", "withheld", "insensitive", "sensitive"):
        # The job file's role of a column yields to the unit that is named now; a quasi-identifier is no unit.
        left = tuple(name for name in getattr(file_job, role) if name not in changes.get("unit", ()))
        if role not in changes and left != getattr(file_job, role):
            changes[role] = left
    if given.get("separator"):
        changes["separators"] = {**file_job.separators, **separators(given["separator"])}
    models = [*(models or ()), *([f"subset-k:{given['every']}"] if given.get("every") else ())]
    if models:
        changes["models"] = (*file_job.models, *models)
    wanted = file_job.replaced(**changes) if changes else file_job
    if folder is not None:
        hierarchy_files = find_hierarchies(folder, wanted.quasi)
        if without := [name for name in wanted.quasi if name not in hierarchy_files and name not in wanted.hierarchies]:
            note(f"{folder} has no hierarchy for {some(without)}: built from the data.")
        wanted = wanted.replaced(hierarchies={**wanted.hierarchies, **hierarchy_files})
    return settle(wanted) if settled else wanted
