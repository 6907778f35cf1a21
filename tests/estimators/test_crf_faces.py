"""What users do with CRFs: inputs as they have them, scikit-learn's tools, sparse models, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from crf_cases import CASES
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from maxmargin import ChainCRF, ChainSVM, DictHasher, Graph, GraphCRF, Tree, TreeCRF, regularization_path
from maxmargin.solvers import LBFGS, BlockFrankWolfe

WORDS = [["the", "cat", "sleeps"], ["cats", "sleep"], ["the", "dog", "barks", "loudly"], ["dogs", "bark"]]
TAGS = [["D", "N", "V"], ["N", "V"], ["D", "N", "V", "A"], ["N", "V"]]
SENTENCES = [
    [{"word": word, "suffix": [word[-1:], word[-2:]], "length": len(word)} for word in sentence] for sentence in WORDS
]
pytestmark = pytest.mark.usefixtures("no_compilation")
EACH = pytest.mark.parametrize("case", [CASES[name] for name in ("chain", "tree", "graph")])
CHAIN = CASES["chain"]


def fit(**params):
    return ChainCRF(lam=0.05, tol=1e-6, random_state=0, **params).fit(SENTENCES, TAGS)


class TestInputs:
    def test_dicts_and_strings(self):
        model = fit()
        assert [labels.tolist() for labels in model.predict(SENTENCES)] == TAGS
        assert model.classes_.tolist() == ["A", "D", "N", "V"]
        assert "word=the" in dict(model.top_features(3)["D"].positive)
        table = model.transition_table(2)
        assert len(table) == 2 and ("D", "N") in {pair[:2] for pair in table}

    def test_rows_of_all_kinds(self):
        model = CHAIN.model().fit(CHAIN.X, CHAIN.y)
        sparse = CHAIN.model().fit([sp.csr_matrix(x) for x in CHAIN.X], CHAIN.y)
        stacked = CHAIN.model().fit(np.vstack(CHAIN.X), np.hstack(CHAIN.y), lengths=[len(x) for x in CHAIN.X])
        for other in (sparse, stacked):
            assert_allclose(other.coef_, model.coef_, atol=2e-4)
        flat = model.log_likelihood(np.vstack(CHAIN.X), np.hstack(CHAIN.y), lengths=[len(x) for x in CHAIN.X])
        assert_allclose(flat, model.log_likelihood(CHAIN.X, CHAIN.y))

    def test_hashed_features(self):
        model = make_pipeline(DictHasher(2**9), ChainCRF(tol=1e-3, random_state=0)).fit(SENTENCES, TAGS)
        assert [labels.tolist() for labels in model.predict(SENTENCES)] == TAGS
        assert model[-1].coef_.shape == (4, 2**9)
        unseen = [[{"word": "the"}, {"word": "mouse"}]]
        assert model.predict(unseen)[0].shape == (2,)
        assert_allclose(model[-1].predict_marginals(model[0].transform(unseen))[0].sum(axis=1), 1.0)

    def test_labels_that_were_never_seen(self):
        found = fit().log_likelihood(SENTENCES[:2], [["D", "N", "?"], ["N", "V"]])
        assert found[0] == -np.inf and np.isfinite(found[1])

    def test_nothing_is_certain(self):
        model = CHAIN.model().fit(CHAIN.X, CHAIN.y)
        nothing = np.zeros((0, CHAIN.X[0].shape[1]))
        assert_array_equal(model.log_likelihood([nothing, *CHAIN.X], [[], *CHAIN.y])[0], 0.0)
        assert model.log_likelihood([], []).shape == (0,)

    def test_masks_by_name(self):
        tags = [["O", "B-X", "I-X"], ["B-X", "I-X"], ["O", "O", "B-X", "O"], ["B-X", "O"]]
        model = ChainCRF(transition_mask="bio", random_state=0).fit(SENTENCES, tags)
        assert model.log_likelihood(SENTENCES[:1], [["O", "O", "I-X"]])[0] == -np.inf
        first = model.predict_marginals(SENTENCES[:1])[0][0]
        assert first[model.classes_.tolist().index("I-X")] == 0.0

    def test_a_temperature_flattens_marginals_alone(self):
        model = fit()
        before = model.log_likelihood(SENTENCES, TAGS)
        flat, sharp = (model.predict_marginals(SENTENCES[:1], temperature)[0].max() for temperature in (100.0, 0.01))
        assert flat < 0.3 and sharp > 0.99
        model.calibrate(SENTENCES, TAGS)
        assert_array_equal(model.log_likelihood(SENTENCES, TAGS), before)


class TestTools:
    @EACH
    def test_copies(self, case):
        model = case.model(tol=1e-3).fit(case.X, case.y)
        again = pickle.loads(pickle.dumps(model))
        assert_array_equal(again.log_likelihood(case.X, case.y), model.log_likelihood(case.X, case.y))
        fresh = clone(model)
        assert not hasattr(fresh, "coef_") and fresh.get_params() == model.get_params()

    @EACH
    def test_warm_starts(self, case):
        model = case.model(tol=1e-8, warm_start=True).fit(case.X, case.y)
        first, passes = case.weights_of(model).copy(), model.n_passes_
        model.fit(case.X, case.y)
        assert model.n_passes_ < passes
        assert_allclose(case.weights_of(model), first, atol=1e-3)

    def test_grid_search(self):
        rng = np.random.default_rng(0)
        X, y = list(rng.normal(size=(12, 3, 2))), list(np.resize([0, 1, 2, 0, 2, 1, 1], (12, 3)))  # nothing to learn

        def likelihood(model, X, y):
            return model.log_likelihood(X, y).mean()

        search = GridSearchCV(ChainCRF(tol=1e-3), {"lam": [1e-4, 1.0]}, cv=2, scoring=likelihood).fit(X, y)
        assert search.best_params_["lam"] == 1.0
        assert 0 <= GridSearchCV(ChainCRF(tol=1e-3), {"lam": [0.1, 1.0]}, cv=2).fit(X, y).best_score_ <= 1

    def test_callbacks(self):
        seen = []
        model = CHAIN.model().set_callbacks(lambda record: seen.append(record.gap)).fit(CHAIN.X, CHAIN.y)
        assert len(seen) == len(model.history_["gap"]) > 0
        stopped = CHAIN.model().set_callbacks(lambda record: record.passes >= 2).fit(CHAIN.X, CHAIN.y)
        assert stopped.status_ == "callback"

    @EACH
    def test_solvers_agree(self, case):
        models = [case.model(solver=solver).fit(case.X, case.y) for solver in ("auto", "lbfgs", LBFGS())]
        for model in models[1:]:
            assert_allclose(case.weights_of(model), case.weights_of(models[0]), atol=2e-4)


class TestManyLams:
    def test_cross_validation(self):
        y = list(np.resize([0, 1, 2, 0, 2, 1, 1], (12, 3)))
        X = [np.eye(3)[labels] + np.random.default_rng(0).normal(size=(3, 3)) for labels in y]
        model = ChainCRF(lam="cv", random_state=0).fit(X, y)
        assert model.lam_ in model.lams_ and model.scores_.shape == (3, len(model.lams_))
        assert model.gap_ <= 0.01 * model.primal_ and hasattr(model, "log_likelihood")

    @EACH
    def test_paths_hold_the_optimum(self, case):
        path = regularization_path(case.model(tol=None), case.X, case.y, eps=0.1, lam_min=0.05)
        for lam in (1.0, 0.3, 0.05):
            value = case.optimum(lam)[1]
            assert path.dual_at(lam) - 1e-9 <= value <= path.primal_at(lam) + 1e-9
            assert path.gap_at(lam) <= 0.1 * path.primal_at(lam) + 1e-9
        assert isinstance(path.estimator_at(0.3), case.cls)

    def test_the_gap_is_a_share_of_the_objective(self):
        long = np.vstack(CHAIN.X * 5), np.hstack(CHAIN.y * 5)
        model = ChainCRF(lam=0.1, random_state=0).fit([long[0]], [long[1]])
        assert model.status_ == "converged" and model.gap_ <= 0.01 * model.primal_
        assert model.primal_ > 10  # one sample of 70 positions: a gap of 0.01 would be asking too much


class TestSparse:
    @EACH
    def test_conditions_of_the_optimum(self, case):
        """Where a weight is 0 the slope of the rest is at most l1, elsewhere it is l1 against the weight's sign."""
        lam, l1 = 0.01, 0.05
        model = case.model(lam=lam, l1=l1, tol=1e-8).fit(case.X, case.y)
        w, slope = case.weights_of(model), np.zeros(case.weights_of(model).size)
        for i in range(len(case.y)):
            psi = case.features(i)
            slope += (np.exp(case.log_probabilities(w, i)) @ psi - psi[case.truth(i)]) / len(case.y)
        slope += lam * w
        zero = w == 0.0
        assert 0 < zero.sum() < len(w)
        assert np.abs(slope[zero]).max() <= l1 + 1e-3
        assert_allclose(slope[~zero], -l1 * np.sign(w[~zero]), atol=2e-3)

    def test_more_of_it_leaves_less(self):
        counts = [np.count_nonzero(fit(l1=l1).coef_) for l1 in (0.0, 0.01, 0.1)]
        assert counts[0] > counts[1] > counts[2] > 0

    def test_is_for_one_solver(self):
        assert type(fit(l1=0.1).solver_) is LBFGS
        with pytest.raises(ValueError, match=r'l1=0\.1 is for solver="lbfgs"'):
            fit(l1=0.1, solver=BlockFrankWolfe())
        with pytest.raises(ValueError, match="leave it out of the solver"):
            fit(l1=0.1, solver=LBFGS(l1=0.2))


