"""One white blood cell an image among windows: the ELU head of the paper on fixed features.

A window's features are shares of colours in the cells of a 3 x 3 grid, where the paper has a convolutional layer of
AlexNet; the head is the paper's: a 1 x 1 convolution to 16 channels, ELU, and a linear map.
"""  # pillutla18, Section 7.1.2

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from maxmargin import datasets
from maxmargin.deep import Candidates
from maxmargin.deep.estimators.samples import CandidateSamples
from maxmargin.deep.estimators.scorers import CandidateScorer
from maxmargin.metrics import box_iou, corloc

from .._report import Bar
from ..smoothing import windows
from .runs import Curve, Task, compare, largest_rise, print_head, print_row, prox_linear

GRID, CHANNELS = 3, 16
ROUNDING = 1e-12

MUS = (0.1, 1.0, 10.0)
EFFECTS = {
    "smoothing (Fig. 6)": {
        **{f"adaptive, mu {mu:g}": {"mu": mu} for mu in MUS},
        **{f"constant, mu {mu:g}": {"mu": mu, "mu_schedule": "constant"} for mu in MUS},
    },
    "eta (Fig. 7a)": {f"eta {eta:g}": {"eta": eta} for eta in (0.1, 1.0, 10.0, 100.0)},
    "budget (Fig. 7b)": {f"budget {budget}": {"budget": budget} for budget in (2, 5, 10)},
    "warm start (Fig. 7c)": {way: {"warm_start": way} for way in ("prox-center", "extrapolation", "previous")},
}


class EluHead(nn.Module):
    """``<ELU(Phi * w1), w2>`` of features (..., 9 C)."""

    def __init__(self, n_colors: int):
        super().__init__()
        self.convolution = nn.Linear(n_colors, CHANNELS, bias=False)
        self.last = nn.Linear(GRID * GRID * CHANNELS, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        cells = x.unflatten(-1, (GRID * GRID, -1))
        return self.last(nn.functional.elu(self.convolution(cells)).flatten(-2))


def grid_features(words: np.ndarray, boxes: np.ndarray, n_words: int) -> list[np.ndarray]:
    """(c, 9 C) of each image: shares of words in the cells of boxes, times 9 so that they are about 1."""
    steps = np.arange(GRID + 1) / GRID
    x = (boxes[:, 0, None] + steps * (boxes[:, 2] - boxes[:, 0])[:, None]).round().astype(int)
    y = (boxes[:, 1, None] + steps * (boxes[:, 3] - boxes[:, 1])[:, None]).round().astype(int)
    areas = (np.diff(y)[:, :, None] * np.diff(x)[:, None, :])[..., None]
    found = []
    for image in words:
        counts = np.zeros((image.shape[0] + 1, image.shape[1] + 1, n_words))
        counts[1:, 1:] = np.eye(n_words)[image].cumsum(axis=0).cumsum(axis=1)
        corners = counts[y[:, :, None], x[:, None, :]]  # (c, 4, 4, C)
        cells = np.diff(np.diff(corners, axis=1), axis=2) / areas
        found.append((GRID * GRID * cells).reshape(len(boxes), -1).astype(np.float32))
    return found


def blood_cells(quick: bool) -> Task:
    n, levels = (12 if quick else None), 3
    data = datasets.fetch_bccd(n_levels=levels)
    true = data.y_train[:n]
    boxes = windows(data.y_train, *data.words_train.shape[1:], stride=16 if quick else 10)
    features = grid_features(data.words_train[:n], boxes, levels**3)
    costs = [overlap.max() - overlap for overlap in box_iou(boxes, true[:, None])]
    samples = CandidateSamples(features, costs, np.ones(len(true)), torch.device("cpu"), torch.float32)
    unseen = grid_features(data.words_test[:n], boxes, levels**3)

    def test(network: nn.Module) -> float:
        with torch.no_grad():
            best = [int(Candidates(network(torch.from_numpy(one)[None])).best()) for one in unseen]
        return corloc(boxes[best], data.y_test[:n])

    torch.manual_seed(0)
    name = f"blood cells, {len(boxes)} windows"
    network = CandidateScorer(EluHead(levels**3))
    return Task(name, network, samples, 1.0 / len(true), 26 if quick else 60, 8, test, "CorLoc", 10)


def effects(task: Task, quick: bool) -> dict[str, dict[str, Curve]]:
    found = {}
    for what, options in EFFECTS.items():
        print(f"\n{what}")
        print_head(task)
        found[what] = {}
        for name, given in list(options.items())[:: 3 if quick else 1]:
            found[what][name] = prox_linear(task, **{"eta": 1.0, "mu": 1.0, **given})
            print_row(f"PL, {name}", task, found[what][name])
    return found


def measure(quick: bool) -> list[Bar]:
    task = blood_cells(quick)
    curves = compare(task)
    for of_one in effects(task, quick).values():
        curves |= {f"PL, {name}": curve for name, curve in of_one.items()}
    sgd = min(curve.objective[-1] for name, curve in curves.items() if name.startswith("SGD"))
    print(f"objective of PL-Casimir, tuned, over the best SGD: {curves['PL-Casimir, tuned'].objective[-1] / sgd:.3f}")
    return [Bar("largest rise of the objective in prox-linear steps, boxes", largest_rise(curves), ROUNDING)]
