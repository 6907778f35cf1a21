"""OCR letters: handwritten words, one binary image a letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import NPZ, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch

LETTERS = DataFile(
    path="ocr/letters.npz",
    format=NPZ,
    urls=("https://ai.stanford.edu/~btaskar/ocr/letter.data.gz",),
    convert=_convert.letters,
    sha256="005b9cffd23ad71385f24605cf352a7e97e26965dd6392cd704e0a0a44daa23e",
)

_DESCR = """OCR letters

6,877 handwritten words, 52,152 letters, 26 labels; each letter is a binary image of 16 x 8 pixels, row by row.
The first (capital) letter of each word is absent, as in the original. The words come in ten folds: "small"
trains on fold 0 (626 words) and tests on folds 1-9 (6,251 words), "large" the other way round.

Collected by R. Kassel, MIT Spoken Language Systems; B. Taskar, C. Guestrin, D. Koller, "Max-margin Markov
networks", NIPS 2003; https://ai.stanford.edu/~btaskar/ocr/. No licence is stated.
"""


def fetch_ocr(
    split: Literal["small", "large"] = "small",
    *,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load the OCR letters, a chain labelling task.

    Parameters
    ----------
    split : {"small", "large"}
        Train on fold 0 and test on the others, or the other way round.
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        `X_train`, `X_test`: lists of (length, 128) arrays of zeros and ones; `y_train`, `y_test`: lists of
        (length,) arrays of integers 0..25; `folds_train`, `folds_test`; `target_names`: the letters; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_ocr
    >>> letters = fetch_ocr("small")
    >>> len(letters.X_train), "".join(letters.target_names[letters.y_train[0]])
    (626, 'ommanding')
    """
    from sklearn.utils import Bunch

    if split not in ("small", "large"):
        raise ValueError(f"split must be 'small' or 'large', got {split!r}")
    arrays = load_file(LETTERS, data_home, download_if_missing)
    inner = arrays["word_offsets"][1:-1]
    X = np.split(np.unpackbits(arrays["images"], axis=1).astype(np.float64), inner)
    y = np.split(arrays["labels"].astype(np.int64), inner)
    folds = arrays["folds"].astype(np.int64)
    train = np.flatnonzero((folds == 0) == (split == "small"))
    test = np.flatnonzero((folds == 0) == (split == "large"))
    return Bunch(
        X_train=[X[i] for i in train],
        y_train=[y[i] for i in train],
        X_test=[X[i] for i in test],
        y_test=[y[i] for i in test],
        folds_train=folds[train],
        folds_test=folds[test],
        target_names=np.array([chr(code) for code in range(ord("a"), ord("z") + 1)]),
        DESCR=_DESCR,
    )
