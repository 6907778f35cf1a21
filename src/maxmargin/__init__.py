"""Max-margin structured prediction, with a certificate of how far from optimal it stopped."""

from . import datasets, distributed, formats, metrics, persistence, solvers, storage, structures
from .compilation import compile_models
from .estimators import (
    Bipartite,
    BoxSVM,
    ChainCRF,
    ChainSVM,
    ChainSVMCV,
    Graph,
    GraphCRF,
    GraphSVM,
    MatchingSVM,
    MulticlassSVM,
    MulticlassSVMCV,
    MultilabelSVM,
    PoseSVM,
    Proposals,
    Tree,
    TreeCRF,
    TreeSVM,
    lam_grid,
    regularization_path,
)
from .features import DictEncoder, DictHasher, IndexEncoder, TemplateEncoder
from .persistence import load
from .structures import TransitionMask, bio_mask

__version__ = "0.1.0"

__all__ = [
    "Bipartite",
    "BoxSVM",
    "ChainCRF",
    "ChainSVM",
    "ChainSVMCV",
    "DictEncoder",
    "DictHasher",
    "Graph",
    "GraphCRF",
    "GraphSVM",
    "IndexEncoder",
    "MatchingSVM",
    "MulticlassSVM",
    "MulticlassSVMCV",
    "MultilabelSVM",
    "PoseSVM",
    "Proposals",
    "TemplateEncoder",
    "TransitionMask",
    "Tree",
    "TreeCRF",
    "TreeSVM",
    "bio_mask",
    "compile_models",
    "datasets",
    "distributed",
    "formats",
    "lam_grid",
    "load",
    "metrics",
    "persistence",
    "regularization_path",
    "solvers",
    "storage",
    "structures",
]
