"""What the author of an algorithm, model, hierarchy builder, ontology reader, measure, masking or treatment needs.

Derive a class from `Model`, `Builder`, `Algorithm`, `Masking` or `Treatment`, run `check` on it, and pass an object of
it to a job; or offer it to everybody through an entry point of a package (`docs/how-to/extend.md`).

What a user may import is named here; the modules below are an implementation detail.
"""

from kanopy._lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(globals())
