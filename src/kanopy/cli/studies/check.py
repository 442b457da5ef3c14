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
        bool, typer.Option("--as-release", help="A release of the job: no rows are skipped, all is read as it stands.")
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
    known = about_both(data, beside, wanted.quasi, on) if beside else {}
    if own_quasi := known.pop("quasi", None):
        wanted = wanted.replaced(quasi=own_quasi)
    if not wanted.quasi:
        raise JobError("Name the columns that others may know (--quasi).")
    promised = known.pop("k", None)
    asked = wanted.k if given["job"] is not None or wanted.says("k") else promised
    if beside_quasi:
        known["beside_quasi"] = o.columns(beside_quasi)
    place = None if data == STANDARD else local_path(data)
    as_release = as_release or bool(beside) or (place is not None and find_manifest(place) is not None)
    if wanted.skip_rows and not as_release:
        what = "row" if wanted.skip_rows == 1 else f"{wanted.skip_rows:,} rows"
        note(f"The first {what} below the header was skipped, as the job says. For its release say --as-release.")
    judged: dict[str, Any] = (
        {"job": wanted} if asked is not None else {n: getattr(wanted, n) for n in STUDIED if n != "k"}
    )
    found = look(
        read_data(data, layout if as_release else layout.over(wanted)).frame, **judged, k=asked, as_release=as_release,
        beside=earlier_tables(beside, layout.of_others), **{"on": on, **known},
    )  # fmt: skip

    def show(out: Any) -> None:
        from rich.text import Text

        verdict = "[bold green]✓[/]" if found.k >= 2 and found.holds else "[bold red]✗[/]"
        falls = "falls" if found.rows == 1 else "fall"
        of_whom = "" if found.units is None else f" of {found.units:,} {found.counted}"
        out.print(
            f"{verdict} {counted(found.rows, 'row')}{of_whom} {falls} into {counted(found.classes, 'class')}; the "
            f"smallest has {of_units(found.k, found.counted)}."
        )
        alone = f"{of_units(found.unique_rows, found.counted)} ({found.unique_rows / (found.units or found.rows):.2%})"
        out.print(
            f"{alone} unique, "
            f"{counted(found.suppressed_rows, 'row') if found.units is not None else found.suppressed_rows} "
            f"suppressed. An average class has {found.average_class:,.1f} {found.counted}."
        )
        out.print(f"Risk of being singled out: at most {found.highest_risk:.2%}, on average {found.average_risk:.2%}.")
        for name, numbers in found.sensitive.items():
            out.print(Text(f"{name}: every class has at least {counted(numbers['distinct'], 'different value')}."))
        for each in found.models:
            _show_model(out, each, found.counted)
        if found.beside is not None:
            show_beside(out, found.beside)

    emit({"k": asked, **found.to_dict(), "seconds": clock.total()}, show)
    if not found.holds:
        raise typer.Exit(1)


def show_beside(out: Any, both: Any) -> None:
    """Draw what two releases give away together."""
    from rich.text import Text

    mark = Text("✓ ", style="bold green") if both.holds else Text("✗ ", style="bold red")
    how = {"row": "joined row by row, as if in the same order", "values": "shuffled: joined by what both publish"}.get(
        both.joined_by, f"joined by {both.joined_by}"
    )
    tables = both.counted != "rows"
    other = "the other release or table" if tables else "the earlier release"
    other = other if both.releases == 1 else f"{both.releases:,} other releases or tables"
    said = (
        f"Beside {other} ({how}): {of_units(both.rows, both.counted)}, {counted(both.classes, 'class')}; "
        f"the smallest has {of_units(both.smallest_class, both.counted)}."
    )
    out.print(mark.append(said, style="default"))
    if both.narrowed:
        told = ", ".join(f"{name} in {counted(rows, 'row')}" for name, rows in both.narrowed.items())
        out.print(Text(f"  Both together say more precisely than either: {told}."))
    if both.added or both.removed:
        few = f", {both.exposed_changes:,} of them with fewer than {both.k} alike" if both.exposed_changes else ""
        added = of_units(both.added, both.counted)
        apart = f"Since then {added} came and {both.removed:,} went"
        if tables:
            apart = f"In this one alone: {added}; in the other{'s' * (both.releases > 1)} alone: {both.removed:,}"
        out.print(Text(f"  {apart}{few}."))
    if not both.holds:
        below = of_units(both.rows_below, both.counted)
        below += f" in {counted(both.classes_below, 'class')} of fewer than {both.k}"
        more = f"{both.unique_rows:,} unique together, {both.unique_alone:,} in one of them alone."
        todo = "Publish one of the two, or make the new one with the same job as the first."
        if tables:
            todo = "Publish linked tables by one job, and releases over time with a ledger."
        out.print(Text(f"  {below}; {more} {todo}"))


def earlier_tables(beside: Sequence[str] | None, layout: Any) -> Any:
    """The other releases or tables, read: one table, a list of several, or `None`."""
    tables = [read_data(each, layout).frame for each in beside or ()]
    return None if not tables else tables[0] if len(tables) == 1 else tables


def about_both(data: str, earlier: Sequence[str], quasi: Sequence[str], on: str | None) -> dict[str, Any]:
    """What the manifests of the releases say: quasi-identifiers, the k promised, keys, whether rows are in order."""
    from kanopy._errors import some
    from kanopy._table.sources import local_path
    from kanopy.release.manifest import find_manifest

    places = (None if each == STANDARD else local_path(each) for each in (data, *earlier))
    found = [(None if place is None else find_manifest(place)) or {} for place in places]
    own, *others = (plain.get("beside_others", {}) for plain in found)
    if not own and not any(others):
        return {}
    said: dict[str, Any] = {
        "k": max(plain.get("job", {}).get("k", 1) for plain in found),
        "in_order": all(each.get("rows") != "shuffled" for each in (own, *others)),
        "one_level": all(each.get("one_level") for each in (own, *others)),
    }
    if all(each.get("quasi") for each in others):
        said["beside_quasi"] = tuple(dict.fromkeys(name for each in others for name in each["quasi"]))
    if not quasi:
        said["quasi"] = tuple(own.get("quasi", ()))
    elif forgotten := [name for name in own.get("quasi", ()) if name not in quasi]:
        note(f"The manifest of the release names {some(forgotten)} as quasi-identifiers too.")
    shared = [name for name in own.get("keys", ()) if all(name in each.get("keys", ()) for each in others)]
    if on is None and len(shared) == 1:
        said["on"] = shared[0]
    if on is not None or "on" in said:  # a column joins them, whatever their order
        said |= {"in_order": True, "one_level": False}
    elif said["in_order"]:
        said["one_level"] = False
    return said


def _show_model(out: Any, each: Any, what: str) -> None:
    from rich.text import Text

    mark = Text("✓ ", style="bold green") if each.holds else Text("✗ ", style="bold red")
    out.print(mark.append(f"{each.model}: {each.explanation}", style="default"))
    if each.unguarded:
        names = ", ".join(each.unguarded)
        out.print(Text(f"  Suppressed rows show their values of {names}: too few of them, or too much alike."))
    if not each.holds:
        classes, rows = counted(each.failing_classes, "class"), of_units(each.failing_rows, what)
        out.print(Text(f"  {classes} with {rows} {'fails' if each.failing_classes == 1 else 'fail'}, among them:"))
        for example in each.examples:
            out.print(Text("    " + ", ".join(f"{name} {label}" for name, label in example.items())))
