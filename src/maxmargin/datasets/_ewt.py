"""Universal Dependencies English EWT: labels over given dependency trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import GZIP, DataFile, PathLike
from maxmargin.datasets._sentences import Sentences, check_counts, lexical_task, load_splits, read_lines

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Pinned to a commit, so that the files cannot change: the treebank is corrected with every release.
_ORIGIN = (
    "https://raw.githubusercontent.com/UniversalDependencies/UD_English-EWT/"
    "15d613d8447b3478787d4c278730a1e48a945efb/en_ewt-ud-"
)


def _file(split: str, sha256: str) -> DataFile[bytes]:
    return DataFile(
        path=f"ud_ewt/{split}.tsv.gz",
        format=GZIP,
        urls=(f"{_ORIGIN}{split}.conllu",),
        convert=_convert.conllu,
        sha256=sha256,
    )


FILES = {
    "train": _file("train", "607113e45fe17d689f0f4d0f9b8b8a80e6cf38259aa83f07cd119f665951c400"),
    "dev": _file("dev", "851f6beed84b575ca0c2fd22a147a3c8eeca0bbe3dbb76829a09803a93975319"),
    "test": _file("test", "dcd2cdd783dd46e556b3856c3c4932da2e9c633dfdd98f1bd2e8a81198b01120"),
}

TARGETS = ("xpos", "upos", "deprel")

_DESCR = """Universal Dependencies English EWT (English Web Treebank)

12,544 training, 2,001 development and 2,077 test sentences (204,577, 25,147 and 25,094 words) of weblogs,
newsgroups, e-mails, reviews and answers, each with its dependency tree. The tree is given; to be predicted is the
label of every word: its part-of-speech tag (XPOS, Penn style, 49 labels; UPOS, universal, 17 labels) or the relation
to its head (DEPREL, with subtypes, 51 labels). All labels occur in training and none is merged or dropped, however
rare: the rarest tag (WP$) occurs 14 times there, the rarest relation (csubj:outer) twice. WP$ and the relations dep
and dislocated do not occur in the test sentences. Every tree has one root; 280, 31 and 26 trees are not projective.

The attributes are lexical: words at offsets -2..2, lower-cased words at offsets -1..1, prefixes and suffixes of two
and three letters, shape, capital, digits, and one attribute for each end of the sentence. Columns are the
attributes that occur at least `min_freq` times in training: 149,156 for 1 and 54,591 for 3.

N. Silveira et al., "A gold standard dependency corpus for English", LREC 2014;
https://github.com/UniversalDependencies/UD_English-EWT, 10 May 2025. Annotations under CC BY-SA 4.0; comments, lemmas,
morphological features, enhanced dependencies, multi-word tokens and empty nodes are left out.
"""


def fetch_ewt(
    target: Literal["xpos", "upos", "deprel"] = "xpos",
    *,
    n_train: int | None = None,
    min_freq: int = 3,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load the English Web Treebank, a task of labelling the nodes of given trees.

    Parameters
    ----------
    target : {"xpos", "upos", "deprel"}
        Labels to predict: part-of-speech tags, Penn style or universal, or relations to the heads.
    n_train : int, optional
        Train on the first `n_train` sentences only (all, if there are no more). Attributes and `target_names` are
        taken from these alone, so that development and test sentences may carry other labels.
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
        `heads_train`: list of (length,) arrays of integers, the position of each word's head in its sentence, -1
        for a root; `y_train`: list of arrays of labels; `words_train`: list of arrays of strings, for features of
        one's own. Besides, `feature_names`; `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_ewt
    >>> trees = fetch_ewt(n_train=100)
    >>> trees.words_train[0][:3].tolist(), trees.heads_train[0][:3].tolist()
    (['Al', '-', 'Zaman'], [-1, 2, 0])
    """
    if target not in TARGETS:
        raise ValueError(f"target must be 'xpos', 'upos' or 'deprel', got {target!r}")
    check_counts(min_freq, n_train)
    splits = load_splits(FILES, _parse, n_train, data_home, download_if_missing)
    data = lexical_task(splits, target, min_freq, _DESCR)
    for name, split in splits.items():
        data[f"heads_{name}"] = split.cut(split.heads)
    return data


@dataclass(frozen=True)
class _Treebank(Sentences):
    """Heads count within a sentence."""

    upos: tuple[str, ...]
    xpos: tuple[str, ...]
    deprel: tuple[str, ...]
    heads: np.ndarray


def _parse(text: bytes) -> _Treebank:
    """``FORM UPOS XPOS HEAD DEPREL`` lines, tab-separated, a blank line after each sentence."""
    offsets, (words, upos, xpos, heads, deprel) = read_lines(text.decode("utf-8"), _fields)
    return _Treebank(offsets, words, upos, xpos, deprel, _parents(heads, offsets))


def _fields(line: str) -> list[str]:
    fields = line.split("\t")
    if len(fields) != 5 or not all(fields) or not fields[3].isdecimal():
        raise ValueError(f"expected FORM, UPOS, XPOS, HEAD (a number) and DEPREL between tabs, got {line!r}")
    return fields


def _parents(heads: tuple[str, ...], offsets: np.ndarray) -> np.ndarray:
    """Heads counted from 0 within each sentence, -1 for a root."""
    parents = np.array([int(head) - 1 for head in heads])
    lengths = np.diff(offsets)
    too_large = parents >= np.repeat(lengths, lengths)
    if too_large.any():
        raise ValueError(f"sentence {_sentence_of(too_large, offsets)} has a HEAD beyond its last word")
    in_cycle = _never_ends(np.where(parents < 0, -1, parents + np.repeat(offsets[:-1], lengths)), lengths.max())
    if in_cycle.any():
        raise ValueError(f"the HEADs of sentence {_sentence_of(in_cycle, offsets)} form a cycle")
    return parents


def _never_ends(parents: np.ndarray, longest: int) -> np.ndarray:
    """Whether the walk from parent to parent meets no root (-1)."""
    ancestors = np.append(parents, -1)
    # Doubling: after k rounds these are the ancestors 2 ** k steps up.
    for _ in range(int(longest).bit_length()):
        ancestors = ancestors[ancestors]
    return ancestors[:-1] >= 0


def _sentence_of(bad: np.ndarray, offsets: np.ndarray) -> int:
    """Number, from 1, of the sentence of the first bad token."""
    return int(np.searchsorted(offsets, np.argmax(bad), side="right"))
