"""One factor after another: the best of all its outputs joins those listed, and they share its mass anew.

With ``c_i = s_i / S`` and duals that are probabilities, the augmented Lagrangian is

    lam/2 |w|^2 - sum_i c_i <loss, q_j> + rho/2 sum_i c_i sum_jf |M_jf q_f - q_j + multiplier_jf|^2,

so that a site's gradient, over -c_i, is a score: that of the label, its loss, and rho times the messages
``m = M_jf q_f - q_j + multiplier`` of all its links; a link's is the weight of the pair less rho times its messages at
both ends. Over c_i, a site's curvature is ``c_i/lam |phi|^2 + rho degree`` for each label. A link's is ``c_i/lam`` for
each pair, and rho for the sum over the pairs of each label of the tail, and of the head.
"""  # yen16, Alg. 4 and eq. 26

from __future__ import annotations

import numpy as np

from ..._compile import helper, kernel
from ...structures.factors.oracles import entry_grew, find_label, find_pair, mark, pair_table
from ...structures.pairwise.sites import score_label, site_weights, spread_some
from .settling import is_resting, lend, margin, note_visit
from .steps import share_mass

LEAST = 1e-9  # curvature of a site without features and links


@kernel
def factor_pass(problem, factors, ease, scratch, outputs, search, step, w, lam, rho, norms, order, parts, lows, highs):
    """Sites and links of the samples in `order`; of site j the labels from ``lows[j]`` to ``highs[j]`` are searched.

    These are one of so many `parts`. `norms` are those of the sites' features.
    """
    n_sites = norms.shape[0]
    for position in range(order.shape[0]):
        i = order[position]
        share = problem.weight[i] / lam
        for j in range(problem.sites.offsets[i], problem.sites.offsets[i + 1]):
            if is_resting(ease, j):
                continue
            new = find_label(problem, factors, scratch, w, j, lows[j], highs[j])
            count = score_site(problem, factors, scratch, outputs, w, rho, j, new, lows[j], highs[j])
            degree = factors.slot_offsets[j + 1] - factors.slot_offsets[j]
            stiff = max(share * norms[j] + rho * degree, LEAST)
            share_mass(step, outputs, count, stiff, 0.0)
            ease.spare[j] = margin(outputs, count, stiff, best_unlisted(scratch, new, count))
            note_visit(ease, j, outputs, count, parts)
            move_site(problem, factors, scratch, outputs, w, share, j, new)
        for e in range(factors.link_offsets[i], factors.link_offsets[i + 1]):
            if is_resting(ease, n_sites + e):
                continue
            count = score_link(problem, factors, ease, scratch, outputs, search, w, rho, e)
            share_mass(step, outputs, count, share, rho)
            note_visit(ease, n_sites + e, outputs, count, 1)
            move_link(problem, factors, scratch, outputs, search, w, share, e, count)


@helper
def message(factors, slot, begin, p):
    """To the label at place p of the site whose list begins there."""
    at = factors.slot_first[slot] + p
    return factors.given[at] - factors.mass[begin + p] + factors.multiplier[at]


@helper
def score_site(problem, factors, scratch, outputs, w, rho, j, new, low, high):
    """Scores of the labels listed at site j, and of a new one, if there is any; returns how many they are.

    Without messages, those of the labels from `low` to `high` are in the scratch.
    """
    sites, i, begin, count = problem.sites, factors.sample_of_site[j], factors.first[j], factors.size[j]
    weights, costs = site_weights(sites, problem.cost.shape[0], w), problem.cost[problem.labels[j]]
    for p in range(count):
        k, pull = factors.label[begin + p], 0.0
        for s in range(factors.slot_offsets[j], factors.slot_offsets[j + 1]):
            pull += message(factors, factors.slots[s], begin, p)
        if low <= k < high:
            score = scratch.scores[k]
        else:
            score = score_label(sites, weights, sites.offsets[i], sites.offsets[i + 1], j, k)
            score += problem.loss_scale[i] * costs[k]
        list_output(outputs, p, factors.mass[begin + p], score + rho * pull, p, p)
    if new >= 0:
        list_output(outputs, count, 0.0, scratch.scores[new], count, count)
    return count + (1 if new >= 0 else 0)


@helper
def best_unlisted(scratch, new, count):
    """What labels score that are not listed: no more than the one that was found, or anything, if they were hidden."""
    if new >= 0:
        return scratch.scores[new]
    return -np.inf if count == scratch.scores.shape[0] else np.inf


@helper
def list_output(outputs, p, mass, score, row, column):
    outputs.mass[p], outputs.score[p], outputs.row[p], outputs.column[p] = mass, score, row, column


