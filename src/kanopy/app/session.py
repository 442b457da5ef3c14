"""A session: the frame around the pages, the task under way, undo and redo, keys, light and dark."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from nicegui import app as nicegui_app
from nicegui import ui
from nicegui.events import KeyEventArguments

from kanopy._errors import Cancelled, KanopyError, NoSolution, shown_address
from kanopy.app.controller import Controller, system_user
from kanopy.app.guard import read_path
from kanopy.app.pages.data.data_page import DataPage
from kanopy.app.pages.evidence.attacks_page import AttacksPage
from kanopy.app.pages.evidence.risk_page import RiskPage
from kanopy.app.pages.explore_page import ExplorePage
from kanopy.app.pages.handover.download_page import DownloadPage
from kanopy.app.pages.handover.reading import POLICY as READ_POLICY
from kanopy.app.pages.handover.reading import reading_page
from kanopy.app.pages.handover.review_page import ReviewPage
from kanopy.app.pages.help_page import HelpPage
from kanopy.app.pages.hierarchies.hierarchies_page import HierarchiesPage
from kanopy.app.pages.page import Page, PageLeft
from kanopy.app.pages.release.release_page import ReleasePage
from kanopy.app.project import Project, safe_name
from kanopy.app.stages import next_stage, stages
from kanopy.app.task_cache import Superseded
from kanopy.app.widgets.elements import button, labelled, own_file, tip
from kanopy.app.widgets.grid import Choice
from kanopy.attacks.policies import POLICIES

PAGES: tuple[type[Page], ...] = (
    DataPage, HierarchiesPage, ReleasePage, ExplorePage, RiskPage, AttacksPage, ReviewPage, DownloadPage,
)  # fmt: skip
ALL_PAGES: tuple[type[Page], ...] = (*PAGES, HelpPage)
THEMES = {"auto": None, "light": False, "dark": True}
TABLE_SECONDS = 2.0
"""Seconds between looks at whether the table's files were touched."""
LOST_RUN = "A run was under way when the app ended. It was lost, and nothing of it was kept: run again."
BANNERS = {
    "changed": "The table has changed since it was opened. Figures and releases are of the table as it was then.",
    "gone": "The table is no longer where it was. Releases that were made of it are kept.",
}
LONGEST_USER = 200
PAGE_SECONDS = 0.5
"""Seconds before prefetching starts: the page that opens goes first."""
DOWNLOADS = {
    "mapping.csv": "text/csv", "manifest.json": "application/json", "report.html": "text/html",
    "report.json": "application/json", "reproduce.py": "text/x-python",
}  # fmt: skip
DOCUMENTS = (".html", ".json", ".pdf", ".docx")
"""What profiles of authorities are written as."""


def make_application(project: Project, data: str | None = None, user_header: str = "") -> FastAPI:
    """The application of a project: its page and the files of its runs."""
    controller = Controller(project)
    outer = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    pending = [data] if data else []

    @outer.get("/files/{run}/{name}")
    def files(run: str, name: str) -> Response:
        if safe_name(run) != run:
            return PlainTextResponse("There is no such file.", 404)
        folder = controller.project.result_folder(run)
        names_allowed = {*DOWNLOADS, *(f"{policy}{ending}" for policy in POLICIES for ending in DOCUMENTS)}
        names_allowed |= {path.name for path in folder.glob("release.*")} if folder.is_dir() else set()
        if name not in names_allowed or not (folder / name).is_file():
            return PlainTextResponse("There is no such file.", 404)
        if name == "report.html":  # shown in the browser: without scripts, and with a policy of its own
            return FileResponse(folder / name, media_type="text/html", headers={"content-security-policy": "sandbox"})
        return FileResponse(folder / name, media_type=DOWNLOADS.get(name, "application/octet-stream"), filename=name)

    @outer.get("/read/{release}/{token}")
    def read(release: str, token: str) -> Response:
        known = read_path(controller.link_secret, release) == f"/read/{release}/{token}"
        page = reading_page(controller, release) if known and safe_name(release) == release else ""
        if not page:
            return PlainTextResponse("There is no such release.", 404)
        return HTMLResponse(page, headers={"content-security-policy": READ_POLICY, "cache-control": "no-store"})

    @ui.page("/")
    @ui.page("/{_:path}")
    def index() -> None:
        request = ui.context.client.request
        user = (request.headers.get(user_header, "") if user_header and request is not None else "").strip()
        Session(controller, pending, user).show()

    nicegui_app.on_startup(controller.start)
    nicegui_app.on_shutdown(controller.close)
    ui.run_with(
        outer, title="Kanopy", favicon="🌿", dark=None, language="en-US", tailwind=False, show_welcome_message=False,
        reconnect_timeout=20, binding_refresh_interval=None,
    )  # fmt: skip
    return outer


