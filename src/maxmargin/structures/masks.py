"""Which labels may follow which, and which may open or close a sequence."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class TransitionMask(NamedTuple):
    """Allowed moves over K labels, in the order of ``classes_``.

    Parameters
    ----------
    allowed : array of bool of shape (K, K)
        Whether the label of the row may be followed by that of the column.
    start : array of bool of shape (K,)
        Whether the label may come first.
    end : array of bool of shape (K,)
        Whether the label may come last.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin import ChainSVM, TransitionMask
    >>> mask = TransitionMask(allowed=~np.eye(2, dtype=bool), start=np.array([True, False]), end=np.ones(2, bool))
    >>> x = np.zeros((3, 1))
    >>> model = ChainSVM(transition_mask=mask, lam=1.0).fit([x, x], [["a", "b", "a"]] * 2)
    >>> model.predict([np.ones((2, 1))])[0].tolist()
    ['a', 'b']
    """

    allowed: np.ndarray
    start: np.ndarray
    end: np.ndarray

    @classmethod
    def everything(cls, n_labels: int) -> TransitionMask:
        """Make the mask that allows all moves.

        Parameters
        ----------
        n_labels : int
            K, the number of labels.

        Returns
        -------
        mask : TransitionMask
        """
        return cls(np.ones((n_labels, n_labels), bool), np.ones(n_labels, bool), np.ones(n_labels, bool))

    def check(self, n_labels: int) -> TransitionMask:
        """Refuse a mask of the wrong shape, naming the part.

        Parameters
        ----------
        n_labels : int
            K, the number of labels.

        Returns
        -------
        mask : TransitionMask
            The same, of boolean arrays.
        """
        for name, array, shape in zip(
            self._fields, self, [(n_labels, n_labels), (n_labels,), (n_labels,)], strict=True
        ):
            if np.shape(array) != shape:
                raise ValueError(
                    f"transition_mask: {name} has shape {np.shape(array)}, but {n_labels} labels need {shape}"
                )
        return TransitionMask(*(np.asarray(array, bool) for array in self))

    def first_violation(self, labels: np.ndarray, offsets: np.ndarray) -> tuple[int, int] | None:
        """Find the first label that the mask forbids where it is.

        Parameters
        ----------
        labels : array of int of shape (N,)
            Codes of the labels of all samples.
        offsets : array of int of shape (n + 1,)
            Where samples begin.

        Returns
        -------
        place : tuple (sample, position) or None
        """
        bad = np.zeros(len(labels), bool)
        bad[1:] = ~self.allowed[labels[:-1], labels[1:]]
        bad[offsets[:-1]] = ~self.start[labels[offsets[:-1]]]
        bad[offsets[1:] - 1] |= ~self.end[labels[offsets[1:] - 1]]
        if not bad.any():
            return None
        position = int(np.argmax(bad))
        sample = int(np.searchsorted(offsets, position, side="right")) - 1
        return sample, position - int(offsets[sample])


# What each letter of a scheme does, where letters say which part of a chunk a label is: which ones go on with a chunk
# (so follow one that is open, of the same kind), after which ones it is open, and whether it then must go on.
class _Scheme(NamedTuple):
    name: str
    letters: str
    goes_on: str
    is_open: str
    must_close: bool


_SCHEMES = (
    _Scheme("IOB2", "BI", goes_on="I", is_open="BI", must_close=False),
    _Scheme("BIOES", "BIES", goes_on="IE", is_open="BI", must_close=True),
    _Scheme("BILOU", "BILU", goes_on="IL", is_open="BI", must_close=True),
    _Scheme("BMES", "BMES", goes_on="ME", is_open="BM", must_close=True),
)
_SCHEME_NAMES = ", ".join(scheme.name for scheme in _SCHEMES)


def bio_mask(classes: Iterable) -> TransitionMask:
    """Read the rules of chunks off names such as ``B-NP``, ``I-NP``, ``O``.

    The letters tell the scheme: IOB2 (also called BIO; ``I-X`` follows ``B-X`` or ``I-X`` only), BIOES (also IOBES;
    a chunk of several words goes ``B I … E``, one of a single word is ``S``), BILOU (the same with ``L`` and ``U``) or
    BMES. Names without a kind, ``B`` and ``I``, are fine. All other names are refused, but for ``O``.

    Parameters
    ----------
    classes : iterable of str
        The labels, in the order of ``classes_``.

    Returns
    -------
    mask : TransitionMask

    Examples
    --------
    >>> from maxmargin import bio_mask
    >>> mask = bio_mask(["B-NP", "I-NP", "O"])
    >>> mask.allowed[:, 1].tolist()  # what I-NP may follow
    [True, True, False]
    >>> bio_mask(["B-NP", "E-NP", "I-NP", "O", "S-NP"]).end.tolist()  # BIOES: a chunk that is begun is ended
    [False, True, False, True, True]
    """
    names = [str(name) for name in classes]
    letters = np.array([_letter(name) for name in names])
    kinds = np.array([name[2:] for name in names])
    scheme = _scheme_of(set(letters.tolist()) - {"O"}, names)
    goes_on, is_open = (np.isin(letters, list(some)) for some in (scheme.goes_on, scheme.is_open))
    same_chunk = is_open[:, None] & (kinds[:, None] == kinds)
    must_go_on = is_open & scheme.must_close
    allowed = np.where(goes_on, same_chunk, ~must_go_on[:, None])
    return TransitionMask(allowed, ~goes_on, ~must_go_on)


def _letter(name: str) -> str:
    if name[1:2] not in ("", "-") or name[:1] not in set("OBIESLUM") or name[:2] == "O-":
        raise ValueError(
            f"label {name!r} is neither O nor named like B-NP, so that chunks cannot be read off it ({_SCHEME_NAMES} "
            "can be): rename it, or give the transitions that are allowed as a (K, K) array"
        )
    return name[0]


def _scheme_of(letters: set[str], names: list[str]) -> _Scheme:
    found = next((scheme for scheme in _SCHEMES if letters <= set(scheme.letters)), None)
    if found is None or not letters or letters == {"I"}:
        raise ValueError(
            f"labels begin with {sorted(letters)} beside O, which is none of {_SCHEME_NAMES}, so there are no rules to "
            f"read off: {names[:5]}"
        )
    return found
