"""Word alignment: bipartite matching of the words of two sentences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from maxmargin.datasets import _convert
from maxmargin.datasets._fetch import GZIP, DataFile, PathLike, load_file

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# Pinned to commits, so that the files cannot change.
_TEXTS = "https://raw.githubusercontent.com/neulab/awesome-align/5f150d45bbe51e167daf0a84abebaeb07c3323d1/examples/"
_LINKS = "https://raw.githubusercontent.com/lilt/alignment-scripts/4da9bbfae633b1c8765281b0cd337233ed8d1446/results/"


def _file(pair: str, sha256: str) -> DataFile[bytes]:
    aligners = (f"{_LINKS}{name}/test.{pair}{way}.talp" for name in ("giza", "fastalign") for way in ("", ".reverse"))
    return DataFile(
        path=f"wordalign/{pair}.jsonl.gz",
        format=GZIP,
        urls=(f"{_TEXTS}{pair}.src-tgt", f"{_TEXTS}{pair}.gold", *aligners),
        convert=_convert.alignments,
        sha256=sha256,
    )


FILES = {
    "en-fr": _file("enfr", "f370b8cdbfcef274062348f13469061df07e3985dd194593c7979734f7b96011"),
    "ro-en": _file("roen", "9ec7203a97e93661feda33fedf43dc1fd7a90f775f47533ccd986cc3b368ba8e"),
}
# No address: put together from two origins by comparing their links.
TRIAL = DataFile(
    path="wordalign/enfr_trial.jsonl.gz",
    format=GZIP,
    urls=(),
    convert=None,
    sha256="6acae8b6a4d1c5562e028d25809327f6ceec2b862676dfc8429c5d1dbd36f9dc",
)

N_TRAIN = 100
ALIGNERS = _convert.ALIGNERS
FEATURE_NAMES = (
    *ALIGNERS,
    "giza_both",
    "fast_both",
    "all_four",
    *(f"{name}_{where}" for where in ("before", "after", "other_targets", "other_sources") for name in ALIGNERS),
    "position",
    "position^2",
    "same_word",
    "common_prefix",
    "both_punctuation",
    "one_punctuation",
    "constant",
)

_DESCR = """Word alignment, HLT-NAACL 2003 shared task

Pairs of sentences that are translations of each other; to be predicted is which words correspond. "en-fr": 447 pairs
of the Canadian Hansards, English (7,020 words) and French (7,761), at most 30 words a side, with 4,038 sure links and
13,400 further ones that are possible: neither right nor wrong. The first 100 pairs train and the other 347 test, as in
Taskar et al. 2005. "ro-en": 248 pairs, Romanian (5,495 words) and English (5,639), 6,198 sure links and no other,
split likewise into 100 and 148, which is a convention of this library. The trial pairs (37, "en-fr" only; 338 sure
links and 1,446 further ones), which the papers validate on, come without the aligners and so without features.

Sure links need not be one to one: they are not in 105 of the 447 pairs (29 of them in training) and in 234 of the
248. `y` is a matching: as many of a pair's sure links as are one to one, and among these sets the one with most votes.

The features of a candidate pair of words are the votes of four aligners (Mgiza and fast_align trained on the full
bitext, in both directions), whether both directions of one aligner and whether all four vote for it; for each
aligner, its votes for the pairs of the words before and of the words after, and how many other target words it links
the source word with, and other source words the target word (0, 1/2 or, for two and more, 1); the distance of the
relative positions and its square; whether the words are the same but for case, and the share of their common prefix in
the longer one; whether both or just one of them are punctuation; and a constant 1. The Dice and IBM-model features of
the papers are not included.

Alignment error rates on the 347 test pairs: the aligners by themselves 7.9, 10.1, 16.7 and 16.0 %; the best matching
under 3, 3, 1 and 1 for their votes, less 3.5 a link, 5.4 %; `y`, being one to one, 1.5 %.

