"""Bad jobs, parameters, options, databases, hierarchies and ontologies: cases for `test_hostile_input.py`."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kanopy._job.job_file import PER_COLUMN, SETTINGS
from kanopy._parameters import parameters_of
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS
from tests.cli.hostile_files import RELEASE, Case, job, options

# ---- jobs ---------------------------------------------------------------------------------------------------

WRONG = {"a table": "{ no-such = 1 }", "lists": "[[1]]", "a time": "1979-05-27T07:32:00Z", "nan": "nan", "below": "-7"}
NUMBERS = {"infinite": "1e999999999", "digits": "9" * 5000, "hex": "0x" + "f" * 4000}


def wrong_jobs() -> Iterator[Case]:
    start = '[columns.age]\nrole = "quasi-identifier"\n'
    for key in SETTINGS:
        for name, value in {**WRONG, **NUMBERS, "none": '"no such thing"'}.items():
            if (key, name) == ("missing-tokens", "none"):
                continue
            yield job(f"{key} is {name}", f"{key} = {value}\n{start}")
    for key in ("role", *PER_COLUMN):
        for name, value in {**WRONG, **NUMBERS, "none": '"no such thing"'}.items():
            if (key, name) == ("missing-tokens", "none"):
                continue
            yield job(f"{key} of a column is {name}", f"{start}{key} = {value}\n".replace(
                'role = "quasi-identifier"\nrole', "role"))  # fmt: skip
    for name, text in {
        "no TOML": "k = = 2", "a key twice": "k = 2\nk = 3", "an open text": 'k = "', "an open list": "k = [",
        "deep": "k = " + "[" * 5000 + "]" * 5000, "deep tables": "k = " + "{a=" * 3000 + "1" + "}" * 3000,
        "deep names": "[" + ".".join("a" * 3000) + "]", "columns is a list": "columns = [1]",
        "columns is a text": 'columns = "age"', "a column is a text": '[columns]\nage = "quasi-identifier"',
        "a column is a list": "[columns]\nage = [1]", "no quasi-identifier": "k = 2",
        "two roles": '[columns.age]\nrole = "identifier"\n', "not UTF-8": b'k = 2 # \xff\xfe\n', "a zero": "k = 2\0",
        "models in models": 'models = [["k:2"]]', "a model of nothing": 'models = [""]',
        "a model of dots": 'models = [":"]',
        "a model without name": "[[models]]\nl = 2", "a model of other name": '[[models]]\nname = 5',
        "an empty algorithm": "algorithm = {}", "an algorithm in an algorithm": "algorithm = { name = { name = 1 } }",
        "a hierarchy without method": start + "hierarchy = { levels = 2 }",
        "a hierarchy of no file": start + 'hierarchy = "no-such-file.csv"',
        "a hierarchy that is a folder": start + 'hierarchy = "."',
        "a hierarchy with a zero": start + 'hierarchy = "a\\u0000b.csv"',
        "a population with a zero": 'population = "a\\u0000.csv"\nmodels = ["k-map:2"]\n' + start,
        "an empty file": "", "only a comment": "# nothing",
        "a column of no name": '[columns.""]\nrole = "quasi-identifier"',
        "levels crossed": start + "min-level = 3\nmax-level = 1", "level too high": start + "min-level = 99",
    }.items():  # fmt: skip
        yield job(f"job: {name}", text)
    for name, text in {
        "a list": "[1]", "a number": "5", "null": "null", "cut": "{", "deep": "[" * 100_000, "NaN": '{"k": NaN}',
        "digits": '{"k": ' + "9" * 5000 + "}", "infinite": '{"k": 1e999999}', "a null": '{"k": null}',
        "columns is null": '{"columns": null}', "a column is null": '{"columns": {"age": null}}',
        "a role is null": '{"columns": {"age": {"role": null}}}', "deep objects": '{"a":' * 50_000,
        "surrogates": '{"metric": "\\ud800"}',
        "a surrogate name": '{"columns": {"\\ud800": {"role": "quasi-identifier"}}}',
    }.items():  # fmt: skip
        yield job(f"JSON job: {name}", text, "job.json")


def wrong_parameters() -> Iterator[Case]:
    """A wrong type for every declared parameter of algorithms, maskings, models and builders."""
    start = '[columns.age]\nrole = "quasi-identifier"\n'
    classes: dict[str, type] = {**ALGORITHMS, **MASKINGS}
    for name, cls in classes.items():
        for parameter in parameters_of(cls):
            yield job(f"{name}: {parameter}", f'algorithm = {{ name = "{name}", {parameter} = {{ a = 1 }} }}\n{start}')
        yield options("--algorithm", name, "-p", "zzz=1")
        for parameter, each in parameters_of(cls).items():
            if type(each.kind).__name__ in ("Integer", "Number", "Seconds", "Flag", "OneOf"):
                yield options("--algorithm", name, "-p", f"{parameter}=§")
    for name, model in MODELS.items():
        for parameter in parameters_of(model):
            yield job(
                f"{name}: {parameter} is a table", f'{start}[[models]]\nname = "{name}"\n{parameter} = {{ a = 1 }}\n'
            )
        yield options("--model", f"{name}:§:§:§:§")
    for name, builder in BUILDERS.items():
        for parameter in parameters_of(builder):
            yield job(
                f"{name}: {parameter} is a time",
                f'{start}hierarchy = {{ method = "{name}", {parameter} = 07:32:00 }}\n',
            )
        yield Case(f"build {name} zzz=1", ("hierarchy", "build", "good.csv", "age", "-m", name, "-p", "zzz=1"))


# ---- options ------------------------------------------------------------------------------------------------


def wrong_options() -> Iterator[Case]:
    for value in ("1", "0", "-3", "1.5", "many", "", "1e999999999", "9" * 5000, "٣x", "0x10", "None"):
        yield options(f"-k={value}" if value.startswith("-") else "-k", *([] if value.startswith("-") else [value]))
    for value in ("101%", "-1%", "1.5", "nan", "inf", "few", "", "%", "1e999999999", "9" * 5000, "2%%", "0x1"):
        yield options(f"--suppress={value}")
        yield options(f"--sampling-fraction={value}")
    for value in ("-1s", "soon", "", "nan", "inf", "1e999999999s", "9" * 5000, "5 years"):
        yield options("--algorithm", "best", f"--budget={value}")
        yield options(f"--bound-budget={value}")
    for name in ("metric", "algorithm", "missing", "unknown", "model", "population", "job", "hierarchies"):
        for value in ("no-such", "[/b]x", "'; drop table x; --", "x" * 5000, "\0", "é\udcff"):
            yield options(f"--{name}={value}")
    for name in ("quasi", "sensitive", "identifiers", "insensitive", "pseudonymize", "target"):
        for value in ('"', "*", "^.*$", "[/]", "x" * 5000, "é\udcff"):
            more = ("--report", "r.html") if name == "target" else ()
            yield options(f"--{name}={value}", *more)
    for arguments in (("--sensitive", "age"), ("--identifiers", "age"), ("-p", "seed=1.5"), ("-p", "threads=two"),
                      ("-p", "=1"), ("-p", ""), ("--no-such-option",), ("extra",), ("-o",),
                      ("--drop-suppressed=2",)):  # fmt: skip
        yield options(*arguments)
    for arguments in (("no-such-command",), ("anonymize",), ("anonymize", "good.csv"), ("check",), ("risk",),
                      ("check", "good.csv"), ("mask", "good.csv", "-o", "o.csv"), ("hierarchy", "no-such"),
                      ("ontology", "no-such"), ("reproduce", "no-such"), ("algorithms", "no-such"),
                      ("models", "no-such"),
                      ("hierarchy", "methods", "no-such"), ("similarity",), ("similarity", "one"),
                      ("similarity", "zzzz", "yyyy"), ("similarity", "cat#99", "dog"), ("similarity", "cat#x", "dog"),
                      ("similarity", "cat", "dog", "--measure", "no-such"), ("similarity", "", ""),
                      ("--no-such",)):  # fmt: skip
        yield Case(" ".join(arguments) or "nothing at all", arguments)
    for arguments in (("--threshold", "2"), ("--threshold", "nan"), ("--threshold", "x"), ("--subsets", "-1"),
                      ("--population-size", "-1"), ("--population-size", "3"), ("--population-size", "9" * 5000),
                      ("--sampling-fraction", "0"), ("--seed", "-1"), ("--seed", "9" * 5000),
                      ("--released", "gone.csv"),
                      ("--on", "no-such", "--released", "good.csv"), ("-q", "no-such"),
                      ("-s", "no-such")):  # fmt: skip
        yield Case(f"risk {' '.join(arguments)[:60]}", ("risk", "good.csv", "-q", "sex", *arguments))
    for arguments in (("--queries", "-1"), ("--seed", "-1"), ("--on", "no-such"), ("--target", "no-such"),
                      ("-q", "no-such"), ("--hierarchies", "gone"), ("--job", "gone.toml")):  # fmt: skip
        yield Case(f"assess {' '.join(arguments)}", ("assess", "good.csv", "good.csv", *arguments))
    for value in ("5..2", "x", "", "1", "2..", "2..5..0", "2..99999999", "-5", "2...5", "9" * 5000, "0..3"):
        yield Case(f"explore -k {value[:20]!r}", ("explore", "good.csv", "-q", "age", f"-k={value}"))
    for arguments in (("--suppress", "x"), ("--suppress", "200%"), ("--algorithms", "no-such"),
                      ("--models", "no-such:1"),
                      ("--metric", "no-such"), ("-o", "map.docx"), ("--state", "gone/state.json")):  # fmt: skip
        yield Case(f"explore {' '.join(arguments)}", ("explore", "good.csv", "-q", "age", "-k", "2", *arguments))
    for arguments in (("--algorithms", ""), ("--algorithms", "no-such"), ("--algorithms", "optimal:zzz=1"),
                      ("-o", "a.docx"),
                      ("--algorithms", "mondrian:strict=maybe"), ("--budget", "soon")):  # fmt: skip
        yield Case(f"compare {' '.join(arguments)}", ("compare", "good.csv", "-q", "age", "-k", "2", *arguments))
    for arguments in (("-t", "no-such"), ("-t", ""), ("-t", "why", "--guide", "no-such"),
                      ("-t", "why", "--search", "x"),
                      ("-t", "why", "--heuristics", "9"), ("-t", "why", "--heuristics", "x"), ("-t", "why", "-k", "0"),
                      ("-t", "why", "--unknown", "x"), ("-t", "why", "--embedding", "gone", "--unknown", "embedding"),
                      ("-t", "why", "--weights", "x"), ("-t", "why", "--weights", "why=x"),
                      ("-t", "why", "--weights", "why=-1"),
                      ("-t", "why", "--diversity", "2"), ("-t", "why", "--diversity", "x", "-s", "ill"),
                      ("-t", "why", "--seed", "-1"), ("-t", "why", "--ontology", "gone.obo"),
                      ("-t", "why", "--vgh", "gone.csv"),
                      ("-t", "why", "--senses", "gone.toml"), ("-t", "why", "--algorithm", "optimal"),
                      ("-t", "why", "--missing", "x"), ("-t", "why", "-q", "why"), ("-t", "why", "-k", "9" * 5000),
                      ("-t", "why", "--measure", "no-such"), ("-t", "why", "--hierarchies", "gone"),
                      ("-t", "why", "--algorithm", "fusion", "-k", "99")):  # fmt: skip
        yield Case(f"mask {' '.join(arguments)[:60]}", ("mask", "good.csv", "-o", "out.csv", *arguments))
    for arguments in (("no-such",), ("",), ("age", "-m", "no-such"), ("age", "-p", "x"), ("age", "-k", "0"),
                      ("age", "-m", "widths", "-p", "widths=0"), ("age", "-m", "widths", "-p", "widths=-5"),
                      ("age", "-m", "widths", "-p", "widths=1e999999999"),
                      ("age", "-m", "widths", "-p", "widths=" + "9" * 5000),
                      ("age", "-m", "widths", "-p", "widths=nan"), ("age", "-m", "widths", "-p", "widths="),
                      ("age", "-m", "cuts", "-p", "cuts=x"), ("age", "-m", "dates"),
                      ("sex", "-m", "widths", "-p", "widths=5"),
                      ("age", "-m", "ontology", "--levels", "-1"), ("age", "-m", "ontology", "--senses", "gone.toml"),
                      ("age", "-o", "tree.docx"), ("age", "-o", "gone/tree.csv"),
                      ("age", "--levels", "3")):  # fmt: skip
        yield Case(f"build {' '.join(arguments)[:60]}", ("hierarchy", "build", "good.csv", *arguments))
    for arguments in (("suggest", "good.csv", "no-such"), ("suggest", "good.csv", "age", "-k", "0"),
                      ("compare", "good.csv", "good.csv", "--data", "good.csv"),
                      ("compare", "gone.csv", "gone.csv")):  # fmt: skip
        yield Case(f"hierarchy {' '.join(arguments)}", ("hierarchy", *arguments))


# ---- databases ----------------------------------------------------------------------------------------------


def databases(folder: Path) -> None:
    for name, content in made_databases().items():
        (folder / name).write_bytes(content)


@functools.cache
def made_databases() -> dict[str, bytes]:
    import duckdb

    folder = Path(tempfile.mkdtemp())
    with duckdb.connect(str(folder / "d.duckdb")) as made:
        made.execute("create table people as select 31 age, 'f' sex union all select 32, 'm'")
        made.execute("create table visits as select 1 age")
    with contextlib.closing(sqlite3.connect(folder / "s.sqlite")) as made:
        made.execute("create table people as select 31 age, 'f' sex")
        made.execute("create table visits as select 1 age")
        made.execute("create table mixed as select 1 age union all select 'x'")
        made.commit()
    return {path.name: path.read_bytes() for path in folder.iterdir()}


STATEMENTS = (
    "COPY people TO 'x.csv'", "copy (select * from people) to 'x.csv'", "select * from people; copy people to 'x.csv'",
    "select 1 age; select 2 age", "drop table people", "delete from people", "insert into people values (1, 'x')",
    "update people set age = 1", "create table x as select 1", "attach 'y.db' as y", "pragma database_list",
    "with a as (select 1) insert into people select 1, 'x'", "with a as (select 1 age) delete from people",
    "export database 'x'", "install httpfs", "load httpfs", "set threads = 1", "call pragma_version()", "vacuum",
    "select * from no_such", "select", "select * from", "select (((", "", ";", "-- comment",
    "/* select */ drop table people",
    "select * into outfile 'x' from people", "explain analyze delete from people", "begin; drop table people",
    "select age, age from people where false", "select * from people where false", "\0", "select '" + "x" * 100,
)  # fmt: skip


def wrong_databases() -> Iterator[Case]:
    for file in ("d.duckdb", "s.sqlite"):
        for mark, texts in (("?", STATEMENTS), ("?query=", STATEMENTS[:3]), ("::", STATEMENTS[:3])):
            for text in texts:
                yield Case(
                    f"{file}{mark}{text[:50]!r}", ("anonymize", f"{file}{mark}{text}", *RELEASE), prepare=databases
                )
        for text in ("", "::", "::no_such", "::people::visits", "?select 1 from people", "::main", '::"', "::';--"):
            yield Case(f"{file}{text}", ("anonymize", f"{file}{text}", *RELEASE), prepare=databases)
    yield Case("a column of many types", ("anonymize", "s.sqlite::mixed", *RELEASE), prepare=databases)
    yield Case(
        "reads another file", ("anonymize", "d.duckdb?select * from read_csv('good.csv')", *RELEASE), prepare=databases
    )
    yield Case("reads a file by name", ("anonymize", "d.duckdb?select * from 'good.csv'", *RELEASE), prepare=databases)
    for address in ("postgresql://", "postgresql://localhost:1/x::people",
                    "postgres://u:secret@localhost:1/x?query=drop",
                    "postgresql://localhost:1/x::copy people to '/tmp/x'", "http://localhost:1/x.csv", "http://",
                    "https://[::1/x.csv", "file:///no/such.csv", "file://", "ftp://localhost/x.csv",
                    "s3://a/b.csv"):  # fmt: skip
        yield Case(f"address {address}", ("anonymize", address, *RELEASE))


# ---- hierarchies, ontologies, solutions -----------------------------------------------------------------------


def wrong_hierarchies() -> Iterator[Case]:
    texts: dict[str, str | bytes] = {
        "empty": "", "blank": "\n\n", "one column": "f\nm\n", "ragged": "f;x;*\nm;*\n",
        "twice": "f;a;*\nf;b;*\nm;a;*\n",
        "does not nest": "f;x;A;*\nm;x;B;*\n", "lacks a value": "f;*\n", "zeros": bytes(300),
        "binary": bytes(range(256)),
        "an open quote": '"f;*\nm;*\n', "empty labels": ";;\n;;\n", "half": b"\xff\xfe\x00",
    }  # fmt: skip
    for name, text in texts.items():
        yield Case(f"hierarchy: {name}", ("anonymize", "good.csv", "-q", "sex", "-k", "2", "--hierarchies", "trees",
        "-o", "o.csv"),
                   {"trees/sex.csv": text})  # fmt: skip
    for name, text in {"cut": "{", "null": "null", "deep": "[" * 100_000, "empty": "", "nothing": "{}",
                       "digits": "9" * 5000}.items():  # fmt: skip
        yield Case(f"JSON hierarchy: {name}", ("hierarchy", "show", "tree.json"), {"tree.json": text})
        yield Case(f"solution: {name}", ("apply", "s.json", "good.csv", "-o", "out.csv"), {"s.json": text})
    for suffix in ("dot", "xlsx", "docx", ""):
        yield Case(f"hierarchy as .{suffix}", ("hierarchy", "show", f"tree.{suffix}"), {f"tree.{suffix}": "f;*\nm;*\n"})


def wrong_ontologies() -> Iterator[Case]:
    contents: dict[str, str | bytes] = {
        "empty": "", "zeros": bytes(400), "binary": bytes(range(256)) * 4, "cut": "<rdf:RDF",
        "deep": "<a>" * 100_000, "bomb": '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><x>&b;</x>',
    }  # fmt: skip
    for suffix in ("xml", "obo", "owl", "rdf", "ttl", "csv", "tsv", "npz", "docx"):
        for name, content in contents.items():
            if suffix in ("csv", "tsv") and name in ("deep", "bomb", "cut"):
                continue
            yield Case(f"ontology .{suffix}: {name}", ("ontology", "info", f"o.{suffix}"), {f"o.{suffix}": content})
    for name, content in {"a loop": "a,b\nb,a\n", "itself": "a,a\n"}.items():
        yield Case(f"ontology: {name}", ("ontology", "info", "o.csv"), {"o.csv": content})
    yield Case("compiled elsewhere", ("ontology", "compile", "o.csv", "-o", "o.txt"), {"o.csv": "a,b\n"})
    yield Case("compiled over its source", ("ontology", "compile", "o.npz", "-o", "o.npz"), {"o.npz": b"x"})
    for name, content in {
        "TOML": "= 1",
        "a list": "senses = [1]",
        "a number": "cat = 5",
        "deep": "a = " + "[" * 5000,
    }.items():
        yield Case(f"senses: {name}", ("mask", "good.csv", "-t", "why", "--vgh", "t.csv", "--senses", "s.toml", "-o",
        "o.csv"),
                   {"s.toml": content, "t.csv": "beach;*\nlake;*\n"})  # fmt: skip
    for name, content in {"one column": "a\n", "empty": "", "no numbers": "cat,dog,x\n"}.items():
        if name != "no numbers":
            yield Case(f"pairs: {name}", ("similarity", "--pairs", "p.csv"), {"p.csv": content})
        yield Case(f"ratings: {name}", ("similarity", "--benchmark", "p.csv"), {"p.csv": content})


FAMILIES = (wrong_jobs, wrong_parameters, wrong_options, wrong_databases, wrong_hierarchies, wrong_ontologies)
CASES = [case for family in FAMILIES for case in family()]
