"""Treated columns, looked at again: whether what is published is what the job's treatment allows.

Nothing here uses the code of the treatments. What is checked needs the original rows, the published ones in the same
order, and what the job says; never the key or a seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from kanopy._errors import VerificationFailed, some
from kanopy.verify.columns import as_number, as_plain, is_missing, is_number, scale_of, texts_of

DAY = 86_400_000_000
NEAR = 1e-7


@dataclass(frozen=True)
class TreatedColumns:
    """What is to be looked at: a treatment as the job writes it, and its columns before and after."""

    column: str
    job: Mapping[str, Any]
    original: pl.DataFrame
    published: pl.DataFrame
    unit: tuple[str, ...] = ()
    leaders: pl.DataFrame | None = None
    whole: pl.DataFrame | None = None
    """Where these rows are a piece of a table: the values of the whole column `before` and `after`, looked at first."""

    @property
    def names(self) -> list[str]:
        """The columns that are treated together."""
        return [self.column, *self.job.get("together", ())]

    @property
    def within(self) -> list[str]:
        """The strata."""
        return list(self.job.get("within", ()))

    def pair(self, name: str) -> pl.DataFrame:
        """A column before and after as numbers."""
        return pl.DataFrame({"before": as_number(self.original[name]), "after": as_number(self.published[name])})


def verify_treatment(seen: TreatedColumns) -> str:
    """What was found to hold of a treated column, in words; raises where something does not.

    >>> before, after = pl.DataFrame({"pay": [12, 17]}), pl.DataFrame({"pay": [10, 20]})
    >>> verify_treatment(TreatedColumns("pay", {"method": "round", "base": 10}, before, after))
    'pay: every value is a multiple of 10 and less than one of it from the original'
    """
    if seen.original.height != seen.published.height:
        raise _failed(seen.column, "it has another number of rows")
    for name in seen.names:
        gained = is_missing(seen.original[name]) & ~is_missing(seen.published[name])
        if gained.any():
            raise _failed(name, f"{int(gained.sum()):,} missing values became values")
    look = CHECKS.get(str(seen.job["method"]))
    finding = look(seen) if look is not None else "missing values stay missing"
    return f"{seen.column}: {finding}"


def _failed(column: str, what: str) -> VerificationFailed:
    return VerificationFailed(
        f"The treated column {column!r} is not what its treatment allows: {what}. Nothing was written."
    )


def _nothing_new_missing(seen: TreatedColumns) -> None:
    for name in seen.names:
        lost = ~is_missing(seen.original[name]) & is_missing(seen.published[name])
        if lost.any():
            raise _failed(name, f"{int(lost.sum()):,} values became missing")


def _groups(seen: TreatedColumns) -> str:
    """Microaggregation: enough rows share each combination of a stratum, and sums are kept."""
    size, names, within = int(seen.job.get("size", 3)), seen.names, seen.within
    if seen.job.get("too_small", "refuse") == "refuse":
        _nothing_new_missing(seen)
    # Which values are missing is part of a combination: rows are grouped apart by it.
    keys = [seen.published[name].cast(pl.Float64 if is_number(seen.published[name]) else pl.String, strict=False)
            .alias(f"p{j}") for j, name in enumerate(names)]  # fmt: skip
    strata = [seen.original[name].cast(pl.String).alias(f"s{j}") for j, name in enumerate(within)]
    unit_columns = (
        seen.original.select(seen.unit).to_struct("unit")
        if seen.unit
        else pl.Series("unit", range(seen.original.height))
    )
    table = pl.DataFrame([*strata, *keys, unit_columns])
    some_known = pl.any_horizontal([pl.col(f"p{j}").is_not_null() for j in range(len(names))])
    by = [*(f"s{j}" for j in range(len(within))), *(f"p{j}" for j in range(len(names)))]
    counted = table.filter(some_known).group_by(by).agg(pl.col("unit").n_unique().alias("people"))
    if counted.height and (fewest := int(counted["people"].min())) < size:  # type: ignore[arg-type]
        raise _failed(seen.column, f"only {fewest} people share a published combination, where {size} must")
    for name in names:
        if not is_number(seen.original[name]):
            if set(texts_of(seen.published[name])) - set(texts_of(seen.original[name])):
                raise _failed(name, "it has categories that the column did not have")
            continue
        pair = seen.pair(name).filter(pl.col("after").is_not_null())
        if not pair.height:
            continue
        slack = NEAR * scale_of(pair["before"]) + (0.5 if seen.job.get("whole") else 0.0)
        beyond = (pair["after"] > pair["before"].max() + slack) | (pair["after"] < pair["before"].min() - slack)  # type: ignore[operator]
        if beyond.any():
            raise _failed(name, "a published value is beyond the column's own")
        if seen.job.get("publish", "mean") == "mean":
            strata_sums = pl.DataFrame([*strata, *seen.pair(name).get_columns()]).filter(pl.col("after").is_not_null())
            by_stratum = [f"s{j}" for j in range(len(within))]
            total = (strata_sums.group_by(by_stratum) if by_stratum else strata_sums.group_by(pl.lit(1))).agg(
                (pl.col("after").sum() - pl.col("before").sum()).abs().alias("gap"), pl.len().alias("rows")
            )
            if (total["gap"] > total["rows"] * slack).any():
                raise _failed(name, "its sums are not those of the original")
    who = "people" if seen.unit else "rows"
    return f"at least {size} {who} share each published combination{' of a stratum' if within else ''}"


def _people(seen: TreatedColumns, value: float) -> int:
    """How many people the rows with a published value are about."""
    rows = seen.original.filter(as_number(seen.published[seen.column]) == value)
    return rows.select(seen.unit).n_unique() if seen.unit and rows.height else rows.height


def _tails(seen: TreatedColumns) -> str:
    """Top coding: nothing beyond the limits, one value per tail that enough share, all else as it was."""
    _nothing_new_missing(seen)
    if seen.whole is not None:
        return _as_in_the_whole(seen, seen.whole)
    pair = seen.pair(seen.column).drop_nulls()
    size = int(seen.job.get("size") or 3)
    changed = pair.filter(pl.col("before") != pl.col("after"))
    coded = changed["after"].unique().to_list()
    if len(coded) > 2:
        raise _failed(seen.column, f"it was coded to {len(coded)} values")
    for value in coded:
        people = _people(seen, value)
        if people < size:
            raise _failed(seen.column, f"a coded value stands for {people} people, where {size} must share it")
    slack = NEAR * scale_of(pair["before"])
    for side, sign in (("top", 1.0), ("bottom", -1.0)):
        limit = seen.job.get(side)
        if limit is None:
            share = seen.job.get(f"{side}_share")
            if share is None or not pair.height:
                continue
            want = math.floor(float(share) * pair.height)
            extreme = pair["after"].max() if side == "top" else pair["after"].min()
            held = int((pair["after"] == extreme).sum())
            if held < min(max(want, 1), pair.height):
                raise _failed(seen.column, f"{held} rows have the largest coded value, where {want} are to be coded")
            continue
        inside = pair.filter(sign * pair["before"] >= sign * float(limit))
        if inside["after"].n_unique() > 1:
            raise _failed(seen.column, f"values beyond {limit:g} are not published as one")
        untouched = pair.filter(sign * pair["before"] < sign * float(limit))
        other = (
            seen.job.get("bottom" if side == "top" else "top"),
            seen.job.get("bottom_share" if side == "top" else "top_share"),
        )
        if other == (None, None) and ((untouched["before"] - untouched["after"]).abs() > slack).any():
            raise _failed(seen.column, "values within the limit were changed")
    return f"the coded values stand for at least {size} people each"


def _as_in_the_whole(seen: TreatedColumns, whole: pl.DataFrame) -> str:
    """A piece: coded values became what they became in the whole, and none stayed beyond those that did there."""
    pairs = seen.pair(seen.column).drop_nulls()
    whole_pairs = pl.DataFrame({name: as_number(whole[name]) for name in ("before", "after")}).drop_nulls()
    has_stayed = pl.col("before") == pl.col("after")
    coded, stayed = pairs.filter(~has_stayed).unique(), pairs.filter(has_stayed)["before"]
    ends = whole_pairs.filter(has_stayed)["before"]
    beyond = len(stayed) and (not len(ends) or stayed.min() < ends.min() or stayed.max() > ends.max())  # type: ignore[operator]
    if beyond or coded.join(whole_pairs, on=["before", "after"], how="anti").height:
        raise _failed(seen.column, "a value was not coded as in the whole table")
    return "every value was coded as in the whole table"


def _rounded(seen: TreatedColumns) -> str:
    """Rounding: multiples of the base, near the original; totals where they are kept."""
    _nothing_new_missing(seen)
    base = float(seen.job["base"])
    pair = seen.pair(seen.column).drop_nulls()
    steps = pair["after"] / base
    slack = 1e-9 * scale_of(steps)
    if ((steps - steps.round()).abs() > max(slack, 1e-9)).any():
        raise _failed(seen.column, f"a value is no multiple of {base:g}")
    nearest = seen.job.get("kind", "nearest") == "nearest"
    far = base * (0.5 if nearest else 1.0) + NEAR * scale_of(pair["before"]) * (1 if nearest else 0)
    gap = (pair["after"] - pair["before"]).abs()
    if (gap > far + 1e-9 * scale_of(pair["before"])).any():
        raise _failed(seen.column, f"a value moved by more than {'half ' if nearest else ''}the base")
    if seen.job.get("kind") == "controlled":
        strata = [seen.original[name].cast(pl.String).alias(f"s{j}") for j, name in enumerate(seen.within)]
        table = pl.DataFrame([*strata, *seen.pair(seen.column).get_columns()]).drop_nulls(["before", "after"])
        by = [f"s{j}" for j in range(len(strata))]
        sums = (table.group_by(by) if by else table.group_by(pl.lit(1))).agg(
            (pl.col("after").sum() - pl.col("before").sum()).abs().alias("gap")
        )
        if (sums["gap"] > base * (1 + 1e-6) + NEAR * scale_of(pair["before"])).any():
            raise _failed(seen.column, "a total moved by more than the base")
        return f"every value is a multiple of {base:g}, and totals moved by less than one of it"
    return f"every value is a multiple of {base:g} and less than one of it from the original"


def _noisy(seen: TreatedColumns) -> str:
    """Noise: values changed, by no more than the noise can."""
    _nothing_new_missing(seen)
    share, kind = float(seen.job.get("share", 0.1)), seen.job.get("kind", "additive")
    for name in seen.names:
        pair = seen.pair(name).drop_nulls()
        if not pair.height:
            continue
        gap = (pair["after"] - pair["before"]).abs()
        slack = NEAR * scale_of(pair["before"]) + (0.5 if seen.job.get("whole") else 0.0)
        if kind == "multiplicative":
            size = pair["before"].abs()
            if ((gap > 1.5 * share * size + slack) | (gap < 0.5 * share * size - slack)).any():
                raise _failed(name, "a factor is not within the limits of the noise")
            continue
        # Of a piece of a table, the spread and the number of rows are those of the whole.
        whole_values = pair["before"] if seen.whole is None else as_number(seen.whole["before"]).drop_nulls()
        spread = max(float(whole_values.std() or 0.0), float(pair["before"].std() or 0.0))  # type: ignore[arg-type]
        drawn = pair.height if seen.whole is None else seen.whole.height
        most = share * spread * (4.0 + math.sqrt(2.0 * math.log(max(drawn, 2))))
        shrunk = (
            (1 - 1 / math.sqrt(1 + share**2)) * (pair["before"] - pair["before"].mean()).abs()
            if kind == "correlated"
            else 0.0
        )
        if (gap > most + shrunk + slack).any():
            raise _failed(name, "a value moved further than the noise reaches")
        if not seen.job.get("whole") and pair.height >= 3 and int((gap == 0).sum()) > 0.01 * pair.height + 1:
            raise _failed(name, f"{int((gap == 0).sum()):,} values did not change")
    return "every value moved within the reach of the noise"


def _same_values(seen: TreatedColumns, names: Sequence[str], method: str) -> None:
    strata = [seen.original[name].cast(pl.String).alias(f"s{j}") for j, name in enumerate(seen.within)]
    before = pl.DataFrame([*strata, *(seen.original[name].alias(f"v{j}") for j, name in enumerate(names))])
    after = pl.DataFrame([*strata, *(seen.published[name].alias(f"v{j}") for j, name in enumerate(names))])
    counted = [table.group_by(table.columns).len().sort(table.columns) for table in (before, after)]
    if not counted[0].equals(counted[1]):
        raise _failed(seen.column, f"its values are not those it had before{' in each stratum' if strata else ''}")


def _swapped(seen: TreatedColumns) -> str:
    """Rank swapping: the same values in each stratum, no rank moved beyond the window."""
    _same_values(seen, [seen.column], "rank-swap")
    strata = [seen.original[name].cast(pl.String).alias(f"s{j}") for j, name in enumerate(seen.within)]
    table = pl.DataFrame([*strata, *seen.pair(seen.column).get_columns()]).drop_nulls(["before", "after"])
    parts = table.partition_by([f"s{j}" for j in range(len(strata))]) if strata else [table]
    percent = float(seen.job.get("percent", 5.0))
    for stratum in parts:
        window = max(1, int(stratum.height * percent / 100))
        ranked = stratum["before"].sort()
        # Of equal values the nearest ranks count: which of them moved cannot be told.
        first = {
            side: (ranked.search_sorted(stratum[side], "left"), ranked.search_sorted(stratum[side], "right"))
            for side in ("before", "after")
        }
        gap_up = first["after"][0].cast(pl.Int64) - (first["before"][1].cast(pl.Int64) - 1)
        gap_down = first["before"][0].cast(pl.Int64) - (first["after"][1].cast(pl.Int64) - 1)
        if (gap_up > window).any() or (gap_down > window).any():
            raise _failed(seen.column, f"a rank moved further than {percent:g} % of the rows")
    return f"the values are the same as before, and no rank moved further than {percent:g} % of the rows"


def _shuffled(seen: TreatedColumns) -> str:
    """Shuffling: the same combinations of values in each stratum."""
    _same_values(seen, seen.names, "shuffle")
    return "each stratum has the values that it had before" if seen.within else "the values are those of before"


def _randomized(seen: TreatedColumns) -> str:
    """PRAM: no category that the column, or its matrix, does not have; kept about as often as the job says."""
    _nothing_new_missing(seen)
    before, after = seen.original[seen.column].cast(pl.String), seen.published[seen.column].cast(pl.String)
    strata = [seen.original[name].cast(pl.String).alias(f"s{j}") for j, name in enumerate(seen.within)]
    allowed_pairs = pl.DataFrame([*strata, before.alias("v")]).unique()
    new = (
        pl.DataFrame([*strata, after.alias("v")])
        .unique()
        .join(allowed_pairs, on=allowed_pairs.columns, how="anti", nulls_equal=True)
    )
    if new.height:
        raise _failed(seen.column, f"{some(new['v'].to_list())} do not occur in the stratum of the original")
    present = int(before.is_not_null().sum())
    if seen.job.get("matrix"):
        if not seen.job.get("invariant"):
            pairs = pl.DataFrame({"b": before, "a": after}).drop_nulls().unique()
            strange = [f"{b} to {a}" for b, a in pairs.iter_rows() if not seen.job["matrix"].get(b, {}).get(a, 0.0)]
            if strange:
                raise _failed(seen.column, f"the matrix does not lead from {some(strange)}")
        return "only transitions of the matrix occur"
    keep = float(seen.job.get("keep", 0.8))
    stayed = int(((before == after) & before.is_not_null()).sum())
    if present and stayed < keep * present - 6.0 * math.sqrt(present * keep * (1 - keep)) - 1:
        raise _failed(seen.column, f"only {stayed:,} of {present:,} values stayed, where {keep:.0%} are to")
    if keep == 0 and present > 50 and stayed == present:
        raise _failed(seen.column, "no value changed")
    return "only categories of the stratum are published"


def _resampled(seen: TreatedColumns) -> str:
    """Re-sampling: nothing beyond the column's own values, and the order of ranks kept."""
    _nothing_new_missing(seen)
    pair = seen.pair(seen.column).drop_nulls().sort("before", "after")
    if pair.height and ((pair["after"] > pair["before"].max()) | (pair["after"] < pair["before"].min())).any():
        raise _failed(seen.column, "a value is beyond the column's own")
    if (pair["after"].diff().drop_nulls() < -NEAR * scale_of(pair["before"])).any():
        raise _failed(seen.column, "ranks changed")
    return "ranks are kept, and no value is beyond the column's own"


