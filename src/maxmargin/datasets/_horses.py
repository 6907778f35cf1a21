"""Weizmann horses: superpixel graphs to be split into horse and background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from maxmargin.datasets._fetch import NPZ, Arrays, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# No address: the features were computed from the images, which are not part of the set.
HORSES = DataFile(
    path="horses/weizmann_superpixels.npz",
    format=NPZ,
    urls=(),
    convert=None,
    sha256="bfa573713f8d13870b05aac47658b3c933395d2b27d6c79c613e9dfa63d1654f",
)

N_TRAIN = 200
FEATURE_NAMES = (
    *(f"{statistic}_{channel}" for channel in "Lab" for statistic in ("mean", "std")),
    *(f"histogram_{channel}[{k}]" for channel in "Lab" for k in range(8)),
    *(f"gradient[{k}]" for k in range(8)),
    *(f"lbp[{k}]" for k in range(10)),
    *("x", "y", "x*x", "y*y", "x*y", "area", "constant"),
)
# Typical values, so that lengths and similarities are of order one: the median length of a boundary is 18 pixels,
# the quartiles of the Lab distance are 5, 12 and 25.
_LENGTH_SCALE = 20.0
_DISTANCE_SCALES = (5, 20)

_DESCR = """Weizmann horses as superpixel graphs

200 training and 127 test images of horses, cut into superpixels (SLIC, about 160 an image): 27,814 and 17,453 nodes
in all, 110 to 164 an image, and 73,606 and 46,364 edges between neighbours. Label 1 is horse (more than half of the
pixels), label 0 background; 23.2 % and 25.8 % of the superpixels are horse, so that background everywhere is right
for 74.2 % of the test superpixels, and a logistic regression of each superpixel by itself for 89.4 %.

The 55 node features are the mean and the standard deviation of L, a and b (divided by 100), their histograms of 8
bins, a histogram of 8 gradient orientations, one of 10 uniform local binary patterns, the centroid x, y in [-1, 1]
and its products, the relative area, and a constant 1. An edge is listed once, the lower node first. Its raw features
are the length of the common boundary in pixels and the distance d of the two mean colours in Lab. For
`edge_features="similarity"` they are the products of 1 and length / 20 with 1, exp(-d / 5) and exp(-d / 20): a
price, with weights of at least 0, of giving two alike neighbours different labels.

Labels of superpixels cannot follow every outline: the true ones get 96.3 % of all pixels right (96.1 % in the test
images). The pixels that labels y get right in an image are the sum of `foreground` where y is 1 and of
`pixels - foreground` where it is 0. `foreground` is not whole, because the masks were shrunk with the images.

