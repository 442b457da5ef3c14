"""Attacks and profiles in the app: fields only, the figures of `kanopy.attack`, and a section of the report."""

from __future__ import annotations

import json
import random
from pathlib import Path

import polars as pl
import pytest

import kanopy
from kanopy.app.controller import Controller
from tests.app.simulated import Hand, simulate

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'kanopy[app]'")


def people(file: Path, rows: int, seed: int) -> Path:
    """People with an illness that their pay tells something about."""
    draw = random.Random(seed)
    pay = [draw.randint(10, 90) for _ in range(rows)]
    pl.DataFrame({
        "age": [draw.randint(20, 69) for _ in range(rows)], "sex": [draw.choice("fm") for _ in range(rows)],
        "pay": pay, "ill": ["flu" if each < 50 else draw.choice(["cold", "none"]) for each in pay],
    }).write_csv(file)  # fmt: skip
    return file


def test_a_release_is_attacked_beside_a_control_group(tmp_path: Path) -> None:
    table, others = people(tmp_path / "people.csv", 400, 1), people(tmp_path / "others.csv", 200, 2)

    async def story(hand: Hand, controller: Controller) -> None:
        await controller.open(str(table))
        await controller.set_roles(["age", "sex"], "quasi-identifier")
        await controller.set_roles(["pay"], "insensitive")
        await controller.set_roles(["ill"], "sensitive")
        controller.set_job("optimal", algorithm="optimal", parameters={}, local=False, k=5, suppress=0.0)
        await hand.go("/attacks", "No release of this job was made yet")
        await controller.run("ann")
        await hand.go("/attacks", "This release was not attacked yet.")
        # People are held back: the job makes a release of the others.
        hand.fill("People held back", 30)
        hand.fill("Guesses per attack", 60)
        hand.fill("Train a guesser as well", False)
        hand.press("Run the attacks")
        await hand.see("Highest measured risk")
        kept = json.loads((controller.result_folder / "attacks.json").read_text("utf-8"))
        same = kanopy.attack(
            table, job=kanopy.Job.read(controller.project.job_file), control="30%", guesses=60, learn=False
        ).to_dict()
        assert [each["rate"] for each in kept["attacks"]] == [each["rate"] for each in same["attacks"]]
        assert kept["control_people"] == 120 and "What follows from the release being minimal" in hand.text()
        # Another table: the release itself is attacked.
        hand.fill("Control group", "table")
        hand.press("Run the attacks")
        await hand.until(lambda: "Name the table of other people" in "".join(hand.user.notify.messages))
        hand.fill("Path or address of the other table", str(others))
        hand.press("Run the attacks")
        await hand.until(
            lambda: json.loads((controller.result_folder / "attacks.json").read_text("utf-8"))["people"] == 400
        )
        kept = json.loads((controller.result_folder / "attacks.json").read_text("utf-8"))
        assert kept["control_people"] == 200 and kept["held_back"] == ""
        # Documents are of four formats, and the record says who measured what.
        await hand.until(lambda: hand.page.controller.underway is None)
        hand.press("PDF: Download the attacks as PDF")
        await hand.until(lambda: hand.user.download.http_responses)
        assert hand.user.download.http_responses[-1].content[:5] == b"%PDF-"
        events = [each["event"] for each in controller.record.events]
        assert events == ["release", "attack", "attack"]
        # The report has a section on them.
        await controller.report()
        page = (controller.result_folder / "report.html").read_text("utf-8")
        assert "Attacks beside a control group" in page and kept["verdict"].split(":")[0] in page

    simulate(tmp_path / "project", story)


def test_profiles_are_checked_with_fields(tmp_path: Path) -> None:
    table = people(tmp_path / "people.csv", 300, 1)

    async def story(hand: Hand, controller: Controller) -> None:
        await controller.open(str(table))
        await controller.set_roles(["age", "sex"], "quasi-identifier")
        await controller.set_roles(["pay"], "undecided")
        await controller.set_roles(["ill"], "sensitive")
        controller.set_job("optimal", algorithm="optimal", parameters={}, local=False, k=12, suppress=0.0)
        await controller.run("ann")
        await hand.go("/attacks", "What an authority asks for")
        await hand.until(lambda: hasattr(hand.page.profiles, "_known"))
        hand.fill("Profile", "gdpr-wp216")
        hand.press("Check")
        await hand.until(lambda: "choose 'Another table'" in "".join(hand.user.notify.messages))
        hand.fill("Profile", "cms-11")
        hand.press("Check")
        await hand.see("No cell of 1 to 10")
        folder = controller.result_folder
        found = json.loads((folder / "cms-11.json").read_text("utf-8"))
        assert {each["state"] for each in found["requirements"]} <= {"met", "not met", "for a person to judge"}
        assert all((folder / f"cms-11.{ending}").stat().st_size > 500 for ending in ("html", "pdf", "docx"))
        assert controller.record.events[-1]["event"] == "profile"

    simulate(tmp_path / "project", story)
