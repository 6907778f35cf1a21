"""Prox-linear steps: the linear model, the convex case, what a run promises."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deep.tasks import network, sequences
from maxmargin import ChainSVM
from maxmargin.deep import DeepChainSVM, GradientSteps, ProxLinear, Risk, train
from maxmargin.deep.estimators.samples import ChainSamples
from maxmargin.deep.estimators.scorers import ChainScorer
from maxmargin.deep.training.linearized import LinearModel, without_fused_kernels
from maxmargin.structures import EntropySmoothing, L2Smoothing


@pytest.fixture(autouse=True)
def _interpreted(request):
    if "compiled" not in request.node.name:
        request.getfixturevalue("no_compilation")


def make_risk(lam=0.1, n=6, module=None):
    X, y = sequences(n)
    samples = ChainSamples(X, y, np.ones(n), torch.device("cpu"), torch.float64)
    return Risk(ChainScorer(module or network(), 3, gives_edges=False).double(), samples, lam)


@pytest.mark.parametrize("smoothing", [EntropySmoothing(0.3), L2Smoothing(0.3, 5)])
def test_the_gradient_of_the_model_is_that_of_finite_differences(smoothing):
    risk = make_risk()
    torch.manual_seed(0)
    w = risk.weights() + 0.3 * torch.randn_like(risk.weights())
    model = LinearModel(risk, w, 2.0, smoothing)
    v, parts = 0.1 * torch.randn_like(w), [np.arange(4), np.arange(4, 6)]
    snapshot = model.snapshot(v, parts)
    gradient = snapshot.gradient + model.pull(v)
    for _ in range(5):
        along, eps = torch.randn_like(v), 1e-5
        up, down = (model.snapshot(v + sign * eps * along, parts).value for sign in (1.0, -1.0))
        assert (up - down) / (2 * eps) == pytest.approx(float(along @ gradient), rel=1e-5, abs=1e-7)


def test_at_its_centre_the_model_is_the_objective_to_first_order():
    risk, smoothing = make_risk(), EntropySmoothing(0.5)
    w = risk.weights()
    model, nowhere = LinearModel(risk, w, 1.0, smoothing), torch.zeros_like(w)
    snapshot = model.snapshot(nowhere, [np.arange(6)])
    value = risk.hinge(risk.outputs(np.arange(6)), np.arange(6), smoothing)
    value = value + 0.5 * risk.lam * sum(one.square().sum() for one in risk.trained.values())
    gradients = torch.autograd.grad(value, list(risk.trained.values()))
    flat = torch.cat([one.reshape(-1) for one in gradients])
    torch.testing.assert_close(snapshot.gradient + model.pull(nowhere), flat, rtol=0, atol=1e-12)
    assert snapshot.value == pytest.approx(value.item(), abs=1e-12)


def test_the_change_since_a_snapshot_is_a_difference_of_gradients():
    risk = make_risk()
    w = risk.weights()
    model, parts = LinearModel(risk, w, 1.0, L2Smoothing(0.2, 5)), [np.arange(3), np.arange(3, 6)]
    torch.manual_seed(1)
    v = 0.3 * torch.randn_like(w)
    before, after = model.snapshot(torch.zeros_like(w), parts), model.snapshot(v, parts)
    changes = sum(model.change(block, v) for block in before.blocks)
    torch.testing.assert_close(changes, after.gradient - before.gradient, rtol=0, atol=1e-12)


def test_compiled_linear_networks_reach_the_certified_optimum():
    X, y = sequences(20)
    best = ChainSVM(0.5, loss="hamming", scale=False, tol=1e-6, random_state=0).fit(X, y)
    method = ProxLinear(eta=1e3, mu=0.01, budget=150, batch_size=20)
    module = torch.nn.Linear(4, 3)
    model = DeepChainSVM(module, 0.5, method=method, max_iterations=10, dtype="float64", random_state=0).fit(X, y)
    assert best.dual_ <= model.objective_ <= best.primal_ + 1e-4


@pytest.mark.parametrize(
    "method",
    [
        ProxLinear(budget=2, batch_size=3),
        ProxLinear("svrg", budget=2, batch_size=3),
        ProxLinear(eta=1e4, mu=0.5, mu_schedule="constant", budget=1, batch_size=2),  # far too bold
        ProxLinear(smoothing="entropy", mu=0.3, budget=2, batch_size=6),
        ProxLinear(lipschitz=10.0, warm_start="extrapolation", budget=3, batch_size=3),
        ProxLinear(warm_start="previous", budget=3, batch_size=3),
    ],
    ids=["casimir", "svrg", "bold", "entropy", "given", "previous"],
)
def test_the_objective_never_rises(method):
    risk = make_risk(0.05)
    first = risk.value()
    trained = train(method, risk, max_iterations=5, random_state=0)
    objectives = np.concatenate([[first], trained.history["objective"]])
    assert np.all(np.diff(objectives) <= 0.0) and objectives[-1] < first
    assert risk.value() == pytest.approx(objectives[-1], abs=1e-12)
    assert np.all(trained.history["prox_gradient"] >= 0.0)
    refused = trained.history["taken"][:-1] == 0.0
    assert np.all(np.diff(trained.history["eta"])[refused] < 0.0)


def test_oracle_calls_are_counted():
    risk = make_risk()
    trained = train(ProxLinear(eta=1.0, mu=0.5, budget=2, batch_size=2, lipschitz=5.0), risk, max_iterations=1)
    # two epochs of a full gradient and of steps on all batches but one, and the objective at the end
    assert trained.history["oracle_calls"][0] == 2 * (6 + 4) + 6


def test_it_stops_at_a_stationary_point():
    risk = make_risk(5.0)
    trained = train(ProxLinear(eta=10.0, mu=0.01, budget=30, batch_size=6), risk, max_iterations=50, tol=1e-2)
    assert trained.status == "converged" and len(trained.history["objective"]) < 50


def test_smoothing_fades_or_stays():
    for schedule, expected in {"adaptive": [0.6, 0.3, 0.2], "constant": [0.6, 0.6, 0.6]}.items():
        method = ProxLinear(mu=0.6, mu_schedule=schedule, budget=1, batch_size=6)
        np.testing.assert_allclose(train(method, make_risk(), max_iterations=3).history["mu"], expected)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "Conv1d"])
def test_recurrent_and_convolutional_networks_are_linearised(kind):
    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            if kind == "Conv1d":
                self.layer = torch.nn.Conv1d(4, 6, 3, padding=1)
            else:
                self.layer = getattr(torch.nn, kind)(4, 3, bidirectional=True, batch_first=True)
            self.last = torch.nn.Linear(6, 3)

        def forward(self, x):
            given = self.layer(x.transpose(1, 2)).transpose(1, 2) if kind == "Conv1d" else self.layer(x)[0]
            return self.last(given)

    risk = make_risk(module=Tagger())
    trained = train(ProxLinear(budget=1, batch_size=6), risk, max_iterations=2, random_state=0)
    assert len(trained.history["objective"]) == 2
    with without_fused_kernels():
        assert not torch.backends.mkldnn.enabled


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inner_solver": "newton"}, "inner_solver"),
        ({"eta": 0.0}, "eta"),
        ({"mu": -1.0}, "mu"),
        ({"mu_schedule": "fast"}, "mu_schedule"),
        ({"budget": 0}, "budget"),
        ({"smoothing": None}, "smoothing"),
        ({"batch_size": 0}, "batch_size"),
        ({"lipschitz": np.inf}, "lipschitz"),
        ({"warm_start": "there"}, "warm_start"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        ProxLinear(**options).start(make_risk(), np.random.default_rng(0))


def test_networks_without_weights_are_refused():
    module = torch.nn.Linear(4, 3)
    for one in module.parameters():
        one.requires_grad_(False)
    X, y = sequences(2)
    samples = ChainSamples(X, y, np.ones(2), torch.device("cpu"), torch.float64)
    with pytest.raises(ValueError, match="no weights to train"):
        Risk(module, samples, 0.1)


def test_an_objective_that_is_no_number_ends_the_run():
    with pytest.raises(ValueError, match="take shorter steps"):
        train(GradientSteps("sgd", rate=1e30), make_risk(1.0), max_iterations=20)
