"""The best prices that respect a list of cuts: a linear program, approached by primal and dual steps in turn.

Maximize the sum of `gain * price` so that for every cut the shares of its rows' prices add up to at most its weight,
with every price between a floor and a ceiling. The steps are those of Chambolle and Pock (2011) with the step sizes of
Pock and Chambolle (2011), begun again from the mean of the iterates as in PDLP (Applegate and others 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import Arrays, kernel


@dataclass(frozen=True, eq=False)
class Room(Arrays):
    """Room for the steps: per record the sum of its shares, how hard cuts press, its pace, where it is heading and the
    sum of its prices; per cut the sum of its pressures."""

    column: Floats
    pushed: Floats
    pace: Floats
    ahead: Floats
    price_sum: Floats
    pressure_sum: Floats


def make_room(records: int, cuts: int) -> Room:
    """Empty room."""
    return Room(
        np.zeros(records), np.zeros(records), np.zeros(records), np.zeros(records), np.zeros(records), np.zeros(cuts)
    )


@kernel(makes_arrays=False)
def improve_prices(
    start: Longs, record: Ints, share: Floats, weight: Floats, gain: Floats, ceiling: Floats,
    price: Floats, pressure: Floats, room: Room, balance: float, steps: int,
) -> None:  # fmt: skip
    """A number of steps from `price` and `pressure` (one per cut), which are replaced by the means over the steps.

    Cut `c` holds `record[start[c]:start[c + 1]]` with shares that add up to 1. `balance` weighs steps in pressures
    against steps in prices. Floors are 0.
    """
    n = len(price)
    m = len(weight)
    for t in range(n):
        room.column[t] = 0.0
        room.pushed[t] = 0.0
        room.price_sum[t] = 0.0
    for c in range(m):
        room.pressure_sum[c] = 0.0
        for p in range(start[c], start[c + 1]):
            room.column[record[p]] += share[p]
            room.pushed[record[p]] += share[p] * pressure[c]
    for t in range(n):
        room.pace[t] = 1.0 / (balance * max(room.column[t], 1e-3))
    for _ in range(steps):
        for t in range(n):
            moved = min(max(price[t] + room.pace[t] * (gain[t] - room.pushed[t]), 0.0), ceiling[t])
            room.ahead[t] = 2.0 * moved - price[t]
            price[t] = moved
            room.price_sum[t] += moved
        for c in range(m):
            paid = 0.0
            for p in range(start[c], start[c + 1]):
                paid += share[p] * room.ahead[record[p]]
            now = max(0.0, pressure[c] + balance * (paid - weight[c]))
            change = now - pressure[c]
            if change != 0.0:
                for p in range(start[c], start[c + 1]):
                    room.pushed[record[p]] += share[p] * change
                pressure[c] = now
            room.pressure_sum[c] += now
    for t in range(n):
        price[t] = room.price_sum[t] / steps
    for c in range(m):
        pressure[c] = room.pressure_sum[c] / steps
