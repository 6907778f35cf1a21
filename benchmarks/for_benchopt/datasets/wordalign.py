from benchmark_utils import TrialDataset


class Dataset(TrialDataset):
    """English words matched with French ones."""

    name = "word alignment"
    parameters = {"n_samples": [None]}