class Session:
    """One browser window. Several sessions share a controller."""

    def __init__(self, controller: Controller, pending: list[str], user: str = "") -> None:
        self.controller = controller
        self._pending = pending
        self.page: Page | None = None
        self.client = ui.context.client
        self.known_user = user[:LONGEST_USER]
        """Who it is, where a reverse proxy says so."""
        self.who = self.known_user or system_user()
        """The name in the record of what is done in this session."""
        self.column = ""
        """The column that was shown last."""

    def show(self) -> None:
        """Write the whole page."""
        ui.add_css(own_file("style.css"))
        ui.add_body_html(f"<script>{own_file('tips.js')}</script>")
        ui.colors(primary="#1d7656", negative="#a8281f", positive="#1d7656", warning="#b4641c")
        self.dark = ui.dark_mode(THEMES.get(self.controller.project.theme))
        ui.link("To the content", "#main").classes("skip")
        with ui.element("div").classes("frame"):
            self._side()
            with ui.element("div"):
                self._bar()
                self._write_banner()
                routes = {page.path: self._opener(page) for page in ALL_PAGES}
                self.pages = ui.sub_pages(routes)
        self.layer = ui.element("div")
        with ui.element("div").classes("underway") as self.box:
            self.box.props["role"] = "status"
            with ui.element("div").classes("row-flex"):
                self.what = ui.label("").classes("strong grow")
                button("Cancel", self.controller.cancel, kind="danger")
            self.progress = ui.linear_progress(value=0, show_value=False)
            self.stage = ui.label("").classes("muted small")
        ui.timer(0.25, self._show_progress)
        ui.timer(TABLE_SECONDS, self.controller.check_table)
        ui.keyboard(on_key=self._key, ignore=["input", "textarea"])
        self.controller.watchers.append(self._project_changed)
        self.client.on_delete(self._on_delete)
        self._refresh()
        if self.controller.project.lost_runs:
            self.controller.project.lost_runs = 0
            self._notify(LOST_RUN, type="warning", multi_line=True, close_button="Close", timeout=0)
        if self._pending:
            data = self._pending.pop()
            ui.timer(0.01, lambda: self.open_first(data), once=True)
        self.controller.schedule_prefetch(PAGE_SECONDS)

    async def open_first(self, data: str) -> None:
        """Open the table that the command line named, unless the project holds it already."""
        source = (
            data
            if "://" in data
            else str(Path(data.partition("::")[0]).resolve()) + data[len(data.partition("::")[0]) :]
        )
        if self.controller.project.work.source != source:
            with self.errors_shown():
                await self.controller.open(source, name=Path(data).name)

    def _on_delete(self) -> None:
        with contextlib.suppress(ValueError):
            self.controller.watchers.remove(self._project_changed)

    def _opener(self, kind: type[Page]) -> Any:
        def opened() -> None:
            if hasattr(self, "layer"):
                self.layer.clear()
            self.page = kind(self)
            self.page.show()
            self._mark(kind.path)
            if hasattr(self, "onward"):
                self._show_stages()

        return opened

    def _side(self) -> None:
        self.links: dict[str, ui.link] = {}
        self.states: dict[str, ui.label] = {}
        with ui.element("nav").classes("side") as side:
            side.props["aria-label"] = "Pages"
            with ui.element("div").classes("brand"):
                ui.icon("park")
                ui.label("Kanopy")
            for number, page in enumerate(PAGES, 1):
                with ui.link(target=page.path).classes("place") as link:
                    ui.icon(page.icon)
                    with ui.element("div").classes("stage"):
                        ui.label(page.name)
                        self.states[page.path] = ui.label("").classes("state").props("aria-hidden=true")
                tip(link, f"Alt+{number}")
                self.links[page.path] = link
            ui.element("div").classes("spacer")
            with ui.link(target=HelpPage.path).classes("place") as link:
                ui.icon(HelpPage.icon)
                ui.label(HelpPage.name)
            self.links[HelpPage.path] = link

    def _mark(self, path: str) -> None:
        for link_path, link in self.links.items():
            if link_path == path:
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
            self.onward = button("Next", self._go_on, icon="arrow_forward", kind="main")
            stored_theme = self.controller.project.theme
            theme = Choice(
                {"auto": "Auto", "light": "Light", "dark": "Dark"}, stored_theme if stored_theme in THEMES else "auto"
            )
            theme.on_value_change(lambda event: self._set_theme(event.value))
            labelled(theme, "Colours: as the system, light or dark")

    def _write_banner(self) -> None:
        """What stands above every page while the table is no longer the one that was opened."""
        with ui.element("div").classes("banner").props("role=alert") as self.banner:
            ui.icon("sync_problem")
            self.banner_words = ui.label("").classes("grow")
            self.reread = button("Read it again", self._reread, kind="main", icon="refresh")

    async def _reread(self) -> None:
        with self.errors_shown():
            await self.controller.reopen()

    def _show_banner(self) -> None:
        state = self.controller.table_state
        self.banner.set_visibility(state in BANNERS)
        self.banner_words.set_text(BANNERS.get(state, ""))
        self.reread.set_visibility(state == "changed")

    def _set_theme(self, name: str) -> None:
        self.dark.set_value(THEMES[name])
        self.controller.project.theme = name

    def _refresh(self) -> None:
        self._show_banner()
        project = self.controller.project
        work = project.work
        self.source.set_text(Path(shown_address(work.source)).name if work.source else "No table is open")
        self.facts.set_text(
            f"k = {work.job.k} · {len(work.job.quasi)} quasi-identifier{'s' * (len(work.job.quasi) != 1)}"
            if work.source
            else ""
        )
        for control, step, name in ((self.undo, project.undoable, "Undo"), (self.redo, project.redoable, "Redo")):
            control.set_enabled(bool(step))
            tip(control, f"{name}: {step}" if step else f"Nothing to {name.lower()}")
            labelled(control, f"{name} {step}".strip())
        self._show_stages()
        self._show_progress()

    def _show_stages(self) -> None:
        """What is done on each page and what is missing, and where Next leads."""
        self._way = stages(self.controller)
        for each in self._way:
            shown = self.states[each.path]
            shown.set_text(each.words)
            shown.classes(remove="done open later", add=each.state)
            number = [page.path for page in PAGES].index(each.path) + 1
            tip(self.links[each.path], f"{each.words}\nAlt+{number}" if each.words else f"Alt+{number}")
        path = next_stage(self._way, self.page.path if self.page is not None else "/")
        names = {each.path: each.name for each in PAGES}
        self.onward.set_visibility(bool(path) and bool(self.controller.project.work.source))
        if path:
            self.onward.set_text(f"Next: {names[path]}")
            labelled(self.onward, f"Next: {names[path]}")

    def _go_on(self) -> None:
        path = next_stage(self._way, self.page.path if self.page is not None else "/")
        if path:
            ui.navigate.to(path)

    def _project_changed(self) -> None:
        with self.client:
            self._refresh()
            if self.page is not None:
                self.page.changed()
        self.controller.schedule_prefetch()

    def _show_progress(self) -> None:
        now = self.controller.underway
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
        with self.errors_shown():
            step = getattr(self.controller.project, which)()
            ui.notify(f"{'Undone' if which == 'undo' else 'Done again'}: {step}", position="bottom-left")

    def _key(self, event: KeyEventArguments) -> None:
        if not event.action.keydown or event.action.repeat:
            return
        key, with_ctrl = event.key.name.lower(), event.modifiers.ctrl or event.modifiers.meta
        if with_ctrl and key == "z":
            self._step("redo" if event.modifiers.shift else "undo")
        elif with_ctrl and key == "y":
            self._step("redo")
        elif event.modifiers.alt and key.isdigit() and 1 <= int(key) <= len(PAGES):
            ui.navigate.to(PAGES[int(key) - 1].path)

    @contextlib.contextmanager
    def errors_shown(self) -> Iterator[None]:
        """Show errors of the block as messages."""
        try:
            yield
        except (PageLeft, Superseded):
            pass
        except Cancelled:
            self._notify("Stopped. Nothing was changed.", position="bottom-left")
        except NoSolution as nothing:
            self._notify(nothing.reason, type="negative", multi_line=True, close_button="Close", timeout=0)
        except (KanopyError, OSError, ValueError) as error:
            self._notify(str(error), type="negative", multi_line=True, close_button="Close", timeout=0)

    def _notify(self, words: str, **look: Any) -> None:
        """Show a message, even if the page that caused it was left."""
        if not self.client.is_deleted:
            with self.client:
                ui.notify(words, **look)
