"""Words that stand in an order everybody knows: days of the week, months, answers on a scale, sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kanopy.hierarchy.ranges import bands_in_order

FEWEST = 3
"""Two words of a scale need no order."""
_NO = "no opinion|neutral|neither|undecided|unsure|not sure|neither agree nor disagree|neither nor"
_SCALES = f"""
monday|mon|mo; tuesday|tue|tues; wednesday|wed; thursday|thu|thur|thurs; friday|fri; saturday|sat; sunday|sun
montag|mo; dienstag|di; mittwoch|mi; donnerstag|do; freitag|fr; samstag|sa|sonnabend; sonntag|so
lundi|lun; mardi|mar; mercredi|mer; jeudi|jeu; vendredi|ven; samedi|sam; dimanche|dim
lunes|lun; martes|mar; miércoles|miercoles|mié; jueves|jue; viernes|vie; sábado|sabado|sáb; domingo|dom
january|jan; february|feb; march|mar; april|apr; may; june|jun; july|jul; august|aug; september|sep|sept; october|oct; \
november|nov; december|dec
januar|jan; februar|feb; märz|mär|mrz; april|apr; mai; juni|jun; juli|jul; august|aug; september|sep; oktober|okt; \
november|nov; dezember|dez
janvier; février|fevrier; mars; avril; mai; juin; juillet; août|aout; septembre; octobre; novembre; décembre|decembre
enero; febrero; marzo; abril; mayo; junio; julio; agosto; septiembre; octubre; noviembre; diciembre
spring; summer; autumn|fall; winter
strongly disagree|completely disagree|totally disagree; disagree; somewhat disagree|slightly disagree; {_NO}; \
somewhat agree|slightly agree; agree; strongly agree|completely agree|totally agree
very unlikely|extremely unlikely; unlikely; somewhat unlikely; {_NO}; somewhat likely; likely; \
very likely|extremely likely
very dissatisfied; dissatisfied; somewhat dissatisfied; {_NO}; somewhat satisfied; satisfied; very satisfied
not at all satisfied; not very satisfied; fairly satisfied|quite satisfied; very satisfied
not at all important; not very important; somewhat important; important|quite important; very important
not at all; a little|slightly; somewhat|moderately; quite a bit; very much|very|extremely
never; almost never|hardly ever; rarely|seldom; occasionally; sometimes; often; usually|frequently; very often; always
never; yearly|once a year; monthly|once a month; weekly|once a week; daily|every day
very poor|very bad; poor|bad; fair|average|ok; good; very good; excellent
none; low; medium|moderate|mid|middle; high; very high
very low; low; medium|moderate|mid|middle|average; high; very high
none; mild; moderate; severe; very severe|critical
xxs; xs; s; m; l; xl; xxl|2xl; xxxl|3xl
extra small; small; medium; large; extra large|very large
stimme gar nicht zu|stimme überhaupt nicht zu; stimme nicht zu|stimme eher nicht zu; teils teils|weder noch|neutral; \
stimme eher zu; stimme zu; stimme voll zu|stimme voll und ganz zu
nie; fast nie; selten; manchmal|gelegentlich; oft|häufig; sehr oft|meistens; immer
jamais; rarement; parfois|quelquefois; souvent; très souvent; toujours
nunca; casi nunca; rara vez; a veces; a menudo|muchas veces; casi siempre; siempre
sehr schlecht; schlecht; mittelmäßig|befriedigend; gut; sehr gut; ausgezeichnet
très mauvais; mauvais; moyen|passable; bon; très bon; excellent
niedrig|gering; mittel; hoch; sehr hoch
"""
SCALES = tuple(
    {word.strip(): index for index, step in enumerate(line.split(";")) for word in step.split("|")}
    for line in _SCALES.strip().splitlines()
)
"""Per scale the place of each of its words."""


def in_known_order(texts: Sequence[str]) -> list[str] | None:
    """Texts by the bands of numbers that they name or by their place on one scale, lowest first; `None` without either.

    >>> in_known_order(["Agree", "Strongly disagree", "Disagree"]), in_known_order(["Wed", "Mon", "Tue"])
    (['Strongly disagree', 'Disagree', 'Agree'], ['Mon', 'Tue', 'Wed'])
    >>> in_known_order(["65+", "under 18", "18-64"]), in_known_order(["1. never", "2. often", "3. always"])
    (['under 18', '18-64', '65+'], ['1. never', '2. often', '3. always'])
    >>> in_known_order(["often", "rarely", "blue"]), in_known_order(["never", "Never", "often"])
    (None, None)
    """
    bands = bands_in_order(texts)
    if bands is not None or not FEWEST <= len(texts) <= max(map(len, SCALES)):
        return bands
    words = {text: re.sub(r"^\d+\s*[.):=-]\s*|[^\w\s]", "", text.strip()).casefold() for text in texts}
    words = {text: re.sub(r"[\s_]+", " ", word).strip() for text, word in words.items()}
    for places in SCALES:
        if all(word in places for word in words.values()):
            rank_of_text = {text: places[word] for text, word in words.items()}
            return (
                sorted(rank_of_text, key=rank_of_text.__getitem__)
                if len(set(rank_of_text.values())) == len(texts)
                else None
            )
    return None
