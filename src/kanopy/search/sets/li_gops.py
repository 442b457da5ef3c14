"""Li and Li's guided oriented partitioning scheme: runs of neighbouring siblings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanopy.search.sets.set_partitioning import SetPartitioning, about_sets
from kanopy.search.sets.set_schemes import Kind


@dataclass(frozen=True)
class LiGOPS(SetPartitioning):
    """Divide every column's values into runs of neighbouring siblings, so that little is lost (GOPS).

    **The paper** (Li, Li: Towards optimal k-anonymization, Data & Knowledge Engineering 65, 2008) adds an order to its
    guided scheme: sets must respect the hierarchy and hold neighbours only, as fits numbers and ranks. It searches
    bottom-up for the partition of least discernibility.

    **What we decided.** A set is one value, or all values of neighbouring children of one node. Numbers are ordered by
    size, categories as their hierarchy lists them; children are ordered by their first value. Cost, suppression,
    start, refinement and proof are those of `li-sps`, with the joins and partings that hierarchy and order allow.

    **Guarantee.** Never worse than the best full-domain release (if that is found within the budget), which is one of
    these partitions; proved optimal where the final branch and bound ends (up to 10^8 partitions are tried for). Every
    partition of this scheme is also one of `li-gsps`. `steps` makes the result independent of the machine.

    **Cost.** As `li-sps`, with the fewest sets of the three to choose from: the quickest. **Do not use it** for
    categories whose order means nothing (`li-gsps`), hierarchies that do not nest, models beyond k-anonymity, or if
    rows may be recoded one by one (`best`).

    >>> import numpy as np
    >>> from kanopy._core.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> from kanopy.search.problem import Problem
    >>> decades = [[str(age), f"{age // 10}0s", "*"] for age in (21, 24, 27, 33, 38)]
    >>> tree = Hierarchy.from_rows(decades, name="age")
    >>> rows = np.array([0, 0, 1, 2, 3, 3, 4, 4], np.int32)
    >>> table = Domain(("age",), (tree,), np.arange(5, dtype=np.int32)[:, None], np.bincount(rows), rows)
    >>> found = LiGOPS().solve(Problem(table, [KAnonymity(2)]))
    >>> found.recoding.labels, found.optimal
    ((('21', '[24, 27]', '33', '38'),), True)
    """

    name: ClassVar[str] = "li-gops"
    scheme: ClassVar[Kind] = "ordered"
    about = about_sets(
        does="divides every column's values into runs of neighbouring siblings that lose little",
        source="Li, Li 2008 (guided oriented partitioning scheme)", of_all="runs of siblings",
    )  # fmt: skip
