"""A survey as people answer it: frequent and rare answers, typos, denials, and much that points at somebody.

Made for tests: nobody is in it. `planted` says what each answer was made as.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FREQUENT = (
    "beach", "walking", "wine", "museum", "bird watching", "fishing", "parking", "restaurant", "family", "landscape",
    "friendly staff", "swimming", "castle", "no parking", "nature",
)  # fmt: skip
RARE = (
    "heron", "egret", "stork", "flamingo", "duck", "swan", "eagle", "trout", "salmon", "carp", "sailing", "canoeing",
    "rowing", "surfing", "diving", "cheese", "bread", "olive oil", "beer", "cider", "coffee", "chapel", "monastery",
    "cathedral", "church", "tower", "bridge", "photography", "painting", "drawing", "music", "opera", "dance", "bus",
    "train", "bicycle", "tractor", "oak", "pine", "willow", "horse", "dog", "cat", "silence", "rest", "health",
    "seaside", "coast", "cliff", "island", "lagoon", "marsh", "river", "lake", "camping", "picnic", "guide", "map",
)  # fmt: skip
DENIED = ("no beach", "no dogs", "without pain", "never fishing", "not a restaurant", "no museum", "don't like wine",
          "no staff", "unfriendly staff", "no swimming", "without a guide", "bad restaurant")  # fmt: skip
DIAGNOSES = ("HIV positive", "not HIV positive", "breast cancer", "schizophrenia", "depression", "diabetes", "epilepsy",
             "multiple sclerosis", "leukemia", "asthma", "hepatitis C", "bipolar disorder")  # fmt: skip
NOTHING = ("none", "n/a", "nothing", "N/A", "-", "no answer", "nothing special")
FIRST = ("Maria", "Juan", "Petra", "Ahmed", "Sophie", "Giulia", "Wolfgang", "Agnieszka", "Kenji", "Fatima")
LAST = ("Lopez", "Vidal", "Schmidt", "Haddad", "Moreau", "Rossi", "Keller", "Nowak", "Tanaka", "Okafor")
STREETS = ("Elm Street", "Harbour Road", "Mill Lane", "Castle Avenue")
PLACES = ("Barcelona", "Toulouse", "Lake Geneva", "Vienna", "Nairobi")
TEXTS = (
    "since my operation last year I have to walk a little every day, the doctor at the clinic told me so",
    "my brother drowned here in 1998 and we come back every summer to remember him together",
    "we wanted to see whether the old mill of my grandmother was still standing by the river",
)


@dataclass(frozen=True)
class Answers:
    """The answers, what each was made as, and for typos the answer that is meant."""

    why: list[str | None]
    planted: list[str]
    meant: dict[int, str]


def survey_like(seed: int, rows: int = 300) -> Answers:
    """A survey of so many people."""
    rng = np.random.default_rng(seed)
    why: list[str | None] = []
    planted: list[str] = []
    meant: dict[int, str] = {}
    share = 1.0 / np.arange(1, len(FREQUENT) + 1) ** 0.6
    kinds = {"frequent": 0.5, "rare": 0.2, "typo": 0.09, "denied": 0.05, "diagnosis": 0.04, "nothing": 0.04,
             "name": 0.02, "address": 0.02, "number": 0.01, "place": 0.01, "text": 0.01, "foreign": 0.01}  # fmt: skip
    for row in range(rows):
        kind = str(rng.choice(list(kinds), p=np.array(list(kinds.values())) / sum(kinds.values())))
        answer = str(rng.choice(FREQUENT, p=share / share.sum()))
        if kind == "rare":
            answer = str(rng.choice(RARE))
        elif kind == "typo":
            meant[row] = answer
            answer = misspelled(answer, rng)
        elif kind == "denied":
            answer = str(rng.choice(DENIED))
        elif kind == "diagnosis":
            answer = str(rng.choice(DIAGNOSES))
        elif kind == "nothing":
            answer = str(rng.choice(NOTHING))
        elif kind == "name":
            answer = f"{rng.choice(FIRST)} {rng.choice(LAST)}"
        elif kind == "address":
            number = int(rng.integers(1, 200))
            answer = str(rng.choice([
                f"{number} {rng.choice(STREETS)}", f"write to {str(rng.choice(LAST)).lower()}{number}@example.org",
                f"call +34 600 {100 + number} {300 + number}", f"DE{10 + number % 89} 5001 0517 5407 {3000 + number}",
            ]))  # fmt: skip
        elif kind == "number":
            answer = str(int(rng.integers(2, 5000)))
        elif kind == "place":
            answer = str(rng.choice(PLACES))
        elif kind == "text":
            answer = str(rng.choice(TEXTS))
        elif kind == "foreign":
            answer = str(rng.choice(["la playa", "пляж", "海滩", "vogels kijken"]))
        why.append(None if kind == "nothing" and rng.random() < 0.2 else answer)
        planted.append(kind)
    return Answers(why, planted, meant)


def misspelled(text: str, rng: np.random.Generator) -> str:
    """A text with one letter left out, doubled, changed, or exchanged with the next."""
    letters = [at for at in range(1, len(text) - 1) if text[at].isalpha() and text[at + 1].isalpha()]
    at = int(rng.choice(letters))
    way = int(rng.integers(4))
    if way == 0:
        return text[:at] + text[at + 1 :]
    if way == 1:
        return text[:at] + text[at] + text[at:]
    if way == 2:
        return text[:at] + str(rng.choice(list("aeioustrnl"))) + text[at + 1 :]
    return text[:at] + text[at + 1] + text[at] + text[at + 2 :]
