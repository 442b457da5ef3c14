"""Write the hierarchies bundled with the Adult data set to `src/kanopy/data/adult_hierarchies/`.

One file per column, one line per value: the value, ever broader labels, `*`; separated by semicolons. Groups are our
own choice, meant to be sensible to a reader of the release rather than tuned to any measure.
"""

from __future__ import annotations

from pathlib import Path

TARGET = Path(__file__).resolve().parents[1] / "src" / "kanopy" / "data" / "adult_hierarchies"

Groups = dict[str, dict[str, list[str]]]

EDUCATION = [
    "Preschool",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "HS-grad",
    "Some-college",
    "Assoc-voc",
    "Assoc-acdm",
    "Bachelors",
    "Masters",
    "Prof-school",
    "Doctorate",
]
EDUCATION_STEPS = {
    "No diploma": {"Primary school": range(1, 4), "Middle school": range(4, 6), "High school unfinished": range(6, 9)},
    "Diploma": {"High school finished": range(9, 10), "College without a degree": range(10, 13)},
    "Degree": {"Bachelor": range(13, 14), "Beyond bachelor": range(14, 17)},
}

NAMED: dict[str, Groups] = {
    "workclass": {
        "Private sector": {"Private": ["Private"], "Self-employed": ["Self-emp-not-inc", "Self-emp-inc"]},
        "Public sector": {"Government": ["Federal-gov", "State-gov", "Local-gov"]},
        "Not paid": {"Unpaid": ["Without-pay", "Never-worked"]},
    },
    "education": {
        broad: {narrow: [EDUCATION[i - 1] for i in numbers] for narrow, numbers in steps.items()}
        for broad, steps in EDUCATION_STEPS.items()
    },
    "marital-status": {
        "Has been married": {
            "Married, together": ["Married-civ-spouse", "Married-AF-spouse"],
            "Married, apart": ["Married-spouse-absent", "Separated"],
            "No longer married": ["Divorced", "Widowed"],
        },
        "Has never been married": {"Never-married": ["Never-married"]},
    },
    "occupation": {
        "Office": {
            "Management and professions": ["Exec-managerial", "Prof-specialty", "Tech-support"],
            "Clerical and sales": ["Adm-clerical", "Sales"],
        },
        "Service": {
            "Personal service": ["Other-service", "Priv-house-serv"],
            "Security": ["Protective-serv", "Armed-Forces"],
        },
        "Manual": {
            "Crafts and machines": ["Craft-repair", "Machine-op-inspct"],
            "Land, transport and labour": ["Farming-fishing", "Transport-moving", "Handlers-cleaners"],
        },
    },
    "relationship": {
        "In a family": {
            "Spouse": ["Husband", "Wife"],
            "Relative": ["Own-child", "Other-relative"],
            "Unmarried": ["Unmarried"],
        },
        "Not in a family": {"Not-in-family": ["Not-in-family"]},
    },
    "native-country": {
        "Americas": {
            "Northern America": ["United-States", "Canada", "Outlying-US(Guam-USVI-etc)"],
            "Central America": ["Mexico", "Guatemala", "Honduras", "El-Salvador", "Nicaragua"],
            "Caribbean": ["Puerto-Rico", "Cuba", "Dominican-Republic", "Haiti", "Jamaica", "Trinadad&Tobago"],
            "South America": ["Columbia", "Ecuador", "Peru"],
        },
        "Europe": {
            "British Isles": ["England", "Scotland", "Ireland"],
            "Western Europe": ["France", "Germany", "Holand-Netherlands"],
            "Southern Europe": ["Italy", "Portugal", "Greece"],
            "Eastern Europe": ["Poland", "Hungary", "Yugoslavia"],
        },
        "Asia": {
            "East Asia": ["China", "Hong", "Taiwan", "Japan", "South"],
            "South-East Asia": ["Philippines", "Vietnam", "Laos", "Cambodia", "Thailand"],
            "South and West Asia": ["India", "Iran"],
        },
    },
}
SHORT: dict[str, dict[str, list[str]]] = {
    "race": {"White": ["White"], "Black": ["Black"], "Other": ["Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other"]}
}
FLAT = {"sex": ["Female", "Male"], "income": ["<=50K", ">50K"]}


def band(value: int, width: int) -> str:
    """The label of the band of whole numbers that holds a value, e.g. 20-24."""
    low = value // width * width
    return f"{low}-{low + width - 1}"


def age(years: int) -> list[str]:
    """Five years, ten years, a third of a life."""
    life = "under 30" if years < 30 else "30-59" if years < 60 else "60 and over"
    return [str(years), band(years, 5), band(years, 10), life, "*"]


def hours(number: int) -> list[str]:
    """Five hours, then part time, full time, long hours."""
    kind = "under 35" if number < 35 else "35-44" if number < 45 else "45 and over"
    return [str(number), band(number, 5), kind, "*"]


def education_number(number: int) -> list[str]:
    """The same steps as for `education`, named by their numbers."""
    for steps in EDUCATION_STEPS.values():
        for narrow in steps.values():
            if number in narrow:
                ends = [next(iter(steps.values()))[0], list(steps.values())[-1][-1]]
                label = f"{narrow[0]}-{narrow[-1]}" if len(narrow) > 1 else str(number)
                return [str(number), label, f"{ends[0]}-{ends[1]}", "*"]
    raise ValueError(number)


def main() -> None:
    """Write all files."""
    tables: dict[str, list[list[str]]] = {
        "age": [age(years) for years in range(17, 91)],
        "hours-per-week": [hours(number) for number in range(1, 100)],
        "education-num": [education_number(number) for number in range(1, 17)],
    }
    for column, groups in NAMED.items():
        tables[column] = [
            [value, narrow, broad, "*"]
            for broad, inner in groups.items()
            for narrow, values in inner.items()
            for value in values
        ]
    for column, short in SHORT.items():
        tables[column] = [[value, group, "*"] for group, values in short.items() for value in values]
    for column, values in FLAT.items():
        tables[column] = [[value, "*"] for value in values]
    TARGET.mkdir(parents=True, exist_ok=True)
    for column, rows in tables.items():
        text = "".join(";".join(row) + "\n" for row in rows)
        (TARGET / f"{column}.csv").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
