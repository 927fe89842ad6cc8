"""The execution provider that ``warm`` names: one in the library, a plugin, or one written in Python."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..scope import Scope
from .warm_job import Job, UsageError

__all__ = ["Provider", "find_provider", "short_name"]

#: The providers that come with ortcache.
_OURS = {"mul": "ortcache.ep.mul:MulEp"}


@dataclass(frozen=True)
class Provider:
    """An execution provider that can be appended to session options.

    Attributes:
        name: such as "OpenVINOExecutionProvider".
        version: its own, where it says one; one that is in the library has the library's.
        device: which of its devices, in words; None for one that is in the library.
        devices: the `EpDevice` to append; none for one that is in the library.
    """

    name: str
    version: str | None = None
    device: str | None = None
    devices: tuple[Any, ...] = ()

    def scope(self, runtime: Any, job: Job) -> Scope:
        """What a cached value depends on: what an application can name in the same way."""
        parts = {"model": job.model, "ort_version": runtime.version, "options": job.options, "extra": job.extra}
        return Scope.of_device(self.devices[0], **parts) if self.devices else Scope.of(ep=self.name, **parts)

    def append(self, options: Any, settings: Mapping[str, str]) -> None:
        """Append it with its own options."""
        if self.devices:
            options.append_ep(self.devices, settings)
        else:
            options.append_provider(self.name, settings)


def find_provider(runtime: Any, name: str, library: str | None, device: int | None) -> Provider:
    """Register it where that is needed.

    Args:
        name: of a provider in the library or the plugin, or ``module:Class`` for one written in Python.
        library: the plugin's file; None: that of an installed package, for a provider that the library has not.
        device: which of its devices; None for the first one.

    Raises:
        InputError: there is no such provider, or no such device.
        HostError: it is written in Python, and this platform is not covered.
        OrtError: the plugin refuses.
    """
    if library is not None:
        return _registered(runtime, name, device, library)
    path = name if ":" in name else _OURS.get(short_name(name))
    if path is not None:
        ep = _ep_class(path)
        return _plugin(runtime.register_ep(ep), ep.name, device, path)
    built_in = runtime.providers()
    found = next((full for full in built_in if short_name(full) == short_name(name)), None)
    if found is None:
        library = _installed_plugin(short_name(name))
        if library is not None:
            return _registered(runtime, name, device, library)
        raise InputError(
            f"this ONNX Runtime was not built with {name!r}; it has {', '.join(built_in)}. Name a plugin's file with "
            "--ep-library, or a class written in Python as module:Class"
        )
    if device is not None:
        raise UsageError(f"--device chooses among a plugin's devices; {found} takes its device as an --option")
    return Provider(found)


def _registered(runtime: Any, name: str, device: int | None, library: str) -> Provider:
    return _plugin(runtime.register_ep_library("ortcache warm", library), name, device, library)


def _installed_plugin(short: str) -> str | None:
    """The library of the package onnxruntime-ep-NAME, where that is installed. Such packages say where theirs is."""
    module = f"onnxruntime_ep_{short}"
    if not short.isidentifier() or importlib.util.find_spec(module) is None:
        return None
    return str(importlib.import_module(module).get_library_path())


def _plugin(offered: list[Any], name: str, number: int | None, source: str) -> Provider:
    mine = [device for device in offered if short_name(device.ep_name) == short_name(name)]
    if not mine:
        names = sorted({device.ep_name for device in offered})
        what = f"offers {', '.join(names)}" if names else "offers no device on this machine"
        raise InputError(f"{source} {what}, and so not {name}")
    if not 0 <= (number or 0) < len(mine):
        raise UsageError(f"{mine[0].ep_name} offers {len(mine)} devices: --device is 0 to {len(mine) - 1}")
    device = mine[number or 0]
    hardware = device.device
    kind = getattr(hardware.type, "name", str(hardware.type)).rpartition("_")[2]
    words = " ".join(part for part in (hardware.vendor, kind) if part)
    return Provider(device.ep_name, device.ep_metadata.get("version"), words, (device,))


def _ep_class(path: str) -> Any:
    from ..ep import Ep

    module, _, attribute = path.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(
            f"{path} cannot be imported ({error}): the module must be where Python looks, see PYTHONPATH"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Ep)):
        raise InputError(f"{path} is no subclass of ortcache.ep.Ep")
    return found


def short_name(name: str) -> str:
    """A provider's name without what they all end in, in lower case."""
    return name.lower().removesuffix("executionprovider")
