"""Functions compiled into kernels, and the ordinary compiler where Numba's hooks are gone."""

import subprocess
import sys

import numba
import numpy as np
import pytest

from maxmargin._compile import helper, inner, kernel, routine

NUMBERS = np.arange(5.0)


@helper
def square(x):
    return x * x


@routine
def total(numbers, power):
    if power < 0:
        raise ValueError("power must be >= 0")
    found = 0.0
    for k in range(len(numbers)):
        found += square(numbers[k]) ** power
    return found


@kernel
def twice(numbers, power):
    return total(numbers, power) + total(numbers[::2], power) + square(numbers[1])


def test_inner_functions_are_linked_into_whatever_calls_them():
    expected = twice.interpreted(NUMBERS, 2)
    assert twice(NUMBERS, 2) == expected
    assert numba.njit(twice.interpreted)(NUMBERS, 2) == expected  # not only into kernels


def test_inner_functions_raise():
    with pytest.raises(ValueError, match="power must be >= 0"):
        twice(NUMBERS, -1)


def test_inner_functions_get_no_machine_code_of_their_own(monkeypatch):
    emitted = []
    monkeypatch.setattr(inner.LIBRARY, "_finalize_specific", lambda self: emitted.append(self.name))

    @helper
    def fresh(x):
        return x + 1.0

    numba.njit(lambda x: fresh(x)).compile("float64(float64)")
    assert not any("fresh" in name for name in emitted) and any("lambda" in name for name in emitted)


WITHOUT_HOOKS = """
from numba.core import codegen
class Other:
    pass
codegen.JITCodeLibrary = Other  # as if Numba had changed
import numpy as np
from maxmargin._compile import inner, helper, kernel, verbs
assert inner.inner_options() == {} and "pipeline_class" not in verbs.INLINED

@helper
def square(x):
    return x * x

@kernel
def total(numbers):
    found = 0.0
    for k in range(len(numbers)):
        found += square(numbers[k])
    return found

assert total(np.arange(5.0)) == 30.0
assert len(total.uncached.signatures) == 1
"""


def test_the_ordinary_compiler_serves_where_hooks_are_gone():
    done = subprocess.run([sys.executable, "-c", WITHOUT_HOOKS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
