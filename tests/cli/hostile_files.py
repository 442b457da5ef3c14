"""Bad tables, bad paths and outputs that would overwrite something: cases for `test_hostile_input.py`."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

GOOD = "age,sex,ill,why\n" + "".join(
    f"{age},{'fm'[age % 2]},{ill},{why}\n"
    for age, ill, why in zip(range(30, 42), ["flu", "cold", "cough"] * 4, ["beach", "lake"] * 6, strict=True)
)

Setup = Callable[[Path], object]


@dataclass(frozen=True)
class Case:
    """One command line that must be refused."""

    name: str
    arguments: tuple[str, ...]
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    prepare: Setup | None = None
    status: int = 2


RELEASE = ("-q", "age", "-k", "2", "-o", "out.csv")


def table(name: str, content: str | bytes, *more: str, file: str = "bad.csv", status: int = 2) -> Case:
    return Case(name, ("anonymize", file, *RELEASE, *more), {file: content}, status=status)


def job(name: str, text: str | bytes, file: str = "job.toml") -> Case:
    return Case(name, ("anonymize", "good.csv", "--job", file, "-o", "out.csv"), {file: text})


def options(*arguments: str, status: int = 2) -> Case:
    return Case(" ".join(arguments)[:80], ("anonymize", "good.csv", *RELEASE, *arguments), status=status)


# ---- tables -------------------------------------------------------------------------------------------------


def made(write: Callable[[pl.DataFrame, io.BytesIO], object]) -> bytes:
    """The bytes of a small table in some format."""
    buffer = io.BytesIO()
    write(pl.DataFrame({"age": [31, 34, 38], "sex": ["f", "f", "m"]}), buffer)
    return buffer.getvalue()


def damaged(content: bytes) -> Iterator[tuple[str, bytes]]:
    yield "cut in half", content[: len(content) // 2]
    yield "without its end", content[:-7]
    yield "without its beginning", content[9:]
    yield "overwritten", content[:8] + b"\xff" * (len(content) - 16) + content[-8:]
    yield "other bytes", b"\x00\x01\x02" * 50
    yield "text", b"age,sex\n31,f\n"
    yield "nothing", b""
    yield "one byte", b"P"


def zipped(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def broken_tables() -> Iterator[Case]:
    formats = {
        "parquet": made(lambda frame, buffer: frame.write_parquet(buffer)),
        "arrow": made(lambda frame, buffer: frame.write_ipc(buffer)),
        "xlsx": made(lambda frame, buffer: frame.write_excel(buffer)),
        "csv.gz": gzip.compress(GOOD.encode()),
    }
    for suffix, content in formats.items():
        for how, bytes_ in damaged(content):
            yield table(f"{suffix} {how}", bytes_, file=f"bad.{suffix}")
    for suffix in ("parquet", "feather", "ipc", "pq", "xls", "xlsb", "ods", "duckdb", "sqlite", "db", "csv.zst"):
        yield table(f"{suffix} that is text", GOOD, file=f"bad.{suffix}")
    yield table("a zip that is no book", zipped(a__txt="hello"), file="bad.xlsx")
    yield table("a book without sheets", zipped(xl__workbook__xml="<workbook/>"), file="bad.xlsx")
    yield table("gzip of gzip", gzip.compress(gzip.compress(GOOD.encode())), file="bad.csv.gz")
    yield table("gzip of nothing", gzip.compress(b""), file="bad.csv.gz")
    yield table("compressed Parquet", gzip.compress(formats["parquet"]), file="bad.parquet.gz")
    for suffix in ("json", "toml", "docx", "zip", "gz", "zst", "txt.parquet.csv.gz.bak", "CSV2"):
        yield table(f"the suffix {suffix}", GOOD, file=f"bad.{suffix}")
    empty = pl.DataFrame({"age": []}, schema={"age": pl.Int64})
    for suffix, write in (("parquet", empty.write_parquet), ("arrow", empty.write_ipc), ("xlsx", empty.write_excel)):
        buffer = io.BytesIO()
        write(buffer)
        yield table(f"{suffix} without rows", buffer.getvalue(), file=f"bad.{suffix}")


def bad_text() -> Iterator[Case]:
    yield table("no bytes", b"")
    for name, content in {
        "line ends": "\n\n\n",
        "blanks": "   \n  \n",
        "a mark": "\ufeff",
        "a header": "age,sex\n",
        "a header without line end": "age,sex",
        "ragged": "age,sex\n1,f\n2\n3,m,x\n",
        "longer than its header": "age\n1,2\n3,4\n",
        "an open quote": 'age,sex\n"1,f\n2,m\n3,f\n',
        "an open quote in the header": '"age,sex\n1,f\n2,m\n',
        "a quote inside": 'age,sex\n"1"x,f\n2,m\n',
        "no such column": "name,sex\n1,f\n2,m\n",
        "another separator": "age:sex\n1:f\n2:m:x\n",
        "binary": bytes(range(256)) * 20,
        "zeros": bytes(4000),
        "a zero in the header": "a\0ge,sex\n1,f\n",
    }.items():
        yield table(f"text: {name}", content)
    for encoding in ("utf-8", "utf-16", "cp1252", "latin-1", "shift-jis", "utf-32"):
        yield table(
            f"damaged after {encoding}", "age,sex\n31,é\n32,é\n".encode(encoding, "replace") + b"\xff\xfe\xc3\n"
        )
    text = "âge,sex\n31,f\n32,m\n".encode()
    for encoding in ("utf-9", "ascii", "utf-16", "utf-32", "rot13", "base64", "hex", "zlib", "", "\0", "x" * 999,
                     "idna", "punycode", "undefined", "unicode_escape", "utf-7"):  # fmt: skip
        yield table(f"read as {encoding[:20]!r}", text, f"--encoding={encoding}")
    yield table("UTF-16 of odd length", "age,sex\n1,f\n".encode("utf-16")[:-1])
    yield table("surrogates in UTF-16", "age,sex\n1,f\n".encode("utf-16") + b"\x00\xd8\x0a\x00")


def rows_that_are_missing() -> Iterator[Case]:
    for model in ("suppress", "error"):
        yield table(f"only missing values, {model}", "age,sex\n,f\n,m\n,f\n", "--missing", model)
        yield table(
            f"only tokens, {model}", "age,sex\n?,f\n?,m\n?,f\n", "--missing", model, "--missing-tokens", "?"
        )  # fmt: skip
    yield table("fewer rows than k", "age\n1\n")
    yield options("-k", "13")
    yield options("-k", "999999999999999999999999")
    yield Case("check: no rows", ("check", "bad.csv", "-q", "age"), {"bad.csv": "age,sex\n"})
    yield Case("risk: no rows", ("risk", "bad.csv", "-q", "age"), {"bad.csv": "age,sex\n"})
    yield Case("init: no rows", ("init", "bad.csv"), {"bad.csv": "age,sex\n"})
    yield Case("standard input: no rows", ("anonymize", "-", *RELEASE))


# ---- paths --------------------------------------------------------------------------------------------------


def loop(folder: Path) -> None:
    for suffix in ("csv", "toml", "json", "npz", "parquet", "sqlite"):
        (folder / f"loop.{suffix}").symlink_to(f"loop.{suffix}")


def folders(folder: Path) -> None:
    for name in ("box.csv", "box.toml", "box.json", "box.parquet", "box.npz", "box.sqlite", "box.duckdb", "box.xlsx"):
        (folder / name).mkdir()


def dangling(folder: Path) -> None:
    (folder / "nowhere.csv").symlink_to("gone/gone.csv")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe.csv")


LONG = "x" * 300 + ".csv"
BAD_NAMES = {"too long": LONG, "a zero": "a\0b.csv", "not UTF-8": "a\udcff.csv", "of surrogates": "\ud800.csv"}
PLACES = ("--report", "--mapping", "--manifest", "--solution")


def paths() -> Iterator[Case]:
    for command in ("anonymize", "check", "init"):
        quasi = () if command == "init" else ("-q", "age")
        target = ("-o", "out.csv") if command == "anonymize" else ()
        for name, path in {**BAD_NAMES, "a folder": "box.csv", "a loop": "loop.csv", "dangling": "nowhere.csv",
                           "absent": "absent.csv", "empty": "", "a dot": ".", "a device": "/dev/null",
                           "a tilde": "~nobody/x.csv"}.items():  # fmt: skip
            yield Case(f"{command} reads {name}", (command, path, *quasi, *target), prepare=odd_places)
    for name, path in {**BAD_NAMES, "a folder": "box.csv", "a loop": "loop.csv", "absent": "gone/out.csv",
                       "empty": "", "under a file": "good.csv/out.csv", "the input": "good.csv",
                       "the input again": "./good.csv",
                       "an address": "https://example.org/out.csv"}.items():  # fmt: skip
        yield Case(f"writes {name}", ("anonymize", "good.csv", "-q", "age", "-k", "2", "-o", path), prepare=odd_places)
        for option in PLACES[:2]:
            yield Case(
                f"{option} is {name}",
                (
                    "anonymize",
                    "good.csv",
                    *RELEASE,
                    option,
                    path.replace(".csv", ".json") if "good" not in path else path,
                ),
                prepare=odd_places,
            )
    for file in ("toml", "json"):
        for name in ("box", "loop", "absent", "x" * 300, "a\0b", "a\udcff"):
            yield Case(f"job {name[:6]!r}.{file}", ("anonymize", "good.csv", "--job", f"{name}.{file}", "-o", "o.csv"),
                       prepare=odd_places)  # fmt: skip
    for option in ("--hierarchies", "--population", "--key-file"):
        for name, path in {**BAD_NAMES, "a loop": "loop.csv", "absent": "absent.csv"}.items():
            more = ("--identifiers", "sex", "--pseudonymize", "sex") if option == "--key-file" else ()
            yield Case(f"{option} is {name}", ("anonymize", "good.csv", *RELEASE, "--model", "k-map:2", option, path,
            *more),
                       prepare=odd_places)  # fmt: skip
    for command in (("hierarchy", "show"), ("hierarchy", "evaluate"), ("hierarchy", "improve"), ("ontology", "info")):
        for name in ("box.csv", "loop.csv", "absent.csv", LONG, "a\0b.csv", "a\udcff.csv", "", "loop.npz", "box.npz"):
            yield Case(f"{' '.join(command)} {name[:10]!r}", (*command, name), prepare=odd_places)
    for name in ("box.csv", "loop.json", LONG, "a\0b.csv"):
        yield Case(f"apply {name[:9]!r}", ("apply", name, "good.csv", "-o", "out.csv"), prepare=odd_places)
        yield Case(f"assess {name[:9]!r}", ("assess", "good.csv", name), prepare=odd_places)


def odd_places(folder: Path) -> None:
    loop(folder)
    folders(folder)
    dangling(folder)


def overwritten() -> Iterator[Case]:
    """Outputs that are inputs, or two of one name."""
    files: dict[str, str | bytes] = {
        "people.csv": GOOD, "key.csv": "6b" * 32, "job.toml": 'k = 2\n[columns.age]\nrole = "quasi-identifier"\n',
        "trees/sex.csv": "f;*\nm;*\n", "jobs/job.toml": 'population = "../people.csv"\nk = 2\n',
    }  # fmt: skip
    inputs = {
        "people.csv": ("--population", "people.csv", "--model", "k-map:2"),
        "key.csv": ("--identifiers", "ill", "--pseudonymize", "ill", "--key-file", "key.csv"),
        "job.toml": ("--job", "job.toml"),
        "trees/sex.csv": ("--hierarchies", "trees", "-q", "sex"),
        "jobs/job.toml": ("--job", "jobs/job.toml", "--model", "k-map:2"),
    }
    for target, more in inputs.items():
        if target.endswith("csv"):
            yield Case(f"-o overwrites {target}", ("anonymize", "good.csv", "-q", "age", "-k", "2", *more, "-o",
            target),
                       files)  # fmt: skip
        for option in PLACES:
            yield Case(
                f"{option} overwrites {target}", ("anonymize", "good.csv", *RELEASE, *more, option, target), files
            )
    yield Case("-o overwrites the population of the job",
               ("anonymize", "good.csv", "--job", "jobs/job.toml", "--model", "k-map:2", "-q", "age", "-o",
               "people.csv"),
               files)  # fmt: skip
    for one in range(len(PLACES)):
        yield options(PLACES[one], "out.csv")
        for other in range(one):
            yield options(PLACES[one], "same.json", PLACES[other], "./same.json")
    for command in ("compare", "explore"):
        yield Case(f"{command} overwrites the population", (
            command, "good.csv", "-q", "age", "--model", "k-map:2", "--population", "people.csv", "-o", "people.csv",
        ), files)  # fmt: skip
    yield Case("explore keeps its state in its output", (
        "explore", "good.csv", "-q", "age", "-o", "map.json", "--state", "map.json",
    ))  # fmt: skip
    yield Case("risk overwrites a release", ("risk", "good.csv", "-q", "age", "--released", "people.csv",
                                             "--report", "people.csv"), files)  # fmt: skip
    yield Case("risk overwrites the population", ("risk", "good.csv", "-q", "age", "--population", "people.csv",
                                                  "--report", "people.csv"), files)  # fmt: skip
    yield Case("assess overwrites a release", ("assess", "good.csv", "people.csv", "--report", "people.csv"), files)
    yield Case("mask overwrites its hierarchy", ("mask", "good.csv", "-t", "why", "--vgh", "trees/sex.csv", "-o",
                                                 "trees/sex.csv"), files)  # fmt: skip
    yield Case("build overwrites its data", ("hierarchy", "build", "good.csv", "age", "-o", "good.csv"))
    yield Case("show overwrites its file", ("hierarchy", "show", "trees/sex.csv", "--svg", "trees/sex.csv"), files)
    yield Case("init overwrites its data", ("init", "good.csv", "-o", "good.csv", "--force"))
    yield Case("init overwrites a job", ("init", "good.csv", "-o", "job.toml"), files)


CASES = [case for family in (broken_tables, bad_text, rows_that_are_missing, paths, overwritten) for case in family()]
