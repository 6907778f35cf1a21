"""What is written batch by batch is what was given; what is not whole or damaged is refused."""

import json
from itertools import chain

import numpy as np
import pytest
import scipy.sparse as sp

from maxmargin import DictEncoder
from maxmargin.estimators.inputs.sequences import stack_sequences
from maxmargin.storage import SequenceWriter, StorageError, open_samples

from .cases import LABELS, sequences, sparse_sequences, stored

TOKENS = [
    [{"w": "the", "n": 2.5, ("odd", 1): "x"}, {"w": "cat", "last": True}],
    [{"w": "a"}],
    [{"w": "dog", "n": 0.0}, {"w": "the"}, {"w": "cat", "tags": ["x", "y"]}],
]
TAGS = [["D", "N"], ["D"], ["N", "D", "N"]]


@pytest.mark.parametrize("make", [sequences, sparse_sequences])
def test_rows_and_labels_are_those_that_were_given(tmp_path, make):
    X, y = make(n=20, length=None)
    samples, given = stored(tmp_path, X, y), stack_sequences(X)
    assert samples.classes.tolist() == LABELS and len(samples) == 20
    assert np.array_equal(samples.offsets, given.offsets)
    rows, matrix = samples.rows((3, 9)), given.rows[given.offsets[3] : given.offsets[9]]
    assert abs(rows - matrix).max() == 0.0 and sp.issparse(rows) == sp.issparse(matrix)
    assert [LABELS[k] for k in samples.codes((3, 9))] == list(chain.from_iterable(y[3:9]))


def test_batches_are_not_cut_by_scipy(tmp_path, monkeypatch):
    """Its slices copy the indices of the batch for each sequence, where they and the ends of rows are of two types."""
    X, y = sparse_sequences(n=20, length=None)
    samples = stored(tmp_path, X, y)
    monkeypatch.setattr(sp.csr_matrix, "__getitem__", None)
    for one in next(iter(samples.batches()))[0]:
        assert one.has_canonical_format and one.indptr.dtype == one.indices.dtype == np.int32


def test_batches_give_all_samples_again(tmp_path):
    X, y = sparse_sequences(n=20, length=None)
    samples = stored(tmp_path, X, y, memory_limit=8 * 400)
    assert len(samples.parts()) > 3
    again = [(x.toarray(), labels.tolist()) for batch in samples.batches() for x, labels in zip(*batch, strict=True)]
    assert all(
        np.array_equal(x, one.toarray()) and labels == own for one, own, (x, labels) in zip(X, y, again, strict=True)
    )


@pytest.mark.parametrize("min_count", [1, 2])
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_feature_dicts_get_the_columns_of_one_encoder(tmp_path, batch, min_count):
    samples = stored(tmp_path, TOKENS, TAGS, batch, {"min_count": min_count})
    encoder = DictEncoder(min_count=min_count)
    rows = sp.vstack(encoder.fit_transform(TOKENS))
    assert samples.encoder.feature_names_ == encoder.feature_names_
    assert samples.encoder._oddly_named == encoder._oddly_named
    assert np.array_equal(samples.rows((0, 3)).toarray(), rows.toarray())


def test_values_that_are_all_1_take_no_room(tmp_path):
    X = [sp.csr_matrix(np.eye(3))] * 2
    samples = stored(tmp_path, X, [[1, 2, 3]] * 2)
    assert not (samples.folder / "data.npy").exists() and samples.classes.dtype == np.int64
    assert np.array_equal(samples.rows((0, 2)).toarray(), np.vstack([np.eye(3)] * 2))


def test_arrays_are_plain_npy_files(tmp_path):
    X, y = sequences()
    samples = stored(tmp_path, X, y)
    assert np.array_equal(np.load(samples.folder / "values.npy", mmap_mode="r"), np.concatenate(X))


