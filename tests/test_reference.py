"""The references themselves: hand-worked values, duality, derivatives, rates, and a second opinion from liblinear."""

import warnings
from typing import Any

import numpy as np
import pytest

from reference import (
    EnumeratedProblem,
    Trajectory,
    batch_frank_wolfe,
    block_frank_wolfe,
    brute_force_argmax,
    brute_force_edge_max_marginals,
    brute_force_max_marginals,
    chain_joint_feature,
    chain_labelings,
    chain_loss,
    chain_potentials,
    enumerate_chain,
    enumerate_multiclass,
    from_callables,
    multiclass_joint_feature,
    score_labelings,
)

LAM = 0.1
LENGTHS = (3, 1, 4, 2)


def chain_data(seed: int = 0, n_labels: int = 3, n_features: int = 2) -> tuple[list[np.ndarray], list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(t, n_features)) for t in LENGTHS]
    return X, [rng.integers(n_labels, size=t) for t in LENGTHS]


def small_chain(seed: int = 0, **options: Any) -> EnumeratedProblem:
    return enumerate_chain(*chain_data(seed), 3, **options)


def random_alpha(problem: EnumeratedProblem, rng: np.random.Generator) -> list[np.ndarray]:
    return [rng.dirichlet(np.full(len(loss), 0.5)) for loss in problem.losses]


PROBLEMS = {
    "plain": small_chain(),
    "bare": small_chain(1, intercept=False, boundary=False),
    "weighted": small_chain(2, sample_weight=[0.5, 2.0, 0.0, 1.3], class_weight=[1.0, 2.0, 0.3]),
    "summed": small_chain(3, normalize=False, cost=[[0, 1, 3], [0.5, 0, 1], [2, 0.7, 0]]),
    "multiclass": enumerate_multiclass(
        np.random.default_rng(4).normal(size=(9, 3)), np.arange(9) % 3, 3, class_weight=[1, 2, 0.5]
    ),
}


@pytest.fixture(params=list(PROBLEMS))
def problem(request: pytest.FixtureRequest) -> EnumeratedProblem:
    return PROBLEMS[request.param]


# ---------------------------------------------------------------------------------------------- hand-worked values


def test_chain_joint_feature_by_hand() -> None:
    X = [[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]]
    node, transitions = [1, 6, 10, 60], [0, 1, 0, 1]  # labels 0, 1, 1
    bias, first, last = [1, 2], [1, 0], [0, 1]
    y = [0, 1, 1]
    assert chain_joint_feature(X, y, 2).tolist() == node + transitions + bias + first + last
    assert chain_joint_feature(X, y, 2, boundary=False).tolist() == node + transitions + bias
    assert chain_joint_feature(X, y, 2, intercept=False).tolist() == node + transitions + first + last
    assert chain_joint_feature(X, y, 2, intercept=False, boundary=False).tolist() == node + transitions


def test_transitions_are_from_row_to_column() -> None:
    phi = chain_joint_feature(np.zeros((2, 1)), [2, 0], 3, intercept=False, boundary=False)
    assert np.flatnonzero(phi).tolist() == [3 + 2 * 3 + 0]


def test_multiclass_joint_feature_by_hand() -> None:
    assert multiclass_joint_feature([5.0, 7.0], 1, 3).tolist() == [0, 5, 0, 0, 7, 0, 0, 1, 0]
    assert multiclass_joint_feature([5.0, 7.0], 1, 3, intercept=False).tolist() == [0, 5, 0, 0, 7, 0]


def test_chain_loss_by_hand() -> None:
    assert chain_loss([0, 1, 2, 2], [0, 2, 2, 1], 3) == 0.5
    assert chain_loss([0, 1, 2, 2], [0, 2, 2, 1], 3, normalize=False) == 2
    assert chain_loss([0, 1, 2, 2], [0, 2, 2, 1], 3, class_weight=[1, 10, 4], normalize=False) == 14
    cost = [[0, 1, 2], [3, 0, 5], [6, 7, 0]]
    assert chain_loss([0, 1, 2, 2], [0, 2, 2, 1], 3, cost=cost, class_weight=[1, 10, 4]) == (50 + 28) / 4


def test_multiclass_cost_is_read_from_the_row_of_the_truth() -> None:
    cost = [[0, 1, 2], [3, 0, 5], [6, 7, 0]]
    problem = enumerate_multiclass(np.ones((3, 1)), [2, 0, 1], 3, cost=cost)
    assert [loss.tolist() for loss in problem.losses] == [[6, 7, 0], [0, 1, 2], [3, 0, 5]]


