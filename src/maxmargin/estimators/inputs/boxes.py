"""Images or proposals, and a box for each, or say which sample is wrong and why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..._parameters import check_count
from ...structures.boxes import BoxCandidates, DenseImage, Image, WordImage
from .arrays import as_any_array, as_features, check_features_finite, read_list, read_outputs, same_width


class Proposals(NamedTuple):
    """Boxes of one image that may be predicted.

    Parameters
    ----------
    boxes : array of shape (c, 4)
        (left, top, right, bottom) of each, right and bottom excluded.
    features : array of shape (c, F)
        What the boxes look like.

    See Also
    --------
    maxmargin.BoxSVM : Learns from such samples, or from whole images.

    Examples
    --------
    >>> from maxmargin import Proposals
    >>> sample = Proposals([(0, 0, 4, 4), (2, 2, 6, 5)], features=[[1.0, 0.0], [0.0, 1.0]])
    >>> len(sample.boxes)
    2
    """

    boxes: Any
    features: Any


MOST_WORDS = 2**31
UNWRAPPED = "; if X is one sample, wrap it: [X]"
SIDES = ("left", "top", "right", "bottom")
WANTED = "(H, W) integers, the word of each pixel, (H, W, F) features of each, or Proposals(boxes, features)"
KINDS = {WordImage: "an image of words", DenseImage: "an image of features", BoxCandidates: "Proposals"}


def read_box_samples(
    X: Any, kind: type | None = None, n_features: int | None = None, estimator: str = "BoxSVM"
) -> tuple[list[Any], int]:
    """Samples of one kind, and how many features they have; after a fit, of its kind and with as many, or none."""
    given = read_list(X, f"samples, at least one, each {WANTED}", least=kind is None)
    read = [_sample(sample, f"X, sample {i}") for i, sample in enumerate(given)]
    samples, widths = [one for one, _ in read], [width for _, width in read]
    expected = kind or type(samples[0])
    for i, sample in enumerate(samples):
        if type(sample) is not expected:
            who = "like sample 0" if kind is None else f"as {estimator} was fitted to"
            raise ValueError(f"X, sample {i}: must be {KINDS[expected]}, {who}, but is {KINDS[type(sample)]}")
    if not samples:
        return [], n_features or 0
    counted = _most_words if expected is WordImage else same_width
    return samples, counted(widths, n_features, estimator)


def check_n_words(n_words: Any, samples: list[Any], n_features: int) -> int:
    """How many features to learn with, at least those of the samples."""
    if n_words is None:
        return n_features
    count = check_count("n_words", n_words)
    if not isinstance(samples[0], WordImage):
        raise ValueError(f"n_words is for images of words, but X has {KINDS[type(samples[0])]}: leave it out")
    if count < n_features:
        raise ValueError(f"n_words is {count}, but X has the word {n_features - 1}: set n_words higher, or to None")
    return count


def read_boxes(y: Any, n: int) -> np.ndarray:
    """(n, 4) finite numbers, boxes that are not empty."""
    given = read_outputs(y, n, "the boxes (left, top, right, bottom)")
    for i, box in enumerate(given):
        if np.shape(as_any_array(box, f"y, sample {i}")) != (4,):
            raise ValueError(f"y, sample {i}: must be a box of four numbers (left, top, right, bottom), got {box!r}")
    return np.concatenate([_boxes([box], f"y, sample {i}") for i, box in enumerate(given)])


def check_inside(boxes: np.ndarray, images: list[Image]) -> np.ndarray:
    """Boxes of whole pixels within their images."""
    for i, (box, image) in enumerate(zip(boxes, images, strict=True)):
        height, width = image.shape
        for side, name in enumerate(SIDES):
            if box[side] != np.floor(box[side]):
                raise ValueError(f"y, sample {i}: {name} is {box[side]:g}, but must be a whole number of pixels")
            size, extent = (height, "high") if side % 2 else (width, "wide")
            if not 0 <= box[side] <= size:
                raise ValueError(
                    f"y, sample {i}: {name} is {box[side]:g}, outside of the image, which is {size} pixels {extent}"
                )
    return boxes.astype(np.int64)


def check_overlap(boxes: np.ndarray, samples: list[BoxCandidates]) -> np.ndarray:
    """Boxes that some proposal has pixels in common with."""
    for i, (box, sample) in enumerate(zip(boxes, samples, strict=True)):
        sides = np.minimum(sample.boxes[:, 2:], box[2:]) - np.maximum(sample.boxes[:, :2], box[:2])
        if not (sides > 0).all(axis=1).any():
            raise ValueError(
                f"y, sample {i}: no proposed box overlaps the box {box.tolist()}, so that none is to be learned; "
                "add it to the proposals, or leave the sample out"
            )
    return boxes


def _sample(sample: Any, where: str) -> tuple[Any, int]:
    """The sample, and how many features it has, or, of words, needs at least."""
    if isinstance(sample, Proposals):
        return _proposals(sample, where)
    if sample is None or isinstance(sample, (str, bytes, tuple)):
        raise ValueError(f"{where}: must be {WANTED}, got {type(sample).__name__}")
    x = as_any_array(sample, where)
    if x.ndim not in (2, 3) or not all(x.shape[:2]):
        raise ValueError(f"{where}: must be {WANTED}, with at least one pixel, got shape {x.shape}{UNWRAPPED}")
    if x.ndim == 3:
        return DenseImage(_features(x, where)), x.shape[2]
    if x.dtype.kind not in "iu":
        raise ValueError(
            f"{where}: words must be integers, got {x.dtype}; give one feature a pixel as (H, W, 1){UNWRAPPED}"
        )
    if x.min() < 0:
        raise ValueError(f"{where}: words must be integers >= 0, got {x.min()}")
    if x.max() >= MOST_WORDS:
        raise ValueError(
            f"{where}: word {x.max()}, but a weight is learned for every word up to the largest: renumber them"
        )
    return WordImage(x.astype(np.int64, copy=False)), int(x.max()) + 1


def _proposals(sample: Proposals, where: str) -> tuple[BoxCandidates, int]:
    boxes = _boxes(sample.boxes, f"{where}: boxes")
    if sp.issparse(sample.features):
        raise ValueError(f"{where}: features of proposals must be an array, got a sparse matrix: take its toarray()")
    features = _features(as_any_array(sample.features, f"{where}: features"), where)
    if features.ndim != 2 or len(features) != len(boxes):
        raise ValueError(
            f"{where}: features must have {len(boxes)} rows, one a box, and 2 dimensions, got shape {features.shape}"
        )
    return BoxCandidates(boxes, features), features.shape[1]


def _boxes(boxes: Any, where: str) -> np.ndarray:
    array = as_any_array(boxes, where)
    if array.ndim != 2 or array.shape[1] != 4 or not len(array):
        raise ValueError(f"{where}: must be (c, 4), at least one box, got shape {array.shape}")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{where}: must hold real numbers, got {array.dtype}")
    for box in array[~np.isfinite(array).all(axis=1)]:
        name = SIDES[int(np.argmin(np.isfinite(box)))]
        raise ValueError(f"{where}: {name} is {box[SIDES.index(name)]}, but must be a finite number")
    for first, last in ((0, 2), (1, 3)):
        for box in array[~(array[:, first] < array[:, last])]:
            raise ValueError(
                f"{where}: {SIDES[first]} is {box[first]:g} and {SIDES[last]} {box[last]:g}, "
                f"but {SIDES[first]} < {SIDES[last]} in a box, the latter excluded"
            )
    return array


def _features(x: np.ndarray, where: str) -> np.ndarray:
    x = as_features(x, where)
    if not x.shape[-1:] or not x.shape[-1]:
        raise ValueError(f"{where}: there are no features, got shape {x.shape}")
    check_features_finite(x, where)
    return x


def _most_words(needed: list[int], n_words: int | None, estimator: str) -> int:
    most = int(np.argmax(needed))
    if n_words is not None and needed[most] > n_words:
        raise ValueError(
            f"X, sample {most}: word {needed[most] - 1}, but {estimator} is expecting words below {n_words}; "
            "set n_words to learn with more than the words of X"
        )
    return needed[most] if n_words is None else n_words
