"""scikit-learn faces of networks."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

from deep.tasks import network, proposals, sequences
from maxmargin import BoxSVM, ChainSVM
from maxmargin.deep import Chains, DeepBoxSVM, DeepChainSVM, GradientSteps, ProxLinear, StructuredHinge


@pytest.fixture(autouse=True)
def _interpreted(no_compilation):
    """All batches are tiny."""


def head(n_features=3):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return torch.nn.Sequential(torch.nn.Linear(n_features, 4), torch.nn.ELU(), torch.nn.Linear(4, 1))


class Words(torch.nn.Module):
    """Looks at whole numbers, at lengths, and gives scores of transitions itself."""

    def __init__(self, n_words, n_labels):
        super().__init__()
        self.words, self.pairs = torch.nn.Embedding(n_words, n_labels), torch.nn.Embedding(n_words, n_labels**2)
        self.n_labels = n_labels

    def forward(self, x, lengths):
        assert lengths.shape == (len(x),) and lengths.max() == x.shape[1]
        return self.words(x), self.pairs(x[:, 1:]).reshape(*x[:, 1:].shape, self.n_labels, self.n_labels)


def test_sequences_are_learned():
    X, y = sequences(15, noise=0.1)
    names = [np.array(["c", "a", "b"])[one] for one in y]
    model = DeepChainSVM(network(), 0.001, max_iterations=60, random_state=0).fit(X, names)
    assert model.score(X, names) > 0.9 and model.classes_.tolist() == ["a", "b", "c"]
    assert model.predict(X)[0].tolist() == names[0].tolist()
    labels, scores = model.predict_topk(X, 3)
    assert [one[0].tolist() for one in labels] == [one.tolist() for one in model.predict(X)]
    assert labels[0].shape == (3, len(X[0])) and np.all(np.diff(scores[0]) <= 0)
    shares = model.predict_marginals(X)
    np.testing.assert_allclose(np.concatenate(shares).sum(axis=1), 1.0, rtol=1e-5)
    assert model.history_["objective"][-1] == model.objective_ and model.status_ == "max_iterations"


def test_numbers_of_words_and_transitions_of_the_network():
    X, y = [np.array([0, 1, 2, 1]), np.array([2, 0])], [["a", "b", "b", "a"], ["b", "a"]]
    model = DeepChainSVM(Words, 0.001, method=GradientSteps(rate=0.1), max_iterations=60, random_state=0).fit(X, y)
    assert model.score(X, y) == 1.0 and model.n_features_in_ == 3
    with pytest.raises(ValueError, match="number 3"):
        model.predict([np.array([3])])
    with pytest.raises(ValueError, match="gives scores of transitions itself"):
        model.solve_last_layer(X, y)


def test_boxes_are_found():
    X, y = proposals()
    model = DeepBoxSVM(head(), 0.001, method=GradientSteps(rate=0.05), max_iterations=80, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9 and model.predict(X).shape == (8, 4)
    boxes, scores = model.predict_topk(X, 2)
    np.testing.assert_array_equal(np.array([one[0] for one in boxes]), model.predict(X))
    np.testing.assert_allclose([one[0] for one in scores], model.decision_function(X), rtol=1e-6)


def test_a_linear_head_has_the_objective_of_linear_boxes():
    X, y = proposals()
    best = BoxSVM(0.1, scale=False, tol=1e-5, random_state=0).fit(X, y)
    linear = torch.nn.Linear(3, 1, bias=False)
    method = ProxLinear(eta=1e3, mu=0.01, budget=40, batch_size=8, top_k=10)
    model = DeepBoxSVM(linear, 0.1, method=method, max_iterations=6, dtype="float64", random_state=0).fit(X, y)
    assert best.dual_ <= model.objective_ <= best.primal_ + 1e-3


def test_the_last_layer_is_solved_to_a_certificate():
    X, y = sequences()
    model = DeepChainSVM(network(), 0.05, max_iterations=10, dtype="float64", random_state=0).fit(X, y)
    before, samples = model.objective_, list(model.module_.module.parameters())
    first_layer = samples[0].detach().clone()
    last = model.solve_last_layer(X, y, tol=1e-4)
    assert isinstance(last, ChainSVM) and last.gap_ <= 1e-4
    assert torch.equal(samples[0], first_layer)
    rest = 0.5 * 0.05 * sum(one.square().sum().item() for one in samples[:2])
    value = objective_of(model, X, y)
    assert value == pytest.approx(last.primal_ + rest, abs=1e-9) and value <= before + 1e-4
    hidden = [torch.nn.functional.elu(model.module_.module[0](torch.from_numpy(x))).detach().numpy() for x in X]
    assert [one.tolist() for one in last.predict(hidden)] == [one.tolist() for one in model.predict(X)]


def objective_of(model, X, y):
    """By the definition, sample after sample."""
    total = 0.5 * model.lam_ * sum(one.square().sum().item() for one in model.module_.parameters())
    for x, labels in zip(X, y, strict=True):
        node, edge = model.module_(torch.from_numpy(x)[None], torch.tensor([len(x)]))
        total += StructuredHinge()(Chains(node, edge), torch.from_numpy(labels)[None]).item() / len(X)
    return total


def test_weights_repeat_samples():
    X, y = sequences(4)
    method = GradientSteps("sgd", rate=0.1, batch_size=100)
    weighted = DeepChainSVM(network(), 0.1, method=method, max_iterations=3, dtype="float64")
    weighted.fit(X, y, sample_weight=[1, 3, 1, 0])
    repeated = DeepChainSVM(network(), 0.1, method=method, max_iterations=3, dtype="float64")
    repeated.fit([X[0], X[1], X[1], X[1], X[2]], [y[0], y[1], y[1], y[1], y[2]])
    np.testing.assert_allclose(weighted.history_["objective"], repeated.history_["objective"], rtol=1e-10)


def test_scikit_learn_may_copy_and_search():
    X, y = sequences(8)
    search = GridSearchCV(
        DeepChainSVM(network(), max_iterations=2, method=GradientSteps(), random_state=0),
        {"lam": [0.01, 0.1], "method__rate": [0.01, 0.03]},
        cv=2,
    )
    search.fit(X, y)
    assert search.best_params_.keys() == {"lam", "method__rate"}
    module = network()
    model = clone(DeepChainSVM(module))
    assert model.module is not module
    for one, other in zip(model.module.parameters(), module.parameters(), strict=True):
        assert torch.equal(one, other)


def test_fit_trains_a_copy_and_may_go_on_with_it():
    X, y = sequences(6)
    module = network()
    before = [one.detach().clone() for one in module.parameters()]
    model = DeepChainSVM(module, max_iterations=2, random_state=0).fit(X, y)
    assert all(torch.equal(one, other) for one, other in zip(module.parameters(), before, strict=True))
    first = model.objective_
    again = model.fit(X, y).objective_
    assert again == first
    model.set_params(warm_start=True)
    assert model.fit(X, y).objective_ < first


def test_a_failed_fit_leaves_the_model_as_it_was():
    X, y = sequences(6)
    model = DeepChainSVM(network(), max_iterations=1, random_state=0).fit(X, y)
    expected = [one.tolist() for one in model.predict(X)]
    with pytest.raises(ValueError, match="shorter steps"):
        model.set_params(method=GradientSteps("sgd", rate=1e30), max_iterations=9, lam=1.0).fit(X, y)
    assert [one.tolist() for one in model.predict(X)] == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: [*X[:-1], X[-1][:, :2]], "sample 5: has 2 features"),
        (lambda X: [*X[:-1], X[-1] * np.nan], "sample 5, position 0: features must be finite"),
        (lambda X: [*X[:-1], X[-1][:0]], "sample 5"),
        (lambda X: [*X[:-1], np.arange(3)], "sample 5: has 1 dimensions"),
        (lambda X: [csr_array(one) for one in X], r"toarray\(\)"),
        (lambda X: [], "at least one"),
        (lambda X: X[:-1], "y has 6 label sequences"),
        (lambda X: [one[None] for one in X], "sample 0"),
    ],
)
def test_sequences_that_cannot_be_meant_are_refused(change, message):
    X, y = sequences(6)
    with pytest.raises(ValueError, match=message):
        DeepChainSVM(network(), max_iterations=1).fit(change(X), y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"module": torch.nn.Linear(4, 7)}, "as many outputs as there are labels"),
        ({"module": torch.nn.Flatten()}, "must give scores of shape"),
        ({"module": "LSTM"}, "torch.nn.Module or a function"),
        ({"module": lambda n_features, n_labels: None}, "must make a torch.nn.Module"),
        ({"lam": -1.0}, "lam"),
        ({"dtype": "float16"}, "dtype"),
        ({"loss": "squared"}, "loss"),
        ({"method": "adam"}, "method"),
        ({"max_iterations": 0}, "max_iterations"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused(options, message):
    X, y = sequences(3)
    with pytest.raises(ValueError, match=message):
        DeepChainSVM(**{"module": network(), "max_iterations": 1, **options}).fit(X, y)


def test_heads_that_do_not_fit_are_refused():
    X, y = proposals()
    with pytest.raises(ValueError, match="must have one output"):
        DeepBoxSVM(torch.nn.Linear(3, 2)).fit(X, y)
    with pytest.raises(ValueError, match="got none"):
        DeepBoxSVM(head()).fit([], [])
    with pytest.raises(ValueError, match="must be Proposals"):
        DeepBoxSVM(head()).fit([np.zeros((4, 4), int)] * 2, [(0, 0, 1, 1)] * 2)


def test_a_module_that_does_not_end_with_a_linear_layer_is_refused():
    X, y = sequences()
    module = torch.nn.Sequential(network(), torch.nn.Tanh())
    model = DeepChainSVM(module, max_iterations=1).fit(X, y)
    with pytest.raises(ValueError, match="must end with a"):
        model.solve_last_layer(X, y)


def test_nothing_comes_of_nothing():
    X, y = sequences(3)
    model = DeepChainSVM(network(), max_iterations=1).fit(X, y)
    assert model.predict([]) == [] and model.predict_marginals([]) == []
    boxes, true = proposals(3)
    assert DeepBoxSVM(head(), max_iterations=1).fit(boxes, true).predict([]).shape == (0, 4)


def test_the_last_layer_needs_regularisation():
    X, y = sequences()
    model = DeepChainSVM(network(), 0.0, max_iterations=1).fit(X, y)
    with pytest.raises(ValueError, match="lam"):
        model.solve_last_layer(X, y)
    assert model.solve_last_layer(X, y, lam=0.1).gap_ <= 0.011


def test_nothing_is_predicted_before_a_fit():
    with pytest.raises(NotFittedError):
        DeepChainSVM(network()).predict([np.zeros((2, 4))])
    with pytest.raises(NotFittedError):
        DeepBoxSVM(head()).predict(proposals()[0])


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("method", [None, ProxLinear(budget=1)])
def test_networks_are_trained_on_a_gpu(method):
    X, y = sequences()
    model = DeepChainSVM(network(), method=method, max_iterations=2, device="cuda", random_state=0).fit(X, y)
    assert model.module_.transitions.device.type == "cuda" and len(model.predict(X)) == len(X)
