"""The reference pages that come from declarations: `python tools/reference.py` writes them, a test keeps them true.

`docs/reference/job-file.md`, `parameters.md` and `commands.md` are made from the parameters that the library declares
and from the options of the command; `json.md` from what the commands print about a small table.
"""

from __future__ import annotations

import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from json_words import MEANINGS, STATUS

DOCS = Path(__file__).resolve().parents[1] / "docs" / "reference"
MADE = "<!-- Made by tools/reference.py: change the declarations in the code, then run it. -->\n\n"


def table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A Markdown table."""

    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(" ".join(cell.replace("|", "\\|").split()) for cell in cells) + " |"

    titles = list(titles)
    return "\n".join([line(titles), "|" + " --- |" * len(titles), *map(line, rows)]) + "\n"


def code(value: Any) -> str:
    """A default as it is written in a job file."""
    if value is None or value == "":
        return ""
    return f"`{json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value}`"


# ---- parameters ---------------------------------------------------------------------------------------------


def parameter_table(kind: type) -> str:
    """The declared parameters of a class."""
    from kanopy._parameters import describe

    rows = [
        (f"`{each['name']}`", "required" if each["required"] else code(each["default"]), each["meaning"], each["kind"])
        for each in describe(kind)
    ]
    return table(("parameter", "default", "meaning", "values"), rows) if rows else "No parameters.\n"


def parameters_page() -> str:
    """Algorithms, maskings, methods and models, each with its parameters."""
    from kanopy.hierarchy.builders.registry import BUILDERS
    from kanopy.masking.algorithms.registry import MASKINGS
    from kanopy.privacy.models import MODELS
    from kanopy.release.catalogue import algorithms
    from kanopy.search.algorithms import algorithm_class

    parts = [
        "# Parameters\n",
        MADE,
        "On the command line: `--param name=value` for algorithms and methods, `--model` for models. In a job file: "
        '`algorithm = { name = "best", seed = 1 }`, `hierarchy = { method = "widths", widths = [5, 10] }`, '
        "`[[models]]`. In Python: `Job(algorithm=…, parameters={…})`, `build_hierarchy(values, method, …)`. One "
        "error reports all mistakes.\n",
        "## Algorithms\n",
    ]
    for each in algorithms():
        name = each["name"]
        kind = MASKINGS[name] if name in MASKINGS else algorithm_class(name)
        parts += [f"### {name}\n", f"{each['does'][0].upper()}{each['does'][1:]}.\n", parameter_table(kind)]
    parts.append("## Hierarchy methods\n")
    for name, builder in BUILDERS.items():
        parts += [f"### {name}\n", f"{builder.summary[0].upper()}{builder.summary[1:]}.\n", parameter_table(builder)]
    parts.append("## Privacy models\n")
    for name, model in MODELS.items():
        parts += [f"### {name}\n", f"{model.summary} Written `{model.example}`.\n", parameter_table(model)]
    return "\n".join(parts)


# ---- the job file -------------------------------------------------------------------------------------------


TITLES = ("key", "default", "meaning", "values", "has no effect without")


def _needs(each: Any) -> str:
    return "" if each.needs is None else each.needs.words


def job_file_page() -> str:
    """Every key of a job file, from the declarations of `Job`."""
    from kanopy._job.job import ROLES
    from kanopy._job.job_file import PER_COLUMN, SETTINGS
    from kanopy._parameters import parameters_of, plain
    from kanopy.masking.from_job import PARAMETERS
    from kanopy.masking.job import MaskJob

    declared = parameters_of(__import__("kanopy").Job)
    defaults = {"k": 5, "algorithm": "optimal"}
    rows = []
    for key in SETTINGS:
        each = declared[key.replace("-", "_")]
        words = each.kind.words.removesuffix(", or nothing")
        if key == "algorithm":
            words += ", or a table with its name and its parameters"
        rows.append((f"`{key}`", code(defaults.get(key, plain(each.default))), each.meaning, words, _needs(each)))
    columns = [("`role`", "", "what the column is", ", ".join(f"`{role}`" for role in ROLES.values()), "")]
    for key, field in PER_COLUMN.items():
        each = declared[field]
        words = each.kind.item.words  # type: ignore[attr-defined]
        columns.append((f"`{key}`", "", each.meaning.removeprefix("per column "), words, _needs(each)))
    masks = parameters_of(MaskJob)
    maskings = [
        (
            f"`{name}`",
            code(plain(masks[name].default)),
            masks[name].meaning,
            masks[name].kind.words,
            _needs(masks[name]),
        )
        for name in PARAMETERS
    ]
    return "\n".join(
        [
            "# The job file\n",
            MADE,
            "A job is a TOML file (or JSON with the same keys). `kanopy init DATA` writes one with comments. Paths are "
            "relative to the job file. Keys that are absent have their default. Options of the command line override "
            "the job file.\n",
            "Editors complete and check a job by its [JSON Schema](job.schema.json): `kanopy schema -o "
            "job.schema.json` writes it, and the line `#:schema ./job.schema.json` at the top of the job "
            "names it (VS Code with Even Better TOML, Taplo). `kanopy init` writes that line where the file is "
            "beside the job.\n",
            "The last column says what a key has no effect without; a job that gives it in vain is refused. Not every "
            "command reads all keys: see [commands](commands.md).\n",
            table(TITLES, rows),
            "\n## Columns\n",
            "Each column has a table `[columns.NAME]`. A name with spaces or other special characters is quoted. "
            "Columns without a role are not published.\n",
            table(TITLES, columns),
            "\nMethods of hierarchies, privacy models and algorithms with their parameters: "
            "[parameters](parameters.md).\n",
            "\n## Algorithms that substitute by meaning\n",
            'Maskings such as `fusion` take these in `algorithm = { name = "fusion", … }`; their quasi-identifiers '
            "are compared by meaning unless `text` names some of them.\n",
            table(TITLES, maskings),
        ]
    )


# ---- commands -----------------------------------------------------------------------------------------------


def commands_page() -> str:
    """Every command with its arguments and options, as `--help` shows them."""
    import typer.main

    from kanopy.cli import app

    parts = [
        "# Commands\n",
        MADE,
        "An option has the same meaning in every command. Options that name columns may be repeated, or name several "
        "columns separated by commas and quoted as in a CSV file. `-` as the table is standard input.\n",
        table(("exit status", "meaning"), STATUS),
    ]
    for path, command in _commands(typer.main.get_command(app), ()):
        parts += [f"\n## kanopy {' '.join(path)}\n", f"{_text(command.help)}\n"]
        if (reads := getattr(command.callback, "reads", None)) is not None:
            parts.append(_not_read(reads))
        rows = [_option(each) for each in command.params if each.name != "help"]
        parts.append(table(("", "default", "meaning"), rows))
    return "\n".join(parts)


def _not_read(reads: Iterable[str]) -> str:
    """The keys of a job file that a command has no use for."""
    from kanopy._job.job_file import PER_COLUMN, SETTINGS
    from kanopy._table.roles import ROLES

    def left(keys: Iterable[tuple[str, str]]) -> str:
        return ", ".join(f"`{key}`" for key, field in keys if field not in reads)

    settings = left((key, key.replace("-", "_")) for key in SETTINGS)
    of_columns, roles = left(PER_COLUMN.items()), left((role, field) for field, role in ROLES.items())
    own = f"; of columns, it does not read {of_columns}" if of_columns else ""
    said = f"Of a job file, which other commands share, it does not read {settings}{own}"
    return f"{said}; it has no use for the roles {roles}.\n"


def _commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    inner: Mapping[str, Any] = getattr(command, "commands", {})
    if path and not inner:
        yield path, command
    for name, each in inner.items():
        yield from _commands(each, (*path, name))


def _option(each: Any) -> tuple[str, str, str]:
    if each.param_type_name == "argument":
        return f"`{each.name.upper()}`", "" if each.default is None else code(str(each.default)), _text(each.help)
    names = ", ".join(f"`{name}`" for name in (*each.opts, *each.secondary_opts))
    default = each.default
    shown = "required" if each.required else "" if default in (None, False, [], ()) else code(str(default))
    return names, shown, _text(each.help)


def _text(words: str | None) -> str:
    return " ".join((words or "").split())


# ---- JSON ---------------------------------------------------------------------------------------------------

PEOPLE = "age,sex,zip,ill\n" + "".join(
    f"{20 + i},{'fm'[i % 2]},{13000 + i % 5},{('flu', 'cold', 'cough')[i % 3]}\n" for i in range(24)
)
ANIMALS = "animal\n" + "dog\ncat\nhorse\neagle\n" * 3
HIERARCHY = "dog;mammal;*\ncat;mammal;*\nhorse;mammal;*\neagle;bird;*\n"
OTHER = "dog;pet;*\ncat;pet;*\nhorse;animal;*\neagle;animal;*\n"
RELEASE = ("-q", "age,sex", "-k", "3", "--model", "l-distinct:ill:2", "--rest", "publish")
EXAMPLES: dict[str, tuple[str, ...]] = {
    "init": ("people.csv",),
    "anonymize": ("people.csv", *RELEASE, "-o", "release.csv", "--solution", "solution.json"),
    "apply": ("solution.json", "people.csv", "-o", "applied.csv"),
    "check": ("release.csv", "-q", "age,sex", "-k", "5", "-s", "ill", "--beside", "release.csv"),
    "risk": (
        "people.csv",
        "-q",
        "age,sex",
        "-s",
        "ill",
        "--sampling-fraction",
        "10%",
        "--released",
        "release.csv",
        "--sampling-weight",
        "zip",
        "--household",
        "ill",
        "--suda",
        "2",
        "--every",
        "1:3",
    ),
    "assess": ("people.csv", "release.csv", "-q", "age,sex", "--no-learn"),
    "baseline": ("animals.csv", "--method", "pram", "-c", "animal", "-o", "randomized.csv"),
    "mask": ("animals.csv", "-t", "animal", "-k", "4", "-o", "masked.csv"),
    "compare": ("people.csv", "-q", "age,sex", "-k", "3", "--algorithms", "optimal"),
    "explore": ("people.csv", "-q", "age,sex", "-k", "3"),
    "hierarchy build": ("people.csv", "age", "-m", "iotf"),
    "hierarchy show": ("animal.csv",),
    "hierarchy suggest": ("people.csv", "age", "-k", "3"),
    "hierarchy compare": ("animal.csv", "other.csv"),
    "hierarchy evaluate": ("animal.csv",),
    "hierarchy improve": ("animal.csv",),
    "hierarchy methods": ("otf",),
    "ontology info": (),
    "similarity": ("dog", "cat"),
    "algorithms": ("best",),
    "models": ("t-equal",),
}


def printed(folder: Path) -> dict[str, Any]:
    """What each command prints with `--json` about the tables above, run in a folder of its own."""
    from typer.testing import CliRunner

    from kanopy.cli import app

    for name, text in (
        ("people.csv", PEOPLE),
        ("animals.csv", ANIMALS),
        ("animal.csv", HIERARCHY),
        ("other.csv", OTHER),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    before = Path.cwd()
    found = {}
    try:
        os.chdir(folder)
        for command, arguments in EXAMPLES.items():
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
                answer = CliRunner().invoke(app, [*command.split(), *arguments, "--json"])
            if answer.exit_code not in (0, 1) or (answer.exception and not isinstance(answer.exception, SystemExit)):
                raise RuntimeError(f"{command}: {answer.output}") from answer.exception
            found[command] = json.loads(answer.stdout.splitlines()[-1])
    finally:
        os.chdir(before)
    return found


def fields(value: Any, above: str = "") -> Iterator[tuple[str, str]]:
    """Every field below a value with the kind of its content; fields of lists are written `list[].field`."""
    for name, each in value.items():
        path = f"{above}{name}"
        yield path, _kind(each)
        entries = each if isinstance(each, list) else [each]
        tables = [entry for entry in entries if isinstance(entry, dict)]
        if tables and not (name in PER_NAME and (name == "examples" or isinstance(each, dict))):
            merged: dict[str, Any] = {}
            for entry in tables:
                merged |= {key: inner for key, inner in entry.items() if merged.get(key) is None}
            yield from fields(merged, f"{path}[]." if isinstance(each, list) else f"{path}.")


PER_NAME = (
    "losses", "column_losses", "sensitive", "levels", "seconds", "parameters", "senses", "rows_at_risk", "by_columns",
    "examples", "gain", "means", "deviations",
)  # fmt: skip
"""Tables whose keys are columns, metrics or stages: they are not listed."""


def _kind(value: Any) -> str:
    kinds = {bool: "true or false", int: "number", float: "number", str: "text", list: "list", dict: "table"}
    return "nothing" if value is None else kinds[type(value)]


def json_page() -> str:
    """Every field of every command's JSON."""
    parts = [
        "# JSON of the commands\n",
        MADE,
        "With `--json` a command prints one object on standard output and nothing else. Notes go to standard error. "
        "Names have the same meaning in every command: `k` is the required k, `smallest_class` the size of the "
        "smallest class, `suppressed` the number of suppressed rows, `models` the privacy models, and `seconds` the "
        "time (per stage, with its `total`). A field is `null` where it does not apply. With a unit, `smallest_class` "
        "and the risks count the units that `counted` names (people or households), `units` is the number of units, "
        "`known` the number of rows of one unit that an attacker may know, and `suppressed_units` the number of units "
        "without a published row. Errors have `error.kind` and `error.message`, with the exit status of the "
        "[command](commands.md).\n",
    ]
    with tempfile.TemporaryDirectory() as folder:
        answers = printed(Path(folder))
    missing = set()
    for command, answer in answers.items():
        rows = []
        for path, kind in fields(answer):
            name = path.rpartition(".")[2]
            words = MEANINGS.get(f"{command}:{name}", MEANINGS.get(name))
            if words is None:
                missing.add(f"{command}:{path}")
            rows.append((f"`{path}`", kind, words or ""))
        parts += [f"## kanopy {command}\n", table(("field", "kind", "meaning"), rows)]
    if missing:
        raise KeyError(f"tools/json_words.py has no words for {sorted(missing)}")
    return "\n".join(parts)


def schema_page() -> str:
    """The schema of job files, for editors."""
    from kanopy.linked.schema import any_job_schema

    return f"{json.dumps(any_job_schema(), indent=1, ensure_ascii=False)}\n"


PAGES = {
    "job-file.md": job_file_page,
    "parameters.md": parameters_page,
    "commands.md": commands_page,
    "json.md": json_page,
    "job.schema.json": schema_page,
}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