def _moments(column: pl.Series, layout: str | None) -> pl.Series:
    """Dates and timestamps as microseconds since 1970."""
    if column.dtype == pl.String:
        column = column.replace("", None)
        for form in [layout] if layout else ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M"]:
            timed = any(mark in form for mark in ("%H", "%I", "%M", "%S", "%T", "%X", "%c"))
            read = column.str.to_datetime(form, strict=False) if timed else column.str.to_date(form, strict=False)
            if read.null_count() == column.null_count():
                column = read
                break
        else:
            raise VerificationFailed(f"{column.name!r} holds texts that are no dates. Nothing was written.")
    if column.dtype == pl.Date:
        return column.cast(pl.Int64) * DAY
    if getattr(column.dtype, "time_zone", None):
        column = column.dt.replace_time_zone(None)
    return column.cast(pl.Datetime("us")).cast(pl.Int64)


def _shifted(seen: TreatedColumns) -> str:
    """Date shift: one shift per unit, not 0, within the limits, whole weeks where asked."""
    _nothing_new_missing(seen)
    layout, days = seen.job.get("format"), int(seen.job.get("days", 182))
    before, after = (_moments(table[seen.column], layout) for table in (seen.original, seen.published))
    units = list(seen.job.get("unit") or seen.unit)
    unit_columns = pl.DataFrame([as_plain(seen.original[name]).alias(f"u{j}") for j, name in enumerate(units)])
    table = unit_columns.with_columns(gap=after - before)
    table = table.drop_nulls("gap") if table["gap"].null_count() else table
    finest = seen.job.get("finest")
    by = unit_columns.columns
    if finest is not None:
        # After cutting, a shift is known up to what was cut.
        slack = {
            "minute": DAY // 1440, "hour": DAY // 24, "day": DAY, "week": 7 * DAY, "month": 31 * DAY,
            "quarter": 92 * DAY, "year": 366 * DAY,
        }[finest]  # fmt: skip
        spread = table.group_by(by).agg((pl.col("gap").max() - pl.col("gap").min()).alias("spread"))
        if (table["gap"].abs() > days * DAY + slack).any() or (spread["spread"] > slack).any():
            raise _failed(seen.column, "dates of a unit moved by different numbers of days")
        return "all dates of a unit moved together, up to what was cut"
    shifts = table.group_by(by).agg(pl.col("gap").min().alias("least"), pl.col("gap").max().alias("most"))
    if (shifts["least"] != shifts["most"]).any():
        raise _failed(seen.column, "dates of a unit moved by different numbers of days")
    if (shifts["least"] == 0).any():
        raise _failed(seen.column, "dates of a unit did not move")
    step = DAY * (7 if seen.job.get("weeks") else 1)
    if (shifts["least"].abs() > days * DAY).any() or (shifts["least"] % step != 0).any():
        raise _failed(
            seen.column, f"dates moved by more than {days} days, or by parts of {'weeks' if step > DAY else 'days'}"
        )
    return f"the dates of each unit moved by one number of days, not 0 and at most {days}"


