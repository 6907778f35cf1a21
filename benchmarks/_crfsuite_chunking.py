"""Chunking with CRFsuite from text files: attributes in plain Python, as the script of its tutorial makes them.

``python -m benchmarks._crfsuite_chunking learn ATTRIBUTES TRAIN MODEL`` and ``... tag ATTRIBUTES MODEL TEST OUTPUT``,
where ATTRIBUTES is "window" (the tutorial's) or "full" (those that `maxmargin fit` makes by default). Nothing of the
package is imported: its start would count.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import chain

import pycrfsuite

Sentence = list[list[str]]  # word, tag, label

WINDOWS = [
    *(("w", 0, (t,)) for t in range(-2, 3)),
    *(("w", 0, (t, t + 1)) for t in range(-1, 1)),
    *(("pos", 1, (t,)) for t in range(-2, 3)),
    *(("pos", 1, (t, t + 1)) for t in range(-2, 2)),
    *(("pos", 1, (t, t + 1, t + 2)) for t in range(-2, 1)),
]


def read(path: str) -> list[Sentence]:
    with open(path, encoding="utf-8") as file:
        texts = file.read().split("\n\n")
    return [[line.split() for line in text.split("\n") if line] for text in texts if text.strip()]


def window(sentence: Sentence) -> Iterator[list[str]]:
    """What the tutorial makes of a sentence, token by token."""
    length = len(sentence)
    for t in range(length):
        own = [
            "|".join(f"{name}[{o}]" for o in offsets) + "=" + "|".join(sentence[t + o][c] for o in offsets)
            for name, c, offsets in WINDOWS
            if t + offsets[0] >= 0 and t + offsets[-1] < length
        ]
        if t == 0:
            own.append("__BOS__")
        if t == length - 1:
            own.append("__EOS__")
        yield own


def kind(character: str) -> str:
    if character.isdigit():
        return "d"
    if character.isalpha():
        return "X" if character.isupper() else "x"
    return character


def full(sentence: Sentence) -> Iterator[list[str]]:
    """The same with names of places beyond the ends, and what can be read off words."""
    length = len(sentence)

    def at(place: int, column: int) -> str:
        if place < 0:
            return f"_B{place}"
        return sentence[place][column] if place < length else f"_B+{place - length + 1}"

    shapes = [re.sub(r"(.)\1+", r"\1", "".join(map(kind, token[0]))) for token in sentence]
    for t in range(length):
        word = sentence[t][0]
        lower = word.lower()
        own = [
            "|".join(f"{name}[{o}]" for o in offsets) + "=" + "|".join(at(t + o, c) for o in offsets)
            for name, c, offsets in WINDOWS
        ]
        for o in (-1, 0, 1):
            inside = 0 <= t + o < length
            own.append(f"lower[{o}]={sentence[t + o][0].lower() if inside else at(t + o, 0)}")
            own.append(f"shape[{o}]={shapes[t + o] if inside else at(t + o, 0)}")
        for n in range(1, min(4, len(word)) + 1):
            own += [f"prefix{n}={lower[:n]}", f"suffix{n}={lower[-n:]}"]
        if word[0].isupper():
            own.append("capital")
        if word.isdigit():
            own.append("digit")
        yield own


ATTRIBUTES = {"window": (window, 1), "full": (full, 2)}  # and how often they must be there


def learn(attributes: str, train: str, model: str) -> None:
    make, least = ATTRIBUTES[attributes]
    sentences = read(train)
    X = [list(make(sentence)) for sentence in sentences]
    if least > 1:
        counts = Counter(chain.from_iterable(chain.from_iterable(X)))
        X = [[[one for one in token if counts[one] >= least] for token in sentence] for sentence in X]
    trainer = pycrfsuite.Trainer(verbose=False)  # as crfsuite learn comes: L-BFGS, c2 = 1
    for tokens, sentence in zip(X, sentences, strict=True):
        trainer.append(tokens, [token[-1] for token in sentence])
    trainer.train(model)


def tag(attributes: str, model: str, test: str, output: str) -> None:
    make, _ = ATTRIBUTES[attributes]
    tagger = pycrfsuite.Tagger()
    tagger.open(model)
    with open(output, "w", encoding="utf-8") as file:
        for sentence in read(test):
            for token, label in zip(sentence, tagger.tag(list(make(sentence))), strict=True):
                print(*token, label, file=file)
            print(file=file)


if __name__ == "__main__":
    {"learn": learn, "tag": tag}[sys.argv[1]](*sys.argv[2:])
