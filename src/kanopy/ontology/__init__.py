"""Ontologies: load them, look words up, choose senses, and measure how similar concepts and words are.

What a user may import is named here; the modules below are an implementation detail.
"""

from kanopy._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(globals())