def test_what_went_wrong_leaves_nothing(tmp_path):
    X, y = sequences()
    with pytest.raises(ValueError, match="NaN"), SequenceWriter(tmp_path / "samples") as out:
        out.add(X, y)
        out.add([np.full((1, 5), np.nan)], [["a"]])
    with pytest.raises(ValueError, match="no sample"), SequenceWriter(tmp_path / "samples"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_conversion_that_was_killed_does_not_look_whole(tmp_path):
    X, y = sequences()
    out = SequenceWriter(tmp_path / "samples")
    out.add(X, y)
    assert not (tmp_path / "samples").exists()
    for folder in tmp_path.iterdir():
        with pytest.raises(StorageError, match=r"samples\.json"):
            open_samples(folder)
    out.discard()


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([np.ones((2, 4))], [["a", "b"]], "4 features, but the batches before have 5"),
        ([[{"w": "x"}]], [["a"]], "feature dicts in some batches"),
        ([np.ones((1, 5))], [[3]], "strings in some batches and numbers"),
        ([np.ones((1, 5))], [["a", "b"]], "sample 0: 2 labels"),
    ],
)
def test_batches_that_do_not_go_together_are_refused(tmp_path, X, y, message):
    with pytest.raises(ValueError, match=message), SequenceWriter(tmp_path / "samples") as out:
        out.add(*sequences())
        out.add(X, y)


def test_a_folder_that_is_there_is_not_written_over(tmp_path):
    X, y = sequences()
    stored(tmp_path, X, y)
    with pytest.raises(FileExistsError, match="there already"):
        SequenceWriter(tmp_path / "samples")


def change(path, at, value):
    content = bytearray(path.read_bytes())
    content[at : at + len(value)] = value
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("name", "at", "value", "message"),
    [
        ("indices.npy", 128, (99).to_bytes(4, "little"), "columns that are not there"),
        ("indices.npy", 128, (-1).to_bytes(4, "little", signed=True), "columns that are not there"),
        ("labels.npy", 128, (7).to_bytes(4, "little"), "labels that are not there"),
        ("indptr.npy", 136, (10**9).to_bytes(8, "little"), "must rise"),
        ("offsets.npy", 136, (10**9).to_bytes(8, "little"), "lengths of sequences"),
        ("data.npy", 0, b"oops", "damaged"),
        ("samples.json", 0, b"x", "damaged"),
    ],
)
def test_damaged_files_are_refused(tmp_path, name, at, value, message):
    X, y = sparse_sequences()
    folder = stored(tmp_path, X, y).folder
    change(folder / name, at, value)
    with pytest.raises(StorageError, match=message):
        samples = open_samples(folder)
        samples.rows((0, len(samples)))
        samples.codes((0, len(samples)))


def test_files_that_are_cut_off_are_refused(tmp_path):
    X, y = sequences()
    folder = stored(tmp_path, X, y).folder
    (folder / "values.npy").write_bytes((folder / "values.npy").read_bytes()[:-8])
    with pytest.raises(StorageError, match="cut off"):
        open_samples(folder)


def test_other_versions_are_refused(tmp_path):
    X, y = sequences()
    folder = stored(tmp_path, X, y).folder
    document = json.loads((folder / "samples.json").read_text())
    (folder / "samples.json").write_text(json.dumps(document | {"version": 99}))
    with pytest.raises(StorageError, match="version 99"):
        open_samples(folder)


@pytest.mark.parametrize(("limit", "expected"), [("500MB", 5e8), (7, 7.0), ("1.5 GiB", 1.5 * 2**30), ("2e6", 2e6)])
def test_limits_are_bytes(tmp_path, limit, expected):
    X, y = sequences()
    assert stored(tmp_path, X, y, memory_limit=limit).limit == expected


@pytest.mark.parametrize("limit", ["much", -1, "5 parsecs", float("nan"), None, True])
def test_other_limits_are_refused(tmp_path, limit):
    X, y = sequences()
    with pytest.raises(ValueError, match="memory_limit must be a number of bytes"):
        stored(tmp_path, X, y, memory_limit=limit)
