"""Execution providers written in Python as a library that ORT can register."""

from __future__ import annotations

import ctypes
import re
from typing import Any

from ..core.marshal import string
from ..core.native import Native
from ..errors import InputError
from ..host.library import PluginLibrary
from ..locks import new_lock
from .ep import Ep
from .factory import Factory

__all__ = ["PythonPlugin", "python_plugin"]

#: What ORT takes for a version.
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)([-+][0-9A-Za-z.+-]+)?", re.ASCII)

_lock = new_lock()
_registered: set[PythonPlugin] = set()  # C points into these, so they live until they are closed


class PythonPlugin(PluginLibrary):
    """A library of execution providers written in Python. It serves one registration.

    Once ORT has loaded it, it lives until `close`: the caller may forget it before.
    """

    def __init__(self, *ep_classes: type[Ep]) -> None:
        self.ep_classes = ep_classes
        self._factories: dict[int, Factory] = {}
        super().__init__(self._make_factories, self._drop_factory)

    @property
    def in_use(self) -> bool:
        return any(factory.in_use for factory in list(self._factories.values()))

    def close(self) -> None:
        super().close()
        with _lock:
            _registered.discard(self)

    def _make_factories(
        self, native: Native, _name: bytes, _base: int, _logger: Any, out: Any, most: int, count: Any
    ) -> None:
        if self._factories:
            raise InputError("this library is registered already: make one for each registration")
        if len(self.ep_classes) > most:
            raise InputError(f"{len(self.ep_classes)} execution providers in one library: ORT takes {most}")
        try:
            for ep_class in self.ep_classes:
                factory = Factory(native, ep_class)
                self._factories[factory.address] = factory
        except BaseException:
            for at in list(self._factories):
                self._drop_factory(native, at)
            raise
        places = ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))
        for index, at in enumerate(self._factories):
            places[index] = at
        count[0] = len(self._factories)
        with _lock:
            _registered.add(self)

    def _drop_factory(self, _native: Native, address: int) -> None:
        factory = self._factories.pop(address, None)
        if factory is not None:
            factory.close()


def python_plugin(*ep_classes: type[Ep]) -> PluginLibrary:
    """A library of these execution providers: register its ``path``, then call ``loaded``, and ``close`` at the end.

    Raises:
        TypeError: something that is no subclass of `Ep`.
        InputError: a name, vendor or version that cannot be.
        HostError: not on this platform.
    """
    if not ep_classes:
        raise TypeError("a plugin needs at least one execution provider class")
    for ep_class in ep_classes:
        _check(ep_class)
    names = [ep_class.name for ep_class in ep_classes]
    if len(set(names)) < len(names):
        raise InputError(f"two execution providers of one name in a library: {', '.join(names)}")
    return PythonPlugin(*ep_classes)


def _check(ep_class: Any) -> None:
    if not isinstance(ep_class, type) or not issubclass(ep_class, Ep):
        raise TypeError(f"a plugin is made of subclasses of ortcache.ep.Ep, not of {ep_class!r}")
    for what in ("name", "vendor", "version"):
        text = string(getattr(ep_class, what), f"{ep_class.__name__}.{what}")
        if not text:
            raise InputError(f"{ep_class.__name__}.{what} is empty: set it in the class")
    if not _VERSION.fullmatch(ep_class.version):
        raise InputError(f"{ep_class.__name__}.version is {ep_class.version!r}: give major.minor.patch, such as 1.0.0")
    number = ep_class.vendor_id
    if not isinstance(number, int) or not 0 <= number < 1 << 32:
        raise InputError(f"{ep_class.__name__}.vendor_id is {number!r}: give a number of 32 bits, or 0")
