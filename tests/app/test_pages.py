"""Every place of the page in NiceGUI's simulation: what is clicked there reaches the job, and what is shown is true."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import kanopy
from kanopy._progress import Step
from kanopy.app.controller import Controller
from kanopy.app.task_cache import Underway
from kanopy.app.worker import Task
from kanopy.hierarchy import edit
from kanopy.search.budget import so_far
from tests.app.simulated import Hand, elsewhere, here, simulate

pytest.importorskip("nicegui", reason="the app is not installed: pip install 'kanopy[app]'")

PETS = ("dog", "cat", "horse", "cow", "trout", "salmon", "eagle", "sparrow")
ROWS = 240


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with ages, pets in words, towns that are rare, a date and an illness."""
    file = tmp_path_factory.mktemp("people") / "people.csv"
    pl.DataFrame({
        "age": [20 + (7 * i) % 40 for i in range(ROWS)], "pet": [PETS[(i * i + i // 7) % 8] for i in range(ROWS)],
        "town": [f"T{i // 2:03d}" for i in range(ROWS)],
        "seen": [f"2020-{1 + i % 12:02d}-0{1 + i % 9}" for i in range(ROWS)],
        "ill": [("flu", "cold", "none")[i % 3] for i in range(ROWS)],
    }).write_csv(file, separator=";")  # fmt: skip
    return file


@pytest.fixture(scope="module")
def project(people: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with the table open: age and pet are quasi-identifiers, the search is `optimal`."""
    folder = tmp_path_factory.mktemp("app") / "project"

    async def make() -> None:
        controller = here(folder)
        await controller.open(str(people))
        await controller.set_roles(["town", "seen"], "undecided")
        await controller.set_roles(["age", "pet"], "quasi-identifier")
        await controller.set_roles(["ill"], "sensitive")
        controller.set_job("optimal", algorithm="optimal", parameters={}, local=False, suppress=0.0)
        controller.close()

    elsewhere(make)
    return folder


@pytest.fixture
def app(project: Path, tmp_path: Path) -> Callable[..., None]:
    """Lets a story happen in a copy of the project."""

    def simulate_story(story: Callable[[Hand, Controller], Any]) -> None:
        shutil.copytree(project, tmp_path / "project")
        simulate(tmp_path / "project", story)

    return simulate_story


def level(controller: Controller, column: str, at: int) -> set[str]:
    """The labels of a level of the present hierarchy."""
    tree = controller.project.hierarchy(column)
    assert tree is not None
    return set(tree.labels_at(at))


def give_decades(controller: Controller) -> None:
    """A tree of ages in which no label stands twice."""
    own = controller.project.hierarchy("age")
    assert own is not None
    label = {2: "≤ 29", 3: "30–39", 4: "40–49"}
    rows = [(age, label.get(int(age) // 10, "≥ 50"), "≤ 39" if int(age) < 40 else "≥ 40", "*") for age in own.values]
    controller.set_hierarchy("age", kanopy.Hierarchy.from_rows(rows, name="age"), "decades")


def node(controller: Controller, column: str, label: str) -> int:
    """The number of a node."""
    tree = controller.project.hierarchy(column)
    assert tree is not None
    return next(each for each in range(tree.node_count - 1, -1, -1) if tree.label(each) == label)


def choose(hand: Hand, *labels: str) -> None:
    """Choose nodes of the tree that is shown."""
    ids = [node(hand.controller, hand.page.column, label) for label in labels]
    hand.trigger(hand.page._tree, "choose", {"ids": ids})


async def changed(hand: Hand, true: Callable[[], bool]) -> None:
    """Wait for a change of the hierarchy, and until it is drawn: then nothing is chosen any more."""
    await hand.until(true)
    await hand.until(lambda: hand.page.edits._drawn == hand.page.version)
    await hand.see("Choose a node of the tree")


def test_a_hierarchy_is_changed_in_every_way_and_back_again(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        give_decades(controller)
        await hand.go("/hierarchies", "A quick look with")
        assert hand.page.column == "age" and level(controller, "age", 1) == {"≤ 29", "30–39", "40–49", "≥ 50"}
        before = controller.project.work

        choose(hand, "30–39", "40–49")
        hand.press("Merge")
        await hand.until(lambda: "Only groups with the same parent" in "".join(hand.user.notify.messages))
        choose(hand, "≤ 29", "30–39")
        hand.fill("Name of the group", "20–39")
        hand.press("Merge")
        await changed(hand, lambda: level(controller, "age", 1) == {"20–39", "40–49", "≥ 50"})
        choose(hand, "20–39")
        hand.press("Split …")
        await hand.see("Split 20–39")
        hand.fill("First group", "twenties")
        hand.fill("Second group", "thirties")
        hand.press("Split")
        await changed(hand, lambda: level(controller, "age", 1) == {"twenties", "thirties", "40–49", "≥ 50"})
        choose(hand, "thirties")
        hand.fill("Label", "30s")
        hand.press("Rename")
        await changed(hand, lambda: "30s" in level(controller, "age", 1))
        choose(hand, "30s", "twenties")
        hand.fill("Name of the group", "young")
        hand.press("New level above")
        await changed(hand, lambda: "young" in level(controller, "age", 2))
        # What it does to the release is shown while one edits.
        await hand.until(lambda: hand.page._last_effect["feasible"] and "Loss of a column" in hand.text())
        hand.fill("Level to drop", 1)
        hand.press("Drop")
        await changed(hand, lambda: "30s" not in level(controller, "age", 1) and "young" in level(controller, "age", 1))
        moved = node(controller, "age", "33")
        hand.trigger(hand.page._tree, "move", {"id": moved, "under": node(controller, "age", "≥ 50")})
        await hand.until(lambda: "33 moves under" in controller.project.undoable)
        said = [controller.project.undo() for _ in range(6)]
        assert controller.project.work == before and "moves under" in said[0] and "become 20–39" in said[-1]

    app(story)


@pytest.mark.parametrize("kind", ["csv", "parents", "json", "dot"])
def test_hierarchies_leave_and_come_in_every_format(kind: str, app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        give_decades(controller)
        await hand.go("/hierarchies", "Suggested hierarchies")
        own = controller.project.hierarchy("age")
        assert own is not None
        hand.page._export(kind)
        await hand.until(lambda: hand.user.download.http_responses)
        file = hand.user.download.http_responses[-1].content
        controller.set_hierarchy("age", kanopy.Hierarchy.flat(list(own.values), name="age"), "flat")
        await hand.page._import(f"../age.{'csv' if kind == 'parents' else kind}", file)
        back = controller.project.hierarchy("age")
        assert back is not None and list(back.rows()) == list(own.rows())
        assert controller.project.undoable == f"age: hierarchy from age.{'csv' if kind == 'parents' else kind}"
        # What does not fit the column is refused in words, and nothing has changed.
        await hand.page.attempt(lambda *_: hand.page._import("x.csv", b"1;*\n2;*\n"))()
        assert hand.user.notify.messages and list(controller.project.hierarchy("age").rows()) == list(own.rows())

    app(story)


def test_suggestions_are_ranked_with_the_meaning_they_lose(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.go("/hierarchies", "Suggested hierarchies")
        hand.page._choose_column("pet")
        await hand.until(lambda: hand.page.column == "pet" and getattr(hand.page, "_meanings", None))
        await hand.until(lambda: "…" not in [each.text for each in hand.page._meanings])
        ranked = hand.page._found["ranked"]
        assert [round(each["loss"], 9) for each in ranked][1:] == sorted(round(each["loss"], 9) for each in ranked)[1:]
        shown = {each["method"]: label.text for each, label in zip(ranked, hand.page._meanings, strict=True)}
        tree = kanopy.build_hierarchy(pl.read_csv(controller.project.source, separator=";")["pet"], method="ontology")
        expected = kanopy.evaluate_hierarchy(tree, kanopy.load_ontology("wordnet")).score
        assert float(shown["ontology"]) == pytest.approx(expected, abs=1e-3)
        assert float(shown["ontology"]) < float(shown["suppress"])
        assert "in use" in hand.text()
        hand.press("Use: Use suppress")
        await hand.until(lambda: controller.project.undoable == "pet: hierarchy by suppress")

    app(story)


def test_senses_are_asked_about_with_what_they_mean(tmp_path: Path) -> None:
    words = ["crane", "seal", "bat", "mouse", "jaguar", "python"]
    file = tmp_path / "words.csv"
    pl.DataFrame({"thing": [words[i % 6] for i in range(120)], "ill": ["a", "b"] * 60}).write_csv(file)

    async def story(hand: Hand, controller: Controller) -> None:
        await controller.open(str(file))
        await controller.set_roles(["thing"], "quasi-identifier")
        await hand.go("/hierarchies", "By meaning")
        hand.press("Look at the meaning")
        await hand.see("Which sense is meant?")
        asked = [each for each in hand.elements() if each.props.get("label") in words]
        assert asked and all(": " in text and len(text) > 12 for each in asked for text in each.options.values())
        word, other = asked[0].props["label"], list(asked[0].options)[1]
        with hand.windows[-1].client:
            asked[0].set_value(other)
        await hand.until(lambda: controller.project.work.senses.get("thing", {}).get(word) == other)
        assert controller.project.undoable == f"{word} means {other}"

    simulate(tmp_path / "project", story)


def test_models_are_cards_with_fields(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.go("/release", "exactly what optimal will find")
        hand.press("Add a model")
        await hand.see("Add a privacy model")
        hand.fill("Find a model", "entropy")
        hand.press("Model l-entropy")
        hand.press("Add")
        hand.fill("Find a model", "")
        hand.press("Model l-distinct")
        hand.fill("L", 1)
        await hand.see("must be a whole number of at least 2")
        hand.fill("L", 3)
        await hand.see("at least 3 different values of ill")
        await hand.see("classes of the quick preview")
        hand.press("Add")
        await hand.until(lambda: [model.name for model in controller.project.work.job.models] == ["l-distinct"])
        hand.press("Run")
        await hand.see("Verified.")
        assert controller.summary is not None and controller.summary["models"]
        hand.press("Change: Change l-distinct")
        await hand.see("Save")
        assert hand.named("L").value == 3
        hand.fill("L", 2)
        await hand.see("at least 2 different values of ill")
        hand.press("Save")
        await hand.until(lambda: controller.project.work.job.models[0].to_dict()["l"] == 2)
        hand.press("Remove l-distinct")
        await hand.until(lambda: not controller.project.work.job.models)

    app(story)


def test_advanced_settings_are_fields(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.go("/release", "exactly what optimal will find")
        await hand.until(lambda: hasattr(hand.page, "_advanced") and "Lowest and highest levels" in hand.text())
        hand.fill("Lowest level of age", 1)
        await hand.until(lambda: controller.project.work.job.min_levels == {"age": 1})
        hand.fill("Loss to minimise", "discernibility")
        await hand.until(lambda: controller.project.work.job.metric == "discernibility")
        hand.fill("Most candidates", 500)
        hand.press("Apply: Parameters of optimal")
        await hand.until(lambda: controller.project.work.job.parameters.get("most_candidates") == 500)
        k = hand.named("k")
        hand.fill("k", 250)
        hand.trigger(k, "change")
        await hand.until(lambda: controller.project.work.job.k == 250)

    app(story)


def test_what_a_search_has_reached_is_seen_while_it_runs(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.go("/release", "exactly what optimal will find")
        task = Task(-1, "search", {}, asyncio.get_running_loop().create_future())
        controller.underway = Underway("Searching", task, Step("searching", 0.5, so_far("loss", 0.3, 0.2)))
        await hand.see("Searching loss 0.3000, at least 0.2000 (gap 33.3%)")
        controller.underway = None

    app(story)


def test_what_would_help_is_a_button(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        # Nothing is feasible: ages stay as they are, and no row may be suppressed.
        controller.set_job("fixed", max_levels={"age": 0, "pet": 0}, k=10)
        await hand.go("/release", "What would help")
        wrong = controller.project.work.job
        hand.press("Run")
        await hand.until(lambda: hand.text().count("What would help") == 2)
        hand.press(next(each.props["aria-label"] for each in hand.elements()
                        if str(each.props.get("aria-label", "")).startswith("Do it: allow at least")))  # fmt: skip
        await hand.until(lambda: controller.project.work.job.suppress > wrong.suppress)
        # A column is wiped: towns that nobody shares.
        controller.project.undo()
        controller.project.undo()
        await controller.set_roles(["town"], "quasi-identifier")
        controller.set_hierarchy(
            "town", kanopy.Hierarchy.flat(list(controller.project.hierarchy("town").values)), "flat"
        )
        controller.set_job("k = 12", k=12)
        await hand.see("exactly what optimal will find")
        hand.press("Run")
        await hand.see("Fully suppressed:")
        offered = {each["change"]: each["settings"] for each in controller.summary["advice"]}
        assert {"at_home": "town"} in offered.values()
        hand.press("Do it: town is not published")
        await hand.until(lambda: "town" in controller.project.work.job.identifiers)
        assert controller.project.undoable == "town is not published"
        controller.project.undo()
        grouped = next(words for words, settings in offered.items() if "hierarchies" in settings)
        await hand.see("Fully suppressed:")
        hand.press(f"Do it: {grouped}")
        await hand.until(lambda: controller.project.hierarchy("town").height > 1)

    app(story)


def test_plans_and_points_are_compared_and_brought_back(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await controller.run()
        await hand.go("/explore", "Plans")
        hand.fill("Name", "careful")
        hand.press("Save the present job")
        await hand.see("careful")
        controller.set_job("k = 9", k=9)
        hand.press("Save the present job")
        await hand.see("Plan 2")
        first, second = controller.project.work.plans
        assert first["figures"]["loss"] == controller.releases_made()[0]["losses"]["loss"] and second["figures"] is None
        assert "not run" in hand.text() and f"{first['figures']['loss']:.4f}" in hand.text()
        hand.page.controller.restore(first["job"], "plan careful")
        assert controller.project.work.job.k == 5
        # Every candidate is judged; one of them is published.
        hand.press("Judge all candidates")
        await hand.see("candidates judged; all are drawn")
        job = controller.project.work.job
        sizes = [controller.project.hierarchy(name).height + 1 for name in job.quasi]
        assert f"{sizes[0] * sizes[1]} candidates judged" in hand.text()
        hand.fill("k", "2, 5")
        hand.fill("Suppression limits", "0%, 5%")
        hand.press("Explore")
        await hand.until(lambda: len(hand.page._points()) >= 5)
        found = kanopy.explore(
            controller.project.source, kanopy.Job.read(controller.project.job_file), ks=[2, 5], limits=[0, 0.05]
        )
        shown = [point for point in hand.page._points() if not point.get("made")]
        assert [(p["k"], p["suppress"], p["loss"], p["best"]) for p in shown] == [
            (p.k, p.suppress, p.loss, p.best) for p in found.points
        ]
        hand.page._take(shown[0])
        assert controller.project.work.job.k == shown[0]["k"]

    app(story)


def test_what_is_shown_runs_and_writes_the_same_bytes(
    app: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from kanopy.cli import app as command_line

    async def story(hand: Hand, controller: Controller) -> None:
        controller.set_job("shuffled", shuffle=True, suppress=0.05)
        await controller.run()
        await hand.go("/download", "Command line")
        release = (controller.result_folder / "release.csv").read_bytes()
        shown = hand.text()
        assert controller.script in shown and "kanopy._" not in shown and b";" in release
        monkeypatch.chdir(tmp_path)
        exec(compile(controller.script, "script", "exec"), {})
        assert (tmp_path / "release.csv").read_bytes() == release
        (tmp_path / "release.csv").unlink()
        import shlex

        done = CliRunner().invoke(command_line, shlex.split(controller.command)[1:])
        assert done.exit_code == 0, done.output
        assert (tmp_path / "release.csv").read_bytes() == release
        hand.press("Download: Job file with hierarchies")
        await hand.until(lambda: hand.user.download.http_responses)
        import io
        import zipfile

        packed = zipfile.ZipFile(io.BytesIO(hand.user.download.http_responses[-1].content))
        packed.extractall(tmp_path / "elsewhere")
        assert kanopy.Job.read(tmp_path / "elsewhere" / "job.toml").k == 5

    app(story)


def test_tables_of_databases_are_opened(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as base:
        base.execute("create table visits as select 20 + range % 30 as age, range % 3 as ill from range(90)")

    async def story(hand: Hand, controller: Controller) -> None:
        await hand.go("/", "Which table is it?")
        hand.fill("Path or address", f"{tmp_path / 'clinic.duckdb'}::visits")
        hand.press("Open")
        await hand.see("1–20 of 90")
        assert controller.project.work.job.roles["age"] == "quasi-identifier" and controller.suffix == ".csv"
        controller.set_job("optimal", algorithm="optimal", parameters={}, local=False)
        found = await controller.run()
        assert found["smallest_class"] >= 5 and (controller.result_folder / "release.csv").exists()
        hand.press("Open another table")
        await hand.see("The present work can be brought back with undo.")
        hand.fill("Path or address", str(tmp_path / "clinic.duckdb::nowhere"))
        hand.press("Open")
        await hand.until(lambda: any("nowhere" in each for each in hand.user.notify.messages))
        assert controller.project.work.source.endswith("::visits")

    simulate(tmp_path / "project", story)


def test_wide_tables_show_every_column_and_roles_are_given_together(tmp_path: Path) -> None:
    file = tmp_path / "wide.csv"
    pl.DataFrame({f"q{i:02d}": [str((i + j) % 4) for j in range(60)] for i in range(57)}).write_csv(file)

    async def story(hand: Hand, controller: Controller) -> None:
        await controller.open(str(file))
        await hand.go("/", "1–40 of 57")
        assert len(hand.page._shown) == 40
        seen = list(hand.page._names)
        for first in ("q25", "q50"):
            hand.press("Columns of the rows after")
            await hand.until(lambda first=first: hand.page._names[0] == first)
            seen += hand.page._names
        assert seen == [f"q{i:02d}" for i in range(57)]
        hand.fill("Find a column", "q1")
        await hand.until(lambda: set(hand.page._shown) == {f"q1{i}" for i in range(10)})
        hand.fill("All of these are …", "insensitive")
        await hand.until(lambda: len(controller.project.work.job.insensitive) == 10)
        assert controller.project.undoable == "10 columns are insensitive"
        hand.fill("Role of q10", "quasi-identifier")
        await hand.until(
            lambda: "q10" in controller.project.work.job.quasi and controller.project.hierarchy("q10") is not None
        )
        # The line stays where it is while its role changes, and follows what is undone.
        assert next(iter(hand.page._shown)) == "q10"
        controller.project.undo()
        await hand.until(lambda: hand.page._shown["q10"][1].value == "insensitive")

    simulate(tmp_path / "project", story)


def test_every_number_is_explained_and_every_control_has_a_name(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        from nicegui import ui
        from nicegui.elements.mixins.value_element import ValueElement

        await controller.run()
        for path, seen in (
            ("/", "Means"), ("/hierarchies", "A quick look"), ("/release", "The same rows"), ("/explore", "Plans"),
            ("/risk", "Which columns make rows rare"), ("/download", "Command line"), ("/why", "Pareto front"),
        ):  # fmt: skip
            await hand.go(path, "Columns" if path == "/" else seen)
            if path == "/":
                await hand.until(lambda: getattr(hand.page, "_shown", None))
            numbers = [each for each in hand.elements() if "number" in each.classes]
            assert numbers or path in ("/explore", "/download", "/why")
            for each in numbers:
                assert each.props["data-tip"]
                # In the list of columns, which is one stop of the keyboard, numbers are none.
                assert "tabindex" not in each.props or (each.props["tabindex"] == "0" and each.props["aria-label"])
            for each in hand.elements():
                if isinstance(each, ui.button | ValueElement) and not isinstance(each, ui.dark_mode | ui.tab_panel):
                    if type(each).__name__ in ("Dialog", "Menu", "Tabs", "TabPanels", "LinearProgress", "SubPages"):
                        continue
                    known = each.props.get("aria-label") or each.props.get("label") or getattr(each, "text", "")
                    assert known, f"{path}: {each}"

    app(story)


def test_a_second_window_follows_the_first(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        await hand.go("/", "Columns")
        await hand.until(lambda: getattr(hand.page, "_shown", None))
        first = hand.windows[0]
        await hand.go("/release", "exactly what optimal will find")
        controller.set_job("k = 8", k=8)
        assert "k = 8" in first.facts.text and "k = 8" in hand.windows[1].facts.text
        await controller.set_roles(["pet"], "sensitive")
        assert first.page._shown["pet"][1].value == "sensitive"
        assert hand.page._job.quasi == ("age",)

    app(story)


def test_a_dialog_stays_when_another_window_changes_the_project_and_overwrites_nothing(
    app: Callable[..., None],
) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        give_decades(controller)
        await hand.go("/hierarchies", "A quick look with")
        choose(hand, "30–39")
        hand.press("Split …")
        await hand.see("Choose what goes into the second group.")
        # Another window changes a role (the place is written anew) and then this very hierarchy.
        await controller.set_roles(["town"], "quasi-identifier")
        own = controller.project.hierarchy("age")
        controller.set_hierarchy("age", edit.rename(own, "≤ 29", "young", level=1), "renamed elsewhere")
        await hand.until(lambda: "young" in str(hand.page._drawn))
        assert "Choose what goes into the second group." in hand.text()
        hand.press("Split")
        await hand.until(lambda: any("was changed meanwhile" in each for each in hand.user.notify.messages))
        assert controller.project.undoable == "renamed elsewhere" and "young" in level(controller, "age", 1)

    app(story)


def test_an_edit_of_a_tree_that_is_no_longer_there_is_refused(app: Callable[..., None]) -> None:
    async def story(hand: Hand, controller: Controller) -> None:
        give_decades(controller)
        await hand.go("/hierarchies", "A quick look with")
        choose(hand, "30–39")
        panel = hand.page.edits
        controller.set_hierarchy("age", kanopy.Hierarchy.flat(list(controller.project.hierarchy("age").values)), "flat")
        await hand.page.attempt(lambda *_: panel.rename(panel._nodes[0], "thirties"))()
        assert any("was changed meanwhile" in each for each in hand.user.notify.messages)
        assert controller.project.undoable == "flat"

    app(story)
