"""Scores beyond label accuracy: of chunks, word alignments and boxes; and scorers by name."""

from .._boxes import box_iou
from .alignments import alignment_error_rate
from .boxes import average_precision, corloc
from .chunks import (
    ChunkScores,
    TypeScores,
    chunk_counts,
    chunk_f1,
    chunk_scores,
    chunk_scores_by_type,
    names_chunks,
)
from .scorers import Scorer, default_scoring, get_scorer, scorer_names

__all__ = [
    "ChunkScores",
    "Scorer",
    "TypeScores",
    "alignment_error_rate",
    "average_precision",
    "box_iou",
    "chunk_counts",
    "chunk_f1",
    "chunk_scores",
    "chunk_scores_by_type",
    "corloc",
    "default_scoring",
    "get_scorer",
    "names_chunks",
    "scorer_names",
]
