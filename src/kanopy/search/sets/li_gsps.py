"""Li and Li's guided set partitioning scheme: sets of values that a hierarchy holds together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kanopy.search.sets.set_partitioning import SetPartitioning, about_sets
from kanopy.search.sets.set_schemes import Kind


@dataclass(frozen=True)
class LiGSPS(SetPartitioning):
    """Divide every column's values into sets that its hierarchy allows, so that little is lost (GSPS).

    **The paper** (Li, Li: Towards optimal k-anonymization, Data & Knowledge Engineering 65, 2008) takes the height of
    the lowest common ancestor as the distance of two values, and asks that a set which holds two values hold all that
    are closer to either. It searches bottom-up for the partition of least discernibility.

    **What we decided.** That rule makes a set one value, or all values of some children of one node: siblings may be
    joined without all of them being joined (which a hierarchy cut would ask for), and a subtree leaves its parent
    only as a whole. Values that do not occur are no obstacle. Cost, suppression, start, refinement and proof are those
    of `li-sps`, with joins and partings that the hierarchy allows. A set that is a node has its label; another lists
    its values.

    **Guarantee.** Never worse than the best full-domain release (if that is found within the budget), which is one of
    these partitions; proved optimal where the final branch and bound ends (up to 10^8 partitions are tried for). Not
    better than `li-sps` could be, but its sets mean something. `steps` makes the result independent of the machine.

    **Cost.** As `li-sps`, with far fewer sets to choose from. **Do not use it** for hierarchies that do not nest, for
    models beyond k-anonymity, or if rows may be recoded one by one (`best`).

    >>> import numpy as np
    >>> from kanopy._core.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> from kanopy.search.problem import Problem
    >>> tree = Hierarchy.from_rows([[v, g, "*"] for v, g in ["ax", "bx", "cy", "dy", "ey"]], name="letter")
    >>> rows = np.array([0, 0, 1, 1, 2, 3, 3, 4], np.int32)
    >>> table = Domain(("letter",), (tree,), np.arange(5, dtype=np.int32)[:, None], np.bincount(rows), rows)
    >>> found = LiGSPS().solve(Problem(table, [KAnonymity(2)]))
    >>> found.recoding.labels, found.optimal
    ((('a', 'b', '{c, e}', 'd'),), True)
    """

    name: ClassVar[str] = "li-gsps"
    scheme: ClassVar[Kind] = "guided"
    about = about_sets(
        does="divides every column's values into sets of siblings in its hierarchy that lose little",
        source="Li, Li 2008 (guided set partitioning scheme)", of_all="sets of siblings",
    )  # fmt: skip
