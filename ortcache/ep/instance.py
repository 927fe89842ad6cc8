"""What ORT sees of one execution provider: the functions of OrtEp, over an `Ep`."""

from __future__ import annotations

import contextlib
import ctypes
import logging
from collections.abc import Iterable
from typing import Any

from .. import raw
from ..core.native import Native
from ..core.status import address
from ..errors import InputError
from ..host.sessions import EpSupport
from ..support import CacheSupport
from .computation import Computation
from .context import EpContext, RunInfo
from .ep import Ep
from .ep_context import ep_context_node, wants_ep_contexts
from .graph import Graph, Node
from .view import Scope, decode
from .vtable import VTable, struct_version, targets

__all__ = ["Instance", "instances", "support_flags"]

_log = logging.getLogger("ortcache.ep")

_ONE_GRAPH = 23  # the last API version whose library compiles nodes of one graph of a model only


class Instance:
    """One OrtEp.

    Raises:
        InputError: the `Ep` says that it supports what is not known.
    """

    def __init__(self, native: Native, ep_class: type[Ep], context: EpContext) -> None:
        self.native = native
        self.ep_name = ctypes.create_string_buffer(ep_class.name.encode())
        self.ep = ep_class(context)
        self.context = context
        context.cache.serve(self.ep)  # a subclass may not have called Ep's __init__
        try:
            self.flags = support_flags(self.ep)
        except BaseException:
            self._close_ep()
            raise
        self._computations: dict[int, Computation] = {}
        self._graph: tuple[str, tuple[str, ...]] | None = None  # the first that nodes were taken from
        self._failure: BaseException | None = None  # what get_capability raised
        self._table = VTable(native, "OrtEp", self, _functions(ep_class))

    @property
    def address(self) -> int:
        """Where the OrtEp is."""
        return self._table.address

    def close(self) -> None:
        """ORT has released it, and its logger may be gone already."""
        self.quiet()
        self._close_ep()
        self.context.cache.close()
        self._table.close()
        self._failure = None  # it leads to frames, and these to this

    def _close_ep(self) -> None:
        try:
            self.ep.close()
        except BaseException as error:
            with contextlib.suppress(BaseException):
                _log.error("closing %s failed", type(self.ep).__name__, exc_info=error)

    def quiet(self) -> None:
        """Something is being released, so the session is going: no word to its logger from now on."""
        self.context.log.close()

    # The functions of OrtEp.

    def get_name(self) -> int:
        return ctypes.addressof(self.ep_name)

    def get_capability(self, graph: Any, info: Any) -> None:
        with Scope(self.native) as scope:
            view = scope.view(Graph, graph)
            try:
                groups = _groups(type(self.ep).__name__, self.ep.get_capability(view), scope)
            except BaseException as error:
                # ORT logs a failure here, and goes on without the provider. It comes to `compile` for what is claimed.
                groups = [[node] for node in view.nodes if not node.ep_name][:1]
                if not groups:
                    raise
                self._failure = error
            if groups and not self._may_take_from(view):
                return
            options = raw.OrtNodeFusionOptions()
            options.ort_version_supported = struct_version(self.native)
            options.drop_constant_initializers = bool(self.ep.drop_constant_initializers)
            for group in groups:
                nodes = (ctypes.POINTER(raw.OrtNode) * len(group))(*[node._pointer for node in group])
                add = self.native.api.EpGraphSupportInfo_AddNodesToFuse
                add(info, nodes, len(group), ctypes.byref(options))

    def _may_take_from(self, graph: Graph) -> bool:
        """ONNX Runtime 1.23 gives what is compiled in two graphs of a model the same name, and then fails."""
        this = graph.name, tuple(value.name for value in graph.outputs)
        if self._graph is None:
            self._graph = this
        if self._graph == this or self.native.library_api_version > _ONE_GRAPH:
            return True
        self.context.log.warning(
            "%s takes no nodes of the graph %r: it has some of %r, and %s cannot tell the two apart. "
            "Install onnxruntime>=1.%d.",
            self.ep.name, graph.name, self._graph[0], self.native.description, _ONE_GRAPH + 1,
        )  # fmt: skip
        return False

    def compile(self, graphs: Any, nodes: Any, count: int, infos: Any, context_nodes: Any) -> None:
        failure, self._failure = self._failure, None  # its frames may lead to the session, and that has this
        try:
            if failure is not None:
                raise failure
        finally:
            del failure
        ahead = wants_ep_contexts(self.context.config)
        made: list[Computation] = []
        contexts: list[Any] = []
        try:
            for index in range(count):
                with Scope(self.native) as scope:
                    node, graph = scope.view(Node, nodes[index]), scope.view(Graph, graphs[index])
                    kernel = self.ep.compile(graph, node)
                    tensors = frozenset(i for i, value in enumerate(graph.inputs) if value.is_tensor)
                    made.append(Computation(self.native, kernel, node.name, tensors, self.context.log, self.quiet))
                    if ahead:
                        contexts.append(ep_context_node(self.native, kernel, node, self.ep.name, self.ep.version))
        except BaseException:
            for computation in made:
                computation.close()
            for context in contexts:
                self.native.api.ReleaseNode(context)
            raise
        places = ctypes.cast(infos, ctypes.POINTER(ctypes.c_void_p))
        for index, computation in enumerate(made):
            self._computations[computation.address] = computation
            places[index] = computation.address
        for index, context in enumerate(contexts):
            context_nodes[index] = context

    def release_node_compute_infos(self, infos: Any, count: int) -> None:
        self.quiet()
        for index in range(count):
            computation = self._computations.pop(address(infos[index]) or 0, None)
            if computation is not None:
                computation.close()

    def set_dynamic_options(self, keys: Any, values: Any, count: int) -> None:
        self.ep.set_dynamic_options({decode(keys[i]): decode(values[i]) for i in range(count)})

    def on_run_start(self, run_options: Any) -> None:
        with Scope(self.native) as scope:
            self.ep.on_run_start(scope.view(RunInfo, run_options))

    def on_run_end(self, run_options: Any, _sync_stream: bool) -> None:
        with Scope(self.native) as scope:
            self.ep.on_run_end(scope.view(RunInfo, run_options))

    def get_cache_support(self, flags: Any) -> None:
        flags[0] = int(self.flags)


