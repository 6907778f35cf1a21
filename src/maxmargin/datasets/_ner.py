"""Named entities: WNUT-17 (emerging entities in noisy text) and BC2GM (genes in abstracts)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import GZIP, DataFile, PathLike
from maxmargin.datasets._sentences import Sentences, check_counts, lexical_task, load_splits, read_lines

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Pinned to commits, so that the files cannot change.
_WNUT_ORIGIN = "https://raw.githubusercontent.com/leondz/emerging_entities_17/e52a2d2a71ac1a051ca2d532eef28653c5c02603/"
_BC2GM_ORIGIN = (
    "https://raw.githubusercontent.com/cambridgeltl/MTL-Bioinformatics-2016/"
    "df0df02fae6dbb87d88ffcf323b9096528f06f84/data/BC2GM-IOB/"
)


def _file(path: str, url: str, sha256: str) -> DataFile[bytes]:
    return DataFile(path=path, format=GZIP, urls=(url,), convert=_convert.as_it_is, sha256=sha256)


WNUT17 = {
    "train": _file(
        "ner_wnut17/train.conll.gz",
        f"{_WNUT_ORIGIN}wnut17train.conll",
        "731820e13f71af324c6b55a1575ec2ce59fbaa2a0806f8f0400b98d56cd6a7a5",
    ),
    "dev": _file(
        "ner_wnut17/dev.conll.gz",
        f"{_WNUT_ORIGIN}emerging.dev.conll",
        "e053b752b8155113ca66e7db08af5f2f5f43ab993694e4774f1ec5bad42312d8",
    ),
    "test": _file(
        "ner_wnut17/test.conll.gz",
        f"{_WNUT_ORIGIN}emerging.test.annotated",
        "2aa79b764e56ec9264a1b30fdd9b70195bd00ff400b62edd8f399d5f13c178f0",
    ),
}
BC2GM = {
    "train": _file(
        "ner_bc2gm/train.tsv.gz",
        f"{_BC2GM_ORIGIN}train.tsv",
        "46e17f4e1509483b82c03f27d6f0214020f738fb71704356fb3445eb824ab38d",
    ),
    "dev": _file(
        "ner_bc2gm/devel.tsv.gz",
        f"{_BC2GM_ORIGIN}devel.tsv",
        "33a94577aa22f1e70ec9e02781a05baa4e1390e866d28bf2b344888e4e3d4103",
    ),
    "test": _file(
        "ner_bc2gm/test.tsv.gz",
        f"{_BC2GM_ORIGIN}test.tsv",
        "30d7a4f571ca8ed22a044528063ba5d0388d666d8b8b329733d6927e5fb30764",
    ),
}

_FEATURES = """The attributes are lexical: words at offsets -2..2, lower-cased words at offsets -1..1, prefixes and
suffixes of two and three letters, shape, capital, digits, and one attribute for each end of the sentence. Columns are
the attributes that occur at least `min_freq` times in training: {}.
"""

_WNUT_DESCR = f"""WNUT-17, emerging and rare entities

3,394 training, 1,009 development and 1,287 test sentences (62,730, 15,733 and 23,394 tokens) of tweets, comments and
other noisy text, with entities of six types (corporation, creative-work, group, location, person, product) in the
IOB2 scheme, 13 labels. Development and test sentences come from other sources than the training sentences, and few of
their entities occur there: scores are low, the best of the shared task had an F1 of 41.9.

{_FEATURES.format("115,081 for 1 and 22,202 for 3")}
L. Derczynski, E. Nichols, M. van Erp, N. Limsopatham, "Results of the WNUT2017 shared task on novel and emerging
entity recognition", W-NUT 2017; https://github.com/leondz/emerging_entities_17 (CC BY 4.0).
"""

_BC2GM_DESCR = f"""BC2GM, names of genes

12,574 training, 2,519 development and 5,038 test sentences (355,405, 71,042 and 143,465 tokens) of biomedical
abstracts, with names of genes and proteins in the IOB2 scheme, 3 labels.

{_FEATURES.format("236,077 for 1 and 76,283 for 3")}
L. Smith et al., "Overview of BioCreative II gene mention recognition", Genome Biology 9, 2008; tokens and labels as in
G. Crichton et al., "A neural network multi-task learning approach to biomedical named entity recognition", BMC
Bioinformatics 18, 2017; https://github.com/cambridgeltl/MTL-Bioinformatics-2016 (CC BY 4.0).
"""


def fetch_wnut17(
    *,
    n_train: int | None = None,
    min_freq: int = 3,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load WNUT-17, named entities in noisy text, with lexical window attributes.

    Parameters
    ----------
    n_train : int, optional
        Train on the first `n_train` sentences only (all, if there are no more). Attributes and `target_names` are
        taken from these alone.
    min_freq : int
        Keep the attributes that occur at least this many times in the training sentences.
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train`, `dev` and `test`: `X_train`: list of sparse 0/1 matrices (length, n_attributes);
        `y_train`: list of arrays of labels; `words_train`: list of arrays of strings, for features of one's own.
        Besides, `feature_names`; `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_wnut17
    >>> tweets = fetch_wnut17(n_train=100)
    >>> tweets.words_train[0][14:17].tolist(), tweets.y_train[0][14:17].tolist()
    (['Empire', 'State', 'Building'], ['B-location', 'I-location', 'I-location'])
    """
    return _fetch(WNUT17, _WNUT_DESCR, n_train, min_freq, data_home, download_if_missing)


def fetch_bc2gm(
    *,
    n_train: int | None = None,
    min_freq: int = 3,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load BC2GM, names of genes in biomedical abstracts, with lexical window attributes.

    Parameters
    ----------
    n_train : int, optional
        Train on the first `n_train` sentences only (all, if there are no more). Attributes and `target_names` are
        taken from these alone.
    min_freq : int
        Keep the attributes that occur at least this many times in the training sentences.
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train`, `dev` and `test`: `X_train`: list of sparse 0/1 matrices (length, n_attributes);
        `y_train`: list of arrays of labels; `words_train`: list of arrays of strings, for features of one's own.
        Besides, `feature_names`; `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_bc2gm
    >>> genes = fetch_bc2gm(n_train=100)
    >>> genes.words_train[0][5:8].tolist(), genes.y_train[0][5:8].tolist()
    (['S', '-', '100'], ['B-GENE', 'I-GENE', 'I-GENE'])
    """
    return _fetch(BC2GM, _BC2GM_DESCR, n_train, min_freq, data_home, download_if_missing)


def _fetch(
    files: dict[str, DataFile[bytes]],
    description: str,
    n_train: int | None,
    min_freq: int,
    data_home: PathLike | None,
    download_if_missing: bool,
) -> Bunch:
    check_counts(min_freq, n_train)
    splits = load_splits(files, _parse, n_train, data_home, download_if_missing)
    return lexical_task(splits, "labels", min_freq, description)


@dataclass(frozen=True)
class _Tagged(Sentences):
    labels: tuple[str, ...]


def _parse(text: bytes) -> _Tagged:
    """``word label`` lines, tab-separated, with lines that are blank or hold a tab alone between sentences."""
    offsets, (words, labels) = read_lines(text.decode("utf-8"), _fields)
    return _Tagged(offsets, words, labels)


def _fields(line: str) -> tuple[str, str]:
    word, _, label = line.rstrip("\r").partition("\t")
    if not word or not re.fullmatch("O|[BI]-.+", label):
        raise ValueError(f"expected a word and O, B-type or I-type after a tab, got {line!r}")
    return word, label
