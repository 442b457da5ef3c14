"""Answers of patients and workers of many countries: names, ways to reach people and illnesses in many forms, emoji.

Made for tests: nobody is in it. `planted` says what each answer was made as.
"""

from __future__ import annotations

import numpy as np

from tests.masking.survey_like import Answers, misspelled

FREQUENT = ("back pain", "stress", "headache", "asthma", "diabetes", "cleaning", "teaching", "cooking", "nurse",
            "driver", "coffee", "good pay", "no headache", "long hours", "unemployed", "smoker", "non-smoker", "👍",
            "👎", "Rückenschmerzen")  # fmt: skip
RARE = ("migraine", "arthritis", "gout", "eczema", "measles", "pneumonia", "bronchitis", "plumber", "welder", "baker",
        "tailor", "barber", "judge", "lawyer", "sewing", "knitting", "tea", "juice", "milk", "whisky", "anger", "grief",
        "fatigue", "insomnia", "cholera", "malaria", "ulcer", "pension", "bonus", "night shift")  # fmt: skip
DENIED = ("no back pain", "never smoked", "not a nurse", "without insurance", "HIV negative", "no diabetes",
          "kein Stress", "sin dolor", "pas de café", "free of pain", "stress-free", "I don't drink coffee",
          "bad pay", "cannot sleep", "nicht müde", "coffee 👎", "hate cooking", "unhappy", "painless",
          "lack of sleep", "w/o pain")  # fmt: skip
NAMES = ("Nguyen Thi Lan", "oluwaseun adeyemi", "Chidinma Okonkwo", "Jean-Pierre Dubois", "Søren Kjær", "åsa lindström",
         "Zeynep Yılmaz", "Дмитрий Волков", "priya sharma", "JOHN SMITH", "Smith, John", "Dr Müller", "mrs jones",
         "Tom", "my neighbour Karen", "my son Leo", "Kwame Mensah", "Liu Wei", "wei zhang", "J. Smith",
         "Siobhán Ní Bhriain", "María José García", "rahul gupta", "lopez maria", "Rose Miller", "O'Brien", "ask Tom",
         "meine Tochter Lena", "Pieter van der Berg", "Rajesh K.", "محمد علي", "maria",
         "Thomas is my uncle")  # fmt: skip
REACHED = {
    "email": ("john at mail dot com", "anna(at)web.de", "jo@x.io", "john [at] mail [dot] com", "john @ mail.com",
              "john_at_gmail.com"),
    "web": ("@anna_b", "insta: annab92", "facebook.com/annab"),
    "phone": ("0151 23456789", "call me 555 0199 22", "+49 (0)30 123456", "07700 900123", "tel. 91 123 45 67",
              "six zero zero one two three"),
    "iban": ("de89 3704 0044 0532 0130 00", "GB29 NWBK 6016 1331 9268 19", "ES91-2100-0418-4502-0005-1332"),
    "address": ("12 Elm Stret", "Elm Street 12", "calle Mayor 5", "12 bis rue de la Paix", "via Roma 10", "Hauptstr. 5",
                "Am Markt 3", "Kerkstraat 12", "ul. Długa 7", "PO Box 123", "SW1A 1AA", "next to 12 elm road",
                "5 Rose Close", "Rua Augusta 100"),
    "number": ("06 12 34 56 78", "patient 4711", "ID 12345", "10115 Berlin", "card 4111-1111-1111-1111", "X1234567Z"),
    "date": ("born in 1985", "14 März 1985", "14.3.1985"),
}  # fmt: skip
TOLD = ("I was diagnosed with bipolar disorder in May", "estoy embarazada de tres meses", "ich habe Krebs seit 2019",
        "had an abortion last year", "my husband beats me", "depresión grave", "乳腺癌", "HIV+")  # fmt: skip
NOTHING = ("n/a", "none", "-", "nothing", "nada", "...", "?")
HARMLESS = ("nature reserve", "Rose Garden", "Jack Fruit", "look at the sea", "day at the beach", "COVID-19", "5 stars",
            "type 2 diabetes", "2 children", "route 66", "24 hours drive", "2 cars in a row", "open 24/7", "iPhone 12",
            "park 5 minutes away", "during 5 days", "spring 2019", "season 2019/2020", "Chronic Kidney Disease",
            "Wilson Disease", "Friendly Staff", "Bird Watching", "children under 5", "average price 5",
            "April")  # fmt: skip


def survey_abroad(seed: int, rows: int = 300) -> Answers:
    """A survey of so many people; one name and one way to reach somebody is written by many of them."""
    rng = np.random.default_rng(1_000 + seed)
    share = 1.0 / np.arange(1, len(FREQUENT) + 1) ** 0.5
    reached = [text for texts in REACHED.values() for text in texts]
    often = [str(rng.choice(NAMES)), str(rng.choice(reached))]
    lists = {"rare": RARE, "denied": DENIED, "name": NAMES, "reached": reached, "told": TOLD, "nothing": NOTHING,
             "often": often}  # fmt: skip
    kinds = {"frequent": 0.5, "rare": 0.18, "typo": 0.09, "denied": 0.06, "name": 0.04, "reached": 0.04, "told": 0.03,
             "nothing": 0.02, "often": 0.04}  # fmt: skip
    why: list[str | None] = []
    planted: list[str] = []
    meant: dict[int, str] = {}
    for row in range(rows):
        kind = str(rng.choice(list(kinds), p=list(kinds.values())))
        answer = str(rng.choice(lists.get(kind, FREQUENT), p=None if kind in lists else share / share.sum()))
        if kind == "typo" and len(answer) > 3:
            meant[row], answer = answer, misspelled(answer, rng)
        why.append(answer)
        planted.append(kind)
    return Answers(why, planted, meant)
