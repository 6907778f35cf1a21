"""Files that are damaged or made to do harm: a `ModelFileError` that names the file and the fault, and nothing else."""

import json
import os
import pickle
import random
import zipfile

import numpy as np
import pytest
from benchmarks._forgery import damaged, forge, parts_of, rewritten, told_otherwise, zipped

from maxmargin.persistence import ModelFileError, load, save
from maxmargin.persistence.archive import MODEL

from .cases import answers, differences, fitted


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.npz"


@pytest.fixture
def stored(path):
    """A file with a model of chains over dicts in it."""
    save(fitted("dicts").model, path)
    return path


def refused(path, what, verify=True):
    with pytest.raises(ModelFileError, match=what) as caught:
        load(path, verify=verify)
    assert str(caught.value).startswith(f"{path}: ")


class Evil:
    def __reduce__(self):
        return os.system, ("touch was-here",)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"", "it is empty"),
        (b"x", "no model file"),
        (b"PK\x05\x06" + bytes(18), "no entry 'model.json'"),
        (pickle.dumps(Evil()), "no model file"),
        (b"\x93NUMPY\x01\x00v\x00{'descr'", "no model file"),
        (zipped({"a.txt": b"a"}), "no entry 'model.json'"),
        (zipped({MODEL: b"{}"}), "describes no model"),
        (zipped({MODEL: b"\xff"}), "model.json cannot be read"),
        (zipped({MODEL: b'{"format": '}), "model.json cannot be read"),
        (zipped({MODEL: b"[" * 200_000}), "model.json cannot be read"),
        (zipped({MODEL: b'{"a":' * 200_000}), "model.json cannot be read"),
        (zipped({MODEL: b"1" * 5000}), "model.json cannot be read"),
        (zipped({MODEL: b"0" * 10**7}, zipfile.ZIP_DEFLATED), "compressed"),
        (zipped({MODEL: b"0" * 10**6}, zipfile.ZIP_LZMA), "compressed"),
    ],
)
def test_what_is_no_model_file(path, data, what):
    path.write_bytes(data)
    refused(path, what)
    refused(path, what, verify=False)


def test_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load(tmp_path / "nothing")
    with pytest.raises(OSError, match=tmp_path.name):
        load(tmp_path)
    refused("/dev/null", "no regular file")


@pytest.mark.parametrize(("version", "said"), [(2, "2"), (0, "0"), (None, "None"), ("1", "1"), ([1] * 99, "")])
def test_another_version(stored, version, said):
    document, arrays = parts_of(stored)
    forge(stored, document | {"version": version, "written_by": "maxmargin 9.0"}, arrays)
    refused(stored, f"version .*{said}.*maxmargin 9.0.*reads version 1")


