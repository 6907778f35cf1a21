"""Slovak words with their morphological tags: a chain with more than a thousand labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from maxmargin.datasets._fetch import GZIP, DataFile, PathLike
from maxmargin.datasets._sentences import Sentences, check_counts, lexical_task, load_splits, read_lines

if TYPE_CHECKING:
    from sklearn.utils import Bunch


def _file(split: str, sha256: str) -> DataFile[bytes]:
    # No address: the sentences are those that two annotators agree on, in a split of our own.
    return DataFile(path=f"morph_slovak/{split}.tsv.gz", format=GZIP, urls=(), convert=None, sha256=sha256)


FILES = {
    "train": _file("train", "4c0faf46620160d4a28839b15e436944879d5dc0d78d8e849bfaed4b968fb0fc"),
    "dev": _file("dev", "642babb35daab9b001abaf557a29c0c86aa37d3f066287328742994716b7e440"),
    "test": _file("test", "386b10c01f401150796d4caf7176365a04840d8d697f1d3647dbbfa880483de3"),
}

_DESCR = """Slovak morphological tagging

29,330 training, 3,544 development and 3,680 test sentences (482,451, 59,774 and 61,390 words) of the Slovak Dependency
Treebank. To be predicted is the tag of every word: part of speech, case, number, gender and so on in one string. There
are 1,653 tags in all, 1,563 of them in training (941 at least five times); 47 words of the test sentences have a tag
that no training sentence has.

The attributes are lexical: words at offsets -2..2, lower-cased words at offsets -1..1, prefixes and suffixes of two
and three letters, shape, capital, digits, and one attribute for each end of the sentence. Columns are the
attributes that occur at least `min_freq` times in training: 156,042 for 3.

Made from the files of the treebank's two annotators: sentences are kept where both agree on the tags, repeated ones
once, and every tenth file is for the test, the ninth of ten for development. So this is not the split of the Universal
Dependencies, and not comparable with results on it. K. Gajdošová, M. Šimková et al.;
https://github.com/UniversalDependencies/UD_Slovak-SNK. Under CC BY-SA 4.0.
"""


def fetch_slovak(*, n_train: int | None = None, min_freq: int = 3, data_home: PathLike | None = None) -> Bunch:
    """Load Slovak sentences and their morphological tags, a chain task with 1,653 labels.

    There is no download: the data must lie in a data folder.

    Parameters
    ----------
    n_train : int, optional
        Train on the first `n_train` sentences only (all, if there are no more). Attributes and `target_names` are
        taken from these alone, so that development and test sentences carry more labels that are new.
    min_freq : int
        Keep the attributes that occur at least this many times in the training sentences.
    data_home : path-like, optional
        First folder to look into.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train`, `dev` and `test`: `X_train`: list of sparse 0/1 matrices (length, n_attributes);
        `y_train`: list of arrays of tags; `words_train`: list of arrays of strings, for features of one's own.
        Besides, `feature_names`; `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_slovak
    >>> tags = fetch_slovak(n_train=100)
    >>> tags.words_train[1][2:4].tolist(), tags.y_train[1][2:4].tolist()
    (['zrkadlo', 'povedzže'], ['SSns1', 'VMdsb+'])
    """
    check_counts(min_freq, n_train)
    splits = load_splits(FILES, _parse, n_train, data_home, download_if_missing=False)
    return lexical_task(splits, "tags", min_freq, _DESCR)


@dataclass(frozen=True)
class _Tagged(Sentences):
    tags: tuple[str, ...]


def _parse(text: bytes) -> _Tagged:
    """``FORM XPOS UPOS`` lines, tab-separated, a blank line after each sentence."""
    offsets, (words, tags, _) = read_lines(text.decode("utf-8"), _fields)
    return _Tagged(offsets, words, tags)


def _fields(line: str) -> list[str]:
    fields = line.split("\t")
    if len(fields) != 3 or not all(fields):
        raise ValueError(f"expected FORM, XPOS and UPOS between tabs, got {line!r}")
    return fields
