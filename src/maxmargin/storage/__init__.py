"""Samples on disk: written batch by batch, and learned from in less memory than they take."""

from ..structures.on_disk import StorageError, StoredSequences
from .conversion import convert_attributes, convert_columns, convert_svmhmm, write_samples
from .opening import open_samples
from .writer import SequenceWriter

__all__ = [
    "SequenceWriter",
    "StorageError",
    "StoredSequences",
    "convert_attributes",
    "convert_columns",
    "convert_svmhmm",
    "open_samples",
    "write_samples",
]
