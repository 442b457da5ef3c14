"""A real browser goes the whole way: from a table to a release that the command line writes byte for byte."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import kanopy

PICTURES = Path(__file__).parents[2] / "docs" / "images"
"""Where the pictures of the documentation lie; `KANOPY_PICTURES=1` has this test take them anew."""
HEAVIEST = 5_000_000


def snapshot(page: Any, name: str, folder: Path) -> None:
    """A picture of the window as it is."""
    page.mouse.move(640, 60)
    page.evaluate("window.scrollTo(0, 0); document.activeElement.blur()")
    page.evaluate(  # no picture shows the folders of the machine it was taken on
        """() => { const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walk.nextNode()) walk.currentNode.data =
          walk.currentNode.data.replace(/\\/[\\w./-]*\\/(?=[\\w.-])/g, ""); }"""
    )
    page.add_style_tag(content=".q-notifications, .tip { display: none }")
    page.wait_for_timeout(400)
    place = (PICTURES if os.environ.get("KANOPY_PICTURES") else folder) / f"app-{name}.png"
    page.screenshot(path=place)
    assert place.stat().st_size > 10_000


def idle(page: Any) -> None:
    """Wait until nothing is under way any more."""
    page.wait_for_timeout(400)
    page.locator(".underway").wait_for(state="hidden", timeout=120_000)


def go(page: Any, place: str) -> None:
    """Go to a place by its link."""
    page.get_by_role("navigation").get_by_role("link", name=place, exact=True).click()
    page.get_by_role("heading", level=1, name=place, exact=True).wait_for()


def role(page: Any, column: str, name: str) -> None:
    """Give a column a role by a click."""
    button = page.get_by_label(f"Role of {column}", exact=True).get_by_role("button", name=name, exact=True)
    button.click()
    page.wait_for_function(
        "([label, name]) => [...document.querySelectorAll(`[aria-label='${label}'] [aria-pressed=true]`)]"
        ".some((each) => each.innerText.trim() === name)",
        arg=[f"Role of {column}", name],
    )
    page.wait_for_timeout(150)


def facts(page: Any) -> str:
    """What the bar on top says of the job."""
    return str(page.locator(".bar").inner_text())


def test_the_whole_path(serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path) -> None:
    server = serve()
    with session(server.address) as page:
        # Open the example.
        page.get_by_role("button", name="Open the example").click()
        page.get_by_label("Role of fnlwgt").wait_for(timeout=60_000)
        first = page.locator(".column-line .name").first
        assert first.inner_text() == "age", "the order of the table, where nothing is undecided"
        assert "48,842" in page.locator(".tiles").first.inner_text()
        snapshot(page, "data", tmp_path)
        # Roles.
        for column in ("education-num", "relationship", "hours-per-week", "native-country", "occupation"):
            role(page, column, "Undecided")
        assert "6 quasi-identifiers" in facts(page)
        go(page, "Hierarchies")
        go(page, "Data")
        page.get_by_label("Role of education-num").wait_for(timeout=60_000)
        assert first.inner_text() == "education-num", "undecided columns come first"

        # A hierarchy is changed by hand, undone with the keyboard, done again.
        go(page, "Hierarchies")
        page.get_by_role("button", name="education", exact=True).click()
        page.get_by_role("treeitem", name=re.compile("^Diploma")).click()
        page.get_by_label("Label", exact=True).fill("Some diploma")
        page.get_by_role("button", name="Rename").click()
        page.get_by_role("treeitem", name=re.compile("^Some diploma")).wait_for()
        page.locator("body").press("Control+z")
        page.get_by_role("treeitem", name=re.compile("^Diploma")).wait_for()
        page.locator("body").press("Control+Shift+z")
        page.get_by_role("treeitem", name=re.compile("^Some diploma")).wait_for()
        # Moved by dragging: a group of the third level under another one of the second.
        group, target = (
            page.get_by_role("treeitem", name=re.compile(f"^{name}")) for name in ("Primary school", "Some diploma")
        )
        start, end = group.bounding_box(), target.bounding_box()
        page.mouse.move(start["x"] + 40, start["y"] + 10)
        page.mouse.down()
        page.mouse.move(start["x"] + 10, start["y"] + 4, steps=3)
        page.mouse.move(end["x"] + 50, end["y"] + 10, steps=6)
        page.mouse.up()
        page.get_by_role(
            "button", name=re.compile("^Undo education: Primary school moves under Some diploma")
        ).wait_for()
        page.get_by_role("button", name=re.compile("^Undo education: Primary school")).click()
        page.get_by_role("button", name=re.compile("^Undo education: Diploma is called")).wait_for()
        page.get_by_role("treeitem", name=re.compile("^No diploma, 6,408")).wait_for()
        page.get_by_text("A quick look with").wait_for()
        page.get_by_role("button", name="Use round").or_(
            page.get_by_role("button", name="Use frequency")
        ).first.wait_for()
        snapshot(page, "hierarchies", tmp_path)

        # k = 10, with the keyboard on the slider; the loss follows.
        go(page, "Release")
        page.get_by_label("Algorithm").click()
        page.get_by_role("option", name="optimal", exact=True).click()
        page.get_by_text("exactly what optimal will find").wait_for()
        loss = page.locator(".small-tiles .number").first
        before = loss.inner_text()
        for _ in range(5):  # faster than any server answers
            page.get_by_role("slider", name="k (slider)", exact=True).locator("[tabindex='0']").press(
                "ArrowRight", delay=5
            )
        page.wait_for_function("document.querySelector('.bar').innerText.includes('k = 10')")
        page.wait_for_function(
            "before => document.querySelector('.small-tiles .number').innerText !== before", arg=before
        )
        # Run, and see the verified result; the look before was the result.
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("Verified.").wait_for(timeout=120_000)
        page.wait_for_function(
            "document.querySelector('.small-tiles .number').innerText === "
            "document.querySelector('.tiles:not(.small-tiles) .number.big').innerText"
        )
        page.get_by_text("The same rows, original and published").wait_for()
        page.locator(".grid .changed").first.wait_for()
        snapshot(page, "release", tmp_path)
        page.get_by_role("button", name="Run", exact=True).scroll_into_view_if_needed()

        # A reload in the middle, and a second window that sees what the first one does.
        page.reload()
        page.get_by_text("Verified.").wait_for()
        with session(server.address) as other:
            other.get_by_label("Role of age").wait_for()
            assert "k = 10" in facts(other)
            role(other, "race", "Undecided")
            page.wait_for_function("document.querySelector('.bar').innerText.includes('5 quasi-identifiers')")
            page.get_by_role("button", name="Undo race is undecided").click()
            other.wait_for_function("document.querySelector('.bar').innerText.includes('6 quasi-identifiers')")
            assert not other.wrong

        # The map, and the rows that stand out.
        go(page, "Explore")
        page.get_by_label("k", exact=True).fill("2, 5, 10")
        page.get_by_label("Suppression limits").fill("0%, 2%")
        page.get_by_role("button", name="Explore", exact=True).click()
        idle(page)
        page.locator(".kpoint").nth(5).wait_for(state="attached")
        page.locator(".kpoint.best").last.dispatch_event("click")
        page.get_by_role("button", name="Make this release").wait_for()
        page.get_by_role("button", name="Judge all candidates").click()
        idle(page)
        page.get_by_text("candidates judged").wait_for()
        snapshot(page, "explore", tmp_path)
        go(page, "Risk and utility")
        page.get_by_text("Which columns make rows rare").wait_for(timeout=60_000)
        assert page.locator("tbody tr").count() >= 10
        snapshot(page, "risk", tmp_path)

        # Take it home: the file is what the command line writes, and passes `kanopy check`.
        go(page, "Download")
        with page.expect_download() as waiting:
            page.get_by_role("button", name="Download: Download release.parquet").click()
        release = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(release)
        assert "kanopy anonymize" in page.locator(".code").first.inner_text()
        snapshot(page, "download", tmp_path)
        source = str(kanopy.datasets.path("adult.parquet"))
        again = tmp_path / "again.parquet"
        job = server.folder / "job.toml"
        command = [sys.executable, "-m", "kanopy", "anonymize", source, "--job", str(job), "-o", str(again)]
        subprocess.run(command, check=True, capture_output=True)
        assert again.read_bytes() == release.read_bytes()
        quasi = list(kanopy.Job.read(job).quasi)
        assert kanopy.check(kanopy.read_table(release), quasi=quasi).k >= 10

        # Nothing was asked of another host, nothing went wrong, and the page is light.
        assert all(url.startswith((server.address.split("?")[0], "data:", "blob:")) for url in page.asked)
        assert not page.wrong
        weighed = page.evaluate(
            "performance.getEntriesByType('resource').reduce((sum, e) => sum + e.encodedBodySize, 0)"
        )
        assert 100_000 < weighed < HEAVIEST
    complaints = server.stop()
    assert "Traceback" not in complaints, complaints


HOSTILE = "<script>window.hurt = 1</script>"
IMAGE = "<img src=x onerror='window.hurt = 1'>"
FORMULA = "=cmd|' /C calc'!A0"


@pytest.mark.slow
def test_hostile_values_names_and_files_stay_texts(
    serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path
) -> None:
    import polars as pl

    words = [HOSTILE, IMAGE, "{{ window.hurt = 1 }}", "${window.hurt = 1}", "`; window.hurt = 1; `", "x" * 5000]
    table = pl.DataFrame({
        "age": [str(20 + i % 40) for i in range(120)], f"town {HOSTILE}": [words[i % 6] for i in range(120)],
        IMAGE: [FORMULA if i % 2 else "b" for i in range(120)],
    })  # fmt: skip
    bad = tmp_path / "<img src=x onerror=window.hurt=1>.csv"
    table.write_csv(bad)
    wrong = tmp_path / "wrong.parquet"
    wrong.write_bytes(b"this is no parquet file")
    server = serve()
    with session(server.address) as page:
        page.locator("input[type=file]").first.set_input_files(wrong)
        page.get_by_text("cannot be read as Parquet").wait_for()
        page.reload()
        page.get_by_role("button", name="Open the example").wait_for()
        page.locator("input[type=file]").first.set_input_files(bad)
        page.get_by_label("Role of age").wait_for(timeout=60_000)
        role(page, "age", "Quasi")
        page.locator(".kchoice").filter(has=page.get_by_role("button", name="Quasi")).nth(1).wait_for()
        for column in (f"town {HOSTILE}", IMAGE):
            line = page.locator(".column-line").filter(has=page.locator(".name", has_text=column))
            line.get_by_role("button", name="Quasi").click()
            page.wait_for_timeout(600)
        assert "3 quasi-identifiers" in facts(page)
        for place in ("Hierarchies", "Release", "Explore", "Risk and utility", "Download"):
            go(page, place)
            page.wait_for_timeout(900)
        go(page, "Hierarchies")
        page.get_by_role("button", name=f"town {HOSTILE}").click()
        page.locator(".knode").nth(3).wait_for()
        go(page, "Release")
        page.get_by_role("checkbox", name="Neutralise spreadsheet formulas").click()
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("Verified.").or_(page.get_by_text("would have to be suppressed")).first.wait_for(
            timeout=120_000
        )
        for tab in ("Classes", "Mapping", "Pictures"):
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(500)
        assert page.evaluate("window.hurt") is None
        assert not page.wrong
    kept = [path.name for path in (server.folder / "data").iterdir()]
    assert kept and all(re.fullmatch(r"[\w.-]+", name) for name in kept)
    written = next((server.folder / "results").glob("*/release.csv")).read_text("utf-8")
    assert FORMULA not in written.replace("'" + FORMULA, "")
    assert "Traceback" not in server.stop()


@pytest.mark.slow
def test_what_is_cancelled_or_killed_leaves_the_work_as_it_was(
    serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path
) -> None:
    server = serve()
    with session(server.address) as page:
        page.get_by_role("button", name="Open the example").click()
        page.get_by_label("Role of fnlwgt").wait_for(timeout=60_000)
        go(page, "Release")
        page.get_by_role("button", name="Run", exact=True).click()  # `best` on eleven columns: many seconds
        page.get_by_text("Making the release").wait_for()
        # Long work does not keep the page: another place opens meanwhile.
        begun = time.monotonic()
        go(page, "Data")
        assert time.monotonic() - begun < 5
        page.get_by_role("button", name="Cancel").click()
        page.get_by_text("Stopped.").first.wait_for(timeout=20_000)
        assert not list((server.folder / "results").glob("*/release*"))
        role(page, "sex", "Sensitive")
        # The server is killed and started again: the open page finds it, and nothing is lost.
        server.kill()
        again = serve("--port", str(server.port))
        # The same place, behind a new key.
        assert again.address != server.address
        assert again.address.partition("?")[0] == server.address.partition("?")[0]
        page.wait_for_timeout(1000)
        page.goto(again.address)
        page.get_by_label("Role of sex").wait_for(timeout=60_000)
        assert "10 quasi-identifiers" in facts(page)
        page.get_by_role("button", name="Undo sex is sensitive").click()
        page.wait_for_function("document.querySelector('.bar').innerText.includes('11 quasi-identifiers')")
    assert "Traceback" not in again.stop()


@pytest.mark.slow
def test_dark_large_and_by_keyboard(serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path) -> None:
    server = serve()
    with session(server.address, color_scheme="dark") as page:
        page.set_viewport_size({"width": 2200, "height": 1300})
        page.get_by_role("button", name="Open the example").focus()
        page.keyboard.press("Enter")
        page.get_by_label("Role of fnlwgt").wait_for(timeout=60_000)
        assert page.evaluate("document.body.classList.contains('body--dark')")
        names = ("Data", "Hierarchies", "Release", "Explore", "Risk and utility", "Attacks", "Review", "Download")
        for number, name in enumerate(names, 1):
            page.locator("body").press(f"Alt+{number}")
            page.locator(".place.here", has_text=name).wait_for()
            wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
            assert wide <= 0, f"{name} is wider than the window"
        # Every control has a name, every number its explanation.
        page.locator("body").press("Alt+3")
        page.get_by_text("What it would do").wait_for()
        unnamed = page.evaluate(
            "[...document.querySelectorAll('button, input, [role=slider]')].filter(e => e.offsetParent && "
            "!e.innerText.trim() && !e.closest('[aria-label]') && !e.getAttribute('aria-label') && "
            "!(e.labels && e.labels.length) && !e.closest('label')).map(e => e.outerHTML.slice(0, 200))"
        )
        assert unnamed == []
        assert page.locator(".number").count() == page.locator(".number[aria-label][tabindex='0']").count() > 5
        page.locator(".number").first.hover()
        page.locator(".tip").wait_for()


@pytest.mark.slow
def test_a_changed_table_is_said_everywhere_and_its_release_stays(
    serve: Callable[..., Any], session: Callable[..., Any], tmp_path: Path
) -> None:
    import polars as pl

    def people(rows: int) -> None:
        pl.DataFrame({
            "age": [30 + i % 4 for i in range(rows)], "income": [1000 + 13 * i for i in range(rows)],
        }).write_csv(tmp_path / "people.csv")  # fmt: skip

    people(418)
    server = serve(str(tmp_path / "people.csv"))
    with session((server.folder / "open.html").as_uri()) as page:  # what the browser is started with: without the key
        page.get_by_label("Role of age").wait_for(timeout=60_000)
        assert "key=" not in page.url and server.process.poll() is None
        role(page, "age", "Quasi")
        role(page, "income", "Insensitive")
        go(page, "Release")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_text("Promises, each checked by code of its own").wait_for(timeout=120_000)
        page.locator(".verdict.warn").get_by_text("for an answer before it can be signed").wait_for()
        page.locator(".warning").filter(has_text="'income'").get_by_role("button", name="Leave out income").wait_for()
        while page.get_by_role("button", name=re.compile("^Accept …")).count():
            left = page.get_by_role("button", name=re.compile("^Accept …")).count()
            page.get_by_role("button", name=re.compile("^Accept …")).first.click()
            page.get_by_label("Why it is acceptable").fill("a test")
            page.get_by_role("button", name="Accept", exact=True).click()
            page.wait_for_function(
                "left => document.querySelectorAll('.warning:not(.answered)').length < left", arg=left
            )
        page.locator(".verdict:not(.warn)").get_by_text("Verified.").wait_for()

        people(199)
        page.get_by_text("The table has changed since it was opened. Figures").wait_for(timeout=20_000)
        page.locator(".verdict.warn").get_by_text("this release is not of the table as it is now").wait_for()
        for place in ("Download", "Data", "Explore"):
            go(page, place)
            page.get_by_text("The table has changed since it was opened. Figures").wait_for()
        page.get_by_role("button", name="Read it again").click()
        page.locator(".banner").wait_for(state="hidden", timeout=60_000)
        go(page, "Download")
        page.get_by_text("No release of this job was made yet").wait_for()
        page.get_by_text("418 rows").wait_for()
        assert not page.wrong
    assert "Traceback" not in server.stop()
    assert not (server.folder / "open.html").exists()
