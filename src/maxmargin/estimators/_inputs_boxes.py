"""Images or proposals, and a box for each, or say which sample is wrong and why."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..solvers.base import check_count
from ..structures.boxes import BoxCandidates, DenseImage, Image, WordImage


class Proposals(NamedTuple):
    """Boxes of one image that may be predicted."""

    boxes: Any  # (c, 4) left, top, right, bottom
    features: Any  # (c, F)


SIDES = ("left", "top", "right", "bottom")
WANTED = "(H, W) integers, the word of each pixel, (H, W, F) features of each, or Proposals(boxes, features)"
KINDS = {WordImage: "an image of words", DenseImage: "an image of features", BoxCandidates: "Proposals"}


def read_box_samples(
    X: Any, kind: type | None = None, n_features: int | None = None, estimator: str = "BoxSVM"
) -> tuple[list[Any], int]:
    """Samples of one kind, and how many features they have; after a fit, of its kind and with as many features."""
    if not _is_list(X) or not len(X):
        raise ValueError(f"X must be a list of samples, at least one, each {WANTED}")
    read = [_sample(sample, f"X, sample {i}") for i, sample in enumerate(X)]
    samples, widths = [one for one, _ in read], [width for _, width in read]
    expected = kind or type(samples[0])
    for i, sample in enumerate(samples):
        if type(sample) is not expected:
            who = "like sample 0" if kind is None else f"as {estimator} was fitted to"
            raise ValueError(f"X, sample {i}: must be {KINDS[expected]}, {who}, but is {KINDS[type(sample)]}")
    counted = _most_words if expected is WordImage else _same_width
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
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if not _is_list(y) or len(y) != n:
        count = len(y) if _is_list(y) else f"an object of type {type(y).__name__}"
        raise ValueError(f"y must hold one box (left, top, right, bottom) for each of {n} samples, got {count}")
    for i, box in enumerate(y):
        if np.shape(_array(box, f"y, sample {i}")) != (4,):
            raise ValueError(f"y, sample {i}: must be a box of four numbers (left, top, right, bottom), got {box!r}")
    return np.concatenate([_boxes([box], f"y, sample {i}") for i, box in enumerate(y)])


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
    x = _array(sample, where)
    if x.ndim not in (2, 3) or not all(x.shape[:2]):
        raise ValueError(f"{where}: must be {WANTED}, with at least one pixel, got shape {x.shape}")
    if x.ndim == 3:
        return DenseImage(_features(x, where)), x.shape[2]
    if x.dtype.kind not in "iu":
        raise ValueError(f"{where}: words must be integers, got {x.dtype}; give one feature a pixel as (H, W, 1)")
    if x.min() < 0:
        raise ValueError(f"{where}: words must be integers >= 0, got {x.min()}")
    return WordImage(x.astype(np.int64, copy=False)), int(x.max()) + 1


def _proposals(sample: Proposals, where: str) -> tuple[BoxCandidates, int]:
    boxes = _boxes(sample.boxes, f"{where}: boxes")
    features = _features(_array(sample.features, f"{where}: features"), where)
    if features.ndim != 2 or len(features) != len(boxes):
        raise ValueError(
            f"{where}: features must have {len(boxes)} rows, one a box, and 2 dimensions, got shape {features.shape}"
        )
    return BoxCandidates(boxes, features), features.shape[1]


def _boxes(boxes: Any, where: str) -> np.ndarray:
    array = _array(boxes, where)
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
    if x.dtype.kind not in "biuf":
        raise ValueError(f"{where}: features must hold real numbers, got {x.dtype}")
    if not x.shape[-1:] or not x.shape[-1]:
        raise ValueError(f"{where}: there are no features, got shape {x.shape}")
    with np.errstate(over="ignore"):
        x = x.astype(np.float64, copy=False)
    if not np.all(np.isfinite(x)):
        raise ValueError(f"{where}: features hold NaN or infinity")
    return x


def _most_words(needed: list[int], n_words: int | None, estimator: str) -> int:
    most = int(np.argmax(needed))
    if n_words is not None and needed[most] > n_words:
        raise ValueError(
            f"X, sample {most}: word {needed[most] - 1}, but {estimator} is expecting words below {n_words}; "
            "set n_words to learn with more than the words of X"
        )
    return needed[most] if n_words is None else n_words


def _same_width(widths: list[int], n_features: int | None, estimator: str) -> int:
    expected = widths[0] if n_features is None else n_features
    for i, width in enumerate(widths):
        if width != expected:
            who = "sample 0 has" if n_features is None else f"{estimator} is expecting"
            raise ValueError(f"X, sample {i}: {width} features, but {who} {expected} features")
    return expected


def _is_list(values: Any) -> bool:
    listed = isinstance(values, (list, tuple)) and not isinstance(values, Proposals)
    return listed or (isinstance(values, np.ndarray) and values.ndim > 0)


def _array(values: Any, where: str) -> np.ndarray:
    try:
        return np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
