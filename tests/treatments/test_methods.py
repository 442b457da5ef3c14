"""Single treatments against published vectors and the properties that they promise."""

from __future__ import annotations

import datetime as dt
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kanopy._core.neighbours_kernel import nearest_rows
from kanopy._errors import JobError
from kanopy.treatments.apply import treat_frame, treat_values
from kanopy.treatments.base import Secrets, Table
from kanopy.treatments.dates import offset
from kanopy.treatments.pram import invariant, usual_matrix
from kanopy.treatments.pseudonyms.encrypt import Encrypt
from kanopy.treatments.pseudonyms.ff1 import FF1
from kanopy.treatments.pseudonyms.format_preserving import FormatPreserving
from kanopy.treatments.random_numbers import uniforms
from kanopy.treatments.registry import make_treatment
from kanopy.treatments.swapping import partners

KEY = b"a key of sixteen bytes"
K128 = "2B7E151628AED2A6ABF7158809CF4F3C"
K192, K256 = K128 + "EF4359D8D580AA4F", K128 + "EF4359D8D580AA4F7F036D6F04FC6A94"
T10, T36 = "39383736353433323130", "3737373770717273373737"
LONG = "0123456789abcdefghi"
SAMPLES = [
    (K128, 10, "", "0123456789", "2433477484"),
    (K128, 10, T10, "0123456789", "6124200773"),
    (K128, 36, T36, LONG, "a9tv40mll9kdu509eum"),
    (K192, 10, "", "0123456789", "2830668132"),
    (K192, 10, T10, "0123456789", "2496655549"),
    (K192, 36, T36, LONG, "xbj3kv35jrawxv32ysr"),
    (K256, 10, "", "0123456789", "6657667009"),
    (K256, 10, T10, "0123456789", "1001623463"),
    (K256, 36, T36, LONG, "xs8a0azh2avyalyzuwd"),
]
"""The samples 1 to 9 that NIST publishes for FF1 (SP 800-38G, examples with intermediate values)."""
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@pytest.mark.parametrize(("key", "radix", "tweak", "plain", "expected"), SAMPLES)
def test_ff1_equals_the_samples_of_nist(key, radix, tweak, plain, expected):
    cipher = FF1(bytes.fromhex(key), radix, bytes.fromhex(tweak))
    digits = [LETTERS.index(letter) for letter in plain]
    made = cipher.encrypt(digits)
    assert "".join(LETTERS[digit] for digit in made) == expected
    assert cipher.decrypt(made) == digits


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 300), st.integers(0, 20), st.randoms(use_true_random=False))
def test_ff1_round_trip(radix, more, chance):
    cipher = FF1(bytes.fromhex(K128), radix)
    digits = [chance.randrange(radix) for _ in range(cipher.shortest + more)]
    assert cipher.decrypt(cipher.encrypt(digits)) == digits


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=8, unique=True))
def test_reversible_pseudonyms_are_turned_back(values):
    table = Table(pl.DataFrame({"id": values}), Secrets(KEY))
    for treatment in (Encrypt(), FormatPreserving(alphabet="digits-letters-cases")):
        key = treatment.key("id", table)
        if isinstance(treatment, FormatPreserving):
            plain = ["".join(c for c in value if c.isascii() or not c.isalnum()) for value in values]
            values = [f"{i:06d}-{value}" for i, value in enumerate(plain)]
        made = treatment.pseudonyms("id", values, key)
        assert len(set(made)) == len(values)
        assert treatment.originals("id", made, key) == values


def test_a_changed_or_foreign_pseudonym_is_refused():
    table = Table(pl.DataFrame({"id": ["Ada"]}), Secrets(KEY))
    treatment = Encrypt()
    made = treatment.pseudonyms("id", ["Ada"], treatment.key("id", table))[0]
    for other in (Encrypt(recipient="x"), Encrypt(version=2), Encrypt(domain="y")):
        with pytest.raises(JobError, match="were not made with this key"):
            other.originals("id", [made], other.key("id", table))
    with pytest.raises(JobError, match="or were changed"):
        treatment.originals("id", ["a" + made[1:] if made[0] != "a" else "b" + made[1:]], treatment.key("id", table))


def test_pseudonyms_depend_on_domain_recipient_and_version():
    rows = pl.DataFrame({"a": ["Ada"], "b": ["Ada"]})

    def made(column, **settings):
        return treat_frame(rows, column, make_treatment({"method": "hash", **settings}), Secrets(KEY))[column][0]

    assert made("a") != made("b") and made("a", domain="p") == made("b", domain="p")
    assert len({made("a"), made("a", recipient="x"), made("a", recipient="y"), made("a", version=2)}) == 4


