"""One box in an image: pixel features summed over the box, or boxes proposed with features of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.special import logsumexp

from .._boxes import box_iou
from ..inference.boxes import best_box, candidate_marginals, top_boxes


class Image:
    """Pixels with features; to be predicted is any box of them."""

    has_intercept = True
    pixels: np.ndarray
    shape: tuple[int, ...]  # H, W

    def rows(self, n_features: int) -> Any:
        """Features (H W, F) of the pixels."""
        raise NotImplementedError

    def with_rows(self, rows: Any) -> Image:
        """The same image with other features, of which those of words may be multiples only."""
        raise NotImplementedError

    def scores(self, coef: np.ndarray) -> np.ndarray:
        """``<coef, x>`` (H, W) of every pixel."""
        raise NotImplementedError

    def total(self, box: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The sum of the features in a box, as indices and values."""
        raise NotImplementedError

    def top(self, coef: np.ndarray, intercept: float, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best boxes (k, 4), fewer if there are no more, and their scores."""
        return top_boxes(self.scores(coef) + intercept, k)


class WordImage(Image):
    """A pixel has one feature, its word, of the same value everywhere."""

    def __init__(self, words: np.ndarray, value: float = 1.0):
        self.pixels, self.shape, self.value = words, words.shape, value  # (H, W) integers

    def rows(self, n_features: int) -> Any:
        n = self.pixels.size
        return csr_array((np.full(n, self.value), self.pixels.ravel(), np.arange(n + 1)), shape=(n, n_features))

    def with_rows(self, rows: Any) -> WordImage:
        return WordImage(self.pixels, float(rows.data[0]))

    def scores(self, coef: np.ndarray) -> np.ndarray:
        return (self.value * coef)[self.pixels]

    def total(self, box: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        counts = np.bincount(_cut(self.pixels, box).ravel())
        words = np.flatnonzero(counts)
        return words, self.value * counts[words]


class DenseImage(Image):
    """A pixel has a vector of features."""

    def __init__(self, features: np.ndarray):
        self.pixels, self.shape = features, features.shape[:2]  # (H, W, F)

    def rows(self, n_features: int) -> np.ndarray:
        return self.pixels.reshape(-1, n_features)

    def with_rows(self, rows: Any) -> DenseImage:
        return DenseImage(rows.reshape(self.pixels.shape))

    def scores(self, coef: np.ndarray) -> np.ndarray:
        return self.pixels @ coef

    def total(self, box: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(self.pixels.shape[2]), _cut(self.pixels, box).sum(axis=(0, 1))


class BoxCandidates:
    """Boxes (c, 4) with features (c, F); to be predicted is one of them."""

    has_intercept = False  # it would be the same for all

    def __init__(self, boxes: np.ndarray, features: np.ndarray):
        self.boxes, self.features = boxes, features

    def rows(self, n_features: int) -> np.ndarray:
        """Features (c, F) of the boxes."""
        return self.features

    def with_rows(self, rows: Any) -> BoxCandidates:
        """The same boxes with other features."""
        return BoxCandidates(self.boxes, rows)

    def scores(self, coef: np.ndarray) -> np.ndarray:
        return self.features @ coef

    def top(self, coef: np.ndarray, intercept: float, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best boxes (k, 4), fewer if there are no more, and their scores; of equal ones the first come first."""
        scores = self.scores(coef) + intercept
        best = np.argsort(-scores, kind="stable")[:k]
        return self.boxes[best], scores[best]

    def marginals(self, coef: np.ndarray) -> np.ndarray:
        """Probabilities (c,) of the boxes."""
        return candidate_marginals(self.scores(coef))


class ImageBoxes:
    """Samples whose outputs are boxes (left, top, right, bottom) of an image; a structure for `KnownProblem`.

    The score of a box is the sum of ``<w, x>`` over its pixels, plus the last weight for each with `intercept`, divided
    by `area`: of the size of true boxes, it makes w a score a pixel and the score one that is like a mean. The loss is
    1 - IoU (blaschko08).
    """

    releases_lock = True  # the search is compiled, and nothing is kept between two questions

    def __init__(
        self,
        images: list[Image],
        y: np.ndarray,
        n_features: int,
        *,
        area: float = 1.0,
        intercept: bool = True,
        sample_weight: np.ndarray | None = None,
    ):
        self.images, self.y, self.area, self.intercept = images, y, area, intercept
        self.n_samples, self.n_features = len(images), n_features + intercept
        self.sample_weight = sample_weight

    def max_oracle(self, w: np.ndarray, i: int) -> np.ndarray:
        return best_box(self.scores(w, i), self.y[i])[0]

    def topk_oracle(self, w: np.ndarray, i: int, k: int) -> np.ndarray:
        return top_boxes(self.scores(w, i), k, self.y[i])[0]

    def decode(self, w: np.ndarray, i: int) -> np.ndarray:
        return best_box(self.scores(w, i))[0]

    def scores(self, w: np.ndarray, i: int) -> np.ndarray:
        """What the pixels (H, W) of image i add to a box."""
        scores = self.images[i].scores(w[: self.n_features - self.intercept])
        return (scores + w[-1] if self.intercept else scores) / self.area

    def joint_feature(self, i: int, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        indices, values = self.images[i].total(y)
        if self.intercept:
            indices = np.append(indices, self.n_features - 1)
            values = np.append(values, (y[2] - y[0]) * (y[3] - y[1]))
        return indices, values / self.area

    def loss(self, i: int, y: np.ndarray) -> float:
        return 1.0 - float(box_iou(y, self.y[i]))

    def unpack(self, w: np.ndarray) -> dict[str, Any]:
        """The weights (F,) of a pixel's features, and its bias, 0 if there is none."""
        n_features = self.n_features - self.intercept
        return {"coef": w[:n_features] / self.area, "intercept": float(w[n_features:].sum() / self.area)}

    def data(self) -> list[np.ndarray]:
        return [self.y, np.array([self.area, self.intercept]), *(image.pixels for image in self.images)]


class ProposedBoxes:
    """Samples whose outputs are numbers of proposed boxes; a structure for `KnownProblem`.

    The true output is the box of the highest IoU with the true box, and the loss of another how much lower its IoU is:
    1 - IoU if the true box is proposed itself.
    """

    def __init__(self, samples: list[BoxCandidates], truth: np.ndarray, *, sample_weight: np.ndarray | None = None):
        self.samples, self.sample_weight = samples, sample_weight
        self.n_samples, self.n_features = len(samples), samples[0].features.shape[1]
        overlaps = [box_iou(sample.boxes, box) for sample, box in zip(samples, truth, strict=True)]
        self.losses = [overlap.max() - overlap for overlap in overlaps]
        self.y = [int(overlap.argmax()) for overlap in overlaps]

    def max_oracle(self, w: np.ndarray, i: int) -> int:
        return int(np.argmax(self.samples[i].scores(w) + self.losses[i]))

    def topk_oracle(self, w: np.ndarray, i: int, k: int) -> np.ndarray:
        return np.argsort(-(self.samples[i].scores(w) + self.losses[i]), kind="stable")[:k]

    def decode(self, w: np.ndarray, i: int) -> int:
        return int(np.argmax(self.samples[i].scores(w)))

    def exp_oracle(self, v: np.ndarray, i: int, emphasis: float) -> tuple[np.ndarray, float, float]:
        scores = self.samples[i].scores(v) + emphasis * self.losses[i]
        chances = candidate_marginals(scores)
        return chances @ self.samples[i].features, float(chances @ self.losses[i]), float(logsumexp(scores))

    def joint_feature(self, i: int, y: int) -> np.ndarray:
        return self.samples[i].features[y]

    def loss(self, i: int, y: int) -> float:
        return float(self.losses[i][y])

    def unpack(self, w: np.ndarray) -> dict[str, Any]:
        """The weights (F,) of a box's features; a bias would be the same for all."""
        return {"coef": w, "intercept": 0.0}

    def data(self) -> list[np.ndarray]:
        return [*self.losses, *(sample.features for sample in self.samples)]


def _cut(pixels: np.ndarray, box: np.ndarray) -> np.ndarray:
    left, top, right, bottom = box
    return pixels[top:bottom, left:right]