R. Mihalcea, T. Pedersen, "An evaluation exercise for word alignment", 2003; gold links of the Hansards by F. Och and
H. Ney. Texts and links from https://github.com/neulab/awesome-align (BSD-3-Clause), aligners' links from
https://github.com/lilt/alignment-scripts (MIT). No licence is stated for the sentences.
B. Taskar, S. Lacoste-Julien, D. Klein, "A discriminative matching approach to word alignment", EMNLP 2005.
"""


def fetch_wordalign(
    languages: Literal["en-fr", "ro-en"] = "en-fr",
    *,
    trial: bool = False,
    data_home: PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """Load the word alignments, a task of bipartite matching.

    Parameters
    ----------
    languages : {"en-fr", "ro-en"}
        English-French or Romanian-English, source language first.
    trial : bool
        Load the trial pairs, too. They exist for "en-fr" only and cannot be downloaded.
    data_home : path-like, optional
        First folder to look into, and the one to store a download in.
    download_if_missing : bool
        If False, raise an OSError when the data is in no data folder.

    Returns
    -------
    sklearn.utils.Bunch
        For each split, `train` and `test`: `X_train`: list of (n_source, n_target, 30) arrays, the features of each
        pair of words, the votes of the aligners (0 or 1) first; `y_train`: list of (n_source,) arrays of integers,
        the target word that each source word is matched with, -1 for none; `sure_train` and `possible_train`: lists
        of (n_links, 2) arrays of integers, positions in the source and in the target sentence, the possible links
        without the sure ones; `source_train` and `target_train`: lists of arrays of strings, the words. Of the
        `trial` pairs, `sure`, `possible`, `source` and `target`. Besides, `feature_names`, `aligner_names`, `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_wordalign
    >>> pairs = fetch_wordalign()
    >>> len(pairs.X_train), pairs.X_train[0].shape[2]
    (100, 30)
    """
    from sklearn.utils import Bunch

    if languages not in FILES:
        raise ValueError(f"languages must be 'en-fr' or 'ro-en', got {languages!r}")
    if trial and languages != "en-fr":
        raise ValueError(f"there are trial pairs for 'en-fr' only, not for {languages!r}")
    pairs = _parse(load_file(FILES[languages], data_home, download_if_missing), ALIGNERS)
    data = Bunch(feature_names=np.array(FEATURE_NAMES), aligner_names=np.array(ALIGNERS), DESCR=_DESCR)
    for split, part in (("train", pairs[:N_TRAIN]), ("test", pairs[N_TRAIN:])):
        data[f"X_{split}"] = [_features(pair) for pair in part]
        data[f"y_{split}"] = [_matching(pair) for pair in part]
        data.update(_texts_and_links(part, split))
    if trial:
        data.update(_texts_and_links(_parse(load_file(TRIAL, data_home), ()), "trial"))
    return data


class _Pair(NamedTuple):
    """Words of both sentences, links (n_links, 2), and the aligners' votes (n_source, n_target, n_aligners)."""

    source: np.ndarray
    target: np.ndarray
    sure: np.ndarray
    possible: np.ndarray
    votes: np.ndarray


def _texts_and_links(pairs: list[_Pair], split: str) -> dict[str, list[np.ndarray]]:
    names = ("source", "target", "sure", "possible")
    return {f"{name}_{split}": [getattr(pair, name) for pair in pairs] for name in names}


def _parse(text: bytes, aligners: tuple[str, ...]) -> list[_Pair]:
    """One JSON object a line: words `src` and `tgt`, links `S` and `P`, and the links of each aligner."""
    lines = text.decode("utf-8").removesuffix("\n").split("\n")
    return [_pair(line, number, aligners) for number, line in enumerate(lines, start=1)]


def _pair(line: str, number: int, aligners: tuple[str, ...]) -> _Pair:
    fields = json.loads(line)
    missing = [name for name in ("src", "tgt", "S", "P", *aligners) if name not in fields]
    if missing:
        raise ValueError(f"pair {number} has no {', '.join(missing)}")
    source, target = (np.array(fields[name], dtype=object) for name in ("src", "tgt"))
    if not (len(source) and len(target)):
        raise ValueError(f"pair {number} has a sentence without words")
    shape = (len(source), len(target))
    links = {name: _links(fields[name], shape, f"{name} of pair {number}") for name in ("S", "P", *aligners)}
    votes = np.zeros((*shape, len(aligners)))
    for k, name in enumerate(aligners):
        votes[*links[name].T, k] = 1
    return _Pair(source, target, links["S"], links["P"], votes)


def _links(pairs: list[list[int]], shape: tuple[int, int], what: str) -> np.ndarray:
    links = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    bad = ((links < 0) | (links >= shape)).any(axis=1)
    if bad.any():
        raise ValueError(
            f"{what} links {links[bad][0].tolist()}, but the sentences have {shape[0]} and {shape[1]} words"
        )
    return links


def _matching(pair: _Pair) -> np.ndarray:
    """Target word of each source word, or -1: most sure links that are one to one, then most votes."""
    from scipy.optimize import linear_sum_assignment

    n_source, n_target, n_aligners = pair.votes.shape
    gain = np.zeros((n_source, n_target))
    # Votes only break ties: all of them together weigh less than one link.
    sure = tuple(pair.sure.T)
    gain[sure] = 1 + pair.votes.sum(axis=2)[sure] / (1 + n_aligners * min(n_source, n_target))
    rows, columns = linear_sum_assignment(gain, maximize=True)
    matched = np.full(n_source, -1)
    matched[rows] = np.where(gain[rows, columns] > 0, columns, -1)
    return matched


def _features(pair: _Pair) -> np.ndarray:
    votes = pair.votes
    n_source, n_target = votes.shape[:2]
    padded = np.pad(votes, ((1, 1), (1, 1), (0, 0)))
    distance = np.abs(np.arange(n_source)[:, None] / n_source - np.arange(n_target) / n_target)
    source, target = ([word.lower() for word in words] for words in (pair.source, pair.target))
    marks, other_marks = (np.array([not _has_letter_or_digit(word) for word in words]) for words in (source, target))
    columns = [
        *votes.transpose(2, 0, 1),
        votes[..., :2].all(axis=2),
        votes[..., 2:].all(axis=2),
        votes.all(axis=2),
        *padded[:-2, :-2].transpose(2, 0, 1),
        *padded[2:, 2:].transpose(2, 0, 1),
        *_others(votes, 1).transpose(2, 0, 1),
        *_others(votes, 0).transpose(2, 0, 1),
        distance,
        distance**2,
        np.array(source)[:, None] == np.array(target),
        [[_common_prefix(word, other) for other in target] for word in source],
        marks[:, None] & other_marks,
        marks[:, None] ^ other_marks,
        np.ones((n_source, n_target)),
    ]
    return np.stack(columns, axis=-1, dtype=np.float64)


def _others(votes: np.ndarray, axis: int) -> np.ndarray:
    """How many votes there are for other pairs along the axis, half their number, at most 1."""
    return np.minimum(votes.sum(axis=axis, keepdims=True) - votes, 2) / 2


def _has_letter_or_digit(word: str) -> bool:
    return any(character.isalnum() for character in word)


def _common_prefix(word: str, other: str) -> float:
    """Length of the common prefix, relative to the longer word."""
    if word[:1] != other[:1]:
        return 0.0
    length = next((k for k, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return length / max(len(word), len(other))
