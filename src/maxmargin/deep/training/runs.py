"""One life of all runs: beginning or going on, history, stops, checkpoints, progress."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch

from ..._parameters import as_generator, check_count, check_limits, check_not_negative, check_verbose
from ...solvers.keeping import keeper_of
from ..checks import NoNumbers
from .risk import Risk


class Trained(NamedTuple):
    """What a run leaves beside the weights of the network.

    Parameters
    ----------
    status : str
        Why it stopped: "converged", "max_iterations", "max_seconds", "callback" or "interrupted".
    history : dict of arrays
        One entry an iteration: iteration, oracle_calls, seconds, objective, and what else the method tells.

    Examples
    --------
    >>> import numpy as np
    >>> from maxmargin.deep import Trained
    >>> Trained("converged", {"objective": np.array([0.5, 0.25])}).history["objective"][-1]
    np.float64(0.25)
    """

    status: str
    history: dict[str, np.ndarray]


def train(
    method: Any,
    risk: Risk,
    *,
    max_iterations: int = 20,
    max_seconds: float | None = None,
    tol: float = 0.0,
    random_state: Any = None,
    verbose: int = 0,
    callback: Callable[[dict[str, float]], bool] | None = None,
    checkpoint: Any = None,
    checkpoint_every: float = 60.0,
    identity: Callable[[], dict[str, str]] = dict,
) -> Trained:
    """Run a method on a risk, whose network it changes.

    Parameters
    ----------
    method : ProxLinear or GradientSteps
        How.
    risk : Risk
        What is to become small.
    max_iterations : int, default=20
        Steps of :class:`ProxLinear`, epochs of :class:`GradientSteps`.
    max_seconds : float or None, default=None
        Stop after so many seconds.
    tol : float, default=0.0
        Stop where a step that was taken shows a prox-gradient of at most this norm; 0 never does.
    random_state : int, RandomState, Generator or None, default=None
        Seed of batches.
    verbose : int, default=0
        1 shows a progress bar with the objective.
    callback : callable or None, default=None
        Called with each row of the history; stops the run by returning true.
    checkpoint : str, path or None, default=None
        A file that keeps the run, so that one that was cut off goes on from there.
    checkpoint_every : float, default=60.0
        Seconds between two writes of it, at least.
    identity : callable, default=dict
        Words that tell this run from others, for the checkpoint.

    Returns
    -------
    trained : Trained
        Why it stopped, and its history.

    Examples
    --------
    >>> import numpy as np, torch
    >>> from maxmargin.deep import GradientSteps, Risk, train
    >>> class Large:  # any hinges will do: here those of numbers to be large
    ...     weight, sizes = torch.full((2,), 0.5), np.ones(2)
    ...     def inputs(self, indices):
    ...         return (torch.ones(len(indices), 1),)
    ...     def hinges(self, outputs, indices, smoothing):
    ...         return torch.relu(1.0 - outputs[0][:, 0])
    >>> risk = Risk(torch.nn.Linear(1, 1), Large(), lam=0.1)
    >>> trained = train(GradientSteps("sgd", rate=0.1), risk, max_iterations=60, random_state=0)
    >>> trained.status, bool(trained.history["objective"][-1] < 0.15)
    ('max_iterations', True)
    """
    check_count("max_iterations", max_iterations)
    check_limits(max_iterations, max_seconds)
    check_not_negative("tol", tol)
    rng = as_generator(random_state)
    keeper = keeper_of(checkpoint, checkpoint_every, identity)
    with own_draws(risk.weights().device):  # what networks draw, too, follows from the seed, and nobody else's does
        torch.manual_seed(int(rng.integers(2**31)))
        life = Life(method.start(risk, rng), risk, rng)
        life.go_on_from(keeper.found())
        with progress(verbose, max_iterations) as show:
            status = life.go(max_iterations, max_seconds, tol, callback, keeper, show)
        keeper.finish(life.state())
    keeper.close()
    risk.network.eval()
    names = life.rows[0].keys() if life.rows else ()
    return Trained(status, {name: np.array([row[name] for row in life.rows]) for name in names})


def own_draws(device: torch.device) -> Any:
    """What PyTorch draws inside leaves its generators outside as they were, on the CPU and on the device."""
    return torch.random.fork_rng(devices=[] if device.type == "cpu" else [device], device_type=device.type)


class Life:
    """A run with its history."""

    def __init__(self, run: Any, risk: Risk, rng: np.random.Generator):
        self.run, self.risk, self.rng = run, risk, rng
        self.rows: list[dict[str, float]] = []
        self.before, self.began = 0.0, time.monotonic()  # seconds of earlier parts of the run

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.began

    def state(self) -> dict[str, Any]:
        drawn = torch.get_rng_state().numpy()
        return {"run": self.run.state(), "rows": self.rows, "seconds": self.seconds, "rng": self.rng, "drawn": drawn}

    def go_on_from(self, state: dict[str, Any] | None) -> None:
        if state is None:
            return
        self.run.resume(state["run"])
        self.rows, self.before = list(state["rows"]), state["seconds"]
        self.rng.bit_generator.state = state["rng"].bit_generator.state
        torch.set_rng_state(torch.from_numpy(np.array(state["drawn"])))

    def go(
        self, max_iterations: int, max_seconds: float | None, tol: float, callback: Any, keeper: Any, show: Any
    ) -> str:
        try:
            while len(self.rows) < max_iterations:
                row = self.advance()
                show(row)
                if keeper.is_due():
                    keeper.keep(self.state())
                if callback is not None and callback(row):
                    return "callback"
                if row.get("taken") and row["prox_gradient"] <= tol:
                    return "converged"
                if max_seconds is not None and self.seconds >= max_seconds:
                    return "max_seconds"
        except KeyboardInterrupt:
            return "interrupted"
        return "max_iterations"

    def advance(self) -> dict[str, float]:
        try:
            told = self.run.advance()
        except NoNumbers:
            told = {"objective": np.nan}
        if not np.isfinite(told["objective"]):
            raise ValueError(
                f"the objective became {told['objective']:g} in iteration {len(self.rows) + 1}: take shorter steps "
                "(rate, eta), or more regularisation (lam)"
            )
        row = {
            "iteration": float(len(self.rows) + 1),
            "oracle_calls": float(self.risk.oracle_calls),
            "seconds": self.seconds,
            **told,
        }
        self.rows.append(row)
        return row


@contextlib.contextmanager
def progress(verbose: int, total: int) -> Iterator[Callable[[dict[str, float]], None]]:
    """What shows rows of the history, in a bar or not at all."""
    if not check_verbose(verbose):
        yield lambda row: None
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc="training", unit="it") as bar:

        def show(row: dict[str, float]) -> None:
            bar.update(int(row["iteration"]) - bar.n)
            bar.set_postfix(objective=f"{row['objective']:.4g}")

        yield show
