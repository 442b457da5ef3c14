"""Li and Li's three schemes: any sets of a column's values, sets that a hierarchy holds together, runs of siblings."""

from __future__ import annotations

from dataclasses import dataclass

from kanopy.search.sets.set_partitioning import SetPartitioning, about_sets


@dataclass(frozen=True)
class LiSPS(SetPartitioning):
    """Divide every column's values into any sets, so that as little as possible is lost (SPS).

    **The paper** (Li, Li: Towards optimal k-anonymization, Data & Knowledge Engineering 65, 2008; first at the ICDM
    workshops 2006) lets every partition of a column's values be a generalization: neither an order nor a hierarchy is
    needed. It searches bottom-up: from single values, sets are joined, and whatever lies above a release that is safe
    already, or costs too much already, is left out. The cost is discernibility.

    **What we decided.** The cost is discernibility where that is the job's metric, else `loss`, where a set of s of a
    domain's D values covers s/D and a set of all values covers everything. Rows may be suppressed within the job's
    limit, which the paper does not allow. Partitions are far too many for tables of usual size (a column of 15 values
    has 10^9 alone); so the search begins with the best full-domain release, whose levels are partitions too, and
    refines it: it parts and joins sets while that helps, and leaves a dead end by undoing some columns; first briefly
    within the stricter schemes, all of whose partitions are partitions here too. Where
    there are few partitions in all (up to 10^8), a bottom-up branch and bound follows: each pair of sets is joined, or
    kept apart for good; a branch ends when even its cheapest continuation costs more than the best release found.

    **Guarantee.** Never worse than the best full-domain release (if that is found within the budget); proved optimal
    where the branch and bound ends (`Solution.optimal`). `budget_seconds` counts work; `steps` instead asks for a
    number of ways out of dead ends. Either way the same job gives the same release. Interrupting keeps the best so far.

    **Cost.** Each round takes time in proportion to distinct tuples times columns, and the squares of the numbers of
    sets. **Do not use it** where published sets must mean something (`{17, 44, 63}` is nobody's idea of an age group:
    see `li-gsps` and `li-gops`), for models beyond k-anonymity, or if rows may be recoded one by one (`best`).

    >>> from kanopy._core.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> from kanopy.search.problem import Problem
    >>> tree = Hierarchy.flat(["a", "b", "c", "d"], name="letter")
    >>> table = Domain.of_column("letter", "abbcdd", tree)
    >>> found = LiSPS().solve(Problem(table, [KAnonymity(2)]))
    >>> found.recoding.labels, found.optimal
    ((('{a, c}', 'b', 'd'),), True)
    """

    name, scheme = "li-sps", "any"
    about = about_sets(
        does="divides every column's values into any sets that lose little",
        source="Li, Li 2008 (set partitioning scheme)", of_all="sets of values", attributes="any values",
    )  # fmt: skip


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

    >>> from kanopy.search.example import letters
    >>> found = LiGSPS().solve(letters("aabbcdde", "ab cde"))
    >>> found.recoding.labels, found.optimal
    ((('a', 'b', '{c, e}', 'd'),), True)
    """

    name, scheme = "li-gsps", "guided"
    about = about_sets(
        does="divides every column's values into sets of siblings in its hierarchy that lose little",
        source="Li, Li 2008 (guided set partitioning scheme)", of_all="sets of siblings",
    )  # fmt: skip


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

    >>> from kanopy._core.classes import Domain
    >>> from kanopy.hierarchy.hierarchy import Hierarchy
    >>> from kanopy.privacy.models import KAnonymity
    >>> from kanopy.search.problem import Problem
    >>> ages = ["21", "21", "24", "27", "33", "33", "38", "38"]
    >>> decades = Hierarchy.from_rows([[age, f"{age[0]}0s", "*"] for age in dict.fromkeys(ages)], name="age")
    >>> table = Domain.of_column("age", ages, decades)
    >>> LiGOPS().solve(Problem(table, [KAnonymity(2)])).recoding.labels
    (('21', '[24, 27]', '33', '38'),)
    """

    name, scheme = "li-gops", "ordered"
    about = about_sets(
        does="divides every column's values into runs of neighbouring siblings that lose little",
        source="Li, Li 2008 (guided oriented partitioning scheme)", of_all="runs of siblings",
    )  # fmt: skip