def test_labelings_are_lexicographic_and_obey_the_masks() -> None:
    assert chain_labelings(2, 2).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    allowed = [[True, True], [False, True]]
    assert chain_labelings(3, 2, allowed).tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 1], [1, 1, 1]]
    assert chain_labelings(3, 2, allowed, [True, False], [False, True]).tolist() == [[0, 0, 1], [0, 1, 1]]
    assert chain_labelings(1, 3, None, [True, True, False], [False, True, True]).tolist() == [[1]]
    with pytest.raises(ValueError, match="true labeling occurs 0 times"):
        enumerate_chain([np.ones((2, 1))], [[1, 0]], 2, allowed=allowed)


def test_one_dimensional_problem_by_hand() -> None:
    # P(w) = lam/2 w^2 + max(0, 1 - w): w* = min(1, 1/lam).
    hinge = from_callables(
        1, lambda i: ["yes", "no"], lambda i, y: [float(y == "yes")], lambda i, y: y == "no", ["yes"]
    )
    for lam, w_star, optimum in [(0.5, 1.0, 0.25), (1.0, 1.0, 0.5), (4.0, 0.25, 1 / 8 + 3 / 4)]:
        w, value, alpha = hinge.solve(lam)
        assert w[0] == pytest.approx(w_star, abs=1e-5)
        assert value == pytest.approx(optimum, abs=1e-9)
        assert alpha[0][1] == pytest.approx(min(lam, 1.0), abs=1e-5)


def test_truth_rows() -> None:
    for p in PROBLEMS.values():
        assert p.truth is not None
        for i, row in enumerate(p.truth):
            assert not p.psi[i][row].any() and p.losses[i][row] == 0
            assert p.index_of(i, p.labelings[i][row]) == row
        assert not p.weights_of(p.true_alpha(), LAM).any()
    plain = PROBLEMS["plain"]
    assert EnumeratedProblem(plain.psi, plain.losses, plain.weights, plain.labelings).truth == plain.truth


@pytest.mark.parametrize("weights", [[1, -1, 1, 1], [0, 0, 0, 0], [1, 1, 1], [1, np.nan, 1, 1]])
def test_bad_weights_are_refused(weights: list[float]) -> None:
    with pytest.raises(ValueError, match="weights"):
        small_chain(sample_weight=weights)


# ---------------------------------------------------------------------------------------------- objective and optimum


def test_weak_duality_and_the_optimum_between(problem: EnumeratedProblem) -> None:
    rng = np.random.default_rng(0)
    for lam in (1e-3, LAM, 5.0):
        w, optimum, alpha = problem.solve(lam)
        assert problem.is_feasible(alpha)
        assert problem.dual(alpha, lam) <= optimum <= problem.primal(w, lam)
        assert problem.primal(w, lam) - problem.dual(alpha, lam) < 1e-8
        for _ in range(20):
            a = random_alpha(problem, rng)
            assert problem.dual(a, lam) <= optimum + 1e-9
            assert problem.primal(w + rng.normal(size=problem.d) * rng.choice([1e-3, 1.0]), lam) >= optimum - 1e-9
            assert problem.primal(problem.weights_of(a, lam), lam) >= optimum - 1e-9


def test_solution_satisfies_the_optimality_conditions(problem: EnumeratedProblem) -> None:
    w, _, alpha = problem.solve(LAM)
    assert problem.weights_of(alpha, LAM) == pytest.approx(w, abs=1e-4)
    for i in range(problem.n):
        if problem.weights[i] > 0:
            h = problem.augmented(i, w)
            assert alpha[i] @ (np.max(h) - h) < 1e-6


def test_block_gaps_sum_to_the_duality_gap(problem: EnumeratedProblem) -> None:
    alpha = random_alpha(problem, np.random.default_rng(1))
    gaps = problem.block_gaps(alpha, LAM)
    w = problem.weights_of(alpha, LAM)
    assert np.all(gaps >= 0)
    assert np.sum(gaps) == pytest.approx(problem.primal(w, LAM) - problem.dual(alpha, LAM), abs=1e-12)


