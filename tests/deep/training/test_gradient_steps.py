"""Stochastic steps by the optimisers of PyTorch."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deep.training.test_prox_linear import make_risk
from maxmargin.deep import GradientSteps, train


@pytest.fixture(autouse=True)
def _interpreted(no_compilation):
    """All batches are tiny."""


@pytest.mark.parametrize(("schedule", "power"), [("constant", 0.0), ("sqrt", 0.5), ("linear", 1.0)])
def test_subgradient_steps_are_those_of_the_definition(schedule, power):
    risk, own = make_risk(0.2), make_risk(0.2)
    train(GradientSteps("sgd", rate=0.3, schedule=schedule, batch_size=6), risk, max_iterations=3, random_state=0)
    everything = np.arange(6)
    for t in range(1, 4):
        value = own.hinge(own.outputs(everything), everything, None)
        gradients = torch.autograd.grad(value, list(own.trained.values()))
        flat = torch.cat([one.reshape(-1) for one in gradients])
        w = own.weights()
        own.take(w - 0.3 / t**power * (flat + 0.2 * w))
    torch.testing.assert_close(risk.weights(), own.weights(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("optimizer", ["adam", "sgd", torch.optim.AdamW])
def test_they_learn(optimizer):
    risk = make_risk(0.01)
    first = risk.value()
    trained = train(GradientSteps(optimizer, rate=0.03, batch_size=3), risk, max_iterations=15, random_state=0)
    assert trained.history["objective"][-1] < 0.7 * first
    assert trained.history["oracle_calls"].tolist() == [6.0 * k for k in range(1, 16)]


def test_smoothed_hinges_may_be_followed():
    for smoothing in ("l2", "entropy"):
        risk = make_risk(0.01)
        first = risk.value()
        train(GradientSteps("adam", 0.03, smoothing=smoothing, mu=0.1), risk, max_iterations=10, random_state=0)
        assert risk.value() < first


@pytest.mark.parametrize(
    "options", [{"rate": 0.0}, {"rate": np.nan}, {"schedule": "slow"}, {"batch_size": 0}, {"optimizer": "newton"}]
)
def test_what_cannot_be_meant_is_refused(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        GradientSteps(**options).start(make_risk(), np.random.default_rng(0))
