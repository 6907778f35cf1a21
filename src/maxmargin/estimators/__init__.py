"""scikit-learn faces: no mathematics here."""

from .chain import ChainSVM
from .cv import ChainSVMCV, MulticlassSVMCV
from .multiclass import MulticlassSVM
from .path import EstimatorPath, lambda_grid, regularization_path

__all__ = [
    "ChainSVM",
    "ChainSVMCV",
    "EstimatorPath",
    "MulticlassSVM",
    "MulticlassSVMCV",
    "lambda_grid",
    "regularization_path",
]
