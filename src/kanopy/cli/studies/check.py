"""`kanopy check`: how anonymous is a table as it stands, and do the models hold?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from kanopy._job.usage import STUDIED
from kanopy.cli import options as o
from kanopy.cli.console import STANDARD, counted, emit, note, of_units
from kanopy.cli.files import hierarchies_in, read_data


@o.command(
    "quasi", "k", "sensitive", "model", "every", "population", "sampling_weight", "household", "hierarchies", "unit",
    "known", "separator", "job", needs={"as_release": o.SKIPPED}, reads=STUDIED,
)  # fmt: skip
def check(
    data: o.Data,
    as_release: Annotated[
        bool,
        typer.Option(
            "--as-release",
            help="The table is a release of the job: do not apply the job's reading rules, such as skip-rows.",
        ),
    ] = False,
    layout: o.Form = None,
    beside: o.EarlierRelease = None,
    on: o.JoiningColumn = None,
    beside_quasi: o.EarlierQuasi = None,
    **given: Any,
) -> None:
    """How anonymous is a table as it stands? Exits with 1 if a model (or k) does not hold.

    With a job the table is read as `kanopy anonymize` reads it, and its k and models are asked.
    Manifests that lie in the folders of the two releases say what was promised and whether rows were shuffled.
    """
    from kanopy._errors import JobError
    from kanopy._progress import Clock
    from kanopy._table.sources import local_path
    from kanopy.release.manifest import find_manifest
    from kanopy.study.check import check as look
    from kanopy.study.subject import SURVEY, refuse_unused

    clock = Clock(())
    folder = given.pop("hierarchies")
    wanted = o.job_of(given)
    refuse_unused(wanted.models, [name for name in SURVEY if given[name] is not None])
    named = [name for model in wanted.models for name in (*model.sensitive, *model.quasi)]
    wanted = wanted.replaced(hierarchies={**wanted.hierarchies, **hierarchies_in(folder, named)})
    manifest_settings = about_both(data, beside, wanted.quasi, on) if beside else {}
    if own_quasi := manifest_settings.pop("quasi", None):
        wanted = wanted.replaced(quasi=own_quasi)
    if not wanted.quasi:
        raise JobError("Name the columns that an attacker may know (--quasi).")
    promised = manifest_settings.pop("k", None)
    asked = wanted.k if given["job"] is not None or wanted.says("k") else promised
    if beside_quasi:
        manifest_settings["beside_quasi"] = o.columns(beside_quasi)
    path = None if data == STANDARD else local_path(data)
    as_release = as_release or bool(beside) or (path is not None and find_manifest(path) is not None)
    if wanted.skip_rows and not as_release:
        what = "row" if wanted.skip_rows == 1 else f"{wanted.skip_rows:,} rows"
        note(
            f"The first {what} below the header was skipped, as the job says. To check a release of the job, add "
            "--as-release."
        )
    judged: dict[str, Any] = (
        {"job": wanted} if asked is not None else {n: getattr(wanted, n) for n in STUDIED if n != "k"}
    )
    checked = look(
        read_data(data, layout if as_release else layout.over(wanted)).frame, **judged, k=asked, as_release=as_release,
        beside=earlier_tables(beside, layout.of_others), **{"on": on, **manifest_settings},
    )  # fmt: skip

    def show(out: Any) -> None:

        verdict = "[bold green]✓[/]" if checked.k >= 2 and checked.holds else "[bold red]✗[/]"
        falls = "falls" if checked.rows == 1 else "fall"
        of_whom = "" if checked.units is None else f" of {checked.units:,} {checked.counted}"
        out.print(
            f"{verdict} {counted(checked.rows, 'row')}{of_whom} {falls} into "
            f"{counted(checked.classes, 'class')}; the "
            f"smallest has {of_units(checked.k, checked.counted)}."
        )
        unique_share = checked.unique_rows / (checked.units or checked.rows)
        alone = f"{of_units(checked.unique_rows, checked.counted)} ({unique_share:.2%})"
        out.print(
            f"{alone} unique, "
            f"{counted(checked.suppressed_rows, 'row') if checked.units is not None else checked.suppressed_rows} "
            f"suppressed. An average class has {checked.average_class:,.1f} {checked.counted}."
        )
        out.print(
            f"Risk of being singled out: at most {checked.highest_risk:.2%}, on average {checked.average_risk:.2%}."
        )
        rest = " of rows that are not suppressed" if checked.suppressed_rows else ""
        for name, numbers in checked.sensitive.items():
            distinct = numbers["distinct"]
            if distinct == 1:
                out.line(f"{name}: some classes{rest} have only one value: it is known of everybody in them.")
            else:
                out.line(f"{name}: every class{rest} has at least {distinct:,} different values.")
        for model_check in checked.models:
            _show_model(out, model_check, checked.counted)
        if checked.beside is not None:
            show_beside(out, checked.beside)

    emit({"k": asked, **checked.to_dict(), "seconds": clock.total()}, show)
    if not checked.holds:
        raise typer.Exit(1)


def show_beside(out: Any, both: Any) -> None:
    """Draw what two releases give away together."""

    how = {"row": "joined row by row, as if in the same order", "values": "shuffled: joined by what both publish"}.get(
        both.joined_by, f"joined by {both.joined_by}"
    )
    tables = both.counted != "rows"
    other = "the other release or table" if tables else "the earlier release"
    other = other if both.releases == 1 else f"{both.releases:,} other releases or tables"
    verdict_text = (
        f"Beside {other} ({how}): {of_units(both.rows, both.counted)}, {counted(both.classes, 'class')}; "
        f"the smallest has {of_units(both.smallest_class, both.counted)}."
    )
    out.verdict(both.holds, verdict_text)
    if both.narrowed:
        narrowed_columns = ", ".join(f"{name} in {counted(rows, 'row')}" for name, rows in both.narrowed.items())
        out.line(f"  Both together narrow the values of these columns: {narrowed_columns}.")
    if both.added or both.removed:
        few = f", {both.exposed_changes:,} of them with fewer than {both.k} alike" if both.exposed_changes else ""
        added = of_units(both.added, both.counted)
        apart = f"Since then {added} came and {both.removed:,} went"
        if tables:
            apart = f"In this one alone: {added}; in the other{'s' * (both.releases > 1)} alone: {both.removed:,}"
        out.line(f"  {apart}{few}.")
    if not both.holds:
        below = of_units(both.rows_below, both.counted)
        below += f" in {counted(both.classes_below, 'class')} of fewer than {both.k}"
        more = f"{both.unique_rows:,} unique together, {both.unique_alone:,} in one of them alone."
        todo = "Publish only one of the two, or make the new release with the job of the first."
        if tables:
            todo = "Publish linked tables by one job, and releases over time with a ledger."
        out.line(f"  {below}; {more} {todo}")


def earlier_tables(beside: Sequence[str] | None, layout: Any) -> Any:
    """The other releases or tables, read: one table, a list of several, or `None`."""
    tables = [read_data(earlier_table, layout).frame for earlier_table in beside or ()]
    return None if not tables else tables[0] if len(tables) == 1 else tables


def about_both(data: str, earlier: Sequence[str], quasi: Sequence[str], on: str | None) -> dict[str, Any]:
    """What the manifests of the releases say: quasi-identifiers, the k promised, keys, whether rows are in order."""
    from kanopy._errors import some
    from kanopy._table.sources import local_path
    from kanopy.release.manifest import find_manifest

    places = (None if table == STANDARD else local_path(table) for table in (data, *earlier))
    manifests = [(None if path is None else find_manifest(path)) or {} for path in places]
    own_beside, *others = (plain.get("beside_others", {}) for plain in manifests)
    if not own_beside and not any(others):
        return {}
    settings: dict[str, Any] = {
        "k": max(plain.get("job", {}).get("k", 1) for plain in manifests),
        "in_order": all(beside_entry.get("rows") != "shuffled" for beside_entry in (own_beside, *others)),
        "one_level": all(beside_entry.get("one_level") for beside_entry in (own_beside, *others)),
    }
    if all(other.get("quasi") for other in others):
        settings["beside_quasi"] = tuple(dict.fromkeys(name for other in others for name in other["quasi"]))
    if not quasi:
        settings["quasi"] = tuple(own_beside.get("quasi", ()))
    elif forgotten := [name for name in own_beside.get("quasi", ()) if name not in quasi]:
        note(f"The manifest of the release names {some(forgotten)} as quasi-identifiers too.")
    shared = [name for name in own_beside.get("keys", ()) if all(name in other.get("keys", ()) for other in others)]
    if on is None and len(shared) == 1:
        settings["on"] = shared[0]
    if on is not None or "on" in settings:  # a column joins them, whatever their order
        settings |= {"in_order": True, "one_level": False}
    elif settings["in_order"]:
        settings["one_level"] = False
    return settings


def _show_model(out: Any, model_check: Any, what: str) -> None:

    out.verdict(model_check.holds, f"{model_check.model}: {model_check.explanation}")
    if model_check.unguarded:
        names = ", ".join(model_check.unguarded)
        out.line(
            f"  Suppressed rows are published with their values of {names}, although there are too few of "
            "them or a model does not hold."
        )
    if not model_check.holds:
        classes, rows = counted(model_check.failing_classes, "class"), of_units(model_check.failing_rows, what)
        out.line(f"  {classes} with {rows} {'fails' if model_check.failing_classes == 1 else 'fail'}, among them:")
        for example in model_check.examples:
            out.line("    " + ", ".join(f"{name} {label}" for name, label in example.items()))
