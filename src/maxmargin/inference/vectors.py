"""Loops over rows of scores, written so that they vectorise."""

from __future__ import annotations

import math

import numpy as np

from .._compile import helper

LOG_SMALLEST = -708.0  # exp of less is no normal number
LOG_TWO, PER_LOG_TWO = math.log(2.0), 1.0 / math.log(2.0)
SERIES = tuple(1.0 / math.factorial(k) for k in range(13))
ODD = tuple(1.0 / (2 * k + 1) for k in range(10))
ROOT_TWO, MANTISSA, ONE = math.sqrt(2.0), (1 << 52) - 1, 1023 << 52


@helper
def exp_scores(scores, out):
    """``out = exp(scores - max)``; returns the maximum. Where it is -inf nothing is written."""
    largest = largest_of(scores)
    if largest > -np.inf:
        for a in range(len(scores)):
            out[a] = exp_to_one(scores[a] - largest)
    return largest


@helper
def largest_of(row):
    """The maximum; four at a time, since one alone waits for itself."""
    n = len(row)
    p = q = r = s = -np.inf
    for b in range(n // 4):
        one, two, three, four = row[4 * b], row[4 * b + 1], row[4 * b + 2], row[4 * b + 3]
        p = one if one > p else p
        q = two if two > q else q
        r = three if three > r else r
        s = four if four > s else s
    for b in range(n - n % 4, n):
        p = row[b] if row[b] > p else p
    p = q if q > p else p
    r = s if s > r else r
    return r if r > p else p


@helper
def exp_to_one(x):
    """exp(x) for x <= 0, and 0 below -708. It vectorises where np.exp does not: 1.2 against 5.7 ns."""
    y = x if x > LOG_SMALLEST else LOG_SMALLEST
    n = np.floor(y * PER_LOG_TWO + 0.5)
    r = y - n * LOG_TWO  # as exact as y itself; |r| <= log(2)/2, where 13 terms of the series leave 2e-16
    p = ((SERIES[12] * r + SERIES[11]) * r + SERIES[10]) * r + SERIES[9]
    p = (((p * r + SERIES[8]) * r + SERIES[7]) * r + SERIES[6]) * r + SERIES[5]
    p = ((((p * r + SERIES[4]) * r + SERIES[3]) * r + SERIES[2]) * r + SERIES[1]) * r + SERIES[0]
    power = np.int64((np.int64(np.int32(n)) + 1023) << 52).view(np.float64)  # 2^n by its bits
    return p * power if x > LOG_SMALLEST else 0.0


@helper
def log_of(x):
    """log(x) of a normal number > 0. It vectorises where np.log does not."""
    bits = np.float64(x).view(np.int64)
    power = np.float64((bits >> 52) - 1023)
    m = np.int64((bits & MANTISSA) | ONE).view(np.float64)  # x = m 2^power with 1 <= m < 2
    above = m > ROOT_TWO
    m = 0.5 * m if above else m
    power = power + 1.0 if above else power
    r = (m - 1.0) / (m + 1.0)  # |r| < 0.172, where ten terms of the series leave 2e-17
    s = r * r
    p = ((ODD[9] * s + ODD[8]) * s + ODD[7]) * s + ODD[6]
    p = (((p * s + ODD[5]) * s + ODD[4]) * s + ODD[3]) * s + ODD[2]
    p = (p * s + ODD[1]) * s + ODD[0]
    return power * LOG_TWO + 2.0 * r * p


@helper
def max_step(before, edge, here):
    """``here[b] = max_a before[a] + edge[a, b]``. The argmax is not kept: the maximum alone vectorises."""
    n_before, n_labels = edge.shape
    first = before[0]
    for b in range(n_labels):
        here[b] = first + edge[0, b]
    a = 1
    while a + 3 < n_before:  # four predecessors a sweep: a quarter of the loads and stores of `here`
        p, q, r, s = before[a], before[a + 1], before[a + 2], before[a + 3]
        for b in range(n_labels):
            one = p + edge[a, b]
            two = q + edge[a + 1, b]
            one = one if one > two else two
            two = r + edge[a + 2, b]
            one = one if one > two else two
            two = s + edge[a + 3, b]
            one = one if one > two else two
            here[b] = one if one > here[b] else here[b]
        a += 4
    while a < n_before:
        p = before[a]
        for b in range(n_labels):
            one = p + edge[a, b]
            here[b] = one if one > here[b] else here[b]
        a += 1
