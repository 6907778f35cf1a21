"""Pictures of superpixels of which only centroids, areas, mean colours and neighbours are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ROUNDS = 60
BACKGROUND = np.array([0.75, 0.88, 1.0])
TO_XYZ = np.array([0.95047, 1.0, 1.08883])  # the white point D65
TO_RGB = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]])


class Superpixels(NamedTuple):
    centers: np.ndarray  # (n, 2) x, y in [-1, 1], of width and height
    pixels: np.ndarray  # (n,)
    edges: np.ndarray  # (e, 2)


def picture_shape(cells: Superpixels) -> tuple[int, int]:
    """Height and width: their product is known; for their ratio, neighbours are taken to be as far in x as in y."""
    across, down = np.abs(cells.centers[cells.edges[:, 0]] - cells.centers[cells.edges[:, 1]]).mean(axis=0)
    width = np.sqrt(cells.pixels.sum() * down / across)
    return round(cells.pixels.sum() / width), round(width)


def cell_map(cells: Superpixels, coarse: int = 2) -> np.ndarray:
    """Which superpixel every pixel (of a picture `coarse` times smaller) may belong to: a power diagram.

    The nearest centroid, with a bonus for each such that areas come out right: not the true outlines, but the true
    places, sizes and, mostly, neighbours.
    """
    height, width = (side // coarse for side in picture_shape(cells))
    y, x = np.mgrid[:height, :width]
    places = np.stack([x.ravel() + 0.5, y.ravel() + 0.5], axis=1)
    centers = (cells.centers + 1) / 2 * [width, height]
    distance = (places**2).sum(axis=1)[:, None] - 2 * places @ centers.T + (centers**2).sum(axis=1)
    wanted = cells.pixels * (height * width / cells.pixels.sum())
    bonus = np.zeros(len(wanted))
    for _ in range(ROUNDS):
        area = np.bincount(np.argmin(distance - bonus, axis=1), minlength=len(wanted))
        bonus += 0.3 * (wanted - area)
    return np.argmin(distance - bonus, axis=1).reshape(height, width)


def rgb_of_lab(lab: np.ndarray) -> np.ndarray:
    """(..., 3) colours in [0, 1] of CIE L, a, b."""
    f = (lab[..., :1] + 16) / 116 + lab[..., [1, 0, 2]] * [1 / 500, 0, -1 / 200]
    xyz = np.where(f > 6 / 29, f**3, 3 * (6 / 29) ** 2 * (f - 4 / 29)) * TO_XYZ
    linear = np.clip(xyz @ TO_RGB.T, 0, 1)
    return np.where(linear > 0.0031308, 1.055 * linear ** (1 / 2.4) - 0.055, 12.92 * linear)


def shaded(colors: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Colours of superpixels, those of label 0 in pale blue, which no horse has."""
    return np.where(np.asarray(labels)[:, None] > 0, colors, BACKGROUND)


def draw_rows(path: Any, rows: list[tuple[str, np.ndarray, dict[str, np.ndarray]]]) -> None:
    """One row a picture: its name, its cell map, and the colours of the superpixels under each title."""
    from matplotlib.figure import Figure

    n_columns = len(rows[0][2])
    figure = Figure(figsize=(2.6 * n_columns, 2.1 * len(rows)), layout="constrained")
    for axes, (name, cells, views) in zip(figure.subplots(len(rows), n_columns, squeeze=False), rows, strict=True):
        for ax, (title, colors) in zip(axes, views.items(), strict=True):
            ax.imshow(colors[cells])
            ax.set_title(title, fontsize=8)
            ax.set(xticks=[], yticks=[])
        axes[0].set_ylabel(name, fontsize=8)
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=100)