def _cut(seen: TreatedColumns) -> str:
    """Cut dates: nothing finer than asked, and never later than the original unless its age was coded."""
    _nothing_new_missing(seen)
    layout, finest = seen.job.get("format"), str(seen.job.get("finest", "month"))
    before, after = (
        _moments(table[seen.column], layout).cast(pl.Datetime("us")) for table in (seen.original, seen.published)
    )
    step = {"year": "1y", "quarter": "1q", "month": "1mo", "week": "1w", "day": "1d", "hour": "1h", "minute": "1m"}[
        finest
    ]
    if (after.drop_nulls().dt.truncate(step) != after.drop_nulls()).any():
        raise _failed(seen.column, f"a date is finer than its {finest}")
    moved = after != before.dt.truncate(step)
    if seen.job.get("oldest") is None:
        if moved.any():
            raise _failed(seen.column, "a date is not that of the original")
        return f"no date is finer than its {finest}"
    on = str(seen.job["on"])
    when = _moments(seen.original[on], None).cast(pl.Datetime("us")) if on in seen.original.columns else (
        pl.Series([on]).str.to_datetime("%Y-%m-%d").new_from_index(0, after.len()))  # fmt: skip
    limit = when.dt.truncate("1d").dt.offset_by(f"-{int(seen.job['oldest']) + 1}y").dt.truncate(step)
    if (after < limit).any() or (moved & (after != limit)).any():
        raise _failed(seen.column, f"an age above {seen.job['oldest']} can be told")
    return f"no date is finer than its {finest}, and no age above {seen.job['oldest']} can be told"


