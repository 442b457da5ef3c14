"""Make the bundled classifications (src/kanopy/data/classifications/) from files of their publishers.

    python tools/make_classifications.py FOLDER [NAME …]

FOLDER holds what the packages and archives named in `NOTICES.md` beside the data contain, unpacked: this is run again
only when an official body publishes a new version. Small tables of our own (states, months, elements, religions,
levels of education) are the text files in `tools/classifications/`, one line per code: indented below its parent,
`code | label | other spellings`.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from kanopy.classifications.classification import About, Classification
from kanopy.classifications.compact import write_compact

OWN = Path(__file__).parent / "classifications"
TARGET = Path(__file__).parent.parent / "src" / "kanopy" / "data" / "classifications"
Rows = list[tuple[str, str, str, int]]
"""Code, label, parent, rank."""

US = "United States government work: public domain"
EU = "CC BY 4.0 (Commission Decision 2011/833/EU)"
UNICODE = "Unicode-3.0"
OURS = "Apache-2.0 (compiled by the Kanopy developers)"
M49_NAMES = {"035": "South-eastern Asia", "053": "Australia and New Zealand", "057": "Micronesia"}
"""Regions that the United Nations calls otherwise than the CLDR."""
FORMER = (
    ("AN", "Netherlands Antilles", "029", "ANT; 530"),
    ("CSXX", "Serbia and Montenegro", "039", "SCG; 891; Serbia & Montenegro"),
    ("YU", "Yugoslavia", "039", "YUG; 890; Yugoslav Federation"),
    ("CSHH", "Czechoslovakia", "151", "CSK; 200"),
    ("SU", "USSR", "151", "SUN; 810; Soviet Union; U.S.S.R."),
)
"""Countries that were (ISO 3166-3): they still stand in data."""
LANGUAGES = ("en", "de", "es", "fr", "it", "nl", "pl", "pt")


def store(
    stem: str,
    rows: Rows,
    levels: Iterable[str],
    about: About,
    variants: Mapping[str, str] | None = None,
    labels: Mapping[str, Mapping[str, str]] | None = None,
) -> None:
    """Write one classification."""
    codes = [row[0] for row in rows]
    number = {code: at for at, code in enumerate(codes)}
    assert len(number) == len(codes), f"{stem}: a code occurs twice"
    clean = [" ".join(row[1].split()) for row in rows]
    spelled = {"en": clean}
    for language, own in (labels or {}).items():
        spelled[language] = [" ".join(own.get(code, label).split()) for code, label in zip(codes, clean, strict=True)]
    made = Classification(
        stem,
        codes,
        np.array([number[row[2]] if row[2] else -1 for row in rows], np.int32),
        np.array([row[3] for row in rows], np.int32),
        tuple(levels),
        spelled,
        {},
        {},
        about,
    )
    write_compact(made, TARGET / f"{stem}.txt.gz", variants)


def icd_10_cm(folder: Path) -> None:
    """The tabular list of the CDC: chapters, blocks (sections), codes, and extensions of seven characters."""
    tree = ElementTree.parse(folder / "icd10cm-tabular-2026-april.xml")
    rows: Rows = []
    order = (folder / "icd10cm-codes-2026-april.txt").read_text().split()
    wanted = [code for code in order if not re.fullmatch(r"\d+|.*-.*", code)]
    label: dict[str, str] = {}
    extensions: dict[str, dict[str, str]] = {}

    def visit(element: ElementTree.Element, sevenths: dict[str, str]) -> None:
        own = element.find("sevenChrDef")
        if own is not None:
            sevenths = {e.get("char", ""): e.text or "" for e in own.findall("extension")}
        name = (element.findtext("name") or "").strip()
        label[name.replace(".", "")] = element.findtext("desc") or ""
        extensions[name.replace(".", "")] = sevenths
        for child in element.findall("diag"):
            visit(child, sevenths)

    block_of: dict[str, str] = {}
    chapters = []
    for chapter in tree.getroot().findall("chapter"):
        number = (chapter.findtext("name") or "").strip()
        title = re.sub(r"\s*\([A-Z0-9-]+\)$", "", chapter.findtext("desc") or "")
        chapters.append((number, title, chapter))
        for section in chapter.findall("section"):
            for diag in section.findall("diag"):
                visit(diag, {})
                block_of[(diag.findtext("name") or "").strip()] = section.get("id") or ""
    below: dict[str, list[str]] = {}
    for code in wanted:
        if len(code) >= 3 and code[:3] in block_of:
            below.setdefault(code[:3], []).append(code)
    for number, title, chapter in chapters:
        rows.append((number, title, "", 0))
        for section in chapter.findall("section"):
            block = section.get("id") or ""
            diags = [(d.findtext("name") or "").strip() for d in section.findall("diag")]
            # A block of one category has its name: it is told from the category by the range.
            shown = block if "-" in block else f"{block}-{block}"
            text = re.sub(r"\s*\([A-Z0-9-]+\)$", "", section.findtext("desc") or "")
            rows.append((shown, text, number, 1))
            for category in diags:
                for code in dict.fromkeys(below.get(category, [category])):
                    if code == category:
                        rows.append((code, label[code], shown, 2))
                        continue
                    parent = code[:-1]
                    while parent not in label and parent not in known_codes(rows):
                        parent = parent[:-1]
                    parent = parent.rstrip("X") if parent not in label else parent
                    while parent not in label:
                        parent = parent[:-1]
                    text = label.get(code) or f"{label[parent]}, {extensions[parent].get(code[-1], code[-1])}"
                    rows.append((dotted(code), text, dotted(parent), len(code) - 1))
    about = About(
        "International Classification of Diseases, 10th revision, Clinical Modification", "April 2026",
        "U.S. Centers for Disease Control and Prevention, National Center for Health Statistics: tabular list",
        US, "NOTICES.md", "sensitive", "diagnosis",
    )  # fmt: skip
    levels = ("chapter", "block", "category", "4 characters", "5 characters", "6 characters", "7 characters")
    variants = own_rows("diagnoses")[1]
    assert not (unknown := set(variants.values()) - {row[0] for row in rows}), unknown
    store("icd-10-cm-2026", rows, levels, about, variants)


_KNOWN: dict[int, set[str]] = {}


def known_codes(rows: Rows) -> set[str]:
    """Codes without dots of the rows so far, kept between calls."""
    known = _KNOWN.setdefault(id(rows), set())
    for row in rows[len(known) :]:
        known.add(row[0].replace(".", ""))
    return known


def dotted(code: str, after: int = 3) -> str:
    """A code with the dot after its third character."""
    return code if len(code) <= after else f"{code[:after]}.{code[after:]}"


def icd_9_cm(folder: Path) -> None:
    """The last version (32) of ICD-9-CM: chapters and sections by their ranges, codes and titles of the CMS."""
    titles = {}
    for line in (folder / "CMS32_DESC_LONG_DX.txt").read_text("latin-1").splitlines():
        code, _, text = line.partition(" ")
        titles[code.strip()] = text.strip()
    tree = json.loads((folder / "icd-9-hierarchy.json").read_text())["tree"]
    rows: Rows = []
    seen: set[str] = set()

    def written(code: str) -> str:
        return dotted(code, 4 if code.startswith("E") else 3)

    def leaves(node: dict[str, object]) -> Iterator[str]:
        children = node.get("children")
        if not children:
            yield str(node["id"])
        for child in children or ():  # type: ignore[attr-defined]
            yield from leaves(child)

    def width(code: str) -> int:
        return 4 if code.startswith("E") else 3

    for chapter in tree["children"]:
        members = [code for code in leaves(chapter) if code in titles]
        if not members:
            continue
        span = f"{members[0][: width(members[0])]}-{members[-1][: width(members[-1])]}"
        span = span if span not in seen else f"{span} "
        seen.add(span)
        rows.append((f"Chapter {span}", str(chapter["id"]), "", 0))
        for section in chapter["children"]:
            own = [code for code in leaves(section) if code in titles]
            if not own:
                continue
            part = f"{own[0][: width(own[0])]}-{own[-1][: width(own[-1])]}"
            rows.append((part, str(section["id"]), f"Chapter {span}", 1))
            for category in section.get("children") or ():
                codes = [code for code in leaves(category) if code in titles]
                for code in codes:
                    top = code[: width(code)]
                    name = str(category["id"]) if str(category["id"]) not in titles else titles[code]
                    if top not in seen:
                        seen.add(top)
                        rows.append((top, titles.get(top, name), part, 2))
                    above = top
                    for length in range(width(code) + 1, len(code) + 1):
                        piece = code[:length]
                        if piece not in seen and (piece in titles or sum(c.startswith(piece) for c in codes) > 1):
                            seen.add(piece)
                            text = titles.get(piece, f"{titles.get(top, name)} ({written(piece)})")
                            rows.append((written(piece), text, written(above), 2 + length - width(code)))
                        if piece in seen:
                            above = piece
    about = About(
        "International Classification of Diseases, 9th revision, Clinical Modification", "version 32 (2014)",
        "U.S. Centers for Medicare and Medicaid Services, National Center for Health Statistics",
        US, "NOTICES.md", "sensitive", "diagnosis",
    )  # fmt: skip
    store("icd-9-cm-2014", rows, ("chapter", "section", "category", "4 digits", "5 digits"), about)


def own_rows(name: str) -> tuple[Rows, dict[str, str]]:
    """The rows and variants of one of our own tables."""
    rows: Rows = []
    variants: dict[str, str] = {}
    above: list[str] = []
    for line in (OWN / f"{name}.txt").read_text("utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        rank = (len(line) - len(line.lstrip())) // 2
        code, label, *more = [part.strip() for part in line.split("|")]
        above = [*above[:rank], code]
        rows.append((code, label or code, above[rank - 1] if rank else "", rank))
        for spelling in more[0].split(";") if more else ():
            if spelling.strip():
                variants[spelling.strip()] = code
    return rows, variants


def countries(folder: Path) -> None:
    """ISO 3166 codes and the regions of UN M49, with names in several languages, from the Unicode CLDR."""
    core, names = folder / "cldr-core", folder / "cldr-localenames-full" / "main"
    contains = json.loads((core / "supplemental/territoryContainment.json").read_text())["supplemental"]
    inside = {key: value["_contains"] for key, value in contains["territoryContainment"].items() if key.isdigit()}
    mapping = json.loads((core / "supplemental/codeMappings.json").read_text())["supplemental"]["codeMappings"]
    spelled: dict[str, dict[str, str]] = {}
    alternatives: dict[str, set[str]] = {}
    for language in LANGUAGES:
        text = json.loads((names / language / "territories.json").read_text())
        found = text["main"][language]["localeDisplayNames"]["territories"]
        spelled[language] = {key: value for key, value in found.items() if "-alt-" not in key}
        for key, value in found.items():
            alternatives.setdefault(key.split("-alt-")[0], set()).add(value)
    rows: Rows = []
    variants: dict[str, str] = {}
    _, own = own_rows("countries")
    for continent in ("002", "019", "142", "150", "009"):
        rows.append((continent, M49_NAMES.get(continent, spelled["en"][continent]), "", 0))
        regions = [r for part in inside[continent] for r in ([part] if part != "003" else inside["003"]) if r != "QO"]
        for region in regions:
            rows.append((region, M49_NAMES.get(region, spelled["en"][region]), continent, 1))
            for code in inside[region]:
                known = mapping.get(code, {})
                if code != "XK" and ("_numeric" not in known or not 0 < int(known["_numeric"]) < 900):
                    continue
                rows.append((code, spelled["en"][code], region, 2))
                variants |= {known["_alpha3"]: code, known["_numeric"]: code}
                variants |= dict.fromkeys(alternatives.get(code, ()), code)
    rows += [("AQ-continent", "Antarctica", "", 0), ("AQ-region", "Antarctica", "AQ-continent", 1)]
    rows.append(("AQ", spelled["en"]["AQ"], "AQ-region", 2))
    variants |= {"ATA": "AQ", "010": "AQ"}
    for code, label, region, spellings in FORMER:
        rows.insert(next(at for at, row in enumerate(rows) if row[0] == region) + 1, (code, label, region, 2))
        variants |= dict.fromkeys(spellings.split("; "), code)
    codes = {row[0] for row in rows}
    variants |= {spelling: code for spelling, code in own.items() if code in codes}
    labels = {
        language: {**spelled[language], "AQ-continent": spelled[language]["AQ"], "AQ-region": spelled[language]["AQ"]}
        for language in LANGUAGES[1:]
    }
    about = About(
        "Countries and areas (ISO 3166-1) in the regions of the United Nations (M49)", "CLDR 48",
        "Unicode Common Locale Data Repository", UNICODE, "LICENCE-unicode.txt", "quasi-identifier", "country",
    )  # fmt: skip
    store("countries-2025", rows, ("continent", "region", "country"), about, variants, labels)


def languages(folder: Path) -> None:
    """ISO 639 languages in their groups (ISO 639-5), from the Unicode CLDR and the IANA registry of subtags."""
    core, names = folder / "cldr-core", folder / "cldr-localenames-full" / "main"
    found = json.loads((core / "supplemental/languageGroups.json").read_text())["supplemental"]["languageGroups"]
    groups = {key: value.split() for key, value in found.items() if key != "mul"}
    aliases = json.loads((core / "supplemental/aliases.json").read_text())["supplemental"]["metadata"]["alias"]
    spelled = {}
    for language in LANGUAGES:
        text = json.loads((names / language / "languages.json").read_text())
        own = text["main"][language]["localeDisplayNames"]["languages"]
        spelled[language] = {key: value for key, value in own.items() if re.fullmatch("[a-z]{2,3}", key)}
    registered: dict[str, list[str]] = {}
    three: dict[str, str] = {}
    for record in (folder / "language-subtag-registry.txt").read_text("utf-8").split("%%"):
        entries = re.findall(r"^(Type|Subtag|Description): (.+)$", record, re.MULTILINE)
        if ("Type", "language") in entries:
            subtag = next(value for key, value in entries if key == "Subtag")
            registered[subtag] = [value for key, value in entries if key == "Description"]
    for long, known in aliases["languageAlias"].items():
        if re.fullmatch("[a-z]{3}", long) and re.fullmatch("[a-z]{2,3}", known["_replacement"]):
            three[long] = known["_replacement"]
    above: dict[str, str] = {}
    for group, members in groups.items():
        for member in members:
            above.setdefault(member, group)

    def chain(code: str) -> list[str]:
        upwards = []
        while code in above and above[code] not in upwards:
            code = above[code]
            upwards.append(code)
        return upwards

    family_names = {"art": "Artificial languages", "sgn": "Sign languages", "crp": "Creoles and pidgins"}

    def name(code: str) -> str:
        return family_names.get(code) or spelled["en"].get(code) or (registered.get(code) or [code])[0]

    members: dict[str, dict[str, list[str]]] = {}
    tops = set()
    for code in sorted({*registered, *spelled["en"]}):
        if code in groups or not re.fullmatch("[a-z]{2,3}", code) or code in ("mul", "und", "zxx", "mis", "root"):
            continue
        upwards = chain(code)
        if not upwards and code not in spelled["en"]:
            continue
        top = upwards[-1] if upwards else "isolate"
        branch = upwards[-2] if len(upwards) > 1 else top
        tops.add(top)
        members.setdefault(top, {}).setdefault(branch, []).append(code)
    rows: Rows = []
    variants: dict[str, str] = {}
    for top in sorted(tops, key=lambda code: (code == "isolate", name(code))):
        rows.append((f"{top}-family", "Other languages" if top == "isolate" else name(top), "", 0))
        for branch, codes in sorted(members[top].items()):
            label = "Other languages" if branch == "isolate" else name(branch)
            rows.append((f"{branch}-branch", label, f"{top}-family", 1))
            for code in codes:
                rows.append((code, name(code), f"{branch}-branch", 2))
                variants |= dict.fromkeys(registered.get(code, [])[1:], code)
    codes = {row[0] for row in rows}
    variants |= {long: code for long, code in three.items() if code in codes and long not in codes}
    variants |= {spelling: code for spelling, code in own_rows("languages")[1].items() if code in codes}
    labels = {language: spelled[language] for language in LANGUAGES[1:]}
    about = About(
        "Languages (ISO 639) in their groups and families (ISO 639-5)", "CLDR 48",
        "Unicode Common Locale Data Repository; IANA Language Subtag Registry", UNICODE, "LICENCE-unicode.txt",
        "quasi-identifier", "language",
    )  # fmt: skip
    store("languages-2025", rows, ("family", "branch", "language"), about, variants, labels)


def calendar(folder: Path) -> None:
    """Months in quarters and half years, days in the week, with names in several languages."""
    for stem, kind in (("months", "months"), ("weekdays", "days")):
        rows, variants = own_rows(stem)
        lowest = max(row[3] for row in rows)
        codes = [row[0] for row in rows if row[3] == lowest]
        labels: dict[str, dict[str, str]] = {}
        for language in LANGUAGES:
            path = folder / "cldr-dates-full" / "main" / language / "ca-gregorian.json"
            found = json.loads(path.read_text())["main"][language]["dates"]["calendars"]["gregorian"][kind]
            for context in ("format", "stand-alone"):
                for width in ("wide", "abbreviated"):
                    texts = list(found[context][width].values())
                    # CLDR's week begins on Sunday, that of ISO 8601 on Monday.
                    texts = texts[1:] + texts[:1] if kind == "days" else texts
                    variants |= {text: code for code, text in zip(codes, texts, strict=True)}
                    if width == "wide" and context == "stand-alone" and language != "en":
                        labels[language] = dict(zip(codes, texts, strict=True))
        title = "Months, quarters and half years" if stem == "months" else "Days of the week"
        about = About(title, "CLDR 48", "Unicode Common Locale Data Repository (names)", UNICODE,
                      "LICENCE-unicode.txt", "quasi-identifier", stem.removesuffix("s"))  # fmt: skip
        levels = ("half year", "quarter", "month") if stem == "months" else ("part of the week", "day")
        store(f"{stem}-2025", rows, levels, about, variants, labels)


def naics(folder: Path) -> None:
    """NAICS of the United States; the sectors that have several numbers are ranges."""
    ranges = {"31": "31-33", "32": "31-33", "33": "31-33", "44": "44-45", "45": "44-45", "48": "48-49", "49": "48-49"}
    for year in (2017, 2022):
        rows: Rows = []
        variants: dict[str, str] = {}
        known: set[str] = set()
        for record in csv.DictReader((folder / f"naics{year}_all.csv").open()):
            code, title = record["code"].strip(), record["title"].strip().removesuffix("T").strip()
            if code.startswith("99"):  # "unclassified" is a code of that list, not of NAICS
                continue
            if len(code) == 2 or "-" in code:
                code = ranges.get(code[:2], code)
                if code in known:
                    continue
                rows.append((code, title, "", 0))
                variants |= {part: code for part, whole in ranges.items() if whole == code}
            else:
                above = code[:-1]
                above = ranges.get(above, above) if len(above) == 2 else above
                rows.append((code, title, above, len(code) - 2))
            known.add(code)
        about = About(
            "North American Industry Classification System (United States)", str(year), "U.S. Census Bureau", US,
            "NOTICES.md", "quasi-identifier", "industry",
        )  # fmt: skip
        levels = ("sector", "subsector", "industry group", "NAICS industry", "national industry")
        store(f"naics-{year}", rows, levels, about, variants)


def soc(folder: Path) -> None:
    """The Standard Occupational Classification of the United States."""
    for year in (2010, 2018):
        rows: Rows = []
        rank = {"2": 0, "3": 1, "5": 2, "6": 3}
        for record in csv.DictReader((folder / f"soc{year}_all.csv").open()):
            parent = "" if record["parent"] in ("NA", "") else record["parent"]
            rows.append((record["code"], record["title"], parent, rank[record["Level"]]))
        about = About("Standard Occupational Classification (United States)", str(year), "U.S. Bureau of Labor "
                      "Statistics", US, "NOTICES.md", "quasi-identifier", "occupation")  # fmt: skip
        store(f"soc-{year}", rows, ("major group", "minor group", "broad occupation", "occupation"), about)


def nace_isic(folder: Path) -> None:
    """NACE Rev. 2 and 2.1 (Eurostat), and the codes of ISIC Rev. 4 with the titles that NACE Rev. 2 shares with it."""
    text = (folder / "nace.js").read_text("utf-8")
    rows, labels = [], {language: {} for language in LANGUAGES[1:]}  # type: ignore[var-annotated]
    section = ""
    for entry in re.findall(r"\{\s+NACE_CODE: (.*?)\n  \}", text[: text.index("];")], re.DOTALL):
        code = re.match(r'"([^"]+)"', entry)[1]  # type: ignore[index]
        own = dict(re.findall(r'([A-Z]{2})_DESC: ("(?:[^"\\]|\\.)*")', entry))
        if len(code) == 1:
            section = code
        above = "" if len(code) == 1 else section if len(code) == 2 else code[:2] if len(code) == 4 else code[:4]
        rows.append((code, titled(json.loads(own["EN"])), above, [0, 0, 1, 0, 2, 3][len(code)]))
        for language in labels:
            labels[language][code] = titled(json.loads(own[language.upper()]))
    levels = ("section", "division", "group", "class")
    about = About("Statistical classification of economic activities in the European Community", "Rev. 2.1 (2023)",
                  "European Union, Eurostat", EU, "NOTICES.md", "quasi-identifier", "industry")  # fmt: skip
    store("nace-2.1", rows, levels, about, None, labels)
    rows = []
    titles = {}
    found = re.findall(
        r'Classification\(\s*"([^"]+)",\s*"((?:[^"\\]|\\.)*)",\s*Category\.(\w+),?\s*\)',
        (folder / "nace2.py").read_text(),
    )
    for code, title, category in found:
        code = code if len(code) < 3 or "." in code else f"{code[:2]}.{code[2:]}"
        section = code if category == "SECTION" else section
        above = "" if len(code) == 1 else section if len(code) == 2 else code[:2] if len(code) == 4 else code[:4]
        rows.append((code, titled(title), above, [0, 0, 1, 0, 2, 3][len(code)]))
        titles[code] = titled(title)
    about = About(about.title, "Rev. 2 (2008)", about.source, EU, "NOTICES.md", "quasi-identifier", "industry")
    store("nace-2", rows, levels, about)
    rows = []
    for code in re.findall(r'Classification\(\s*"([^"]+)"', (folder / "isic4.py").read_text()):
        section = code if len(code) == 1 else section
        above = "" if len(code) == 1 else section if len(code) == 2 else code[:-1]
        rows.append((code, titles[code] if len(code) <= 2 else "", above, len(code) - 1))
    about = About(
        "International Standard Industrial Classification of All Economic Activities", "Rev. 4 (2008)",
        "United Nations Statistics Division (codes); titles of sections and divisions: NACE Rev. 2, which shares them",
        EU, "NOTICES.md", "quasi-identifier", "industry",
    )  # fmt: skip
    store("isic-4", [(code, label or code, above, rank) for code, label, above, rank in rows], levels, about)


def titled(text: str) -> str:
    """A title in capitals as a sentence."""
    return text.capitalize() if text.isupper() else text


def nuts(folder: Path) -> None:
    """NUTS 2024 of the European Union, that of 2018 for the United Kingdom, and statistical regions of neighbours."""
    import yaml

    rows: Rows = []
    known: set[str] = set()
    entries = []
    for stem, word in (("NUTS2021-2024", "NUTS"), ("NUTSUK-2018", "NUTS"), ("SR2021-2024", "SR")):
        for entry in yaml.safe_load((folder / f"{stem}.yaml").read_text("utf-8")):
            entries += [(entry[f"{word} Code"], entry[f"{word} label"], entry[f"{word} level"])]
    english = json.loads((folder / "cldr-localenames-full/main/en/territories.json").read_text())
    names = english["main"]["en"]["localeDisplayNames"]["territories"]
    for code, label, level in sorted(entries):
        country = code[:2]
        if country not in known:
            known.add(country)
            rows.append((country, names[{"EL": "GR", "UK": "GB"}.get(country, country)], "", 0))
        if code not in known:
            known.add(code)
            above = code[:-1] if code[:-1] in known else f"{code[:3]}0"  # Northern Ireland: UKN10 is in UKN0
            rows.append((code, label, above, level))
    about = About("Nomenclature of territorial units for statistics", "2024 (United Kingdom: 2018)",
                  "European Union, Eurostat", EU, "NOTICES.md", "quasi-identifier", "region")  # fmt: skip
    store("nuts-2024", rows, ("country", "NUTS 1", "NUTS 2", "NUTS 3"), about)


def united_states(folder: Path) -> None:
    """States in census divisions and regions, counties by FIPS code, areas of three-digit ZIP codes."""
    rows, variants = own_rows("us_states")
    levels = ("region", "division", "state")
    source = "U.S. Census Bureau"
    about = About("States of the United States in census divisions and regions", "2020", source, US, "NOTICES.md",
                  "quasi-identifier", "state")  # fmt: skip
    store("us-states-2020", rows, levels, about, variants)
    fips = {code: spelling for spelling, code in variants.items() if re.fullmatch(r"\d\d", spelling)}
    counties: dict[str, list[tuple[str, str]]] = {}
    for record in csv.DictReader((folder / "fips-counties.csv").open(encoding="utf-8")):
        counties.setdefault(record["state"], []).append((record["statefp"] + record["countyfp"], record["countyname"]))
    full: Rows = []
    more: dict[str, str] = {}
    for code, label, above, rank in rows:
        if rank == 2 and code not in fips:
            continue
        own = fips[code] if rank == 2 else code
        full.append((own, label, above, rank))
        if rank == 2:
            more |= {code: own}
            full += [(county, f"{name}, {code}", own, 3) for county, name in counties.get(code, ())]
    about = About("Counties of the United States (FIPS) in states, divisions and regions", "2010", source, US,
                  "NOTICES.md", "quasi-identifier", "county")  # fmt: skip
    store("us-counties-2010", full, (*levels, "county"), about, more)
    areas: dict[str, list[str]] = {}
    for prefix, states in json.loads((folder / "zip3.json").read_text()).items():
        areas.setdefault(states[0][0], []).append(prefix)
    full = []
    for code, label, above, rank in rows:
        full.append((code, label, above, rank))
        full += [(prefix, f"ZIP {prefix}, {code}", code, 3) for prefix in sorted(areas.get(code, ())) if rank == 2]
    about = About("Areas of three-digit ZIP codes of the United States in states", "2024",
                  "U.S. Postal Service areas, as listed by the package zipcodes", "MIT", "NOTICES.md",
                  "quasi-identifier", "zip")  # fmt: skip
    store("us-zip3-2024", full, (*levels, "three-digit ZIP area"), about)


def own_tables(folder: Path) -> None:
    """Tables of our own: levels of education, chemical elements, religions."""
    for stem, title, levels, role, subject in (
        ("isced-2011", "Levels of education (ISCED)", ("stage", "level"), "quasi-identifier", "education"),
        ("elements", "Chemical elements by kind", ("class", "family", "element"), "insensitive", "element"),
        ("religions", "Religions and denominations", ("tradition", "religion", "denomination"), "sensitive",
         "religion"),
    ):  # fmt: skip
        rows, variants = own_rows(stem)
        version = stem.rpartition("-")[2] if stem[-1].isdigit() else "2026"
        about = About(title, version, "Kanopy", OURS, "NOTICES.md", role, subject)
        store(stem if stem[-1].isdigit() else f"{stem}-2026", rows, levels, about, variants)


MAKERS: dict[str, Callable[[Path], None]] = {
    "icd-10-cm": icd_10_cm, "icd-9-cm": icd_9_cm, "countries": countries, "languages": languages,
    "calendar": calendar, "naics": naics, "soc": soc, "nace": nace_isic, "nuts": nuts, "us": united_states,
    "own": own_tables,
}  # fmt: skip

if __name__ == "__main__":
    for wanted in sys.argv[2:] or MAKERS:
        MAKERS[wanted](Path(sys.argv[1]))
