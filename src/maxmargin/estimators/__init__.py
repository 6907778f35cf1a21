"""scikit-learn faces: no mathematics here."""

from ._inputs import Graph, Tree
from .chain import ChainSVM
from .cv import ChainSVMCV, MulticlassSVMCV
from .graph import GraphSVM, TreeSVM
from .multiclass import MulticlassSVM
from .path import EstimatorPath, lambda_grid, regularization_path

__all__ = [
    "ChainSVM",
    "ChainSVMCV",
    "EstimatorPath",
    "Graph",
    "GraphSVM",
    "MulticlassSVM",
    "MulticlassSVMCV",
    "Tree",
    "TreeSVM",
    "lambda_grid",
    "regularization_path",
]
