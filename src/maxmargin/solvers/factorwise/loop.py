"""One factor after another: the best of its outputs joins those that have mass, and they share anew.

With ``c_i = s_i / S`` and duals that are probabilities, the augmented Lagrangian is

    lam/2 |w|^2 - sum_i c_i <loss, q_j> + rho/2 sum_i c_i sum_jf |M_jf q_f - q_j + multiplier_jf|^2,

so that a site's gradient, over -c_i, is a score: that of the label, its loss, and rho times the messages
``m = M_jf q_f - q_j + multiplier`` of all its links; a link's is the weight of the pair less rho times its two messages.
A factor's masses become the projection of ``q + scores / stiff`` to the simplex, where stiff bounds the curvature over
c_i. For a site, ``c_i/lam |phi|^2 + rho degree``, it is the curvature itself, and the step exact. For a link it is at
most ``c_i/lam + rho (r + s)`` where no label of the tail is in more than r of its pairs, and none of the head in s.
"""  # yen16, Alg. 4 and eq. 25-26

from __future__ import annotations

import numpy as np

from ..._compile import helper, kernel
from ...structures.factors.oracles import entry_grew, find_label, find_pair, mark, pair_table
from ...structures.pairwise.sites import score_label, site_weights, spread_some

LEAST_STIFF = 1e-9  # a site without features and links takes the best label whatever its mass was


@kernel
def factor_pass(problem, factors, scratch, search, w, lam, rho, norms, order, lows, highs):
    """Sites and links of the samples in `order`; of site j the labels from ``lows[j]`` to ``highs[j]`` are searched.

    `norms` are those of the sites' features.
    """
    for position in range(order.shape[0]):
        i = order[position]
        for j in range(problem.sites.offsets[i], problem.sites.offsets[i + 1]):
            change_site(problem, factors, scratch, w, lam, rho, norms[j], j, lows[j], highs[j])
        for e in range(factors.link_offsets[i], factors.link_offsets[i + 1]):
            change_link(problem, factors, scratch, search, w, lam, rho, e)


@helper
def change_site(problem, factors, scratch, w, lam, rho, norm, j, low, high):
    sites, i, begin = problem.sites, factors.sample_of_site[j], factors.first[j]
    weights, costs = site_weights(sites, problem.cost.shape[0], w), problem.cost[problem.labels[j]]
    first, last = sites.offsets[i], sites.offsets[i + 1]
    slots = factors.slots[factors.slot_offsets[j] : factors.slot_offsets[j + 1]]
    share, unit = problem.weight[i] / lam, problem.loss_scale[i]
    stiff, count = max(share * norm + rho * slots.shape[0], LEAST_STIFF), factors.count[j]
    new = find_label(problem, factors, scratch, w, j, low, high)
    for p in range(count):
        k, pull = factors.label[begin + p], 0.0
        for s in range(slots.shape[0]):
            pull += message(factors, slots[s], begin, p)
        score = score_label(sites, weights, first, last, j, k) + unit * costs[k] + rho * pull
        scratch.points[p] = factors.mass[begin + p] + score / stiff
    level = simplex_level(scratch.points, count)
    if new >= 0 and scratch.scores[new] > level * stiff:
        scratch.points[list_label(factors, j, new)] = scratch.scores[new] / stiff
        count += 1
        level = simplex_level(scratch.points, count)
    n_active = 0
    for p in range(count):
        mass = max(scratch.points[p] - level, 0.0)
        if mass != factors.mass[begin + p]:
            scratch.active[n_active], scratch.changes[n_active] = factors.label[begin + p], mass - factors.mass[begin + p]
            factors.mass[begin + p] = mass
            n_active += 1
    spread_some(sites, j, first, last, -share, n_active, scratch.active, scratch.changes, weights)


@helper
def message(factors, slot, begin, p):
    """To the label at place p of the site whose list begins there."""
    at = factors.slot_first[slot] + p
    return factors.given[at] - factors.mass[begin + p] + factors.multiplier[at]


@helper
def list_label(factors, j, k):
    """Label k joins the list of site j, without mass; returns its place."""
    place = factors.count[j]
    factors.label[factors.first[j] + place], factors.mass[factors.first[j] + place] = k, 0.0
    for s in range(factors.slot_offsets[j], factors.slot_offsets[j + 1]):
        at = factors.slot_first[factors.slots[s]] + place
        factors.given[at], factors.multiplier[at] = 0.0, 0.0
    factors.count[j] = place + 1
    return place


@helper
def place_of(factors, j, k):
    """Where label k is in the list of site j, -1 if it is not."""
    for p in range(factors.count[j]):
        if factors.label[factors.first[j] + p] == k:
            return p
    return -1


@helper
def simplex_level(points, count):
    """What is taken off the first points, none of which becomes less than 0, so that they sum to 1."""  # michelot86
    level, left = -np.inf, count + 1
    while True:
        total, above = -1.0, 0
        for p in range(count):
            if points[p] > level:
                total += points[p]
                above += 1
        if above == left:
            return level
        level, left = total / above, above


