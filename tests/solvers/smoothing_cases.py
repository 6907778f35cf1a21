"""Tiny problems of every kind that can be smoothed, as the library lays them out and with all outputs written out."""

import itertools
from functools import cache

import numpy as np
import pytest

from maxmargin.inference import make_cut_plan
from maxmargin.structures.boxes import BoxCandidates, DenseImage, ImageBoxes, ProposedBoxes
from maxmargin.structures.known import KnownProblem
from maxmargin.structures.matching import Candidates, Matchings
from maxmargin.structures.pairwise import make_pairwise_problem, make_sites, potts_links_of
from reference import chain_labelings, chain_loss, from_callables
from reference.boxes import all_boxes, overlap
from structures.pairs import (
    GRAPHS,
    Pair,
    graph_joint_feature,
    graph_pair,
    interpreted,
    subsets_pair,
)

from .conftest import MORE_PROBLEMS, PROBLEMS, Complete


class Ranked(Complete):
    """Answers every question, with all it may tell, and counts them."""

    def topk_oracle(self, w, i, k):
        self.asked["topk_oracle"] += 1
        return sorted(self.outputs, key=lambda y: -self.value(w, i, y))[:k]

    def value(self, w, i, y):
        return self.loss(i, y) + w @ self.joint_feature(i, y)

    def exp_oracle(self, v, i, emphasis):
        expected = super().exp_oracle(v, i, emphasis)
        values = [emphasis * self.loss(i, y) + v @ self.joint_feature(i, y) for y in self.outputs]
        return *expected, float(np.logaddexp.reduce(values))


def pair_of_structure(structure, outputs, truth, joint_feature, loss, make=KnownProblem):
    """A structure in Python beside its outputs, whose features and losses are written down a second time."""
    reference = from_callables(
        structure.n_samples, outputs, joint_feature, loss, truth, getattr(structure, "sample_weight", None)
    )
    phi = [np.array([joint_feature(i, y) for y in outputs(i)]) for i in range(structure.n_samples)]
    return Pair(make(structure), reference, np.arange(structure.n_features), phi)


def ranked_pair(seed=1, sample_weight=None):
    return subsets_pair(sample_weight=sample_weight, structure=Ranked(seed, sample_weight=sample_weight))


