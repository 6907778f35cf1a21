"""`MulticlassSVM` against scikit-learn's `LinearSVC(multi_class="crammer_singer")`, on one thread.

CPU seconds of `MulticlassSVM(lam)` as it comes until the primal value is at most that of LinearSVC with tol=0.1 for the
same objective, C = 1/(lam n), conversions of the input and certificates included, in turns in one run, kernels loaded.
Data: all OCR letters as single images, USPS, and few features (16,000 samples of 16 columns and an intercept, 26
classes): principal components of the letters, a Gaussian mixture, and both with columns of very different scales.
Five seeds, fewer where LinearSVC takes long. --quick: few features, one seed, bad scales at the largest lam only.
Run: python -m benchmarks.multiclass [--quick]
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import MulticlassSVM, datasets

from ._report import Bar, arguments, finish

N_SAMPLES, N_COLUMNS = 16_000, 16
N_CLASSES = 26
PATIENCE = 20.0  # CPU seconds after which no seed is added
LAMS: dict[str, Callable[[int], float]] = {"0.01": lambda n: 0.01, "1e-3": lambda n: 1e-3, "1/n": lambda n: 1 / n}


class Data(NamedTuple):
    X: np.ndarray
    y: np.ndarray


def letters() -> Data:
    data = datasets.fetch_ocr("large")
    return Data(np.concatenate(data.X_train), np.unique(np.concatenate(data.y_train), return_inverse=True)[1])


def components() -> Data:
    """Letters as their principal components, each of variance one."""
    X, y = letters()
    chosen = np.random.default_rng(0).permutation(len(y))[:N_SAMPLES]
    centered = X[chosen] - X[chosen].mean(axis=0)
    left = np.linalg.svd(centered, full_matrices=False)[0][:, :N_COLUMNS]
    return Data(left * np.sqrt(len(left)), y[chosen])


def mixture() -> Data:
    """A Gaussian a class, around centres so near that one sample in eleven is nearest to the wrong one."""
    rng = np.random.default_rng(0)
    y = rng.integers(N_CLASSES, size=N_SAMPLES)
    return Data(rng.normal(size=(N_CLASSES, N_COLUMNS))[y] + rng.normal(size=(N_SAMPLES, N_COLUMNS)), y)


def badly_scaled(data: Data) -> Data:
    return data._replace(X=data.X * 10.0 ** np.random.default_rng(1).uniform(-2, 2, data.X.shape[1]))


def usps() -> Data:
    data = datasets.fetch_usps()
    return Data(data.X_train, np.unique(data.y_train, return_inverse=True)[1])


class Task(NamedTuple):
    name: str
    make: Callable[[], Data]
    quick: tuple[str, ...] = ()  # the lam of a quick run


TASKS = [
    Task("letters", letters),
    Task("USPS", usps),
    Task("components", components, tuple(LAMS)),
    Task("mixture", mixture, tuple(LAMS)),
    Task("components, badly scaled", lambda: badly_scaled(components()), ("0.01",)),
    Task("mixture, badly scaled", lambda: badly_scaled(mixture()), ("0.01",)),
]


def primal(model: Any, data: Data, lam: float) -> float:
    """The common objective, by plain NumPy."""
    X, y = data
    scores = X @ model.coef_.T + model.intercept_
    truth = scores[np.arange(len(y)), y]
    augmented = scores + 1.0
    augmented[np.arange(len(y)), y] -= 1.0
    squares = np.sum(model.coef_**2) + np.sum(model.intercept_**2)
    return 0.5 * lam * squares + np.mean(augmented.max(axis=1) - truth)


class Until:
    """A scikit-learn callback that stops a fit at the first certificate with a primal value as low as the goal."""

    def __init__(self, goal: float, evaluate: Callable[[Any], float]):
        self.goal, self.evaluate, self.reached = goal, evaluate, False

    def setup(self, estimator, context):
        self.evaluating = 0.0  # CPU seconds that are not of the fit

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        return None

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name != "certificate":
            return False
        before = time.process_time()
        self.reached = self.evaluate(fitted_estimator) <= self.goal
        self.evaluating += time.process_time() - before
        return self.reached


def fit_theirs(data: Data, lam: float, seed: int) -> LinearSVC:
    C = 1 / (lam * len(data.y))
    return LinearSVC(multi_class="crammer_singer", C=C, tol=0.1, max_iter=10_000, random_state=seed).fit(*data)


def seconds_of_ours(data: Data, lam: float, seed: int, goal: float) -> float:
    """CPU seconds to the goal; infinite where it is not reached."""
    until = Until(goal, lambda model: primal(model, data, lam))
    model = MulticlassSVM(lam=lam, tol=1e-9, random_state=seed).set_callbacks(until)
    before = time.process_time()
    model.fit(*data)
    return time.process_time() - before - until.evaluating if until.reached else np.inf


def compare(name: str, data: Data, rule: str, n_seeds: int) -> Bar:
    """The median ratio over seeds."""
    lam, ratios = LAMS[rule](len(data.y)), []
    began = time.process_time()
    for seed in range(n_seeds):
        if ratios and time.process_time() - began > PATIENCE:
            break
        before = time.process_time()
        theirs = fit_theirs(data, lam, seed)
        their_seconds = time.process_time() - before
        goal = primal(theirs, data, lam)
        if not ratios:
            seconds_of_ours(data, lam, seed, goal)  # compiles or loads the kernels
        our_seconds = seconds_of_ours(data, lam, seed, goal)
        ratios.append(our_seconds / their_seconds)
        print(
            f"{name}, lam = {rule}, seed {seed}: LinearSVC {their_seconds:.2f} s to {goal:.6f}, "
            f"MulticlassSVM {our_seconds:.2f} s",
            flush=True,
        )
    return Bar(f"MulticlassSVM / LinearSVC, {name}, lam = {rule}", float(np.median(ratios)), 1.0)


def main() -> None:
    args = arguments(__doc__)
    warnings.simplefilter("ignore", ConvergenceWarning)
    bars = []
    for task in TASKS:
        rules = task.quick if args.quick else tuple(LAMS)
        if rules:
            data = task.make()
            print(f"{task.name}: {len(data.y)} samples, {data.X.shape[1]} columns, {data.y.max() + 1} classes")
            bars += [compare(task.name, data, rule, 1 if args.quick else 5) for rule in rules]
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