@helper
def change_link(problem, factors, scratch, search, w, lam, rho, e):
    tail, head, begin = factors.ends[2 * e], factors.ends[2 * e + 1], factors.pair_first[e]
    share, table = problem.weight[factors.sample_of_link[e]] / lam, pair_table(problem, w)
    for p in range(factors.count[tail]):
        scratch.tail_pull[p] = message(factors, 2 * e, factors.first[tail], p)
    for p in range(factors.count[head]):
        scratch.head_pull[p] = message(factors, 2 * e + 1, factors.first[head], p)
    mark(factors, tail, scratch.listed, True)
    mark(factors, head, scratch.at_head, True)
    value = find_pair(search, problem, factors, scratch, w, e, rho)
    mark(factors, tail, scratch.listed, False)
    mark(factors, head, scratch.at_head, False)
    a, b = place_of(factors, tail, scratch.found[0]), place_of(factors, head, scratch.found[1])
    is_new = not has_pair(factors, e, a, b)
    stiff, count = share + rho * crowd(factors, scratch, e, is_new, a, b), factors.pair_count[e]
    for p in range(count):
        ta, hb = factors.tail_place[begin + p], factors.head_place[begin + p]
        weight = table[factors.label[factors.first[tail] + ta], factors.label[factors.first[head] + hb]]
        score = weight - rho * (scratch.tail_pull[ta] + scratch.head_pull[hb])
        scratch.points[p] = factors.pair_mass[begin + p] + score / stiff
    level = simplex_level(scratch.points, count)
    if is_new and value > level * stiff:
        factors.tail_place[begin + count] = list_label(factors, tail, scratch.found[0]) if a < 0 else a
        factors.head_place[begin + count] = list_label(factors, head, scratch.found[1]) if b < 0 else b
        scratch.points[count], factors.pair_mass[begin + count] = value / stiff, 0.0
        count += 1
        level = simplex_level(scratch.points, count)
    share_pairs(factors, scratch, search, table, e, count, level, share)


@helper
def share_pairs(factors, scratch, search, table, e, count, level, share):
    """Masses of pairs become what the points say; those without any leave the list, but for the truth."""
    tail, head, begin = factors.ends[2 * e], factors.ends[2 * e + 1], factors.pair_first[e]
    kept = 0
    for p in range(count):
        mass, ta, hb = max(scratch.points[p] - level, 0.0), factors.tail_place[begin + p], factors.head_place[begin + p]
        change = mass - factors.pair_mass[begin + p]
        if change != 0.0:
            a, b = factors.label[factors.first[tail] + ta], factors.label[factors.first[head] + hb]
            table[a, b] -= share * change
            entry_grew(search, a, b, table[a, b])
            factors.given[factors.slot_first[2 * e] + ta] += change
            factors.given[factors.slot_first[2 * e + 1] + hb] += change
        if mass > 0.0 or p == 0:
            factors.tail_place[begin + kept], factors.head_place[begin + kept] = ta, hb
            factors.pair_mass[begin + kept] = mass
            kept += 1
    factors.pair_count[e] = kept


@helper
def has_pair(factors, e, a, b):
    """Whether a pair of places is listed at link e."""
    for p in range(factors.pair_first[e], factors.pair_first[e] + factors.pair_count[e]):
        if factors.tail_place[p] == a and factors.head_place[p] == b:
            return True
    return False


@helper
def crowd(factors, scratch, e, is_new, a, b):
    """The most pairs that one label of the tail is in, and one of the head; with a new one, at places or nowhere (-1)."""
    most_tail, most_head, many = 1, 1, scratch.many
    begin, end = factors.pair_first[e], factors.pair_first[e] + factors.pair_count[e]
    if is_new and a >= 0:
        many[0, a] = 1
    if is_new and b >= 0:
        many[1, b] = 1
    for p in range(begin, end):
        ta, hb = factors.tail_place[p], factors.head_place[p]
        many[0, ta] += 1
        many[1, hb] += 1
        most_tail, most_head = max(most_tail, many[0, ta]), max(most_head, many[1, hb])
    for p in range(begin, end):
        many[0, factors.tail_place[p]], many[1, factors.head_place[p]] = 0, 0
    if is_new and a >= 0:
        many[0, a] = 0
    if is_new and b >= 0:
        many[1, b] = 0
    return most_tail + most_head


@kernel
def raise_multipliers(factors, eta):
    """``multiplier += eta (M_jf q_f - q_j)``; returns the sum of what they disagree by."""  # yen16, eq. 13
    total = 0.0
    for s in range(factors.ends.shape[0]):
        j = factors.ends[s]
        for p in range(factors.count[j]):
            at = factors.slot_first[s] + p
            apart = factors.given[at] - factors.mass[factors.first[j] + p]
            factors.multiplier[at] += eta * apart
            total += abs(apart)
    return total
