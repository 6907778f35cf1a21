"""scikit-learn faces: no mathematics here."""

from . import _stored  # noqa: F401  (says what of it may be in model files)
from ._encoded import Encoded
from ._scaling import Scaling
from .box import BoxSVM
from .chain import ChainSVM
from .chain_crf import ChainCRF
from .cv import ChainSVMCV, MulticlassSVMCV
from .graph import GraphSVM
from .graph_crf import GraphCRF
from .inputs.boxes import Proposals
from .inputs.graphs import Graph, Tree
from .inputs.matchings import Bipartite
from .matching import MatchingSVM
from .multiclass import MulticlassSVM
from .multilabel import MultilabelSVM
from .path import EstimatorPath, lam_grid, regularization_path
from .pose import PoseSVM
from .tree import TreeSVM
from .tree_crf import TreeCRF

__all__ = [
    "Bipartite",
    "BoxSVM",
    "ChainCRF",
    "ChainSVM",
    "ChainSVMCV",
    "Encoded",
    "EstimatorPath",
    "Graph",
    "GraphCRF",
    "GraphSVM",
    "MatchingSVM",
    "MulticlassSVM",
    "MulticlassSVMCV",
    "MultilabelSVM",
    "PoseSVM",
    "Proposals",
    "Scaling",
    "Tree",
    "TreeCRF",
    "TreeSVM",
    "lam_grid",
    "regularization_path",
]
