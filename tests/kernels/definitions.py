"""What the loops of local recoding and of the lower bound are meant to do, as simply as it can be said.

Slow, and independent of the loops: tests compare the two.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from kanopy._arrays import FloatRows, Floats, IntRows, Ints, Longs, Mask, Shorts, Words
from kanopy.search.bound.cut_prices_kernel import Eased, Room
from kanopy.search.bound.prices_kernel import ROUNDING
from kanopy.search.local.best.agglomerate_kernel import NEVER, Units
from kanopy.search.local.best.cover_kernel import ABSENT, FEW, Cover, Desk, Folded
from kanopy.search.local.boxes_kernel import AT, LEVELS, VALUES, Boxes, agreement, box_weight, level_weight
from kanopy.search.local.halving_kernel import DONE, HEIGHT, SCANS
from kanopy.search.local.joins_kernel import Joins


def halve(
    boxes: Boxes, record: Ints, items: Longs, stack: Longs, state: Longs, opens: Mask, k: int, slice_items: int
) -> None:
    """The definition, with lists."""
    width = boxes.tuples.shape[1]
    shape = [tuple(int(x) for x in head) for head in boxes.head]
    tables = [boxes.codes[at : at + n * count].reshape(count, n) for n, count, at, _ in shape]
    costs = [boxes.weights[at : at + n * count].reshape(count, n) for n, count, at, _ in shape]

    def around(one: int, levels: list[int], other: int) -> list[int]:
        found = list(levels)
        for j in range(width):
            a, b = int(boxes.tuples[one, j]), int(boxes.tuples[other, j])
            level = 0
            while level < len(tables[j]) - 1 and tables[j][level, a] != tables[j][level, b]:
                level += 1
            found[j] = max(found[j], level)
        return found

    def weight(one: int, levels: list[int]) -> float:
        total = 0.0
        for j in range(width):
            total += float(costs[j][levels[j], boxes.tuples[one, j]])
        return total

    none = [0] * width
    looked = 0
    while state[HEIGHT] > 0 and looked < slice_items:
        state[HEIGHT] -= 1
        begin, end = (int(x) for x in stack[state[HEIGHT]])
        part = items[begin:end].tolist()
        looked += len(part)
        records = [int(record[item]) for item in part]
        box = none
        for r in records:
            box = around(records[0], box, r)
        if len(part) < 2 * k or weight(records[0], box) <= weight(records[0], none):
            opens[begin] = True
            state[DONE] += len(part)
            continue
        seed, other = 0, 0
        for _ in range(SCANS):
            far = [weight(records[seed], around(records[seed], none, r)) for r in records]
            seed, other = int(np.argmax(far)), seed
        sides: tuple[list[int], list[int]] = ([seed], [other])
        wide = [none, none]
        spent = [weight(records[seed], none), weight(records[other], none)]
        for i, r in enumerate(records):
            if i in (seed, other):
                continue
            next_levels = [around(records[sides[s][0]], wide[s], r) for s in (0, 1)]
            price = [weight(records[sides[s][0]], next_levels[s]) for s in (0, 1)]
            rise = [price[s] - spent[s] for s in (0, 1)]
            keys = [(price[s], rise[s], len(sides[s])) for s in (0, 1)]
            chosen = 0 if keys[0] <= keys[1] else 1
            sides[chosen].append(i)
            wide[chosen], spent[chosen] = next_levels[chosen], price[chosen]
        small = 0 if len(sides[0]) < len(sides[1]) else 1
        missing = k - len(sides[small])
        if missing > 0:
            large = sides[1 - small]
            seen = records[sides[small][0]]
            price_of = {i: weight(seen, around(seen, wide[small], records[i])) for i in large}
            taken = set(sorted(large, key=lambda i: price_of[i])[:missing])
            sides[small].extend(i for i in large if i in taken)
            sides[1 - small][:] = [i for i in large if i not in taken]
        middle = begin + len(sides[0])
        items[begin:end] = [part[i] for i in sides[0] + sides[1]]
        stack[state[HEIGHT]] = begin, middle
        stack[state[HEIGHT] + 1] = middle, end
        state[HEIGHT] += 2


def join_small(
    boxes: Boxes, record: Ints, size: Longs, starts: Longs, k: int, begin: int, stop: int, owner: Ints
) -> None:
    """The definition, unit by unit."""
    width = boxes.tuples.shape[1]
    shape = [tuple(int(x) for x in head) for head in boxes.head]
    tables = [boxes.codes[at : at + n * count].reshape(count, n) for n, count, at, _ in shape]
    costs = [boxes.weights[at : at + n * count].reshape(count, n) for n, count, at, _ in shape]

    def weight(one: int, levels: list[int]) -> float:
        total = 0.0
        for j in range(width):
            total += float(costs[j][levels[j], boxes.tuples[one, j]])
        return total

    def around(one: int, levels: list[int], other: int, other_levels: list[int]) -> list[int]:
        found = []
        for j in range(width):
            a, b = int(boxes.tuples[one, j]), int(boxes.tuples[other, j])
            level = 0
            while level < len(tables[j]) - 1 and tables[j][level, a] != tables[j][level, b]:
                level += 1
            found.append(max(level, levels[j], other_levels[j]))
        return found

    for chunk in range(begin, stop):
        alive = list(range(int(starts[chunk]), int(starts[chunk + 1])))
        rows = {u: int(size[u]) for u in alive}
        levels = {u: [0] * width for u in alive}
        members = {u: [u] for u in alive}
        for unit in alive:
            one = unit
            while one in rows and rows[one] < k and len(rows) > 1:
                mine = int(record[one])
                best, into = 1e300, -1
                for other in alive:
                    if other == one or other not in rows:
                        continue
                    theirs = int(record[other])
                    joint = weight(mine, around(mine, levels[one], theirs, levels[other]))
                    spent = rows[one] * weight(mine, levels[one]) + rows[other] * weight(theirs, levels[other])
                    rise = (rows[one] + rows[other]) * joint - spent
                    if rise < best:
                        best, into = rise, other
                levels[into] = around(int(record[into]), levels[into], mine, levels[one])
                rows[into] += rows.pop(one)
                members[into] += members.pop(one)
                one = into
        for into in rows:
            owner[members[into]] = into


def agglomerate(
    joins: Joins, order: Longs, starts: Longs, counts: Longs, k: int, begin: int, stop: int, units: Units,
    random: Words, owner: Ints,
) -> None:  # fmt: skip
    """The definition: look at all pairs, merge the best, again and again."""
    parents = [joins.parent[at : at + nodes].tolist() for nodes, _, at in joins.head.tolist()]

    def weight_of(members: list[int]) -> float:
        total = 0.0
        for j, (_, _, at) in enumerate(joins.head.tolist()):
            lines = []
            for t in members:
                line = [int(joins.cells[t, j])]
                while parents[j][line[-1]] >= 0:
                    line.append(parents[j][line[-1]])
                lines.append(line)
            total += float(joins.own[at + next(n for n in lines[0] if all(n in line for line in lines))])
        return total

    for part in range(begin, stop):
        classes = {int(t): [int(t)] for t in order[starts[part] : starts[part + 1]]}
        rows = {t: int(counts[t]) for t in classes}
        while len(classes) > 1 and min(rows.values()) < k:
            best, pair = NEVER, (-1, -1)
            keys = list(classes)
            for a, one in enumerate(keys):
                for other in keys[:a]:
                    if rows[one] < k or rows[other] < k:
                        both = rows[one] + rows[other]
                        spent = rows[one] * weight_of(classes[one]) + rows[other] * weight_of(classes[other])
                        d = weight_of(classes[one] + classes[other]) * both - spent
                        if both > k:
                            d *= (both / k) ** 2
                        if d < best:
                            best, pair = d, (one, other)
            into, gone = pair
            classes[into] += classes.pop(gone)
            rows[into] += rows.pop(gone)
        for into, members in classes.items():
            owner[members] = into


def cheapest_unions(
    joins: Joins, box: IntRows, size: Longs, weight: Floats, asking: Longs, reach: int, too_heavy: float,
    found: IntRows, growth: FloatRows,
) -> None:  # fmt: skip
    """The definition: all partners within reach, sorted."""
    for row, c in enumerate(asking.tolist()):
        options = []
        for other in range(max(0, c - reach), min(len(size), c + reach + 1)):
            if other == c:
                continue
            joint = 0.0
            for j, (_, _, at) in enumerate(joins.head.tolist()):
                lines = []
                for node in (int(box[c, j]), int(box[other, j])):
                    line = [node]
                    while joins.parent[at + line[-1]] >= 0:
                        line.append(int(joins.parent[at + line[-1]]))
                    lines.append(line)
                joint += float(joins.own[at + next(node for node in lines[0] if node in lines[1])])
            if joint < too_heavy:
                rise = (size[c] + size[other]) * joint - size[c] * weight[c] - size[other] * weight[other]
                options.append((float(rise), other))
        for i, (rise, other) in enumerate(sorted(options)[: found.shape[1]]):
            found[row, i], growth[row, i] = other, rise


def look_around(
    joins: Joins, order: Longs, stratum: Longs, window: int, begin: int, stop: int, near: IntRows, far: FloatRows
) -> None:
    """The definition: per record all candidates seen so far, the nearest first, earlier ones first at ties."""
    for p in range(begin, stop):
        for q in range(max(0, p - window), p):
            one, other = int(order[p]), int(order[q])
            if stratum[one] != stratum[other]:
                continue
            distance = 0.0
            for j, (_, _, at) in enumerate(joins.head.tolist()):
                lines = []
                for node in (int(joins.cells[one, j]), int(joins.cells[other, j])):
                    line = [node]
                    while joins.parent[at + line[-1]] >= 0:
                        line.append(int(joins.parent[at + line[-1]]))
                    lines.append(line)
                distance += float(joins.own[at + next(node for node in lines[0] if node in lines[1])])
            for t, s in ((one, other), (other, one)):
                known = [(far[t, i], i, near[t, i]) for i in range(near.shape[1]) if near[t, i] >= 0]
                if all(found[2] != s for found in known):
                    best = sorted([*known, (distance, near.shape[1], s)])[: near.shape[1]]
                    for i, found in enumerate(best):
                        far[t, i], near[t, i] = found[0], found[2]


def boxes_too_dear(
    boxes: Boxes, attributes: Longs, price: Floats, counts: Longs, k: int
) -> list[tuple[float, list[int]]]:
    """The definition of a walk, box by box: weights and records, dearest first."""
    dear = []
    for levels in product(*(range(int(boxes.head[j, LEVELS])) for j in attributes)):
        found: dict[tuple[int, ...], list[int]] = {}
        pairs = zip(attributes, levels, strict=True)
        starts = [int(boxes.head[j, AT] + level * boxes.head[j, VALUES]) for j, level in pairs]
        for t in np.argsort(-price, kind="stable").tolist():
            box = tuple(int(boxes.codes[at + boxes.tuples[t, j]]) for j, at in zip(attributes, starts, strict=True))
            found.setdefault(box, []).append(t)
        for inside in found.values():
            weight = 0.0
            for j, at in zip(attributes, starts, strict=True):
                weight += float(boxes.weights[at + boxes.tuples[inside[0], j]])
            rows = [float(price[t]) for t in inside for _ in range(int(counts[t]))]
            if len(rows) >= k and sum(rows[:k]) > k * weight * (1 + ROUNDING):
                dear.append((weight, inside))
    return dear


def best_box(
    boxes: Boxes, folded: Folded, counts: Longs, paid: Floats, desk: Desk, t: int, least: float, k: int, cells: int,
    levels: Shorts,
) -> float:  # fmt: skip
    """Every combination of kept levels by itself."""
    width = boxes.tuples.shape[1]
    agreed = np.array(
        [[agreement(boxes, j, int(boxes.tuples[t, j]), int(v)) for j, v in enumerate(row)] for row in boxes.tuples]
    ).reshape(len(counts), width)
    best = 0.0
    numbers = [int(n) for n in desk.number[:width]]
    for cell in range(cells):
        rest, own = cell, np.zeros(width, np.int16)
        for j in range(width - 1, -1, -1):
            own[j] = desk.kept[j, rest % numbers[j]]
            rest //= numbers[j]
        held = (agreed <= own).all(axis=1) & (paid > least)
        rows = int(counts[held].sum())
        if rows < k:
            continue
        weight = sum(float(level_weight(boxes, j, int(own[j]), int(boxes.tuples[t, j]))) for j in range(width))
        gain = float((counts[held] * paid[held]).sum()) - rows * weight
        if gain > best + FEW * (1.0 + abs(best)):
            best = gain
            levels[:] = own
    return best


def tighten(boxes: Boxes, folded: Folded, cover: Cover, desk: Desk) -> None:
    """Class by class."""
    width = boxes.tuples.shape[1]
    cover.held[:] = 0
    for c in range(len(cover.weight)):
        members = np.flatnonzero(cover.class_of == c)
        cover.levels[c] = 0
        if not len(members):
            cover.member[c], cover.weight[c] = -1, ABSENT
            continue
        first = int(members[0])
        cover.member[c] = first
        for j in range(width):
            cover.levels[c, j] = max(
                agreement(boxes, j, int(boxes.tuples[first, j]), int(boxes.tuples[u, j])) for u in members
            )
        cover.weight[c] = box_weight(boxes, first, cover.levels[c])
        for column in range(folded.codes.shape[1]):
            attributes = range(int(folded.first[column]), int(folded.first[column + 1]))
            sizes = [int(boxes.head[j, VALUES]) for j in attributes]
            for value in range(int(folded.start[column]), int(folded.start[column + 1])):
                own = np.unravel_index(value - int(folded.start[column]), sizes)
                if all(
                    agreement(boxes, j, int(boxes.tuples[first, j]), int(v)) <= cover.levels[c, j]
                    for j, v in zip(attributes, own, strict=True)
                ):
                    cover.held[value, c >> 6] |= np.uint64(1) << np.uint64(c & 63)
    cover.paid[:] = cover.weight[cover.class_of]


def improve_prices(
    start: Longs, record: Ints, share: Floats, weight: Floats, gain: Floats, ceiling: Floats,
    price: Floats, pressure: Floats, eased: Eased, room: Room, balance: float, steps: int,
) -> None:  # fmt: skip
    """The same steps with whole arrays."""
    n, m, limits = len(price), len(weight), len(eased.classes)
    inside = np.zeros((m, limits))
    for c in range(m):
        inside[c, eased.limit[eased.start[c] : eased.start[c + 1]]] = eased.part[c]
    limit_pace = 1.0 / (balance * np.maximum(inside.sum(axis=0), 1e-3))
    allowance_sum = np.zeros(limits)
    cut = np.repeat(np.arange(m), np.diff(start))
    column = np.bincount(record, weights=share, minlength=n)
    pace = 1.0 / (balance * np.maximum(column, 1e-3))
    price_sum, pressure_sum = np.zeros(n), np.zeros(m)
    for _ in range(steps):
        pushed = np.bincount(record, weights=share * pressure[cut], minlength=n)
        moved = np.clip(price + pace * (gain - pushed), 0.0, ceiling)
        ahead = 2 * moved - price
        price[:] = moved
        allowance = np.maximum(eased.allowance + limit_pace * (pressure @ inside - eased.classes), 0.0)
        paid = np.bincount(cut, weights=share * ahead[record], minlength=m)
        paid = paid - inside @ (2 * allowance - eased.allowance)
        eased.allowance[:] = allowance
        allowance_sum += allowance
        pressure[:] = np.maximum(0.0, pressure + balance * (paid - weight) / (1 + inside.sum(axis=1)))
        price_sum += price
        pressure_sum += pressure
    price[:] = price_sum / steps
    eased.allowance[:] = allowance_sum / steps
    pressure[:] = pressure_sum / steps
