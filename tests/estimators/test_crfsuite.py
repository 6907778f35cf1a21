"""Models of CRFsuite's, read from their files: the same labels and probabilities, and no file does harm."""

import random

import numpy as np
import pytest
from benchmarks._forgery import damaged
from numpy.testing import assert_allclose

import maxmargin
from maxmargin import ChainCRF
from maxmargin.persistence import ModelFileError

pycrfsuite = pytest.importorskip("pycrfsuite")

RNG = random.Random(0)
X = [[{"w": RNG.choice("abcde"), "ü": RNG.choice(["x", "ÿ"]), "n": RNG.random()} for _ in range(5)] for _ in range(12)]
Y = [[{"a": "Z", "b": "Ä"}.get(token["w"], "M") for token in x] for x in X]


@pytest.fixture(params=[{}, {"feature.possible_states": True, "feature.possible_transitions": True}, {"c1": 1.0}])
def path(request, tmp_path):
    trainer = pycrfsuite.Trainer(verbose=False, params=request.param | {"max_iterations": 9})
    for x, y in zip(X, Y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    trainer.train(str(tmp_path / "model"))
    return tmp_path / "model"


def test_labels_and_probabilities_are_those_of_its_tagger(path, no_compilation):
    model, tagger = ChainCRF.from_crfsuite(path), pycrfsuite.Tagger()
    tagger.open(str(path))
    assert model.classes_.tolist() == sorted(tagger.labels())
    for x, y in zip(X, Y, strict=True):
        tagger.set(pycrfsuite.ItemSequence(x))
        assert model.predict([x])[0].tolist() == tagger.tag()
        theirs = [[tagger.marginal(label, t) for label in model.classes_] for t in range(len(x))]
        assert_allclose(model.predict_marginals([x])[0], theirs, atol=1e-9)
        assert_allclose(np.exp(model.log_likelihood([x], [y])), tagger.probability(y), rtol=1e-9)


def test_lists_of_attributes_are_known_by_their_names(path, no_compilation):
    model = ChainCRF.from_crfsuite(path)
    listed = [[f"w:{token['w']}", f"ü:{token['ü']}"] for token in X[0]]
    dicts = [{name: token[name] for name in ("w", "ü")} for token in X[0]]
    assert model.predict([listed])[0].tolist() == model.predict([dicts])[0].tolist()


def test_it_can_be_stored_as_ours(path, tmp_path, no_compilation):
    model = ChainCRF.from_crfsuite(path)
    loaded = maxmargin.load(model.save(tmp_path / "model.npz") and tmp_path / "model.npz")
    assert_allclose(loaded.predict_marginals(X)[0], model.predict_marginals(X)[0])


def test_damaged_files_are_refused_or_read(path):
    data, rng = path.read_bytes(), random.Random(0)
    for _ in range(300):
        path.write_bytes(damaged(data, rng))
        try:
            model = ChainCRF.from_crfsuite(path)
        except ModelFileError as error:
            assert str(error).startswith(f"{path}: ")
        else:
            assert np.isfinite(model._weights.flat).all()


@pytest.mark.parametrize(
    ("data", "what"), [(b"", "no model file"), (b"x" * 99, "does not begin"), (b"lCRF", "no model")]
)
def test_what_is_none_is_said(tmp_path, data, what):
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError, match=what):
        ChainCRF.from_crfsuite(tmp_path / "model")


def test_names_of_features_are_distinct():
    with pytest.raises(ValueError, match="twice"):
        maxmargin.DictEncoder().know(["a", "a"])
