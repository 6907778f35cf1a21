from benchmark_utils import TrialDataset


class Dataset(TrialDataset):
    """Digits: several classes, without structure."""

    name = "USPS"
    parameters = {"n_samples": [None]}
