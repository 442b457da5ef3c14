"""How long the page takes to answer: seconds from a press until its answer is drawn, measured in the browser.

Run: python benchmarks/app.py [--rows 1000000] [--only WORD]. Needs Chromium and Playwright, else it says so and ends.
Without --rows the table is the bundled Adult data; with it, that many people drawn from it, with four columns more.
`first` is when anything of the answer stands on the page, `whole` when all of it does.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WATCH = """
window.watched = {};
for (const kind of ['pointerdown', 'keydown']) window.addEventListener(kind, () => {
  if (window.watched.wait) window.watched = { wait: false, begun: performance.now() };
}, true);
window.watch = (conditions) => new Promise((answer) => {
  window.watched = { wait: true, begun: 0 };
  const found = {}, parts = Object.entries(conditions).map(([name, text]) => [name, new Function('return ' + text)]);
  const true_now = (holds) => { try { return holds(); } catch (error) { return false; } };
  const look = () => {
    const begun = window.watched.begun, now = performance.now();
    for (const [name, holds] of begun ? parts : [])
      if (!(name in found) && true_now(holds)) found[name] = (now - begun) / 1000;
    const done = Object.keys(found).length === parts.length || (begun && now - begun > PATIENCE);
    requestAnimationFrame(() => (done ? answer(found) : look()));
  };
  look();
});
const drawn = (each) => each && each.getClientRects().length;
window.all = (where) => [...document.querySelectorAll(where)].filter((e) => drawn(e) || drawn(e.firstElementChild));
window.text = (selector) => (document.querySelector(selector) || { textContent: '' }).textContent;
window.shown = (words) => document.body.innerText.includes(words);
window.pressed = (label, name) =>
  all(`[aria-label='${label}'] [aria-pressed=true]`).some((e) => e.innerText.trim() === name);
""".replace("PATIENCE", "30000")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def table_of(rows: int, folder: Path) -> Path:
    """People drawn from Adult, with an income in dollars, a town, a birth date and a weight besides."""
    import numpy as np
    import polars as pl

    import kanopy

    draw = np.random.default_rng(7)
    adult = kanopy.datasets.adult()
    made = adult[draw.integers(0, adult.height, rows)].with_columns(
        pl.Series("dollars", draw.lognormal(10.4, 0.7, rows).round(-2)),
        pl.Series("town", np.char.add("T", draw.zipf(1.4, rows).clip(1, 800).astype(str))),
        pl.Series("born", np.datetime64("1920-01-01") + draw.integers(0, 28_000, rows)),
        pl.Series("weight", draw.integers(50, 900, rows)),
    )
    made.write_parquet(folder / "people.parquet")
    return folder / "people.parquet"


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, float]]:
    """The server as a user starts it: its address, and the seconds until it answers."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "kanopy", "app", "--no-browser", "--project", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "400"})
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), time.perf_counter() - begun
    finally:
        process.terminate()
        process.wait(20)


class Hand:
    """Presses something, and measures when the answer is there."""

    def __init__(self, page: Any, only: str) -> None:
        self.page, self.only = page, only

    def measure(self, words: str, press: Any, **conditions: str) -> None:
        """Print the seconds from a press until each condition holds."""
        self.page.evaluate("conditions => { window.answer = window.watch(conditions); }", conditions)
        press()
        found = self.page.evaluate("window.answer")
        if self.only in words:
            line = "   ".join(f"{name} {found[name]:5.2f}" if name in found else f"{name} never" for name in conditions)
            print(f"{words:44} {line}", flush=True)
        self.page.wait_for_timeout(700)

    def link(self, place: str) -> Any:
        """What goes to a place."""
        return self.page.get_by_role("navigation").get_by_role("link", name=place, exact=True).click

    def button(self, name: str, at: int = 0) -> Any:
        """What presses a button."""
        return self.page.get_by_role("button", name=name).nth(at).click


