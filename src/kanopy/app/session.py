"""A window: the frame around the places, what is under way, undo and redo, keys, light and dark."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, PlainTextResponse, Response
from nicegui import app as nicegui_app
from nicegui import ui
from nicegui.events import KeyEventArguments

from kanopy._errors import Cancelled, KanopyError, NoSolution, shown_address
from kanopy.app.task_cache import Superseded
from kanopy.app.controller import Desk
from kanopy.app.pages.data_page import DataPlace
from kanopy.app.pages.explore_page import ExplorePlace
from kanopy.app.pages.hierarchies_page import HierarchiesPlace
from kanopy.app.pages.page import Left, Place
from kanopy.app.pages.release_page import ReleasePlace
from kanopy.app.pages.risk_page import RiskPlace
from kanopy.app.pages.download_page import TakeHomePlace
from kanopy.app.pages.help_page import WhyPlace
from kanopy.app.project import Project, safe_name
from kanopy.app.widgets.elements import button, labelled, own_file, tip

PLACES: tuple[type[Place], ...] = (DataPlace, HierarchiesPlace, ReleasePlace, ExplorePlace, RiskPlace, TakeHomePlace)
ALL_PLACES: tuple[type[Place], ...] = (*PLACES, WhyPlace)
THEMES = {"auto": None, "light": False, "dark": True}
PAGE_SECONDS = 0.5
"""A window that opens is served first; what will be asked for next is looked at after that."""
TAKEN_HOME = {
    "mapping.csv": "text/csv", "manifest.json": "application/json", "report.html": "text/html",
    "report.json": "application/json", "reproduce.py": "text/x-python",
}  # fmt: skip


def make_application(project: Project, data: str | None = None) -> FastAPI:
    """The application of a project: its page and the files of its runs."""
    desk = Desk(project)
    outer = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    pending = [data] if data else []

    @outer.get("/files/{run}/{name}")
    def files(run: str, name: str) -> Response:
        if safe_name(run) != run:
            return PlainTextResponse("There is no such file.", 404)
        folder = project.result_folder(run)
        known = {*TAKEN_HOME, *(path.name for path in folder.glob("release.*"))} if folder.is_dir() else set()
        if name not in known or not (folder / name).is_file():
            return PlainTextResponse("There is no such file.", 404)
        if name == "report.html":  # shown, not only taken home: without scripts, and with a policy of its own
            return FileResponse(folder / name, media_type="text/html", headers={"content-security-policy": "sandbox"})
        return FileResponse(folder / name, media_type=TAKEN_HOME.get(name, "application/octet-stream"), filename=name)

    @ui.page("/")
    @ui.page("/{_:path}")
    def index() -> None:
        Window(desk, pending).show()

    nicegui_app.on_shutdown(desk.close)
    ui.run_with(
        outer, title="Kanopy", favicon="🌿", dark=None, language="en-US", tailwind=False, show_welcome_message=False,
        reconnect_timeout=20, binding_refresh_interval=None,
    )  # fmt: skip
    return outer


class Window:
    """One browser window. Several share a desk."""

    def __init__(self, desk: Desk, pending: list[str]) -> None:
        self.desk = desk
        self._pending = pending
        self.place: Place | None = None
        self.client = ui.context.client
        self.column = ""
        """The column that was looked at last."""

    def show(self) -> None:
        """Write the whole page."""
        ui.add_css(own_file("style.css"))
        ui.add_body_html(f"<script>{own_file('tips.js')}</script>")
        ui.colors(primary="#1d7656", negative="#a8281f", positive="#1d7656", warning="#b4641c")
        self.dark = ui.dark_mode(None)
        ui.link("To the content", "#main").classes("skip")
        with ui.element("div").classes("frame"):
            self._side()
            with ui.element("div"):
                self._bar()
                routes = {each.path: self._opener(each) for each in ALL_PLACES}
                self.pages = ui.sub_pages(routes)
        self.layer = ui.element("div")
        with ui.element("div").classes("underway") as self.box:
            self.box.props["role"] = "status"
            with ui.element("div").classes("row-flex"):
                self.what = ui.label("").classes("strong grow")
                button("Cancel", self.desk.cancel, kind="danger")
            self.progress = ui.linear_progress(value=0, show_value=False)
            self.stage = ui.label("").classes("muted small")
        ui.timer(0.25, self._tick)
        ui.keyboard(on_key=self._key, ignore=["input", "textarea"])
        self.desk.watchers.append(self._look)
        self.client.on_delete(self._gone)
        self._refresh()
        if self._pending:
            data = self._pending.pop()
            ui.timer(0.01, lambda: self.open_first(data), once=True)
        self.desk.look_ahead(PAGE_SECONDS)

    async def open_first(self, data: str) -> None:
        """Open the table that the command line named, unless the project holds it already."""
        source = (
            data
            if "://" in data
            else str(Path(data.partition("::")[0]).resolve()) + data[len(data.partition("::")[0]) :]
        )
        if self.desk.project.work.source != source:
            with self.told():
                await self.desk.open(source, name=Path(data).name)

    def _gone(self) -> None:
        with contextlib.suppress(ValueError):
            self.desk.watchers.remove(self._look)

    def _opener(self, kind: type[Place]) -> Any:
        def opened() -> None:
            if hasattr(self, "layer"):
                self.layer.clear()
            self.place = kind(self)
            self.place.show()
            self._mark(kind.path)

        return opened

    def _side(self) -> None:
        self.links: dict[str, ui.link] = {}
        with ui.element("nav").classes("side") as side:
            side.props["aria-label"] = "Places"
            with ui.element("div").classes("brand"):
                ui.icon("park")
                ui.label("Kanopy")
            for number, place in enumerate(PLACES, 1):
                with ui.link(target=place.path).classes("place") as link:
                    ui.icon(place.icon)
                    ui.label(place.name)
                tip(link, f"Alt+{number}")
                self.links[place.path] = link
            ui.element("div").classes("spacer")
            with ui.link(target=WhyPlace.path).classes("place") as link:
                ui.icon(WhyPlace.icon)
                ui.label(WhyPlace.name)
            self.links[WhyPlace.path] = link

    def _mark(self, path: str) -> None:
        for own, link in self.links.items():
            if own == path:
                link.classes(add="here")
                link.props["aria-current"] = "page"
            else:
                link.classes(remove="here")
                link.props.pop("aria-current", None)

    def _bar(self) -> None:
        with ui.element("header").classes("bar"):
            self.source = ui.label("").classes("source")
            self.facts = ui.label("").classes("muted small")
            ui.element("div").classes("grow")
            self.undo = button("", lambda: self._step("undo"), icon="undo", kind="quiet")
            self.redo = button("", lambda: self._step("redo"), icon="redo", kind="quiet")
            theme = ui.toggle({"auto": "Auto", "light": "Light", "dark": "Dark"}, value="auto")
            theme.classes("roles").props("no-caps unelevated dense toggle-color=primary")
            theme.on_value_change(lambda event: self.dark.set_value(THEMES[event.value]))
            labelled(theme, "Colours: as the system, light or dark")

    def _refresh(self) -> None:
        project = self.desk.project
        work = project.work
        self.source.set_text(Path(shown_address(work.source)).name if work.source else "No table is open")
        self.facts.set_text(
            f"k = {work.job.k} · {len(work.job.quasi)} quasi-identifier{'s' * (len(work.job.quasi) != 1)}"
            if work.source
            else ""
        )
        for shown, said, name in ((self.undo, project.undoable, "Undo"), (self.redo, project.redoable, "Redo")):
            shown.set_enabled(bool(said))
            tip(shown, f"{name}: {said}" if said else f"Nothing to {name.lower()}")
            labelled(shown, f"{name} {said}".strip())
        self._tick()

    def _look(self) -> None:
        with self.client:
            self._refresh()
            if self.place is not None:
                self.place.changed()
        self.desk.look_ahead()

    def _tick(self) -> None:
        now = self.desk.underway
        self.box.set_visibility(now is not None)
        if now is not None:
            self.what.set_text(now.what)
            self.stage.set_text(f"{now.step.stage.capitalize()} {now.step.note}")
            if now.step.fraction is None:
                self.progress.props("indeterminate")
            else:
                self.progress.props(remove="indeterminate")
                self.progress.set_value(now.step.fraction)

    def _step(self, which: str) -> None:
        with self.told():
            said = getattr(self.desk.project, which)()
            ui.notify(f"{'Undone' if which == 'undo' else 'Done again'}: {said}", position="bottom-left")

    def _key(self, event: KeyEventArguments) -> None:
        if not event.action.keydown or event.action.repeat:
            return
        key, with_ctrl = event.key.name.lower(), event.modifiers.ctrl or event.modifiers.meta
        if with_ctrl and key == "z":
            self._step("redo" if event.modifiers.shift else "undo")
        elif with_ctrl and key == "y":
            self._step("redo")
        elif event.modifiers.alt and key.isdigit() and 1 <= int(key) <= len(PLACES):
            ui.navigate.to(PLACES[int(key) - 1].path)

    @contextlib.contextmanager
    def told(self) -> Iterator[None]:
        """Say in words what goes wrong inside."""
        try:
            yield
        except (Left, Superseded):
            pass
        except Cancelled:
            self._say("Stopped. Nothing was changed.", position="bottom-left")
        except NoSolution as nothing:
            self._say(nothing.reason, type="negative", multi_line=True, close_button="Close", timeout=0)
        except (KanopyError, OSError, ValueError) as error:
            self._say(str(error), type="negative", multi_line=True, close_button="Close", timeout=12_000)

    def _say(self, words: str, **look: Any) -> None:
        """Say something in the window, wherever it is by now: the place that asked may have been left."""
        if not self.client.is_deleted:
            with self.client:
                ui.notify(words, **look)
