"""The life of a run: seeds, stops, checkpoints."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deep.tasks import network, sequences
from deep.training.test_prox_linear import make_risk
from maxmargin.deep import DeepChainSVM, GradientSteps, ProxLinear, train
from maxmargin.solvers import CheckpointError

METHODS = {
    "prox-linear": lambda: ProxLinear(budget=2, batch_size=3),
    "adam": lambda: GradientSteps("adam", batch_size=3),
    "sgd": lambda: GradientSteps("sgd", batch_size=3, schedule="sqrt"),
}
EACH = pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)


@pytest.fixture(autouse=True)
def _interpreted(no_compilation):
    """All batches are tiny."""


def dropout():
    return torch.nn.Sequential(network(), torch.nn.Dropout(0.3), torch.nn.Linear(3, 3))


@EACH
def test_the_same_seed_is_the_same_run(make):
    runs = []
    for seed in (0, 0, 1):
        torch.manual_seed(seed + len(runs))  # what others draw does not matter
        risk = make_risk(module=network())
        train(make(), risk, max_iterations=3, random_state=seed)
        runs.append(risk.weights())
    assert torch.equal(runs[0], runs[1]) and not torch.equal(runs[0], runs[2])


@EACH
def test_a_run_that_was_cut_off_goes_on_where_it_was(make, tmp_path):
    torch.manual_seed(0)
    module = dropout()
    X, y = sequences(6)

    def fit(n, path):
        model = DeepChainSVM(module, 0.1, method=make(), max_iterations=n, random_state=3, checkpoint=path)
        return model.fit(X, y)

    whole = fit(5, None)
    for n in (2, 3, 5):
        parts = fit(n, tmp_path / "run.npz")
    assert parts.history_["objective"].tolist() == whole.history_["objective"].tolist()
    assert parts.n_oracle_calls_ == whole.n_oracle_calls_
    for one, other in zip(parts.module_.parameters(), whole.module_.parameters(), strict=True):
        assert torch.equal(one, other)


def test_the_checkpoint_of_another_run_is_refused(tmp_path):
    X, y = sequences(6)
    path = tmp_path / "run.npz"
    DeepChainSVM(network(), 0.1, max_iterations=1, checkpoint=path).fit(X, y)
    with pytest.raises(CheckpointError, match="lam"):
        DeepChainSVM(network(), 0.2, max_iterations=1, checkpoint=path).fit(X, y)
    with pytest.raises(CheckpointError, match="data"):
        DeepChainSVM(network(), 0.1, max_iterations=1, checkpoint=path).fit(X[::-1], y[::-1])


def test_callbacks_and_clocks_stop_runs():
    seen = []

    def second(row):
        seen.append(row["iteration"])
        return len(seen) == 2

    assert train(GradientSteps(), make_risk(), max_iterations=9, callback=second).status == "callback"
    assert seen == [1.0, 2.0]
    assert train(GradientSteps(), make_risk(), max_iterations=9, max_seconds=1e-9).status == "max_seconds"


def test_an_interrupted_run_keeps_what_it_has():
    def stop(row):
        raise KeyboardInterrupt

    trained = train(GradientSteps(), make_risk(), max_iterations=9, callback=stop)
    assert trained.status == "interrupted" and len(trained.history["objective"]) == 1


def test_progress_is_shown(capsys):
    train(GradientSteps(), make_risk(), max_iterations=2, verbose=1)
    assert "objective=" in capsys.readouterr().err


@pytest.mark.parametrize("options", [{"max_iterations": 0}, {"tol": -1.0}, {"max_seconds": 0.0}])
def test_what_cannot_be_meant_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        train(GradientSteps(), make_risk(), **options)


def test_the_state_of_others_is_left_alone():
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    before = np.random.get_state()[1].copy()
    train(GradientSteps(), make_risk(), max_iterations=1, random_state=0)
    assert torch.equal(torch.rand(3), expected) and np.array_equal(before, np.random.get_state()[1])
