"""Conditional random fields against CRFsuite (python-crfsuite, L-BFGS and OWL-QN), at the same objective.

CRFsuite minimises ``c2 |w|^2 + c1 |w|_1 + sum_i -log p(y_i | x_i)`` of n sentences: ours times n, ``lam = 2 c2/n``
and ``l1 = c1/n``. Both have a weight for every attribute with every label and for every pair of labels, and no others:
no intercept, and nothing at the ends. Training is timed, in CPU seconds on one thread; reading and compiling are not.

Shown: what the weights of CRFsuite are worth here and there, our CPU seconds to the value that it ends with, its own,
and those of our L-BFGS; the largest difference of marginals at its weights; and with an L1 penalty, where we stop at
its value but for 1e-5, how many weights are not 0.
--quick takes 300 sentences each. Run: python -m benchmarks.crf [--quick]
"""

from __future__ import annotations

import struct
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

from maxmargin import datasets
from maxmargin.estimators.inputs.labels import encode_labels, stack_labels
from maxmargin.estimators.inputs.sequences import stack_sequences
from maxmargin.solvers import LBFGS, Solver, get_solver
from maxmargin.solvers.passes import Passes
from maxmargin.structures import LogLoss, make_chain_problem
from maxmargin.structures.verbs import find_corner, find_potentials, new_work

from ._report import Bar, arguments, finish
from .defaults.rivals import _attributes as attributes_of

FASTER, SAME_VALUE, SAME_MARGINALS, SAME_SPARSITY, CLOSE = 5.0, 1e-3, 1e-6, 0.05, 1e-5
L2, L1 = {"c1": 0.0, "c2": 1.0}, {"c1": 1.0, "c2": 0.1}
EVERY_WEIGHT = {"feature.possible_states": True, "feature.possible_transitions": True, "feature.minfreq": 0}
COMPARED = 100  # sentences whose marginals are
MOST_PASSES = 3000
HEADER, WEIGHT = struct.Struct("<4sI4s9I"), np.dtype([("kind", "<u4"), ("from", "<u4"), ("to", "<u4"), ("w", "<f8")])


class Case(NamedTuple):
    name: str
    X: Any
    y: Any
    classes: list[str]
    problem: LogLoss

    @property
    def n(self) -> int:
        return len(self.y)


class Rival(NamedTuple):
    value: float  # that it says it ended with
    seconds: float
    n_iterations: int
    n_active: int
    w: np.ndarray  # laid out as ours
    marginals: np.ndarray  # (positions, K) of the first sentences


def case_of(name: str, data: Any, n: int | None) -> Case:
    X, y = data.X_train[:n], data.y_train[:n]
    used = np.unique(np.concatenate([x.indices for x in X]))  # no weights for what occurs in other sentences only
    X = [x[:, used] for x in X]
    stacked = stack_sequences(X)
    codes, classes = encode_labels(stack_labels(y, stacked.offsets), stacked.offsets)
    problem = make_chain_problem(stacked.rows, stacked.offsets, codes, len(classes), intercept=False, boundary=False)
    return Case(name, X, y, [str(label) for label in classes], LogLoss(problem))


def crfsuite(case: Case, params: dict[str, float]) -> Rival:
    import pycrfsuite

    trainer = pycrfsuite.Trainer(verbose=False)
    for x, y in zip(case.X, case.y, strict=True):
        trainer.append(attributes_of(x), [str(label) for label in y])
    trainer.set_params({**params, **EVERY_WEIGHT})
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        before = time.process_time()
        trainer.train(str(file))
        seconds = time.process_time() - before
        tagger = pycrfsuite.Tagger()
        tagger.open(str(file))
        w, marginals = weights_of(case, file, tagger.info()), []
        for x in case.X[:COMPARED]:
            tagger.set(attributes_of(x))
            marginals += [[tagger.marginal(label, t) for label in case.classes] for t in range(x.shape[0])]
        tagger.close()
    last = trainer.logparser.last_iteration
    return Rival(last["loss"], seconds, last["num"], last["active_features"], w, np.array(marginals))


def weights_of(case: Case, file: Path, info: Any) -> np.ndarray:
    """The weights in a model file, which has them exactly, laid out as ours: attributes by labels, then transitions."""
    content, k = file.read_bytes(), len(case.classes)
    first = HEADER.unpack_from(content)[7]
    _, _, count = struct.unpack_from("<4sII", content, first)
    found = np.frombuffer(content, WEIGHT, count, first + 12)
    column, row = np.zeros(k, int), np.zeros(len(info.attributes), int)
    for name, number in info.labels.items():
        column[int(number)] = case.classes.index(name)
    for name, number in info.attributes.items():
        row[int(number)] = int(name[1:])
    n_rows = case.problem.base.sites.n_rows
    w = np.zeros((n_rows + k, k))
    of_states = found["kind"] == 0
    states, transitions = found[of_states], found[~of_states]
    w[row[states["from"]], column[states["to"]]] = states["w"]
    w[n_rows + column[transitions["from"]], column[transitions["to"]]] = transitions["w"]
    return w.ravel()


