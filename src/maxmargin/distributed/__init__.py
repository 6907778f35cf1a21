"""Training on many machines, with Dask (extra ``distributed``): see ``docs/clusters.md``."""

from . import stored  # noqa: F401  (says what of it may be in files)
from .forecast import Forecast
from .problem import Partitioned
from .samples import PartitionFiles
from .solver import Rounds

__all__ = ["Forecast", "PartitionFiles", "Partitioned", "Rounds"]
