"""Pictures: what is in them, and what is refused."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from maxmargin.plotting import DUAL, PRIMAL, WRONG, plot_history, plot_sequences
from maxmargin.solvers import BlockFrankWolfe


@pytest.fixture
def images():
    rng = np.random.default_rng(0)
    pictures = [rng.uniform(0.1, 1, size=(length, 16)) for length in (3, 5, 2)]
    pictures[0][1] = 0.0
    return pictures


TRUTH = [[1, 2, 3], [4, 5, 6, 7, 8], [9, 0]]
FIRST = [[1, 2, 0], [4, 5, 6, 7, 8], [0, 9]]
SECOND = [[1, 2, 3], [4, 5, 6, 7, 8], [9, 0]]


def marked(ax):
    """The labels marked as mistakes, with their image's number."""
    texts = [text for text in ax.texts if text.get_bbox_patch() is not None]
    assert all(to_hex(text.get_bbox_patch().get_facecolor()) == WRONG for text in texts)
    return [(int(text.get_position()[0]), text.get_text()) for text in texts]


def test_mistakes_are_marked_and_nothing_else(images):
    figure = plot_sequences(images, TRUTH, FIRST, figure=Figure())
    assert [marked(ax) for ax in figure.axes[:3]] == [[(2, "0")], [], [(0, "0"), (1, "9")]]
    assert "70.0%" in figure.get_suptitle()


def test_several_models_one_under_the_other(images):
    figure = plot_sequences(images, TRUTH, {"chain": FIRST, "alone": SECOND}, figure=Figure(), n_columns=1)
    assert [marked(ax) for ax in figure.axes] == [[(2, "0")], [], [(0, "0"), (1, "9")]]
    names = [text.get_text() for text in figure.axes[0].texts if not text.get_text().isdigit()]
    assert names == ["true", "chain", "alone"]
    assert "chain: 70.0%" in figure.get_suptitle() and "alone: 100.0%" in figure.get_suptitle()


def test_illegible_images_are_hatched(images):
    figure = plot_sequences(images, TRUTH, FIRST, figure=Figure())
    assert [len(ax.images) for ax in figure.axes[:3]] == [2, 5, 2]
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["mistake", "illegible"]


def test_shapes_of_images_and_the_title(images):
    cubes = [tiles.reshape(-1, 2, 8) for tiles in images]
    for given, shape in ((cubes, None), (images, (2, 8))):
        figure = plot_sequences(given, TRUTH, FIRST, image_shape=shape, title="dates", figure=Figure())
        assert figure.axes[0].images[0].get_array().shape == (2, 8)
        assert figure.get_suptitle() == "dates"


def test_sequences_that_do_not_fit_together(images):
    with pytest.raises(ValueError, match="no sequence"):
        plot_sequences([], [], [])
    with pytest.raises(ValueError, match="y_true has 2 sequences, but there are 3"):
        plot_sequences(images, TRUTH[:2], FIRST)
    with pytest.raises(ValueError, match="chain, sequence 1: 4 labels, but 5 images"):
        plot_sequences(images, TRUTH, {"chain": [FIRST[0], FIRST[1][:4], FIRST[2]]})
    with pytest.raises(ValueError, match="sequence 0: 16 values an image are not 3 x 3"):
        plot_sequences(images, TRUTH, FIRST, image_shape=(3, 3))
    with pytest.raises(ValueError, match="sequence 0: images must be"):
        plot_sequences([np.ones(4)], [[1]], [[1]])


class Signs:
    """A tiny structure: the sign of a number."""

    n_samples, n_features, y = 4, 1, (1, 1, -1, -1)
    x = (1.0, 0.2, -1.0, 0.1)

    def joint_feature(self, i, y):
        return np.array([y * self.x[i]])

    def loss(self, i, y):
        return float(y != self.y[i])

    def max_oracle(self, w, i):
        return max((-1, 1), key=lambda y: self.loss(i, y) + w @ self.joint_feature(i, y))


def test_history_of_a_result_an_estimator_and_a_dict():
    result = BlockFrankWolfe(gap_every=1).solve(Signs(), lam=0.5, tol=1e-6, max_passes=30, random_state=0)

    class Fitted:
        history_ = result.history

    for given in (result, Fitted(), result.history):
        ax = plot_history(given, Figure().subplots())
        primal, dual = ax.lines
        assert (primal.get_color(), dual.get_color()) == (PRIMAL, DUAL)
        np.testing.assert_array_equal(primal.get_xdata(), result.history["passes"])
        np.testing.assert_array_equal(primal.get_ydata(), result.history["primal"])
        np.testing.assert_array_equal(dual.get_ydata(), result.history["dual"])
        right = ax.figure.axes[-1]
        assert right.get_yscale() == "log"
        (gap,) = right.lines
        np.testing.assert_array_equal(gap.get_ydata(), result.history["gap"][result.history["gap"] > 0])


def test_history_of_something_else():
    with pytest.raises(TypeError, match="fitted estimator, a Result or its history, got list"):
        plot_history([1, 2])
    with pytest.raises(TypeError, match="without passes"):
        plot_history({"primal": [1.0]})


def test_figures_of_its_own(images):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    try:
        assert plot_sequences(images, TRUTH, FIRST).number in plt.get_fignums()
        assert plot_history({name: [1.0] for name in ("passes", "primal", "dual", "gap")}).figure.number
    finally:
        plt.close("all")
