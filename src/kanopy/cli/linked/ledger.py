"""`kanopy ledger`: what earlier releases said of people, kept inside; show it, check it, forget somebody."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from kanopy.cli import options as o
from kanopy.cli.console import counted, emit, grid

ledger = typer.Typer(
    help="Releases over time: show, check and edit a ledger (anonymize --ledger FOLDER).", no_args_is_help=True
)
Folder = Annotated[Path, typer.Argument(help="The folder of the ledger.")]
KeyFile = Annotated[Path | None, typer.Option("--key-file", help=o.SHARED["key_file"][1])]


@o.command()
def show(folder: Folder) -> None:
    """List the releases of a ledger: dates, people, digests; no values."""
    from kanopy.linked.history.ledger import read_ledger

    existing = read_existing(folder, read_ledger)

    def shown(out: Any) -> None:
        rows = [
            (str(release_entry["release"]), release_entry["date"], str(release_entry["k"]),
            f"{release_entry['rows']:,}", f"{release_entry['present']:,}",
             f"{release_entry['suppressed_people']:,}", (release_entry["output_sha256"] or "")[:12])
            for release_entry in existing.to_dict()["releases"]
        ]  # fmt: skip
        out.print(grid((">release", "date", ">k", ">rows", ">people", ">not published", "digest of the table"), rows))
        if forgotten := existing.to_dict()["forgotten"]:
            out.print(f"{counted(forgotten, 'person')} forgotten: later releases leave them out.")

    emit(existing.to_dict(), shown)


def read_existing(folder: Path, read: Any, key: bytes | None = None) -> Any:
    """A ledger that exists."""
    from kanopy._errors import DataError

    read_result = read(folder, key)
    if not read_result.releases:
        raise DataError(f"There is no ledger in {str(folder)!r}. `kanopy anonymize … --ledger FOLDER` writes one.")
    return read_result


@o.command()
def check(folder: Folder, key_file: KeyFile = None) -> None:
    """Check that no line of a ledger is missing or changed, and count what its releases give away together."""
    from kanopy._table.pseudonyms import given_key
    from kanopy.linked.history.ledger import read_ledger
    from kanopy.linked.history.over_time import already_told

    existing = read_existing(folder, read_ledger, given_key(key_file))
    k = int(existing.releases[-1]["k"])
    people, below = already_told(existing, k)

    def shown(out: Any) -> None:
        out.print(
            f"[bold green]✓[/] The ledger is complete: {counted(len(existing.releases), 'release')}, no line is "
            "missing or changed."
        )
        out.print(
            f"{below:,} of {people:,} published people share their labels of all releases with fewer than k = {k:,} "
            "people."
        )

    emit({"whole": True, "releases": len(existing.releases), "people": people, "k": k, "people_below_k": below}, shown)


@o.command()
def forget(
    folder: Folder,
    values: Annotated[list[str], typer.Argument(help="The people to forget: values of the unit column.")],
    key_file: KeyFile = None,
) -> None:
    """Remove what a ledger knows of people. Later releases leave them out: nothing tells what is safe of them."""
    from kanopy._table.pseudonyms import read_key
    from kanopy.linked.history.ledger import forget as forget_people

    removed = forget_people(folder, values, read_key(key_file))
    emit(
        {"forgotten": removed},
        lambda out: out.print(f"{counted(removed, 'person')} forgotten. Later releases leave them out."),
    )


ledger.command("show")(show)
ledger.command("check")(check)
ledger.command("forget")(forget)
