"""Horses: superpixel graphs split by minimum cuts (`GraphSVM`), against logistic regression on the same features.

200 images train, 127 test. lam is chosen along the regularization path of 150 training images by the other 50; then
accuracy of superpixels and of pixels, certified gap and cost, of the solvers of Osokin et al. 2016 (gap sampling,
pairwise steps and cache, under positivity constraints) against uniform sampling, and of `auto`. Test images are drawn:
the best, the worst and those between. Three minutes. Run: python -m benchmarks.horses [--quick]
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path as File
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from maxmargin import GraphSVM, datasets, regularization_path
from maxmargin.solvers import BlockFrankWolfe

from ._problems import scaled_graphs
from ._report import Bar, arguments, effort_to, finish
from ._superpixels import Superpixels, cell_map, draw_rows, rgb_of_lab, shaded

OUTPUT = File(__file__).parent / "output"
TOL, LAM_MIN, N_FIT = 0.01, 0.5, 150
PLAIN = 0.894  # superpixels that logistic regression gets right
SOLVERS: dict[str, Any] = {
    "fw, uniform": BlockFrankWolfe("uniform"),
    "pairwise, gap, cache": BlockFrankWolfe("gap", step="pairwise", cache=True),
    "auto": "auto",
}


class Images(NamedTuple):
    samples: list[tuple[np.ndarray, np.ndarray, np.ndarray]]  # scaled features, edges, edge features
    y: list[np.ndarray]
    pixels: list[np.ndarray]
    foreground: list[np.ndarray]

    def take(self, part: slice) -> Images:
        return Images(*(values[part] for values in self))

    def superpixels_right(self, predicted: list[np.ndarray]) -> float:
        return float(np.mean(np.concatenate(predicted) == np.concatenate(self.y)))

    def pixels_right(self, predicted: list[np.ndarray]) -> float:
        labels, pixels, horse = (np.concatenate(parts) for parts in (predicted, self.pixels, self.foreground))
        return float(np.where(labels == 1, horse, pixels - horse).sum() / pixels.sum())


def load() -> tuple[Any, Images, Images]:
    """The data, and its training and test images."""
    data = datasets.fetch_horses()
    parts = ("train", "test")
    train, test = (
        Images(samples, *(data[f"{name}_{part}"] for name in ("y", "pixels", "foreground")))
        for part, samples in zip(parts, scaled_graphs(data, *parts), strict=True)
    )
    return data, train, test


def choose(train: Images, eps: float) -> float:
    """lam by the accuracy of superpixels of the images that the path has not seen."""
    fit, held = train.take(slice(N_FIT)), train.take(slice(N_FIT, None))
    model = GraphSVM(inference="cut", random_state=0)
    few = fit.take(slice(2))  # kernels compile, or load, before the clock
    regularization_path(model, few.samples, few.y, eps=0.1, relative=False, lam_min=LAM_MIN).select(few.samples, few.y)
    began = time.process_time()
    path = regularization_path(model, fit.samples, fit.y, eps=eps, relative=False, lam_min=LAM_MIN, kappa=0.5)
    best = path.select(held.samples, held.y)
    assert path.scores is not None
    print(
        f"path of {len(fit.y)} images: {len(path.breakpoints)} breakpoints from {path.breakpoints[0]:.3g} to "
        f"{path.breakpoints[-1]:.3g}, certified gap {path.certify():.4f}, {time.process_time() - began:.1f} CPU s; "
        f"lam = {best.lam:.3g}, accuracy on {len(held.y)} others {path.scores.max():.4f}"
    )
    return float(best.lam)


class Found(NamedTuple):
    model: GraphSVM
    seconds: float


def learn(train: Images, lam: float, solver: Any) -> Found:
    GraphSVM(lam, inference="cut", solver=solver, max_passes=1).fit(train.samples[:2], train.y[:2])  # as above
    began = time.process_time()
    model = GraphSVM(lam, inference="cut", solver=solver, tol=TOL, random_state=0).fit(train.samples, train.y)
    return Found(model, time.process_time() - began)


def compare(train: Images, lam: float, solvers: dict[str, Any]) -> dict[str, Found]:
    print(f"\nlam {lam:.3g}: oracle calls to a gap of\n{'':24s}      0.1     0.03     0.01   CPU s   certified gap")
    found = {}
    for name, solver in solvers.items():
        found[name] = one = learn(train, lam, solver)
        history = one.model.history_
        calls = [effort_to(goal, history["gap"], history["oracle_calls"]) for goal in (0.1, 0.03, 0.01)]
        print(f"{name:24s}" + "".join(f"{count:9.0f}" for count in calls) + f"{one.seconds:8.2f}{one.model.gap_:16.4f}")
    return found


def plain(train: Images, test: Images) -> list[np.ndarray]:
    """Logistic regression of each superpixel by itself."""
    model = LogisticRegression(max_iter=1000)
    model.fit(np.concatenate([x for x, *_ in train.samples]), np.concatenate(train.y))
    return [model.predict(x) for x, *_ in test.samples]


def draw(data: Any, test: Images, answers: dict[str, list[np.ndarray]], count: int) -> File:
    """Images at even ranks of the last answers' accuracy, from best to worst."""
    of_features = {name: k for k, name in enumerate(data.feature_names)}
    *_, last = answers.values()
    accuracy = [np.mean(own == true) for own, true in zip(last, test.y, strict=True)]
    rows = []
    for i in np.argsort(accuracy, kind="stable")[::-1][np.linspace(0, len(test.y) - 1, count).astype(int)]:
        x = data.X_test[i]
        cells = Superpixels(x[:, [of_features["x"], of_features["y"]]], test.pixels[i], data.edges_test[i])
        colors = rgb_of_lab(100 * x[:, [of_features[f"mean_{channel}"] for channel in "Lab"]])
        views = {"mean colours": colors, "truth": shaded(colors, test.y[i])}
        for name, labels in answers.items():
            views[f"{name}, {np.mean(labels[i] == test.y[i]):.1%}"] = shaded(colors, labels[i])
        rows.append((str(data.names_test[i]), cell_map(cells), views))
    path = OUTPUT / "horses.png"
    draw_rows(path, rows)
    return path


def main() -> None:
    quick = arguments(__doc__).quick
    data, train, test = load()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        lam = choose(train, 0.1 if quick else 0.05)
        found = compare(train, lam, {"auto": SOLVERS["auto"]} if quick else SOLVERS)
    model = found["auto"].model
    answers = {"logistic regression": plain(train, test), "cut": model.predict(test.samples)}
    print(f"\n{len(test.y)} test images: right of superpixels, of pixels")
    for name, predicted in {**answers, "true labels": test.y}.items():
        print(f"  {name:22s}{test.superpixels_right(predicted):9.4f}{test.pixels_right(predicted):9.4f}")
    print(f"  {draw(data, test, answers, 2 if quick else 6)}")
    own, other = (test.pixels_right(answers[name]) for name in ("cut", "logistic regression"))
    finish(
        [
            Bar("superpixels right", test.superpixels_right(answers["cut"]), PLAIN, at_least=True),
            Bar("pixels right, more than by logistic regression", own - other, 0.0, at_least=True),
            Bar("certified gap", model.gap_, TOL),
        ]
    )


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
