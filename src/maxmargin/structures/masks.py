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


def bio_mask(classes: Iterable) -> TransitionMask:
    """Read BIO (IOB2) rules off names such as ``B-NP``, ``I-NP``, ``O``: ``I-X`` follows ``B-X`` or ``I-X`` only.

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
    """
    names = [str(name) for name in classes]
    if not any(name.startswith(("B-", "I-")) for name in names):
        raise ValueError(f"no label is named B-… or I-…, so there are no BIO rules to read off: {names[:5]}")
    inside = np.array([name.startswith("I-") for name in names])
    kind = np.array([name[2:] if name.startswith(("B-", "I-")) else "" for name in names])
    allowed = ~inside[None, :] | (kind[:, None] == kind[None, :])
    return TransitionMask(allowed, ~inside, np.ones(len(names), bool))
