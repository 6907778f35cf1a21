"""Samples on disk: written batch by batch, and learned from in less memory than they take."""

from ..structures.on_disk import StorageError, StoredSequences
from .opening import open_samples
from .writer import SequenceWriter

__all__ = ["SequenceWriter", "StorageError", "StoredSequences", "open_samples"]