@pytest.mark.parametrize("name", ["../outside.npy", "/etc/passwd", "arrays/../../x.npy", "C:\\x.npy", "arrays/99.npy"])
def test_entries_are_never_files(stored, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    document, arrays = parts_of(stored)
    forge(stored, document, arrays | {name: np.zeros(3)})
    refused(stored, "is there for nothing")
    assert sorted(tmp_path.iterdir()) == before


def test_objects_within_arrays_are_not_unpickled(stored, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    evil = np.array([Evil()])
    with open("evil.npy", "wb") as file:
        np.lib.format.write_array(file, evil, allow_pickle=True)
    document, arrays = parts_of(stored)
    entries = {name: open("evil.npy", "rb").read() for name in arrays}  # noqa: SIM115
    stored.write_bytes(zipped({MODEL: json.dumps(document).encode(), **entries}))
    refused(stored, "is no array of numbers")
    document = json.loads(json.dumps(document).replace("|b1", "|O"))
    stored.write_bytes(zipped({MODEL: json.dumps(document).encode(), **entries}))
    refused(stored, "no type of numbers")
    assert not os.path.exists("was-here")


def of_flat(values):
    return values["_weights"]["$object"]["values"]["flat"]["$array"]


def of_layout(values):
    return values["_weights"]["$object"]["values"]["layout"]["$object"]["values"]


def set_to(place, **changes):
    return lambda values, arrays: place(values).update(changes)


def of_values(values):
    return values


LIES = {
    "more weights than there are": (set_to(of_flat, shape=[10**6]), "should hold"),
    "weights without end": (set_to(of_flat, shape=[2**62, 2**62]), "should hold"),
    "fewer than none": (set_to(of_flat, shape=[-1]), "no shape"),
    "dimensions without end": (set_to(of_flat, shape=[1] * 99), "no shape"),
    "shapes of text": (set_to(of_flat, shape="3"), "no shape"),
    "whole numbers for weights": (set_to(of_flat, dtype="<i8"), "should hold"),
    "objects for weights": (set_to(of_flat, dtype="|O"), "no type of numbers"),
    "no such entry": (set_to(of_flat, entry="arrays/77.npy"), "no entry 'arrays/77.npy'"),
    "the document for weights": (set_to(of_flat, entry=MODEL), "no array of numbers"),
    "an entry twice": (set_to(of_flat, entry="arrays/0.npy", dtype="|b1", shape=[3, 3]), "for another value"),
    "other sizes": (set_to(of_layout, n_labels=4), "weights, but their layout has"),
    "sizes that cancel": (set_to(of_layout, n_labels=-3), "n_labels"),
    "sizes that are none": (set_to(of_layout, n_labels=3.0), "n_labels"),
    "truth that is none": (set_to(of_layout, intercept=7), "intercept"),
    "another number of features": (set_to(of_values, n_features_in_=3), "n_features_in_"),
    "features of edges from nowhere": (set_to(of_values, n_edge_features_in_=2), "n_edge_features_in_"),
    "labels that are missing": (set_to(of_values, classes_=["B-X"]), "classes_"),
    "no labels": (lambda values, arrays: values.pop("classes_"), "classes_"),
    "no weights": (lambda values, arrays: values.pop("_weights"), "_weights"),
    "no mask": (set_to(of_values, transition_mask_=None), "transition_mask_"),
    "an attribute that is none": (set_to(of_values, predict="x"), "has no 'predict'"),
    "another class within": (
        set_to(of_values, vectorizer_={"$object": {"class": "ChainSVM", "values": {}}}),
        "vectorizer_",
    ),
    "no such class": (
        set_to(of_values, solver={"$object": {"class": "os.system", "values": {}}}),
        "registered as 'os.system'",
    ),
    "a class that is none": (set_to(of_values, solver={"$class": "Popen"}), "no class is called 'Popen'"),
    "an unknown kind of value": (set_to(of_values, solver={"$python": "1"}), r"'\$python'"),
    "a kernel of code": (
        set_to(
            of_values, _kernel={"$object": {"class": "KernelFunction", "values": {"kernel": "exec", "parameters": {}}}}
        ),
        ".",
    ),
    "a float that is none": (set_to(of_values, lam={"$float": "1e5"}), "1e5"),
    "keys that cannot be": (set_to(of_values, lam={"$dict": [[[], 1]]}), "unhashable"),
    "pairs that are none": (set_to(of_values, lam={"$dict": [[1, 2, 3]]}), "lam"),
    "wide strings": (
        set_to(of_values, classes_={"$strings": {"shape": [3], "width": 10**9, "items": ["a", "b", "c"]}}),
        "width",
    ),
    "zeros without end": (
        set_to(of_values, lam={"$sparse": {"shape": [2**60], "places": None, "values": None}}),
        "lam",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_are_found_out(stored, lie):
    change, what = LIES[lie]
    rewritten(stored, change)
    refused(stored, what)
    refused(stored, what, verify=False)


def test_values_within_values_without_end(stored):
    deep: list = []
    for _ in range(90):
        deep = [deep]
    rewritten(stored, set_to(of_values, lam=deep))
    refused(stored, "more than 64 deep")


def names_of(values):
    return values["vectorizer_"]["$object"]["values"]


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda values, arrays: names_of(values)["feature_names_"].append("new"), "vectorizer_"),
        (
            lambda values, arrays: names_of(values)["feature_names_"].__setitem__(
                1, names_of(values)["feature_names_"][0]
            ),
            "twice",
        ),
        (set_to(names_of, feature_names_="abc"), "no list"),
        (set_to(names_of, _oddly_named={"$dict": [[{"$tuple": [7, "odd"]}, 10**9]]}), "out of range"),
        (set_to(names_of, _oddly_named={"$dict": [[{"$tuple": [7, "odd"]}, -1]]}), "out of range"),
    ],
)
def test_columns_of_features_are_within_the_weights(stored, change, what):
    rewritten(stored, change)
    refused(stored, what)


@pytest.mark.parametrize(
    ("places", "what"),
    [
        ([5, 4], "ascending"),
        ([4, 4], "ascending"),
        ([-1, 4], "ascending"),
        ([4, 10**6], "ascending"),
        ([1], "together"),
    ],
)
def test_places_of_sparse_arrays(path, places, what):
    array = np.zeros(20_000)
    array[[3, 7]] = 1.0
    save(fitted("costs").model.__class__(cost_matrix=array), path)
    document, arrays = parts_of(path)
    node = document["model"]["$object"]["values"]["cost_matrix"]["$sparse"]["places"]["$array"]
    arrays[node["entry"]] = np.array(places, np.int32)
    node["shape"] = [len(places)]
    refused(forge(path, document, arrays), what)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_numbers(stored, value):
    def change(values, arrays):
        arrays[of_flat(values)["entry"]][3] = value

    rewritten(stored, change)
    refused(stored, "not finite")


@pytest.mark.parametrize(
    ("name", "attribute", "node", "what"),
    [
        ("pose, all, 0", "parents_", [1, 0, 1], "parents"),
        ("graph, dense, 0", "inference_", "cut", "_weights"),
        ("graph, dense, 0", "inference_", "auto", "inference_"),
        ("multilabel, dense, 0", "n_labels_", 2, "n_features_in_"),
        ("multilabel, dense, 0", "inference_", "lp", "inference_"),
        ("box, all, 0", "_kind", {"$class": "Popen"}, "Popen"),
        ("box, all, 0", "n_features_in_", 99, "coef_"),
        ("matching, all, 0", "intercept_", {"$float": "nan"}, "intercept_"),
        ("a precomputed kernel", "n_features_in_", 1, "support_"),
        ("multiclass, kernel, 0", "n_features_in_", 1, "support_vectors_"),
        ("sparse support", "classes_", ["a"], "classes_"),
    ],
)
def test_other_models_are_looked_at_too(path, name, attribute, node, what):
    save(fitted(name).model, path)
    rewritten(path, set_to(of_values, **{attribute: node}))
    refused(path, what)


def test_indices_of_sparse_support(path):
    save(fitted("sparse support").model, path)

    def change(values, arrays):
        entry = values["support_vectors_"]["$object"]["values"]["indices"]["$array"]["entry"]
        arrays[entry][0] = 10**6

    rewritten(path, change)
    refused(path, "support_vectors_")


def test_a_weight_that_is_damaged_is_seen_by_its_checksum(stored):
    data = bytearray(stored.read_bytes())
    at = data.index(fitted("dicts").model._weights.flat.tobytes())
    data[at + 3] ^= 1
    stored.write_bytes(data)
    refused(stored, "checksum")
    load(stored, verify=False)


FUZZED = ["dicts", "sparse support", "pose, all, 0"]


@pytest.mark.parametrize("name", FUZZED)
def test_damaged_files_are_refused_or_harmless(name, path):
    """The full measure is in benchmarks/model_files.py."""
    model, _ = fitted(name)
    data, rng = save(model, path) and path.read_bytes(), random.Random(0)
    for _ in range(150):
        path.write_bytes(damaged(data, rng))
        try:
            loaded = load(path)
        except ModelFileError:
            continue
        assert differences(model, loaded) == []  # what changed means nothing, such as a date


@pytest.mark.parametrize("name", FUZZED)
def test_other_values_are_refused_or_answer(name, path):
    """What is not refused may be wrong, but it must not read outside of arrays."""
    model, X = fitted(name)
    (document, arrays), rng = parts_of(save(model, path) and path), random.Random(0)
    for _ in range(150):
        told = told_otherwise(document, rng)
        forge(path, told, arrays)
        try:
            loaded = load(path)
        except ModelFileError:
            continue
        try:
            answers(loaded, X)
        except (ValueError, TypeError, AttributeError):
            continue  # said of a parameter or an attribute, as if a user had set it
