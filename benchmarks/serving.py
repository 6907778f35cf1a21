"""A tagger in service: tokens a second and the latency of one sentence, beside python-crfsuite on the same dicts.

CoNLL-2000 with the templates of CRFsuite's chunking tutorial, features that occur three times or more: 75,000 of them,
22 labels, 1.6 million weights on both sides (CRFsuite with all states). How good the models are does not matter here,
so they are trained for a moment only. CPU seconds, in turn, medians.

Read: what comes before learning, dicts to encoded problem (`ChainSVM.encode`) and to CRFsuite's trainer.
Dicts: feature dicts to labels. Prepared: CSR matrices to labels, and CRFsuite's own ItemSequences.
Needs python-crfsuite (``pip install "maxmargin[bench]"``). Run: python -m benchmarks.serving [--quick]
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin import ChainSVM, datasets
from maxmargin.datasets._conll2000 import TEMPLATES

from ._report import Bar, arguments, finish, time_in_turn

MIN_COUNT = 3
ONES = 60  # sentences whose latency is measured, one by one


class Texts(NamedTuple):
    X_train: list[list[dict]]
    y_train: list[list[str]]
    X_test: list[list[dict]]


def token_features(columns: dict[str, Sequence[str]], t: int) -> dict[str, Any]:
    """What the templates say of a token, as a user would write it."""
    length = len(columns["w"])
    features: dict[str, Any] = {
        template.name: "|".join(columns[template.column][t + template.offsets[0] : t + template.offsets[-1] + 1])
        for template in TEMPLATES
        if t + template.offsets[0] >= 0 and t + template.offsets[-1] < length
    }
    if t == 0:
        features["__BOS__"] = True
    if t == length - 1:
        features["__EOS__"] = True
    return features


def sentences_of(words: list[np.ndarray], tags: list[np.ndarray]) -> list[list[dict]]:
    every = ({"w": w.tolist(), "pos": p.tolist()} for w, p in zip(words, tags, strict=True))
    return [[token_features(columns, t) for t in range(len(columns["w"]))] for columns in every]


def load(n_train: int | None, n_test: int | None) -> Texts:
    data = datasets.fetch_conll2000()
    X_train = sentences_of(data.words_train[:n_train], data.pos_train[:n_train])
    counts = Counter(chain.from_iterable(map(dict.items, chain.from_iterable(X_train))))
    often = {pair for pair, count in counts.items() if count >= MIN_COUNT}
    return Texts(
        [[dict(often.intersection(token.items())) for token in sentence] for sentence in X_train],
        [labels.tolist() for labels in data.y_train[:n_train]],
        sentences_of(data.words_test[:n_test], data.pos_test[:n_test]),
    )


def crfsuite_trainer(texts: Texts) -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False, params={"max_iterations": 1, "feature.possible_states": True})
    for sentence, labels in zip(texts.X_train, texts.y_train, strict=True):
        trainer.append(pycrfsuite.ItemSequence(sentence), labels)
    return trainer


def crfsuite_tagger(trainer: Any) -> Any:
    import pycrfsuite

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.crfsuite")
        trainer.train(path)
        tagger = pycrfsuite.Tagger()
        tagger.open(path)
    return tagger


def per_sentence(call: Callable[[Any], Any], sentences: list[Any]) -> Callable[[int], None]:
    def all_of_them(turn: int) -> None:
        for sentence in sentences:
            call(sentence)

    return all_of_them


def main() -> None:
    given = arguments(__doc__)
    import pycrfsuite

    texts = load(1500 if given.quick else None, 400 if given.quick else None)
    rounds = 3 if given.quick else 5
    n_train, n_test = (sum(map(len, X)) for X in (texts.X_train, texts.X_test))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass does not converge
        model = ChainSVM(lam=1e-3, max_passes=1, random_state=0).fit(texts.X_train, texts.y_train)
    tagger = crfsuite_tagger(crfsuite_trainer(texts))
    prepared = [model.vectorizer_.transform(sentence) for sentence in texts.X_test]
    items = [pycrfsuite.ItemSequence(sentence) for sentence in texts.X_test]
    some = np.linspace(0, len(texts.X_test) - 1, ONES).astype(int)
    n_some = sum(len(texts.X_test[i]) for i in some)

    def tag_prepared(sequence: Any) -> Any:
        tagger.set(sequence)
        return tagger.tag()

    few = [texts.X_test[i] for i in some]
    seconds = time_in_turn(
        {
            "dicts": lambda turn: model.predict(texts.X_test),
            "dicts, CRFsuite": per_sentence(tagger.tag, texts.X_test),
            "prepared": lambda turn: model.predict(prepared),
            "prepared, CRFsuite": per_sentence(tag_prepared, items),
            "one by one": per_sentence(lambda sentence: model.predict([sentence]), few),
            "one by one, CRFsuite": per_sentence(tagger.tag, few),
            "one prepared": per_sentence(lambda rows: model.predict([rows]), [prepared[i] for i in some]),
            "one prepared, CRFsuite": per_sentence(tag_prepared, [items[i] for i in some]),
        },
        rounds,
    )
    reading = time_in_turn(
        {
            "read": lambda turn: model.encode(texts.X_train, texts.y_train),
            "read, CRFsuite": lambda turn: crfsuite_trainer(texts),
        },
        1 if given.quick else 3,
        warm_up=1,
    )
    took = {name: float(np.median(values)) for name, values in {**seconds, **reading}.items()}

    n_features = model.n_features_in_
    print(f"{n_features} features, {len(model.classes_)} labels, {model._weights.flat.size} weights")
    print(f"{'':24}{'ours':>14}{'CRFsuite':>14}")
    for name, n in {"dicts": n_test, "prepared": n_test, "read": n_train}.items():
        print(f"{name + ', tokens a second':24}{n / took[name]:14,.0f}{n / took[name + ', CRFsuite']:14,.0f}")
    for name in ("one by one", "one prepared"):
        ours, theirs = took[name] / ONES, took[name + ", CRFsuite"] / ONES
        print(f"{name + ', ms':24}{1e3 * ours:14.3f}{1e3 * theirs:14.3f}   ({n_some / ONES:.0f} tokens on average)")

    def faster(name: str) -> float:
        return took[f"{name}, CRFsuite"] / took[name]

    finish(
        [
            Bar("dicts, tokens a second over CRFsuite's", faster("dicts"), 1.0, at_least=True),
            Bar("CSR, tokens a second over CRFsuite's prepared items", faster("prepared"), 1.0, at_least=True),
            Bar("reading dicts for fit, tokens a second over CRFsuite's", faster("read"), 1.0, at_least=True),
            Bar("one sentence of dicts, time over CRFsuite's", 1.0 / faster("one by one"), 2.0),
            Bar("one sentence of CSR, time over CRFsuite's prepared items", 1.0 / faster("one prepared"), 2.0),
        ]
    )


if __name__ == "__main__":
    main()
