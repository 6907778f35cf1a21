"""Images of single digits, USPS and MNIST: multiclass tasks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import NPZ, Arrays, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch

_USPS_ORIGIN = "https://hastie.su.domains/ElemStatLearn/datasets/"
_MNIST_ORIGIN = "https://ossci-datasets.s3.amazonaws.com/mnist/"

USPS = DataFile(
    path="multiclass/usps.npz",
    format=NPZ,
    urls=(_USPS_ORIGIN + "zip.train.gz", _USPS_ORIGIN + "zip.test.gz"),
    convert=_convert.usps,
    sha256="ea82d80531834f3999b18ad83b6567b4af82e41b4f6938e47960e85d73cb9ac3",
)
MNIST = DataFile(
    path="multiclass/mnist.npz",
    format=NPZ,
    urls=(
        _MNIST_ORIGIN + "train-images-idx3-ubyte.gz",
        _MNIST_ORIGIN + "train-labels-idx1-ubyte.gz",
        _MNIST_ORIGIN + "t10k-images-idx3-ubyte.gz",
        _MNIST_ORIGIN + "t10k-labels-idx1-ubyte.gz",
    ),
    convert=_convert.mnist,
    sha256="718642823a97c098dbc2cf285b454c723cbca86a36072958be487fc8ebf13c28",
)

_USPS_DESCR = """USPS zip-code digits

7,291 training and 2,007 test images of handwritten digits, 16 x 16 grey values in [-1, 1], row by row.
Y. LeCun et al., AT&T; as distributed with T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical
Learning", https://hastie.su.domains/ElemStatLearn/. No licence is stated with the data.
"""
_MNIST_DESCR = """MNIST digits

60,000 training and 10,000 test images of handwritten digits, 28 x 28 grey values scaled to [0, 1], row by row.
Y. LeCun, L. Bottou, Y. Bengio, P. Haffner, "Gradient-based learning applied to document recognition", Proceedings
of the IEEE 86(11), 1998. No licence is stated with the data.
"""


def fetch_usps(*, data_home: PathLike | None = None, download_if_missing: bool = True) -> Bunch:
    """Load the USPS digits.

    Parameters
    ----------
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        `X_train` (7291, 256), `X_test` (2007, 256): float64 in [-1, 1]; `y_train`, `y_test`: integers 0..9;
        `target_names`; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_usps
    >>> fetch_usps().X_train.shape
    (7291, 256)
    """
    arrays = load_file(USPS, data_home, download_if_missing)
    return _bunch(arrays, scale=1000, dtype=np.float64, description=_USPS_DESCR)


def fetch_mnist(*, data_home: PathLike | None = None, download_if_missing: bool = True) -> Bunch:
    """Load the MNIST digits.

    Parameters
    ----------
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        `X_train` (60000, 784), `X_test` (10000, 784): float32 in [0, 1]; `y_train`, `y_test`: integers 0..9;
        `target_names`; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_mnist
    >>> fetch_mnist().X_test.shape
    (10000, 784)
    """
    arrays = load_file(MNIST, data_home, download_if_missing)
    # float32: in float64 the images would take 439 MB.
    return _bunch(arrays, scale=255, dtype=np.float32, description=_MNIST_DESCR)


def _bunch(arrays: Arrays, scale: int, dtype: type, description: str) -> Bunch:
    from sklearn.utils import Bunch

    return Bunch(
        X_train=arrays["X_train"].astype(dtype) / dtype(scale),
        y_train=arrays["y_train"].astype(np.int64),
        X_test=arrays["X_test"].astype(dtype) / dtype(scale),
        y_test=arrays["y_test"].astype(np.int64),
        target_names=np.arange(10),
        DESCR=description,
    )
