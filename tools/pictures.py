"""Draw the pictures of the documentation from real runs on bundled data.

    python tools/pictures.py [NAME …]        # all, or those whose names are given

Charts and trees are drawn by Kanopy, terminals by Rich, pages are photographed with Chromium (the program `chromium`
must be installed). Look at every picture before you commit it.
"""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import polars as pl
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

import kanopy
from kanopy.hierarchy import tree_svg

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
FILES = ROOT / "docs" / "files"
QUASI = ["age", "sex", "race", "marital-status", "education", "native-country"]
WIDE = 980
THEME = TerminalTheme(
    (250, 250, 248),
    (40, 44, 52),
    [
        (40, 44, 52),
        (190, 30, 45),
        (20, 120, 80),
        (150, 100, 0),
        (30, 90, 170),
        (130, 60, 150),
        (0, 120, 130),
        (90, 94, 100),
    ],
)
TERMINAL = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} HEIGHT" width="{width}" height="HEIGHT">
<style>.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; }} {styles}</style>
<defs><clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/></clipPath>{lines}</defs>
<rect fill="#fafaf8" stroke="#d5d5d0" width="{width}" height="HEIGHT" rx="8"/>
<g transform="translate({terminal_x}, 8)" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g></svg>
"""
"""A picture of a terminal with fonts of the reader's own machine: Rich's frame would load one from elsewhere."""


class Studio:
    """A folder with the bundled data, in which the pictures are taken."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        kanopy.datasets.write_adult_csv(folder / "adult.csv")
        (folder / "hierarchies").mkdir()
        for name, h in kanopy.datasets.adult_hierarchies().items():
            kanopy.write_hierarchy(h, folder / "hierarchies" / f"{name}.csv")
        (folder / "job.toml").write_text(self.job().to_toml(), encoding="utf-8")

    def job(self) -> kanopy.Job:
        return kanopy.Job(
            quasi=QUASI, sensitive=["income"], identifiers=["fnlwgt"], k=5, suppress="2%",
            hierarchies={name: str(self.folder / "hierarchies" / f"{name}.csv") for name in QUASI},
        )  # fmt: skip

    def run(self, *arguments: str, colour: bool = False) -> str:
        """What a command says."""
        program = Path(sys.executable).parent / "kanopy"
        environment = {**os.environ, "COLUMNS": "100", **({"FORCE_COLOR": "1"} if colour else {"NO_COLOR": "1"})}
        ran = subprocess.run(
            [str(program), *arguments], cwd=self.folder, env=environment, check=True, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,  # the bar of progress is not for pictures
        )  # fmt: skip
        return ran.stdout

    def terminal(self, name: str, *arguments: str, lines: int = 40) -> None:
        """A command and what it says, as a picture; how long it took here is left out."""
        shown = " ".join(f"'{word}'" if "|" in word else word for word in arguments)
        said = re.sub(r"\n[^\n]*\d s \(read [^\n]*", "", self.run(*arguments, colour=True))
        self.text(name, f"$ kanopy {shown}", said, lines)

    def text(self, name: str, command: str, said: str, lines: int = 40) -> None:
        console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
        console.print(Text(command, style="bold"))
        rows = said.rstrip().splitlines()
        console.print(Text.from_ansi("\n".join(rows[:lines] + (["…"] if len(rows) > lines else []))))
        drawn = console.export_svg(title="", theme=THEME, code_format=TERMINAL, unique_id="t")
        inside = re.search(r'<rect x="0" y="0" width="[\d.]+" height="([\d.]+)"', drawn)
        assert inside is not None, "Rich says how high the text is"
        drawn = drawn.replace("HEIGHT", f"{float(inside[1]) + 20:.0f}")
        (IMAGES / f"{name}.svg").write_text(re.sub(r"[ \t]+\n", "\n", drawn), encoding="utf-8")

    def page(
        self, name: str, source: str, height: int, *, sections: tuple[str, ...] = (), width: int = WIDE, rows: int = 99
    ) -> None:
        """A photograph of a page, or of some of its sections."""
        text = (self.folder / source).read_text(encoding="utf-8")
        if sections:
            head = text[: text.index("<body")]
            found = [re.search(rf'<section id="{one}".*?</section>', text, re.DOTALL) for one in sections]
            inner = "".join(match[0] for match in found if match)
            inner = re.sub(
                r"<tbody>.*?</tbody>",
                lambda body: "<tbody>" + "".join(re.findall(r"<tr.*?</tr>", body[0], re.DOTALL)[:rows]) + "</tbody>",
                inner, flags=re.DOTALL,
            )  # fmt: skip
            text = f"{head}<body><main>{inner}</main></body></html>"
        target = self.folder / f"{name}.html"
        target.write_text(text, encoding="utf-8")
        with tempfile.TemporaryDirectory() as profile:
            subprocess.run(
                [
                    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                    "--hide-scrollbars", f"--user-data-dir={profile}", f"--window-size={width},{height}",
                    f"--screenshot={IMAGES / name}.png", target.as_uri(),
                ],
                check=True, capture_output=True,
            )  # fmt: skip


