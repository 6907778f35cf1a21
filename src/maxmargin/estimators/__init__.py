"""scikit-learn faces: no mathematics here."""

from ._inputs import Bipartite, Graph, Tree
from ._inputs_boxes import Proposals
from .box import BoxSVM
from .chain import ChainSVM
from .cv import ChainSVMCV, MulticlassSVMCV
from .graph import GraphSVM, TreeSVM
from .matching import MatchingSVM
from .multiclass import MulticlassSVM
from .path import EstimatorPath, lam_grid, regularization_path
from .pose import PoseSVM

__all__ = [
    "Bipartite",
    "BoxSVM",
    "ChainSVM",
    "ChainSVMCV",
    "EstimatorPath",
    "Graph",
    "GraphSVM",
    "MatchingSVM",
    "MulticlassSVM",
    "MulticlassSVMCV",
    "PoseSVM",
    "Proposals",
    "Tree",
    "TreeSVM",
    "lam_grid",
    "regularization_path",
]
