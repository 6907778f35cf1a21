"""Blood cells: find the one white cell in an image."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.datasets._fetch import NPZ, Arrays, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# No address: the public origin has photographs and one annotation file each, to be decoded and shrunk.
BCCD = DataFile(
    path="bccd/bccd.npz",
    format=NPZ,
    urls=(),
    convert=None,
    sha256="73e3761e31b60e9e5c62b96e0351fe572c8e61a5e1625f8e06db771cf99b0cf4",
)

SCALE = 8
SPLITS = ("train", "val", "test")
_WHITE_CELL = 0

_DESCR = """BCCD, one white blood cell in an image

194 training, 85 validation and 65 test photographs of blood smears through a microscope, 640 x 480 pixels averaged
over squares of 8 x 8 to 80 x 60. Each holds exactly one white blood cell, among red cells and platelets, the boxes of
which are not loaded; the 20 of the 364 images with no or two white cells are left out. To be predicted is the box
around the white cell, 80 to 338 original pixels wide and 83 to 286 high; 27 % of the boxes touch the border.

Boxes are (left, top, right, bottom). `boxes` are those of the annotation, in original pixels; `y` are these divided
by 8 and rounded: pixels left..right-1 and top..bottom-1 of the shrunk image. Rounding leaves a mean intersection over
union of 0.96 with the annotation, in each split. The mean training box has one of 0.17 with the test boxes.

`words` describe each pixel by one of `n_levels` ** 3 colours: for each channel, its place among the quantiles of the
training images. A box that scores the sum of one weight a word over its pixels can be found by efficient
subwindow search (C. Lampert, M. Blaschko, T. Hofmann, CVPR 2008).

Shenggan, https://github.com/Shenggan/BCCD_Dataset (MIT licence), with its lists of training, validation and test
images.
"""


def fetch_bccd(*, n_levels: int = 8, data_home: PathLike | None = None) -> Bunch:
    """Load the blood cells, a task of predicting one box in an image.

    There is no download: the data must lie in a data folder.

    Parameters
    ----------
    n_levels : int
        Levels a channel that colours are rounded to in `words`; 1 to 16.
    data_home : path-like, optional
        First folder to look into.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train`, `val` and `test`: `X_train` (n_images, 60, 80, 3): images, red, green and blue in
        [0, 1]; `words_train` (n_images, 60, 80): integers 0..n_levels ** 3 - 1, the colour of each pixel; `y_train`
        (n_images, 4): boxes (left, top, right, bottom) in pixels of `X_train`, integers, right and bottom excluded;
        `boxes_train` (n_images, 4): the annotated boxes, in original pixels; `names_train` (n_images,). Besides,
        `levels` (3, n_levels - 1): the values between two levels of each channel; `scale`: 8, original pixels a
        pixel; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_bccd
    >>> cells = fetch_bccd()
    >>> cells.X_train.shape[1:], cells.y_train.shape[1]
    ((60, 80, 3), 4)
    """
    from sklearn.utils import Bunch, check_scalar

    check_scalar(n_levels, "n_levels", numbers.Integral, min_val=1, max_val=16)
    arrays = load_file(BCCD, data_home)
    chosen, boxes = _single_white_cells(arrays)
    of_split = arrays["split"][chosen]
    images = arrays["images"][chosen]
    levels = _levels(images[of_split == 0], n_levels)
    columns = {
        "X": images / 255.0,
        "words": _words(images, levels),
        "y": _shrunk(boxes, images.shape[1:3]),
        "boxes": boxes,
        "names": arrays["names"][chosen],
    }
    data = Bunch(levels=levels, scale=SCALE, DESCR=_DESCR)
    for number, split in enumerate(SPLITS):
        for name, values in columns.items():
            data[f"{name}_{split}"] = values[of_split == number]
    return data


def _single_white_cells(arrays: Arrays) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the images with exactly one white cell, and their boxes."""
    white = arrays["box_class"] == _WHITE_CELL
    owners = arrays["box_image"][white].astype(np.int64)
    single = np.bincount(owners, minlength=len(arrays["images"]))[owners] == 1
    order = np.argsort(owners[single])
    chosen, boxes = owners[single][order], arrays["boxes"][white][single][order].astype(np.int64)
    bad = (boxes[:, 2:] <= boxes[:, :2]).any(axis=1)
    if bad.any():
        k = int(np.argmax(bad))
        raise ValueError(f"image {arrays['names'][chosen[k]]} has a white cell without area, {boxes[k].tolist()}")
    return chosen, boxes


def _shrunk(boxes: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Boxes in pixels of the shrunk images, at least one pixel wide and high."""
    height, width = shape
    limits = np.array([width, height])
    first = np.minimum(np.rint(boxes[:, :2] / SCALE).astype(np.int64), limits - 1)
    last = np.minimum(np.rint(boxes[:, 2:] / SCALE).astype(np.int64), limits)
    return np.concatenate([first, np.maximum(last, first + 1)], axis=1)


def _levels(images: np.ndarray, n_levels: int) -> np.ndarray:
    """Quantiles that part each channel into equally many pixels."""
    inner = np.arange(1, n_levels) / n_levels
    return np.quantile(images.reshape(-1, images.shape[-1]), inner, axis=0).T


def _words(images: np.ndarray, levels: np.ndarray) -> np.ndarray:
    words = np.zeros(images.shape[:-1], dtype=np.int64)
    for channel, between in enumerate(levels):
        words = words * (len(between) + 1) + np.searchsorted(between, images[..., channel], side="right")
    return words
