"""Viterbi and max-marginals against a look at every labeling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin._compile import kernel
from maxmargin.inference.chain import max_marginals, viterbi
from reference import brute_force_argmax, brute_force_max_marginals, score_labelings

# few values make ties, -inf forbids, large ones lose the small ones' last digits
SMALL = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
ANY = st.floats(-10, 10)
MASKED = st.one_of(ANY, st.just(-np.inf))
LARGE = st.floats(-1e12, 1e12)


@st.composite
def potentials(draw, values):
    length, n_labels = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    shapes = [(length, n_labels), (n_labels, n_labels), (n_labels,), (n_labels,)]
    return [draw(arrays(np.float64, shape, elements=values)) for shape in shapes]


def run_viterbi(node, edge, start, end):
    labels, table = np.full(len(node), -1, np.int32), np.full(node.shape, np.nan)
    return viterbi(node, edge, start, end, table, len(node), labels), labels


def run_max_marginals(node, edge, start, end):
    out = np.full(node.shape, np.nan)
    max_marginals(node, edge, start, end, np.full(node.shape, np.nan), len(node), out)
    return out


def close(node, edge, start, end):
    """Rounding of a sum of the scores at hand."""
    parts = [np.abs(part[np.isfinite(part)]).max(initial=1.0) for part in (node, edge, start, end)]
    return 1e-13 * sum(parts)


@pytest.mark.parametrize("values", [SMALL, ANY, MASKED, LARGE], ids=["ties", "any", "masked", "large"])
def test_against_every_labeling(values):
    @given(potentials(values))
    @settings(max_examples=60, deadline=None)
    def check(scores):
        node, edge, start, end = scores
        best, _ = brute_force_argmax(node, edge, start, end)
        labelings, all_scores = score_labelings(node, edge, start, end)
        value, labels = run_viterbi(*scores)
        assert value == pytest.approx(best, abs=close(*scores))
        if best > -np.inf:
            (row,) = np.flatnonzero((labelings == labels).all(axis=1))
            assert all_scores[row] == pytest.approx(best, abs=close(*scores))
        expected = brute_force_max_marginals(node, edge, start, end)
        assert run_max_marginals(*scores) == pytest.approx(expected, abs=close(*scores))

    check()


@given(potentials(SMALL))
@settings(max_examples=60, deadline=None)
def test_ties_go_to_the_lowest_label_last_position_first(scores):
    _, maximisers = brute_force_argmax(*scores)
    expected = min(maximisers.tolist(), key=lambda labels: labels[::-1])
    assert run_viterbi(*scores)[1].tolist() == expected


def test_only_length_rows_are_read_and_written():
    rng = np.random.default_rng(0)
    node, edge, zero = rng.normal(size=(5, 3)), rng.normal(size=(3, 3)), np.zeros(3)
    node[3:] = np.nan
    labels, table, out = np.full(5, -7, np.int32), np.full((5, 3), np.nan), np.full((5, 3), -7.0)
    value = viterbi(node, edge, zero, zero, table, 3, labels)
    max_marginals(node, edge, zero, zero, table, 3, out)
    assert value == pytest.approx(brute_force_argmax(node[:3], edge)[0])
    assert (labels[3:] == -7).all() and (out[3:] == -7).all()
    assert out[:3].max(axis=1) == pytest.approx([value] * 3)


@kernel(n_parts=0)
def both(node, edge, start, end, table, labels, out):
    value = viterbi(node, edge, start, end, table, len(node), labels)
    max_marginals(node, edge, start, end, table, len(node), out)
    return value


def test_compiled_agrees():
    rng = np.random.default_rng(1)
    for length, n_labels, share in [(1, 1, 0.0), (1, 4, 0.0), (4, 1, 0.0), (5, 4, 0.3), (6, 5, 0.3), (40, 7, 0.1)]:
        shapes = [(length, n_labels), (n_labels, n_labels), (n_labels,), (n_labels,)]
        scores = [np.where(rng.random(s) < share, -np.inf, rng.normal(size=s)) for s in shapes]
        labels, out = np.zeros(length, np.int32), np.zeros((length, n_labels))
        value = both.uncached(*scores, np.zeros((length, n_labels)), labels, out)
        plain, plain_labels = run_viterbi(*scores)
        assert value == pytest.approx(plain, abs=1e-12)
        assert labels.tolist() == plain_labels.tolist()
        assert out == pytest.approx(run_max_marginals(*scores), abs=1e-12)
