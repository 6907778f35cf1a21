"""``maxmargin demo``: handwritten dates."""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .messages import refuse
from .options import picture, positive, whole
from .writing import cannot_draw

if TYPE_CHECKING:
    import numpy as np

# Both models choose from the same values, on the same folds of training dates.
LAMS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
N_FOLDS = 3
SEARCH_TOL = 1e-2
MAX_PASSES = 10_000
ILLEGIBLE = 0.25
DRAWN = 12


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "demo",
        help="read handwritten dates, with and without structure",
        description="Learn to read handwritten dates as chains of digits, compare with reading the digits one by one, "
        "and draw the first test dates with their predictions.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--output", type=picture, default="maxmargin-demo.png", metavar="FILE", help="the picture")
    parser.add_argument("--seed", type=whole(0, 2**32 - 1), default=0, help="draws dates, folds and steps")
    parser.add_argument("--n-train", type=whole(N_FOLDS, 10**6), default=100, metavar="N", help="dates to learn from")
    parser.add_argument("--n-test", type=whole(1, 10**6), default=500, metavar="N", help="dates to test on")
    parser.add_argument("--tol", type=positive, default=1e-3, help="duality gap at which training stops")
    parser.set_defaults(run=run)


class Reader(NamedTuple):
    """A model of dates, as functions of the regularisation and of lists of images and digits."""

    name: str
    make: Callable[..., Any]
    fit: Callable[[Any, list, list], Any]
    predict: Callable[[Any, list], np.ndarray]  # (n dates, 8 digits)


class Reading(NamedTuple):
    """What a model reads on the test dates, and what it took to learn it."""

    name: str
    predicted: np.ndarray  # (n dates, 8 digits)
    right: np.ndarray
    model: Any
    seconds: float


def run(arguments: argparse.Namespace) -> int:
    """Train, compare, print and draw."""
    began = time.perf_counter()
    output: Path = arguments.output
    refuse(cannot_draw(output))
    print("The first run compiles its kernels, which takes up to a minute; later runs start at once.", flush=True)

    import numpy as np

    from ..datasets import load_dates

    dates = load_dates(arguments.n_train, arguments.n_test, ILLEGIBLE, random_state=arguments.seed)
    print(
        f"\nHandwritten dates DDMMYYYY: {arguments.n_train} to learn from, {arguments.n_test} to test on, "
        f"{ILLEGIBLE:.0%} of the digits illegible."
        f"\nlam is chosen for each model from {', '.join(f'{lam:g}' for lam in LAMS)}"
        f"\nby {N_FOLDS}-fold cross-validation on the training dates (to a duality gap of {SEARCH_TOL:g}).\n",
        flush=True,
    )
    single, chain = (_learn(reader, dates, arguments) for reader in _readers())
    illegible = dates.images_test == -1
    _print_comparison(single, chain, illegible)
    _print_certificate(chain.model)
    print(f"All this took {time.perf_counter() - began:.1f} s.")
    return _draw(output, dates.X_test, np.array(dates.y_test), single, chain)


def _readers() -> tuple[Reader, Reader]:
    import numpy as np

    from .. import ChainSVM, MulticlassSVM
    from ..solvers import BlockFrankWolfe

    # At the optimum all digits tie on an illegible image. Averaged iterates lean to the frequent ones, which is the
    # best that reading one by one can do there; other solvers leave it to chance.
    single = Reader(
        "digits one by one",
        partial(MulticlassSVM, solver=BlockFrankWolfe("permutation", "weighted")),
        lambda model, X, y: model.fit(np.vstack(X), np.hstack(y)),
        lambda model, X: model.predict(np.vstack(X)).reshape(len(X), -1),
    )
    chain = Reader(
        "digits as a chain",
        ChainSVM,
        lambda model, X, y: model.fit(X, y),
        lambda model, X: np.array(model.predict(X)),
    )
    return single, chain


