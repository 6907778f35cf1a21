"""Pictures of predictions and of convergence. matplotlib is imported when a picture is drawn, not before."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Labels = Sequence[Any] | np.ndarray  # the labels of each sequence

RIGHT, WRONG, FAINT = "#222222", "#c1121f", "#777777"
PRIMAL, DUAL, GAP = "#0072b2", "#d55e00", "#555555"

_LABEL_ROW = 0.42  # height of a row of labels, in tiles
_GUTTER = 0.06  # white between two tiles, in tiles


def plot_sequences(
    images: Sequence[Any] | np.ndarray,
    y_true: Labels,
    y_pred: Labels | Mapping[str, Labels],
    *,
    image_shape: tuple[int, int] | None = None,
    n_columns: int = 2,
    title: str | None = None,
    figure: Figure | None = None,
) -> Figure:
    """Draw sequences of images with the true and the predicted labels under each image, mistakes on red.

    Parameters
    ----------
    images : one array a sequence, (T, height, width), or (T, height * width) as given to an estimator
        An image of zeros is drawn as illegible.
    y_true : the true labels, T of each sequence
    y_pred : the predicted labels likewise, or a dict of them by model, drawn in its order
    image_shape : (height, width) of flat images; None: they are square
    n_columns : sequences side by side
    title : None counts the labels predicted right
    figure : an empty figure to draw in; None makes one with pyplot

    Returns
    -------
    matplotlib.figure.Figure
        One axes for each sequence.
    """
    models = dict(y_pred) if isinstance(y_pred, Mapping) else {"predicted": y_pred}
    pictures = [_as_tiles(tiles, image_shape, i) for i, tiles in enumerate(images)]
    if not pictures:
        raise ValueError("there is no sequence to draw")
    for name, labels in {"y_true": y_true, **models}.items():
        _check_labels(labels, pictures, name)
    n_columns = max(1, min(n_columns, len(pictures)))
    n_rows = math.ceil(len(pictures) / n_columns)
    longest = max(len(tiles) for tiles in pictures)
    names = ["true", *models]
    height = 1 + _LABEL_ROW * (len(names) + 0.5)
    left = -0.1 - 0.155 * max(map(len, names))  # the names of the rows stand left of the first image

    title = _count_right(y_true, models) if title is None else title
    tile, head, foot = 0.5, 0.3 + 0.2 * len(title.splitlines()), 0.45  # inches
    size = n_columns * (longest - left) * tile, n_rows * (height + 0.1) * tile + head + foot
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure()
    figure.set_size_inches(*size)
    axes = figure.subplots(n_rows, n_columns, squeeze=False)
    figure.subplots_adjust(0.01, foot / size[1], 0.99, 1 - head / size[1], wspace=0.02, hspace=0.02)
    for ax in axes.flat:
        ax.set(xlim=(left, longest), ylim=(height, -0.1), aspect="equal")
        ax.axis("off")
    for i, (tiles, ax) in enumerate(zip(pictures, axes.flat, strict=False)):
        _draw_tiles(ax, tiles)
        _draw_labels(ax, names, [y_true[i], *(labels[i] for labels in models.values())])
    figure.suptitle(title, y=1 - 0.12 / size[1], va="top", fontsize=12)
    _draw_legend(figure, any(_is_illegible(tile) for tiles in pictures for tile in tiles))
    return figure


def plot_history(history: Any, ax: Axes | None = None) -> Axes:
    """Draw primal and dual value (left) and their gap (right, logarithmic) against passes.

    Parameters
    ----------
    history : a fitted estimator, a solver's `Result`, or their history (a dict of arrays)
    ax : where to draw; None makes a figure with pyplot

    Returns
    -------
    matplotlib.axes.Axes
        The axes of primal and dual; that of the gap is the last one of its figure.
    """
    history = getattr(history, "history_", getattr(history, "history", history))
    if not isinstance(history, Mapping) or not {"passes", "primal", "dual", "gap"} <= set(history):
        raise TypeError(
            f"plot_history draws a fitted estimator, a Result or its history, got {type(history).__name__} "
            "without passes, primal, dual and gap"
        )
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(layout="constrained")
    passes, primal, dual, gap = (
        np.asarray(history[column], np.float64) for column in ("passes", "primal", "dual", "gap")
    )
    lines = ax.plot(passes, primal, color=PRIMAL, marker=".", label="primal")
    lines += ax.plot(passes, dual, color=DUAL, marker=".", label="dual")
    ax.fill_between(passes, dual, primal, color="#888888", alpha=0.15, linewidth=0)
    right = ax.twinx()
    positive = gap > 0
    lines += right.plot(passes[positive], gap[positive], color=GAP, linestyle="--", label="gap (right)")
    right.set(yscale="log", ylabel="certified duality gap")
    ax.set(xlabel="passes over the data", ylabel="objective", title=f"gap {gap[-1]:.1e} after {passes[-1]:g} passes")
    # on the right-hand axes, which are drawn last: nothing then crosses the legend
    right.legend(handles=lines, loc="upper right")
    return ax


def plot_path(path: Any, figure: Figure | None = None) -> Figure:
    """Draw a regularization path along lam: losses and scores, certified gap, norm of the weights, cost.

    Parameters
    ----------
    path : what `regularization_path` or `lam_grid` gives; with scores, if its `select` was asked
    figure : an empty figure to draw in; None makes one with pyplot
    """
    if not len(path):
        raise ValueError("the path has no breakpoints to draw")
    if figure is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=(9, 6), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True)
    lams = path.breakpoints
    end = path.lam_end if path.lam_end > 0 else 0.5 * lams[-1]
    ends = np.append(lams, end)
    for ax, values, color, label in (
        (axes[0, 0], path.hinges, PRIMAL, "training hinge loss"),
        (axes[1, 0], path.norms, PRIMAL, "|w|"),
    ):
        ax.stairs(values[::-1], ends[::-1], baseline=None, color=color)
        ax.set_ylabel(label)
    scores = getattr(path, "scores", None)
    if scores is not None:
        right = axes[0, 0].twinx()
        right.stairs(scores[::-1], ends[::-1], baseline=None, color=DUAL, linestyle="--")
        right.set_ylabel("validation score (dashed)", color=DUAL)
        best = int(np.argmax(scores))
        right.plot(lams[best], scores[best], "o", color=DUAL)
    fine = np.unique(np.concatenate([np.geomspace(max(end, 1e-300), 3 * lams[0], 400), lams]))
    gaps = np.array([path.gap_at(lam) for lam in fine])
    certified = np.isfinite(gaps)
    axes[0, 1].plot(fine[certified], gaps[certified], color=GAP)
    axes[0, 1].set_ylabel("certified gap" if certified.any() else "certified gap: none yet")
    axes[1, 1].plot(lams, np.cumsum(path.passes), color=PRIMAL, marker=".")
    axes[1, 1].set_ylabel("passes so far")
    for ax in axes.flat:
        ax.set(xscale="log", xlim=(3 * lams[0], end))
        ax.grid(alpha=0.3)
        for lam in lams:
            ax.axvline(lam, color=FAINT, linewidth=0.3)
    for ax in axes[1]:
        ax.set_xlabel("lam")
    figure.suptitle(f"{len(path)} breakpoints; {path.ended}")
    return figure


def _as_tiles(tiles: Any, shape: tuple[int, int] | None, i: int) -> np.ndarray:
    """Images (T, height, width) of one sequence."""
    tiles = np.asarray(tiles, np.float64)
    if tiles.ndim == 2:
        side = math.isqrt(tiles.shape[1])
        height, width = shape or (side, side)
        if height * width != tiles.shape[1]:
            raise ValueError(f"sequence {i}: {tiles.shape[1]} values an image are not {height} x {width}; image_shape?")
        tiles = tiles.reshape(-1, height, width)
    if tiles.ndim != 3 or 0 in tiles.shape:
        raise ValueError(f"sequence {i}: images must be (T, height, width) or (T, values), got shape {tiles.shape}")
    return tiles


def _check_labels(labels: Labels, pictures: list[np.ndarray], name: str) -> None:
    if len(labels) != len(pictures):
        raise ValueError(f"{name} has {len(labels)} sequences, but there are {len(pictures)} of images")
    for i, (sequence, tiles) in enumerate(zip(labels, pictures, strict=True)):
        if len(sequence) != len(tiles):
            raise ValueError(f"{name}, sequence {i}: {len(sequence)} labels, but {len(tiles)} images")


def _is_illegible(tile: np.ndarray) -> bool:
    return not tile.any()


def _draw_tiles(ax: Axes, tiles: np.ndarray) -> None:
    from matplotlib.patches import Rectangle

    top = tiles.max()
    for t, tile in enumerate(tiles):
        left, right = t + _GUTTER, t + 1 - _GUTTER
        if _is_illegible(tile):
            box = Rectangle((left, _GUTTER), right - left, 1 - 2 * _GUTTER, facecolor="#eeeeee", edgecolor="#bbbbbb")
            box.set_hatch("////")
            ax.add_patch(box)
        else:
            where = (left, right, 1 - _GUTTER, _GUTTER)
            ax.imshow(tile, cmap="gray_r", vmin=0, vmax=top, extent=where, interpolation="nearest", aspect="equal")
            ax.add_patch(Rectangle((left, _GUTTER), right - left, 1 - 2 * _GUTTER, fill=False, edgecolor="#bbbbbb"))


def _draw_labels(ax: Axes, names: list[str], rows: list[Any]) -> None:
    """Rows of labels under the images: the truth in grey, then each model's."""
    truth = rows[0]
    for row, (name, labels) in enumerate(zip(names, rows, strict=True)):
        y = 1 + _LABEL_ROW * (row + 0.5)
        ax.text(-0.08, y, name, ha="right", va="center", fontsize=8, color=FAINT)
        for t, label in enumerate(labels):
            wrong = label != truth[t]
            ax.text(
                t + 0.5,
                y,
                str(label),
                ha="center",
                va="center",
                fontsize=10,
                color="white" if wrong else (RIGHT if row else FAINT),
                fontweight="bold" if wrong else "normal",
                bbox={"boxstyle": "round,pad=0.2", "facecolor": WRONG, "edgecolor": "none"} if wrong else None,
            )


def _draw_legend(figure: Figure, illegible: bool) -> None:
    from matplotlib.patches import Patch

    keys = [Patch(facecolor=WRONG, label="mistake")]
    if illegible:
        keys.append(Patch(facecolor="#eeeeee", edgecolor="#bbbbbb", hatch="////", label="illegible"))
    figure.legend(handles=keys, loc="lower center", ncols=len(keys), frameon=False, fontsize=9)


def _count_right(y_true: Labels, models: Mapping[str, Labels]) -> str:
    """For each model, the share of labels that are right."""
    truth = [label for labels in y_true for label in labels]
    shares = []
    for name, y_pred in models.items():
        right = [label == true for label, true in zip((a for labels in y_pred for a in labels), truth, strict=True)]
        shares.append(f"{name}: {np.mean(right):.1%} of labels right")
    return "\n".join(shares)