def test_primal_subgradient_by_finite_differences(problem: EnumeratedProblem) -> None:
    w = np.random.default_rng(2).normal(size=problem.d)  # generic: the maximisers are unique
    rows = [problem.oracle(i, w) for i in range(problem.n)]
    gradient = LAM * w - sum(problem.shares[i] * problem.psi[i][row] for i, row in enumerate(rows))
    steps = 1e-6 * np.eye(problem.d)
    numeric = [(problem.primal(w + e, LAM) - problem.primal(w - e, LAM)) / 2e-6 for e in steps]
    assert numeric == pytest.approx(gradient, abs=1e-7)


def test_dual_gradient_by_finite_differences(problem: EnumeratedProblem) -> None:
    rng = np.random.default_rng(3)
    alpha = random_alpha(problem, rng)
    w = problem.weights_of(alpha, LAM)
    for i in range(problem.n):
        y = int(rng.integers(len(alpha[i])))
        values = []
        for e in (1e-5, -1e-5):
            moved = [a.copy() for a in alpha]
            moved[i][y] += e
            values.append(problem.dual(moved, LAM))
        expected = problem.shares[i] * problem.augmented(i, w)[y]
        assert (values[0] - values[1]) / 2e-5 == pytest.approx(expected, abs=1e-7)


def test_integer_weights_are_repetitions_and_zero_is_removal() -> None:
    X, y = chain_data(5)
    weighted = enumerate_chain(X, y, 3, sample_weight=[2, 0, 1, 3])
    repeats = [0, 0, 2, 3, 3, 3]
    repeated = enumerate_chain([X[i] for i in repeats], [y[i] for i in repeats], 3)
    w, optimum, _ = weighted.solve(LAM)
    v, other, _ = repeated.solve(LAM)
    assert optimum == pytest.approx(other, abs=1e-9)
    assert w == pytest.approx(v, abs=1e-5)
    anywhere = np.random.default_rng(0).normal(size=weighted.d)
    assert weighted.primal(anywhere, LAM) == pytest.approx(repeated.primal(anywhere, LAM), abs=1e-12)


def test_weights_matter_only_up_to_scale() -> None:
    s = np.array([1.0, 0.3, 2.0, 0.7])
    a, b = small_chain(sample_weight=s), small_chain(sample_weight=100 * s)
    assert a.solve(LAM)[1] == pytest.approx(b.solve(LAM)[1], abs=1e-9)


def test_class_weight_multiplies_the_sample_weight_in_multiclass() -> None:
    rng = np.random.default_rng(6)
    X, y, s = rng.normal(size=(7, 2)), np.arange(7) % 3, rng.uniform(size=7)
    cw = np.array([0.5, 1.0, 3.0])
    a = enumerate_multiclass(X, y, 3, class_weight=cw, sample_weight=s)
    b = enumerate_multiclass(X, y, 3, sample_weight=s * cw[y])
    w = rng.normal(size=a.d)
    assert a.weights == pytest.approx(b.weights)
    assert a.primal(w, LAM) == b.primal(w, LAM)


def test_chains_of_length_one_are_multiclass() -> None:
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(6, 2)), np.arange(6) % 3
    chain = enumerate_chain([x[None] for x in X], [[k] for k in y], 3, boundary=False)
    multiclass = enumerate_multiclass(X, y, 3)
    assert chain.solve(LAM)[1] == pytest.approx(multiclass.solve(LAM)[1], abs=1e-9)


def test_forbidding_removes_constraints() -> None:
    X = chain_data(8)[0]
    y = [np.zeros(t, dtype=int) for t in LENGTHS]
    y[0][1:] = 1
    allowed = np.array([[True, True, False], [False, True, True], [True, False, True]])
    free, masked = enumerate_chain(X, y, 3), enumerate_chain(X, y, 3, allowed=allowed)
    assert [len(m) for m in masked.losses] == [3 * 2 ** (t - 1) for t in LENGTHS]
    assert masked.solve(LAM)[1] < free.solve(LAM)[1]


