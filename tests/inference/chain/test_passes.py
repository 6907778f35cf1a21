"""Chains against a look at every labeling."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin._compile import kernel
from maxmargin.inference.beam import new_beam
from maxmargin.inference.chain.passes import (
    forward_backward,
    max_marginals,
    new_chain_sums,
    top_viterbi,
    viterbi,
)
from reference import (
    brute_force_argmax,
    brute_force_max_marginals,
    chain_graph,
    graph_log_partition,
    graph_marginals,
    score_labelings,
)

# few values make ties, -inf forbids, large ones lose the small ones' last digits
SMALL = st.sampled_from([-1.0, 0.0, 1.0, 2.0])
ANY = st.floats(-10, 10)
MASKED = st.one_of(ANY, st.just(-np.inf))
LARGE = st.floats(-1e12, 1e12)
MIDDLE = st.one_of(st.floats(-400, 400), st.sampled_from([-400.0, 400.0, -np.inf]))  # where exponentials give out
COLD = st.sampled_from([-1e10, 0.0, 1e10, -np.inf])  # scores of -1, 0 and 1 at a temperature of 1e-10
WIDE = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([-np.inf, 1e6, -1e6]))


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


@kernel
def find_all(node, edge, start, end, table, beam, k, labels, values, sums, node_out, pairs):
    count = top_viterbi(node, edge, start, end, table, len(node), k, beam, labels, values)
    return count, forward_backward(node, edge, start, end, sums, len(node), node_out, pairs)


def run_all(scores, k, run=find_all.interpreted):
    """The k best, and marginals; working memory is longer than needed and full of rubbish."""
    length, n_labels = scores[0].shape
    beam, sums = new_beam(length + 1, k), new_chain_sums(length + 2, n_labels)
    pairs = np.zeros((length - 1, n_labels, n_labels))
    for array in [*beam, *sums, pairs]:
        array.fill(-77)
    labels, values, nodes = (
        np.full((k, length + 1), -7, np.int32),
        np.full(k, np.nan),
        np.full((length, n_labels), -77.0),
    )
    table = np.full((length, n_labels), np.nan)
    count, value = run(*scores, table, beam, k, labels, values, sums, nodes, pairs)
    assert (labels[:, length] == -7).all()
    return count, labels[:, :length], values, value, nodes, pairs


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


@kernel
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


@pytest.mark.parametrize(
    "values", [SMALL, MASKED, MIDDLE, WIDE, COLD], ids=["ties", "masked", "middle", "wide", "cold"]
)
def test_top_and_marginals_against_every_labeling(values):
    @given(potentials(values), st.sampled_from([1, 2, 5, 300]))
    @settings(max_examples=60, deadline=None)
    def check(scores, k):
        labelings, all_scores = score_labelings(*scores)
        count, labels, top, value, nodes, every = run_all(scores, k)
        near, row_of = close(*scores), {tuple(y): row for row, y in enumerate(labelings.tolist())}
        assert count == min(k, np.sum(all_scores > -np.inf))
        assert len({tuple(y) for y in labels[:count].tolist()}) == count
        assert top[:count] == pytest.approx(np.sort(all_scores)[::-1][:count], abs=near)
        assert (np.diff(top[:count]) <= 0).all()
        assert [all_scores[row_of[tuple(y)]] for y in labels[:count].tolist()] == pytest.approx(top[:count], abs=near)
        graph = chain_graph(*scores)
        assert value == pytest.approx(graph_log_partition(graph), abs=near)
        if value == -np.inf:
            assert all((written == -77).all() for written in (nodes, every))
            return
        expected, tables = graph_marginals(graph)
        assert nodes == pytest.approx(np.array(expected), abs=1e-10 + near)
        assert every == pytest.approx(np.array(tables).reshape(every.shape), abs=1e-10 + near)
        assert np.sum(nodes, axis=1) == pytest.approx(np.ones(len(nodes)), abs=1e-10)

    check()


@pytest.mark.parametrize("large", [1e6, 1e9, 1e12])
def test_no_labeling_is_lost_where_large_scores_cancel(large):
    # a prefix of score s has s + large - large at the last position: more than s for half of them, and later s again
    rng = np.random.default_rng(0)
    node, edge = np.stack([rng.random(6), np.zeros(6), np.full(6, large)]), rng.random((6, 6))
    scores = [node, edge, np.zeros(6), np.full(6, -large)]
    for k in (1, 5, 36, 300):
        count, labels, top, *_ = run_all(scores, k)
        assert count == min(k, 6**3) and len({tuple(y) for y in labels[:count].tolist()}) == count
        assert top[:count] == pytest.approx(np.sort(score_labelings(*scores)[1])[::-1][:count], abs=close(*scores))


@given(potentials(SMALL))
@settings(max_examples=30, deadline=None)
def test_the_first_of_the_top_is_the_best(scores):
    labels = run_all(scores, 3)[1]
    assert labels[0].tolist() == run_viterbi(*scores)[1].tolist()


def test_marginals_are_slopes_of_the_log_partition():
    rng, step = np.random.default_rng(2), 1e-5
    scores = [rng.normal(size=shape) for shape in [(4, 3), (3, 3), (3,), (3,)]]
    nodes, every = run_all(scores, 1)[-2:]
    for part, expected in [(0, nodes), (1, every.sum(axis=0))]:
        for at in np.ndindex(expected.shape):
            values = []
            for sign in (1, -1):
                moved = [one.copy() for one in scores]
                moved[part][at] += sign * step
                values.append(run_all(moved, 1)[3])
            assert expected[at] == pytest.approx((values[0] - values[1]) / (2 * step), abs=1e-9)


def beyond_doubles():
    """Scores whose exponentials doubles do not hold, with the log-partition and the marginals of the last position."""
    zero, apart = np.zeros(2), np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    half = [0.5, 0.5]
    node = np.array([[0.0, -2000.0], [0.0, 0.0], [1000.0, -1000.0]])
    yield "a path far behind is the only one to end", [node, apart, zero, np.array([-np.inf, 0.0])], -3000.0, [0, 1]
    fall = np.tile([0.0, -10.0], (100, 1))
    yield "a path catches up at once", [fall, apart, zero, np.array([0.0, 1000.0])], np.log(2.0), half
    both = np.vstack([fall, fall[:, ::-1]])
    yield "a path catches up in small steps", [both, apart, zero, zero], -1000 + np.log(2.0), half
    level = np.where(np.arange(1200) % 2, 1e6, -1e6)[:, None] + zero
    yield "levels far apart", [level, np.zeros((2, 2)), zero, zero], 1200 * np.log(2.0), half
    edge, share = np.full((3, 3), -np.inf), 1 / (1 + np.exp(-7.0))
    edge[0], edge[2, 2], mask = [-705.0, -712.0, -np.inf], 0.0, np.array([0.0, 0.0, -np.inf])
    low = [np.zeros((2, 3)), edge, mask, mask]
    yield "only low transitions are allowed", low, -705 - np.log(share), [share, 1 - share, 0]
    edge = np.full((3, 3), -np.inf)
    edge[:2, :2], edge[2, :2] = 0.0, -2000.0
    begin = np.array([-np.inf, -np.inf, 0.0])
    value = -2000 + 1199 * np.log(2.0)
    yield "more labelings than doubles count", [np.zeros((1200, 3)), edge, begin, np.zeros(3)], value, [0.5, 0.5, 0]


@pytest.mark.parametrize("case", list(beyond_doubles()), ids=lambda case: case[0])
def test_scores_that_doubles_do_not_hold_as_exponentials(case):
    _, scores, value, last = case
    *_, found, nodes, every = run_all(scores, 1)
    assert found == pytest.approx(value, abs=1e-9)
    assert nodes[-1] == pytest.approx(last, abs=1e-10)
    assert np.sum(nodes, axis=1) == pytest.approx(np.ones(len(nodes)), abs=1e-10)
    assert every.sum(axis=1) == pytest.approx(nodes[1:], abs=1e-10)
    assert every.sum(axis=2) == pytest.approx(nodes[:-1], abs=1e-10)


def test_compiled_top_and_marginals_agree():
    rng = np.random.default_rng(3)
    for length, n_labels, share, scale in [(1, 1, 0, 1), (1, 4, 0, 1), (6, 5, 0.3, 1), (9, 7, 0.1, 1e3), (30, 9, 0, 1)]:
        shapes = [(length, n_labels), (n_labels, n_labels), (n_labels,), (n_labels,)]
        scores = [np.where(rng.random(s) < share, -np.inf, scale * rng.normal(size=s)) for s in shapes]
        plain = run_all(scores, 5)
        fast = run_all(scores, 5, find_all.uncached)
        assert fast[0] == plain[0] > 0 and fast[1].tolist() == plain[1].tolist()
        for one, two in zip(fast[2:], plain[2:], strict=True):
            assert one == pytest.approx(two, abs=1e-11 * scale, nan_ok=True)
