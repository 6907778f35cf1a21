"""Inference on tensors against all labelings, against `maxmargin.inference`, and against finite differences."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deep.enumerated import labelings, random_batch
from maxmargin.deep import Candidates, Chains, Trees, compiled, dispatch, plain, products
from maxmargin.inference import ChainPlan
from maxmargin.inference.verbs import find_best, find_marginals, find_top, new_scratch

KINDS = {"Chains": Chains, "Trees": Trees}
EDGES = ["shared", "each edge", "each sample", "each"]
CASES = [(kind, edges) for kind in KINDS for edges in EDGES]
BACKENDS = ["compiled", "plain"]  # the latter by products where these fit


@pytest.fixture(autouse=True)
def _interpreted(request):
    """All batches are tiny."""
    if "compiled_kernels" not in request.node.name:
        request.getfixturevalue("no_compilation")


@pytest.fixture(params=BACKENDS)
def backend(request, monkeypatch):
    """As if on the device that the code is for; what runs on a CPU runs on others by the same operations."""
    by_kernels = request.param == "compiled"
    monkeypatch.setattr(dispatch, "finds_by_kernels", lambda forest: by_kernels)
    return request.param


def make(kind, edges, **options):
    return KINDS[kind](*random_batch(kind, edges, **options))


@pytest.mark.parametrize(("kind", "edges"), CASES)
def test_the_best_labelings(kind, edges, backend):
    batch = make(kind, edges)
    best, values = batch.best(), batch.max()
    for b in range(len(values)):
        every, scores = labelings(batch, b)
        torch.testing.assert_close(values[b], scores.max(), rtol=0, atol=1e-12)
        assert best[b, : every.shape[1]].tolist() == every[scores.argmax()].tolist()
        assert not best[b, every.shape[1] :].any()


@pytest.mark.parametrize(("kind", "edges"), CASES)
def test_the_best_few_are_distinct_and_sorted(kind, edges, backend):
    batch = make(kind, edges)
    labels, values = batch.top(5)
    again, there = batch.top_values(5)
    torch.testing.assert_close(values, again, rtol=0, atol=1e-12)
    for b in range(len(values)):
        _, scores = labelings(batch, b)
        expected = scores.sort(descending=True).values[:5]
        torch.testing.assert_close(values[b, : len(expected)], expected, rtol=0, atol=1e-12)
        assert (values[b, len(expected) :] == -torch.inf).all() and there[b].sum() == len(expected)
        assert len({tuple(one) for one in labels[b, : len(expected)].tolist()}) == len(expected)


@pytest.mark.parametrize(("kind", "edges"), CASES)
def test_sums_and_marginals(kind, edges, backend):
    batch = make(kind, edges)
    values, found = batch.log_partition(), batch.marginals()
    for b in range(len(values)):
        every, scores = labelings(batch, b)
        torch.testing.assert_close(values[b], scores.logsumexp(0), rtol=0, atol=1e-12)
        chances = scores.softmax(0)
        for v in range(every.shape[1]):
            for label in range(batch.node.shape[2]):
                assert abs(found.node[b, v, label] - chances[every[:, v] == label].sum()) < 1e-12
        assert not found.node[b, every.shape[1] :].any()
    pairs = (batch.forest().heads >= 0).sum(dim=1).double()
    torch.testing.assert_close(found.edge.sum(dim=(1, 2, 3)), pairs)


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("question", ["max", "log_partition", "top_values"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(kind, edges, question, backend):
    node, edge, *rest = random_batch(kind, edges, n_samples=3, n_nodes=3, seed=1)

    def value(node, edge):
        batch = KINDS[kind](node, edge, *rest)
        if question == "top_values":
            values, there = batch.top_values(2)
            return torch.where(there, values, 0.0)
        return getattr(batch, question)()

    given = (node.requires_grad_(), edge.requires_grad_())
    assert torch.autograd.gradcheck(value, given, eps=1e-6, atol=1e-6)


@pytest.mark.parametrize("forbidden", [False, True])
def test_chains_are_those_of_the_inference_of_this_package(forbidden, backend):
    node, edge, lengths = random_batch("Chains", "shared", seed=3, n_samples=6, n_nodes=7, n_labels=4)
    if forbidden:
        edge[0, 1], edge[2, 2], node[:, 0, 3] = -torch.inf, -torch.inf, -torch.inf
    chains = Chains(node, edge, lengths)
    nothing, k = np.zeros(4), 4
    plan = ChainPlan(np.concatenate([[0], np.cumsum(lengths.numpy())]), nothing, nothing, 7)
    best, (labels, values), found = chains.best(), chains.top(k), chains.marginals()
    sums = chains.log_partition()
    for b, length in enumerate(lengths.tolist()):
        scratch, scores, table = new_scratch(plan, k), node[b, :length].numpy().ravel(), edge.numpy().ravel()
        own, top, of_top = np.zeros(length, int), np.zeros((k, length), int), np.full(k, -np.inf)
        value = find_best(plan, b, scores, table, scratch, own)
        assert abs(chains.max()[b] - value) < 1e-10 and best[b, :length].tolist() == own.tolist()
        count = find_top(plan, b, scores, table, scratch, k, top, of_top)
        np.testing.assert_allclose(values[b, :count], of_top[:count], rtol=0, atol=1e-10)
        assert labels[b, :count, :length].tolist() == top[:count].tolist()
        shares, pairs = np.zeros(length * 4), np.zeros(max(length - 1, 1) * 16)
        assert abs(sums[b] - find_marginals(plan, b, scores, table, scratch, shares, pairs)) < 1e-10
        np.testing.assert_allclose(found.node[b, :length].ravel(), shares, rtol=0, atol=1e-10)
        summed = pairs[: (length - 1) * 16].reshape(-1, 4, 4).sum(axis=0)
        np.testing.assert_allclose(found.edge[b, 0], summed, rtol=0, atol=1e-10)


def test_compiled_kernels_find_the_same_in_threads(monkeypatch):
    node, edge, lengths = random_batch("Chains", "shared", n_samples=7, n_nodes=5)
    chains = Chains(node, edge, lengths)
    monkeypatch.setattr(compiled, "WORTH_A_THREAD", 1.0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    assert compiled.ask(chains.forest()).n_threads == 3
    best, top, found, values = chains.best(), chains.top(4), chains.marginals(), chains.log_partition()
    monkeypatch.setattr(dispatch, "finds_by_kernels", lambda forest: False)
    assert torch.equal(best, chains.best())
    torch.testing.assert_close(top[1], chains.top(4)[1], rtol=0, atol=1e-12)
    torch.testing.assert_close(values, chains.log_partition(), rtol=0, atol=1e-12)
    for one, other in zip(found, chains.marginals(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_ties_go_to_the_lowest_labels(backend):
    chains = Chains(torch.zeros(2, 3, 3), torch.zeros(3, 3), [3, 2])
    assert not chains.best().any()
    labels, values = chains.top(30)
    assert (values[0] == 0.0).sum() == 27 and (values[1] == 0.0).sum() == 9
    assert len({tuple(one) for one in labels[0, :27].tolist()}) == 27


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-13)])
def test_long_chains_of_large_scores_lose_nothing(dtype, tolerance, backend):
    node, edge, lengths = random_batch("Chains", "shared", n_nodes=400, n_samples=2, dtype=dtype)
    wide = 50.0 * edge  # more than exponentials of float32 hold
    for table in (edge, wide):
        expected = Chains(node.double(), table.double()[None].expand(399, 3, 3), lengths).log_partition()
        found = Chains(node, table, lengths).log_partition()
        assert found.dtype == dtype
        torch.testing.assert_close(found.double(), expected, rtol=tolerance, atol=0)


def test_many_labels_are_summed_by_matrix_products(monkeypatch):
    node, edge, lengths = random_batch("Chains", "shared", n_nodes=5, n_labels=6)
    forest = Chains(node, edge, lengths).forest()
    assert dispatch.sums_by(forest) is compiled
    monkeypatch.setattr(dispatch, "MANY_LABELS", 6)
    assert dispatch.sums_by(forest) is products
    weight = torch.randn(len(node), dtype=node.dtype)
    found = [by.spread_down(forest, by.sum_up(forest), weight) for by in (products, plain, compiled)]
    for several in zip(*found, strict=True):
        torch.testing.assert_close(several[0], several[1], rtol=0, atol=1e-12)
        torch.testing.assert_close(several[1], several[2], rtol=0, atol=1e-12)
    edge[0, 0] = -torch.inf
    assert dispatch.sums_by(Chains(node, edge, lengths).forest()) is compiled


@pytest.mark.parametrize("kind", KINDS)
def test_samples_are_drawn_by_their_probabilities(kind):
    batch = make(kind, "shared", n_samples=2, n_nodes=3)
    drawn = batch.sample(20_000, torch.Generator().manual_seed(0))
    again = batch.sample(20_000, torch.Generator().manual_seed(0))
    assert torch.equal(drawn, again)
    for b in range(2):
        every, scores = labelings(batch, b)
        size = every.shape[1]
        codes = (drawn[b, :, :size] * 3 ** torch.arange(size)).sum(dim=1)
        shares = torch.bincount(codes, minlength=3**size) / 20_000
        expected = torch.zeros(3**size, dtype=torch.float64)
        expected[(every * 3 ** torch.arange(size)).sum(dim=1)] = scores.softmax(0)
        assert (shares - expected).abs().max() < 0.015


def test_where_all_is_forbidden_there_is_no_sum_and_no_gradient(backend):
    node = torch.zeros(2, 2, 2, dtype=torch.float64)
    node[0, 1] = -torch.inf
    for shape in ((), (1,)):  # one table for all, and one an edge
        node = node.detach().requires_grad_()
        edge = torch.zeros(*shape, 2, 2, dtype=torch.float64, requires_grad=True)
        values = Chains(node, edge).log_partition()
        assert values.tolist() == [-np.inf, pytest.approx(np.log(4))]
        values[1].backward()
        assert not node.grad[0].any() and torch.isfinite(node.grad).all() and torch.isfinite(edge.grad).all()


def test_candidates():
    scores = torch.tensor([[1.0, 3.0, 3.0, 9.0], [0.0, 0.0, 0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    batch = Candidates(scores, counts=[3, 4])
    assert batch.best().tolist() == [1, 0]
    labels, values = batch.top(4)
    assert labels[0, :3].tolist() == [1, 2, 0] and values[0].tolist() == [3.0, 3.0, 1.0, -np.inf]
    torch.testing.assert_close(batch.log_partition()[0], scores[0, :3].logsumexp(0))
    assert torch.autograd.gradcheck(lambda s: Candidates(s, [3, 4]).log_partition(), (scores,))
    torch.testing.assert_close(batch.marginals().sum(dim=1), torch.ones(2, dtype=torch.float64))
    drawn = batch.sample(500, torch.Generator().manual_seed(0))
    assert drawn[0].max() == 2 and set(drawn[1].tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.zeros(2, 3), torch.zeros(2, 2)), r"node must have the shape \(B, T, K\)"),
        ((torch.zeros(2, 3, 2, dtype=torch.long), torch.zeros(2, 2)), "floating-point"),
        ((torch.zeros(2, 3, 2, dtype=torch.float16), torch.zeros(2, 2)), "float32 or float64"),
        ((torch.full((2, 3, 2), torch.nan), torch.zeros(2, 2)), "node holds nan"),
        ((torch.zeros(2, 3, 2), torch.full((2, 2), torch.inf)), "edge holds inf"),
        ((torch.zeros(2, 3, 2), torch.zeros(3, 3)), "does not broadcast"),
        ((torch.zeros(2, 3, 2), torch.zeros(2, 2).double()), "as node is"),
        ((torch.zeros(2, 3, 2), torch.zeros(2, 2), [3]), "2 whole numbers"),
        ((torch.zeros(2, 3, 2), torch.zeros(2, 2), [3, 0]), "sample 1: 0, but must be from 1 to 3"),
        ((torch.zeros(2, 3, 2), torch.zeros(2, 2), torch.ones(2, 3, dtype=torch.bool)), "sum a mask"),
        ((torch.zeros(0, 3, 2), torch.zeros(2, 2)), "none of them 0"),
    ],
)
def test_what_is_no_batch_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Chains(*arguments)


@pytest.mark.parametrize(
    ("parents", "message"),
    [([1, 0, -1], "in a circle"), ([0, -1, -1], "no other node"), ([3, -1, -1], "no other node")],
)
def test_what_is_no_tree_is_refused(parents, message):
    with pytest.raises(ValueError, match=message):
        Trees(torch.zeros(1, 3, 2), torch.zeros(2, 2), torch.tensor(parents))


def test_labels_out_of_range_are_refused():
    chains = Chains(torch.zeros(1, 2, 3), torch.zeros(3, 3))
    with pytest.raises(ValueError, match="label 3 is outside of 0 to 2"):
        chains.score(torch.tensor([[0, 3]]))
    with pytest.raises(ValueError, match=r"torch\.int64"):
        chains.score(torch.zeros(1, 2))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize(("kind", "edges"), CASES)
def test_a_gpu_finds_the_same(kind, edges):
    given = random_batch(kind, edges)
    here, there = KINDS[kind](*given), KINDS[kind](*(one.cuda() for one in given))
    assert torch.equal(there.best().cpu(), here.best())
    torch.testing.assert_close(there.log_partition().cpu(), here.log_partition(), rtol=1e-12, atol=0)
    torch.testing.assert_close(there.top(5)[1].cpu(), here.top(5)[1], rtol=1e-12, atol=0)
    for one, other in zip(there.marginals(), here.marginals(), strict=True):
        torch.testing.assert_close(one.cpu(), other, rtol=0, atol=1e-12)
