"""Sets of labels that interact against all sets, or all points of the relaxation, written out."""

import itertools

import numpy as np
import pytest

from maxmargin.solvers import BlockFrankWolfe, get_solver
from maxmargin.structures.known import KnownProblem
from maxmargin.structures.label_pairs import LabelPairs, Shares
from maxmargin.structures.weights import MultilabelWeights
from reference import enumerate_multilabel, from_callables, label_sets, multilabel_joint_feature

from .pairs import multilabel_data

LAM = 0.1
OPTIONS = {
    "plain": {},
    "bare": {"intercept": False, "missed": 2.0},
    "weighted": {"sample_weight": np.array([1.0, 2.0, 0.0, 0.5, 3.0]), "missed": [1.0, 2.0, 0.5], "wrong": [0.3, 1, 2]},
}
options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
relaxed = pytest.mark.parametrize("is_relaxed", [False, True], ids=["sets", "relaxed"])


def dense(structure, i, y):
    """A joint feature as a vector."""
    indices, values = structure.joint_feature(i, y)
    phi = np.zeros(structure.n_features)
    np.add.at(phi, indices, values)
    return phi


def corners(n_labels):
    """All points of halves whose pairs are at the end of what their labels allow: the corners are among them."""
    edges = list(itertools.combinations(range(n_labels), 2))
    for shares in itertools.product((0.0, 0.5, 1.0), repeat=n_labels):
        ends = [{max(0.0, shares[k] + shares[m] - 1.0), min(shares[k], shares[m])} for k, m in edges]
        for of_pairs in itertools.product(*ends):
            yield Shares(np.arange(n_labels), np.array(shares), np.arange(len(edges)), np.array(of_pairs))


def written_out(structure):
    """Every output of the structure, sets or points of the relaxation."""
    if not structure.relaxed:
        sets = [structure.as_shares(y) for y in label_sets(structure.n_labels)]
        truths = [sets[int("".join(map(str, y)), 2)] for y in structure.present]
    else:
        sets = list(corners(structure.n_labels))
        values = [(*y.of_labels, *y.of_pairs) for y in sets]
        pairs = list(itertools.combinations(range(structure.n_labels), 2))
        truths = [sets[values.index((*y, *(y[k] * y[m] for k, m in pairs)))] for y in structure.present.astype(float)]
    return from_callables(
        structure.n_samples,
        lambda i: [Output(structure, i, y) for y in sets],
        lambda i, y: y.phi,
        lambda i, y: y.loss,
        [Output(structure, i, y) for i, y in enumerate(truths)],
        structure.sample_weight,
    )


class Output:
    """Outputs are alike where they are the same object."""

    def __init__(self, structure, i, y):
        self.y, self.phi, self.loss = y, dense(structure, i, y), structure.loss(i, y)

    def __eq__(self, other):
        return self.y is other.y


@options
def test_features_and_losses(options):
    X, Y = multilabel_data()
    structure, reference = LabelPairs(X, Y, **options), enumerate_multilabel(X, Y, interactions=True, **options)
    assert structure.n_features == reference.d
    for i, y in itertools.product(range(len(X)), label_sets(3)):
        shares = structure.as_shares(y)
        phi = multilabel_joint_feature(X[i], y, intercept=options.get("intercept", True), interactions=True)
        assert dense(structure, i, shares) == pytest.approx(phi)
        assert structure.loss(i, shares) == pytest.approx(reference.losses[i][reference.index_of(i, y)])
    assert all(structure.loss(i, structure.truth(i)) == 0 for i in range(len(X)))


@options
@relaxed
def test_oracle(options, is_relaxed):
    structure = LabelPairs(*multilabel_data(1, is_sparse=True), relaxed=is_relaxed, **options)
    reference, rng = written_out(structure), np.random.default_rng(0)
    for turn in range(30):
        i, w = turn % 5, rng.normal(size=structure.n_features) * [0.1, 1.0, 10.0][turn % 3]
        truth = w @ dense(structure, i, structure.truth(i))
        for y, losses in ((structure.max_oracle(w, i), 1.0), (structure.decode(w, i), 0.0)):
            found = losses * structure.loss(i, y) + w @ dense(structure, i, y) - truth
            assert found == pytest.approx(np.max(losses * reference.losses[i] - reference.psi[i] @ w), abs=1e-9)


@options
@relaxed
def test_optimum(options, is_relaxed):
    structure = LabelPairs(*multilabel_data(2), relaxed=is_relaxed, **options)
    reference = written_out(structure)
    best = reference.solve(LAM)[1]
    for solver in (get_solver("auto", KnownProblem(structure)), BlockFrankWolfe()):
        result = solver.solve(KnownProblem(structure), LAM, tol=1e-3, max_passes=300, random_state=0)
        assert result.primal == pytest.approx(reference.primal(result.w, LAM), abs=1e-9)
        assert result.gap >= result.primal - best - 1e-8 >= -2e-8
        assert result.dual <= best + 1e-8
        assert result.gap <= (1e-2 if isinstance(solver, BlockFrankWolfe) and solver.step == "fw" else 1e-3)


def test_relaxed_objectives_are_never_less():
    data = multilabel_data(3, n=6, n_labels=4)
    sets, points = (
        get_solver("auto", KnownProblem(one)).solve(KnownProblem(one), 0.01, tol=1e-4, max_passes=300, random_state=0)
        for one in (LabelPairs(*data), LabelPairs(*data, relaxed=True))
    )
    assert points.primal >= sets.dual - 1e-9


def test_too_many_labels_to_try():
    with pytest.raises(ValueError, match="all sets of 17 labels cannot be tried"):
        LabelPairs(np.eye(2), np.zeros((2, 17)))


def test_layout():
    layout = MultilabelWeights(n_features=2, n_labels=3, intercept=False, interactions=True)
    w = np.arange(9.0)
    parts = layout.unpack(w)
    assert parts["coef"].tolist() == [[0, 3], [1, 4], [2, 5]] and not parts["intercept"].any()
    assert parts["interactions"].tolist() == [[0, 6, 7], [6, 0, 8], [7, 8, 0]]
    assert layout.pack(**parts).tolist() == w.tolist()
    with pytest.raises(ValueError, match="read-only"):
        parts["interactions"][0, 1] = 1.0
    for wrong in (np.triu(np.ones((3, 3)), 1), np.eye(3)):
        with pytest.raises(ValueError, match="interactions: the table must be symmetric"):
            layout.write(w, "interactions", wrong)
