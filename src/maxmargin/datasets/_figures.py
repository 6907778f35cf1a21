"""Articulated figures: stick people among clutter, with the places of their joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Parts, each with its parent; left and right as seen in the image.
_PARENTS = {
    "neck": None,
    "head": "neck",
    "left shoulder": "neck",
    "left elbow": "left shoulder",
    "left hand": "left elbow",
    "right shoulder": "neck",
    "right elbow": "right shoulder",
    "right hand": "right elbow",
    "left hip": "neck",
    "left knee": "left hip",
    "left foot": "left knee",
    "right hip": "neck",
    "right knee": "right hip",
    "right foot": "right knee",
}
_NAMES = list(_PARENTS)
_LIMBS = [(_NAMES.index(child), _NAMES.index(parent)) for child, parent in _PARENTS.items() if parent]
_TORSO = [("left shoulder", "left hip"), ("right shoulder", "right hip"), ("left hip", "right hip")]
_BARS = _LIMBS + [(_NAMES.index(one), _NAMES.index(other)) for one, other in _TORSO]

# In degrees from straight down, outwards positive: what an upper limb likes, and how the lower one goes on from there.
_ARM, _FOREARM = (15.0, 80.0, 150.0), (0.0, 80.0, -100.0)
_THIGH, _SHIN = (5.0, 35.0), (0.0, -40.0)
_SPREAD = 10.0  # standard deviation around these
_LENGTHS = {"head": 0.13, "arm": 0.19, "forearm": 0.18, "thigh": 0.23, "shin": 0.22}  # of the figure's height

_ORIENTATIONS = np.deg2rad([0.0, 45.0, 90.0, 135.0])
_RING = [(round(np.sin(a), 6), round(np.cos(a), 6)) for a in np.arange(8) * np.pi / 4]

_DESCR = """Articulated figures

Stick people of 14 joints in grey images: limbs of random length and of a few favourite angles each, drawn as bars with
a round head, among as many stray bars of the same brightness and length, blurred and with noise. Nothing but their
places tells left from right, or an elbow from a knee, so that a detector of single joints does badly.

