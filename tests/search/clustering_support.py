"""Random small tables with mixed attributes, for clustering tests; and the textbook algorithms as oracles."""

import importlib.util
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from kanopy._core.classes import Domain
from kanopy.hierarchy.builders.on_the_fly import Iotf
from kanopy.hierarchy.hierarchy import Hierarchy

_path = Path(__file__).resolve().parents[2] / "benchmarks" / "textbook.py"
_spec = importlib.util.spec_from_file_location("textbook", _path)
textbook = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(textbook)

CATEGORIES = [
    ["ape", "mammal", "*"],
    ["bee", "insect", "*"],
    ["cat", "mammal", "*"],
    ["dog", "mammal", "*"],
    ["eel", "fish", "*"],
]


def make_domain(columns, hierarchies, names=None):
    """A domain over columns of leaf numbers."""
    rows = np.array(columns, np.int32).T
    tuples, first, of_row = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    of_row = rank[of_row.reshape(-1)].astype(np.int32)
    names = names or tuple("abcdefgh"[: len(columns)])
    return Domain(names, tuple(hierarchies), tuples[order], np.bincount(of_row).astype(np.int64), of_row)


@st.composite
def domains(draw, most_rows=24):
    """A table with up to three attributes: numbers (with or without hierarchy) and categories; which are free."""
    rows = draw(st.integers(2, most_rows))
    columns, trees, free = [], [], []
    for j in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            tree = Hierarchy.from_rows(CATEGORIES)
        else:
            tree = Iotf().build(draw(st.lists(st.integers(-20, 60), min_size=1, max_size=9, unique=True)))
            if draw(st.booleans()):
                free.append("abc"[j])
        columns.append(draw(st.lists(st.integers(0, tree.size - 1), min_size=rows, max_size=rows)))
        trees.append(tree)
    return make_domain(columns, trees), tuple(free)


def plain_costs(domain, free):
    """Costs of sets of leaves from the definitions, as fractions."""

    def with_tree(tree):
        def size(node):
            if tree.low is None:
                return int(tree.leaf_counts[node]) - 1
            return int(tree.high[node] - tree.low[node])

        whole = size(int(tree.roots[0]))
        return lambda leaves: Fraction(size(tree.lowest_common_ancestor(leaves)), whole) if whole else Fraction(0)

    def without(tree, present):
        values = [int(tree.low[leaf]) for leaf in present]
        whole = max(values) - min(values)

        def cost(leaves):
            own = [int(tree.low[leaf]) for leaf in leaves]
            return Fraction(max(own) - min(own), whole) if whole else Fraction(0)

        return cost

    return [
        without(tree, set(domain.tuples[:, j].tolist())) if name in free else with_tree(tree)
        for j, (name, tree) in enumerate(zip(domain.names, domain.hierarchies, strict=True))
    ]


def multiplicity(domain):
    """The table as tuples of leaf numbers."""
    return [tuple(int(x) for x in domain.tuples[t]) for t in domain.tuple_of_row]
