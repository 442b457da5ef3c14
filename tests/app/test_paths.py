"""In a real browser, with fields only: three tables of different kinds from the upload to a signed release, and faults
that were mended. What is downloaded has the bytes that the command line writes."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.app.test_browser import facts, go, idle, role

SEED = 11


def survey() -> pl.DataFrame:
    """Households of a survey, with a sampling weight."""
    draw = random.Random(SEED)
    homes = [number for number in range(260) for _ in range(draw.randint(1, 4))]
    regions = [draw.choice(["north", "south", "east", "west"]) for _ in range(260)]
    return pl.DataFrame({
        "household_id": homes, "region": [regions[home] for home in homes],
        "sex": [draw.choice(["f", "m"]) for _ in homes], "age": [draw.randint(18, 80) for _ in homes],
        "health": [draw.choice(["good", "fair", "poor"]) for _ in homes],
        "sample_weight": [draw.randint(50, 400) for _ in homes],
    })  # fmt: skip


def visits() -> pl.DataFrame:
    """Several visits of each patient."""
    draw = random.Random(SEED)
    patients = [number for number in range(220) for _ in range(draw.randint(1, 3))]
    sexes = [draw.choice(["f", "m"]) for _ in range(220)]
    born = [draw.randint(1940, 1999) for _ in range(220)]
    return pl.DataFrame({
        "patient_id": [f"P{number:04d}" for number in patients], "sex": [sexes[number] for number in patients],
        "born": [born[number] for number in patients], "ward": [draw.choice(["A", "B", "C"]) for _ in patients],
        "day": [f"2024-0{draw.randint(1, 9)}-{draw.randint(1, 28):02d}" for _ in patients],
        "result": [draw.choice(["pos", "neg"]) for _ in patients],
    })  # fmt: skip


def wide() -> pl.DataFrame:
    """A person per row, with 797 answers."""
    draw = random.Random(SEED)
    people = {"age": [draw.randint(20, 70) for _ in range(150)], "sex": [draw.choice(["f", "m"]) for _ in range(150)],
              "town": [draw.choice(["Ulm", "Bonn", "Jena"]) for _ in range(150)]}  # fmt: skip
    return pl.DataFrame(people | {f"q{n:03d}": [draw.randint(1, 5) for _ in range(150)] for n in range(797)})


def sign(page: Any) -> None:
    """Accept every warning with a reason, and sign."""
    go(page, "Review")
    accept = page.get_by_role("button", name=re.compile("^Accept …"))
    page.get_by_text("Promises, each checked").wait_for()
    while left := accept.count():
        accept.first.click()
        page.get_by_label("Why it is acceptable").fill("agreed with the data owner")
        page.get_by_role("button", name="Accept", exact=True).click()
        page.wait_for_function("left => document.querySelectorAll('.warning:not(.answered)').length < left", arg=left)
        page.wait_for_timeout(200)
    page.wait_for_function("() => !document.querySelector('.q-dialog')")  # a closing one has a name of its own
    page.get_by_label("Your name").fill("Cid")
    page.get_by_role("button", name="Sign", exact=True).click()
    page.get_by_text(re.compile("^Cid, 20")).wait_for()


def taken_home(page: Any, server: Any, source: Path, folder: Path) -> tuple[bytes, bytes]:
    """The release as it is downloaded, and as the command line writes it from the downloaded job."""
    go(page, "Download")
    with page.expect_download() as waiting:
        page.get_by_role("button", name=re.compile("^Download: Download release")).click()
    release, again = folder / "release.csv", folder / "again.csv"
    waiting.value.save_as(release)
    command = [sys.executable, "-m", "kanopy", "anonymize", str(source), "--job", str(server.folder / "job.toml")]
    subprocess.run([*command, "-o", str(again)], check=True, capture_output=True)
    return release.read_bytes(), again.read_bytes()


PATHS: Mapping[str, tuple[Callable[[], pl.DataFrame], dict[str, str], str]] = {
    "survey": (
        survey, {"household_id": "Household", "sample_weight": "Weight", "region": "Quasi", "sex": "Quasi",
                 "age": "Quasi", "health": "Sensitive"}, "l-distinct",
    ),
    "visits": (
        visits, {"patient_id": "Unit", "sex": "Quasi", "born": "Quasi", "ward": "Insensitive", "day": "Withheld",
                 "result": "Sensitive"}, "",
    ),
    "wide": (wide, {"age": "Quasi", "sex": "Quasi", "town": "Quasi"}, ""),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", PATHS)
def test_the_whole_path_with_fields_only(
    name: str, serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path
) -> None:
    make, roles, model = PATHS[name]
    source = tmp_path / f"{name}.csv"
    table = make()
    table.write_csv(source)
    server = serve()
    with session(server.address) as page:
        page.locator("input[type=file]").first.set_input_files(source)
        page.locator(".column-line .kchoice").first.wait_for(timeout=300_000)
        assert f"{table.height:,}" in page.locator(".tiles").first.inner_text()
        if name == "wide":
            # The list of columns is one stop of the keyboard, and holds a part of them at a time.
            assert page.locator(".column-line .kchoice").count() <= 40
            assert stops(page) <= 40
            page.get_by_label("Find a column").fill("q")
            page.get_by_label("All of these are …").click()
            page.get_by_role("option", name="Withheld", exact=True).click()
            withheld = (
                "document.querySelector('[aria-label=\"Role of q000\"] [aria-pressed=true]').innerText === 'Withheld'"
            )
            page.wait_for_function(withheld)
        for column, wanted in roles.items():
            if name == "wide":
                page.get_by_label("Find a column").fill(column)
                page.get_by_label("Role of q000").wait_for(state="hidden")
            button = page.get_by_label(f"Role of {column}", exact=True).get_by_role("button", name=wanted, exact=True)
            if button.get_attribute("aria-pressed") != "true":
                role(page, column, wanted)
        go(page, "Hierarchies")
        page.locator(".knode").nth(2).wait_for()
        go(page, "Release")
        page.get_by_label("k", exact=True).fill("3")
        page.get_by_label("k", exact=True).press("Tab")
        page.wait_for_function("document.querySelector('.bar').innerText.includes('k = 3')")
        page.get_by_label("suppress", exact=True).fill("20")
        page.get_by_label("suppress", exact=True).press("Tab")
        if model:
            page.get_by_role("button", name="Add a model").click()
            page.get_by_label("Find a model").fill(model)
            page.get_by_label(f"Model {model}", exact=True).click()
            page.get_by_label("Column", exact=True).click()
            page.get_by_role("option", name="health", exact=True).click()
            page.get_by_label("L", exact=True).fill("2")
            page.get_by_role("button", name="Add", exact=True).click()
            page.locator(".model").get_by_text(model).wait_for()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("Promises, each checked by code of its own").wait_for(timeout=120_000)
        page.get_by_text("What it does").wait_for(timeout=120_000)
        sign(page)
        shown, written = taken_home(page, server, source, tmp_path)
        assert shown == written
        assert not page.wrong, page.wrong
    checked = subprocess.run([sys.executable, "-m", "kanopy", "record", str(server.folder)], capture_output=True)
    assert checked.returncode == 0, checked.stderr
    assert "Traceback" not in server.stop()


def stops(page: Any) -> int:
    """How many elements the Tab key stops at."""
    return int(page.evaluate(
        "[...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')].filter(e => "
        "e.tabIndex >= 0 && !e.disabled && e.getClientRects().length && getComputedStyle(e).visibility !== 'hidden')"
        ".length"
    ))  # fmt: skip


@pytest.mark.slow
def test_faults_of_the_first_edition_stay_mended(
    serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path
) -> None:
    broken = tmp_path / "broken.csv"
    broken.write_text('a,b\n1,"two\n' + "3,4\n" * 50_000)
    server = serve()
    with session(server.address) as page:
        page.locator("input[type=file]").first.set_input_files(broken)
        page.get_by_text("has a quote in line 2 that is never closed").wait_for(timeout=60_000)
        assert not list((server.folder / "data").iterdir())
        page.reload()
        page.get_by_role("button", name="Open the example").click()
        page.get_by_label("Role of fnlwgt").wait_for(timeout=60_000)
        for column in ("education-num", "relationship", "hours-per-week", "native-country", "occupation", "workclass"):
            role(page, column, "Undecided")
        # The preview of `best` is a quick look; when the release is made, its figures stand there, and both are told.
        go(page, "Release")
        page.get_by_text("a quick look with").wait_for(timeout=60_000)
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("Promises, each checked by code of its own").wait_for(timeout=120_000)
        page.get_by_text("struck out is the quick look with").wait_for()
        loss = page.locator(".small-tiles .number").first.inner_text()
        assert loss == page.locator(".tiles:not(.small-tiles) .number.big").first.inner_text()
        assert page.locator(".small-tiles .shadow").first.inner_text() != loss

        # `in use` stands beside the hierarchy that is in use, and moves with it.
        go(page, "Hierarchies")
        uses = page.get_by_role("button", name=re.compile("^Use: Use"))
        uses.nth(1).wait_for(timeout=60_000)
        uses.nth(1).click()
        mark = page.locator(".offers .line").nth(2).get_by_text("in use")
        mark.wait_for()
        assert page.locator(".offers").first.get_by_text("in use").locator("visible=true").count() == 1
        page.locator("body").press("Control+z")
        mark.wait_for(state="hidden")

        # What is typed and judged on Explore stays when a plan is saved and when another window changes something.
        go(page, "Explore")
        page.get_by_label("k", exact=True).fill("2, abc")
        page.get_by_role("button", name="Explore", exact=True).click()
        page.get_by_text("k is a whole number from 2 on").wait_for()
        page.get_by_label("k", exact=True).fill("3, 7")
        page.get_by_role("button", name="Judge all candidates").click()
        idle(page)
        page.get_by_text("candidates judged").wait_for(timeout=60_000)
        page.get_by_label("Name", exact=True).fill("first plan")
        page.get_by_role("button", name="Save the present job").click()
        page.get_by_text("first plan").wait_for()
        assert page.get_by_text("candidates judged").is_visible()
        assert page.get_by_label("k", exact=True).input_value() == "3, 7"
        page.locator(".kpoint.own").first.wait_for(state="attached")
        with session(server.address) as other:
            role(other, "race", "Undecided")
            page.wait_for_function("document.querySelector('.bar').innerText.includes('4 quasi-identifiers')")
            page.wait_for_timeout(500)
            assert page.get_by_label("k", exact=True).input_value() == "3, 7", "half-typed text stays"
            # A household without a weight is no error, and what the picker shows is what the job says.
            role(other, "fnlwgt", "Household")
            role(other, "fnlwgt", "Weight")
            assert 'household = "fnlwgt"' not in (server.folder / "job.toml").read_text("utf-8")
        assert "4 quasi-identifiers" in facts(page)
        assert not page.wrong, page.wrong
    assert "Traceback" not in server.stop()