def go(hand: Hand, source: str | None) -> None:
    """The way through the page."""
    page = hand.page
    lines, tree = "all('.column-line .kchoice').length > 5", "all('.knode').length > 2"
    if source is None:
        press = hand.button("Open the example")
    else:
        page.get_by_label("Path or address").fill(source)
        press = page.get_by_role("button", name="Open", exact=True).click
    hand.measure("open a table", press, first="all('.underway').length", whole=lines)
    page.wait_for_timeout(4000)
    hand.measure("next rows", hand.button("Rows after"), whole="text('.grid tbody tr td').trim() === '21'")
    hand.measure("last rows", hand.button("Last rows"), whole="+text('.grid tbody tr td').replace(/,/g, '') > 48000")
    line = page.get_by_label("Role of race", exact=True)
    pressed = "pressed('Role of race', '%s')"
    for role in ("Sensitive", "Quasi"):
        press = line.get_by_role("button", name=role, exact=True).click
        said = f"document.querySelector('[aria-label^=\"Undo race is {role.lower()}\"]')"
        hand.measure(f"a role: {role}", press, first=pressed % role, whole=said)
    hand.measure("undo", hand.button("Undo race"), whole=pressed % "Sensitive")
    hand.measure("redo", hand.button("Redo race"), whole=pressed % "Quasi")
    offers, effect = "all('.offers .line').length > 2", "/look with/.test(document.body.innerText) && !shown('Looking')"
    hand.measure("to Hierarchies", hand.link("Hierarchies"), first=tree, effect=effect, whole=offers)
    for name in ("education", "occupation", "age"):
        here = f"text('.choice.here').trim() === '{name}'"
        press = page.get_by_role("button", name=name, exact=True).click
        hand.measure(f"another column: {name}", press, first=f"{here} && {tree}", effect=f"{here} && {effect}",
                     whole=f"{here} && {offers}")  # fmt: skip
    node = page.get_by_role("treeitem").nth(2)
    hand.measure("choose a node", node.click, whole="document.querySelector('[aria-label=\"Label\"]')")
    page.get_by_label("Label", exact=True).fill("another name")
    hand.measure("rename it", hand.button("Rename"), whole="all('.knode').some(e => e.textContent.includes('another'))")
    hand.measure("undo it", lambda: page.locator("body").press("Control+z"),
                 whole="!all('.knode').some(e => e.textContent.includes('another name'))")  # fmt: skip
    hand.measure("to Release", hand.link("Release"), first="all('.slider').length > 1",
                 whole="all('.small-tiles .number').length > 3 && all('.picture').length")  # fmt: skip
    slider = page.get_by_role("slider", name="k (slider)", exact=True).locator("[tabindex='0']")
    for words in ("first step of a slider", "next step of a slider", "next step of a slider"):
        page.evaluate("window.before = text('.small-tiles')")
        hand.measure(words, lambda: slider.press("ArrowRight"), whole="text('.small-tiles') !== window.before")
    weight = page.get_by_role("slider", name=re.compile("Importance")).first.locator("[tabindex='0']")
    page.evaluate("window.before = text('.small-tiles')")
    hand.measure("importance of a column", lambda: weight.press("ArrowRight"), whole="text('.small-tiles') !== before")
    hand.measure("to Explore", hand.link("Explore"), whole="shown('Plans') && shown('All candidates')")
    hand.measure("to Risk and utility", hand.link("Risk and utility"), first="shown('stand out')",
                 whole="shown('Which columns make rows rare') || shown('Look for them')")  # fmt: skip
    hand.measure("to Download", hand.link("Download"), whole="all('.code').length > 2")
    hand.measure("to Data", hand.link("Data"), first="all('.columns-box').length", whole=lines)
    for place, done in (("Risk and utility", "shown('Which columns') || shown('Look for')"), ("Hierarchies", tree),
                        ("Release", "all('.small-tiles .number').length > 3")):  # fmt: skip
        hand.measure(f"to {place} again", hand.link(place), whole=done)


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=0, help="people drawn from Adult; Adult itself without it")
    parser.add_argument("--only", default="", help="print only measurements whose name holds this")
    options = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        chromium = None
    if chromium is None:
        print("The page is not measured: pip install playwright, and Chromium")
        return
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        source = str(table_of(options.rows, folder)) if options.rows else None
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        with served(folder / "project") as (address, seconds):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.set_default_timeout(60_000)
            page.add_init_script(WATCH)
            begun = time.perf_counter()
            page.goto(address)
            page.get_by_role("button", name="Open the example").wait_for()
            drawn = time.perf_counter() - begun
            print(f"{options.rows or 48_842:,} rows: seconds")
            print(f"{'the first page':44} server {seconds:4.2f}   page {drawn:4.2f}")
            page.wait_for_timeout(1500)
            go(Hand(page, options.only), source)
        browser.close()


if __name__ == "__main__":
    main()