def raw(studio: Studio) -> None:
    lines = (studio.folder / "adult.csv").read_text(encoding="utf-8").splitlines()[:7]
    columns = [0, 1, 3, 5, 8, 9, 13, 14]
    cells = [[line.split(",")[i] for i in columns] for line in lines]
    widths = [max(len(row[i]) for row in cells) for i in range(len(columns))]
    said = "\n".join("  ".join(cell.ljust(wide) for cell, wide in zip(row, widths, strict=True)) for row in cells)
    studio.text("raw", "$ head -7 adult.csv        # eight of its fifteen columns", said)


def init(studio: Studio) -> None:
    studio.terminal("init", "init", "adult.csv", "-o", "guessed.toml", lines=46)


def risk(studio: Studio) -> None:
    studio.run("risk", "adult.csv", "-q", ",".join(QUASI), "-s", "income", "--report", "risk.html")
    studio.page("risk", "risk.html", 900, width=1080)


def education(studio: Studio) -> None:
    h = kanopy.datasets.adult_hierarchies()["education"]
    (IMAGES / "education.svg").write_text(tree_svg(h), encoding="utf-8")


def zip_codes(studio: Studio) -> None:
    h = kanopy.build_hierarchy(pl.read_csv(FILES / "people.csv", infer_schema=False)["zip"], "redact", name="zip")
    (IMAGES / "zip.svg").write_text(tree_svg(h), encoding="utf-8")


def dates(studio: Studio) -> None:
    days = [
        "2024-01-03",
        "2024-01-04",
        "2024-02-01",
        "2024-05-19",
        "2024-05-20",
        "2025-01-02",
        "2025-01-09",
        "2025-03-30",
    ]
    h = kanopy.build_hierarchy(days, "dates", granularities=("month", "quarter", "year"), name="admitted")
    (IMAGES / "dates.svg").write_text(tree_svg(h), encoding="utf-8")


def report(studio: Studio) -> None:
    studio.run("anonymize", "adult.csv", "--job", "job.toml", "-o", "release.csv", "--report", "report.html")
    studio.page("report", "report.html", 1130, width=1080)
    studio.page("groups", "report.html", 560, sections=("groups",))
    studio.page("columns", "report.html", 560, sections=("columns",))


def rows(studio: Studio) -> None:
    studio.run(
        "anonymize", "adult.csv", "--job", "job.toml", "-o", "inside.csv", "--report", "inside.html", "--report-values"
    )
    studio.page("rows", "inside.html", 780, sections=("rows",), rows=5)


def risk_map(studio: Studio) -> None:
    studio.run("explore", "adult.csv", "--job", "job.toml", "--k", "2..10,12,15,20", "-o", str(IMAGES / "map.png"))


def comparison(studio: Studio) -> None:
    names = "optimal,top-down-specialization,mondrian,xu,he-naughton,iterative-local,best"
    studio.run(
        "compare", "adult.csv", "--job", "job.toml", "--algorithms", names, "--budget", "3s",
        "-o", str(IMAGES / "comparison.png"),
    )  # fmt: skip


def local(studio: Studio) -> None:
    studio.terminal(
        "local", "anonymize", "adult.csv", "--job", "job.toml", "--local", "--budget", "5s",
        "--model", "l-distinct:income:2", "-o", "local.csv",
    )  # fmt: skip


def assess(studio: Studio) -> None:
    if not (studio.folder / "local.csv").exists():
        local(studio)
    studio.run("assess", "adult.csv", "local.csv", "--job", "job.toml", "--report", "assess.html")
    studio.page("assess", "assess.html", 900, width=1080)


def check(studio: Studio) -> None:
    if not (studio.folder / "local.csv").exists():
        local(studio)
    studio.terminal(
        "check", "check", "local.csv", "-q", ",".join(QUASI), "-s", "income", "--model", "l-distinct:income:2"
    )


