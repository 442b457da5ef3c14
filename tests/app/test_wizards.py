"""Methods, classifications and treatments by fields: what is shown is drawn before it is used."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kanopy.app.controller import Controller
from tests.app.simulated import Hand, simulate

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'kanopy[app]'")

COUNTRIES = ("DEU", "FRA", "ITA", "POL", "JPN", "CHN", "KEN", "EGY")


def table(file: Path) -> Path:
    """People with ages, countries and pay."""
    pl.DataFrame({
        "age": [20 + i * 7 % 50 for i in range(200)], "country": [COUNTRIES[i * 5 % 8] for i in range(200)],
        "pay": [1000 + 37 * i for i in range(200)],
    }).write_csv(file)  # fmt: skip
    return file


async def opened(controller: Controller, file: Path) -> None:
    """The table is open, with two quasi-identifiers."""
    await controller.open(str(file))
    await controller.set_roles(["age", "country"], "quasi-identifier")
    await controller.set_roles(["pay"], "insensitive")
    controller.set_job("optimal", algorithm="optimal", parameters={}, local=False, suppress=0.0)


@pytest.mark.slow
def test_a_hierarchy_is_made_by_fields_and_seen_before_it_is_used(tmp_path: Path) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await opened(controller, table(tmp_path / "people.csv"))
        await hand.go("/hierarchies", "Make another hierarchy")
        await hand.until(lambda: hasattr(hand.page.wizard, "_method"))
        before = controller.project.work.job.hierarchies["age"]
        hand.fill("Method", "widths")
        await hand.see("Intervals of round widths")
        hand.fill("Widths, each with Enter", ["20", "40"])
        await hand.see("Not in use yet: Steps of fixed widths")
        await hand.until(lambda: any("[20, 39]" in str(each.get("label")) for each in hand.page._drawn["nodes"]))
        assert controller.project.work.job.hierarchies["age"] == before
        hand.fill("Widths, each with Enter", ["20", "30"])
        await hand.until(lambda: hand.page.wizard._state.text != "", "a width that does not divide is said")
        hand.fill("Widths, each with Enter", ["10", "50"])
        await hand.until(lambda: any("[20, 29]" in str(each.get("label")) for each in hand.page._drawn["nodes"]))
        hand.press("Use this hierarchy")
        await hand.until(lambda: controller.project.work.job.hierarchies["age"] != before)
        assert controller.project.undoable == "age: Steps of fixed widths"
        # An official classification is searched, looked at, and chosen.
        hand.page._choose_column("country")
        await hand.until(lambda: hasattr(hand.page.wizard, "_known"))
        hand.fill("Method", "classification")
        await hand.see("countries · Countries in regions of the United Nations")
        hand.fill("Find a classification, a code or a label", "cholera")
        hand.trigger(hand.named("Find a classification, a code or a label"), "change")
        await hand.see("Found: A00 Cholera")
        hand.fill("Find a classification, a code or a label", "countries")
        hand.trigger(hand.named("Find a classification, a code or a label"), "change")
        await hand.until(lambda: "A00" not in hand.text())
        hand.press("Look: Look at countries")
        await hand.see("Antarctica")
        hand.press("Choose: Choose countries")
        await hand.see("Not in use yet: Official classification")
        hand.press("Use this hierarchy")
        await hand.until(lambda: "Europe" in controller.project.hierarchy("country").labels_at(2))
        # A flat list is where groups by hand begin.
        hand.press("Start from a flat list: All values below *: choose values in the tree and merge them into groups")
        await hand.until(lambda: controller.project.hierarchy("country").height == 1)

    simulate(tmp_path / "project", story)


def test_a_column_is_treated_by_fields_with_the_sentence_they_make(tmp_path: Path) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await opened(controller, table(tmp_path / "people.csv"))
        await hand.go("/", "No column is treated")
        hand.press("Treat a column")
        await hand.see("Treat it")
        hand.fill("Column", "pay")
        hand.press("Treatment round")
        await hand.see("Fill in the fields.")
        hand.fill("Base", 0)
        await hand.see("a number above 0")
        hand.fill("Base", 500)
        await hand.see("Publishes multiples of a base (base: 500)")
        hand.press("Treat it")
        await hand.until(lambda: "pay" in controller.project.work.job.protect)
        await hand.see("pay: round")
        found = await controller.run("ann")
        released = pl.read_csv(controller.result_folder / found["file"])
        assert set(released["pay"].to_list()) <= {500 * i for i in range(40)}
        hand.press("Change: Change the treatment of pay")
        await hand.see("Treatment of pay")
        assert hand.named("Base").value == 500
        hand.press("Publish pay without a treatment")
        await hand.until(lambda: not controller.project.work.job.protect)

    simulate(tmp_path / "project", story)


def test_columns_are_a_queue_and_rows_are_filtered_and_sorted(tmp_path: Path) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await opened(controller, table(tmp_path / "people.csv"))
        await hand.go("/", "1–20 of 200")
        hand.fill("Role", "insensitive")
        await hand.until(lambda: list(hand.page._shown) == ["pay"])
        hand.fill("Role", "")
        hand.fill("Role of pay", "weight")
        await hand.until(lambda: controller.project.work.job.sampling_weight == "pay")
        assert hand.page._role("pay") == "weight"
        hand.fill("Role of pay", "insensitive")
        await hand.until(lambda: controller.project.work.job.sampling_weight is None)
        hand.fill("Filter by", "age")
        hand.fill("Comparison", ">")
        hand.fill("Value", "60")
        hand.trigger(hand.named("Value"), "change")
        await hand.until(lambda: all(int(row[1]) > 60 for row in hand.page._grid.rows))
        hand.fill("Sort by", "pay")
        hand.fill("descending", True)
        await hand.until(lambda: int(hand.page._grid.rows[0][3]) > 8000)

    simulate(tmp_path / "project", story)


def test_a_table_is_prepared_and_read_with_other_settings(tmp_path: Path) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await opened(controller, table(tmp_path / "people.csv"))
        await hand.go("/", "1–20 of 200")
        hand.press("Prepare …: Choose rows, draw a sample, replace values, change types, join a table")
        await hand.see("Make this table")
        hand.fill("Column", "country")
        hand.fill("Value", "JPN")
        hand.press("Look")
        await hand.see("rows with country = JPN: 25 of 200. 25 rows.")
        hand.press("Make this table")
        await hand.see("1–20 of 25")
        assert controller.project.work.job.roles["age"] == "quasi-identifier", "the job stays"
        await hand.until(lambda: controller.record.events)
        assert controller.record.events[-1]["words"].endswith("rows with country = JPN: 25 of 200")
        controller.project.undo()
        await hand.see("1–20 of 200")
        # Another separator makes one column of it; the preview says so before it is read.
        hand.press("How it is read …: Separator, encoding, header row, sheet, missing codes")
        await hand.see("Read it so")
        await hand.see("200 rows, 3 columns.")
        hand.fill("Separator", ";")
        await hand.see("200 rows, 1 columns.")
        hand.fill("Separator", ",")
        hand.fill("Codes that mean missing, each with Enter", ["DEU"])
        await hand.see("200 rows, 3 columns.")
        hand.press("Read it so")
        await hand.until(lambda: controller.project.work.job.missing_tokens == ("DEU",))
        assert controller.project.work.job.delimiter == ","

    simulate(tmp_path / "project", story)


def test_columns_and_risks_are_compared(tmp_path: Path) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await opened(controller, table(tmp_path / "people.csv"))
        await controller.set_roles(["pay"], "undecided")
        await controller.run("ann")
        await hand.go("/risk", "Columns before and after")
        await hand.see("different")
        hand.fill("Together with", "country")
        await hand.until(lambda: any("mosaic" in str(each.props.get("aria-label")) for each in hand.elements()))
        hand.fill("People in the population", 20_000)
        hand.press("Estimate")
        await hand.see("Estimated by the model of")
        hand.press("List them")
        await hand.see("combinations of fewer than 5 rows")

    simulate(tmp_path / "project", story)


def test_the_way_says_what_is_missing_and_projects_and_jobs_travel(tmp_path: Path) -> None:
    import io
    import zipfile

    from kanopy._errors import DataError
    from kanopy.app.packing import pack_project
    from kanopy.app.project import Project
    from kanopy.app.stages import stages

    packed = tmp_path / "people.kanopy"

    async def story(hand: Hand, controller: Controller) -> None:
        await opened(controller, table(tmp_path / "people.csv"))
        await controller.set_roles(["pay"], "undecided")
        await hand.go("/", "1 undecided")
        assert hand.windows[-1].onward.text == "Next: Release"
        await controller.set_roles(["pay"], "insensitive")
        await hand.see("all decided")
        await controller.run("ann")
        await hand.see("verified")
        assert {each.path: each.words for each in stages(controller)}["/review"].endswith("open")
        # The job of another project, with its hierarchies, on the same table.
        job = controller.project.work.job
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as files:
            files.write(controller.project.job_file, "job.toml")
            for given in job.hierarchies.values():
                files.write(controller.project.folder / str(given), str(given))
        controller.set_job("k = 9", k=9)
        await controller.use_job("job.zip", archive.getvalue())
        assert controller.project.work.job == job
        with pytest.raises(Exception, match="no archive of a job"):
            await controller.use_job("job.zip", b"nothing")
        packed.write_bytes(pack_project(controller.project.folder))

    simulate(tmp_path / "project", story)
    other = Project(tmp_path / "other")
    other.unpack(packed)
    assert other.work.job.roles["pay"] == "insensitive" and other.undoable
    with pytest.raises(DataError, match="holds work"):
        other.unpack(packed)
    other.close()
    empty = Project(tmp_path / "empty")
    strange = io.BytesIO()
    with zipfile.ZipFile(strange, "w") as files:
        files.writestr("../key", "x")
    for content, words in ((b"nothing", "no project file"), (strange.getvalue(), "no project file")):
        with pytest.raises(DataError, match=words):
            packed.write_bytes(content)
            empty.unpack(packed)
    assert not empty.work.source
    empty.close()


def test_releases_are_downloaded_in_other_formats(tmp_path: Path) -> None:
    from kanopy.app.tasks.releases import converted
    from kanopy.app.tasks.worker_state import WorkerState

    table(tmp_path / "release.csv")
    for ending in (".tsv", ".parquet", ".xlsx", ".arrow", ".dta", ".sav"):
        content = converted(WorkerState(), lambda step: True, folder=str(tmp_path), file="release.csv", ending=ending)
        assert len(content) > 500, ending
