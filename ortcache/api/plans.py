"""The plans of one session: which signatures have one, and who runs which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..core.native import Native
from ..locks import new_lock
from .plan import CopyingPlan, Plan, PointingPlan
from .shapes import output_shapes
from .signature import Inputs, Outputs

__all__ = ["LIMIT", "MOST", "Plans"]

#: Bytes of all inputs and outputs together, up to which they are copied.
LIMIT = 256 * 1024

#: Plans that a session keeps: one a signature, and one more for each thread that runs it at the same time.
MOST = 16

#: How often a signature goes the long way before it gets a plan: where there is room for one, and where another has to
#: go, so that more signatures than there is room for do not take each other's all the time.
SOON, LATE = 2, 16


class Plans:
    """A plan that is in use is not in the list, so no two threads have the same one."""

    def __init__(self, native: Native, inputs: Inputs, outputs: Outputs) -> None:
        self._native = native
        self._inputs = inputs
        self._outputs = [*outputs.slots.values()]
        self._idle: list[Plan] = []  # the one used last is at the end
        self._seen: dict[tuple[Any, ...], int] = {}
        self._count = 0
        self._lock = new_lock()
        # What is handed through from input to output is not written to the output's buffer.
        self._possible = not outputs.passed and all(slot.plain for slot in self._outputs)

    def run(self, feeds: Mapping[str, Any]) -> Any:
        """Run over a plan of the feeds' signature.

        Returns:
            The results; an OrtStatus's address where the run failed; None where there is no such plan.
        """
        idle = self._idle
        if not idle:
            return None
        try:
            plan = idle.pop()  # atomic
        except IndexError:
            return None
        if not plan.fill(feeds):
            idle.append(plan)
            other = self._other(plan, feeds)
            if other is None:
                return None
            plan = other
        try:
            return plan.run() or plan.results()
        finally:
            idle.append(plan)

    def _other(self, last: Plan, feeds: Mapping[str, Any]) -> Plan | None:
        """A plan of the feeds' signature besides that one, with the feeds in it and out of the list."""
        idle = self._idle
        for plan in reversed(idle[:]):
            if plan is not last:
                try:
                    idle.remove(plan)
                except ValueError:  # another thread took it
                    continue
                if plan.fill(feeds):
                    return plan
                idle.insert(0, plan)
        return None

    def learn(self, session: Any, feeds: Mapping[str, Any], results: list[Any]) -> None:
        """A run went the long way with arrays that C used as they were, and all outputs: should the next one of this
        signature have a plan? It gets one after some time, as long as the model keeps what it promises."""
        if not self._possible:
            return
        given = {name: array.shape for name, array in feeds.items()}
        signature = tuple(given.items())
        with self._lock:
            times = self._seen.get(signature, 0) + 1
            if times == 1 and len(self._seen) >= 4 * MOST:
                self._seen.clear()
            self._seen[signature] = times
            if times < (SOON if self._count < MOST else LATE):
                return
            slots = [self._inputs.slots[name] for name in given]
            shapes = output_shapes([slot.info for slot in slots], [slot.info for slot in self._outputs], given)
            del self._seen[signature]
            if shapes is None:
                return
            if shapes != [array.shape for array in results]:
                self._possible = False
            elif self._room():
                small = sum(array.nbytes for array in (*feeds.values(), *results)) <= LIMIT
                make = CopyingPlan if small else PointingPlan
                inputs = list(zip(slots, given.values(), strict=True))
                plan = make(self._native, session, inputs, list(zip(self._outputs, shapes, strict=True)))
                self._count += 1
                self._idle.append(plan)

    def forbid(self) -> None:
        """No more plans: one failed where the long way did not."""
        self._possible = False
        self.close()

    def close(self) -> None:
        while self._idle:
            try:
                self._idle.pop().close()
            except IndexError:
                return

    def _room(self) -> bool:
        """Is there room for one more? The one that was not used for longest makes it."""
        if self._count < MOST:
            return True
        try:
            self._idle.pop(0).close()
        except IndexError:
            return False
        self._count -= 1
        return True
