"""What users hand over, as flat arrays: sequences, labels, sample weights."""

from maxmargin.estimators._inputs_labels import check_sample_weight, encode_labels, stack_labels, unstack
from maxmargin.estimators._inputs_sequences import Stacked, needs_vectorizer, stack_sequences

__all__ = [
    "Stacked",
    "check_sample_weight",
    "encode_labels",
    "needs_vectorizer",
    "stack_labels",
    "stack_sequences",
    "unstack",
]
