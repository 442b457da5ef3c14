"""Hierarchies: build, suggest, read, look at, edit, compare, judge and improve them.

What a user may import is named here; the modules below are an implementation detail.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "BUILDERS", "Builder", "Comparison", "Editor", "Hierarchy", "Improvement", "SemanticQuality", "Suggestion",
    "build_hierarchy", "compare_hierarchies", "drop_level", "evaluate_hierarchy", "find_hierarchies",
    "halving_note", "improve_hierarchy", "insert_level", "make_builder", "merge", "move", "read_hierarchy",
    "rename", "split", "suggest_hierarchies", "tree_html", "tree_svg", "tree_text", "write_hierarchy",
]  # fmt: skip

if TYPE_CHECKING:
    from kanopy.hierarchy.builders.base import Builder
    from kanopy.hierarchy.builders.registry import BUILDERS, build_hierarchy, make_builder
    from kanopy.hierarchy.compare import Comparison, compare_hierarchies
    from kanopy.hierarchy.edit import Editor, drop_level, insert_level, merge, move, rename, split
    from kanopy.hierarchy.files.files import find_hierarchies, read_hierarchy, write_hierarchy
    from kanopy.hierarchy.hierarchy import Hierarchy
    from kanopy.hierarchy.quality.improve import Improvement, improve_hierarchy
    from kanopy.hierarchy.quality.semantic_quality import SemanticQuality, evaluate_hierarchy
    from kanopy.hierarchy.suggest import Suggestion, halving_note, suggest_hierarchies
    from kanopy.report.drawings.tree import tree_html, tree_svg, tree_text
else:
    from kanopy._lazy import lazy_names

    __getattr__, __dir__ = lazy_names(
        globals(),
        {
            "kanopy.hierarchy.builders.base": ("Builder",),
            "kanopy.hierarchy.builders.registry": ("BUILDERS", "build_hierarchy", "make_builder"),
            "kanopy.hierarchy.compare": ("Comparison", "compare_hierarchies"),
            "kanopy.hierarchy.edit": ("Editor", "drop_level", "insert_level", "merge", "move", "rename", "split"),
            "kanopy.hierarchy.files.files": ("find_hierarchies", "read_hierarchy", "write_hierarchy"),
            "kanopy.hierarchy.hierarchy": ("Hierarchy",),
            "kanopy.hierarchy.quality.improve": ("Improvement", "improve_hierarchy"),
            "kanopy.hierarchy.quality.semantic_quality": ("SemanticQuality", "evaluate_hierarchy"),
            "kanopy.hierarchy.suggest": ("Suggestion", "halving_note", "suggest_hierarchies"),
            "kanopy.report.drawings.tree": ("tree_html", "tree_svg", "tree_text"),
        },
    )
