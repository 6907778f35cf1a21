"""Handwritten dates composed from the digit images that come with scikit-learn."""

from __future__ import annotations

import datetime
import numbers
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_LAST_YEAR, _N_YEARS = 2029, 130

_DESCR = """Handwritten dates

Dates DDMMYYYY, each a chain of eight digit images: 8 x 8 grey values scaled to [0, 1], row by row. Only days of
the calendar from 1900 to 2029 occur, most of them late in that range, so that neighbouring digits depend on each
other. A fixed share of the digits, drawn at random, is illegible (an image of zeros), so that only the neighbours
tell them; with legible digits alone, a model that reads each digit by itself does about as well as a chain.

Composed from the 1,797 images of scikit-learn's `load_digits` (E. Alpaydin, C. Kaynak, UCI "Optical Recognition of
Handwritten Digits"): these are split in two halves, class by class, and the training dates are made of images of
the one half only, the test dates of the other. No image occurs on both sides; within a side an image may occur in
several dates.
"""


def load_dates(
    n_train: int = 100,
    n_test: int = 500,
    illegible: float = 0.25,
    random_state: int | np.random.RandomState | None = 0,
) -> Bunch:
    """Compose handwritten dates, a small chain labelling task that needs no download.

    Parameters
    ----------
    n_train : int
        Number of dates to learn from.
    n_test : int
        Number of dates to test on.
    illegible : float
        Probability that a digit cannot be read and is an image of zeros.
    random_state : int, RandomState instance or None
        Determines the dates, the images and the split of the images.

    Returns
    -------
    sklearn.utils.Bunch
        `X_train`, `X_test`: lists of (8, 64) arrays; `y_train`, `y_test`: lists of (8,) arrays of digits;
        `dates_train`, `dates_test`: the dates as strings DDMMYYYY; `images_train`, `images_test`: (n, 8) arrays,
        the number in `load_digits` of each digit's image, -1 if illegible; `feature_names`, `target_names`; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import load_dates
    >>> dates = load_dates(n_train=2, n_test=1)
    >>> dates.X_train[0].shape, dates.y_train[0].shape
    ((8, 64), (8,))
    """
    from sklearn.datasets import load_digits
    from sklearn.utils import Bunch, check_random_state, check_scalar

    check_scalar(n_train, "n_train", numbers.Integral, min_val=1)
    check_scalar(n_test, "n_test", numbers.Integral, min_val=1)
    check_scalar(illegible, "illegible", numbers.Real, min_val=0, max_val=1)
    rng = check_random_state(random_state)
    digits = load_digits()
    pool_train, pool_test = _split_images(digits.target, rng)
    dates_train, dates_test = _draw_dates(n_train, rng), _draw_dates(n_test, rng)
    y_train, y_test = _to_digits(dates_train), _to_digits(dates_test)
    images_train = _draw_images(y_train, pool_train, illegible, rng)
    images_test = _draw_images(y_test, pool_test, illegible, rng)
    # The last row is the illegible image, number -1.
    pixels = np.vstack([digits.data / 16.0, np.zeros(64)])
    return Bunch(
        X_train=list(pixels[images_train]),
        y_train=list(y_train),
        X_test=list(pixels[images_test]),
        y_test=list(y_test),
        dates_train=dates_train,
        dates_test=dates_test,
        images_train=images_train,
        images_test=images_test,
        feature_names=list(digits.feature_names),
        target_names=np.arange(10),
        DESCR=_DESCR,
    )


def _split_images(labels: np.ndarray, rng: np.random.RandomState) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """For each class, the image numbers of two disjoint halves."""
    shuffled = [rng.permutation(np.flatnonzero(labels == digit)) for digit in range(10)]
    return [images[: len(images) // 2] for images in shuffled], [images[len(images) // 2 :] for images in shuffled]


def _draw_dates(n_dates: int, rng: np.random.RandomState) -> list[str]:
    # Beta(1, 10): ages of 12 years on average, with a long tail, as on a pile of forms.
    years = _LAST_YEAR - np.floor(_N_YEARS * rng.beta(1, 10, size=n_dates)).astype(int)
    part_of_year = rng.uniform(size=n_dates)
    return [_nth_day(int(year), float(part)).strftime("%d%m%Y") for year, part in zip(years, part_of_year, strict=True)]


def _nth_day(year: int, part: float) -> datetime.date:
    start, end = datetime.date(year, 1, 1).toordinal(), datetime.date(year + 1, 1, 1).toordinal()
    return datetime.date.fromordinal(start + int(part * (end - start)))


def _to_digits(dates: list[str]) -> np.ndarray:
    return np.array([[int(character) for character in date] for date in dates])


def _draw_images(y: np.ndarray, pool: list[np.ndarray], illegible: float, rng: np.random.RandomState) -> np.ndarray:
    images = np.empty_like(y)
    for digit in range(10):
        wanted = y == digit
        images[wanted] = rng.choice(pool[digit], size=int(wanted.sum()))
    images[rng.uniform(size=y.shape) < illegible] = -1
    return images
