"""A machine that runs the kernels' sources on the CPU: compiled by g++, with `shim.h` in the place of `prelude.cu`."""

import ctypes
import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import torch

from maxmargin.deep.gpu.sources import source_of

COMPILER = shutil.which("g++")
SHIM = Path(__file__).parent / "shim.h"
FLAGS = ("-std=c++17", "-O1", "-fPIC", "-shared", "-w")


C_TYPES = {int: ctypes.c_int, float: ctypes.c_float}


def as_c(value):
    if value is None or isinstance(value, torch.Tensor):
        return ctypes.c_void_p(None if value is None else value.data_ptr())
    return C_TYPES[type(value)](value)


class Emulated:
    """What `Cuda` is to a GPU; threads take turns in their order, or the other way round."""

    n_processors = 12
    shared_bytes = 200_000

    def __init__(self, folder, reverse=False):
        self.folder, self.reverse = Path(folder), reverse
        self.launched = []

    def launch(self, source, kernel, defines, grid, threads, shared_bytes, args, together=False):
        assert shared_bytes <= self.shared_bytes
        assert not together or grid[0] * grid[1] <= self.n_processors
        given = [as_c(one) for one in args]
        pointers = (ctypes.c_void_p * len(given))(*(ctypes.addressof(one) for one in given))
        run = getattr(self._library(source, defines), f"run_{kernel}")
        run.restype = ctypes.c_bool
        assert run(*grid, threads, shared_bytes, together, self.reverse, pointers), f"{kernel} waits for ever"
        self.launched.append((source, kernel))

    def _library(self, source, defines):
        text = source_of(source, defines, prelude=SHIM.read_text())
        for kernel in re.findall(r"__launch_bounds__\([^)]*\)\s+(\w+)\(", text):
            text += (
                f'extern "C" bool run_{kernel}(int x, int y, int threads, int bytes, int together, int reversed,'
                f" void** args) {{ return run({kernel}, x, y, threads, bytes, together, reversed, args); }}\n"
            )
        path = self.folder / f"{source}_{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
        if not path.exists():
            begun = path.with_suffix(".cpp")
            begun.write_text(text)
            subprocess.run([COMPILER, *FLAGS, "-o", path, begun], check=True)
        return ctypes.CDLL(str(path))
