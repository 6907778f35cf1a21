"""Flatten and encode label sequences, or say which sample is wrong and why."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, pairwise, repeat
from typing import Any

import numpy as np
from sklearn.utils.validation import column_or_1d

from .arrays import SEQUENCES, Words, as_array, read_target
from .sequences import place_of

WIDEST_TEXT = 64  # longer labels stay objects: one long string would widen every entry of a "U" array
_NUMBER = (int, float, np.integer, np.floating, np.bool_)


def stack_labels(y: Any, offsets: np.ndarray, name: str = "y", words: Words = SEQUENCES) -> np.ndarray:
    """Flat 1-d array of labels from a list of label sequences, a 2-d array (one row each) or one flat array."""
    read_target(y, name)
    n, total = len(offsets) - 1, int(offsets[-1])
    if not isinstance(y, (list, tuple)):
        y = as_array(y, name)
        if y.shape == (total, 1) and n != total:
            y = column_or_1d(y, warn=True)
        if y.ndim > 2:
            raise ValueError(f"{name} must hold one label per {words.site}, got an array of shape {y.shape}")
    if len(y) == 0 or isinstance(y[0], (str, bytes)) or not hasattr(y[0], "__len__"):
        if len(y) != total:
            raise ValueError(
                f"{name} has {len(y)} labels, but X has {total} {words.site}s in {n} {words.sample}s: give one label "
                f"per {words.site}, flat or as one list per {words.sample}"
            )
        return _join_labels([y], offsets, name, words)
    if len(y) != n:
        raise ValueError(f"{name} has {len(y)} label sequences, but X has {n} {words.sample}s")
    parts: list[Any] = []
    for i, (labels, length) in enumerate(zip(y, np.diff(offsets).tolist(), strict=True)):
        if not isinstance(labels, (list, tuple)):
            labels = as_array(labels, f"{name}, sample {i}")
            if labels.ndim != 1:
                raise ValueError(f"{name}, sample {i}: labels must be 1-d, got an array of shape {labels.shape}")
        if len(labels) != length:
            raise ValueError(
                f"{name}, sample {i}: {len(labels)} labels, but the {words.sample} has {length} {words.site}s"
            )
        parts.append(labels)
    return _join_labels(parts, offsets, name, words)


def encode_labels(flat_labels: np.ndarray, offsets: np.ndarray, classes: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Codes (int32) of labels in ``classes``, -1 where unknown; ``classes=None`` takes the sorted distinct labels."""
    labels = flat_labels.tolist()
    if len(labels) != offsets[-1]:
        raise ValueError(f"{len(labels)} labels for {offsets[-1]} positions")
    if classes is None:
        classes = np.array(sorted(set(labels)), dtype=flat_labels.dtype)
    classes = np.asarray(classes)
    # A dict rather than a search: any order of classes, strings of any kind, and 1 == 1.0 == True as users expect.
    codes = {label: code for code, label in enumerate(classes.tolist())}
    if len(codes) != len(classes):
        raise ValueError("classes holds a label twice")
    return np.fromiter(map(codes.get, labels, repeat(-1)), dtype=np.int32, count=len(labels)), classes


def unstack(flat_values: np.ndarray, offsets: np.ndarray) -> list[np.ndarray]:
    """Cut flat values into one view per sequence."""
    bounds = offsets.tolist()
    return [flat_values[start:stop] for start, stop in pairwise(bounds)]


def _join_labels(parts: list[Any], offsets: np.ndarray, name: str, words: Words) -> np.ndarray:
    """Concatenate label sequences without letting numpy turn numbers into strings, or widen all to the longest."""
    dtypes = {part.dtype if isinstance(part, np.ndarray) else np.dtype(object) for part in parts}
    kinds = {dtype.kind for dtype in dtypes}
    narrow = len(dtypes) == 1 or max(dtype.itemsize for dtype in dtypes) <= 4 * WIDEST_TEXT
    if kinds <= set("biuf") or (kinds == {"U"} and narrow):
        return _check_numbers(np.concatenate(parts), offsets, name, words)
    every: Iterable[Any] = (part.tolist() if isinstance(part, np.ndarray) else part for part in parts)
    labels = list(chain.from_iterable(every))
    types = set(map(type, labels))
    if all(issubclass(kind, str) for kind in types):
        objects = any(isinstance(part, np.ndarray) and part.dtype == object for part in parts)
        wide = max(map(len, labels), default=0) > WIDEST_TEXT
        return np.array(labels, dtype=object if objects or wide else str)
    if all(issubclass(kind, _NUMBER) for kind in types):
        return _check_numbers(np.array(labels), offsets, name, words)
    row, why = next((row, why) for row, label in enumerate(labels) if (why := _complaint(label, labels[0], words)))
    raise ValueError(f"{place_of(name, offsets, row, words)}: {why}")


def _complaint(label: Any, first: Any, words: Words) -> str | None:
    if label is None or (isinstance(label, (float, np.floating)) and label != label):
        return f"the label is {'None' if label is None else 'NaN'}: every {words.site} needs one"
    if not isinstance(label, (str, *_NUMBER)):
        return f"labels must be strings or whole numbers, got {type(label).__name__}"
    if isinstance(label, str) != isinstance(first, str):
        return f"label {label!r} next to {first!r} in sample 0: strings and numbers do not mix"
    return None


def _check_numbers(labels: np.ndarray, offsets: np.ndarray, name: str, words: Words) -> np.ndarray:
    if labels.dtype.kind == "O":
        raise ValueError(f"{name}: whole numbers beyond 64 bits cannot be labels: give them as strings")
    if labels.dtype.kind == "f":
        wrong = ~(np.isfinite(labels) & (labels == np.floor(labels)))
        if wrong.any():
            row = int(wrong.argmax())
            what = "NaN" if np.isnan(labels[row]) else f"{labels[row]}"
            raise ValueError(
                f"{place_of(name, offsets, row, words)}: the label is {what}. Unknown label type: continuous; "
                "labels are strings or whole numbers"
            )
    return labels
