"""What every estimator must do where it refuses."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError


def assert_refuses(model: Any, older: Any, X: Any, y: Any, match: str, **given: Any) -> None:
    """Fit says why not, leaves nothing on a new model, and leaves `older`, a fit of the same estimator, as it was."""
    before = dict(vars(model))
    with pytest.raises((ValueError, TypeError), match=match):
        model.fit(X, y, **given)
    assert vars(model) == before
    with pytest.raises(NotFittedError):
        model.predict(X)
    again = deepcopy(older).set_params(**model.get_params(deep=False))
    fitted = dict(vars(again))
    with pytest.raises((ValueError, TypeError), match=match):
        again.fit(X, y, **given)
    assert vars(again).keys() == fitted.keys()
    assert all(vars(again)[name] is value for name, value in fitted.items())
    assert_array_equal(again.coef_, older.coef_)