def test_shifts_are_uniform_without_zero():
    days, units = 182, 100_000
    counts = Counter(offset(str(i), KEY, days) for i in range(units))
    assert set(counts) == {*range(-days, 0), *range(1, days + 1)}
    expected = units / (2 * days)
    chi = sum((count - expected) ** 2 / expected for count in counts.values())
    freedom = 2 * days - 1
    assert abs(chi - freedom) < 4 * np.sqrt(2 * freedom)
    assert {offset(str(i), KEY, 30, weeks=True) for i in range(500)} == {-28, -21, -14, -7, 7, 14, 21, 28}


def test_the_same_unit_is_shifted_alike_in_other_columns_tables_and_types():
    first = treat_values({"a": [dt.date(2024, 3, 1)], "u": [7]}, {"method": "shift-dates", "unit": "u"}, key=KEY)[0]
    other = treat_values({"b": ["2024-03-01"], "v": ["7"]}, {"method": "shift-dates", "unit": "v"}, key=KEY)[0]
    assert first.isoformat() == other
    timed = treat_values(
        {"c": [dt.datetime(2024, 3, 1, 17, 5)], "v": [7.0]}, {"method": "shift-dates", "unit": "v"}, key=KEY
    )
    assert timed[0] == dt.datetime.combine(first, dt.time(17, 5))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=8), st.floats(0, 1), st.integers(0, 1000))
def test_pram_matrices_are_invariant(weights, keep, seed):
    shares = np.array(weights) / sum(weights)
    size = len(shares)
    own = np.random.default_rng(seed).dirichlet(np.ones(size), size)
    for matrix in (usual_matrix(shares, keep), invariant(own, shares)):
        assert np.abs(shares @ matrix - shares).max() <= 1e-12
        assert np.abs(matrix.sum(axis=1) - 1).max() <= 1e-12 and (matrix >= -1e-15).all()


def test_pram_keeps_frequencies_and_stays_within_strata():
    rows = pl.DataFrame({"v": list("aab") * 2000 + list("cd") * 1000, "s": ["x"] * 6000 + ["y"] * 2000})
    made = treat_frame(rows, "v", make_treatment({"method": "pram", "keep": 0.3, "within": "s"}), Secrets(KEY))["v"]
    counts = Counter(made)
    assert abs(counts["a"] - 4000) < 200 and abs(counts["c"] - 1000) < 120
    assert set(made.head(6000)) == {"a", "b"} and set(made.tail(2000)) == {"c", "d"}


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 200), st.floats(0.1, 100), st.integers(0, 100))
def test_ranks_are_swapped_in_pairs_within_the_window(ranks, percent, seed):
    found = partners(ranks, percent, seed.to_bytes(8, "big"))
    assert (found[found] == np.arange(ranks)).all()
    assert np.abs(found - np.arange(ranks)).max() <= max(1, int(ranks * percent / 100))


values = st.lists(st.one_of(st.none(), st.integers(-1000, 1000)), min_size=3, max_size=40)


@settings(max_examples=60, deadline=None)
@given(values, st.sampled_from(["rank-swap", "shuffle"]))
def test_swaps_keep_the_multiset_and_what_is_missing(column, method):
    if len({value for value in column if value is not None}) < 2:
        return
    made = treat_values(column, {"method": method}, key=KEY)
    assert Counter(made) == Counter(column)
    assert [value is None for value in made] == [value is None for value in column]


@settings(max_examples=60, deadline=None)
@given(values, st.sampled_from([1, 3, 10, 250]), st.sampled_from(["nearest", "random", "controlled"]))
def test_rounding_is_near_and_keeps_whole_numbers_whole(column, base, kind):
    made = treat_values(column, {"method": "round", "base": base, "kind": kind}, key=KEY)
    pairs = [(a, b) for a, b in zip(column, made, strict=True) if a is not None]
    assert all(isinstance(b, int) and b % base == 0 and abs(a - b) < max(base, 1) for a, b in pairs)
    assert [value is None for value in made] == [value is None for value in column]
    if kind == "controlled" and pairs:
        assert abs(sum(a - b for a, b in pairs)) <= base


def test_random_rounding_has_no_bias():
    made = treat_values([3] * 20_000, {"method": "round", "base": 10, "kind": "random"}, key=KEY)
    assert set(made) == {0, 10} and abs(np.mean(made) - 3) < 0.1


