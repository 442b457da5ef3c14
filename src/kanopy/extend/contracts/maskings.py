"""What holds for every masking, on made-up answers to one question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

import kanopy
from kanopy.masking.masking_result import Masking

WORDS = ("swimming", "diving", "walking", "hiking", "reading", "cooking", "football", "tennis")


def answers() -> pl.DataFrame:
    """Some answers that many people gave, and some that few did."""
    return pl.DataFrame({"why": [word for index, word in enumerate(WORDS) for _ in range(1 + index * index // 4)]})


def masked(kind: type[Masking], parameters: Mapping[str, Any]) -> pl.DataFrame:
    """The masked answers."""
    job = kanopy.MaskJob(text=["why"], k=3, algorithm=kind.name, **parameters)
    frame: pl.DataFrame = kanopy.mask(answers(), job).data
    return frame


def says_what_it_is(kind: type[Masking], parameters: Mapping[str, Any]) -> None:
    """It has a sentence for lists, a source and a documentation."""
    assert kind.does and kind.source and len(" ".join((kind.__doc__ or "").split())) > 60


def publishes_answers_of_the_table(kind: type[Masking], parameters: Mapping[str, Any]) -> None:
    """Every answer is replaced by one of the table, and k people share each where it says so."""
    masked_answers = masked(kind, parameters)
    assert masked_answers.height == answers().height and set(masked_answers["why"]) <= set(WORDS)
    if kind.guarantees_k:
        assert min(masked_answers.group_by("why").len()["len"].to_list()) >= 3, "fewer than k people share an answer"


def repeats(kind: type[Masking], parameters: Mapping[str, Any]) -> None:
    """The same answers and parameters give the same release."""
    assert masked(kind, parameters).equals(masked(kind, parameters))


CHECKS = (says_what_it_is, publishes_answers_of_the_table, repeats)
