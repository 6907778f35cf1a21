from benchmark_utils import TrialDataset


class Dataset(TrialDataset):
    """Dates written by hand, bundled with the library."""

    name = "dates"
    parameters = {"n_samples": [None]}
