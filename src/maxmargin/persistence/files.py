"""Model files: `save` and `load`."""

from __future__ import annotations

import json
import os
from typing import Any, TypeVar

from .._files import replacing
from .archive import MODEL, Archive, write_archive
from .errors import ModelFileError
from .reading import Given
from .writing import Taken

FORMAT, VERSION = "maxmargin model", 1

Model = TypeVar("Model")


def save(model: Model, path: str | os.PathLike) -> Model:
    """Write a model to a file, which is replaced as a whole if it is there.

    Parameters
    ----------
    model : estimator
        One of this package, fitted or not, an encoder of features, or a scikit-learn ``Pipeline`` of such; or an object
        of a class that was registered by `storable`.
    path : str or path
        Where to.

    Returns
    -------
    model : estimator
        The same.

    See Also
    --------
    load : Reads it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import maxmargin
    >>> from maxmargin.persistence import save
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "encoder.npz")
    ...     _ = save(maxmargin.DictHasher(64), path)
    ...     maxmargin.load(path)
    DictHasher(n_features=64)
    """
    from .. import __version__  # of the package, which imports this

    taken = Taken()
    document = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"maxmargin {__version__}",
        "model": taken.node(model, type(model).__name__),
    }
    text = json.dumps(document, allow_nan=False, separators=(",", ":")).encode("ascii")
    with replacing(path) as file:
        write_archive(file, (MODEL, text), taken.arrays)
    return model


def load(path: str | os.PathLike, *, verify: bool = True) -> Any:
    """Read a model from a file that `save` wrote.

    No file can run code, and one that is damaged or made to do harm is refused: docs/model_files.md says how.
    Arrays stay in the file and are read when they are needed; changes of the model do not change the file.

    Parameters
    ----------
    path : str or path
        Where it is.
    verify : bool, default=True
        Whether to read all of the file at once, compare checksums, and refuse weights that are not finite. False leaves
        arrays on disk until they are needed, for models of gigabytes: then a damaged weight is not seen.

    Returns
    -------
    model : estimator
        As it was saved, but for the state of the solver: ``warm_start`` begins anew.

    See Also
    --------
    ChainSVM.save : Writes it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import maxmargin
    >>> model = maxmargin.MulticlassSVM(lam=0.1).fit([[0.0], [1.0], [2.0]], ["a", "b", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "classes.npz")
    ...     _ = model.save(path)
    ...     loaded = maxmargin.load(path)
    >>> loaded.predict([[0.0], [2.0]]).tolist()
    ['a', 'b']
    """
    archive = Archive(path)
    document = _document(archive)
    if verify:
        for name in archive.entries.keys() - {MODEL}:
            archive.verify(name)
    given = Given(archive, verify)
    given.unused.discard(MODEL)
    model = given.value(document["model"], "model")
    if given.unused:
        raise archive.fault(f"entry {min(given.unused)!r} is there for nothing")
    return model


def _document(archive: Archive) -> dict[str, Any]:
    """The JSON of a file of this version."""
    try:
        document = json.loads(archive.read(MODEL).decode("ascii"))
    except ModelFileError:
        raise
    except (RecursionError, MemoryError, ValueError) as error:
        raise archive.fault(f"{MODEL} cannot be read: {error or type(error).__name__}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT or "model" not in document:
        raise archive.fault(f"{MODEL} describes no model")
    if document.get("version") != VERSION:
        said = str(document.get("written_by"))[:50]
        raise archive.fault(
            f"it is of version {str(document.get('version'))[:20]} of the format, written by {said!r}, and this "
            f"maxmargin reads version {VERSION}: take a newer one, or save the model anew"
        )
    return document
