"""Folders of samples, opened."""

from __future__ import annotations

import os

from ..structures.on_disk import StoredSequences


def open_samples(
    folder: str | os.PathLike[str], *, memory_limit: float | str = "1GB", scratch: str | os.PathLike[str] | None = None
) -> StoredSequences:
    """Open a folder of samples, to learn from or to predict.

    Parameters
    ----------
    folder : str or path
        What :class:`SequenceWriter` or ``maxmargin convert`` wrote.
    memory_limit : int, float or str, default="1GB"
        Bytes that samples, dual variables and weights may take together, as a number or with a unit, "500MB". The
        interpreter and its libraries, some 300 MB, come on top of it.
    scratch : str, path or None, default=None
        A folder for the dual variables of a run. They stay there, so that runs with checkpoints can go on. None: a
        folder within that of the samples, which is deleted when the run is over.

    Returns
    -------
    samples : StoredSequences
        What `ChainSVM.fit`, `predict` and `score` take in place of X.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from maxmargin import ChainSVM
    >>> from maxmargin.storage import SequenceWriter, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with SequenceWriter(f"{folder}/samples") as out:
    ...         for _ in range(3):  # batches, as they come
    ...             out.add([np.eye(2), np.ones((3, 2))], [["a", "b"], ["b", "b", "a"]])
    ...     samples = open_samples(f"{folder}/samples", memory_limit="10MB")
    ...     model = ChainSVM(random_state=0).fit(samples)
    ...     model.predict(samples)[0].tolist()
    ['a', 'b']
    """
    return StoredSequences(folder, memory_limit, scratch)
