"""A user's own structure: what it must have, what it may return, and errors that say what is wrong with it."""

import numpy as np
import pytest
from scipy import sparse

from maxmargin.solvers import BlockFrankWolfe
from maxmargin.structures import CustomProblem, as_problem
from maxmargin.structures.asked import REQUIRED
from maxmargin.structures.sparse_vector import SparseVector, combine

from .pairs import Subsets

LAM = 0.1


def solve(structure, **options):
    return BlockFrankWolfe(averaging="weighted").solve(structure, LAM, max_passes=5, random_state=0, **options)


@pytest.mark.parametrize("name", [*REQUIRED, "y"])
def test_what_is_missing_is_named(name):
    members = dict(vars(Subsets)) | {"n_samples": 5, "y": Subsets().y}
    members = {key: value for key, value in members.items() if key != name and not key.startswith("__")}
    with pytest.raises(TypeError, match=rf"Incomplete cannot be learned; it lacks {name} \("):
        solve(type("Incomplete", (), members)())


def test_everything_missing_is_named_at_once():
    with pytest.raises(TypeError) as caught:
        solve(object())
    for name in [*REQUIRED, "y (the true outputs, y[i]) or truth(i)"]:
        assert name in str(caught.value)


def shuffled_pair(vector):
    """Indices and values in no order, one entry in two pieces, a zero among them."""
    indices = np.flatnonzero(vector)[::-1]
    half, rest = vector[indices[:1]] / 2, vector[indices[1:]]
    return np.concatenate([indices, indices[:1], [0]]), np.concatenate([half, rest, half, [0]])


