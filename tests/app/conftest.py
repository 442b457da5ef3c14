"""A server of its own and a real browser; without them the tests say how to get them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

INSTALL = "pip install 'kanopy[app]' playwright && apt-get install chromium"
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
SIZE = {"width": 1280, "height": 800}


def chromium() -> str | None:
    """Where Chromium is installed."""
    return next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """One browser for all tests of a process."""
    pytest.importorskip("nicegui", reason=f"the app is not installed: {INSTALL}")
    api = pytest.importorskip("playwright.sync_api", reason=f"Playwright is not installed: {INSTALL}")
    place = chromium()
    if place is None:
        pytest.skip(f"Chromium is not installed: {INSTALL}")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=place, args=list(FLAGS))
        yield found
        found.close()


class Server:
    """`kanopy app` as a user starts it."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "kanopy", "app", "--no-browser", "--project", str(folder), *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "400"},
        )  # fmt: skip
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()
        assert self.address.startswith("http://127.0.0.1:"), self.process.stderr and self.process.stderr.read()
        self.port = int(self.address.split(":")[2].split("/")[0])

    def kill(self) -> None:
        """As a crash would end it."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> str:
        """End it; what it had to complain about."""
        self.process.terminate()
        try:
            return self.process.communicate(timeout=15)[1]
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.communicate()[1]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts servers, and ends them."""
    started: list[Server] = []

    def start(*arguments: str, folder: Path | None = None) -> Server:
        started.append(Server(folder or tmp_path / "project", *arguments))
        return started[-1]

    yield start
    for each in started:
        if each.process.poll() is None:
            each.stop()


@pytest.fixture
def session(browser: Any) -> Callable[..., Any]:
    """Opens windows that remember what they asked for and what went wrong in them."""

    @contextmanager
    def opened(address: str, **options: Any) -> Iterator[Any]:
        context = browser.new_context(viewport=SIZE, accept_downloads=True, **options)
        page = context.new_page()
        page.asked, page.wrong = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("pageerror", lambda error: page.wrong.append(str(error)))
        page.set_default_timeout(30_000)
        page.goto(address)
        try:
            yield page
        finally:
            context.close()

    return opened