def test_noise_has_the_spread_asked_for_and_keeps_covariances():
    rng = np.random.default_rng(1)
    a = rng.normal(50, 10, 20_000)
    rows = pl.DataFrame({"a": a, "b": a + rng.normal(0, 5, 20_000)})
    made = treat_frame(rows, "a", make_treatment({"method": "noise", "share": 0.3}), Secrets(KEY))["a"]
    assert np.std((made - rows["a"]).to_numpy()) == pytest.approx(3.0, rel=0.03)
    settings_ = {"method": "noise", "kind": "correlated", "share": 0.5, "together": "b"}
    both = treat_frame(rows, "a", make_treatment(settings_), Secrets(KEY))
    after = np.cov(np.column_stack([both["a"], both["b"]]), rowvar=False)
    assert after == pytest.approx(np.cov(rows.to_numpy(), rowvar=False), rel=0.03)
    many = treat_values([100.0] * 1000 + [0.0], {"method": "noise", "kind": "multiplicative", "share": 0.2}, key=KEY)
    factors = np.abs(np.array(many[:-1]) / 100 - 1)
    assert factors.min() >= 0.1 and factors.max() <= 0.3 and many[-1] == 0.0


def test_random_numbers_do_not_depend_on_pieces():
    whole = uniforms(b"s", 0, 200_000)
    assert np.array_equal(whole[65_000:140_000], uniforms(b"s", 65_000, 75_000))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 3), st.integers(1, 6), st.integers(0, 10**6))
def test_nearest_rows_are_those_of_all_pairs(rows, width, wanted, seed):
    x = np.random.default_rng(seed).integers(0, 6, (rows, width)).astype(float)
    near, far = nearest_rows(x, wanted)
    for i in range(rows):
        others = sorted((((x[i] - x[j]) ** 2).sum(), j) for j in range(rows) if j != i)[:wanted]
        assert near[i, : len(others)].tolist() == [j for _, j in others]
        assert far[i, : len(others)].tolist() == [d for d, _ in others] and (near[i, len(others) :] == -1).all()


@pytest.mark.parametrize(
    ("column", "treatment", "words"),
    [
        ([1, 2, 9], {"method": "top-code", "top": 9, "size": 3}, "must stand for at least 3"),
        ([1, 2, 9], {"method": "top-code"}, "has no limit"),
        ([1, 2], {"method": "top-code", "top": 1, "bottom": 5}, "must lie below"),
        (["a", "1"], "noise", "needs numbers; 'values' also holds 'a'"),
        ([5, 5, 5], "noise", "is constant"),
        ([True, False], "noise", "truth values"),
        ([1, 2], {"method": "noise", "kind": "multiplicative", "share": 0.7}, "signs would change"),
        ([1, None], "rank-swap", "nobody to swap with"),
        (["a", "a"], "pram", "only one value"),
        ({"a": list("aab"), "s": list("xxy")}, {"method": "pram", "within": "s"}, "s = 'y'.* only one category"),
        (["a", "b"], {"method": "pram", "keep": 1}, "below 1"),
        ([5, 5, 5], "rank-swap", "is constant"),
        (["a", "a", "a"], "shuffle", "is constant"),
        ([5, 5, 5], "resample", "is constant"),
        (["SMITH123456"], "format-preserving", "letters or digits besides"),
        ([str(i) for i in range(10_001)], "pram", "10,001 different values"),
        (["a", "b"], {"method": "pram", "matrix": {"a": {"a": 0.5}}}, "do not add up"),
        (["a", "b"], {"method": "pram", "matrix": {"a": {"a": 1}}}, "no row for 'b'"),
        (["1/2/2024"], "cut-dates", "Give their format"),
        ([1, 2], "cut-dates", "needs dates"),
        (["123"], "format-preserving", "fewer than 6 digits"),
        (["1234567"], {"method": "mask", "last": 4}, "shorter than 8"),
        (
            {"d": [dt.date(9999, 12, 31)], "u": [1]},
            {"method": "shift-dates", "unit": "u", "days": 3650},
            "beyond the calendar",
        ),
        ({"d": [dt.date(2024, 1, 1)], "u": [None]}, {"method": "shift-dates", "unit": "u"}, "no unit"),
        ([1, 2], {"method": "shift-dates", "weeks": True, "days": 3}, "days = 7"),
    ],
)
def test_bad_input_is_refused_in_words(column, treatment, words):
    keys = [KEY] if "beyond" not in words else [KEY + bytes([i]) * 3 for i in range(20)]
    with pytest.raises(JobError, match=words):
        for key in keys:
            treat_values(column, treatment, key=key)
