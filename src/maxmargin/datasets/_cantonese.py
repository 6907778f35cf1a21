"""Cantonese conversations: characters from syllables, or from noisy pictures of them; more than 2,400 labels."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from maxmargin.datasets._fetch import NPZ, Arrays, DataFile, PathLike, load_file
from maxmargin.datasets._sentences import check_counts
from maxmargin.features import attributes
from maxmargin.formats import column

if TYPE_CHECKING:
    from sklearn.utils import Bunch

# No addresses: both were taken out of archives of programs.
CORPUS = DataFile(
    path="largelabel/hkcancor_chars.npz",
    format=NPZ,
    urls=(),
    convert=None,
    sha256="b13f36672df2a65b095ff078b4cf385fc1635e3d79b52be39e9f0ad9f5f91bbd",
)
GLYPHS = DataFile(
    path="largelabel/unifont_glyphs.npz",
    format=NPZ,
    urls=(),
    convert=None,
    sha256="4ae15e9f324d0d59eaa4606e8b74a10d40b90908a88f9f480ae45ff098e5d6ee",
)

_CORPUS_DESCR = """
Sequences are the longest runs of words of an utterance whose characters and syllables are equally many and all
Chinese. Every fifth of the 58 conversations is for the test.

K. K. Luke, M. L. Y. Wong, "The Hong Kong Cantonese Corpus: Design and Uses", 2015, with its hand-made transcription
in Jyutping, as distributed with PyCantonese. Under CC BY 4.0.
"""
_CANTONESE_DESCR = f"""Characters of Cantonese syllables

22,012 training and 6,672 test sequences (126,545 and 34,500 syllables) of the Hong Kong Cantonese Corpus: 1 to 46
syllables, 5.6 on average. To be predicted is the character of every syllable. There are 2,447 characters, 2,346 of them
in training; 218 test syllables have a character that no training sequence has. Of 1,447 syllables with tone
574 are left without; on average 7.8 characters share the toneless syllable of a position.

The attributes are the syllable and those of its neighbours, and one for each end of the sequence: 4,217 with tones and
one neighbour on either side, 1,701 without tones.
{_CORPUS_DESCR}"""
_GLYPHS_DESCR = f"""Noisy pictures of Chinese characters in running text: semi-synthetic

