"""Save a `Taxonomy` as one compact file and load it fast."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from kanopy._errors import OntologyError
from kanopy._files import write_whole
from kanopy._lazy import public
from kanopy._usage import checked
from kanopy.ontology.taxonomy import Taxonomy
from kanopy.ontology.text_pool import TextPool

VERSION = 1
STARTS = "_start"


@public("kanopy.ontology")
@checked
def save_ontology(taxonomy: Taxonomy, path: str | Path) -> None:
    """Write a taxonomy to an `.npz` file that `load_ontology` reads.

    Integers are stored in the smallest type that holds them, `…_start` arrays as lengths: both compress well.

    >>> import tempfile
    >>> from kanopy.ontology import Concept, load_ontology
    >>> pets = Taxonomy.from_concepts([Concept("p", ("pet",)), Concept("c", ("cat",), ("p",))])
    >>> path = Path(tempfile.mkdtemp()) / "pets.npz"
    >>> save_ontology(pets, path)
    >>> load_ontology(path).knows("cat")
    True
    """
    arrays: dict[str, Any] = {}
    about: dict[str, Any] = {"version": VERSION}
    for item in fields(taxonomy):
        value = getattr(taxonomy, item.name)
        if isinstance(value, TextPool):
            arrays[f"{item.name}.text"] = value.to_array()
        elif isinstance(value, np.ndarray):
            stored = np.diff(value) if item.name.endswith(STARTS) else value
            arrays[item.name] = stored if stored.dtype == bool else _smallest(stored)
        else:
            about[item.name] = value
    arrays["about.json"] = np.frombuffer(json.dumps(about, sort_keys=True).encode(), np.uint8)
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted(arrays):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(arrays[name]), allow_pickle=False)
            # A fixed date: compiling the same source twice gives the same bytes.
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), buffer.getvalue(), zipfile.ZIP_DEFLATED, 9)
    write_whole(path, whole.getvalue())


def load_compiled(path: str | Path) -> Taxonomy:
    """Read what `save_ontology` wrote."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            about = json.loads(archive["about.json"].tobytes())
            if about.pop("version") != VERSION:
                raise OntologyError(f"{path} was compiled by another version. Run `kanopy ontology compile` again.")
            values: dict[str, Any] = dict(about)
            for item in fields(Taxonomy):
                if item.name in values:
                    continue
                if f"{item.name}.text" in archive:
                    values[item.name] = TextPool.from_array(archive[f"{item.name}.text"])
                    continue
                if item.name == "sense_counts" and item.name not in archive:
                    continue  # files made before it was kept
                array = archive[item.name]
                if item.name.endswith(STARTS):
                    array = np.concatenate([[0], np.cumsum(array, dtype=np.int64)])
                if array.dtype != bool:
                    array = array.astype(np.int64 if item.name.endswith("_counts") else np.int32)
                values[item.name] = array
    except (KeyError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise OntologyError(
            f"{path} is not a compiled ontology, or it is incomplete ({error}). Make one with `kanopy ontology "
            "compile SOURCE -o FILE.npz`."
        ) from None
    return Taxonomy(**values)


def _smallest(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if not len(array):
        return array.astype(np.uint8)
    kind = np.result_type(np.min_scalar_type(int(array.min())), np.min_scalar_type(int(array.max())))
    return array.astype(kind)
