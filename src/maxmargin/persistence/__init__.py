"""Model files: one versioned format without code in it, read by mapping it into memory (docs/model_files.md)."""

from .errors import ModelFileError
from .files import load, save
from .registry import storable

__all__ = ["ModelFileError", "load", "save", "storable"]
