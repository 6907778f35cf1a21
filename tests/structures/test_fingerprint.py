import numpy as np

from maxmargin.structures.fingerprint import fingerprint


def test_labels_in_another_order_are_other_data():
    """Sums of bytes, weighted by their places or not, are the same here."""
    one, other = np.array([0, 1, 0, 0, 1, 0, 1, 1]), np.array([1, 0, 0, 0, 0, 1, 1, 1])
    assert fingerprint((np.eye(8), one)) != fingerprint((np.eye(8), other))
    assert fingerprint((np.eye(8), one)) == fingerprint((np.eye(8), one.copy()))


def test_few_labels_in_any_order_are_told_apart():
    rng = np.random.default_rng(0)
    orders = {tuple(rng.permutation(12) % 2) for _ in range(500)}
    assert len({fingerprint((np.array(order),)) for order in orders}) == len(orders)
