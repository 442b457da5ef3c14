"""Privacy models by their class names; `make_model` makes one from its short form, such as `t-equal:income:0.2`.

What a user may import is named here; the modules below are an implementation detail.
"""

from kanopy._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(globals())
