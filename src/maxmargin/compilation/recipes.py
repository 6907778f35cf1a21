"""What is run so that its kernels are compiled: every model on tiny data, by kinds that kernels differ in.

Kernels are compiled for kinds of features (dense, sparse, behind a kernel), of edges and of solvers, not for sizes,
dtypes or layouts, which estimators make one. A *task* is a model with one kind of data: tasks share no large kernel, so
that processes can work on them side by side.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from .. import estimators
from ..solvers.presets import PRESETS, get_solver
from ..structures import as_problem
from ..structures.verbs import offers

SOLVERS = tuple(PRESETS)

# With the smallest, "auto" is accelerated; the largest is so easy that it is not.
LAMS = (None, 1e-3, 1e3)

QUESTIONS: dict[str, tuple[Any, ...]] = {
    "predict": (),
    "decision_function": (),
    "predict_topk": (2,),
    "predict_marginals": (),
    "relaxation": (),
}

N, LENGTH, F, K = 6, 4, 3, 2
MANY = 12  # labels, with a single feature: there the oracle costs so much that "auto" takes other parts
PARENTS = [-1, 0, 0, 1]
RING = [(0, 1), (1, 2), (2, 3), (3, 0)]


def follow_path(estimator: Any, X: Any, y: Any) -> None:
    estimators.regularization_path(estimator, X, y, eps=0.5, lam_min=0.1)


class Case(NamedTuple):
    """A model with its data, the solvers that have kernels of their own there, and what else is done."""

    estimator: Any
    X: Any
    y: Any
    solvers: tuple[str, ...] = SOLVERS
    further: Callable[[Any, Any, Any], Any] = follow_path


def by_cost(estimator: Any, make_samples: Callable[[list], list], further: Any = follow_path) -> Iterator[Case]:
    """Samples around nodes, whose oracle costs little, and whose oracle costs a lot, where "auto" takes other parts."""
    yield Case(estimator, make_samples(nodes()), labels(), further=further)
    yield Case(estimator, make_samples(nodes(1)), labels(MANY), solvers=("auto",))


def labels(n_labels: int = K) -> list[np.ndarray]:
    return list(np.resize(np.arange(n_labels), (N, LENGTH)))


def nodes(n_features: int = F) -> list[np.ndarray]:
    """Positive numbers, as edges of cuts need them."""
    return list(np.random.default_rng(0).random((N, LENGTH, n_features)) + 0.1)


def as_sparse(samples: list[np.ndarray]) -> list[Any]:
    return [sp.csr_matrix(one) for one in samples]


def cross_validated(cls: Any) -> Callable[[Any, Any, Any], Any]:
    def choose_lam(estimator: Any, X: Any, y: Any) -> None:
        follow_path(estimator, X, y)
        cls(cv=2, lams=(1.0, 0.1), max_passes=3, random_state=0).fit(X, y).predict(X)

    return choose_lam


CHAIN_CV, MULTICLASS_CV = cross_validated(estimators.ChainSVMCV), cross_validated(estimators.MulticlassSVMCV)


def chains(convert: Callable[[list], list] = list) -> Iterator[Case]:
    return by_cost(estimators.ChainSVM(), convert, CHAIN_CV)


def random_fields(estimator: Any, make_samples: Callable[[list], list] = list) -> Iterator[Case]:
    yield Case(estimator, make_samples(nodes()), labels(), further=fit_field)


def fit_field(estimator: Any, X: Any, y: Any) -> None:
    follow_path(estimator, X, y)
    clone(estimator).set_params(l1=0.01).fit(X, y)
    clone(estimator).set_params(lam="cv").fit(X, y)


def chains_of_dicts() -> Iterator[Case]:
    yield from chains(as_sparse)
    words = [[{"word": f"w{k}", "length": 1.0 + k} for k in one] for one in labels(3)]
    yield Case(estimators.ChainSVM(), words, labels(), solvers=("auto",))


def chains_with_edges(convert: Callable[[list], list] = list) -> Iterator[Case]:
    edges = [x[1:] for x in nodes(2)]
    return by_cost(estimators.ChainSVM(), lambda samples: list(zip(convert(samples), edges, strict=True)))


def chain_fields(convert: Callable[[list], list] = list, n_edge_features: int = 0) -> Iterator[Case]:
    if not n_edge_features:
        return random_fields(estimators.ChainCRF(), convert)
    edges = [x[1:, :n_edge_features] for x in nodes()]
    return random_fields(estimators.ChainCRF(), lambda samples: list(zip(convert(samples), edges, strict=True)))


def chains_by_kernel() -> Iterator[Case]:
    yield Case(estimators.ChainSVM(kernel="rbf"), nodes(), labels())


def classes(convert: Callable[[np.ndarray], Any] = np.asarray, **parameters: Any) -> Iterator[Case]:
    X, y = convert(np.vstack(nodes())), np.hstack(labels())
    yield Case(estimators.MulticlassSVM(**parameters), X, y, further=follow_path if parameters else MULTICLASS_CV)


def label_sets(convert: Callable[[np.ndarray], Any] = np.asarray, **parameters: Any) -> Iterator[Case]:
    X = convert(np.vstack(nodes()))
    yield Case(estimators.MultilabelSVM(**parameters), X, np.arange(3 * X.shape[0]).reshape(-1, 3) % 2)


def trees(convert: Callable[[list], list] = list, n_edge_features: int = 0) -> Iterator[Case]:
    return by_cost(estimators.TreeSVM(), _with_links(PARENTS, convert, n_edge_features))


def graphs(inference: str, convert: Callable[[list], list] = list, n_edge_features: int = 0) -> Iterator[Case]:
    estimator, make_samples = estimators.GraphSVM(inference=inference), _with_links(RING, convert, n_edge_features)
    if inference == "cut":  # is for two labels
        return iter([Case(estimator, make_samples(nodes()), labels())])
    return by_cost(estimator, make_samples)


def node_fields(
    cls: Any, links: list, convert: Callable[[list], list] = list, n_edge_features: int = 0
) -> Iterator[Case]:
    return random_fields(cls(), _with_links(links, convert, n_edge_features))


def _with_links(links: list, convert: Callable[[list], list], n_edge_features: int) -> Callable[[list], list]:
    features = [[x[:, :n_edge_features] for x in nodes()]] if n_edge_features else []
    return lambda samples: list(zip(convert(samples), [links] * N, *features, strict=True))


def matchings() -> Iterator[Case]:
    pairs = np.argwhere(np.ones((2, 2)))
    X = np.random.default_rng(0).random((N, 2, 2, F))
    y = [[(0, i % 2), (1, (i + 1) % 2)] for i in range(N)]
    yield Case(estimators.MatchingSVM(), list(X), y)
    for convert in (np.asarray, sp.csr_matrix):
        candidates = [estimators.Bipartite(2, 2, pairs, convert(x.reshape(-1, F))) for x in X]
        yield Case(estimators.MatchingSVM(), candidates, y)


def boxes() -> Iterator[Case]:
    rng, y = np.random.default_rng(0), [(0, 0, 2, 2)] * N
    yield Case(estimators.BoxSVM(), list(rng.integers(4, size=(N, 3, 4))), y)
    yield Case(estimators.BoxSVM(), list(rng.random((N, 3, 4, F))), y)
    proposed = np.array([(0, 0, 2, 2), (1, 0, 3, 2), (0, 1, 2, 3)])
    yield Case(estimators.BoxSVM(), [estimators.Proposals(proposed, rng.random((3, F))) for _ in range(N)], y)


def poses() -> Iterator[Case]:
    X = list(np.random.default_rng(0).random((N, 3, 4, F)))
    yield Case(estimators.PoseSVM(parents=[1, -1, 1], n_types=2), X, [[(0, 0), (1, 1), (2, 1)]] * N)
    yield Case(estimators.PoseSVM(parents=[-1]), X, [[(1, 1)]] * N, solvers=("auto",))  # no springs, no bounds


def by_features(make_cases: Callable[..., Iterator[Case]]) -> dict[str, Callable[[], Iterator[Case]]]:
    return {
        "dense": make_cases,
        "sparse": partial(make_cases, as_sparse),
        "edge features": partial(make_cases, n_edge_features=2),
        "sparse, edge features": partial(make_cases, as_sparse, n_edge_features=2),
    }


RECIPES: dict[str, dict[str, Callable[[], Iterator[Case]]]] = {
    "chain": {
        "dense": chains,
        "sparse": chains_of_dicts,
        "edge features": chains_with_edges,
        "sparse, edge features": lambda: chains_with_edges(as_sparse),
        "kernel": chains_by_kernel,
    },
    "multiclass": {
        "dense": classes,
        "sparse": lambda: classes(sp.csr_matrix),
        "kernel": lambda: classes(kernel="rbf"),
    },
    "multilabel": {
        "dense": label_sets,
        "sparse": lambda: label_sets(sp.csr_matrix),
        "interactions": lambda: label_sets(interactions="pairwise"),
        "interactions, lp": lambda: label_sets(interactions="pairwise", inference="lp"),
    },
    "tree": by_features(trees),
    "graph": {
        "dense": lambda: graphs("junction"),
        "sparse": lambda: graphs("junction", as_sparse),
        "edge features": lambda: graphs("junction", n_edge_features=2),
        "sparse, edge features": lambda: graphs("junction", as_sparse, n_edge_features=2),
        "cut": lambda: graphs("cut", n_edge_features=2),
        "cut, sparse": lambda: graphs("cut", as_sparse, n_edge_features=2),
        "lp": lambda: graphs("lp"),
        "lp, sparse": lambda: graphs("lp", as_sparse),
        "lp, edge features": lambda: graphs("lp", n_edge_features=2),
    },
    "chain_crf": by_features(chain_fields),
    "tree_crf": by_features(partial(node_fields, estimators.TreeCRF, PARENTS)),
    "graph_crf": by_features(partial(node_fields, estimators.GraphCRF, RING)),
    "matching": {"all": matchings},
    "box": {"all": boxes},
    "pose": {"all": poses},
}


class Task(NamedTuple):
    """A model with one kind of data, and the solvers to run on it."""

    model: str
    kind: str
    solvers: tuple[str, ...]


def run_task(task: Task) -> list[str]:
    """Fit and ask; the answer are those solvers that the model refuses."""
    refused: set[str] = set()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing converges in so few passes
        for case in RECIPES[task.model][task.kind]():
            refused.update(_run_case(case, task.solvers))
    return sorted(refused)


def _run_case(case: Case, solvers: Sequence[str]) -> Iterator[str]:
    for solver in (one for one in case.solvers if one in solvers):
        estimator = clone(case.estimator).set_params(solver=solver, tol=1e-6, max_passes=3, random_state=0)
        if not takes(estimator, case):
            yield solver
            continue
        for lam in LAMS:
            model = clone(estimator).set_params(lam=lam).fit(case.X, case.y)
        _ask(model, case)
        if solver == "auto":
            case.further(estimator, case.X, case.y)


def takes(estimator: Any, case: Case) -> bool:
    """Whether the model has what the solver needs, such as expectations, and the solver keeps the model's bounds."""
    encoded = estimator.encode(case.X, case.y)
    solver = get_solver(estimator.solver, encoded.problem)
    keeps_bounds = encoded.positive is None or "positive" in solver.get_params()
    return keeps_bounds and solver.requires() <= offers(as_problem(encoded.problem))


def _ask(model: Any, case: Case) -> None:
    for name, arguments in QUESTIONS.items():
        if hasattr(model, name):
            getattr(model, name)(case.X, *arguments)
    if hasattr(model, "log_likelihood"):
        model.log_likelihood(case.X, case.y)
