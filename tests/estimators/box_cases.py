"""Tiny images with a box each, and all boxes written out."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from maxmargin import BoxSVM, Proposals
from reference import from_callables
from reference.boxes import all_boxes, overlap

LAM, N_WORDS, F = 0.2, 4, 2
SHAPES = [(3, 4), (4, 3), (2, 2), (1, 5), (3, 3)]
Y = [(1, 0, 3, 2), (0, 2, 3, 4), (0, 0, 2, 2), (2, 0, 3, 1), (1, 1, 2, 3)]
KINDS = ("words", "dense", "proposals")
EVERY = range(len(SHAPES))


def make_samples():
    rng = np.random.default_rng(0)
    words = [rng.integers(N_WORDS, size=shape) for shape in SHAPES]
    words[0][0, 0] = N_WORDS - 1
    dense = [rng.normal(size=(*shape, F)) for shape in SHAPES]
    proposals = []
    for shape, box in zip(SHAPES, Y, strict=True):
        every = np.array(all_boxes(*shape))
        chosen = np.unique(np.vstack([every[rng.permutation(len(every))[:5]], box]), axis=0)
        proposals.append(Proposals(chosen, rng.normal(size=(len(chosen), F))))
    return {"words": words, "dense": dense, "proposals": proposals}


X = make_samples()


def model_of(**params):
    return BoxSVM(**{"lam": LAM, "tol": 1e-3, "random_state": 0, **params})


def outputs(kind, i):
    return [tuple(box) for box in X[kind][i].boxes.tolist()] if kind == "proposals" else all_boxes(*SHAPES[i])


def pixel_sum(kind, i, box, intercept=True):
    """What the weights of the model are multiplied with, `coef_` and then `intercept_`."""
    if kind == "proposals":
        return np.append(X[kind][i].features[outputs(kind, i).index(tuple(box))], 0.0)
    left, top, right, bottom = box
    inside = X[kind][i][top:bottom, left:right]
    total = np.bincount(inside.ravel(), minlength=N_WORDS) if kind == "words" else inside.sum(axis=(0, 1))
    return np.append(total, inside.shape[0] * inside.shape[1] * intercept)


def scale_of(kind, kept, weight=None):
    """The mean area of the true boxes."""
    areas = [(Y[i][2] - Y[i][0]) * (Y[i][3] - Y[i][1]) for i in kept]
    return 1.0 if kind == "proposals" else np.average(areas, weights=weight)


def enumerated(kind, kept=EVERY, *, intercept=True, weight=None):
    kept = list(kept)
    scale = scale_of(kind, kept, weight)
    return from_callables(
        len(kept),
        lambda i: outputs(kind, kept[i]),
        lambda i, y: pixel_sum(kind, kept[i], y, intercept) / scale,
        lambda i, y: 1.0 - overlap(y, Y[kept[i]]),
        [Y[i] for i in kept],
        weight,
    )


def pack(model):
    return np.append(model.coef_, model.intercept_)


def assert_optimal(model, reference, scale):
    """The objective is that of the weights, and the certificate encloses the optimum of an independent QP solver."""
    optimum = reference.solve(LAM)[1]
    assert_allclose(model.primal_, reference.primal(pack(model) * scale, LAM), rtol=1e-9)
    assert model.status_ == "converged"
    assert model.dual_ - 1e-7 <= optimum <= model.primal_ + 1e-7
    assert_allclose(model.gap_, model.primal_ - model.dual_, atol=1e-12)
    assert 0 <= model.gap_ <= model.tol
