"""GDMM on sets of labels: the relaxed optimum written out, its search against all pairs, and where it is refused."""

import itertools

import numpy as np
import pytest

from inference.test_subsets import program, worth
from maxmargin import MultilabelSVM
from maxmargin.solvers import GDMM, SoftBCFW
from maxmargin.solvers.factorwise.label_sets import gather_messages, move_labels
from maxmargin.solvers.factorwise.set_pairs import list_pairs, mark
from maxmargin.structures.factors.label_sets import place_of_pair
from maxmargin.structures.known import KnownProblem
from maxmargin.structures.label_pairs import LabelPairs
from structures.pairs import interpreted, multilabel_data
from structures.test_label_pairs import LAM, OPTIONS, written_out

from ..conftest import check_bracket


def structure_of(**options):
    return LabelPairs(*multilabel_data(2, is_sparse=True), relaxed=True, **options)


def run(structure, solver=None, **options):
    options = {"tol": 1e-4, "max_passes": 2000, "random_state": 0} | options
    return (solver or GDMM("bgcd", gap_every=20)).solve(KnownProblem(structure), LAM, **options)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_the_optimum_is_that_of_the_relaxed_problem(options, no_compilation):
    structure = structure_of(**options)
    best = written_out(structure).solve(LAM)[1]
    result = run(structure)
    assert result.status == "converged"
    assert result.primal == pytest.approx(best, abs=1.1e-4) and result.dual == pytest.approx(best, abs=1.1e-4)
    check_bracket(result, best)
    assert result.history["violation"][-1] < 1e-3


@pytest.mark.parametrize("solver", [GDMM("afw", gap_every=20), GDMM(rho=5.0), SoftBCFW(gap_every=20)], ids=str)
def test_all_steps_enclose_it(solver, no_compilation):
    structure = structure_of()
    check_bracket(run(structure, solver, max_passes=60), written_out(structure).solve(LAM)[1])


def test_a_certificate_counts_pairs_that_wait_for_room(no_compilation, monkeypatch):
    monkeypatch.setattr("maxmargin.solvers.factorwise.label_sets.with_more_room", lambda lists: lists)
    structure = structure_of()
    check_bracket(run(structure, max_passes=60), written_out(structure).solve(LAM)[1])


@pytest.mark.parametrize("size", [0.1, 1.0, 10.0])
def test_hinges_of_a_certificate_are_those_of_the_linear_program_and_above_those_of_sets(size, no_compilation):
    rng, structure = np.random.default_rng(0), LabelPairs(*multilabel_data(4, n=6, n_labels=4), relaxed=True)
    engine = GDMM().start(KnownProblem(structure), LAM, None, 0, None)
    for turn in range(5):
        w = size * rng.normal(size=structure.n_features)
        if turn == 0:  # weights of a run
            engine.advance(engine.n)
            w = engine.w
        hinges, table = engine.hinges(w), structure.layout.parts["interactions"].read(w)
        for i, y in enumerate(structure.present):
            gains = structure.scores(w, i) + structure.costs(i)
            of_sets = max(worth(gains, table, other) for other in itertools.product((0, 1), repeat=4))
            assert hinges[i] == pytest.approx(program(gains, table) - worth(gains, table, y), abs=1e-7)
            assert hinges[i] >= of_sets - worth(gains, table, y) - 1e-9


@pytest.mark.parametrize("search", ["ordered", "exhaustive"])
def test_pairs_that_are_not_listed_need_no_message(search, no_compilation):
    structure = LabelPairs(*multilabel_data(4, n=6, n_labels=7), relaxed=True)
    engine = GDMM(search=search).start(KnownProblem(structure), LAM, None, 0, None)
    for _ in range(6):
        engine.advance(engine.n)
    pairs, table = list(itertools.combinations(range(7), 2)), engine.scratch.interactions.table
    assert [place_of_pair(7, a, b) for a, b in pairs] == list(range(21))
    assert [table[a, b] for a, b in pairs] == engine.w[structure.first_pair :].tolist()
    assert engine.scratch.interactions.rises == pytest.approx(np.maximum(table, 0.0).sum(axis=0))
    lists, scratch, left = engine.factors, engine.scratch, 0
    for i in range(6):
        gather_messages(lists, scratch, i)
        move_labels(engine.parts, lists, scratch, engine.w, engine.parts.weight[i] / LAM, engine.rho, i)
        list_pairs(lists, scratch, engine.search, i)
        at = slice(lists.first[i], lists.first[i] + lists.size[i])
        listed = set(zip(lists.a[at].tolist(), lists.b[at].tolist(), strict=True))
        assert len(listed) == len(pairs) or len(listed) < lists.first[i + 1] - lists.first[i]  # no pair waits for room
        left += len(pairs) - len(listed)
        for a, b in set(pairs) - listed:
            pays = [lists.share[i, k] == 0.0 and scratch.spare[k] >= scratch.rise[k] for k in (a, b)]
            assert lists.share[i, a] + lists.share[i, b] <= 1.0
            assert table[a, b] <= 0.0 or (search == "ordered" and any(pays))
        mark(lists, scratch, i, False)
    assert left > 0 or search == "exhaustive"


def test_one_part_of_labels_is_refused():
    with pytest.raises(ValueError, match="nu must be 1 with sets of labels"):
        run(structure_of(), GDMM(nu=2))


def test_compiled_agrees_with_interpreted():
    structure, options = structure_of(sample_weight=np.array([1.0, 2.0, 0.0, 0.5, 3.0])), {"tol": 0, "max_passes": 40}
    compiled = run(structure, **options)
    with interpreted():
        plain = run(structure, **options)
    assert compiled.w == pytest.approx(plain.w, abs=1e-9)


def test_a_run_in_two_pieces_is_the_run_in_one(no_compilation):
    whole, half = (run(structure_of(), tol=0, max_passes=passes) for passes in (20, 10))
    rest = run(structure_of(), tol=0, max_passes=10, state=half.state, random_state=None)
    assert rest.w == pytest.approx(whole.w, abs=1e-12)


def test_sets_without_a_relaxation_are_refused():
    with pytest.raises(TypeError, match="GDMM needs sites and links"):
        run(LabelPairs(*multilabel_data()))


def test_an_estimator_takes_it_by_name(no_compilation):
    X, Y = multilabel_data(4, n=12, n_labels=20)
    model = MultilabelSVM(interactions="pairwise", solver="gdmm", tol=1e-2, random_state=0).fit(X, Y)
    assert model.gap_ >= 0.0 and model.predict(X).shape == Y.shape
