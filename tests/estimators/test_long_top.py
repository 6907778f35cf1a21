"""The k best labelings of a long text where all scores are ties: linear in its length, or this would not end."""

import numpy as np
import pytest

from maxmargin import ChainSVM

LENGTH = 200_000


@pytest.mark.parametrize("with_edges", [False, True])
def test_ties_everywhere(with_edges):
    def sample(length):
        features = np.zeros((length, 1))
        return (features, np.zeros((length - 1, 1))) if with_edges else features

    model = ChainSVM(lam=1.0, random_state=0).fit([sample(3)], [["a", "b", "c"]])
    model._weights.flat[:] = 0.0
    (labelings,), (scores,) = model.predict_topk([sample(LENGTH)], 5)
    assert labelings.shape == (5, LENGTH)
    assert len({labels.tobytes() for labels in labelings}) == 5
    assert scores.tolist() == [0.0] * 5
    (again,), _ = model.predict_topk([sample(LENGTH)], 5)
    assert (again == labelings).all()
