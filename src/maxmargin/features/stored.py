"""What of encoders of features may be in model files."""

from __future__ import annotations

from ..persistence import storable
from .encoder import DictEncoder
from .hasher import DictHasher


def complete_encoder(encoder: DictEncoder, values: bool) -> None:
    """Number the names; columns of names that are no strings must be among them."""
    if not vars(encoder).keys() & {"feature_names_", "_oddly_named"}:
        return  # not fitted
    names = encoder.feature_names_
    if not isinstance(names, list) or not isinstance(encoder.separator, str):
        raise ValueError("names of features are no list, or what is put between their parts is no string")
    odd = encoder._oddly_named
    encoder.know(names, odd)
    if not all(isinstance(key, tuple) and len(key) == 2 for key in odd):
        raise ValueError("oddly named features are no pairs")
    if not all(type(column) is int and 0 <= column < len(names) for column in odd.values()):
        raise ValueError("the column of a feature is out of range")


storable(DictEncoder, ("feature_names_", "_oddly_named"), check=complete_encoder)
storable(DictHasher)
