"""What is raised for files that cannot be taken for models."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A model file that is damaged, of another version, or not one at all; the message names the file and the fault.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import maxmargin
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "notes.txt")
    ...     _ = path.write_text("not a model")
    ...     try:
    ...         maxmargin.load(path)
    ...     except maxmargin.persistence.ModelFileError as error:
    ...         print(str(error).replace(folder, "folder"))
    folder/notes.txt: no model file: File is not a zip file
    """
