"""The best pose against a look at all positions and types."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from maxmargin.inference import Springs, best_pose, make_part_tree
from structures.pairs import interpreted

TREES = {"one": [-1], "chain": [1, 2, -1], "star": [-1, 0, 0], "forest": [-1, 0, -1], "pairs": [1, -1]}
VALUES = {
    "ties": st.sampled_from([-1.0, 0.0, 1.0]),
    "any": st.floats(-5, 5),
    "masked": st.one_of(st.floats(-5, 5), st.just(-np.inf)),
}


def score_of(scores, parents, springs, positions, types):
    total = 0.0
    for part, ((x, y), parent) in enumerate(zip(positions, parents, strict=True)):
        total += scores[part, y, x]
        if parent >= 0:
            r = types[part]
            away = np.subtract((x, y), positions[parent]) - springs.anchor[part, r]
            total += springs.bias[part, r] - springs.stiffness[part, r] @ away**2 + springs.pull[part, r] @ away
    return total


def best_by_enumeration(scores, parents, springs):
    _, height, width = scores.shape
    places = list(itertools.product(range(width), range(height)))
    poses = itertools.product(places, repeat=len(parents))
    kinds = list(itertools.product(*(range(springs.bias.shape[1]) if p >= 0 else [-1] for p in parents)))
    return max(score_of(scores, parents, springs, pose, types) for pose in poses for types in kinds)


def random_springs(rng, n_parts, n_types):
    shape = n_parts, n_types, 2
    stiffness = rng.choice([0.0, 0.25, 1.0], size=shape)
    return Springs(rng.normal(size=shape[:2]), stiffness, rng.normal(size=shape), rng.choice([-1.5, 0, 1], size=shape))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES.keys())
def test_against_all_poses(values, name):
    parents = TREES[name]
    side = st.sampled_from([(1, 1), (1, 3), (2, 2), (2, 1)])
    grids = side.flatmap(lambda shape: arrays(np.float64, (len(parents), *shape), elements=values))

    @settings(max_examples=15, deadline=None)
    @given(grids, st.integers(1, 2), st.integers(0, 1000))
    def check(scores, n_types, seed):
        springs = random_springs(np.random.default_rng(seed), len(parents), n_types)
        with interpreted():
            pose, value = best_pose(scores, make_part_tree(parents), springs)
        best = best_by_enumeration(scores, parents, springs)
        assert value == pytest.approx(best, abs=1e-12)
        if best > -np.inf:
            assert score_of(scores, parents, springs, *pose) == pytest.approx(best, abs=1e-12)

    check()


def test_compiled():
    rng = np.random.default_rng(0)
    parents = [1, 3, 3, -1, 2, 2]
    tree, springs = make_part_tree(parents), random_springs(rng, 6, 3)
    for shape in [(6, 5, 9), (6, 20, 11)]:
        scores = rng.normal(size=shape)
        before = scores.copy()
        pose, value = best_pose(scores, tree, springs)
        assert (scores == before).all()
        assert score_of(scores, parents, springs, *pose) == pytest.approx(value, rel=1e-12)
        with interpreted():
            again, same = best_pose(scores, tree, springs)
        assert value == pytest.approx(same, rel=1e-12)
        assert all(map(np.array_equal, pose, again))


def test_refuses():
    tree, springs = make_part_tree([1, -1]), random_springs(np.random.default_rng(0), 2, 1)
    for scores, match in [
        (np.zeros((3, 2, 2)), r"scores must be \(2, H, W\)"),
        (np.zeros((2, 0, 2)), r"scores must be \(2, H, W\)"),
        (np.full((2, 2, 2), np.nan), "below infinity"),
    ]:
        with pytest.raises(ValueError, match=match):
            best_pose(scores, tree, springs)
    with pytest.raises(ValueError, match="stiffness >= 0"):
        best_pose(np.zeros((2, 2, 2)), tree, springs._replace(stiffness=springs.stiffness - 9))
    with pytest.raises(ValueError, match="pull of the springs must be finite"):
        best_pose(np.zeros((2, 2, 2)), tree, springs._replace(pull=springs.pull * np.nan))
    with pytest.raises(ValueError, match="cycle"):
        make_part_tree([1, 0])
