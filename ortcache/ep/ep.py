"""The base class of execution providers that are written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, Protocol

from ..api.device import HardwareDevice
from ..raw import OrtHardwareDeviceType
from ..support import CacheSupport
from .context import EpContext, RunInfo
from .graph import Graph, Node
from .kernel import KernelContext

__all__ = ["DeviceOffer", "Ep", "Kernel"]

#: What an execution provider says of a device that it can use: metadata, and the options that it takes there.
DeviceOffer = tuple[Mapping[str, str], Mapping[str, str]]


class Kernel(Protocol):
    """What runs in place of the nodes that were compiled together.

    It may also have ``create_state()``, whose result is `KernelContext.state` in each run of a session, and
    ``release_state(state)``; and ``ep_context()``, which gives bytes for the EPContext node that stands for it in a
    model that is compiled ahead. `Ep.get_capability` then finds such a node with the provider's name as its attribute
    ``source``, and the bytes are ``node.attributes.data("ep_cache_context")``.
    """

    def compute(self, context: KernelContext, /) -> None:
        """Read the inputs and write every output. Several threads may be in here at once."""


class Ep:
    """An execution provider. ORT makes one of each class for each session that uses it.

    A subclass says which nodes it takes and compiles them. Whatever a method raises becomes the failure of the call
    that the application made, and the ``__cause__`` of its OrtError.

    Attributes:
        name: under which ORT shows it, such as "MulExecutionProvider".
        vendor: who makes it.
        vendor_id: the vendor's PCI id, or 0.
        version: its version, as major.minor.patch: what is kept in a cache depends on it.
        cache_support: the directions in which it uses EP cache callbacks; a property may decide by the options.
        drop_constant_initializers: its kernels bring their own copies of constant initializers, so these are no inputs
            of theirs, and ORT may free its own.
        cache_read_limit: bytes of the largest value that it takes from a cache.
        cache_write_limit: bytes of the largest value that it puts there.
        context: what ORT said when it was made.
    """

    name: ClassVar[str] = ""
    vendor: ClassVar[str] = "unknown"
    vendor_id: ClassVar[int] = 0
    version: ClassVar[str] = "0.0.0"
    cache_support: CacheSupport | int = CacheSupport.NONE
    drop_constant_initializers: bool = False
    cache_read_limit: int = 1 << 30
    cache_write_limit: int = 1 << 30

    def __init__(self, context: EpContext) -> None:
        self.context = context
        context.cache.serve(self)

    @classmethod
    def supports(cls, device: HardwareDevice) -> DeviceOffer | None:
        """Can it use this device? None where not.

        It is asked once for each device, when it is registered. Tensors are in ordinary memory whatever the device.
        """
        return ({}, {}) if device.type == OrtHardwareDeviceType.OrtHardwareDeviceType_CPU else None

    def get_capability(self, graph: Graph) -> Iterable[Node | Iterable[Node]]:
        """Choose nodes: a node is compiled by itself, nodes in a list are compiled together.

        ORT asks for each graph and subgraph of a model, innermost first, and may ask more than once.
        """
        raise NotImplementedError(f"{type(self).__name__} must define get_capability")

    def compile(self, graph: Graph, node: Node) -> Kernel | Callable[[KernelContext], None]:
        """Make the kernel for nodes that were chosen together.

        Args:
            graph: those nodes as a graph of their own: its inputs and outputs are the kernel's, in their order.
            node: what stands for them in the model from now on.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compile")

    def on_run_start(self, run: RunInfo) -> None:
        """A run of the session begins."""

    def on_run_end(self, run: RunInfo) -> None:
        """A run of the session has ended."""

    def set_dynamic_options(self, options: Mapping[str, str]) -> None:
        """The application changes options while the session lives."""

    def close(self) -> None:
        """The session is gone, and ORT's log with it. Of a session that outlives the interpreter nobody is told."""