FORMS = {
    "list": list,
    "csr row": lambda v: sparse.csr_matrix(v),
    "csc column": lambda v: sparse.csc_matrix(v[:, None]),
    "coo array": lambda v: sparse.coo_array(v),
    "csr array": lambda v: sparse.csr_array(v[None]),
    "pair": lambda v: (np.flatnonzero(v), v[v != 0]),
    "pair of lists": lambda v: (np.flatnonzero(v).tolist(), v[v != 0].tolist()),
    "shuffled pair": shuffled_pair,
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_joint_feature(form):
    class Other(Subsets):
        def joint_feature(self, i, y):
            vector = np.round(super().joint_feature(i, y) * 8) / 8  # exact in every form
            return FORMS[form](vector) if self.converts else vector

        def max_oracle(self, w, i):
            self.converts = False
            y = super().max_oracle(w, i)
            self.converts = True
            return y

        converts = True

    class Dense(Other):
        converts = property(lambda self: False, lambda self, value: None)

    dense, other = solve(Dense()), solve(Other())
    assert other.w == pytest.approx(dense.w, abs=1e-13)
    assert other.history["gap"] == pytest.approx(dense.history["gap"], abs=1e-13)


def test_truth_as_a_method():
    class Method(Subsets):
        def __init__(self):
            super().__init__()
            self.hidden = self.y
            del self.y

        def truth(self, i):
            return self.hidden[i]

        def loss(self, i, y):
            return float(self.price[i] @ (np.array(y) != self.hidden[i]))

    assert np.array_equal(solve(Method()).w, solve(Subsets()).w)


def test_sample_weight_none_is_ones():
    results = [solve(Subsets(sample_weight=weight)).w for weight in (None, np.ones(5), [2] * 5)]
    assert results[0] == pytest.approx(results[1], abs=0)
    assert results[0] == pytest.approx(results[2], abs=1e-13)


def test_a_problem_is_taken_as_it_is():
    problem = CustomProblem(Subsets())
    assert as_problem(problem) is problem
    assert np.array_equal(solve(problem).w, solve(Subsets()).w)


@pytest.mark.parametrize(
    "weight", [[1, 1], np.ones((5, 1)), [1, 1, -1, 1, 1], [0] * 5, [1, np.nan, 1, 1, 1], [1, np.inf, 1, 1, 1]]
)
def test_bad_sample_weight(weight):
    with pytest.raises(ValueError, match="sample_weight must be 5 finite numbers >= 0 with a positive sum"):
        solve(Subsets(sample_weight=weight))


@pytest.mark.parametrize("name", ["n_samples", "n_features"])
@pytest.mark.parametrize("value", [0, -1, 2.0, "3", None, True])
def test_bad_counts(name, value):
    structure = Subsets()
    setattr(structure, name, value)
    with pytest.raises(ValueError, match=f"Subsets.{name} must be a positive integer, got {value!r}"):
        solve(structure)


FEATURES = {
    "too short": (np.ones(5), "joint_feature has length 5, but n_features is 6"),
    "too long": (np.ones(7), "joint_feature has length 7, but n_features is 6"),
    "sparse too long": (sparse.csr_matrix(np.ones((1, 7))), "joint_feature has length 7"),
    "matrix": (np.ones((2, 3)), "joint_feature must be a vector"),
    "number": (3.0, "joint_feature must be a vector"),
    "none": (None, "joint_feature"),
    "nan": ([np.nan] * 6, "joint_feature holds NaN or infinity"),
    "inf": ([0, 0, 0, np.inf, 0, 0], "joint_feature holds NaN or infinity"),
    "sparse nan": (sparse.csr_matrix([np.nan] * 6), "joint_feature holds NaN or infinity"),
    "pair nan": (([0], [np.nan]), "joint_feature holds NaN or infinity"),
    "index too large": (([6], [1.0]), r"index outside 0 … 5"),
    "index negative": (([-1], [1.0]), r"index outside 0 … 5"),
    "index not whole": (([0.5], [1.0]), "joint_feature"),
    "pair of different lengths": (([0, 1], [1.0]), "joint_feature"),
    "pair of matrices": (([[0, 1]], [[1.0, 2.0]]), "joint_feature"),
    "pair of numbers": ((1.0, 2.0), "joint_feature"),
    "ragged": ([[1.0], [1.0, 2.0]], "joint_feature"),
    "strings": (["a"] * 6, "joint_feature"),
    "complex": (np.ones(6) * 1j, "joint_feature"),
}
LOSSES = {
    "nan": (np.nan, "loss must be a finite number, got nan"),
    "inf": (np.inf, "loss must be a finite number, got inf"),
    "none": (None, "loss"),
    "string": ("much", "loss"),
    "vector": (np.ones(2), "loss"),
}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("of_truth", [True, False], ids=["truth", "corner"])
@pytest.mark.parametrize(
    ("method", "value", "message"),
    [("joint_feature", *case) for case in FEATURES.values()] + [("loss", *case) for case in LOSSES.values()],
    ids=[f"feature {name}" for name in FEATURES] + [f"loss {name}" for name in LOSSES],
)
def test_bad_values_name_the_sample(method, value, message, of_truth):
    class Bad(Subsets):
        def max_oracle(self, w, i):
            return (1, 1, 1) if self.y[i] != (1, 1, 1) else (0, 0, 0)

    structure = Bad()
    honest = getattr(structure, method)
    setattr(
        structure,
        method,
        lambda i, y: value if i == 3 and (y == structure.y[i]) == of_truth else honest(i, y),
    )
    with pytest.raises((ValueError, TypeError), match=f"sample 3: .*{message}"):
        solve(structure)


def test_loss_of_the_truth_is_zero():
    class Offset(Subsets):
        def loss(self, i, y):
            return super().loss(i, y) + 0.25 * (i == 2)

    with pytest.raises(ValueError, match=r"sample 2: the loss of the true output must be 0, got 0.25"):
        solve(Offset())


def test_too_few_true_outputs():
    structure = Subsets()
    structure.y = structure.y[:4]
    with pytest.raises((ValueError, IndexError), match="sample 4"):
        solve(structure)


def test_errors_of_the_user_pass_through():
    class Broken(Subsets):
        def max_oracle(self, w, i):
            raise LookupError("no such thing")

    with pytest.raises(LookupError, match="no such thing"):
        solve(Broken())


def test_the_oracle_cannot_write_into_the_weights():
    # the dual value is computed from w: a w that is not that of the blocks would certify a falsehood
    class Careless(Subsets):
        def max_oracle(self, w, i):
            y = super().max_oracle(w, i)
            w *= 0.5
            return y

    with pytest.raises(ValueError, match="read-only"):
        solve(Careless())


def test_combine():
    rng = np.random.default_rng(0)
    for _ in range(20):
        dense = [rng.normal(size=8) * (rng.random(8) < 0.4) for _ in range(2)]
        u, v = (SparseVector(np.flatnonzero(x), x[x != 0]) for x in dense)
        sum_of = combine(0.3, u, -2.0, v)
        found = np.zeros(8)
        sum_of.add_to(found, 1.0)
        assert found == pytest.approx(0.3 * dense[0] - 2.0 * dense[1], abs=1e-15)
        assert np.all(np.diff(sum_of.indices) > 0)
        assert sum_of.squared_norm() == pytest.approx(found @ found)
        assert sum_of.dot(dense[0]) == pytest.approx(found @ dense[0])
