"""How functions are compiled that are only ever called from kernels.

Numba makes a library of every function: it links in all that the function calls, optimises the lot, emits machine code,
and then does it again for the caller. Here nine of ten functions are called by kernels alone, and their own machine
code by nobody. An *inner* library keeps just the function's own code; whatever links it gets that and everything it
calls, each once, and optimises there.

All this rests on private names of Numba (seen on 0.68). Where one is gone, :func:`inner_options` is empty, and the
ordinary compiler does the same at greater length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from llvmlite import binding
from numba.core import codegen
from numba.core.compiler import CompilerBase, DefaultPassBuilder

LIBRARY: Any = getattr(codegen, "JITCodeLibrary", object)
HOOKS = {
    LIBRARY: ("_finalize_dynamic_globals", "_get_module_for_linking", "_raise_if_finalized", "finalize"),
    getattr(codegen, "JITCPUCodegen", object): ("_add_module", "_create_empty_module"),
}
ENVIRONMENT = "_ZN08NumbaEnv"  # how the names of environments begin: what a function needs of Python, e.g. to raise


class InnerLibrary(LIBRARY):
    """The code of one function, to be linked into a kernel together with all that it calls."""

    def __init__(self, owner: Any, name: str):
        super().__init__(owner, name)
        self._with_callees = None

    def finalize(self) -> None:
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalize_dynamic_globals()
        self._define_environments()
        self._finalized = True

    def _define_environments(self) -> None:
        """Let the engine know the addresses of environments, which Numba fills in; they are all that is emitted."""
        names = [one.name for one in self._final_module.global_variables if one.name.startswith(ENVIRONMENT)]
        module = binding.parse_assembly(str(self._codegen._create_empty_module(self.name)))
        module.link_in(binding.parse_assembly("\n".join(f'@"{name}" = common global i64 0' for name in names)))
        self._codegen._add_module(module)

    def _get_module_for_linking(self) -> Any:
        if self._with_callees is None:
            whole = self._own_module().clone()
            for library in self._all_callees():
                inner = isinstance(library, InnerLibrary)
                whole.link_in(library._own_module() if inner else library._get_module_for_linking(), preserve=True)
            self._with_callees = whole
        return self._with_callees

    def _own_module(self) -> Any:
        return super()._get_module_for_linking()

    def _all_callees(self) -> Iterator[Any]:
        """Libraries of all that this one calls, directly or not."""
        seen, ahead = {self}, [self]
        while ahead:
            library = ahead.pop()
            if isinstance(library, InnerLibrary):  # the others hold what they call
                new = [one for one in library._linking_libraries if one not in seen]
                seen.update(new)
                ahead += new
            if library is not self:
                yield library


class InnerCompiler(CompilerBase):
    """The ordinary steps, into an inner library."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = InnerLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


def inner_options() -> dict[str, Any]:
    """Options of Numba for a function that is only called from kernels."""
    known = all(hasattr(owner, hook) for owner, hooks in HOOKS.items() for hook in hooks)
    return {"pipeline_class": InnerCompiler, "no_cfunc_wrapper": True} if known else {}
