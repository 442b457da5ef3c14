"""Every builder by name, and one function to use them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kanopy._errors import HierarchyError, near_miss, refuse, short
from kanopy._lazy import public
from kanopy._parameters import faults_of_class, make
from kanopy._registry import Named
from kanopy._usage import checked
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.column import Column, column_of
from kanopy.hierarchy.hierarchy import Hierarchy

BUILDERS: Named[type[Builder]] = Named(
    {
        "round": "kanopy.hierarchy.builders.rounding:Round",
        "iotf": "kanopy.hierarchy.builders.on_the_fly:Iotf",
        "otf": "kanopy.hierarchy.builders.on_the_fly:Otf",
        "chu": "kanopy.hierarchy.builders.relaxation:Chu",
        "han": "kanopy.hierarchy.builders.cardinality:Han",
        "chimerge": "kanopy.hierarchy.builders.by_class:ChiMerge",
        "mdl": "kanopy.hierarchy.builders.by_class:Mdl",
        "equal_width": "kanopy.hierarchy.builders.bins:EqualWidth",
        "equal_frequency": "kanopy.hierarchy.builders.bins:EqualFrequency",
        "widths": "kanopy.hierarchy.builders.bins:Widths",
        "cgh": "kanopy.hierarchy.builders.divisors:Cgh",
        "dbgh": "kanopy.hierarchy.builders.divisors:Dbgh",
        "cbgh": "kanopy.hierarchy.builders.cardinality:Cbgh",
        "k_aware": "kanopy.hierarchy.builders.on_the_fly:KAware",
        "cuts": "kanopy.hierarchy.builders.bins:Cuts",
        "dates": "kanopy.hierarchy.builders.dates:Dates",
        "redact": "kanopy.hierarchy.builders.masking:Redact",
        "order": "kanopy.hierarchy.builders.grouping:Order",
        "frequency": "kanopy.hierarchy.builders.grouping:Frequency",
        "groups": "kanopy.hierarchy.builders.grouping:Groups",
        "classification": "kanopy.hierarchy.builders.official.classified:FromClassification",
        "hipaa_zip": "kanopy.hierarchy.builders.official.zip_rule:HipaaZip",
        "cells": "kanopy.hierarchy.builders.official.places:Cells",
        "quadtree": "kanopy.hierarchy.builders.official.places:Quadtree",
        "ontology": "kanopy.hierarchy.builders.semantic.builders:Ontology",
        "semantic_clusters": "kanopy.hierarchy.builders.semantic.builders:SemanticClusters",
        "prefix": "kanopy.hierarchy.builders.masking:Prefix",
        "suppress": "kanopy.hierarchy.builders.masking:Suppress",
    },
    "method to build hierarchies",
    HierarchyError,
    group="kanopy.builders",
    faults=faults_of_class("kanopy.hierarchy.builders.base:Builder"),
)

METHOD_OF_PARAMETER: Mapping[str, str] = {"classification": "classification"}
"""Parameters that only one method has and that say enough: a job need not name the method beside them."""


def method_of(given: Mapping[str, Any]) -> Any:
    """The method of a hierarchy in a job: named, or told by a parameter; `None` if neither.

    >>> method_of({"method": "iotf"}), method_of({"classification": "icd-10-cm"}), method_of({"k": 5})
    ('iotf', 'classification', None)
    """
    implied = next((method for name, method in METHOD_OF_PARAMETER.items() if name in given), None)
    return given.get("method", implied)


AUTO = ("k", "parts")
"""The parameters of the method `auto`."""


@public("kanopy.hierarchy")
@checked
def make_builder(method: str, **parameters: Any) -> Builder:
    """The builder of a method with its parameters.

    >>> make_builder("otf", linkage="single")
    Otf(label='interval', linkage='single')
    """
    return make(BUILDERS.find(method), parameters)


@public("kanopy")
@checked
def build_hierarchy(
    values: Iterable[Any] | Column,
    method: str = "auto",
    *,
    counts: Iterable[int] | None = None,
    name: str = "",
    **parameters: Any,
) -> Hierarchy:
    """A hierarchy over the values of a column (a list, an array, a Polars or pandas column; nulls are left out).

    `method` is one of `BUILDERS`, with its parameters, or `auto`: the readable method that fits the column (round
    numbers, calendar, prefixes, rare values joined), for groups of at least `k` rows (5 unless given).

    >>> build_hierarchy([17, 18, 25, 90], "iotf").labels_at(1)
    ('25', '90', '[17, 18]')
    """
    column = column_of(values, counts, name=name)
    if method == "auto":
        from kanopy.hierarchy.suggest import choose_hierarchy

        # Without a k, a column of fewer rows than the usual five still gets a hierarchy.
        parameters.setdefault("k", min(5, column.rows))
        refuse(
            [
                f"The method 'auto' has no parameter {short(name)}. {near_miss(name, AUTO)}"
                for name in parameters
                if name not in AUTO
            ]
        )
        return choose_hierarchy(column, **parameters).hierarchy
    return make_builder(method, **parameters).build_column(column)