CUT_EDGES = ([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [(0, 1), (1, 0)], [])
CUT_LABELS = (np.array([0, 1, 1, 0]), np.array([1, 0]), np.array([1]))


def cut_pair(sample_weight=None):
    """Two labels, edges that cost where labels differ; the last two weights are those of edges."""
    rng = np.random.default_rng(0)
    sizes = [len(labels) for labels in CUT_LABELS]
    offsets = np.cumsum([0, *sizes])
    X = rng.normal(size=(offsets[-1], 2))
    edge_offsets = np.cumsum([0, *map(len, CUT_EDGES)])
    tail, head = np.concatenate([np.reshape(edges, (-1, 2)) for edges in CUT_EDGES]).astype(int).T
    rows = rng.uniform(size=(len(tail), 1))
    plan = make_cut_plan(offsets, edge_offsets, tail, head, shared=False)
    sites = make_sites(X, offsets, intercept=True, boundary=False)
    problem = make_pairwise_problem(
        sites, potts_links_of(plan, rows), plan, np.concatenate(CUT_LABELS), 2, sample_weight=sample_weight
    )
    nodes, of_edges = np.split(X, offsets[1:-1]), np.split(rows, edge_offsets[1:-1])

    def joint_feature(i, y):
        full = graph_joint_feature(nodes[i], y, CUT_EDGES[i], of_edges[i], 2)
        node, link = np.split(full, [3 * 2])
        return np.concatenate([node, -(link.reshape(-1, 2, 2) * (1 - np.eye(2))).sum(axis=(1, 2))])

    reference = from_callables(
        len(sizes),
        lambda i: list(chain_labelings(sizes[i], 2)),
        joint_feature,
        lambda i, y: chain_loss(CUT_LABELS[i], y, 2),
        list(CUT_LABELS),
        sample_weight,
    )
    phi = [np.array([joint_feature(i, y) for y in reference.labelings[i]]) for i in range(len(sizes))]
    return Pair(problem, reference, np.arange(reference.d), phi)


MATCHED = (((2, 3), ((0, 2), (1, 0))), ((2, 2), ((1, 1),)), ((3, 2), ((0, 1), (2, 0))), ((1, 1), ()))


def matching_pair(sample_weight=None):
    rng = np.random.default_rng(0)
    tables = [rng.normal(size=(*shape, 2)) for shape, _ in MATCHED]
    samples = [
        Candidates(shape, np.arange(shape[0] * shape[1]), table.reshape(-1, 2))
        for (shape, _), table in zip(MATCHED, tables, strict=True)
    ]
    y = [np.array([r * shape[1] + c for r, c in links], np.int64) for shape, links in MATCHED]
    structure = Matchings(samples, y, sample_weight=sample_weight)

    def outputs(i):
        n, m = MATCHED[i][0]
        rows = itertools.product([None, *range(m)], repeat=n)
        links = (tuple((r, c) for r, c in enumerate(columns) if c is not None) for columns in rows)
        return [one for one in links if len({c for _, c in one}) == len(one)]

    def joint_feature(i, links):
        return np.append(sum((tables[i][link] for link in links), np.zeros(2)), len(links))

    def loss(i, links):
        true = set(MATCHED[i][1])
        return len(true ^ set(links)) / max(1, len(true))

    return pair_of_structure(structure, outputs, [links for _, links in MATCHED], joint_feature, loss)


BOXED = (((2, 3), (1, 0, 3, 2)), ((3, 2), (0, 1, 2, 2)), ((2, 2), (0, 0, 2, 2)))


def box_pair(sample_weight=None):
    rng = np.random.default_rng(0)
    images = [rng.normal(size=(*shape, 2)) for shape, _ in BOXED]
    truth = [box for _, box in BOXED]
    structure = ImageBoxes(list(map(DenseImage, images)), np.array(truth), 2, area=2.0, sample_weight=sample_weight)

    def joint_feature(i, box):
        left, top, right, bottom = box
        inside = images[i][top:bottom, left:right]
        return np.append(inside.sum(axis=(0, 1)), inside.shape[0] * inside.shape[1]) / 2.0

    return pair_of_structure(
        structure, lambda i: all_boxes(*BOXED[i][0]), truth, joint_feature, lambda i, y: 1.0 - overlap(y, truth[i])
    )


def proposal_pair():
    rng = np.random.default_rng(0)
    truth = [box for _, box in BOXED]
    boxes = [sorted({*all_boxes(*shape)[:4], box}) for shape, box in BOXED]
    features = [rng.normal(size=(len(some), 3)) for some in boxes]
    samples = [BoxCandidates(np.array(some), rows) for some, rows in zip(boxes, features, strict=True)]
    return pair_of_structure(
        ProposedBoxes(samples, np.array(truth)),
        lambda i: boxes[i],
        truth,
        lambda i, box: features[i][boxes[i].index(box)],
        lambda i, box: 1.0 - overlap(box, truth[i]),
    )


MAKERS = {
    **PROBLEMS,
    **MORE_PROBLEMS,
    **{f"{name} graph": (lambda options=options: graph_pair(**options)) for name, options in GRAPHS.items()},
    "ranked": ranked_pair,
    "ranked weighted": lambda: ranked_pair(sample_weight=[1, 2, 0, 0.5, 1]),
    "cut": cut_pair,
    "cut weighted": lambda: cut_pair([1.0, 0.0, 2.5]),
    "matching": matching_pair,
    "matching weighted": lambda: matching_pair([1.0, 2.0, 0.0, 0.5]),
    "box": box_pair,
    "box weighted": lambda: box_pair([2.0, 0.0, 1.0]),
    "proposals": proposal_pair,
}
WITHOUT_LIST = ("custom", "custom weighted", "complete", "complete weighted")  # no topk_oracle
L2 = [name for name in MAKERS if name not in WITHOUT_LIST]
# links that keep whether labels differ know no expectations
LISTED_ONLY = (
    *("cut", "cut weighted", "matching", "matching weighted", "box", "box weighted", "proposals"),
    *("tree potts graph", "cycle potts graph"),
)
ENTROPY = [name for name in L2 if name not in LISTED_ONLY]


@cache
def case(name):
    with interpreted():
        return MAKERS[name]()


def has_equal_weights(name):
    return np.ptp(case(name).reference.weights) == 0


@cache
def solution(name, lam):
    """(w, optimum, alpha) of an independent QP solver."""
    return case(name).reference.solve(lam)


def random_weights(name, rng, scale=1.0):
    """As the library lays them out; of cuts, with edges that never favour different labels."""
    w = scale * rng.normal(size=case(name).reference.d)
    if name.startswith("cut"):
        w[6:] = np.abs(w[6:])
    return w


def check_certificates(result, name, lam):
    """Every row encloses the optimum: P(w) and D(alpha) of the independent solver are bounds whatever it did."""
    reference, history = case(name).reference, result.history
    w, _, alpha = solution(name, lam)
    lower, upper = reference.dual(alpha, lam), reference.primal(w, lam)
    assert np.all(history["primal"] >= lower - 1e-12)
    assert np.all(history["dual"] <= upper + 1e-12)
    assert np.all(history["gap"] >= history["primal"] - upper - 1e-12)
    assert np.all(history["gap"] >= 0.0)
    assert history["gap"] == pytest.approx(np.maximum(history["primal"] - history["dual"], 0.0), abs=1e-12)
    assert np.all(np.diff(history["dual"]) >= -1e-12)
    found = case(name).to_reference(result.w)
    assert abs(result.primal - reference.primal(found, lam)) <= 1e-10 * max(1.0, abs(result.primal))


def flat(part):
    """Everything in a state as comparable values."""
    if isinstance(part, np.ndarray):
        return part.tolist() if part.dtype != object else [flat(one) for one in part]
    if isinstance(part, np.random.Generator):
        return repr(part.bit_generator.state)
    if isinstance(part, dict):
        return {str(name): flat(one) for name, one in part.items()}
    if isinstance(part, tuple | list):
        return [flat(one) for one in part]
    if hasattr(part, "__dict__") and not callable(part):
        return flat(vars(part))
    return repr(part)
