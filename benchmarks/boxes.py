"""One white blood cell an image: boxes learned with the loss 1 - IoU, against words weighted without structure.

Pixels are words, 512 colours. Both predict the box of the highest sum of weights. The baseline weighs a word by how
much more likely it is inside the true boxes of the training images than outside, the logarithm of the ratio, less a
threshold chosen on the validation images; `BoxSVM` learns the weights for the boxes they lead to, certified, with lam
chosen on the validation images. Two minutes. Run: python -m benchmarks.boxes [--quick]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from maxmargin import BoxSVM, datasets
from maxmargin.inference import best_box
from maxmargin.metrics import box_iou, corloc

from ._report import Bar, arguments, finish

OUTPUT = Path(__file__).parent / "output"
N_WORDS = 8**3
LAMS = (1e-3, 1e-4, 1e-5, 1e-6)
TOL = 0.02
THRESHOLDS = np.linspace(-0.5, 0.5, 11)
COLORS = {"true": "#ffffff", "BoxSVM": "#e69f00", "log-odds": "#0072b2"}


class Task(NamedTuple):
    """Words and boxes of each split; images to show."""

    train: tuple[np.ndarray, np.ndarray]
    val: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]
    shown: np.ndarray


def blood_cells(n: int | None) -> Task:
    data = datasets.fetch_bccd()
    splits = ((data[f"words_{split}"][:n], data[f"y_{split}"][:n]) for split in ("train", "val", "test"))
    return Task(*splits, data.X_test[:n])


def log_odds(words: np.ndarray, boxes: np.ndarray) -> np.ndarray:
    """Weights of words by their counts in and out of the boxes, each counted once more."""
    height, width = words.shape[1:]
    rows, columns = np.arange(height)[:, None], np.arange(width)
    left, top, right, bottom = boxes.T[:, :, None, None]
    inside = (left <= columns) & (columns < right) & (top <= rows) & (rows < bottom)
    counts = [1 + np.bincount(words[where], minlength=N_WORDS) for where in (inside, ~inside)]
    return np.log(counts[0] / counts[0].sum()) - np.log(counts[1] / counts[1].sum())


def best_boxes(weights: np.ndarray, words: np.ndarray) -> np.ndarray:
    return np.stack([best_box(weights[image])[0] for image in words])


def mean_iou(predicted: np.ndarray, true: np.ndarray) -> float:
    return float(box_iou(predicted, true).mean())


def without_structure(task: Task) -> np.ndarray:
    """Boxes of the test images."""
    weights, (words, boxes) = log_odds(*task.train), task.val
    scores = [mean_iou(best_boxes(weights - threshold, words), boxes) for threshold in THRESHOLDS]
    threshold = THRESHOLDS[int(np.argmax(scores))]
    print(f"log-odds: threshold {threshold:.2g}, mean IoU {max(scores):.3f} on the validation images")
    return best_boxes(weights - threshold, task.test[0])


def learned(task: Task, lams: tuple[float, ...], tol: float) -> tuple[BoxSVM, float]:
    """The model with the best lam, and the CPU seconds of its fit."""
    found = []
    for lam in lams:
        began = time.process_time()
        model = BoxSVM(lam, tol=tol, n_words=N_WORDS, random_state=0).fit(*task.train)
        seconds = time.process_time() - began
        found.append((model.score(*task.val), model, seconds))
        print(
            f"BoxSVM, lam = {lam:7.0e}: {seconds:6.1f} CPU s, {model.n_oracle_calls_} oracle calls, "
            f"objective {model.primal_:.3f}, gap {model.gap_:.3f}, "
            f"mean IoU {model.score(*task.train):.3f} training, {found[-1][0]:.3f} validation"
        )
    _, model, seconds = max(found, key=lambda one: one[0])
    return model, seconds


def draw(task: Task, boxes: dict[str, np.ndarray]) -> Path:
    """Test images from the worst to the best box learned, with the boxes."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    overlap = box_iou(boxes["BoxSVM"], boxes["true"])
    chosen = np.argsort(overlap)[np.linspace(0, len(overlap) - 1, min(12, len(overlap))).astype(int)]
    figure = Figure(figsize=(12, 7.2), layout="constrained")
    axes: Any = figure.subplots(3, 4)
    for ax, i in zip(axes.flat, chosen, strict=False):
        ax.imshow(task.shown[i])
        ax.set_title(f"IoU {overlap[i]:.2f}", fontsize=9)
        for name, of_name in boxes.items():
            left, top, right, bottom = of_name[i]
            corner = left - 0.5, top - 0.5
            edge = {"fill": False, "edgecolor": COLORS[name], "linewidth": 1.8, "label": name}
            ax.add_patch(Rectangle(corner, right - left, bottom - top, **edge))
    for ax in axes.flat:
        ax.set_axis_off()
    handles = axes.flat[0].get_legend_handles_labels()
    figure.legend(*handles, loc="outside lower center", ncols=3, facecolor="#888888")
    OUTPUT.mkdir(exist_ok=True)
    path = OUTPUT / "boxes.png"
    figure.savefig(path, dpi=100)
    return path


def run(task: Task, lams: tuple[float, ...], tol: float) -> list[Bar]:
    baseline, true = without_structure(task), task.test[1]
    model, seconds = learned(task, lams, tol)
    predicted = model.predict(task.test[0])
    iou, found = mean_iou(predicted, true), corloc(predicted, true)
    print(f"\n{len(true)} test images    mean IoU   CorLoc (IoU >= 0.5)")
    for name, boxes in (("log-odds", baseline), ("BoxSVM", predicted)):
        print(f"{name:16s}{mean_iou(boxes, true):12.3f}{corloc(boxes, true):12.3f}")
    print(f"  lam = {model.lam:g}: {seconds:.1f} CPU s, gap {model.gap_:.3f}")
    print(f"  {draw(task, {'true': true, 'log-odds': baseline, 'BoxSVM': predicted})}")
    return [
        Bar("certified gap", model.gap_, tol),
        Bar("mean IoU, BoxSVM - log-odds", iou - mean_iou(baseline, true), 0.0, at_least=True),
        Bar("CorLoc, BoxSVM - log-odds", found - corloc(baseline, true), 0.0, at_least=True),
    ]


def main() -> None:
    quick = arguments(__doc__).quick
    finish(run(blood_cells(40 if quick else None), LAMS[:1] if quick else LAMS, 0.1 if quick else TOL))


if __name__ == "__main__":
    with threadpool_limits(1):  # waiting BLAS threads count as CPU seconds
        main()
