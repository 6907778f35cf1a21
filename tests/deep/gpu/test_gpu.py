"""CUDA kernels on a CUDA device, against the CPU in float64."""

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from maxmargin.deep import Chains, CRFLoss
from maxmargin.deep.gpu import trust

from .test_emulated import random_chains

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

FEW = [(3, 5, 1), (300, 40, 3), (64, 33, 20), (64, 128, 32), (20, 50, 64), (20, 50, 128)]
MANY = [(70, 20, 130), (256, 32, 256), (130, 10, 500), (140, 6, 1024), (5, 9, 1100)]
SHAPES = pytest.mark.parametrize("shape", FEW + MANY, ids=str)
KINDS = pytest.mark.parametrize("kind", ["plain", "ties", "forbidden"])


def on_device(chains):
    return Chains(chains.node.cuda(), chains.edge.cuda(), chains.sizes)


@SHAPES
def test_kernels_are_used(shape):
    chains = on_device(random_chains(shape)[0])
    for kind in ("best", "top", "sums"):
        assert trust.kernels_for(chains.forest(), kind, 5) is not None


@SHAPES
@KINDS
def test_best_labelings_score_as_those_of_the_cpu(shape, kind):
    chains, exact = random_chains(shape, kind)
    labels = on_device(chains).best().cpu()
    if kind == "ties":  # sums are exact
        assert torch.equal(labels, exact.best())
    possible = exact.max() > -torch.inf
    torch.testing.assert_close(exact.score(labels)[possible], exact.max()[possible], rtol=1e-6, atol=1e-5)


@SHAPES
@KINDS
def test_top_labelings_are_distinct_and_score_as_those_of_the_cpu(shape, kind):
    chains, exact = random_chains(shape, kind, seed=1)
    labels, values = (one.cpu() for one in on_device(chains).top(5))
    torch.testing.assert_close(values, exact.top(5)[1].float(), rtol=1e-6, atol=1e-5)
    there = values > -torch.inf
    torch.testing.assert_close(exact.score(labels)[there].float(), values[there], rtol=1e-6, atol=1e-5)
    for own, is_there in zip(labels, there, strict=True):
        assert len(torch.unique(own[is_there], dim=0)) == int(is_there.sum())


@SHAPES
@KINDS
def test_sums_and_marginals_are_those_of_the_cpu(shape, kind):
    chains, exact = random_chains(shape, kind, seed=2)
    there = on_device(chains)
    torch.testing.assert_close(there.log_partition().cpu(), exact.log_partition().float(), rtol=1e-6, atol=1e-6)
    for one, other in zip(there.marginals(), exact.marginals(), strict=True):
        torch.testing.assert_close(one.cpu(), other.float(), rtol=1e-4, atol=1e-5)


@SHAPES
def test_answers_are_the_same_every_time(shape):
    chains = on_device(random_chains(shape)[0])
    first = (chains.best(), chains.top(5)[1], chains.log_partition(), *chains.marginals())
    for _ in range(5):
        again = (chains.best(), chains.top(5)[1], chains.log_partition(), *chains.marginals())
        assert all(torch.equal(one, other) for one, other in zip(first, again, strict=True))


@pytest.mark.parametrize("n_labels", [6, 200])
def test_losses_have_the_gradients_of_the_cpu(n_labels):
    chains, _ = random_chains((20, 12, n_labels))
    y = torch.randint(n_labels, (20, 12), generator=torch.Generator().manual_seed(0))
    found = []
    for device in ("cpu", "cuda"):
        leaves = [one.detach().to(device).requires_grad_() for one in (chains.node, chains.edge)]
        CRFLoss()(Chains(*leaves, chains.sizes), y.to(device)).backward()
        found.append([one.grad.cpu() for one in leaves])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
