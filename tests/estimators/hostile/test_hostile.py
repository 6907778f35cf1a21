"""Hundreds of hostile inputs an estimator: each ends in a right answer, or in words that name the place.

No crash, and nothing half-fitted: a new model stays unfitted, and a fitted one what it was (see `trials`).
"""

from __future__ import annotations

import pytest
from containers import containers
from features import bad_features, odd_features
from links import links
from outputs import labels, none, others
from settings import parameters, parameters_at_the_edge, weights
from subjects import SUBJECTS
from trials import try_out

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
NAMES = {subject.name: subject for subject in SUBJECTS}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
@pytest.mark.parametrize("name", NAMES)
def test_hostile(name, table):
    subject, failed = NAMES[name], []
    for trial in table(subject):
        try:
            try_out(subject, trial)
        except (Exception, pytest.fail.Exception) as error:  # told together: one fault is often behind many
            failed.append(f"{trial.name}: {type(error).__name__}: {error}")
    assert not failed, "\n".join([f"{len(failed)} failed", *failed])


@pytest.mark.parametrize("name", NAMES)
def test_there_are_hundreds(name):
    trials = [trial.name for table in TABLES for trial in table(NAMES[name])]
    assert len(trials) >= 200
