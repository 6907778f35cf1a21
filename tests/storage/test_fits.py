"""Models of samples on disk are those of the same samples in memory."""

import numpy as np
import pytest

from maxmargin import ChainCRF, ChainSVM
from maxmargin.solvers import BlockFrankWolfe, Ranges
from maxmargin.storage import open_samples

from .cases import sequences, sparse_sequences, stored

pytestmark = pytest.mark.usefixtures("no_compilation")
SMALL = 24_000  # bytes, for which 24 sequences are several windows


def n_windows(samples, solver="auto"):
    encoded = ChainSVM(lam=0.1).encode(samples, None)
    return len(encoded.solver(solver).start(encoded.problem, 0.1, None, 0, None).cuts) - 1


@pytest.mark.parametrize("make", [sequences, sparse_sequences])
@pytest.mark.parametrize("parameters", [{"lam": 0.1}, {"lam": None}, {"lam": 0.1, "class_weight": "balanced"}])
def test_the_problem_is_that_of_samples_in_memory(tmp_path, make, parameters):
    X, y = make(length=None)
    samples, weight = stored(tmp_path, X, y), np.linspace(1.0, 3.0, len(X))
    ours = ChainSVM(**parameters).encode(samples, None, sample_weight=weight)
    theirs = ChainSVM(**parameters).encode(X, y, sample_weight=weight)
    assert ours.units.lam == pytest.approx(theirs.units.lam, nan_ok=True)
    window, whole = ours.problem.window(0, len(X)), theirs.problem
    for name in ("labels", "cost", "loss_scale", "weight", "gram", "gram_offsets"):
        assert np.allclose(getattr(window, name), getattr(whole, name), rtol=1e-12), name
    for mine, other in zip(window.sites.rows, whole.sites.rows, strict=True):
        assert np.allclose(mine, other, rtol=1e-12)


@pytest.mark.parametrize("solver", ["fw", "pairwise", "averaged", "auto"])
def test_windows_lead_to_the_same_optimum(tmp_path, monkeypatch, solver):
    monkeypatch.setattr("maxmargin.structures.on_disk.chains.RUN_BYTES", 500)
    X, y = sequences()
    samples = stored(tmp_path, X, y, memory_limit=SMALL)
    assert n_windows(samples) > 4
    given = {
        "fw": BlockFrankWolfe("ranges"),
        "pairwise": BlockFrankWolfe("ranges", step="pairwise"),
        "averaged": BlockFrankWolfe("ranges", "weighted"),
        "auto": "auto",
    }[solver]
    model = ChainSVM(lam=0.1, solver=given, tol=0.02, random_state=0).fit(samples)
    exact = ChainSVM(lam=0.1, tol=1e-4, random_state=0).fit(X, y)
    assert model.status_ == "converged" and model.gap_ <= 0.02
    assert model.dual_ <= exact.primal_ and model.primal_ >= exact.dual_
    primal = ChainSVM(lam=0.1).encode(X, y).problem
    hinge = BlockFrankWolfe().start(primal, 0.1, None, 0, None).hinge_loss(flat(model))
    assert model.primal_ == pytest.approx(0.05 * np.sum(flat(model) ** 2) + hinge, rel=1e-9)


def flat(model):
    return model._weights.laid_out(model._weights.layout)


def test_windows_are_runs_from_all_over_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("maxmargin.structures.on_disk.chains.RUN_BYTES", 500)
    X, y = sparse_sequences(length=None)
    weight = np.linspace(1.0, 3.0, len(X))
    ours = ChainSVM(lam=0.1).encode(stored(tmp_path, X, y), None, sample_weight=weight).problem
    places = ours.places
    assert sorted(places.tolist()) == list(range(len(X))) != places.tolist()
    assert 2 < np.sum(np.diff(places) == 1) < len(X) - 4
    some = places[5:17]
    theirs = ChainSVM(lam=0.1).encode([X[i] for i in some], [y[i] for i in some], sample_weight=weight[some]).problem
    window = ours.window(5, 17)
    for name in ("labels", "loss_scale", "gram", "gram_offsets"):
        assert np.allclose(getattr(window, name), getattr(theirs, name)), name
    assert np.allclose(window.weight / window.weight.sum(), theirs.weight)
    for mine, other in zip(window.sites.rows, theirs.sites.rows, strict=True):
        assert np.array_equal(mine, other)


