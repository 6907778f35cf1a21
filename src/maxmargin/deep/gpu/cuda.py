"""Kernels compiled by NVRTC and launched by the driver, both through `cuda.bindings`, which PyTorch itself depends on.

Compiled kernels are kept where those of Numba are, so that a machine compiles them once.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from cuda.bindings import driver, nvrtc
from torch import Tensor

from ..._compile.folders import kernel_folders
from .sources import source_of

LEAST_CAPABILITY = (8, 0)  # of reductions over a warp and of copies that do not wait


class NoKernels(RuntimeError):
    """Kernels cannot be compiled or launched here."""


class Cuda:
    """One CUDA device, as kernels see it.

    Parameters
    ----------
    index : int
        Its number.
    """

    def __init__(self, index: int):
        about = torch.cuda.get_device_properties(index)
        if (about.major, about.minor) < LEAST_CAPABILITY:
            raise NoKernels(f"{about.name} has compute capability {about.major}.{about.minor}, below 8.0")
        self.index = index
        self.architecture = f"sm_{about.major}{about.minor}"
        self.n_processors = about.multi_processor_count
        most = driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
        (self.shared_bytes,) = checked(driver.cuDeviceGetAttribute(most, checked(driver.cuDeviceGet(index))[0]))
        self._kernels: dict[tuple[Any, ...], Any] = {}

    def launch(
        self,
        source: str,
        kernel: str,
        defines: Mapping[str, int],
        grid: tuple[int, int],
        threads: int,
        shared_bytes: int,
        args: Sequence[Tensor | int | float | None],
        together: bool = False,
    ) -> None:
        given = tuple(zip(*map(as_c, args), strict=True))
        # to make a device the current one takes as long as all else here
        with nullcontext() if torch.cuda.current_device() == self.index else torch.cuda.device(self.index):
            enter_context(self.index)
            own = self._kernel(source, kernel, defines)
            stream = torch.cuda.current_stream(self.index).cuda_stream
            # together: refused where not all blocks have room at once, instead of waiting for ever
            begin = driver.cuLaunchCooperativeKernel if together else driver.cuLaunchKernel
            rest = () if together else (0,)
            checked(begin(own, *grid, 1, threads, 1, 1, shared_bytes, stream, given, *rest))

    def _kernel(self, source: str, kernel: str, defines: Mapping[str, int]) -> Any:
        key = (source, kernel, *sorted(defines.items()))
        if key not in self._kernels:
            (library,) = checked(driver.cuModuleLoadData(binary_of(source_of(source, defines), self.architecture)))
            (own,) = checked(driver.cuModuleGetFunction(library, kernel.encode()))
            most = driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
            (fixed,) = checked(
                driver.cuFuncGetAttribute(driver.CUfunction_attribute.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, own)
            )
            checked(driver.cuFuncSetAttribute(own, most, self.shared_bytes - fixed))
            self._kernels[key] = own
        return self._kernels[key]


C_TYPES = {int: ctypes.c_int, float: ctypes.c_float}


def as_c(given: Tensor | int | float | None) -> tuple[int | float, Any]:
    """What a kernel is given, and its type; None is no tensor."""
    if given is None or isinstance(given, Tensor):
        return 0 if given is None else given.data_ptr(), ctypes.c_void_p
    return given, C_TYPES[type(given)]


@functools.cache
def machine_of(index: int) -> Cuda:
    return Cuda(index)


def enter_context(index: int) -> None:
    """Make PyTorch's context the thread's; one that has only reused memory has none yet."""
    (current,) = checked(driver.cuCtxGetCurrent())
    if int(current) == 0:
        (device,) = checked(driver.cuDeviceGet(index))
        checked(driver.cuCtxSetCurrent(checked(driver.cuDevicePrimaryCtxRetain(device))[0]))


def binary_of(text: str, architecture: str) -> bytes:
    """Machine code, compiled now or by an earlier process."""
    version = checked(nvrtc.nvrtcVersion())
    folders = kernel_folders()
    name = f"{hashlib.sha256(f'{version} {architecture} {text}'.encode()).hexdigest()[:32]}.cubin"
    for folder in folders.read:
        if (folder / name).is_file():
            return (folder / name).read_bytes()
    binary = compiled(text, architecture)
    if folders.write is not None:
        put(binary, folders.write / name)
    return binary


def put(binary: bytes, path: Path) -> None:
    """Write a file that others see whole or not at all."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as begun:
        begun.write(binary)
    os.replace(begun.name, path)


def compiled(text: str, architecture: str) -> bytes:
    (program,) = checked(nvrtc.nvrtcCreateProgram(text.encode(), b"maxmargin.cu", 0, [], []))
    options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17"]
    (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        log = bytearray(checked(nvrtc.nvrtcGetProgramLogSize(program))[0])
        checked(nvrtc.nvrtcGetProgramLog(program, log))
        raise NoKernels(f"NVRTC: {bytes(log).decode(errors='replace').strip()}")
    binary = bytearray(checked(nvrtc.nvrtcGetCUBINSize(program))[0])
    checked(nvrtc.nvrtcGetCUBIN(program, binary))
    checked(nvrtc.nvrtcDestroyProgram(program))
    return bytes(binary)


def checked(answer: tuple[Any, ...]) -> tuple[Any, ...]:
    """What a call gave besides its status, which must be a success."""
    status, *given = answer
    if int(status) != 0:
        raise NoKernels(f"CUDA: {status.name}")
    return tuple(given)