The features of a pixel are the image, smoothed at two scales, and how much it is like a bar in each of four directions;
these six at the pixel and at eight places around it.
"""


def make_figures(
    n_samples: int = 100, *, size: int = 64, clutter: int = 10, noise: float = 0.2, random_state: int | None = None
) -> Bunch:
    """Make images of articulated figures, a task of pose estimation.

    Parameters
    ----------
    n_samples : int
        Number of images.
    size : int
        Height and width of the images in pixels, at least 24.
    clutter : int
        Number of stray bars an image.
    noise : float
        Standard deviation of the noise of a pixel; limbs have brightness 1.
    random_state : int, optional
        Determines the images.

    Returns
    -------
    sklearn.utils.Bunch
        `images` (n, size, size); `X` (n, size, size, 54): features of each pixel; `y` (n, 14, 2): column and row of
        each part; `parents` (14,): the tree of the parts, -1 for its root; `part_names`, `feature_names`, `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import make_figures
    >>> figures = make_figures(2, random_state=0)
    >>> figures.images.shape, figures.y.shape
    ((2, 64, 64), (2, 14, 2))
    """
    from sklearn.utils import Bunch

    if size < 24:
        raise ValueError(f"size must be at least 24 pixels to draw a figure in, got {size}")
    if n_samples < 1 or clutter < 0 or not noise >= 0:
        raise ValueError(f"n_samples must be >= 1, clutter and noise >= 0, got {n_samples}, {clutter} and {noise}")
    rng = np.random.default_rng(random_state)
    y = np.array([_pose(rng, size) for _ in range(n_samples)])
    images = np.array([_image(rng, pose, size, clutter, noise) for pose in y])
    parents = np.full(len(_NAMES), -1)
    for child, parent in _LIMBS:
        parents[child] = parent
    return Bunch(
        images=images,
        X=np.array([_features(image) for image in images]),
        y=y,
        parents=parents,
        part_names=np.array(_NAMES),
        feature_names=np.array(_feature_names()),
        DESCR=_DESCR,
    )


def _pose(rng: np.random.Generator, size: int) -> np.ndarray:
    """(14, 2) columns and rows; drawn again until all of the figure is inside."""
    while True:
        height = size * rng.uniform(0.65, 0.8)
        at = {"neck": np.array([rng.uniform(0.3, 0.7) * size, rng.uniform(0.2, 0.4) * size])}
        lean = rng.normal(scale=8.0)
        at["head"] = at["neck"] + _turned(180.0 + lean + rng.normal(scale=8.0), height * _LENGTHS["head"])
        for side, name in ((-1.0, "left"), (1.0, "right")):
            at[f"{name} shoulder"] = at["neck"] + _turned(side * 75.0 + lean, 0.12 * height)
            at[f"{name} hip"] = at["neck"] + _turned(side * 14.0 + lean, 0.32 * height)
            for joints, lengths, upper, lower in (
                (("shoulder", "elbow", "hand"), ("arm", "forearm"), _ARM, _FOREARM),
                (("hip", "knee", "foot"), ("thigh", "shin"), _THIGH, _SHIN),
            ):
                angle, limb = 0.0, [f"{name} {joint}" for joint in joints]
                for k, favourites in enumerate((upper, lower)):
                    angle += rng.choice(favourites) + rng.normal(scale=_SPREAD)
                    length = height * _LENGTHS[lengths[k]] * rng.uniform(0.85, 1.15)
                    at[limb[k + 1]] = at[limb[k]] + _turned(side * angle + lean, length)
        pose = np.rint([at[name] for name in _NAMES]).astype(np.int64)
        if pose.min() >= 1 and pose.max() <= size - 2:
            return pose


def _turned(degrees: float, length: float) -> np.ndarray:
    """A step (x, y) of this length, turned from straight down to the right."""
    angle = np.deg2rad(degrees)
    return length * np.array([np.sin(angle), np.cos(angle)])


def _image(rng: np.random.Generator, pose: np.ndarray, size: int, clutter: int, noise: float) -> np.ndarray:
    bars = [(pose[one], pose[other]) for one, other in _BARS]
    for _ in range(clutter):
        start = rng.uniform(0, size, 2)
        bars.append((start, start + _turned(rng.uniform(0, 360), 0.14 * size * rng.uniform(0.85, 1.15))))
    rows, columns = np.mgrid[:size, :size]
    pixels = np.stack([columns, rows], axis=-1)
    thickness = size / 64
    image = np.zeros((size, size))
    for start, end in bars:
        image = np.maximum(image, thickness + 0.5 - _distance(pixels, start, end))
    head = np.linalg.norm(pixels - pose[_NAMES.index("head")], axis=-1)
    image = np.maximum(image, 3.0 * thickness + 0.5 - head)
    return scipy.ndimage.gaussian_filter(np.minimum(image, 1.0), 0.7) + rng.normal(scale=noise, size=(size, size))


def _distance(pixels: np.ndarray, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Of each pixel to a bar."""
    along = end - start
    share = np.clip((pixels - start) @ along / max(1.0, along @ along), 0.0, 1.0)
    return np.linalg.norm(pixels - start - share[..., None] * along, axis=-1)


def _features(image: np.ndarray) -> np.ndarray:
    """(H, W, 54), each channel at the pixel and around it."""
    channels = [scipy.ndimage.gaussian_filter(image, sigma) for sigma in (1.0, 2.5)]
    # second derivatives across a bar are its ridge: steerable, so that three filters give every direction
    xx, xy, yy = (scipy.ndimage.gaussian_filter(image, 1.5, order=order) for order in ((0, 2), (1, 1), (2, 0)))
    for angle in _ORIENTATIONS:
        c, s = np.cos(angle), np.sin(angle)
        channels.append(10.0 * np.maximum(0.0, -(s * s * xx - 2 * s * c * xy + c * c * yy)))
    radius = len(image) / 16
    offsets = [(0, 0)] + [(round(radius * down), round(radius * right)) for down, right in _RING]
    reach = max(max(map(abs, offset)) for offset in offsets)
    height, width = image.shape
    padded = np.pad(np.stack(channels, axis=-1), ((reach, reach), (reach, reach), (0, 0)))
    corners = [(reach + down, reach + right) for down, right in offsets]
    around = [padded[top : top + height, left : left + width] for top, left in corners]
    return np.concatenate(around, axis=-1)


def _feature_names() -> list[str]:
    channels = ["smooth 1", "smooth 2.5"] + [f"bar at {angle:g}" for angle in np.rad2deg(_ORIENTATIONS)]
    places = ["here"] + [f"{angle} degrees around" for angle in range(0, 360, 45)]
    return [f"{channel}, {place}" for place in places for channel in channels]
