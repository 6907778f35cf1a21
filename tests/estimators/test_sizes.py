"""Units of samples in parts are those of all samples at once."""

from functools import reduce

import numpy as np
import pytest
from scipy import sparse

from maxmargin import ChainSVM
from maxmargin.estimators._scaling import units_of_sites
from maxmargin.estimators._sizes import Sizes, sizes_of, units_from

RNG = np.random.default_rng(0)
COUNTS, WEIGHT = np.array([2, 1, 3, 2, 4]), np.array([1.0, 2.0, 0.5, 3.0, 1.0])
ROWS, EDGES = 3.0 + RNG.normal(size=(12, 3)), 2.0 * RNG.normal(size=(7, 2))
LAMS, LOSSES = RNG.uniform(1, 2, size=(2, 5))


def told(samples, as_rows):
    """What an estimator says of some samples."""
    of_sites, of_edges = (np.repeat(np.arange(5), counts) for counts in (COUNTS, COUNTS - 1))
    weight = WEIGHT[samples]
    rows, edges = ROWS[np.isin(of_sites, samples)], EDGES[np.isin(of_edges, samples)]
    lam, loss = (float(np.average(values[samples], weights=weight)) for values in (LAMS, LOSSES))
    return as_rows(rows), COUNTS[samples], weight, lam, loss, (edges, COUNTS[samples] - 1)


@pytest.mark.parametrize("as_rows", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize("options", [{}, {"lam": 0.1, "scale": True}, {"scale": False}, {"fit_intercept": False}])
def test_parts_have_the_units_of_all(options, as_rows):
    model = ChainSVM(**options)
    parts = [sizes_of(*told(np.array(some), as_rows)) for some in ([0, 3], [1], [2, 4])]
    found = units_from(model, reduce(Sizes.joined, parts))
    expected = units_of_sites(model, *told(np.arange(5), as_rows))
    assert found.lam == pytest.approx(expected.lam)
    for one, other in zip(found.scaling, expected.scaling, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_allclose(one, other)


def test_plain_units_need_nothing():
    sizes = sizes_of(*told(np.arange(5), np.asarray))
    assert units_from(ChainSVM(lam=0.1), sizes).scaling == ChainSVM(lam=0.1).encode(*TINY).units.scaling


TINY = [np.ones((2, 1))], [["a", "b"]]


def test_a_part_without_edges_adds_nothing_to_those_of_others():
    with_edges, without = sizes_of(*told(np.array([2, 4]), np.asarray)), sizes_of(*told(np.array([1]), np.asarray))
    assert without.edges is None
    for joined in (with_edges.joined(without), without.joined(with_edges)):
        assert joined.edges == with_edges.edges
    assert without.joined(without).edges is None