class TestRefusals:
    @pytest.mark.parametrize("inference", ["lp", "cut"])
    def test_what_cannot_sum(self, inference):
        case = CASES["graph"]
        with pytest.raises(ValueError, match=r"inference must be 'auto' or 'junction', which sums.*GraphSVM"):
            case.model(inference=inference).fit(case.X, case.y)

    def test_graphs_that_are_too_wide(self):
        n = 5
        clique = [(u, v) for u in range(n) for v in range(u)]
        X, y = [Graph(np.eye(n), clique)], [["a", "b", "a", "b", "a"]]
        with pytest.raises(ValueError, match=r"sample 0: .*max_width=3.*or take GraphSVM"):
            GraphCRF(max_width=3).fit(X, y)
        model = GraphCRF(lam=0.1).fit(X, y)
        assert model.inference_ == "junction"
        with pytest.raises(ValueError, match="or take GraphSVM"):
            model.set_params(max_width=3).predict(X)

    def test_solvers_of_hinges(self):
        with pytest.raises(TypeError, match=r"BlockFrankWolfe needs .*a log-loss"):
            fit(solver=BlockFrankWolfe(step="pairwise"))
        with pytest.raises(TypeError, match="LBFGS needs the sum over outputs"):
            ChainSVM(solver=LBFGS()).fit(CHAIN.X, CHAIN.y)

    @pytest.mark.parametrize("name", ["loss", "cost_matrix", "class_weight", "kernel"])
    @pytest.mark.parametrize("cls", [ChainCRF, TreeCRF, GraphCRF])
    def test_there_are_no_costs(self, cls, name):
        with pytest.raises(TypeError, match=name):
            cls(**{name: None})

    def test_what_goes_wrong_is_named(self):
        model = fit()
        with pytest.raises(ValueError, match="y has 1 label sequences"):
            model.log_likelihood(SENTENCES, TAGS[:1])
        with pytest.raises(ValueError, match="sample 1: 1 labels, but the sequence has 2"):
            model.log_likelihood(SENTENCES, [TAGS[0], ["N"], *TAGS[2:]])
        with pytest.raises(ValueError, match="X, sample 0"):
            TreeCRF().fit([Tree(np.eye(2), [0, -1])], [["a", "b"]])