def _pseudonymous(seen: TreatedColumns) -> str:
    """Pseudonyms: one per value and one value per pseudonym, and no value is published as it was."""
    _nothing_new_missing(seen)
    before, after = as_plain(seen.original[seen.column]), as_plain(seen.published[seen.column])
    # Rows are compared by hashes; texts are made of the distinct pairs alone.
    hashes = pl.DataFrame({"before": before.hash(), "after": after.hash()}).with_row_index("row")
    first_rows = hashes.filter(~is_missing(before) & after.is_not_null()).unique(["before", "after"], keep="any")["row"]
    present_pairs = pl.DataFrame(
        {"before": before.gather(first_rows).cast(pl.String), "after": after.gather(first_rows).cast(pl.String)}
    )
    if (
        present_pairs["before"].n_unique() < present_pairs.height
        or present_pairs["after"].n_unique() < present_pairs.height
    ):
        raise _failed(seen.column, "a value has several pseudonyms, or a pseudonym several values")
    same = present_pairs.filter(pl.col("before") == pl.col("after"))
    # Of a million forms one may be its own by chance; never where pseudonyms have a form of their own.
    if same.height > (1 + present_pairs.height // 100_000 if seen.job["method"] == "format-preserving" else 0):
        raise _failed(seen.column, f"{same.height:,} values are published as they were")
    return "each value has one pseudonym, and none is published as it was"


def _masked(seen: TreatedColumns) -> str:
    """Partial masks: no more characters than asked, and all masks of one length."""
    _nothing_new_missing(seen)
    first, last, cover = int(seen.job.get("first", 0)), int(seen.job.get("last", 4)), str(seen.job.get("cover", "*"))
    after = seen.published[seen.column].drop_nulls().cast(pl.String).unique()
    if after.len() and after.str.len_chars().n_unique() > 1:
        raise _failed(seen.column, "masks of different lengths tell how long values are")
    for text in after.to_list():
        covered = text[first : len(text) - last]
        if not covered or set(covered) != {cover}:
            raise _failed(seen.column, "more of a value is published than asked")
    return f"at most {first + last} characters of a value are published"


def _following(seen: TreatedColumns) -> str:
    """Linked columns: what is published follows from what is published of the other column."""
    leader = str(seen.job["column"])
    assert seen.leaders is not None
    pairs = pl.DataFrame(
        {"key": seen.leaders[leader].cast(pl.String), "value": seen.published[seen.column].cast(pl.String)}
    ).unique()
    if pairs["key"].n_unique() < pairs.height:
        raise _failed(seen.column, f"it tells rows apart that {leader!r} does not")
    published_originals = pl.DataFrame(
        {"key": seen.original[leader].cast(pl.String), "own": seen.original[seen.column].cast(pl.String)}
    ).unique()
    # Beside what is no value of the other column, a single value would say which one it was.
    alone = pairs.join(published_originals, on="key", how="anti").filter(
        pl.col("value").is_in(published_originals["own"].drop_nulls().implode())
    )
    if alone.height:
        raise _failed(seen.column, f"it tells which value of {leader!r} was replaced")
    return f"it says nothing that {leader} does not say as published"


CHECKS: dict[str, Callable[[TreatedColumns], str]] = {
    "microaggregate": _groups,
    "top-code": _tails,
    "round": _rounded,
    "noise": _noisy,
    "rank-swap": _swapped,
    "shuffle": _shuffled,
    "pram": _randomized,
    "resample": _resampled,
    "shift-dates": _shifted,
    "cut-dates": _cut,
    "hash": _pseudonymous,
    "tokens": _pseudonymous,
    "encrypt": _pseudonymous,
    "format-preserving": _pseudonymous,
    "mask": _masked,
    "follow": _following,
}
"""What is looked for in the release of each method of Kanopy; treatments of other packages bring `check`."""
