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
