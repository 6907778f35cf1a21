"""Transition masks: shapes, the first violation, BIO rules."""

import itertools

import numpy as np
import pytest

from maxmargin.structures import TransitionMask, bio_mask

from .pairs import MASK


def is_allowed(mask, labels):
    inside = all(mask.allowed[a, b] for a, b in itertools.pairwise(labels))
    return bool(mask.start[labels[0]] and mask.end[labels[-1]] and inside)


@pytest.mark.parametrize("length", [1, 2, 3])
def test_first_violation(length):
    good = [1, 1]
    assert is_allowed(MASK, good)
    for labels in itertools.product(range(3), repeat=length):
        offsets = np.array([0, 2, 2 + length, 4 + length])
        found = MASK.first_violation(np.array([*good, *labels, *good]), offsets)
        assert (found is None) == is_allowed(MASK, labels)
        if found is not None:
            sample, position = found
            assert sample == 1 and 0 <= position < length
            # what comes before is fine as the opening of a sequence
            before = list(labels[:position])
            assert not before or is_allowed(MASK._replace(end=np.ones(3, bool)), before)


def test_everything_allows_everything():
    mask = TransitionMask.everything(2)
    assert all(is_allowed(mask, labels) for labels in itertools.product(range(2), repeat=3))
    assert mask.check(2).allowed.all()


@pytest.mark.parametrize("name", TransitionMask._fields)
def test_wrong_shapes_are_named(name):
    mask = TransitionMask.everything(3)._replace(**{name: np.ones(2, bool)})
    with pytest.raises(ValueError, match=f"transition_mask: {name} has shape .* 3 labels"):
        mask.check(3)


def test_bio():
    names = ["B-NP", "B-VP", "I-NP", "I-VP", "O"]
    mask = bio_mask(names).check(5)
    allowed = {(a, b) for a, b in itertools.product(names, names) if mask.allowed[names.index(a), names.index(b)]}
    inside = {("B-NP", "I-NP"), ("I-NP", "I-NP"), ("B-VP", "I-VP"), ("I-VP", "I-VP")}
    assert allowed == inside | {(a, b) for a in names for b in ("B-NP", "B-VP", "O")}
    assert [name for name, may in zip(names, mask.start, strict=True) if may] == ["B-NP", "B-VP", "O"]
    assert mask.end.all()


def is_well_formed(names, closing):
    """By reading a sequence as a person would: chunks are opened, gone on with and, if `closing`, closed."""
    inside = None  # the kind of the chunk that is open
    for name in names:
        letter, kind = name[0], name[2:]
        if letter in "IMEL" and inside != kind:
            return False
        if letter not in "IMEL" and inside is not None and closing:
            return False
        inside = kind if letter in "BIM" else None
    return inside is None or not closing


SCHEMES = {
    "IOB2": ["B-X", "B-Y", "I-X", "I-Y", "O"],
    "BIOES": ["B-X", "E-X", "I-X", "I-Y", "O", "S-X", "B-Y", "E-Y"],
    "BILOU": ["B-X", "I-X", "L-X", "O", "U-X", "U-Y", "B-Y", "L-Y"],
    "BMES": ["B", "E", "M", "S"],
    "no kinds": ["B", "I", "O"],
    "single words": ["O", "S-X", "S-Y"],
    "a kind with hyphens": ["B-a-b", "I-a-b", "I-a-c", "O"],
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_allows_what_is_well_formed(scheme):
    names = SCHEMES[scheme]
    closing = any(name[0] in "ESLU" for name in names)
    mask = bio_mask(names).check(len(names))
    for length in (1, 2, 3):
        for labels in itertools.product(range(len(names)), repeat=length):
            assert is_allowed(mask, labels) == is_well_formed([names[label] for label in labels], closing)


@pytest.mark.parametrize(
    ("names", "match"),
    [
        (["B-X", "I-X", "PAD"], "label 'PAD' is neither O nor named like B-NP"),
        (["X-B", "X-I", "O"], "label 'X-B'"),
        (["B_X", "I_X", "O"], "label 'B_X'"),
        (["B-X", ""], "label ''"),
        (["B-X", "O-X"], "label 'O-X'"),
        (["B-X", "E-X", "U-X"], r"labels begin with \['B', 'E', 'U'\] beside O, which is none of IOB2, BIOES"),
        (["I-X", "O"], r"begin with \['I'\]"),
        (["O"], "no rules"),
        ([0, 1], "label '0'"),
    ],
)
def test_names_without_rules(names, match):
    with pytest.raises(ValueError, match=match):
        bio_mask(names)
