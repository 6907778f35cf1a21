"""Samples on disk: folders of arrays, of which ranges are read."""

from .arrays import GrowingArray
from .chains import StoredChains, Units
from .errors import StorageError
from .sequences import StoredSequences

__all__ = ["GrowingArray", "StorageError", "StoredChains", "StoredSequences", "Units"]
