"""`kanopy anonymize --job` and `kanopy init` for several linked tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kanopy._errors import JobError, some
from kanopy.cli import options as o
from kanopy.cli.console import counted, emit, grid, note, progress_bar, worked_out

USED = (
    "job",
    "output",
    "k",
    "known",
    "ledger",
    "suppress",
    "key_file",
    "report",
    "manifest",
    "encoding",
    "neutralize_formulas",
    "json",
)
"""The options that a job of several tables has a use for."""


def is_linked_job(job: Path | None) -> bool:
    """Whether a job file is about several tables."""
    from kanopy.linked.job import is_linked, read_plain

    return job is not None and job.is_file() and is_linked(read_plain(job))


def anonymize_linked(job: Path, output: str, given: dict[str, Any], ledger: Path | None) -> None:
    """Publish all tables of a job into a folder or a database, or none; with a ledger, safe with earlier releases."""
    from kanopy._table.pseudonyms import read_key
    from kanopy.linked.history.several_tables import publish_tables_over_time
    from kanopy.linked.job import LinkedJob, read_plain
    from kanopy.linked.linked_result import check_folder, check_report_name
    from kanopy.linked.run import anonymize_tables

    if strange := [name for name in o.on_command_line() if name not in USED]:
        raise JobError(
            f"{some(['--' + name.replace('_', '-') for name in strange])} has no effect on a job of several "
            "tables, which "
            "says this per table or for all. Write it in the job file."
        )
    plain = read_plain(job)
    for name in ("k", "suppress"):
        if given.get(name) is not None:
            plain[name] = given[name]
    if given.get("known") is not None:
        plain["known"] = int(given["known"]) if str(given["known"]).isdigit() else given["known"]
    wanted = LinkedJob.from_dict(plain, job.parent)
    check_folder(output)
    check_report_name(given.get("report"))
    hashed = wanted.keys == "hash" or given.get("key_file") is not None
    key = read_key(given.get("key_file")) if hashed or ledger is not None else None
    beside: dict[str, Any] = {
        "report": given.get("report"), "manifest": given.get("manifest"),
        "neutralize": bool(given.get("neutralize_formulas")),
        "inputs": [path for path in (job, given.get("key_file")) if path is not None],
    }  # fmt: skip
    with progress_bar() as show:
        if ledger is not None:
            assert key is not None
            tables_result, files = publish_tables_over_time(
                wanted, output, ledger, key, encoding=given.get("encoding"), progress=show, **beside
            )
        else:
            tables_result = anonymize_tables(wanted, key=key, progress=show, encoding=given.get("encoding"))
            files = tables_result.write(output, **beside)
    for line in tables_result.notes:
        note(line)
    display = worked_out(
        tables_result.summary() | {"files": [str(file) for file in files]},
        lambda out: _show(out, tables_result, output),
    )
    display()


def _show(out: Any, tables_result: Any, output: str) -> None:

    verification = tables_result.verification
    out.verdict(True, f"{tables_result.promise} Checked again on what is published.")
    for line in tables_result.remarks():
        out.headed("! ", "bold yellow", line)
    rows = [
        (name, f"{tables_result.related.frames[name].height:,}", f"{verification.rows[name]:,}",
         f"{verification.suppressed[name]:,}",
         ", ".join(f"{c} {level}" for c, level in tables_result.levels[name].items() if not c.startswith("\0")))
        for name in tables_result.related.order
    ]  # fmt: skip
    out.print(grid(("table", ">rows", ">published", ">suppressed", "levels"), rows))
    proved = "proved optimal" if tables_result.solution.optimal else "not proved optimal"
    out.print(
        f"{tables_result.job.metric} {tables_result.solution.score:.4f} · {counted(verification.people, 'person')} · "
        f"0 orphan keys · "
        f"{tables_result.solution.algorithm}, {proved} · {tables_result.solution.judged:,} of "
        f"{tables_result.solution.candidates:,} "
        "candidates judged"
    )
    out.line(f"Release: {output}", soft_wrap=True)


def init_linked(sources: list[str], output: Path, force: bool) -> None:
    """Write a job for several tables: keys, links, roles, and how sure each is."""
    from kanopy._files import write_whole
    from kanopy._job.schema import COMMENT, FILE
    from kanopy.linked.formats.fhir import is_fhir
    from kanopy.linked.guess import guess_fhir, guess_tables, tables_in

    used = ("tables", "output", "force", "json", "no_hierarchies")
    if strange := [name for name in o.on_command_line() if name not in used]:
        raise JobError(
            f"{some(['--' + name.replace('_', '-') for name in strange])} has no effect on several tables. "
            "Leave it out."
        )
    if output.exists() and not force:
        raise JobError(f"{output} exists already. Give another name with -o, or --force to overwrite it.")
    folder = output.resolve().parent
    fhir = len(sources) == 1 and is_fhir(sources[0])
    guessed = guess_fhir(sources[0], folder) if fhir else guess_tables(tables_in(sources), folder)
    text = guessed.text
    if (folder / FILE).exists() and output.suffix == ".toml":
        text = f"{COMMENT} ./{FILE}\n{text}"
    write_whole(output, text.encode("utf-8"), private=True)

    def show(out: Any) -> None:

        out.line(f"The promise counts {guessed.unit}.")
        out.print(
            grid(
                ("from", "to", "how sure", "why"),
                [(str(link.child), str(link.parent), link.certainty, link.reason) for link in guessed.links],
            )
        )
        for name, columns in guessed.columns.items():
            out.line(name, style="bold")
            out.print(
                grid(
                    ("column", "role", "hierarchy", "why"),
                    [(c["column"], c["role"], c["hierarchy"] or "", c["reason"]) for c in columns],
                )
            )
        for line in guessed.decide:
            out.line(line, style="bold")
        out.line(f"Wrote {output}. Read it, correct it, then run:")
        out.line(f"  kanopy anonymize --job {output} -o FOLDER", soft_wrap=True)

    emit(
        {
            "job": str(output), "unit": str(guessed.unit), "decide": list(guessed.decide),
            "columns": dict(guessed.columns),
            "links": [
                {"from": str(link.child), "to": str(link.parent), "certainty": link.certainty, "reason": link.reason}
                for link in guessed.links
            ],
        },
        show,
    )  # fmt: skip
