"""What can be asked of a relaxation."""

import numpy as np
import pytest

from inference.lp.cases import interpreted, make_grids
from maxmargin.inference import verbs
from maxmargin.inference.lp import relax


@interpreted
def test_the_verb_finds_what_sweeps_find():
    plan, nodes, table, _ = make_grids()
    scratch = verbs.new_scratch(plan, 1)
    for i in (0, 1, 0):  # nothing of another sample is left behind
        labels = np.empty(len(nodes[i]), np.int32)
        value = verbs.find_best(plan, i, nodes[i].ravel(), table.ravel(), scratch, labels)
        found = relax(plan, i, nodes[i], table, most_pairs=0)
        assert value == found.labels_value == found.value and np.array_equal(labels, found.labels)


@interpreted
def test_what_cannot_be_asked():
    plan, nodes, table, _ = make_grids()
    given_ = plan, 0, nodes[0].ravel(), table.ravel(), verbs.new_scratch(plan, 1)
    room = np.empty(1000)
    for call in (
        lambda: verbs.find_top(*given_, 2, np.empty((2, 9), np.int32), room),
        lambda: verbs.find_max_marginals(*given_, room),
        lambda: verbs.find_marginals(*given_, room, room),
    ):
        with pytest.raises(NotImplementedError, match="junction trees"):
            call()
