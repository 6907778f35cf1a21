"""CUDA kernels, run on the CPU by `shim.h`, against the kernels of `inference/` in float64."""

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from maxmargin.deep import Chains, dispatch
from maxmargin.deep.forests import Forest
from maxmargin.deep.gpu.asked import fits
from maxmargin.deep.gpu.few import FewLabels
from maxmargin.deep.gpu.many import PARTS, ManyLabels

from .emulated import COMPILER, Emulated

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


def few(folder, **options):
    return FewLabels(Emulated(folder, **options))


def many(folder, part=(4, 4), **options):
    return ManyLabels(Emulated(folder, **options), part, warps=2)


ORDERS = pytest.mark.parametrize("reverse", [False, True], ids=["in order", "reversed"])
# families, and shapes (B, T, K) that fill them or do not
SHAPES = pytest.mark.parametrize(
    ("family", "shape"),
    [
        (few, (3, 5, 1)),
        (few, (5, 4, 3)),
        (few, (4, 6, 8)),
        (few, (4, 6, 20)),
        (few, (2, 5, 70)),
        (many, (5, 5, 7)),
        (many, (34, 3, 33)),
        (many, (130, 2, 40)),
    ],
)


def random_chains(shape, kind="plain", seed=0):
    generator = torch.Generator().manual_seed(seed)
    n_samples, length, n_labels = shape
    node = torch.randn(shape, generator=generator)
    edge = torch.randn(n_labels, n_labels, generator=generator)
    if kind == "ties":
        node, edge = node.round(), edge.round()
    if kind == "forbidden":
        node[torch.rand(shape, generator=generator) < 0.2] = -torch.inf
        edge[torch.rand(edge.shape, generator=generator) < 0.3] = -torch.inf
    if kind == "wide":
        node, edge = 40.0 * node, 40.0 * edge
    lengths = torch.randint(1, length + 1, (n_samples,), generator=generator)
    lengths[-1] = length
    return Chains(node, edge, lengths), Chains(node.double(), edge.double(), lengths)


@ORDERS
@SHAPES
@pytest.mark.parametrize("kind", ["plain", "ties", "forbidden"])
def test_best_labelings_are_those_of_the_cpu(folder, family, shape, kind, reverse):
    chains, exact = random_chains(shape, kind)
    assert torch.equal(family(folder, reverse=reverse).find_best(chains.forest()), exact.best())


@ORDERS
@SHAPES
@pytest.mark.parametrize("kind", ["plain", "ties", "forbidden"])
def test_top_labelings_are_distinct_and_score_as_those_of_the_cpu(folder, family, shape, kind, reverse):
    chains, exact = random_chains(shape, kind, seed=1)
    labels, values = family(folder, reverse=reverse).find_top(chains.forest(), 3)
    torch.testing.assert_close(values, exact.top(3)[1].float(), rtol=1e-6, atol=1e-6)
    there = values > -torch.inf
    torch.testing.assert_close(exact.score(labels)[there].float(), values[there], rtol=1e-6, atol=1e-6)
    for own, is_there in zip(labels, there, strict=True):
        assert len(torch.unique(own[is_there], dim=0)) == int(is_there.sum())
    assert bool((labels[(~chains.mask)[:, None].expand_as(labels)] == 0).all())


@ORDERS
@SHAPES
@pytest.mark.parametrize("kind", ["plain", "ties", "forbidden", "wide"])
def test_sums_and_marginals_are_those_of_the_cpu(folder, family, shape, kind, reverse):
    chains, exact = random_chains(shape, kind, seed=2)
    kernels = family(folder, reverse=reverse)
    forest = chains.forest()
    assert kernels.sums_fit(forest) == (family is few or kind in ("plain", "ties"))
    if not kernels.sums_fit(forest):
        return  # exponentials would lose something: left to plain operations
    summed = kernels.sum_up(forest)
    torch.testing.assert_close(summed.values, exact.log_partition().float(), rtol=1e-6, atol=1e-6)
    weight = torch.rand(len(chains.node))
    node, edge = exact.marginals()
    node, edge = node * weight[:, None, None], edge * weight[:, None, None, None]
    atol = 1e-4 if kind == "wide" else 3e-6  # float32 has no more digits of such scores
    for own, wanted in ((forest, edge.sum(dim=0)[None]), (forest.with_own_edges(), edge)):
        found = kernels.spread_down(own, kernels.sum_up(own), weight)
        torch.testing.assert_close(found[0], node.float(), rtol=1e-5, atol=atol)
        torch.testing.assert_close(found[1], wanted.float(), rtol=1e-5, atol=atol)


