"""The report as PDF, printed by a browser that is installed here; none comes with Kanopy."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path

from kanopy import _temporary
from kanopy._errors import MissingDependency
from kanopy._files import stamp

BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "msedge",
    "microsoft-edge",
)
QUIET = (
    "--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-pdf-header-footer",
)  # fmt: skip
LONGEST_SECONDS = 60


def printing_browser() -> str | None:
    """A browser that can print to a file, if one is installed."""
    return next((program for name in BROWSERS if (program := shutil.which(name))), None)


async def print_page(page: Path) -> bytes:
    """A page as PDF."""
    browser = printing_browser()
    if browser is None:
        raise MissingDependency(
            "No Chromium, Chrome or Edge is installed here to print the report. Open the report and print it as PDF."
        )
    with _temporary.folder() as folder:
        target = folder / "report.pdf"
        sandbox = ("--no-sandbox",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
        process = await asyncio.create_subprocess_exec(
            browser, *QUIET, *sandbox, f"--user-data-dir={folder}/profile", f"--print-to-pdf={target}", page.as_uri(),
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            await asyncio.wait_for(process.wait(), LONGEST_SECONDS)
        except TimeoutError:
            process.kill()
        if not target.exists():
            raise MissingDependency("The browser did not print the report. Open the report and print it as PDF.")
        return without_time(target.read_bytes())


def without_time(page: bytes) -> bytes:
    """A PDF whose times are those that all our files have; its length stays, as its parts are found by their places.

    >>> without_time(b"/CreationDate (D:20260102030405+01'00')")
    b"/CreationDate (D:19800101000000+00'00')"
    """
    date_mark = f"D:{stamp():%Y%m%d%H%M%S}+00'00'".encode()
    return re.sub(rb"D:\d{14}[+-]\d\d'\d\d'", date_mark, page)