def test_multiclass_optimum_agrees_with_liblinear() -> None:
    svm = pytest.importorskip("sklearn.svm")
    rng = np.random.default_rng(9)
    X, y = rng.normal(size=(20, 3)), np.arange(20) % 3
    reference = enumerate_multiclass(X, y, 3, intercept=False)
    w, optimum, _ = reference.solve(LAM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = svm.LinearSVC(
            multi_class="crammer_singer", C=1 / (LAM * 20), fit_intercept=False, tol=1e-10, max_iter=200_000
        ).fit(X, y)
    theirs = model.coef_.T.ravel()
    assert reference.primal(theirs, LAM) == pytest.approx(optimum, abs=1e-7)
    assert theirs == pytest.approx(w, abs=1e-4)


def test_from_callables_equals_enumerate_chain() -> None:
    X, y = chain_data(10)
    s = [1.0, 0.2, 3.0, 1.0]
    ours = enumerate_chain(X, y, 3, sample_weight=s)
    theirs = from_callables(
        len(X),
        lambda i: [tuple(row) for row in chain_labelings(len(X[i]), 3)],
        lambda i, labels: chain_joint_feature(X[i], labels, 3),
        lambda i, labels: float(np.mean(np.asarray(labels) != y[i])),
        lambda i: tuple(y[i]),
        s,
    )
    w = np.random.default_rng(0).normal(size=ours.d)
    assert theirs.truth == ours.truth
    assert theirs.primal(w, LAM) == pytest.approx(ours.primal(w, LAM), abs=1e-14)


# ---------------------------------------------------------------------------------------------- Frank-Wolfe


def random_order(problem: EnumeratedProblem, n_steps: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(problem.n, size=n_steps)


def diameters(problem: EnumeratedProblem) -> np.ndarray:
    """max over y, y' of |A (e_y - e_y')| for every block."""
    spread = [np.max(np.linalg.norm(p[:, None] - p[None], axis=2)) for p in problem.psi]
    return np.multiply(problem.shares / LAM, spread)


def runs(problem: EnumeratedProblem, n_steps: int) -> list[Trajectory]:
    order = random_order(problem, n_steps)
    out = [block_frank_wolfe(problem, LAM, order), block_frank_wolfe(problem, LAM, order, step="fixed")]
    return [*out, batch_frank_wolfe(problem, LAM, n_steps), batch_frank_wolfe(problem, LAM, n_steps, step="fixed")]


def test_the_rows_of_a_run_are_those_of_its_alpha(problem: EnumeratedProblem) -> None:
    for run in runs(problem, 30):
        assert problem.is_feasible(run.alpha) and problem.is_feasible(run.alpha_avg)
        assert len(run.w) == len(run.ell) == len(run.dual) == len(run.w_avg) == 31
        assert len(run.gammas) == len(run.gaps) == len(run.corners) == 30
        assert not run.w[0].any() and run.ell[0] == 0
        assert run.w[-1] == pytest.approx(problem.weights_of(run.alpha, LAM), abs=1e-12)
        assert run.ell[-1] == pytest.approx(problem.ell_of(run.alpha), abs=1e-13)
        assert run.dual[-1] == pytest.approx(problem.dual(run.alpha, LAM), abs=1e-13)
        assert run.w_avg[-1] == pytest.approx(problem.weights_of(run.alpha_avg, LAM), abs=1e-12)
        assert run.dual_avg[-1] == pytest.approx(problem.dual(run.alpha_avg, LAM), abs=1e-13)


def test_average_weighs_iterate_t_by_t() -> None:
    run = block_frank_wolfe(PROBLEMS["plain"], LAM, random_order(PROBLEMS["plain"], 25))
    t = np.arange(1, 26)
    assert run.w_avg[1].tolist() == run.w[1].tolist()
    assert run.w_avg[-1] == pytest.approx(t @ run.w[1:] / np.sum(t), abs=1e-13)
    assert run.ell_avg[-1] == pytest.approx(t @ run.ell[1:] / np.sum(t), abs=1e-14)


def test_dual_never_falls_under_line_search_and_gaps_bound(problem: EnumeratedProblem) -> None:
    _, optimum, _ = problem.solve(LAM)
    blocks, _, batch, _ = runs(problem, 60)
    for run in (blocks, batch):
        assert np.all(np.diff(run.dual) >= -1e-12)
        assert np.all(run.gaps >= -1e-11)
        assert np.all(run.dual <= optimum + 1e-9)
        assert np.all((run.gammas >= 0) & (run.gammas <= 1))
        assert min(problem.primal(w, LAM) for w in run.w) >= optimum - 1e-9
    for k in range(60):  # the batch gap is the duality gap
        assert batch.gaps[k] == pytest.approx(problem.primal(batch.w[k], LAM) - batch.dual[k], abs=1e-10)


def test_line_search_beats_every_other_step(problem: EnumeratedProblem) -> None:
    alpha = random_alpha(problem, np.random.default_rng(11))
    for i in range(problem.n):
        run = block_frank_wolfe(problem, LAM, [i], alpha0=alpha)
        assert run.dual[0] == pytest.approx(problem.dual(alpha, LAM), abs=1e-13)
        assert run.gaps[0] == pytest.approx(problem.block_gaps(alpha, LAM)[i], abs=1e-12)
        for gamma in np.linspace(0, 1, 41):
            moved = list(alpha)
            moved[i] = (1 - gamma) * alpha[i] + gamma * np.eye(len(alpha[i]))[run.corners[0]]
            assert problem.dual(moved, LAM) <= run.dual[1] + 1e-13


def test_a_full_step_is_taken_where_only_the_loss_can_move() -> None:
    # x = 0 and no bias: psi = 0, the dual is linear in the block and its best point a corner.
    blind = enumerate_multiclass(np.zeros((2, 1)), [0, 1], 2, intercept=False)
    run = block_frank_wolfe(blind, LAM, [0, 0, 1])
    assert run.gammas.tolist() == [1, 0, 1]
    assert run.dual.tolist() == [0, 0.5, 0.5, 1]
    assert blind.solve(LAM)[1] == pytest.approx(1, abs=1e-9)


def test_fixed_steps_are_as_printed() -> None:
    problem = PROBLEMS["plain"]
    _, blocks, _, batch = runs(problem, 10)
    k, n = np.arange(10), problem.n
    assert blocks.gammas.tolist() == (2 * n / (k + 2 * n)).tolist()
    assert batch.gammas.tolist() == (2 / (k + 2)).tolist()


def test_batch_rate(problem: EnumeratedProblem) -> None:
    # Jaggi (2013): f(alpha_k) - f* <= 2 C/(k+2) for k >= 1, C <= lam diam^2, for both step rules.
    _, optimum, _ = problem.solve(LAM)
    curvature = LAM * np.sum(diameters(problem)) ** 2
    k = np.arange(1, 201)
    for step in ("line_search", "fixed"):
        run = batch_frank_wolfe(problem, LAM, 200, step=step)
        assert np.all(optimum - run.dual[1:] <= 2 * curvature / (k + 2) + 1e-9)


def test_block_rate(problem: EnumeratedProblem) -> None:
    # Theorem 2: E f(alpha_k) - f* <= 2n/(k+2n) (C + h_0), C = sum_i C_i; the mean over a few orders stands for E.
    _, optimum, _ = problem.solve(LAM)
    n, n_steps = problem.n, 300
    constant = LAM * np.sum(diameters(problem) ** 2) + optimum
    k = np.arange(n_steps + 1)
    for step in ("line_search", "fixed"):
        orders = [random_order(problem, n_steps, seed) for seed in range(4)]
        found = [block_frank_wolfe(problem, LAM, order, step=step).dual for order in orders]
        assert np.all(optimum - np.mean(found, axis=0) <= 2 * n / (k + 2 * n) * constant + 1e-9)


def test_long_run_reaches_the_optimum() -> None:
    problem = PROBLEMS["plain"]
    w, optimum, _ = problem.solve(1.0)
    run = block_frank_wolfe(problem, 1.0, random_order(problem, 4000))
    assert 0 <= optimum - run.dual[-1] + 1e-9 < 1e-3
    assert 0 <= problem.primal(run.w_avg[-1], 1.0) - optimum < 1e-2
    assert np.linalg.norm(run.w[-1] - w) ** 2 <= 2 * (optimum - run.dual[-1]) + 1e-8


def test_one_block_makes_the_two_methods_one() -> None:
    X, y = chain_data(12)
    problem = enumerate_chain(X[:1], y[:1], 3)
    for step in ("line_search", "fixed"):
        a = batch_frank_wolfe(problem, LAM, 25, step=step)
        b = block_frank_wolfe(problem, LAM, np.zeros(25, dtype=int), step=step)
        assert a.w == pytest.approx(b.w, abs=1e-12)
        assert a.corners[:, 0].tolist() == b.corners.tolist()


def test_blocks_of_weight_zero_change_nothing() -> None:
    X, y = chain_data(13)
    weighted = enumerate_chain(X, y, 3, sample_weight=[1, 2, 0, 1])
    removed = enumerate_chain([X[0], X[1], X[3]], [y[0], y[1], y[3]], 3, sample_weight=[1, 2, 1])
    order = random_order(weighted, 40)
    a = block_frank_wolfe(weighted, LAM, order)
    b = block_frank_wolfe(removed, LAM, np.array([0, 1, -1, 2])[order[order != 2]])
    still = np.flatnonzero(order == 2)
    assert np.array_equal(a.w[still + 1], a.w[still])
    assert a.w[np.append(True, order != 2)] == pytest.approx(b.w, abs=1e-13)


def test_ties_go_to_the_lowest_row_unless_an_oracle_says_otherwise() -> None:
    problem = enumerate_chain([np.ones((2, 1))], [[1, 1]], 3)
    ties = problem.maximisers(0, np.zeros(problem.d))
    assert [problem.labelings[0][row].tolist() for row in ties] == [[0, 0], [0, 2], [2, 0], [2, 2]]
    assert block_frank_wolfe(problem, LAM, [0]).corners.tolist() == [0]
    last = block_frank_wolfe(problem, LAM, [0], oracle=lambda i, w: problem.index_of(i, [2, 2]))
    assert last.corners.tolist() == [8]
    with pytest.raises(ValueError, match="does not maximise"):
        block_frank_wolfe(problem, LAM, [0], oracle=lambda i, w: 1)


# ---------------------------------------------------------------------------------------------- chain inference


def test_potentials_give_the_scores_of_the_joint_feature() -> None:
    rng = np.random.default_rng(14)
    for intercept in (False, True):
        for boundary in (False, True):
            for length in (1, 3):
                X = rng.normal(size=(length, 2))
                w = rng.normal(size=2 * 3 + 9 + 3 * intercept + 6 * boundary)
                parts = chain_potentials(w, X, 3, intercept=intercept, boundary=boundary)
                labelings, scores = score_labelings(*parts)
                phi = [chain_joint_feature(X, y, 3, intercept=intercept, boundary=boundary) for y in labelings]
                assert scores == pytest.approx(np.array(phi) @ w, abs=1e-13)


def test_argmax_by_hand_with_ties() -> None:
    value, labelings = brute_force_argmax(np.zeros((2, 2)), [[1, 0], [0, 1]])
    assert value == 1 and labelings.tolist() == [[0, 0], [1, 1]]
    value, labelings = brute_force_argmax(np.zeros((2, 2)), [[1, 0], [0, 1]], start=[0, 0.5], end=[2, 0])
    assert value == 3 and labelings.tolist() == [[0, 0]]
    value, labelings = brute_force_argmax([[0.0, 1.0, 1.0]], np.zeros((3, 3)), start=[0, 0, -np.inf])
    assert value == 1 and labelings.tolist() == [[1]]
    value, labelings = brute_force_argmax(np.full((2, 2), -np.inf), np.zeros((2, 2)))
    assert value == -np.inf and labelings.shape == (0, 2)


def test_max_marginals_agree_with_the_argmax() -> None:
    rng = np.random.default_rng(15)
    node, trans = rng.normal(size=(4, 3)), rng.normal(size=(3, 3, 3))
    trans[:, 0, 2] = -np.inf
    start, end = rng.normal(size=3), rng.normal(size=3)
    value, labelings = brute_force_argmax(node, trans, start, end)
    marginals = brute_force_max_marginals(node, trans, start, end)
    edges = brute_force_edge_max_marginals(node, trans, start, end)
    assert np.max(marginals, axis=1) == pytest.approx(value)
    assert np.argmax(marginals, axis=1).tolist() == labelings[0].tolist()
    assert np.max(edges, axis=2) == pytest.approx(marginals[:-1])
    assert np.max(edges, axis=1) == pytest.approx(marginals[1:])
    assert np.all(edges[:, 0, 2] == -np.inf)


def test_one_set_of_transitions_or_one_per_position() -> None:
    rng = np.random.default_rng(16)
    node, trans = rng.normal(size=(3, 2)), rng.normal(size=(2, 2))
    assert np.array_equal(score_labelings(node, trans)[1], score_labelings(node, np.stack([trans, trans]))[1])


def test_loss_augmented_argmax_is_the_oracle() -> None:
    X, y = chain_data(17)
    problem = enumerate_chain(X, y, 3)
    w = np.random.default_rng(18).normal(size=problem.d)
    for i, (x, target) in enumerate(zip(X, y, strict=True)):
        node, trans, start, end = chain_potentials(w, x, 3)
        node = node + (1 - np.eye(3))[target] / len(target)
        value, labelings = brute_force_argmax(node, trans, start, end)
        assert labelings[0].tolist() == problem.labelings[i][problem.oracle(i, w)].tolist()
        score_of_truth = chain_joint_feature(x, target, 3) @ w
        assert value - score_of_truth == pytest.approx(np.max(problem.augmented(i, w)), abs=1e-12)
