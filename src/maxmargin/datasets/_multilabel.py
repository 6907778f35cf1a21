"""Sets of labels for texts, pictures, pieces of music and genes: the collection of Mulan."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.datasets._fetch import GZIP, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch


class _Set(NamedTuple):
    """What a set is about, its number of features, and the sums of its training, test and label files."""

    about: str
    n_features: int
    train: str
    test: str
    labels: str


SETS = {
    "bibtex": _Set(
        "tags of bibliographic entries, by their words",
        1836,
        "eca755ba961ffa48746c94e084744b9700edc21f8b897cb2e6d5a3e00dc13832",
        "e08c87895b03c1780586e004065d3256a8832354d2bc4f33cdcf412f20810e81",
        "1350ec51060650137a0d7496560f8c4601c0483d47e291c5a26e3a3968effae4",
    ),
    "delicious": _Set(
        "tags of bookmarked pages, by their words",
        500,
        "6c59e9557ee68afd3377cd6bbdcb700fb5c641696bafb40692dca0d956fa1103",
        "1117b5b54fef62024c584f8eb094004bc762331abe6bb3ffa0009cf08425f1e0",
        "5e54598c3cf746c696ab6684d05edf5d1baf0066bf62fa4699b7e2ceca07c033",
    ),
    "emotions": _Set(
        "moods of pieces of music, by rhythm and timbre",
        72,
        "9ac2c89c374713d239a62963b13b4039139e842bb8ab468e952b77ce3d1dd85f",
        "a635ec3549f80a6443ae2443c7d630bc0814cdfee2d2b697326b94724402a933",
        "ee43ed1fa61facf798eff078883ee3ec4bb101747e3578d9cdd52ce437312a92",
    ),
    "enron": _Set(
        "kinds and topics of e-mails, by their words",
        1001,
        "1557a75d66dce7f251430b51d19ed311441807775b268c3b6e63b911c4191d0b",
        "8c5da2a5d0ee189def929091d0ce6286362dd1bfd3e3f0997bf13cfeb0e1d3cd",
        "ab15ca96db914eec1891f2d6ebeefa1a13f660dd3772d2121e06e05afc719221",
    ),
    "medical": _Set(
        "diagnoses of radiology reports, by their words",
        1449,
        "b13fd739e8f3c11fd895a9429469929960b3a53fe14168b3dbf6f982012da413",
        "2ccdd4665c105eb44de7e3d60d638e824cb8b52365c5f40f8f8b4b36afa205d5",
        "0aaf4a8be9adf281cad3e0a1d0927b1035ad6b40e325797507fc1f8761224e22",
    ),
    "scene": _Set(
        "what photographs show, by their colours",
        294,
        "2eb913694b41150153bf34a836333f88c639563d6207b5662433dd11e4ee8b87",
        "672d6ebb27cc27af0931c079a818a5a2f56f00e394862f5acf40cfaf8007d1b5",
        "d53aa1cbdb62c348f59c6b46c75cfb183e07563ee06e8ed5ef884f264db4e5ff",
    ),
    "tmc2007-500": _Set(
        "problems in reports on flights, by 500 chosen words",
        500,
        "90227243911828e0f387ca1d693f094bfa31147cdbc80d15cf6fa5276bd6bebd",
        "bce29fd08d50c53fc2850c0f256be5d3795e29c67f87472d14e296d1269cf87e",
        "59c12740534dcef5ced696325770e1a53e3b6e13af6b72bcccdd246116695752",
    ),
    "yeast": _Set(
        "functions of genes, by expression and phylogeny",
        103,
        "d5d60d64a84a79ee832e014a2f1ba3c4d00eb1229000d5f6c286eec5ea067179",
        "ba0bb6bd419172eb438bad7eab1794cfc2e2588471bf4c64977a1690f835ddce",
        "4c45249d1dc901ed2a245e3d85ec3db8290b688e49f4147ad8c64b4776e09c0e",
    ),
}

_DESCR = """{name}: {about}

{n_train:,} training and {n_test:,} test samples with {n_features:,} features, and {n_labels} labels, {cardinality:.3f}
of them on average at a training sample. From the collection of Mulan (G. Tsoumakas et al., "Mulan: a Java library for
multi-label learning", JMLR 2011), in its split. No licence is stated with the data.
"""


def fetch_multilabel(name: str, *, data_home: PathLike | None = None) -> Bunch:
    """Load a set of Mulan's collection, a task of finding the set of labels that a sample has.

    There is no download: the data must lie in a data folder.

    Parameters
    ----------
    name : {"bibtex", "delicious", "emotions", "enron", "medical", "scene", "tmc2007-500", "yeast"}
        Which set.
    data_home : path-like, optional
        First folder to look into.

    Returns
    -------
    sklearn.utils.Bunch
        `X_train`, `X_test`: CSR matrices of features; `y_train`, `y_test`: CSR matrices of integers, a row a sample and
        a column a label, 1 where it has the label; `target_names`: the labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_multilabel
    >>> music = fetch_multilabel("emotions")
    >>> music.X_train.shape, music.y_train.shape, music.target_names[music.y_train[0].indices].tolist()
    ((391, 72), (391, 6), ['happy-pleased', 'relaxing-calm'])
    """
    from sklearn.utils import Bunch

    if name not in SETS:
        raise ValueError(f"name must be one of {', '.join(map(repr, SETS))}, got {name!r}")
    kind = SETS[name]
    names = np.array(_load(f"{name}-labels.txt.gz", kind.labels, data_home).decode().splitlines())
    X_train, y_train = _parse(_load(f"{name}-train.libsvm.gz", kind.train, data_home), kind.n_features, len(names))
    X_test, y_test = _parse(_load(f"{name}-test.libsvm.gz", kind.test, data_home), kind.n_features, len(names))
    description = _DESCR.format(
        name=name,
        about=kind.about,
        n_train=X_train.shape[0],
        n_test=X_test.shape[0],
        n_features=kind.n_features,
        n_labels=len(names),
        cardinality=y_train.sum() / y_train.shape[0],
    )
    return Bunch(X_train=X_train, y_train=y_train, X_test=X_test, y_test=y_test, target_names=names, DESCR=description)


def _load(file_name: str, sha256: str, data_home: PathLike | None) -> bytes:
    # No address: the originals are ARFF files, and were rewritten.
    file = DataFile(path=f"multilabel/{file_name}", format=GZIP, urls=(), convert=None, sha256=sha256)
    return load_file(file, data_home)


def _parse(text: bytes, n_features: int, n_labels: int) -> tuple[Any, Any]:
    """Features and label indicators of lines ``label,label,... feature:value ...``, features counted from 1."""
    from scipy.sparse import csr_matrix
    from sklearn.datasets import load_svmlight_file

    X, labels = load_svmlight_file(io.BytesIO(text), n_features=n_features, multilabel=True, zero_based=False)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # LIBLINEAR takes no others
    indptr = np.concatenate([[0], np.cumsum([len(one) for one in labels])])
    columns = np.array([label for one in labels for label in sorted(one)], dtype=np.int32)
    return X, csr_matrix((np.ones(len(columns), np.int64), columns, indptr), shape=(len(labels), n_labels))
