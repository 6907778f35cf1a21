"""CoNLL-2000 text chunking."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import GZIP, DataFile, PathLike, load_file
from maxmargin.datasets._sentences import Sentences, check_counts, read_lines
from maxmargin.features.attributes import ENDS, AttributeEncoder, Tokens, window
from maxmargin.formats import column

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Pinned to a commit, so that the archive cannot change. It is small (0.7 MB) and read once for each of its two texts.
_ORIGIN = (
    "https://raw.githubusercontent.com/nltk/nltk_data/5db857e6f7df11eabb5e5665836db9ec8df07e28/"
    "packages/corpora/conll2000.zip"
)


def _file(split: str, sha256: str) -> DataFile[bytes]:
    return DataFile(
        path=f"conll2000/{split}.txt.gz",
        format=GZIP,
        urls=(_ORIGIN,),
        convert=partial(_convert.zip_member, member=f"conll2000/{split}.txt"),
        sha256=sha256,
    )


TRAIN = _file("train", "82033cd7a72b209923a98007793e8f9de3abc1c8b79d646c50648eb949b87cea")
TEST = _file("test", "73b7b1e565fa75a1e22fe52ecdf41b6624d6f59dacb591d44252bf4d692b1628")

# The templates of the chunking tutorial of CRFsuite (N. Okazaki).
WINDOWS = (
    *(window("w", (t,)) for t in range(-2, 3)),
    *(window("w", (t, t + 1)) for t in range(-1, 1)),
    *(window("pos", (t,)) for t in range(-2, 3)),
    *(window("pos", (t, t + 1)) for t in range(-2, 2)),
    *(window("pos", (t, t + 1, t + 2)) for t in range(-2, 1)),
)
TEMPLATES = (*WINDOWS, *ENDS)

_DESCR = """CoNLL-2000 text chunking

8,936 training sentences (211,727 tokens, 22 chunk labels) and 2,012 test sentences (47,377 tokens) of the Wall
Street Journal, with part-of-speech tags and chunk labels in the IOB2 scheme. One test label, I-LST, never occurs
in training. The attributes follow the templates of CRFsuite's chunking tutorial: words at offsets -2..2, the two
word pairs around the token, tags at offsets -2..2 and their neighbouring pairs and triples, and one attribute for
each end of the sentence. Columns are the attributes that occur at least `min_freq` times in training: 335,674
for 1 and 75,289 for 3.

E. Tjong Kim Sang, S. Buchholz, "Introduction to the CoNLL-2000 shared task: chunking", CoNLL 2000. No licence is
stated.
"""


def fetch_conll2000(min_freq: int = 3, *, data_home: PathLike | None = None, download_if_missing: bool = True) -> Bunch:
    """Load the CoNLL-2000 chunking task with window attributes.

    Parameters
    ----------
    min_freq : int
        Keep the attributes that occur at least this many times in the training sentences.
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        `X_train`, `X_test`: lists of sparse 0/1 matrices (length, n_attributes); `y_train`, `y_test`: lists of
        arrays of chunk labels; `words_train`, `words_test`, `pos_train`, `pos_test`: lists of arrays of strings,
        for features of one's own; `feature_names`; `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_conll2000
    >>> chunks = fetch_conll2000()
    >>> len(chunks.X_train), chunks.words_train[0][:3].tolist(), chunks.y_train[0][:3].tolist()
    (8936, ['Confidence', 'in', 'the'], ['B-NP', 'B-PP', 'B-NP'])
    """
    from sklearn.utils import Bunch

    check_counts(min_freq)
    train = _parse(load_file(TRAIN, data_home, download_if_missing))
    test = _parse(load_file(TEST, data_home, download_if_missing))
    tokens = train.tokens()
    encoder = AttributeEncoder.learn(TEMPLATES, tokens, min_freq)
    return Bunch(
        X_train=encoder.encode(tokens),
        y_train=train.cut(train.chunks),
        X_test=encoder.encode(test.tokens()),
        y_test=test.cut(test.chunks),
        words_train=train.cut(train.words),
        words_test=test.cut(test.words),
        pos_train=train.cut(train.pos),
        pos_test=test.cut(test.pos),
        feature_names=encoder.names(),
        target_names=np.unique(train.chunks),
        DESCR=_DESCR,
    )


@dataclass(frozen=True)
class _Chunked(Sentences):
    pos: tuple[str, ...]
    chunks: tuple[str, ...]

    def tokens(self) -> Tokens:
        return Tokens({"w": column(self.words), "pos": column(self.pos)}, self.offsets).with_ends()


def _parse(text: bytes) -> _Chunked:
    """``word pos chunk`` lines, a blank line after each sentence."""
    offsets, (words, pos, chunks) = read_lines(text.decode("ascii"), str.split)
    return _Chunked(offsets, words, pos, chunks)
