"""Hundreds of hostile inputs an estimator: each ends in a right answer, or in words that name the place.

No crash, and nothing half-fitted: a new model stays unfitted, and a fitted one what it was (see `trials`).
"""

from __future__ import annotations

import pytest
from containers import containers
from links import links
from outputs import labels, none, others
from settings import parameters, parameters_at_the_edge, weights
from subjects import CROSS_VALIDATED, SUBJECTS
from trials import try_out

from features import bad_features, odd_features

TABLES = [
    bad_features,
    odd_features,
    containers,
    links,
    none,
    labels,
    others,
    weights,
    parameters,
    parameters_at_the_edge,
]
INTERPRETED = {labels}  # which would compile anew for a single label
NAMES = {subject.name: subject for subject in (*SUBJECTS, *CROSS_VALIDATED)}


def try_all(subject, trials):
    failed = []
    for trial in trials:
        try:
            try_out(subject, trial)
        except (Exception, pytest.fail.Exception) as error:  # told together: one fault is often behind many
            failed.append(f"{trial.name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join([f"{len(failed)} failed", *failed])


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # of np.matrix
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
@pytest.mark.parametrize("name", [subject.name for subject in SUBJECTS])
def test_hostile(name, table, request):
    if table in INTERPRETED:
        request.getfixturevalue("no_compilation")
    try_all(NAMES[name], table(NAMES[name]))


@pytest.mark.parametrize("table", [bad_features, containers, none, labels, weights], ids=lambda table: table.__name__)
@pytest.mark.parametrize("name", [subject.name for subject in CROSS_VALIDATED])
def test_hostile_to_cross_validation(name, table, no_compilation):
    """What is refused, before any path is followed."""
    try_all(NAMES[name], [trial for trial in table(NAMES[name]) if isinstance(trial.expected, str)])


@pytest.mark.parametrize("name", [subject.name for subject in SUBJECTS])
def test_there_are_hundreds(name):
    assert sum(len(list(table(NAMES[name]))) for table in TABLES) >= 200