Stand-in for HorseSeg (A. Kolesnikov et al., ECCV 2014), and not comparable with results on it: other images, other
features. Images and masks: E. Borenstein, S. Ullman, "Class-specific, top-down segmentation", ECCV 2002, the longest
side shrunk to 240 pixels or less; horse318 is left out, because its mask has another frame. No licence is stated.
"""


def fetch_horses(
    edge_features: Literal["similarity", "raw"] = "similarity", *, data_home: PathLike | None = None
) -> Bunch:
    """Load the horses, a task of labelling the nodes of graphs with two labels.

    There is no download: the data must lie in a data folder.

    Parameters
    ----------
    edge_features : {"similarity", "raw"}
        Describe an edge by how alike its ends are, or by the length of the boundary and the distance of the colours.
        All are non-negative.
    data_home : path-like, optional
        First folder to look into.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train` and `test`: `X_train`: list of (n_nodes, 55) arrays; `edges_train`: list of
        (n_edges, 2) arrays of node numbers, each pair of neighbours once, lower node first; `edge_features_train`:
        list of (n_edges, 6) or (n_edges, 2) arrays; `y_train`: list of (n_nodes,) arrays of 0 and 1;
        `pixels_train`: list of (n_nodes,) arrays of integers, the sizes of the superpixels; `foreground_train`: list
        of (n_nodes,) arrays, how many of these pixels are horse; `names_train` (n_images,): the names of the images.
        Besides, `feature_names`, `edge_feature_names`, `target_names`, `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_horses
    >>> horses = fetch_horses()
    >>> horses.X_train[0].shape[1], horses.edge_features_train[0].shape[1]
    (55, 6)
    """
    from sklearn.utils import Bunch

    if edge_features not in ("similarity", "raw"):
        raise ValueError(f"edge_features must be 'similarity' or 'raw', got {edge_features!r}")
    arrays = load_file(HORSES, data_home)
    columns = _columns(arrays, edge_features)
    data = Bunch(
        feature_names=np.array(FEATURE_NAMES),
        edge_feature_names=np.array(_edge_feature_names(edge_features)),
        target_names=np.array(["background", "horse"]),
        DESCR=_DESCR,
    )
    for split, part in (("train", slice(N_TRAIN)), ("test", slice(N_TRAIN, None))):
        for name, parts in columns.items():
            data[f"{name}_{split}"] = parts[part]
        data[f"names_{split}"] = arrays["names"][part]
    return data


def _columns(arrays: Arrays, kind: str) -> dict[str, list[np.ndarray]]:
    """The fields of the result, cut into one array an image."""
    nodes, edges = (_checked_offsets(arrays, *names) for names in (("node", "labels"), ("edge", "edges")))
    _check_edges(arrays["edges"], nodes, edges)
    pixels = arrays["pixels"].astype(np.int64)
    of_nodes = {
        "X": arrays["features"].astype(np.float64),
        "y": arrays["labels"].astype(np.int64),
        "pixels": pixels,
        "foreground": arrays["fg_fraction"] * pixels.astype(np.float64),
    }
    of_edges = {
        "edges": arrays["edges"].astype(np.int64),
        "edge_features": _edge_features(kind, arrays["edge_features"].astype(np.float64)),
    }
    return {
        **{name: np.split(values, nodes[1:-1]) for name, values in of_nodes.items()},
        **{name: np.split(values, edges[1:-1]) for name, values in of_edges.items()},
    }


def _checked_offsets(arrays: Arrays, kind: str, values: str) -> np.ndarray:
    offsets = arrays[f"{kind}_offsets"].astype(np.int64)
    if len(offsets) != len(arrays["names"]) + 1 or offsets[0] != 0 or offsets[-1] != len(arrays[values]):
        raise ValueError(
            f"the {kind} offsets must lead from 0 to {len(arrays[values])} in {len(arrays['names'])} steps, "
            f"got {offsets[0]} to {offsets[-1]} in {len(offsets) - 1}"
        )
    return offsets


def _check_edges(edges: np.ndarray, node_offsets: np.ndarray, edge_offsets: np.ndarray) -> None:
    n_nodes = np.repeat(np.diff(node_offsets), np.diff(edge_offsets))
    bad = (edges[:, 0] < 0) | (edges[:, 0] >= edges[:, 1]) | (edges[:, 1] >= n_nodes)
    if bad.any():
        k = int(np.argmax(bad))
        image = int(np.searchsorted(edge_offsets, k, side="right")) - 1
        raise ValueError(f"image {image} of {n_nodes[k]} nodes has an edge {edges[k].tolist()}")


def _edge_features(kind: str, raw: np.ndarray) -> np.ndarray:
    if kind == "raw":
        return raw
    length, distance = raw.T
    alike = np.stack([np.ones_like(distance), *(np.exp(-distance / scale) for scale in _DISTANCE_SCALES)], axis=1)
    return np.concatenate([alike, alike * (length / _LENGTH_SCALE)[:, None]], axis=1)


def _edge_feature_names(kind: str) -> list[str]:
    if kind == "raw":
        return ["length", "distance"]
    alike = [f"exp(-distance/{scale})" for scale in _DISTANCE_SCALES]
    return ["constant", *alike, "length", *(f"length*{name}" for name in alike)]
