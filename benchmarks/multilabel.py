"""`MultilabelSVM` beside scikit-learn's `OneVsRestClassifier(LinearSVC())` and `ClassifierChain(LinearSVC())`.

All as they come, on one thread, kernels loaded: CPU seconds of fit, and of the test samples the Hamming loss and micro-
and macro-F1, in percent. Samples of bibtex (159 labels) and delicious (983), as Mulan splits them. "Thresholds" are
those that `choose_thresholds` finds on a fifth of the training samples, for a model of the others. Interactions are
learned on sets with few labels, where all sets can be tried, and on medical (45 labels) through the relaxation; columns
have a variance of 1 there. "Surely behind" is the lower end of a paired bootstrap's 95 % interval of how many points of
labels we get right less; below 0: not.
--quick: bibtex without the chain, and interactions on emotions. Run: python -m benchmarks.multilabel [--quick]
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from maxmargin import MultilabelSVM, datasets

from ._report import Bar, arguments, finish
from .defaults.scores import Counts, labels_right, surely_behind

ONE_VS_REST = "OneVsRestClassifier(LinearSVC())"
WITH_PAIRS = {"emotions": "exact", "scene": "exact", "yeast": "exact", "medical": "lp"}


class WithThresholds(MultilabelSVM):
    """Learn from four fifths of the samples, and choose thresholds on the others."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> MultilabelSVM:
        X, X_held, y, y_held = train_test_split(X, y, test_size=0.2, random_state=0)
        return super().fit(X, y).choose_thresholds(X_held, y_held)


def run(name: str, model: Any, data: Any) -> tuple[float, Counts]:
    """Fit and score; CPU seconds of fit, and how many labels of each test sample are right."""
    before = time.process_time()
    model.fit(data.X_train, data.y_train)
    seconds = time.process_time() - before
    true, found = (
        np.asarray(y.toarray() if hasattr(y, "toarray") else y) for y in (data.y_test, model.predict(data.X_test))
    )
    counts = labels_right(true, found)
    wrong = 100 * (1 - counts[:, 0].sum() / counts[:, 1].sum())
    micro, macro = (100 * f1_score(true, found, average=kind, zero_division=0) for kind in ("micro", "macro"))
    certified = f", gap {model.gap_:.2g} of {model.primal_:.3g}" if hasattr(model, "gap_") else ""
    print(
        f"  {name}: {seconds:.2f} s, Hamming {wrong:.3f}, F1 {micro:.1f} micro, {macro:.1f} macro{certified}",
        flush=True,
    )
    return seconds, counts


def describe(name: str) -> Any:
    data = datasets.fetch_multilabel(name)
    n, n_labels = data.y_train.shape
    print(f"{name}: {n} samples, {data.X_train.shape[1]} columns, {n_labels} labels")
    return data


def compare(name: str, chain: bool) -> list[Bar]:
    """Labels by themselves."""
    data = describe(name)
    MultilabelSVM(max_passes=3, random_state=0).fit(data.X_train[:20], data.y_train[:20])  # loads the kernels
    ours, right = run("MultilabelSVM", MultilabelSVM(random_state=0), data)
    run("MultilabelSVM, thresholds", WithThresholds(random_state=0), data)
    theirs, peers = run(ONE_VS_REST, OneVsRestClassifier(LinearSVC(random_state=0)), data)
    if chain:
        dense = {**data, "y_train": data.y_train.toarray()}
        run("ClassifierChain(LinearSVC())", ClassifierChain(LinearSVC(random_state=0)), type(data)(**dense))
    return [
        Bar(f"CPU seconds, MultilabelSVM / {ONE_VS_REST}, {name}", ours / theirs, 1.0),
        Bar(f"labels right, surely behind {ONE_VS_REST}, {name}", surely_behind(right, peers), 0.0),
    ]


def compare_pairs(name: str, inference: str) -> None:
    """What interactions change."""
    data = describe(name)
    spread = StandardScaler(with_mean=False).fit(data.X_train)  # columns of emotions are of very different sizes
    data.X_train, data.X_test = spread.transform(data.X_train), spread.transform(data.X_test)
    MultilabelSVM(interactions="pairwise", inference=inference, max_passes=3).fit(data.X_train[:20], data.y_train[:20])
    run("labels by themselves", MultilabelSVM(random_state=0), data)
    model = MultilabelSVM(interactions="pairwise", inference=inference, max_seconds=300, random_state=0)
    run(f"interactions, {inference}", model, data)
    sure = model.relaxation(data.X_test)
    best = np.mean(sure.scores == sure.bounds)
    print(f"  {100 * sure.integral.mean():.2f} % of labels integral, {100 * best:.1f} % of sets the best for sure")


def main() -> None:
    args = arguments(__doc__)
    warnings.simplefilter("ignore", ConvergenceWarning)
    bars = compare("bibtex", chain=not args.quick)
    if not args.quick:
        bars += compare("delicious", chain=True)
    for name, inference in WITH_PAIRS.items():
        if name == "emotions" or not args.quick:
            compare_pairs(name, inference)
    finish(bars)


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