_ALWAYS = {
    "GetName": Instance.get_name,
    "GetCapability": Instance.get_capability,
    "Compile": Instance.compile,
    "ReleaseNodeComputeInfos": Instance.release_node_compute_infos,
}

#: What is NULL where a subclass of `Ep` does not override it.
_OPTIONAL = {
    "set_dynamic_options": ("SetDynamicOptions", Instance.set_dynamic_options),
    "on_run_start": ("OnRunStart", Instance.on_run_start),
    "on_run_end": ("OnRunEnd", Instance.on_run_end),
    "cache_support": ("GetEpCacheDataCallbackSupport", Instance.get_cache_support),
}


def instances(ep_class: type[Ep] = Ep) -> list[Ep]:
    """The execution providers of a class that sessions of this process have now."""
    return [instance.ep for instance in targets("OrtEp") if isinstance(instance.ep, ep_class)]


def support_flags(ep: Ep) -> CacheSupport:
    """What an `Ep` says that it supports.

    Raises:
        TypeError: it is no flag.
        InputError: it has bits that mean nothing.
    """
    value = ep.cache_support
    if not isinstance(value, int):
        raise TypeError(f"{type(ep).__name__}.cache_support must be a CacheSupport, not {type(value).__name__}")
    return CacheSupport(EpSupport(ep.name, lambda: int(value)).checked())


def _functions(ep_class: type[Ep]) -> dict[str, Any]:
    own = [pair for name, pair in _OPTIONAL.items() if getattr(ep_class, name) is not getattr(Ep, name)]
    return {**_ALWAYS, **dict(own)}


def _groups(name: str, chosen: Any, scope: Scope) -> list[list[Node]]:
    """What `Ep.get_capability` gave, checked."""
    if isinstance(chosen, (str, bytes, Node)) or not isinstance(chosen, Iterable):
        raise TypeError(f"{name}.get_capability must give a list of nodes and lists of nodes, not {_kind(chosen)}")
    groups, taken = [], set()
    for item in chosen:
        group = [item] if isinstance(item, Node) else item
        if isinstance(group, (str, bytes)) or not isinstance(group, Iterable):
            raise TypeError(f"{name}.get_capability gave {_kind(group)} among the nodes")
        nodes = list(group)
        for node in nodes:
            if not isinstance(node, Node):
                raise TypeError(f"{name}.get_capability gave {_kind(node)} among the nodes")
            if node._scope is not scope:
                raise InputError(f"{name}.get_capability gave a node of another graph or call")
            if node in taken:
                raise InputError(f"{name}.get_capability gave {node} twice")
            taken.add(node)
        if nodes:
            groups.append(nodes)
    return groups


def _kind(value: object) -> str:
    return "None" if value is None else type(value).__name__
