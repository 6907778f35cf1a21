"""Small data for models along paths."""

import inspect

import numpy as np

from maxmargin import ChainSVM, regularization_path

NAMES = np.array(["ant", "bee", "cat"])


def make_data(cls, n=8, seed=0):
    """Noisy data, as the estimator takes them."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, 3)) for length in rng.integers(1, 4, size=n)]
    y = [NAMES[np.argmax(x + rng.normal(size=x.shape), axis=1)] for x in X]
    return (X, y) if issubclass(cls, ChainSVM) else (np.vstack(X), np.concatenate(y))


def flat(labels):
    return np.concatenate(labels) if isinstance(labels, list) else labels


def follow(cls, *, lam_min=0.1, given=(), **parameters):
    X, y = make_data(cls)
    return regularization_path(cls(random_state=0, **parameters), X, y, eps=0.2, lam_min=lam_min, **dict(given))


def make_cv(cls, **parameters):
    return cls(**{"cv": 2, "tol": 0.05, "random_state": 0} | parameters)


def single_of(model, **parameters):
    """The estimator without cross-validation, with the same parameters."""
    names = inspect.signature(model.single).parameters
    own = {name: value for name, value in model.get_params(deep=False).items() if name in names}
    return model.single(**own | {"scale": True} | parameters)  # which a lam that is given would put off


def fitted(model):
    """Attributes, those that are views of the weights included."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    return {name: getattr(model, name) for name in names if hasattr(model, name)}