def value_at(case: Case, w: np.ndarray, params: dict[str, float]) -> float:
    """The objective of CRFsuite at its weights, as we find it."""
    loss = case.n * Passes(case.problem, None).primal(w, 0.0)
    return float(loss + params["c2"] * (w @ w) + params["c1"] * np.sum(np.abs(w)))


def marginals_at(case: Case, w: np.ndarray) -> np.ndarray:
    """Of the first sentences, positions by labels."""
    work, k, found = new_work(case.problem), len(case.classes), []
    for i in range(min(COMPARED, case.n)):
        find_potentials(case.problem, work, w, i)
        find_corner(case.problem, work, w, i)
        found.append(work.room.into.expectation.node[: k * case.X[i].shape[0]].reshape(-1, k).copy())
    return np.concatenate(found)


class Run(NamedTuple):
    seconds: float
    passes: float
    value: float  # times n
    w: np.ndarray


def run(case: Case, solver: Solver, c2: float, goal: float) -> Run:
    """Train until the objective, as CRFsuite counts it, is at the goal."""
    lam = 2.0 * c2 / case.n
    solver.solve(case.problem, lam, tol=0, max_passes=1, random_state=0)  # compiles
    before = time.process_time()
    result = solver.solve(
        case.problem,
        lam,
        tol=0,
        max_passes=MOST_PASSES,
        random_state=0,
        callbacks=lambda record: case.n * record.primal <= goal,
    )
    return Run(time.process_time() - before, result.n_passes, case.n * result.primal, result.w)


def compare_squares(case: Case) -> list[Bar]:
    rival = crfsuite(case, L2)
    ours = run(case, get_solver("auto", case.problem), L2["c2"], rival.value)
    reference = run(case, LBFGS(), L2["c2"], rival.value)
    best = get_solver("auto", case.problem).solve(case.problem, 2.0 * L2["c2"] / case.n, tol=1e-6, random_state=0)
    there = value_at(case, rival.w, L2)
    apart = float(np.max(np.abs(marginals_at(case, rival.w) - rival.marginals)))
    print(f"{case.name}: {case.n} sentences, {len(rival.w)} weights, c2 = 1")
    print(f"  CRFsuite  {rival.value:12.3f} in {rival.seconds:7.2f} s, {rival.n_iterations} iterations")
    print(f"            {there:12.3f} is the value of its weights here; marginals differ by {apart:.1e}")
    print(f"  auto      {ours.value:12.3f} in {ours.seconds:7.2f} s, {ours.passes:.0f} passes")
    print(f"  L-BFGS    {reference.value:12.3f} in {reference.seconds:7.2f} s, {reference.passes:.0f} passes")
    print(f"  optimum   {case.n * best.dual:12.3f} to {case.n * best.primal:.3f}", flush=True)
    return [
        Bar(f"{case.name}, log-likelihoods apart", abs(case.n * best.primal / rival.value - 1.0), SAME_VALUE),
        Bar(f"{case.name}, values of the same weights apart", abs(there / rival.value - 1.0), CLOSE),
        Bar(f"{case.name}, marginals apart", apart, SAME_MARGINALS),
        Bar(f"{case.name}, CPU of CRFsuite over ours", rival.seconds / ours.seconds, FASTER, at_least=True),
    ]


def compare_absolutes(case: Case) -> list[Bar]:
    rival = crfsuite(case, L1)
    ours = run(case, LBFGS(l1=L1["c1"] / case.n), L1["c2"], (1.0 + CLOSE) * rival.value)
    count = np.count_nonzero(ours.w)
    print(f"{case.name}: {case.n} sentences, c1 = 1, c2 = 0.1")
    print(
        f"  CRFsuite  {rival.value:12.3f} in {rival.seconds:7.2f} s, {rival.n_iterations} iterations, "
        f"{rival.n_active} weights"
    )
    print(
        f"  OWL-QN    {ours.value:12.3f} in {ours.seconds:7.2f} s, {ours.passes:.0f} passes, {count} weights",
        flush=True,
    )
    return [
        Bar(f"{case.name}, L1, values apart", max(ours.value / rival.value - 1.0, 0.0), CLOSE),
        Bar(f"{case.name}, L1, numbers of weights apart", abs(count / rival.n_active - 1.0), SAME_SPARSITY),
    ]


def main() -> None:
    n = 300 if arguments(__doc__).quick else None
    sources: dict[str, Bunch] = {"CoNLL-2000": datasets.fetch_conll2000(), "WNUT-17": datasets.fetch_wnut17()}
    bars = []
    with threadpool_limits(1):
        for name, data in sources.items():
            bars += compare_squares(case_of(name, data, n))
        bars += compare_absolutes(case_of("WNUT-17", sources["WNUT-17"], n))
    finish(bars)


if __name__ == "__main__":
    main()
