"""The best prices that respect a list of cuts: a linear program, approached by primal and dual steps in turn.

Maximize the sum of `gain * price` so that for every cut the shares of its rows' prices add up to at most its weight,
with every price between a floor and a ceiling. Limits ease cuts: each has an allowance, of which every row of a cut
within it gets its part, and which costs as much as the classes that the limit admits may get of it. The steps are those
of Chambolle and Pock (2011) with the step sizes of Pock and Chambolle (2011), begun again from the mean of the iterates
as in PDLP (Applegate and others 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import Arrays, kernel


@dataclass(frozen=True, eq=False)
class Eased(Arrays):
    """The limits that cut `c` lies in, `limit[start[c]:start[c + 1]]`, and its `part` of their allowances; per limit
    the classes it admits, and its allowance."""

    start: Longs
    limit: Ints
    part: Floats
    classes: Floats
    allowance: Floats


@dataclass(frozen=True, eq=False)
class Room(Arrays):
    """Room for the steps: per record the sum of its shares, how hard cuts press, its pace, where it is heading and the
    sum of its prices; per cut the sum of its pressures; and the same per limit as per record."""

    column: Floats
    pushed: Floats
    pace: Floats
    ahead: Floats
    price_sum: Floats
    pressure_sum: Floats
    limit_column: Floats
    eased: Floats
    limit_ahead: Floats
    allowance_sum: Floats


def make_room(records: int, cuts: int, limits: int = 0) -> Room:
    """Empty room."""
    return Room(*(np.zeros(size) for size in (*[records] * 5, cuts, *[limits] * 4)))


@kernel(makes_arrays=False)
def improve_prices(
    start: Longs, record: Ints, share: Floats, weight: Floats, gain: Floats, ceiling: Floats,
    price: Floats, pressure: Floats, eased: Eased, room: Room, balance: float, steps: int,
) -> None:  # fmt: skip
    """A number of steps from `price`, `pressure` (one per cut) and the allowances, which are replaced by the means over
    the steps.

    Cut `c` holds `record[start[c]:start[c + 1]]` with shares that add up to 1. `balance` weighs steps in pressures
    against steps in prices. Floors are 0.
    """
    n = len(price)
    m = len(weight)
    limits = len(eased.classes)
    for t in range(n):
        room.column[t] = 0.0
        room.pushed[t] = 0.0
        room.price_sum[t] = 0.0
    for r in range(limits):
        room.limit_column[r] = 0.0
        room.eased[r] = 0.0
        room.allowance_sum[r] = 0.0
    for c in range(m):
        room.pressure_sum[c] = 0.0
        for p in range(start[c], start[c + 1]):
            room.column[record[p]] += share[p]
            room.pushed[record[p]] += share[p] * pressure[c]
        for p in range(eased.start[c], eased.start[c + 1]):
            room.limit_column[eased.limit[p]] += eased.part[c]
            room.eased[eased.limit[p]] += eased.part[c] * pressure[c]
    for t in range(n):
        room.pace[t] = 1.0 / (balance * max(room.column[t], 1e-3))
    for _ in range(steps):
        for t in range(n):
            moved = min(max(price[t] + room.pace[t] * (gain[t] - room.pushed[t]), 0.0), ceiling[t])
            room.ahead[t] = 2.0 * moved - price[t]
            price[t] = moved
            room.price_sum[t] += moved
        for r in range(limits):
            pace = 1.0 / (balance * max(room.limit_column[r], 1e-3))
            moved = max(eased.allowance[r] + pace * (room.eased[r] - eased.classes[r]), 0.0)
            room.limit_ahead[r] = 2.0 * moved - eased.allowance[r]
            eased.allowance[r] = moved
            room.allowance_sum[r] += moved
        for c in range(m):
            paid = 0.0
            for p in range(start[c], start[c + 1]):
                paid += share[p] * room.ahead[record[p]]
            within = eased.start[c + 1] - eased.start[c]
            for p in range(eased.start[c], eased.start[c + 1]):
                paid -= eased.part[c] * room.limit_ahead[eased.limit[p]]
            now = max(0.0, pressure[c] + balance * (paid - weight[c]) / (1.0 + within * eased.part[c]))
            change = now - pressure[c]
            if change != 0.0:
                for p in range(start[c], start[c + 1]):
                    room.pushed[record[p]] += share[p] * change
                for p in range(eased.start[c], eased.start[c + 1]):
                    room.eased[eased.limit[p]] += eased.part[c] * change
                pressure[c] = now
            room.pressure_sum[c] += now
    for t in range(n):
        price[t] = room.price_sum[t] / steps
    for r in range(limits):
        eased.allowance[r] = room.allowance_sum[r] / steps
    for c in range(m):
        pressure[c] = room.pressure_sum[c] / steps
