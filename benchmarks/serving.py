"""A tagger in service: tokens a second and the latency of one sentence, beside python-crfsuite on the same dicts.

CoNLL-2000 with the templates of CRFsuite's chunking tutorial, features that occur three times or more: 75,000 of them,
22 labels, 1.6 million weights. CRFsuite twice: as it comes, with weights only for pairs of feature and label that were
seen together, and with all states, as many weights as ours. How good the models are does not matter here, so they are
trained for a moment only. CPU seconds, in turn, medians.

Read: what comes before learning, dicts to encoded problem (`ChainSVM.encode`) and to CRFsuite's trainer.
Dicts: feature dicts to labels. Prepared: CSR matrices to labels, and CRFsuite's own ItemSequences.
Needs python-crfsuite (``pip install "maxmargin[bench]"``). Run: python -m benchmarks.serving [--quick]
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from maxmargin import ChainSVM, datasets
from maxmargin.datasets._conll2000 import WINDOWS

from ._report import Bar, arguments, finish, time_in_turn

MIN_COUNT = 3
OURS, PLAIN, ALL_STATES = "maxmargin", "CRFsuite", "CRFsuite, all states"
ONES = 60  # sentences whose latency is measured, one by one


class Texts(NamedTuple):
    X_train: list[list[dict]]
    y_train: list[list[str]]
    X_test: list[list[dict]]


def token_features(columns: dict[str, Sequence[str]], t: int) -> dict[str, Any]:
    """What the templates say of a token, as a user would write it."""
    length = len(columns["w"])
    features: dict[str, Any] = {
        template.texts[0].rstrip("="): "|".join(columns[one.column][t + one.offset] for one in template.readings)
        for template in WINDOWS
        if all(0 <= t + one.offset < length for one in template.readings)
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


def crfsuite_trainer(texts: Texts, all_states: bool = False) -> Any:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False, params={"max_iterations": 1, "feature.possible_states": all_states})
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


def tag_prepared(tagger: Any, sequence: Any) -> Any:
    tagger.set(sequence)
    return tagger.tag()


def per_sentence(call: Callable[[Any], Any], sentences: list[Any]) -> Callable[[int], None]:
    def all_of_them(turn: int) -> None:
        for sentence in sentences:
            call(sentence)

    return all_of_them


def calls_of(model: ChainSVM, taggers: dict[str, Any], texts: Texts) -> dict[str, Callable[[int], None]]:
    """What is timed, by what is done and who does it."""
    import pycrfsuite

    some = np.linspace(0, len(texts.X_test) - 1, ONES).astype(int)
    rows = [model.vectorizer_.transform(sentence) for sentence in texts.X_test]
    items = [pycrfsuite.ItemSequence(sentence) for sentence in texts.X_test]
    few, few_rows, few_items = ([every[i] for i in some] for every in (texts.X_test, rows, items))
    calls: dict[str, Callable[[int], None]] = {
        f"dicts, {OURS}": lambda turn: model.predict(texts.X_test),
        f"prepared, {OURS}": lambda turn: model.predict(rows),
        f"one of dicts, {OURS}": per_sentence(lambda sentence: model.predict([sentence]), few),
        f"one prepared, {OURS}": per_sentence(lambda one: model.predict([one]), few_rows),
    }
    for name, tagger in taggers.items():
        calls[f"dicts, {name}"] = per_sentence(tagger.tag, texts.X_test)
        calls[f"prepared, {name}"] = per_sentence(partial(tag_prepared, tagger), items)
        calls[f"one of dicts, {name}"] = per_sentence(tagger.tag, few)
        calls[f"one prepared, {name}"] = per_sentence(partial(tag_prepared, tagger), few_items)
    return calls


def main() -> None:
    quick = arguments(__doc__).quick
    texts = load(1500 if quick else None, 400 if quick else None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one pass does not converge
        model = ChainSVM(lam=1e-3, max_passes=1, random_state=0).fit(texts.X_train, texts.y_train)
    taggers = {name: crfsuite_tagger(crfsuite_trainer(texts, name == ALL_STATES)) for name in (PLAIN, ALL_STATES)}
    seconds = time_in_turn(calls_of(model, taggers, texts), 3 if quick else 5)
    reading = {
        f"read, {OURS}": lambda turn: model.encode(texts.X_train, texts.y_train),
        f"read, {PLAIN}": lambda turn: crfsuite_trainer(texts),
    }
    seconds |= time_in_turn(reading, 1 if quick else 3, warm_up=1)
    took = {name: float(np.median(values)) for name, values in seconds.items()}
    took[f"read, {ALL_STATES}"] = took[f"read, {PLAIN}"]  # the same: it has not begun to learn
    report(model, texts, took)
    finish(bars_of(took))


def report(model: ChainSVM, texts: Texts, took: dict[str, float]) -> None:
    n_train, n_test = (sum(map(len, X)) for X in (texts.X_train, texts.X_test))
    sides = (OURS, PLAIN, ALL_STATES)
    print(f"{model.n_features_in_} features, {len(model.classes_)} labels, {model.coef_.size} weights of features")
    print(f"{'':28}" + "".join(f"{side:>22}" for side in sides))
    for what, n in {"dicts": n_test, "prepared": n_test, "read": n_train}.items():
        speeds = "".join(f"{n / took[f'{what}, {side}']:22,.0f}" for side in sides)
        print(f"{what + ', tokens a second':28}{speeds}")
    for what in ("one of dicts", "one prepared"):
        times = "".join(f"{1e3 * took[f'{what}, {side}'] / ONES:22.3f}" for side in sides)
        print(f"{what + ', ms a sentence':28}{times}")


def bars_of(took: dict[str, float]) -> list[Bar]:
    bars = []
    for side in (PLAIN, ALL_STATES):
        ratio = {
            what: took[f"{what}, {OURS}"] / took[f"{what}, {side}"]
            for what in ("dicts", "prepared", "one of dicts", "one prepared")
        }
        bars += [
            Bar(f"dicts, tokens a second over {side}", 1.0 / ratio["dicts"], 1.0, at_least=True),
            Bar(f"CSR, tokens a second over items of {side}", 1.0 / ratio["prepared"], 1.0, at_least=True),
            Bar(f"one sentence of dicts, time over {side}", ratio["one of dicts"], 2.0),
            Bar(f"one sentence of CSR, time over items of {side}", ratio["one prepared"], 2.0),
        ]
    reading = took[f"read, {PLAIN}"] / took[f"read, {OURS}"]
    return [*bars, Bar(f"reading dicts for fit, tokens a second over {PLAIN}", reading, 1.0, at_least=True)]


if __name__ == "__main__":
    main()
