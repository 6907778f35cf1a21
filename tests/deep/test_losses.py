"""Structured losses on tensors against the smoothed objectives of this package and against enumeration."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deep.enumerated import labelings, random_batch
from maxmargin.deep import Candidates, Chains, CRFLoss, StructuredHinge, Trees
from maxmargin.inference.smoothing import smooth_max
from maxmargin.solvers import smoothed_objective
from maxmargin.structures import EntropySmoothing, L2Smoothing, make_chain_problem

KINDS = {"Chains": Chains, "Trees": Trees}
SMOOTHINGS = [(None, 1.0), ("entropy", 0.3), ("l2", 0.3), ("l2", 5.0)]


@pytest.fixture(autouse=True)
def _interpreted(no_compilation):
    """All batches are tiny."""


def labels_for(batch, seed=0):
    return torch.randint(batch.node.shape[2], batch.node.shape[:2], generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("loss", ["hamming", "hamming_sum"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("smoothing", "mu"), SMOOTHINGS)
def test_losses_are_those_of_all_labelings(kind, smoothing, mu, loss):
    batch = KINDS[kind](*random_batch(kind, "each", n_nodes=3))
    y, criterion = labels_for(batch), StructuredHinge(smoothing, mu, top_k=27, loss=loss, reduction="none")
    found = criterion(batch, y)
    assert criterion.inexact == 0.0
    for b in range(len(found)):
        every, scores = labelings(batch, b)
        wrong = (every != y[b, : every.shape[1]]).double()
        values = scores + (wrong.mean(dim=1) if loss == "hamming" else wrong.sum(dim=1))
        sorted_values = values.sort(descending=True).values.numpy()
        expected = {
            None: lambda values=values: float(values.max()),
            "entropy": lambda values=values: mu * float((values / mu).logsumexp(0)),
            "l2": lambda ordered=sorted_values: smooth_max(ordered, len(ordered), 27, mu, np.zeros(len(ordered)))[0],
        }[smoothing]()
        truth = scores[(wrong.sum(dim=1) == 0).long().argmax()]
        assert float(found[b]) == pytest.approx(expected - float(truth), abs=1e-10)


@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("mu", [0.01, 0.5, 10.0])
def test_the_weights_of_the_best_few_are_those_of_the_solvers(k, mu):
    from maxmargin.deep.smoothing import project

    scores = torch.randn(40, k + 1, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    scores = scores.sort(dim=1, descending=True).values
    scores[3] = 0.0
    there = torch.ones_like(scores, dtype=torch.bool)
    for b in range(10, 20):
        there[b, (b % (k + 1)) + 1 :] = False
    weights, exact = project(scores.masked_fill(~there, -torch.inf), there, mu)
    for b in range(len(scores)):
        count = int(there[b].sum())
        expected = np.zeros(k + 1)
        _, _, told = smooth_max(scores[b].numpy(), count, k, mu, expected)
        np.testing.assert_allclose(weights[b, :count], expected[:count], atol=1e-12)
        assert bool(exact[b]) == told


@pytest.mark.parametrize(("smoothing", "mu"), SMOOTHINGS)
def test_gradients_are_those_of_finite_differences(smoothing, mu):
    node, edge, lengths = random_batch("Chains", "shared", n_samples=3, n_nodes=3)
    y, criterion = labels_for(Chains(node, edge, lengths)), StructuredHinge(smoothing, mu, top_k=27)

    def value(node, edge):
        return criterion(Chains(node, edge, lengths), y)

    assert torch.autograd.gradcheck(value, (node.requires_grad_(), edge.requires_grad_()), eps=1e-6, atol=1e-5)


@pytest.mark.parametrize("smoothing", [EntropySmoothing(0.5), L2Smoothing(0.5, 3)])
def test_a_linear_network_has_the_smoothed_objective_of_the_solvers(smoothing):
    rng = np.random.default_rng(0)
    lengths = np.array([3, 2, 4])
    rows, labels = rng.normal(size=(9, 5)), rng.integers(0, 3, 9)
    problem = make_chain_problem(
        rows, np.concatenate([[0], np.cumsum(lengths)]), labels, 3, intercept=False, boundary=False, normalize=True
    )
    w = rng.normal(size=15 + 9)
    expected = smoothed_objective(problem, w, 0.0, smoothing)
    weights = torch.from_numpy(w).requires_grad_()
    x, y = torch.zeros(3, 4, 5, dtype=torch.float64), torch.zeros(3, 4, dtype=torch.long)
    for b, (first, length) in enumerate(zip([0, 3, 5], lengths, strict=True)):
        x[b, :length] = torch.from_numpy(rows[first : first + length])
        y[b, :length] = torch.from_numpy(labels[first : first + length])
    by_name = {EntropySmoothing: "entropy", L2Smoothing: "l2"}
    criterion = StructuredHinge(by_name[type(smoothing)], smoothing.mu, getattr(smoothing, "top_k", 5))
    loss = criterion(Chains(x @ weights[:15].reshape(5, 3), weights[15:].reshape(3, 3), lengths), y)
    (gradient,) = torch.autograd.grad(loss, weights)
    assert loss.item() == pytest.approx(expected.value, abs=1e-10)
    np.testing.assert_allclose(gradient, expected.gradient, atol=1e-10)
    assert criterion.inexact == pytest.approx(expected.inexact)


def test_likelihoods_and_reductions():
    batch = Trees(*random_batch("Trees", "shared"))
    y = labels_for(batch)
    every = CRFLoss("none")(batch, y)
    for b in range(len(every)):
        found, scores = labelings(batch, b)
        own = (found == y[b, : found.shape[1]]).all(dim=1)
        assert float(every[b]) == pytest.approx(float(-scores.log_softmax(0)[own][0]), abs=1e-10)
    assert torch.isclose(CRFLoss("sum")(batch, y), every.sum())
    assert torch.isclose(CRFLoss()(batch, y), every.mean())


@pytest.mark.parametrize(("smoothing", "mu"), SMOOTHINGS)
def test_candidates_cost_what_is_given(smoothing, mu):
    scores = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 5.0]], dtype=torch.float64, requires_grad=True)
    costs = torch.tensor([[0.0, 0.5, 1.0], [0.2, 0.0, 0.0]], dtype=torch.float64)
    y, criterion = torch.tensor([0, 1]), StructuredHinge(smoothing, mu, top_k=3, reduction="none")
    assert torch.autograd.gradcheck(lambda s: criterion(Candidates(s, [3, 2]), y, costs), (scores,))
    found = criterion(Candidates(scores, [3, 2]), y, costs)
    if smoothing is None:
        assert found.tolist() == [3.0, pytest.approx(1.2)]
        assert StructuredHinge()(Candidates(scores, [3, 2]), y).item() == pytest.approx((3.0 + 2.0) / 2)


def test_padding_changes_nothing():
    node, edge, lengths = random_batch("Chains", "shared")
    wider = torch.nn.functional.pad(node, (0, 0, 0, 3), value=7.0)
    y = labels_for(Chains(wider, edge, lengths))
    for smoothing, mu in SMOOTHINGS:
        criterion = StructuredHinge(smoothing, mu, reduction="none")
        one, other = criterion(Chains(node, edge, lengths), y[:, :4]), criterion(Chains(wider, edge, lengths), y)
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"smoothing": "softmax"}, "smoothing must be None"),
        ({"smoothing": "l2", "mu": 0.0}, "mu"),
        ({"smoothing": "l2", "top_k": 0}, "top_k"),
        ({"loss": "squared"}, "loss must be one of"),
        ({"reduction": "max"}, "reduction must be one of"),
    ],
)
def test_what_is_no_loss_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        StructuredHinge(**options)