def _learn(reader: Reader, dates: Any, arguments: argparse.Namespace) -> Reading:
    import numpy as np
    from sklearn.exceptions import ConvergenceWarning

    print(f"{reader.name}: choosing lam ...", flush=True)
    lam = _choose_lam(reader, dates.X_train, dates.y_train, arguments.seed)
    print(f"{reader.name}: training with lam {lam:g} to a duality gap of {arguments.tol:g}", flush=True)
    model = reader.make(lam, tol=arguments.tol, max_passes=MAX_PASSES, random_state=arguments.seed, verbose=1)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # why training stopped is printed with the certificate
        reader.fit(model, dates.X_train, dates.y_train)
    seconds = time.perf_counter() - began
    predicted = reader.predict(model, dates.X_test)
    return Reading(reader.name, predicted, predicted == np.array(dates.y_test), model, seconds)


def _choose_lam(reader: Reader, X: list, y: list, seed: int) -> float:
    """The value of `LAMS` with the most digits right on held-out dates; of equal ones the larger."""
    import numpy as np
    from sklearn.model_selection import KFold

    folds = list(KFold(N_FOLDS, shuffle=True, random_state=seed).split(X))

    def n_right(lam: float) -> int:
        count = 0
        for train, held_out in folds:
            model = reader.make(lam, tol=SEARCH_TOL, max_passes=MAX_PASSES, random_state=seed)
            reader.fit(model, [X[i] for i in train], [y[i] for i in train])
            if model.status_ == "interrupted":  # a solver keeps what it has; here it is of no use
                raise KeyboardInterrupt
            count += np.sum(reader.predict(model, [X[i] for i in held_out]) == np.array([y[i] for i in held_out]))
        return int(count)

    return max(LAMS, key=n_right)


def _print_comparison(single: Reading, chain: Reading, illegible: np.ndarray) -> None:
    columns = f"{'digits':>9}{'illegible ones':>17}{'whole dates':>14}{'lam':>9}{'training':>11}"
    print(f"\n{'right on test dates':<22}{columns}")
    for reading in (single, chain):
        right = reading.right
        hidden = f"{right[illegible].mean():.1%}" if illegible.any() else "none"
        print(
            f"{reading.name:<22}{right.mean():>9.1%}{hidden:>17}{right.all(axis=1).mean():>14.1%}"
            f"{reading.model.lam:>9g}{reading.seconds:>9.2f} s"
        )
    whole, other = chain.right.all(axis=1), single.right.all(axis=1)
    print(
        f"Of {len(illegible)} test dates, {(whole & ~other).sum()} are right only as a chain, "
        f"{(other & ~whole).sum()} only one by one."
    )


def _print_certificate(model: Any) -> None:
    print(
        f"\nCertificate of the chain: the optimum lies between {model.dual_:.5f} (dual) and {model.primal_:.5f} "
        f"(primal, reached),\na gap of {model.gap_:.1e} after {model.n_passes_:g} passes ({model.status_})."
    )


def _summary(reading: Reading) -> str:
    right = reading.right
    return f"{reading.name}: {right.mean():.1%} of test digits, {right.all(axis=1).mean():.1%} of whole dates right"


def _draw(path: Path, X: list, truth: np.ndarray, single: Reading, chain: Reading) -> int:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print('No picture, for want of matplotlib: pip install "maxmargin[plot]"')
        return 0
    import numpy as np

    from ..plotting import plot_sequences

    differ = np.flatnonzero(np.any(chain.predicted != single.predicted, axis=1))[:DRAWN]
    # no pyplot: a picture for a file needs no window system
    figure = plot_sequences(
        [X[i] for i in differ],
        truth[differ],
        {"as a chain": chain.predicted[differ], "one by one": single.predicted[differ]},
        title="\n".join(_summary(reading) for reading in (chain, single)),
        figure=Figure(),
    )
    figure.savefig(path, dpi=150)
    print(f"Picture of the first {len(differ)} test dates that the two read differently: {path}")
    return 0
