"""Broken files: each is read, or refused by an error that names file and line. Benchmark `file_formats`: 10,000."""

import pytest

from formats.mutations import READERS, outcomes


@pytest.mark.parametrize("name", READERS)
def test_mutated_files_are_read_or_refused_with_the_line(name):
    read, text = READERS[name]
    fine, refused = outcomes(read, text, 400, seed=1)
    assert fine > 20 and refused > 20
