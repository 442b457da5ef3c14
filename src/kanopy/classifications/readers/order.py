"""Order files of the CDC (`icd10cm-order-2026.txt`): number, code, whether it may be billed, short and long title.

They hold no chapters and blocks: categories that the bundled ICD-10-CM knows lie in the same block as there.
"""

from __future__ import annotations

from pathlib import Path

from kanopy._errors import HierarchyError
from kanopy.classifications.classification import About, Classification, bare
from kanopy.classifications.readers.files import text_of
from kanopy.classifications.readers.table import parents_by_beginning

SAMPLE = (
    "00001 A00     0 Cholera                                                      Cholera\n"
    "00002 A000    1 Cholera due to Vibrio cholerae 01, biovar cholerae           Cholera due to Vibrio cholerae\n"
)


def read_order(path: str | Path, *, name: str = "") -> Classification:
    """The codes of an order file, with the blocks and chapters of the bundled version."""
    from kanopy.classifications.registry import load_classification

    path = Path(path)
    codes, labels = [], []
    for line in text_of(path).splitlines():
        if line.strip():
            code = line[6:13].strip()
            codes.append(code if len(code) < 4 else f"{code[:3]}.{code[3:]}")
            labels.append(line[77:].strip() or line[16:76].strip())
    if not codes or not all(code[:1].isalpha() for code in codes):
        raise HierarchyError(f"{path} is not an order file: columns 7 to 13 of each line must contain a code.")
    above = parents_by_beginning(codes)
    bundled = load_classification("icd-10-cm")
    broader: dict[str, tuple[str, str, str]] = {}
    for at, code in enumerate(codes):
        if above[at] or (node := bundled.index.get(bare(code))) is None or bundled.rank[node] != 2:
            continue
        block, chapter = bundled.chain(node)[1:3]
        broader[bundled.codes[chapter]] = (bundled.codes[chapter], bundled.label(chapter), "")
        broader[bundled.codes[block]] = (bundled.codes[block], bundled.label(block), bundled.codes[chapter])
        above[at] = (bundled.codes[block],)
    rows = [*broader.values(), *zip(codes, labels, above, strict=True)]
    about = About(
        title="ICD-10-CM", version=path.stem, source=path.name, licence="public domain", role="sensitive",
        subject="diagnosis",
    )  # fmt: skip
    return Classification.from_rows(rows, name=name or path.stem, about=about, where=str(path))