@pytest.mark.parametrize("averaging", [None, "weighted"])
def test_steps_are_those_of_the_same_ranges_in_memory(tmp_path, averaging):
    X, y = sequences(n=24, length=3)
    folder, solver = stored(tmp_path, X, y).folder, BlockFrankWolfe("ranges", averaging)
    limits = (open_samples(folder, memory_limit=limit) for limit in range(12_500, 60_000, 250))
    samples = next(one for one in limits if n_windows(one, solver) in (6, 8, 12))  # all of one size
    size = 24 // n_windows(samples, solver)
    mine, other = (
        ChainSVM(lam=0.1, solver=BlockFrankWolfe(ranges, averaging), tol=1e-9, max_passes=20, random_state=3)
        for ranges in ("ranges", Ranges(size))
    )
    with pytest.warns(Warning, match="passes"):
        mine.fit(samples)
    with pytest.warns(Warning, match="passes"):
        other.fit(X, y)
    assert np.allclose(flat(mine), flat(other), rtol=1e-9, atol=1e-12)
    assert mine.history_["dual"] == pytest.approx(other.history_["dual"])


def test_predictions_and_scores_are_those_of_all_samples(tmp_path):
    X, y = sequences(length=None)
    samples = stored(tmp_path, X, y, memory_limit=SMALL)
    model = ChainSVM(random_state=0).fit(X, y)
    assert [one.tolist() for one in model.predict(samples)] == [one.tolist() for one in model.predict(X)]
    weight = np.arange(len(X), dtype=float)
    assert model.score(samples, sample_weight=weight) == pytest.approx(model.score(X, y, weight))


def test_other_questions_are_asked_batch_by_batch(tmp_path):
    X, y = sequences()
    samples, model = stored(tmp_path, X, y), ChainSVM(random_state=0).fit(X, y)
    with pytest.raises(TypeError, match=r"samples\.batches\(\)"):
        model.decision_function(samples)


def test_threads_change_nothing(tmp_path):
    X, y = sequences()
    samples = stored(tmp_path, X, y, memory_limit=SMALL)
    one, two = (ChainSVM(lam=0.1, tol=0.05, random_state=5, n_jobs=n_jobs).fit(samples) for n_jobs in (1, 2))
    assert np.array_equal(flat(one), flat(two)) and one.gap_ == two.gap_


def test_feature_dicts_can_be_predicted_afterwards(tmp_path):
    X, y = [[{"w": "the"}, {"w": "cat"}], [{"w": "a"}, {"w": "dog"}]] * 3, [["D", "N"]] * 6
    samples = stored(tmp_path, X, y)
    assert ChainSVM(random_state=0).fit(samples).predict(X[:1])[0].tolist() == ["D", "N"]


def test_the_same_seed_is_the_same_run(tmp_path):
    X, y = sequences()
    samples = stored(tmp_path, X, y, memory_limit=SMALL)
    first, second = (ChainSVM(lam=0.1, random_state=5).fit(samples) for _ in range(2))
    assert np.array_equal(flat(first), flat(second))


def test_nothing_is_left_in_the_folder(tmp_path):
    X, y = sequences()
    samples = stored(tmp_path, X, y, memory_limit=SMALL)
    before = {path.name for path in samples.folder.iterdir()}
    ChainSVM(lam=0.1, random_state=0).fit(samples)
    assert {path.name for path in samples.folder.iterdir()} == before


@pytest.mark.parametrize(
    ("model", "given", "error", "message"),
    [
        (ChainSVM(solver="fw"), {}, TypeError, "samples in memory.*take solver='auto'"),
        (ChainSVM(solver="bcfw"), {}, TypeError, "sampling='ranges'"),
        (ChainSVM(solver="gdmm"), {}, TypeError, "samples in memory"),
        (ChainSVM(kernel="rbf"), {}, ValueError, "kernel=None"),
        (ChainCRF(), {}, TypeError, "take ChainSVM"),
        (ChainSVM(), {"y": [["a"]]}, ValueError, "leave y"),
        (ChainSVM(), {"lengths": [1]}, ValueError, "leave y and lengths out"),
        (ChainSVM(), {"sample_weight": [0.0] + [1.0] * 23}, ValueError, "must be > 0"),
        (ChainSVM(lam="cv"), {}, TypeError, "on disk"),
        (ChainSVM(checkpoint="run.npz"), {}, ValueError, "scratch folder"),
        (ChainSVM(transition_mask="bio"), {}, ValueError, "bio"),
    ],
)
def test_what_cannot_be_is_refused(tmp_path, monkeypatch, model, given, error, message):
    monkeypatch.chdir(tmp_path)
    X, y = sequences()
    samples = stored(tmp_path, X, y)
    with pytest.raises(error, match=message):
        model.fit(samples, **given)


def test_too_little_memory_says_how_much_would_do(tmp_path):
    X, y = sequences()
    with pytest.raises(MemoryError, match="MB would just do"):
        ChainSVM(lam=0.1).fit(stored(tmp_path, X, y, memory_limit=1000))


def test_partial_fit_is_refused(tmp_path):
    X, y = sequences()
    with pytest.raises((TypeError, ValueError), match="on disk"):
        ChainSVM(lam=0.1).partial_fit(stored(tmp_path, X, y), None)