@helper
def move_site(problem, factors, scratch, outputs, w, share, j, new):
    """Labels get the masses wanted, and weights follow; a new one is listed if it gets any."""
    sites, i, begin, n_active = problem.sites, factors.sample_of_site[j], factors.first[j], 0
    if new >= 0 and outputs.wanted[factors.size[j]] > 0.0:
        list_label(factors, j, new)
    for p in range(factors.size[j]):
        change = outputs.wanted[p] - factors.mass[begin + p]
        if change != 0.0:
            scratch.active[n_active], scratch.changes[n_active] = factors.label[begin + p], change
            factors.mass[begin + p] = outputs.wanted[p]
            n_active += 1
    weights = site_weights(sites, problem.cost.shape[0], w)
    first, last = sites.offsets[i], sites.offsets[i + 1]
    spread_some(sites, j, first, last, -share, n_active, scratch.active, scratch.changes, weights)


@helper
def list_label(factors, j, k):
    """Label k joins the list of site j, without mass; returns its place."""
    place = factors.size[j]
    factors.label[factors.first[j] + place], factors.mass[factors.first[j] + place] = k, 0.0
    for s in range(factors.slot_offsets[j], factors.slot_offsets[j + 1]):
        at = factors.slot_first[factors.slots[s]] + place
        factors.given[at], factors.multiplier[at] = 0.0, 0.0
    factors.size[j] = place + 1
    return place


@helper
def place_of(factors, j, k):
    """Where label k is in the list of site j; where it would be, if it is not."""
    for p in range(factors.size[j]):
        if factors.label[factors.first[j] + p] == k:
            return p
    return factors.size[j]


@helper
def score_link(problem, factors, ease, scratch, outputs, search, w, rho, e):
    """Scores of the pairs listed at link e, and of the best of all, if it is a new one; returns how many they are.

    Where sites have labels without mass that the new one would take, they lend what makes it needless, if they can.
    """
    tail, head, begin = factors.ends[2 * e], factors.ends[2 * e + 1], factors.pair_first[e]
    table, count = pair_table(problem, w), factors.pair_size[e]
    for p in range(factors.size[tail]):
        scratch.tail_pull[p] = message(factors, 2 * e, factors.first[tail], p)
    for p in range(factors.size[head]):
        scratch.head_pull[p] = message(factors, 2 * e + 1, factors.first[head], p)
    mark(factors, tail, scratch.listed, True)
    mark(factors, head, scratch.at_head, True)
    best = find_pair(search, problem, factors, scratch, w, e, rho)
    mark(factors, tail, scratch.listed, False)
    mark(factors, head, scratch.at_head, False)
    a, b = place_of(factors, tail, scratch.found[0]), place_of(factors, head, scratch.found[1])
    is_new, level = True, -np.inf
    for p in range(count):
        row, column = factors.tail_place[begin + p], factors.head_place[begin + p]
        weight = table[factors.label[factors.first[tail] + row], factors.label[factors.first[head] + column]]
        score = weight - rho * (scratch.tail_pull[row] + scratch.head_pull[column])
        list_output(outputs, p, factors.pair_mass[begin + p], score, row, column)
        is_new, level = is_new and not (row == a and column == b), max(level, score)
    need = best - level
    if not is_new or need <= 0.0:
        return count
    need -= lend(factors, ease, outputs, count, 2 * e, outputs.row, a, need, rho)
    need -= lend(factors, ease, outputs, count, 2 * e + 1, outputs.column, b, need, rho)
    if need <= 0.0:
        return count
    list_output(outputs, count, 0.0, best, a, b)
    return count + 1


@helper
def move_link(problem, factors, scratch, outputs, search, w, share, e, count):
    """Pairs get the masses wanted, and weights follow; those without any are not listed, but for the truth."""
    tail, head, begin, kept = factors.ends[2 * e], factors.ends[2 * e + 1], factors.pair_first[e], 0
    table = pair_table(problem, w)
    if count > factors.pair_size[e] and outputs.wanted[count - 1] > 0.0:
        if outputs.row[count - 1] == factors.size[tail]:
            list_label(factors, tail, scratch.found[0])
        if outputs.column[count - 1] == factors.size[head]:
            list_label(factors, head, scratch.found[1])
    for p in range(count):
        row, column, mass = outputs.row[p], outputs.column[p], outputs.wanted[p]
        change = mass - outputs.mass[p]
        if change != 0.0:
            a, b = factors.label[factors.first[tail] + row], factors.label[factors.first[head] + column]
            table[a, b] -= share * change
            entry_grew(search, a, b, table[a, b])
            factors.given[factors.slot_first[2 * e] + row] += change
            factors.given[factors.slot_first[2 * e + 1] + column] += change
        if mass > 0.0 or p == 0:
            factors.tail_place[begin + kept], factors.head_place[begin + kept] = row, column
            factors.pair_mass[begin + kept] = mass
            kept += 1
    factors.pair_size[e] = kept


@kernel
def raise_multipliers(factors, eta):
    """``multiplier += eta (M_jf q_f - q_j)``; returns the sum of what they disagree by."""  # yen16, eq. 13
    total = 0.0
    for s in range(factors.ends.shape[0]):
        j = factors.ends[s]
        for p in range(factors.size[j]):
            at = factors.slot_first[s] + p
            apart = factors.given[at] - factors.mass[factors.first[j] + p]
            factors.multiplier[at] += eta * apart
            total += abs(apart)
    return total
