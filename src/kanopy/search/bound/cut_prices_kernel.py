"""The best prices that respect a list of cuts: a linear program, approached by primal and dual steps in turn.

Maximize the sum of `gain * price` so that for every cut the shares of its rows' prices add up to at most its weight,
with every price between a floor and a ceiling. The steps are those of Chambolle and Pock (2011) with the step sizes of
Pock and Chambolle (2011), begun again from the mean of the iterates as in PDLP (Applegate and others 2021).
"""

from __future__ import annotations

import numpy as np

from kanopy._arrays import Floats, Ints, Longs
from kanopy._compiler import kernel


@kernel()
def improve_prices(
    start: Longs, record: Ints, share: Floats, weight: Floats, gain: Floats, ceiling: Floats,
    price: Floats, pressure: Floats, balance: float, steps: int,
) -> None:  # fmt: skip
    """A number of steps from `price` and `pressure` (one per cut), which are replaced by the means over the steps.

    Cut `c` holds `record[start[c]:start[c + 1]]` with shares that add up to 1. `balance` weighs steps in pressures
    against steps in prices. Floors are 0.
    """
    n = len(price)
    m = len(weight)
    column = np.zeros(n)
    pushed = np.zeros(n)
    for c in range(m):
        for p in range(start[c], start[c + 1]):
            column[record[p]] += share[p]
            pushed[record[p]] += share[p] * pressure[c]
    pace = np.empty(n)
    for t in range(n):
        pace[t] = 1.0 / (balance * max(column[t], 1e-3))
    ahead = np.empty(n)
    price_sum = np.zeros(n)
    pressure_sum = np.zeros(m)
    for _ in range(steps):
        for t in range(n):
            moved = min(max(price[t] + pace[t] * (gain[t] - pushed[t]), 0.0), ceiling[t])
            ahead[t] = 2.0 * moved - price[t]
            price[t] = moved
            price_sum[t] += moved
        for c in range(m):
            paid = 0.0
            for p in range(start[c], start[c + 1]):
                paid += share[p] * ahead[record[p]]
            now = max(0.0, pressure[c] + balance * (paid - weight[c]))
            change = now - pressure[c]
            if change != 0.0:
                for p in range(start[c], start[c + 1]):
                    pushed[record[p]] += share[p] * change
                pressure[c] = now
            pressure_sum[c] += now
    for t in range(n):
        price[t] = price_sum[t] / steps
    for c in range(m):
        pressure[c] = pressure_sum[c] / steps
