"""Few kinds of input have kernels of their own: counted by the types that kernels are asked for, not by the clock."""

import warnings

import pytest
from sklearn.base import BaseEstimator, clone

import maxmargin
from maxmargin import ChainSVM
from maxmargin._compile import Kernel
from maxmargin.compilation.recipes import RECIPES, SOLVERS, Task, run_task, takes

from .input_kinds import PLAIN, PREPARED, SAME, X, Y, fit, from_file, recording, reloaded


@pytest.fixture
def seen(monkeypatch):
    """The kernels asked for, by their names and the types of their arguments; nothing is compiled."""
    found = set()
    monkeypatch.setattr(Kernel, "__call__", recording(found))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield found


def names(kernels):
    return sorted(kernel[0] for kernel in kernels)


@pytest.mark.parametrize(("model", "kind"), SAME)
def test_variations_of_a_plain_fit_need_no_other_kernels(model, kind, seen):
    variations = SAME[model, kind]
    variations[PLAIN]()
    plain, wrong = set(seen), {}
    for name, run in variations.items():
        run()
        if seen != plain:
            wrong[name] = names(seen - plain)
            seen.intersection_update(plain)
    assert wrong == {}


@pytest.mark.parametrize("read", [reloaded, from_file])
def test_a_model_read_from_a_memory_map_needs_no_other_kernels(read, seen, tmp_path):
    fit(ChainSVM(), X, Y)()
    plain = set(seen)
    fit(ChainSVM(), X, Y, also=lambda *given: read(tmp_path, *given))()
    assert names(seen - plain) == []


@pytest.mark.parametrize("model", RECIPES)
def test_a_model_from_a_file_needs_no_other_kernels(model, seen, tmp_path):
    """Arrays mapped into memory are such that nothing is compiled anew for them."""
    for kind, make_cases in RECIPES[model].items():
        case = next(make_cases())
        fitted = clone(case.estimator).set_params(max_passes=2, random_state=0).fit(case.X, case.y)
        fitted.predict(case.X)
        plain = set(seen)
        from_file(tmp_path, fitted, case.X, case.y).predict(case.X)
        assert names(seen - plain) == [], kind


@pytest.mark.parametrize(("model", "kind"), SAME)
def test_what_is_compiled_ahead_is_all_that_is_needed(model, kind, seen):
    run_task(Task(model, kind, ("auto",)))
    ahead, wrong = set(seen), {}
    for name, run in {**SAME[model, kind], **PREPARED.get((model, kind), {})}.items():
        run()
        if seen != ahead:
            wrong[name] = names(seen - ahead)
            seen.intersection_update(ahead)
    assert wrong == {}


LIKELIHOODS = {"lbfgs"}
EXPECTING = ["exponentiated_gradient", "partial_linearization"]
SMOOTHING = ["svrg", "casimir"]
LABEL_SETS = {("multilabel", "dense"), ("multilabel", "sparse"), ("multilabel", "interactions")}
WITHOUT_EXPECTATIONS = {("graph", "cut"), ("graph", "lp"), ("matching", "all"), ("box", "all"), ("pose", "all")}
WITHOUT_EXPECTATIONS |= LABEL_SETS
# no best few outputs, weights that must not be negative, no weights of features
NOT_SMOOTHED = {("graph", "lp"), ("pose", "all"), ("graph", "cut"), ("chain", "kernel"), ("multiclass", "kernel")}
NOT_SMOOTHED |= LABEL_SETS
# sites and links of one table of weights, or label sets as their relaxation has them
FACTORED = {(model, kind) for model in ("chain", "tree") for kind in ("dense", "sparse")}
FACTORED |= {("graph", "lp"), ("graph", "lp, sparse"), ("multilabel", "interactions, lp")}


def refused_by(model, kind):
    """Solvers of log-losses by SVMs, those of hinges by CRFs, and those that ask for what is not there."""
    if model.endswith("_crf"):
        return set(SOLVERS) - LIKELIHOODS - {"auto", *SMOOTHING}
    form = model, kind.partition(",")[0]
    missing = EXPECTING * (form in WITHOUT_EXPECTATIONS) + SMOOTHING * (form in NOT_SMOOTHED)
    missing += ["gdmm"] * ((model, kind) not in FACTORED)
    return LIKELIHOODS | set(missing)


@pytest.mark.parametrize("model", RECIPES)
def test_which_solvers_are_refused(model, seen):
    for kind, make_cases in RECIPES[model].items():
        case = next(make_cases())
        refused = [name for name in SOLVERS if not takes(clone(case.estimator).set_params(solver=name), case)]
        assert set(refused) == refused_by(model, kind)


@pytest.mark.parametrize(("model", "kind"), [("chain", "dense"), ("multiclass", "kernel"), ("graph", "cut")])
def test_solvers_have_kernels_of_their_own(model, kind, seen):
    run_task(Task(model, kind, ("auto",)))
    auto = set(seen)
    refused = run_task(Task(model, kind, SOLVERS))
    assert len(seen) > len(auto)
    assert set(refused) == refused_by(model, kind)


@pytest.mark.parametrize("model", RECIPES)
def test_kinds_of_data_share_no_large_kernel(model, seen):
    """They are compiled side by side: what two of them need may be compiled twice."""
    needed = []
    for kind in RECIPES[model]:
        seen.clear()
        run_task(Task(model, kind, ("auto",)))
        needed.append(set(seen))
    shared = set().union(*(one & other for i, one in enumerate(needed) for other in needed[:i]))
    of_data = {kernel for kernel in shared if "ListedProblem" not in str(kernel)}  # what is listed is of one kind
    assert not {"block_steps", "gap_pass"} & set(names(of_data))


def test_every_estimator_has_a_recipe():
    known = {
        type(case.estimator) for kinds in RECIPES.values() for make_cases in kinds.values() for case in make_cases()
    }
    every = {one for one in vars(maxmargin).values() if isinstance(one, type) and issubclass(one, BaseEstimator)}
    found = {one for one in every if hasattr(one, "predict")}
    by_path = {maxmargin.ChainSVMCV, maxmargin.MulticlassSVMCV}  # run with those that they choose lam for
    assert known | by_path == found
