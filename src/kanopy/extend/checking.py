"""The contract that everything of a kind keeps, run on a class of one's own."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from typing import Any

from kanopy._errors import InputError, KanopyError, near_miss, refuse, short
from kanopy._lazy import public
from kanopy._usage import Needs, checked, refuse_in_vain
from kanopy.hierarchy.builders.base import Builder
from kanopy.hierarchy.builders.registry import BUILDERS
from kanopy.masking.algorithms.registry import MASKINGS
from kanopy.masking.masking_result import Masking
from kanopy.ontology.similarity.measures import MEASURES, Measure
from kanopy.privacy.base import Model
from kanopy.privacy.models import MODELS
from kanopy.search.algorithms import ALGORITHMS
from kanopy.search.solution import Algorithm
from kanopy.treatments.base import Treatment
from kanopy.treatments.registry import TREATMENTS

Check = Callable[[], None]


@public("kanopy.extend")
class ContractBroken(InputError):
    """A class does not keep the contract of its kind; the message lists all that does not hold."""


@public("kanopy.extend")
@checked
def check(thing: Any, **settings: Any) -> tuple[str, ...]:
    """Try everything that Kanopy relies on; one error lists what does not hold, otherwise the names of the checks.

    `thing` is a class of algorithms, models, builders, maskings or treatments, a `Measure`, or a function that reads
    ontologies.     `settings` are those of `contract`.

    >>> from kanopy.privacy import KMap
    >>> check(KMap)[:2]
    ('says_what_it_is', 'declares_what_holds')
    """
    if not __debug__:
        raise ContractBroken("The checks are assertions: run Python without -O.")
    wrong, done = [], []
    for name, try_contract in contract(thing, **settings).items():
        try:
            try_contract()
        except Exception as error:
            rule = str(try_contract.__doc__ or name).splitlines()[0]
            wrong.append(f"{name}: {rule} {_reason(error)}")
        done.append(name)
    if wrong:
        listed = "".join(f"\n  - {one}" for one in wrong)
        raise ContractBroken(f"{getattr(thing, '__name__', thing)} breaks {len(wrong)} of {len(done)} rules:{listed}")
    return tuple(done)


@public("kanopy.extend")
@checked
def contract(thing: Any, **settings: Any) -> dict[str, Check]:
    """The checks by name, each a function without arguments: what a test of one's own is parametrized with.

    `parameters` are those that a builder, an algorithm, a masking or a treatment cannot do without, or that bound its
    work. A reader is told its `suffix` and a `sample`: the text of a file in its format in which heron is a bird, trout
    is a fish, and both are animals (what stands in its module as `SAMPLE` if none is given).

    >>> from kanopy.hierarchy import BUILDERS
    >>> list(contract(BUILDERS["widths"], parameters={"widths": [5, 10]}))[1]
    'covers_every_value'
    """
    _refuse_unused(thing, settings)
    if isinstance(thing, type) and issubclass(thing, Model):
        from kanopy.extend.contracts import models

        MODELS.adopt(thing)
        return _bound(models.CHECKS, thing)
    if isinstance(thing, type) and issubclass(thing, Builder):
        from kanopy.extend.contracts import builders

        BUILDERS.adopt(thing)
        needs: Mapping[str, Any] = settings.get("parameters", {})
        return _bound(builders.CHECKS, thing, lambda kind: needs)
    if isinstance(thing, type) and issubclass(thing, Algorithm):
        from kanopy.extend.contracts import algorithms

        ALGORITHMS.adopt(thing)
        return _bound(algorithms.CHECKS, thing, settings.get("parameters", {}))
    if isinstance(thing, type) and issubclass(thing, Masking):
        from kanopy.extend.contracts import maskings

        MASKINGS.adopt(thing)
        return _bound(maskings.CHECKS, thing, settings.get("parameters", {}))
    if isinstance(thing, type) and issubclass(thing, Treatment):
        from kanopy.extend.contracts import treatments

        TREATMENTS.adopt(thing)
        return _bound(treatments.CHECKS, thing, settings.get("parameters", {}))
    if isinstance(thing, Measure):
        from kanopy.extend.contracts import measures

        MEASURES.adopt(thing)
        return _bound(measures.CHECKS, thing)
    if callable(thing) and not isinstance(thing, type):
        from kanopy.extend.contracts import readers

        sample = settings.get("sample") or thing.__globals__.get("SAMPLE")
        if not sample or "suffix" not in settings:
            raise ContractBroken(
                "A reader is checked on a file: give suffix='.xyz' and sample=…, the text of a file in its format."
            )
        content = sample.encode() if isinstance(sample, str) else sample
        return _bound(readers.CHECKS, thing, settings["suffix"], content)
    raise ContractBroken(
        f"{thing!r} is nothing that extends Kanopy: derive a class from kanopy.extend.Model, Builder, Algorithm, "
        "Masking or Treatment, make a Measure, or write a function that reads ontologies."
    )


def _refuse_unused(thing: Any, settings: Mapping[str, Any]) -> None:
    """Refuse settings that no check of such a thing looks at."""
    made = isinstance(thing, type) and issubclass(thing, (Builder, Algorithm, Masking))
    reads = callable(thing) and not isinstance(thing, (type, Measure))
    applies_to = {"parameters": made, "suffix": reads, "sample": reads}
    refuse(
        [
            f"There is no setting {short(name)}. {near_miss(name, applies_to)}"
            for name in settings
            if name not in applies_to
        ]
    )
    what = {
        "parameters": "a class of builders, algorithms or maskings",
        "suffix": "a function that reads ontologies",
        "sample": "a function that reads ontologies",
    }
    refuse_in_vain({name: Needs(what[name], lambda asked: False) for name in settings if not applies_to[name]})


def _bound(checks: tuple[Callable[..., None], ...], *given: Any) -> dict[str, Check]:
    def bind(one: Callable[..., None]) -> Check:
        def run() -> None:
            one(*given)

        run.__name__, run.__doc__ = one.__name__, one.__doc__
        return run

    return {one.__name__: bind(one) for one in checks}


def _reason(error: Exception) -> str:
    """What went wrong: the words of the error, or the line that failed."""
    if isinstance(error, KanopyError) or (isinstance(error, AssertionError) and str(error)):
        return f"({error})"
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f"({type(error).__name__}: {error} in {last.name}, line {last.lineno}: {last.line})"
