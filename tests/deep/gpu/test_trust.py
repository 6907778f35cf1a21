"""Kernels are used after they were compared, and not at all where that fails."""

import subprocess
import sys
import warnings

import pytest

torch = pytest.importorskip("torch", reason="needs PyTorch")

from maxmargin.deep.forests import Forest
from maxmargin.deep.gpu import trust
from maxmargin.deep.gpu.few import FewLabels
from maxmargin.deep.gpu.many import ManyLabels

from .emulated import COMPILER, Emulated

NEEDS_COMPILER = pytest.mark.skipif(COMPILER is None, reason="needs g++")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


def forest_of(n_labels, n_samples=2):
    return Forest(torch.zeros(n_samples, 3, n_labels), torch.zeros(1, 1, n_labels, n_labels), torch.tensor([3, 2]))


class Wrong(Emulated):
    """Loses the labels that it finds."""

    def launch(self, *given, **options):
        super().launch(*given, **options)
        for one in given[-1]:
            if isinstance(one, torch.Tensor) and one.dtype == torch.int64:
                one.zero_()


@NEEDS_COMPILER
@pytest.mark.parametrize(("n_labels", "family"), [(3, FewLabels), (130, ManyLabels)])
@pytest.mark.parametrize("kind", ["best", "top", "sums"])
def test_what_agrees_is_trusted_and_compared_once(folder, n_labels, family, kind):
    machine = Emulated(folder)
    judge = trust.Trust(lambda: machine)
    assert isinstance(judge.kernels_for(forest_of(n_labels), kind, 5), family)
    n_launches = len(machine.launched)
    assert n_launches > 0
    assert isinstance(judge.kernels_for(forest_of(n_labels), kind, 5), family)
    assert len(machine.launched) == n_launches


@NEEDS_COMPILER
def test_what_does_not_agree_is_refused_with_one_warning(folder):
    judge = trust.Trust(lambda: Wrong(folder))
    assert judge.kernels_for(forest_of(3), "sums", 1) is not None
    with pytest.warns(RuntimeWarning, match="plain PyTorch operations: .* the best labelings are others"):
        assert judge.kernels_for(forest_of(3), "best", 1) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judge.kernels_for(forest_of(3), "best", 1) is None
        assert judge.kernels_for(forest_of(3), "sums", 1) is None


def test_where_nothing_can_be_compiled_a_warning_says_why():
    def connect():
        raise ImportError("no module named cuda")

    with pytest.warns(RuntimeWarning, match="no module named cuda"):
        assert trust.Trust(connect).kernels_for(forest_of(3), "best", 1) is None


def test_the_switch_turns_them_off(monkeypatch):
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(trust, "trust_of", lambda index: pytest.fail("asked"))
    monkeypatch.setenv(trust.SWITCH, "0")
    assert trust.kernels_for(forest_of(3), "best") is None


def test_many_labels_are_shared_out_by_the_size_of_the_batch():
    machine = Emulated("nowhere")
    machine.n_processors, machine.shared_bytes = 132, 232_448  # an H200
    families = [FewLabels(machine), *(ManyLabels(machine, part) for part in trust.PARTS)]

    def chosen(n_samples, n_labels):
        return trust.choose(families, Forest(torch.empty(n_samples, 2, n_labels), torch.empty(1), torch.empty(1)))

    assert chosen(256, 32) is chosen(1, 128) is families[0]
    assert [chosen(256, n_labels).part for n_labels in (1024, 512, 256)] == [(8, 8), (4, 8), (4, 4)]
    assert chosen(1, 1024).part == (4, 4)
    assert chosen(256, 5000) is None


def test_a_cpu_never_imports_them():
    code = (
        "import sys, torch; from maxmargin.deep import Chains;"
        "chains = Chains(torch.zeros(2, 3, 2), torch.zeros(2, 2));"
        "chains.best(); chains.top(2); chains.marginals(); assert not any('deep.gpu' in name for name in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nvrtc_takes_the_sources():
    pytest.importorskip("cuda.bindings", reason="needs cuda-bindings, as PyTorch with CUDA brings it")
    from maxmargin.deep.gpu.cuda import compiled
    from maxmargin.deep.gpu.sources import source_of

    try:
        compiled("", "sm_90")
    except RuntimeError as error:  # of the bindings: the library is not there
        pytest.skip(str(error))
    given = {
        "few_labels": {"LABELS": 32, "THREADS": 32, "SUMS": 1},
        "traces": {"TOP": 5},
        "many_labels": {"PART_ROWS": 8, "PART_COLUMNS": 8, "WARPS": 8, "SUMS": 1},
    }
    for name, defines in given.items():
        assert compiled(source_of(name, defines), "sm_90")[:4] == b"\x7fELF"