The text is that of the Hong Kong Cantonese Corpus, the pictures are drawn: the 16 x 16 pixels of each character in the
font GNU Unifont, row by row, of which every pixel is turned over with a probability of `noise`, independently. So only
the order of the characters is as people write; no picture was ever seen. To be predicted is the character of every
picture. The font has 2,419 of the 2,447 characters; sequences are cut at the others, which leaves 23,456 training
and 7,074 test sequences (124,053 and 33,750 characters), 2,319 characters in training.
{_CORPUS_DESCR}
GNU Unifont 15.0.01, under GPL-2+ with the font embedding exception.
"""


class _Text(NamedTuple):
    """Sequences laid end to end: characters and syllables by number, where they start, which are for the test."""

    characters: np.ndarray
    syllables: np.ndarray
    offsets: np.ndarray
    for_test: np.ndarray

    def part(self, kept: np.ndarray) -> _Text:
        """The sequences of these numbers."""
        lengths = np.diff(self.offsets)
        inside = np.zeros(len(lengths), bool)
        inside[kept] = True
        words = np.repeat(inside, lengths)
        offsets = np.concatenate([[0], np.cumsum(lengths[inside])])
        return _Text(self.characters[words], self.syllables[words], offsets, self.for_test[inside])

    def splits(self, n_train: int | None) -> dict[str, _Text]:
        """The sequences for training, the first of them, and those for the test."""
        return {
            "train": self.part(np.flatnonzero(~self.for_test)[:n_train]),
            "test": self.part(np.flatnonzero(self.for_test)),
        }

    def cut(self, values: np.ndarray) -> list[np.ndarray]:
        """An array a sequence."""
        return np.split(values, self.offsets[1:-1])


def fetch_cantonese(
    tones: bool = True, *, window: int = 1, n_train: int | None = None, data_home: PathLike | None = None
) -> Bunch:
    """Load syllables of Cantonese conversations and their characters, a chain task with 2,447 labels.

    There is no download: the data must lie in a data folder.

    Parameters
    ----------
    tones : bool
        Whether syllables carry their tones ("aa1"); without ("aa") more characters share a syllable.
    window : int
        How many neighbouring syllables on either side are features, too; 0 leaves the syllable itself.
    n_train : int, optional
        Train on the first `n_train` sequences only (all, if there are no more). Attributes and `target_names` are
        taken from these alone.
    data_home : path-like, optional
        First folder to look into.

    Returns
    -------
    sklearn.utils.Bunch
        For both splits, `train` and `test`: `X_train`: list of sparse 0/1 matrices (length, n_attributes); `y_train`:
        list of arrays of characters; `syllables_train`: list of arrays of strings. Besides, `feature_names`;
        `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_cantonese
    >>> talk = fetch_cantonese(n_train=100)
    >>> talk.syllables_train[0][:3].tolist(), talk.X_train[0].shape[0] == len(talk.y_train[0])
    (['wai3', 'ci4', 'di1'], True)
    """
    from sklearn.utils import Bunch, check_scalar

    check_scalar(window, "window", numbers.Integral, min_val=0)
    check_counts(1, n_train)
    arrays = load_file(CORPUS, data_home, download_if_missing=False)
    names, of_syllable = arrays["syllable_table"], np.arange(len(arrays["syllable_table"]))
    if not tones:
        names, of_syllable = arrays["toneless_table"], arrays["syllable_to_toneless"]
    splits = _read(arrays).splits(n_train)
    spoken = {name: names[of_syllable[split.syllables]] for name, split in splits.items()}
    tokens = {
        name: attributes.Tokens({"syllable": column(spoken[name])}, split.offsets).with_ends()
        for name, split in splits.items()
    }
    templates = [*(attributes.window("syllable", (offset,)) for offset in range(-window, window + 1)), *attributes.ENDS]
    encoder = attributes.AttributeEncoder.learn(templates, tokens["train"], min_count=1)
    data = Bunch(feature_names=encoder.names(), DESCR=_CANTONESE_DESCR)
    for name, split in splits.items():
        data[f"X_{name}"] = encoder.encode(tokens[name])
        data[f"syllables_{name}"] = split.cut(spoken[name])
    return _with_characters(data, splits, arrays["char_table"])


def fetch_glyphs(
    noise: float = 0.2, *, random_state: Any = 0, n_train: int | None = None, data_home: PathLike | None = None
) -> Bunch:
    """Load noisy pictures of the characters of Cantonese conversations, a semi-synthetic chain task with 2,419 labels.

    The text is real, the pictures are not: each is the character in a font, with pixels turned over at random.
    There is no download: the data must lie in a data folder.

    Parameters
    ----------
    noise : float
        Probability from 0 to 0.5 of a pixel to be turned over; at 0.5 nothing is left to see.
    random_state : int, RandomState or None
        Seed of the noise.
    n_train : int, optional
        Train on the first `n_train` sequences only (all, if there are no more). `target_names` are taken from these
        alone.
    data_home : path-like, optional
        First folder to look into.

    Returns
    -------
    sklearn.utils.Bunch
        For both splits, `train` and `test`: `X_train`: list of (length, 256) arrays of zeros and ones, float32;
        `y_train`: list of arrays of characters. Besides, `target_names`: the training labels; `DESCR`.

    Examples
    --------
    >>> from maxmargin.datasets import fetch_glyphs
    >>> pictures = fetch_glyphs(noise=0.1, n_train=100)
    >>> pictures.X_train[0].shape == (len(pictures.y_train[0]), 256)
    True
    """
    from sklearn.utils import Bunch, check_random_state, check_scalar

    check_scalar(noise, "noise", numbers.Real, min_val=0, max_val=0.5)
    check_counts(1, n_train)
    random = check_random_state(random_state)
    arrays = load_file(CORPUS, data_home, download_if_missing=False)
    glyphs = load_file(GLYPHS, data_home, download_if_missing=False)
    splits = _where(_read(arrays), glyphs["has_glyph"].astype(bool)).splits(n_train)
    data = Bunch(DESCR=_GLYPHS_DESCR)
    for name, split in splits.items():
        clean = np.unpackbits(glyphs["glyph_bits"], axis=1)[split.characters]
        flipped = clean ^ (random.random_sample(clean.shape) < noise)
        # float32: in float64 the pictures would take 330 MB.
        data[f"X_{name}"] = split.cut(flipped.astype(np.float32))
    return _with_characters(data, splits, arrays["char_table"])


def _read(arrays: Arrays) -> _Text:
    for_test = arrays["conversation"] % 5 == 4
    characters, syllables, offsets = (arrays[name].astype(np.int64) for name in ("labels", "syllable", "offsets"))
    return _Text(characters, syllables, offsets, for_test)


def _where(text: _Text, known: np.ndarray) -> _Text:
    """Cut sequences at characters that are not known, and leave those out."""
    inside = known[text.characters]
    sequence = np.repeat(np.arange(len(text.for_test)), np.diff(text.offsets))
    # A character begins a piece where its neighbour to the left is of another sequence, or left out.
    begins = np.diff(sequence, prepend=-1).astype(bool) | ~np.append(False, inside[:-1])
    starts = np.flatnonzero(begins[inside])
    offsets = np.append(starts, np.count_nonzero(inside))
    return _Text(text.characters[inside], text.syllables[inside], offsets, text.for_test[sequence[inside][starts]])


def _with_characters(data: Bunch, splits: dict[str, _Text], names: np.ndarray) -> Bunch:
    data["target_names"] = np.unique(names[splits["train"].characters])
    for name, split in splits.items():
        data[f"y_{name}"] = split.cut(names[split.characters])
    return data
