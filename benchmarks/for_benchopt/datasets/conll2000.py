from benchmark_utils import TrialDataset


class Dataset(TrialDataset):
    """Chunking of sentences."""

    name = "CoNLL-2000"
    parameters = {"n_samples": [None]}
