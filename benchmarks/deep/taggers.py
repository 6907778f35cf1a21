"""Taggers: dates with a convolutional network, WNUT-17 with a BiLSTM over words and their shapes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from maxmargin import datasets
from maxmargin.deep import Chains, DeepChainSVM
from maxmargin.deep.estimators.samples import ChainSamples
from maxmargin.deep.estimators.scorers import ChainScorer
from maxmargin.metrics import chunk_f1

from .._report import Bar
from .runs import Task, compare, largest_rise

ROUNDING = 1e-12
CPU = torch.device("cpu")


class ConvTagger(nn.Module):
    """A convolution over positions, ELU, and a linear layer."""

    def __init__(self, n_features: int, n_labels: int, hidden: int = 32):
        super().__init__()
        self.convolution = nn.Conv1d(n_features, hidden, 3, padding=1)
        self.last = nn.Linear(hidden, n_labels)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(nn.functional.elu(self.convolution(x.transpose(1, 2))).transpose(1, 2))


class BiLSTMTagger(nn.Module):
    """Embeddings of words, a bidirectional LSTM, and a linear layer."""

    def __init__(self, n_words: int, n_labels: int, size: int = 24):
        super().__init__()
        self.words = nn.Embedding(n_words, size)
        nn.init.normal_(self.words.weight, std=0.1)  # all weights are regularised
        self.lstm = nn.LSTM(size, size, bidirectional=True, batch_first=True)
        self.last = nn.Linear(2 * size, n_labels)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.lstm(self.words(x))[0])


def shape_of(word: str) -> str:
    """What kinds of characters there are: capitals, small letters, digits, others."""
    kinds = ["X" if one.isupper() else "x" if one.islower() else "0" if one.isdigit() else one for one in word]
    return "".join(one for at, one in enumerate(kinds) if at == 0 or one != kinds[at - 1])[:4]


def numbered(train: list[Any], other: list[Any]) -> tuple[list[np.ndarray], list[np.ndarray], int]:
    """Words that occur twice or more as numbers; the others by their shapes, or 0."""
    counts = Counter(str(word).lower() for sentence in train for word in sentence)
    names = [word for word, count in counts.items() if count > 1]
    names += sorted({f"shape {shape_of(str(word))}" for sentence in train for word in sentence})
    codes = {name: code for code, name in enumerate(names, start=1)}

    def code(word: str) -> int:
        return codes.get(word.lower(), codes.get(f"shape {shape_of(word)}", 0))

    made = [[np.array([code(str(word)) for word in sentence]) for sentence in part] for part in (train, other)]
    return made[0], made[1], len(codes) + 1


def tested(samples: ChainSamples, score: Callable[[list[np.ndarray]], float]) -> Callable[[nn.Module], float]:
    def test(network: nn.Module) -> float:
        found = []
        with torch.no_grad():
            for first in range(0, len(samples.sizes), 256):
                indices = np.arange(first, min(first + 256, len(samples.sizes)))
                x, lengths = samples.inputs(indices)
                best = Chains(*network(x, lengths), lengths).best().numpy()
                found += [row[:size] for row, size in zip(best, samples.sizes[indices], strict=True)]
        return score(found)

    return test


def make_samples(X: list[np.ndarray], codes: list[np.ndarray] | None) -> ChainSamples:
    return ChainSamples(X, codes, np.ones(len(X)), CPU, torch.float32)


def dates(quick: bool) -> Task:
    data = datasets.load_dates(n_train=12 if quick else 100, n_test=20 if quick else 200)
    codes = [np.asarray(one, np.int64) for one in data.y_train]
    samples = make_samples(list(data.X_train), codes)

    def accuracy(found: list[np.ndarray]) -> float:
        return float(np.mean(np.concatenate(found) == np.concatenate(data.y_test)))

    torch.manual_seed(0)
    network = ChainScorer(ConvTagger(data.X_train[0].shape[1], 10), 10, gives_edges=False)
    test = tested(make_samples(list(data.X_test), None), accuracy)
    return Task("dates, CNN", network, samples, 1.0 / len(codes), 26 if quick else 60, 10, test, "accuracy", 5)


def tweets(quick: bool) -> Task:
    data = datasets.fetch_wnut17(n_train=20 if quick else 400)
    words, unseen, n_words = numbered(data.words_train, data.words_test)
    classes = np.unique(np.concatenate(data.y_train))
    codes = [np.searchsorted(classes, one) for one in data.y_train]

    def f1(found: list[np.ndarray]) -> float:
        return chunk_f1(data.y_test, [classes[one] for one in found])

    torch.manual_seed(0)
    network = ChainScorer(BiLSTMTagger(n_words, len(classes)), len(classes), gives_edges=False)
    test = tested(make_samples(unseen, None), f1)
    name = f"WNUT-17, BiLSTM, {len(classes)} labels"
    lam = 0.01 / len(codes)  # few words are entities, and losses small
    return Task(name, network, make_samples(words, codes), lam, 13 if quick else 40, 40, test, "F1", 5)


def last_layer(quick: bool) -> Bar:
    """A network trained by Adam, and its last layer solved for: how much the objective falls, and its certificate."""
    data = datasets.load_dates(n_train=12 if quick else 100, n_test=20 if quick else 200)
    model = DeepChainSVM(ConvTagger, 1e-3, max_iterations=5 if quick else 20, random_state=0)
    model.fit(data.X_train, data.y_train)
    before, score = model.objective_, model.score(data.X_test, data.y_test)
    last = model.solve_last_layer(data.X_train, data.y_train, tol=1e-3)
    rest = 0.5e-3 * sum(one.square().sum().item() for one in model.module_.module.convolution.parameters())
    print(f"\ndates, Adam: objective {before:.4f}, accuracy {score:.3f}; last layer solved to a gap of {last.gap_:.1e}")
    print(f"afterwards: objective {last.primal_ + rest:.4f}, accuracy {model.score(data.X_test, data.y_test):.3f}")
    return Bar("objective after the last layer is solved, over before", (last.primal_ + rest) / before, 1.0)


def measure(quick: bool) -> list[Bar]:
    found = {}
    for task in (dates(quick), tweets(quick)):
        found |= {f"{task.name}, {name}": curve for name, curve in compare(task, adam=0.01).items()}
    return [
        Bar("largest rise of the objective in prox-linear steps, taggers", largest_rise(found), ROUNDING),
        last_layer(quick),
    ]
