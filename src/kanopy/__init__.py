"""Kanopy turns a table about people into one that may be published.

Everything a user may import is here, or in the rooms `kanopy.hierarchy`, `kanopy.ontology`, `kanopy.privacy` and, for
authors of extensions, `kanopy.extend`; it is loaded on first use, so that `import kanopy` is light. Every other module
is an implementation detail.
"""

from kanopy._lazy import lazy_names

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_names(globals())
