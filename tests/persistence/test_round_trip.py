"""What is saved comes back: every estimator, all that it was given and has learned, and all that it answers."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline

import maxmargin
from maxmargin import ChainSVM, DictEncoder, DictHasher, MulticlassSVM, solvers
from maxmargin.persistence import load, save
from maxmargin.persistence.registry import stored_of
from maxmargin.solvers.stored import SAMPLING, SOLVERS, STEPS
from structures.pairs import interpreted

from .cases import ATTRIBUTES, LABELS, LEFT_OUT, NAMES, NODES, WORDS, answers, differences, fitted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.mark.parametrize("name", NAMES)
def test_a_model_comes_back_as_it_was(name, path):
    model, X = fitted(name)
    assert model.save(path) is model
    loaded = load(path)
    assert differences(model, loaded) == []
    assert differences(answers(model, X), answers(loaded, X)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_model_can_be_pickled(name):
    model, X = fitted(name)
    other = pickle.loads(pickle.dumps(model))
    assert differences(answers(model, X), answers(other, X)) == []


@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_model_has_nothing_forgotten(name, path):
    model, _ = fitted(name)
    forgotten = vars(model).keys() - vars(load(save(model, path) and path)).keys()
    assert forgotten <= LEFT_OUT


def test_every_estimator_is_among_the_cases():
    every = {one for one in vars(maxmargin).values() if isinstance(one, type) and issubclass(one, BaseEstimator)}
    assert {one for one in every if hasattr(one, "predict")} == {type(fitted(name).model) for name in NAMES}


def test_every_public_solver_and_part_can_be_stored():
    parts = {one for one in vars(solvers).values() if isinstance(one, type)}
    results = {solvers.Path, solvers.Record, solvers.Result, solvers.Status, solvers.SmoothedObjective, solvers.Solver}
    of_runs = {solvers.CheckpointError, solvers.Earlier}
    assert {one.__name__ for one in parts - results - of_runs if stored_of(one) is None} == set()


PARTS = {*SOLVERS, *SAMPLING, *STEPS} - {solvers.Drawn}  # which holds a function


@pytest.mark.parametrize("part", sorted(PARTS, key=lambda part: part.__name__))
def test_parts_come_back(part, path):
    assert load(save(part(), path) and path).__class__ is part


def test_solvers_come_back_with_their_parts(path):
    solver = solvers.BlockFrankWolfe(
        solvers.ByGaps(), step=solvers.PairwiseStep(), cache=solvers.Cache(F=0.5), acceleration=solvers.Catalyst(0.1)
    )
    model = ChainSVM(solver=solver.set_params(positive=slice(2, None), lower=np.full(3, -np.inf)))
    assert differences(model, load(save(model, path) and path)) == []


@pytest.mark.parametrize(
    "value", [None, True, 3, 2**70, 0.1, np.inf, -np.inf, "ü\ud800\0", (1, ("a", [])), {2: {"a": ()}}]
)
def test_parameters_of_all_kinds_come_back(value, path):
    loaded = load(save(MulticlassSVM(class_weight=value), path) and path)
    assert differences(loaded.class_weight, value) == []


def test_numbers_of_numpy_become_plain_ones(path):
    loaded = load(save(MulticlassSVM(lam=np.float32(0.5), random_state=np.int64(3)), path) and path)
    assert (loaded.lam, loaded.random_state) == (0.5, 3)
    assert (type(loaded.lam), type(loaded.random_state)) == (float, int)


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.array(2.5), np.arange(6).reshape(2, 3).T, np.ones(3, ">f4")])
def test_arrays_of_all_shapes_come_back(array, path):
    loaded = load(save(MulticlassSVM(cost_matrix=array), path) and path).cost_matrix
    assert loaded.shape == array.shape and loaded.dtype == array.dtype.newbyteorder("=")
    assert np.array_equal(loaded, array)


def test_mostly_zeros_are_stored_sparse(path):
    array = np.zeros((300, 400))
    array[::50, ::100] = 1.5
    loaded = load(save(MulticlassSVM(cost_matrix=array), path) and path)
    assert np.array_equal(loaded.cost_matrix, array)
    assert path.stat().st_size < array.nbytes / 50


def test_saving_twice_gives_the_same_bytes(path):
    model, _ = fitted("dicts")
    first, second = (save(model, path) and path.read_bytes() for _ in range(2))
    assert first == second


def test_saving_what_was_loaded_over_itself(path):
    model, X = fitted("dicts")
    save(model, path)
    loaded = load(path)
    before = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == before
    assert differences(answers(loaded, X), answers(model, X)) == []


def test_changing_a_loaded_model_changes_its_predictions_but_not_the_file(path):
    model, X = fitted("chain, dense, 0")
    before = save(model, path) and path.read_bytes()
    loaded = load(path)
    loaded.coef_[...] = 0.0
    loaded.coef_[1] = 1.0
    assert differences(answers(loaded, X), answers(model, X)) != []
    assert path.read_bytes() == before
    assert differences(answers(load(path), X), answers(model, X)) == []


def test_a_loaded_model_begins_anew(path, no_compilation):
    model = ChainSVM(warm_start=True, lam=0.1, random_state=0).fit(NODES, LABELS)
    loaded = load(save(model, path) and path).fit(NODES, LABELS)
    assert loaded.n_passes_ == model.n_passes_
    assert clone(loaded).get_params() == model.get_params()


def test_a_calibrated_model_stays_so(path, no_compilation):
    model, X = fitted("chain, dense, 0")
    model = pickle.loads(pickle.dumps(model)).calibrate(X, [[0, 1, 0, 1]] * len(X))
    loaded = load(save(model, path) and path)
    assert loaded.temperature_ == model.temperature_
    assert differences(loaded.predict_marginals(X), model.predict_marginals(X)) == []


def test_a_loaded_model_can_be_pickled_and_cloned(path):
    model, X = fitted("dicts")
    loaded = load(save(model, path) and path)
    assert differences(answers(pickle.loads(pickle.dumps(loaded)), X), answers(model, X)) == []
    assert clone(loaded).get_params() == model.get_params()


def test_what_was_not_fitted_stays_so(path):
    loaded = load(save(ChainSVM(lam=0.5), path) and path)
    assert loaded.lam == 0.5 and not loaded.__sklearn_is_fitted__()


@pytest.mark.parametrize("X", [WORDS, ATTRIBUTES])
@pytest.mark.parametrize("encoder", [DictEncoder(), DictEncoder(separator=":", min_count=2), DictHasher(64)])
def test_encoders_come_back(encoder, X, path, no_compilation):
    encoder = clone(encoder).fit(X)
    loaded = load(save(encoder, path) and path)
    assert differences(loaded.transform(X), encoder.transform(X)) == []
    assert differences(vars(loaded), vars(clone(encoder).fit(X))) == ["model: keys"] * isinstance(encoder, DictEncoder)


def test_pipelines_come_back(path, no_compilation):
    pipeline = Pipeline([("features", DictEncoder()), ("model", ChainSVM(lam=0.1, max_passes=50))]).fit(WORDS, LABELS)
    loaded = load(save(pipeline, path) and path)
    assert [name for name, _ in loaded.steps] == ["features", "model"]
    assert differences(loaded.predict(WORDS), pipeline.predict(WORDS)) == []


def test_a_few_look_ups_before_there_is_a_table_find_the_same(no_compilation):
    encoder = DictEncoder().fit(WORDS)
    one_by_one = DictEncoder().fit(WORDS)
    odd = [{"w": "", "n": 0, 7: "odd", "ü": ["a", "zzz"], "b": None if False else True, "w=": "w1"}, {"ü": "b", 7: 3.0}]
    with interpreted():
        encoder._table_of(True), encoder._table_of(False)
        one_by_one._can_wait = lambda keys: True
        for tokens in (odd, WORDS[0], [["w=w1", "ü=a", "7=odd"], ["n"]]):
            assert differences(one_by_one.encode(tokens), encoder.encode(tokens)) == []
