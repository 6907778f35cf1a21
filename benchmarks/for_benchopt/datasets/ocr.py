from benchmark_utils import TrialDataset


class Dataset(TrialDataset):
    """Handwritten words, letter by letter, at the splits of the papers."""

    name = "OCR"
    parameters = {"split": ["small", "large"], "n_samples": [None]}

    def trial_name(self) -> str:
        return f"OCR-{self.split}"
