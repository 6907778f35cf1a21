"""What of encoders of features may be in model files."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..persistence import storable
from .encoder import DictEncoder
from .hasher import DictHasher
from .indices import IndexEncoder
from .template_encoder import TemplateEncoder
from .templates import parse_templates


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


def check_indices(encoder: IndexEncoder, values: bool) -> None:
    """Columns ascend."""
    known = vars(encoder).get("indices_")
    if known is None:
        return  # not fitted
    if not isinstance(known, np.ndarray) or known.dtype != np.int64 or known.ndim != 1 or np.any(np.diff(known) <= 0):
        raise ValueError("numbers of features are not ascending")


def check_templates(encoder: TemplateEncoder, values: bool) -> None:
    """Templates can be read, and the keys of features are such as they have."""
    state: list[Any] = [vars(encoder).get(name) for name in TEMPLATE_STATE]
    if all(one is None for one in state):
        return  # not fitted
    n_columns, lines, vocabularies, stages = state
    texts: list[Any] = [lines, *vocabularies] if isinstance(vocabularies, list) else [None]
    if not all(isinstance(some, list) and all(isinstance(one, str) for one in some) for some in texts):
        raise ValueError("templates and vocabularies are no lists of strings")
    if type(n_columns) is not int or len(vocabularies) != n_columns:
        raise ValueError("there are not as many vocabularies as columns")
    templates = parse_templates(encoder.templates_, n_columns)
    if not isinstance(stages, list) or len(stages) != len(templates.nodes) + len(templates.edges):
        raise ValueError("there are not as many lists of features as templates")
    for some in encoder.encoders():
        some.check()


TEMPLATE_STATE = ("n_columns_", "templates_", "vocabularies_", "stages_")
storable(IndexEncoder, ("indices_",), check=check_indices)
storable(TemplateEncoder, TEMPLATE_STATE, check=check_templates)
