"""Results belong to a table's content; warnings are answered; what was recorded cannot be changed unnoticed."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from kanopy._errors import DataError, JobError, KanopyError
from kanopy.app.controller import Controller
from kanopy.app.record import HEAD, LISTED, add_event, card_digest, read_record, verify_record
from kanopy.cli.local_app import record as verify_it
from tests.app.simulated import elsewhere, here, simulate

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'kanopy[app]'")


def people(rows: int) -> pl.DataFrame:
    """people of four ages; the income of most is their own."""
    return pl.DataFrame({
        "age": [30 + i % 4 for i in range(rows)], "sex": ["f" if i % 2 else "m" for i in range(rows)],
        "income": [1000 + 13 * i for i in range(rows)], "ill": [("flu", "cold", "none")[i % 3] for i in range(rows)],
    })  # fmt: skip


async def made(controller: Controller, file: Path) -> None:
    """A release of a table with a warning."""
    await controller.open(str(file))
    await controller.set_roles(["age", "sex"], "quasi-identifier")
    await controller.set_roles(["ill"], "sensitive")
    await controller.set_roles(["income"], "insensitive")
    controller.set_job("optimal", algorithm="optimal", parameters={}, local=False, k=3, models=["l-distinct:ill:2"])
    await controller.run("Ann")


def test_results_belong_to_the_content_of_the_table(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people(240).write_csv(file)

    async def story() -> None:
        controller = here(tmp_path / "project")
        await made(controller, file)
        first = controller.result_folder
        released = (first / "release.csv").read_bytes()
        assert controller.table_state == "same" and controller.summary is not None

        people(120).write_csv(file)
        assert controller.table_state == "unchecked", "until it is known, nothing is said to be the same"
        await controller.check_table()
        assert controller.table_state == "changed"
        with pytest.raises(KanopyError, match="The table has changed since it was opened"):
            await controller.run("Ann")
        assert controller.project.versions(controller.project.job_mark) == [first], "a run that failed leaves nothing"

        await controller.reopen()
        assert controller.table_state == "same" and controller.project.work.job.k == 3, "the job stays"
        assert controller.summary is None, "no release of this table was made yet"
        assert controller.releases_made() == [] and len(controller.releases_made(everything=True)) == 1
        await controller.run("Ann")
        assert controller.summary["rows"] == 120
        again = controller.result_folder
        await controller.run("Ann")
        assert controller.result_folder != again, "a second run has a folder of its own"
        assert (first / "release.csv").read_bytes() == released
        assert (again / "release.csv").read_bytes() == (controller.result_folder / "release.csv").read_bytes()
        people(240).write_csv(file)
        await controller.check_table()
        await controller.reopen()
        assert controller.result_folder == first, "the old table is back, and so is its release"
        controller.close()

    elsewhere(story)


def test_a_path_is_relative_to_where_the_app_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    people(60).write_csv(tmp_path / "data" / "x.csv")

    async def story() -> None:
        controller = here(tmp_path / "project")
        await controller.open("data/x.csv")
        assert controller.project.source == str(tmp_path / "data" / "x.csv")
        broken = controller.project.keep_upload("y.parquet", b"no parquet")
        with pytest.raises(KanopyError, match="cannot be read as Parquet"):
            await controller.open(broken)
        assert not list((tmp_path / "project" / "data").iterdir()), "what was refused is not kept"
        controller.close()

    elsewhere(story)


def test_warnings_are_answered_and_what_was_shown_is_signed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "people.csv"
    people(240).write_csv(file)

    async def story(hand: Any, controller: Controller) -> None:
        await made(controller, file)
        release = controller.result_folder.name
        await hand.go("/release", "Warnings")
        assert "waits for an answer" in hand.text() or "wait for an answer" in hand.text()
        assert "at least 2" in hand.text() and "SHA-256 of the table" in hand.text(), "every model that was asked for"
        assert any("'income'" in each["text"] for each in controller.card(release)["warnings"])
        shown = card_digest(controller.card(release))
        with pytest.raises(JobError, match="have no answer yet"):
            controller.sign(release, shown, "Ann")
        for each in controller.card(release)["warnings"]:
            with pytest.raises(JobError, match="Say why"):
                controller.answer(release, each["id"], " ", "Ann")
            controller.answer(release, each["id"], "agreed with the data office", "Ann")
        with pytest.raises(JobError, match="have changed since they were shown"):
            controller.sign(release, shown, "Ann")
        await hand.until(lambda: "Accepted by Ann" in hand.text() and "for an answer" not in hand.text())
        shown = card_digest(controller.card(release))
        controller.comment(release, "income", "rounded at the source", "Bob")
        controller.sign(release, shown, "Bob", "reviewed")
        with pytest.raises(JobError, match="has signed"):
            controller.sign(release, shown, "Bob")
        verify_it.__wrapped__(controller.project.folder)
        assert (
            f"{len(read_record(controller.project.folder).events)} events, no line changed" in capsys.readouterr().out
        )
        with (controller.result_folder / "release.csv").open("a") as stream:
            stream.write("99,f,1,flu\n")
        assert verify_record(controller.project.folder)["differences"] == [f"{release}/release.csv was changed"]
        with pytest.raises(DataError, match="not those that were made"):
            controller.sign(release, shown, "Cid")

    simulate(tmp_path / "project", story)


def test_every_edit_of_the_record_is_noticed(tmp_path: Path) -> None:
    for number in range(5):
        words = {"words": f"remark {number}"}
        add_event(tmp_path, {"event": "comment", "release": "a-1", "about": "age", "who": "Ann", **words})
    whole = {name: (tmp_path / name).read_bytes() for name in (LISTED, HEAD)}
    draw = random.Random(7)
    for _ in range(1_000):
        name = draw.choice((LISTED, LISTED, HEAD))
        old = bytearray(whole[name])
        at, kind = draw.randrange(len(old)), draw.randrange(5)
        if kind == 0:
            old[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            del old[at : at + draw.randint(1, 40)]
        elif kind == 2:
            old[at:at] = draw.randbytes(draw.randint(1, 9))
        elif kind == 3:
            del old[at:]
        else:
            lines = bytes(old).splitlines(keepends=True)
            draw.shuffle(lines)
            old = bytearray(b"".join(lines[: draw.randint(1, len(lines))]))
        if bytes(old) == whole[name]:
            continue
        (tmp_path / name).write_bytes(bytes(old))
        with pytest.raises(DataError, match="record"):
            read_record(tmp_path)
        (tmp_path / name).write_bytes(whole[name])
    assert len(read_record(tmp_path).events) == 5
    with pytest.raises(JobError, match="Give your name"):
        add_event(tmp_path, {"event": "comment", "who": " "})


def test_two_who_write_and_one_who_signs_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people(120).write_csv(file)

    async def story() -> None:
        controller = here(tmp_path / "project")
        await made(controller, file)
        release = controller.result_folder.name
        shown = []

        async def talk(who: str) -> None:
            for number in range(20):
                controller.comment(release, "", f"{who} {number}", who)
                await asyncio.sleep(0)

        async def answer() -> None:
            for each in controller.card(release)["warnings"]:
                controller.answer(release, each["id"], "as agreed", "Ann")
                await asyncio.sleep(0)

        async def sign() -> None:
            for _ in range(40):
                shown.append(card_digest(controller.card(release)))
                await asyncio.sleep(0)
                try:
                    controller.sign(release, shown[-1], "Cid")
                    return
                except JobError:
                    continue

        await asyncio.gather(talk("Ann"), talk("Bob"), answer(), sign())
        events = controller.record.of(release)
        assert sum(each["event"] == "comment" for each in events) == 40
        signed = controller.record.signatures(release)
        assert len(signed) == 1 and signed[0]["card"] == shown[-1] == card_digest(controller.card(release))
        controller.close()

    elsewhere(story)


def test_small_faults_stay_mended(tmp_path: Path) -> None:
    file = tmp_path / "people.csv"
    people(120).write_csv(file)
    lost = tmp_path / "project" / "results" / "0123456789ab-1"
    lost.mkdir(parents=True)
    (lost / "release.csv").write_text("half")

    async def story(hand: Any, controller: Controller) -> None:
        await made(controller, file)
        assert not lost.exists() and controller.project.folder.stat().st_mode & 0o077 == 0
        await hand.go("/explore", "Explore")
        assert any("A run was under way" in each for each in hand.user.notify.messages)
        hand.fill("k", "2, abc")
        hand.press("Explore")
        await hand.until(lambda: any("whole number from 2 on" in each for each in hand.user.notify.messages))
        hand.fill("Colours: as the system, light or dark", "dark")
        assert controller.project.theme == "dark"
        await hand.go("/review", "Record")
        assert hand.named("Colours: as the system, light or dark").value == "dark", "kept by the next page"
        assert "made release" in str([row for each in hand.elements() for row in each.props.get("rows", [])])
        release = controller.result_folder.name
        await hand.go("/download", "All releases of this project")
        hand.press(f"Delete the release {release}")
        await hand.see("removed for good")
        hand.press("Delete")
        await hand.until(lambda: controller.summary is None)
        assert controller.record.events[-1]["event"] == "release removed"
        assert verify_record(controller.project.folder)["differences"] == []

    simulate(tmp_path / "project", story)


def test_a_reviewer_reads_and_projects_are_opened_begun_and_deleted(tmp_path: Path) -> None:
    from kanopy.app.pages.data.projects import projects_beside
    from kanopy.app.pages.handover.reading import reading_page

    file = tmp_path / "people.csv"
    people(120).write_csv(file)

    async def story(hand: Any, controller: Controller) -> None:
        await made(controller, file)
        first, release = controller.project.folder, controller.result_folder.name
        controller.comment(release, "", "<b>looks fine</b>", "Bob")
        page = reading_page(controller, release)
        assert "Every promise is confirmed" in page and "&lt;b&gt;looks fine" in page and "<script" not in page
        assert str(card_digest(controller.card(release))) in page and reading_page(controller, "none-1") == ""
        await hand.go("/review", "Read-only page for a reviewer")

        await hand.go("/", "Data")
        hand.press("Projects …: Open, begin or delete a project")
        await hand.see("New project")
        hand.fill("Name of the new project", "../elsewhere")
        hand.press("Begin: Begin a new project")
        await hand.until(lambda: any("Name the project with letters" in each for each in hand.user.notify.messages))
        hand.fill("Name of the new project", "second")
        hand.press("Begin: Begin a new project")
        await hand.until(lambda: controller.project.folder.name == "second")
        assert not controller.project.work.source and controller.summary is None
        assert {each.folder.name for each in projects_beside(first)} == {"project", "second"}
        controller.switch_project(first)
        assert controller.summary is not None and controller.result_folder.name == release
        await hand.go("/", "Data")
        hand.press("Projects …: Open, begin or delete a project")
        await hand.see("second")
        hand.press("Delete the project second")
        await hand.see("removed for good")
        hand.press("Delete")
        await hand.until(lambda: not (tmp_path / "second").exists())
        assert controller.summary is not None and first.exists()

    simulate(tmp_path / "project", story)
