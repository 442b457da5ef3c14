"""`kanopy anonymize --ledger` and `kanopy apply --ledger`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from kanopy._errors import JobError, some
from kanopy.cli import options as o
from kanopy.cli.console import note, progress_bar, standard_output, worked_out
from kanopy.cli.files import read_data

NOT_USED = ("bound", "bound_budget", "engine", "master", "overwrite", "counts", "emit_sql", "population")


def publish_with_ledger(
    data: str,
    output: str,
    job: Any,
    folder: Path,
    layout: Any,
    given: dict[str, Any],
    read: list[Any],
    solution: Path | None,
    *,
    show: Callable[..., None],
) -> None:
    """Make a release that is safe together with all releases of a ledger, and record it there."""
    from kanopy._parameter_types import as_share
    from kanopy._table.pseudonyms import read_key
    from kanopy.linked.history.over_time import publish_over_time
    from kanopy.release.writing import Files

    if strange := [name for name in o.on_command_line() if name in NOT_USED]:
        raise JobError(
            f"{some(['--' + name.replace('_', '-') for name in strange])} cannot be combined with a ledger, "
            "which needs all "
            "rows in memory and no population. Leave it out."
        )
    key_file, mapping, manifest, report, values, fraction, target = (given.get(name) for name in o.OUTPUTS)
    share = None if fraction is None else as_share(fraction, "sampling-fraction")
    key = read_key(key_file)
    displays: list[Callable[[], None]] = []

    def finish(result: Any) -> None:
        displays.append(worked_out(result.summary(), lambda out: show(out, result, output, report)))

    with standard_output(output) as output_path, progress_bar() as bar:
        result, messages = publish_over_time(
            data, job, Files(output_path, report, mapping, manifest, solution, bool(values), share, target), folder,
            key,
            read=lambda: read_data(data, layout), inputs=[key_file, *read], source=data, progress=bar, finish=finish,
            neutralize=bool(given["neutralize_formulas"]),
        )  # fmt: skip
    for line in (*result.notes, *messages):
        note(line)
    inside = [str(path) for path in (mapping, solution, folder) if path is not None]
    note(f"For internal use (distinguishes people): {', '.join(inside)}.")
    displays[0]()