def unique(studio: Studio) -> None:
    adult = kanopy.datasets.adult()
    columns = ["sex", "age", "race", "marital-status", "education", "occupation", "native-country"]
    values = [
        {"step": ("" if at == 0 else "+ ") + name, "unique": kanopy.check(adult, quasi=columns[: at + 1]).unique_rows}
        for at, name in enumerate(columns)
    ]
    order = [value["step"] for value in values]
    y = {
        "field": "step",
        "type": "nominal",
        "sort": order,
        "title": None,
        "axis": {"labelFontSize": 13, "ticks": False},
    }
    x = {"field": "unique", "type": "quantitative", "title": "people whom these columns single out, of 48,842",
         "axis": {"grid": False, "titleFontSize": 12, "labelFontSize": 11}}  # fmt: skip
    chart = {
        "data": {"values": values}, "width": 560, "height": {"step": 30}, "background": "white", "padding": 14,
        "encoding": {"y": y, "x": x},
        "layer": [
            {"mark": {"type": "bar", "color": "#1b7a5a", "cornerRadiusEnd": 3}},
            {"mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 13},
             "encoding": {"text": {"field": "unique", "format": ","}}},
        ],
        "config": {"view": {"stroke": None}},
    }  # fmt: skip
    import vl_convert

    (IMAGES / "unique.png").write_bytes(vl_convert.vegalite_to_png(chart, scale=1.6))


def k_anonymity(studio: Studio) -> None:
    """Six people before and after, drawn by hand."""
    before = [
        ("31", "f", "04103", "asthma"),
        ("34", "f", "04105", "influenza"),
        ("38", "f", "04109", "diabetes"),
        ("52", "m", "06108", "fracture"),
        ("57", "m", "06112", "asthma"),
        ("59", "m", "06114", "gastritis"),
    ]
    after = [("30–39", "f", "041**", row[3]) for row in before[:3]] + [
        ("50–59", "m", "061**", row[3]) for row in before[3:]
    ]
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 330" width="860" height="330" role="img" '
           'aria-label="Six people before and after" font-family="system-ui, sans-serif" font-size="15">',
           '<rect width="860" height="330" fill="white" rx="8"/>']  # fmt: skip
    for left, title, rows_, grouped in ((30, "Before: everybody is unique", before, False),
                                        (470, "After: two groups of three", after, True)):  # fmt: skip
        out.append(f'<text x="{left}" y="36" font-weight="600" font-size="17">{title}</text>')
        for at, head in enumerate(("age", "sex", "zip", "diagnosis")):
            out.append(f'<text x="{left + 12 + (0, 75, 130, 215)[at]}" y="70" fill="#5b6470">{head}</text>')
        for number, row in enumerate(rows_):
            top = 82 + number * 36 + (18 if grouped and number > 2 else 0)
            colour = ("#dcefe6", "#f6e6d3")[number > 2] if grouped else "#f2f2ef"
            out.append(f'<rect x="{left}" y="{top}" width="350" height="32" rx="5" fill="{colour}"/>')
            for at, cell in enumerate(row):
                weight = ' font-weight="600"' if grouped and at in (0, 2) else ""
                spot = left + 12 + (0, 75, 130, 215)[at]
                out.append(f'<text x="{spot}" y="{top + 21}"{weight} fill="#20262e">{html.escape(cell)}</text>')
    out.append('<path d="M398 190 h44 m-12 -9 l12 9 l-12 9" stroke="#1b7a5a" stroke-width="3" fill="none"/></svg>')
    (IMAGES / "k-anonymity.svg").write_text("\n".join(out) + "\n", encoding="utf-8")


PICTURES: dict[str, Callable[[Studio], None]] = {
    "raw": raw, "init": init, "risk": risk, "education": education, "zip": zip_codes, "dates": dates, "report": report,
    "rows": rows, "map": risk_map, "comparison": comparison, "local": local, "assess": assess, "check": check,
    "unique": unique, "k-anonymity": k_anonymity,
}  # fmt: skip


def main() -> None:
    """Draw what is asked for."""
    wanted = sys.argv[1:] or list(PICTURES)
    with tempfile.TemporaryDirectory() as folder:
        studio = Studio(Path(folder))
        for name in wanted:
            PICTURES[name](studio)
    for path in sorted(IMAGES.iterdir()):
        if path.stat().st_size > 300_000:
            raise SystemExit(f"{path.name} has {path.stat().st_size:,} bytes; more than 300,000 are too many.")


if __name__ == "__main__":
    main()
