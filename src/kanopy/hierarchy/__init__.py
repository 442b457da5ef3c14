"""Hierarchies: build, suggest, read, look at, edit, compare, judge and improve them.

What a user may import is named here; the modules below are an implementation detail.
"""

from kanopy._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(globals())
