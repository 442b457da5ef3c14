"""What holds for every builder of hierarchies, on a column of each kind that it fits."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import kanopy
from kanopy._errors import HierarchyError
from kanopy._parameters import make
from kanopy.extend.contracts.refusing import refused
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.files.json_format import hierarchy_json, parse_json
from kanopy.hierarchy.hierarchy import Hierarchy

DAY = dt.date(2001, 1, 1)
COLUMNS: dict[str, list[Any]] = {
    "integer": [17, 18, 19, 22, 25, 31, 40, 44, 58, 63, 71, 90],
    "real": [1.5, 2.25, 2.75, 3.5, 8.125, 9.5, 12.25, 13.5, 17.25, 21.5, 30.5, 41.75],
    "date": [DAY + dt.timedelta(days=97 * i) for i in range(12)],
    "text": ["cat", "dog", "horse", "cow", "eagle", "parrot", "snake", "lizard", "frog", "salmon", "trout", "shark"],
}
"""A column of each kind; words that the bundled ontology knows."""

Needs = Callable[[str], Mapping[str, Any]]
"""The parameters that a builder cannot do without on a kind of column ("": on any)."""


def build(
    builder: type[Builder], values: list[Any], needs: Mapping[str, Any], counts: list[int] | None = None
) -> Hierarchy:
    """A hierarchy by a builder with the parameters it needs."""
    return make(builder, needs).build(values, counts)


def fitting(builder: type[Builder], needs: Needs) -> Iterator[tuple[list[Any], Mapping[str, Any]]]:
    """The columns that a builder fits, and its parameters there."""
    columns: Mapping[str, list[Any]] = builder.examples or COLUMNS
    kinds = [kind for kind in columns if kind in builder.fits]
    assert kinds, f"it fits none of the kinds {', '.join(columns)}: say in `fits` which"
    yield from ((columns[kind], needs(kind)) for kind in kinds)


def says_what_it_is(builder: type[Builder], needs: Needs) -> None:
    """It has a sentence for lists, a documentation, and fits some kind of column."""
    assert len(builder.summary) > 15, "the summary does not say what it does"
    assert len(" ".join((builder.__doc__ or "").split())) > 60, "the docstring does not say what it does"
    assert list(fitting(builder, needs))


def covers_every_value(builder: type[Builder], needs: Needs) -> None:
    """Every value is a leaf, every level covers it, and the highest covers all."""
    for values, settings in fitting(builder, needs):
        tree = build(builder, values, settings)
        assert set(tree.values) >= {str(value) for value in values}, "some value is no leaf"
        assert tree.nested, "its levels do not nest"
        assert tree.rooted().level(tree.rooted().height).size == 1
        assert tree.level_sizes == sorted(tree.level_sizes, reverse=True), "a higher level has more labels"
        if tree.low is not None and tree.high is not None:
            for level in range(tree.height + 1):
                nodes = tree.table[level]
                assert (tree.low[nodes] <= tree.low[: tree.size]).all()
                assert (tree.high[nodes] >= tree.high[: tree.size]).all()


def depends_on_counts_alone(builder: type[Builder], needs: Needs) -> None:
    """Neither the order of rows nor the way of counting them matters, and missing values are no part of it."""
    for values, settings in fitting(builder, needs):
        counts = [1 + i % 3 for i in range(len(values))]
        repeated = [value for value, count in zip(values, counts, strict=True) for _ in range(count)]
        np.random.default_rng(5).shuffle(repeated)
        counted = build(builder, values, settings, counts)
        assert build(builder, repeated, settings).same_as(counted), "another order of rows gives another hierarchy"
        assert build(builder, [None, *repeated], settings).same_as(counted), "missing values are part of the hierarchy"


def is_kept_by_files(builder: type[Builder], needs: Needs) -> None:
    """Files keep its hierarchies."""
    for values, settings in fitting(builder, needs):
        tree = build(builder, values, settings)
        assert parse_json(hierarchy_json(tree), "a test").same_as(tree)


def gives_safe_releases(builder: type[Builder], needs: Needs) -> None:
    """A release with it is safe, given as a method with parameters and as an object."""
    for values, settings in fitting(builder, needs):
        for given in ({"method": builder.method, **settings}, make(builder, settings)):
            job = kanopy.Job(quasi=["x"], k=3, hierarchies={"x": given})
            assert kanopy.anonymize({"x": values * 2}, job).verification.smallest_class >= 3


def refuses_what_it_cannot_use(builder: type[Builder], needs: Needs) -> None:
    """Unknown parameters and columns without values are refused."""
    with refused(HierarchyError, "no parameter 'colour'"):
        make(builder, {**needs(""), "colour": "green"})
    with refused(HierarchyError, "no values"):
        build(builder, [None, None], needs(""))


CHECKS = (
    says_what_it_is,
    covers_every_value,
    depends_on_counts_alone,
    is_kept_by_files,
    gives_safe_releases,
    refuses_what_it_cannot_use,
)
