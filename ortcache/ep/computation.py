"""What ORT sees of a kernel: the functions of OrtNodeComputeInfo."""

from __future__ import annotations

import contextlib
import itertools
import logging
from collections.abc import Callable
from typing import Any

from ..core.native import Native
from ..core.status import address
from ..errors import ClosedError, InputError
from .kernel import KernelContext, count_of
from .log import EpLogger
from .vtable import Functions, VTable

__all__ = ["Computation"]

_log = logging.getLogger("ortcache.ep")


class Computation:
    """One OrtNodeComputeInfo over a kernel.

    Args:
        kernel: has ``compute``, or is itself a function; what it has of ``create_state`` and ``release_state`` is used.
        name: of the node that stands for it in the model.
        tensors: the inputs that can be nothing but tensors.
        quiet: called before anything is released.

    Raises:
        TypeError: it is no kernel.
    """

    def __init__(
        self, native: Native, kernel: Any, name: str, tensors: frozenset[int], log: EpLogger, quiet: Callable[[], None]
    ) -> None:
        self.native = native
        self._name = name
        self._tensors = tensors
        self._log = log
        self._quiet = quiet
        self._compute = getattr(kernel, "compute", kernel)
        self._create = getattr(kernel, "create_state", None)
        self._release = getattr(kernel, "release_state", None)
        if not callable(self._compute):
            what = "None" if kernel is None else type(kernel).__name__
            raise TypeError(f"compile must give a kernel for {name}: something with a method compute, not {what}")
        self._counts: tuple[int, int] | None = None
        self._states: dict[int, Any] = {}
        self._numbers = itertools.count(1)  # 0 would be NULL
        # Made now: of a failure when ORT asks for it, ORT does not say what it was.
        self._ready = [self._new_state()]
        self._table = VTable(native, "OrtNodeComputeInfo", self, _FUNCTIONS)

    @property
    def address(self) -> int:
        """Where the OrtNodeComputeInfo is."""
        return self._table.address

    def close(self) -> None:
        """ORT has released it."""
        self._table.close()
        for state in [*self._states.values(), *self._ready]:
            self._let_go(state)

    # The functions of OrtNodeComputeInfo.

    def create_state(self, _context: Any, out: Any) -> None:
        number = next(self._numbers)
        self._states[number] = self._ready.pop() if self._ready else self._new_state()
        out[0] = number

    def compute(self, number: int | None, kernel_context: Any) -> None:
        try:
            state = self._states[number or 0]
        except KeyError:
            raise ClosedError(f"the kernel of {self._name} was called after its state was released") from None
        here = address(kernel_context) or 0
        if self._counts is None:
            self._counts = count_of(self.native, here, "Input"), count_of(self.native, here, "Output")
        context = KernelContext(self.native, here, self._counts, self._tensors, state, self._log)
        try:
            result = self._compute(context)
            if result is not None:
                raise TypeError(
                    f"the kernel of {self._name} returned {type(result).__name__}: it must write its outputs with "
                    "context.output or context.set_output, and return nothing"
                )
            missing = context.missing_outputs()
        finally:
            context.close()
        if missing:
            raise InputError(f"the kernel of {self._name} did not write output {', '.join(map(str, missing))}")

    def release_state(self, number: int | None) -> None:
        self._quiet()
        if number in self._states:
            self._let_go(self._states.pop(number))

    def _new_state(self) -> Any:
        return self._create() if self._create is not None else None

    def _let_go(self, state: Any) -> None:
        if self._release is None:
            return
        try:
            self._release(state)
        except BaseException as error:
            with contextlib.suppress(BaseException):
                _log.error("releasing the state of %s failed", self._name, exc_info=error)


_FUNCTIONS: Functions = {
    "CreateState": Computation.create_state,
    "Compute": Computation.compute,
    "ReleaseState": Computation.release_state,
}