@pytest.mark.parametrize("family", [few, many])
def test_both_zeros_are_one(folder, family):
    node = torch.tensor([[[-0.0, 0.0], [-0.0, 0.0]]])
    forest = Chains(node, torch.full((2, 2), -0.0)).forest()
    assert family(folder).find_best(forest).tolist() == [[0, 0]]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_of_many_labels(folder, part):
    chains, exact = random_chains((70, 3, 50))
    kernels, forest = many(folder, part), chains.forest()
    assert kernels.fits(forest)
    assert torch.equal(kernels.find_best(forest), exact.best())
    summed = kernels.sum_up(forest)
    torch.testing.assert_close(summed.values, exact.log_partition().float(), rtol=1e-6, atol=0)
    node, _ = kernels.spread_down(forest, summed, torch.ones(70))
    torch.testing.assert_close(node, exact.marginals().node.float(), rtol=0, atol=3e-6)


def test_batches_that_have_no_room_at_once_are_several_launches(folder):
    kernels = many(folder)
    chains, _ = random_chains((130, 2, 40))
    kernels.find_best(chains.forest())
    assert kernels.machine.launched.count(("many_labels", "climb")) > 1


@pytest.mark.parametrize("family", [few, many])
def test_long_chains_keep_their_digits(folder, family):
    chains, exact = random_chains((2, 128, 32))
    kernels, forest = family(folder), chains.forest()
    summed = kernels.sum_up(forest)
    wanted = exact.log_partition()
    assert float(((summed.values - wanted) / wanted).abs().max()) < 1e-6
    node, _ = kernels.spread_down(forest, summed, torch.ones(2))
    torch.testing.assert_close(node, exact.marginals().node.float(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("family", [few, many])
def test_where_everything_is_forbidden_there_is_nothing(folder, family):
    chains, _ = random_chains((2, 4, 9))
    chains.node[1, 2] = -torch.inf
    chains.sizes[1] = 4
    kernels, forest = family(folder), chains.forest()
    assert kernels.find_top(forest, 2)[1][1].tolist() == [-torch.inf] * 2
    summed = kernels.sum_up(forest)
    assert summed.values.isinf().tolist() == [False, True]
    node, edge = kernels.spread_down(forest.with_own_edges(), summed, torch.ones(2))
    assert bool((node[1] == 0).all()) and bool((edge[1] == 0).all())
    assert bool(torch.isfinite(node).all()) and bool(torch.isfinite(edge).all())


@pytest.mark.parametrize("family", [few, many])
def test_gradients_go_through_them(folder, family, monkeypatch):
    chains, exact = random_chains((3, 5, 6))
    wanted = exact.marginals()
    monkeypatch.setattr(dispatch, "cuda_kernels", lambda forest, kind, k=1: family(folder))
    node, edge = chains.node.requires_grad_(), chains.edge[0, 0].clone().requires_grad_()
    Chains(node, edge, chains.sizes).log_partition().sum().backward()
    torch.testing.assert_close(node.grad, wanted.node.float(), rtol=0, atol=3e-6)
    torch.testing.assert_close(edge.grad, wanted.edge.sum(dim=(0, 1)).float(), rtol=0, atol=3e-6)
    own = Chains(node.detach(), edge.detach(), chains.sizes).marginals().edge
    torch.testing.assert_close(own, wanted.edge.float(), rtol=0, atol=3e-6)


def test_which_batches_fit():
    node, edge, sizes = torch.zeros(2, 3, 4), torch.zeros(1, 1, 4, 4), torch.tensor([3, 2])
    assert fits(Forest(node, edge, sizes)) and fits(Forest(node, edge, sizes).with_own_edges())
    assert not fits(Forest(node, torch.zeros(2, 1, 4, 4), sizes))  # tables of their own
    assert not fits(Forest(node, torch.zeros(1, 2, 4, 4), sizes))
    assert not fits(Forest(node.double(), edge.double(), sizes))
    assert not fits(Forest(node[:, :1], edge[:, :0], sizes.clamp(max=1)))
    assert not fits(Forest(node, edge, sizes, torch.tensor([[-1, 0, 0], [-1, 0, -1]])))
