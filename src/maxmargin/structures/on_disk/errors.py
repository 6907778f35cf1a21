"""What is wrong with a folder of samples."""

from __future__ import annotations


class StorageError(ValueError):
    """A folder of samples that cannot be read: it is none, not whole, damaged, or of another version.

    Examples
    --------
    >>> import tempfile
    >>> from maxmargin.storage import StorageError, open_samples
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     try:
    ...         open_samples(folder)
    ...     except StorageError as error:
    ...         print("samples.json" in str(error))
    True
    """
