"""Small tasks for networks."""

import numpy as np
import torch

from maxmargin import Proposals


def sequences(n=12, n_features=4, n_labels=3, noise=0.7, seed=0):
    """Features whose linear scores, with noise, decide about labels."""
    rng = np.random.default_rng(seed)
    coef = rng.normal(size=(n_features, n_labels))
    X = [rng.normal(size=(rng.integers(2, 6), n_features)) for _ in range(n)]
    return X, [(x @ coef + noise * rng.normal(size=(len(x), n_labels))).argmax(axis=1) for x in X]


def proposals(n=8, n_features=3, seed=0):
    """Boxes of which the true one has the largest first feature, more or less."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for _ in range(n):
        count = rng.integers(2, 6)
        corner = rng.integers(0, 5, (count, 2))
        boxes = np.hstack([corner, corner + rng.integers(2, 6, (count, 2))])
        features = rng.normal(size=(count, n_features))
        X.append(Proposals(boxes, features))
        y.append(boxes[features[:, 0].argmax()])
    return X, np.array(y)


def network(n_features=4, n_labels=3, hidden=5, seed=0):
    """One hidden layer, always the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = torch.nn.Linear(n_features, hidden), torch.nn.ELU(), torch.nn.Linear(hidden, n_labels)
        return torch.nn.Sequential(*layers)
