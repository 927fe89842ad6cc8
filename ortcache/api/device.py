"""Execution providers' devices, and the plugin libraries that bring them.

A device belongs to the environment and is gone with the library that offered it. ORT checks neither, so it is done
here: a device that is gone raises, and a library whose devices a session uses is not unregistered.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import raw
from ..core.elf import truncation
from ..core.handle import Handle
from ..core.marshal import path_argument, string
from ..core.native import Native
from ..core.status import address
from ..errors import ClosedError, InputError, OrtcacheError, UnsupportedFunctionError
from ..locks import new_lock
from .env import Environment
from .keyvalues import read_key_values

__all__ = [
    "DeviceUse",
    "EpDevice",
    "HardwareDevice",
    "devices_at",
    "ep_devices",
    "plugin_file",
    "read_hardware",
    "register_ep_library",
    "unregister_ep_library",
]


#: What a plugin fills in got its present form then.
_PLUGINS_SINCE = 23


@dataclass(frozen=True)
class HardwareDevice:
    """A piece of hardware: its OrtHardwareDeviceType, and what it says of itself."""

    type: int
    vendor: str
    vendor_id: int
    device_id: int
    metadata: dict[str, str]


class EpDevice(Handle):
    """An execution provider on a device. `ep_devices` gives them; they are not made or closed by the user.

    Attributes:
        ep_name: such as "CPUExecutionProvider".
        ep_vendor: who made the provider.
        ep_metadata: what else the provider says of itself, such as its version.
        ep_options: the options that it takes by itself on this device.
        device: the hardware.
    """

    def __init__(self, env: Environment, pointer: Any) -> None:
        api = self._read(env.native, pointer)
        self.device = read_hardware(env.native, api.EpDevice_Device(pointer))
        super().__init__(pointer, None, parents=[env])

    def _read(self, native: Native, pointer: Any) -> Any:
        api = native.api
        self.native = native
        self.ep_name = _text(api.EpDevice_EpName(pointer))
        self.ep_vendor = _text(api.EpDevice_EpVendor(pointer))
        self.ep_metadata = read_key_values(native, api.EpDevice_EpMetadata(pointer))
        self.ep_options = read_key_values(native, api.EpDevice_EpOptions(pointer))
        return api

    @property
    def _pointer(self) -> Any:
        if self._closed:
            raise self._gone()
        return self._record.pointer

    def _enter(self) -> Any:
        with _lock:  # no library goes between the question and the call
            if self._closed:
                raise self._gone()
            return super()._enter()

    def _gone(self) -> ClosedError:
        return ClosedError(
            f"this device of {self.ep_name} is gone with the library that offered it: register the library again and "
            "take a device from what that gives, or from ep_devices()"
        )

    def __repr__(self) -> str:
        kind = getattr(self.device.type, "name", str(self.device.type)).rpartition("_")[2]
        return f"<ortcache.EpDevice {self.ep_name} on {self.device.vendor or 'unknown'} {kind}>"


class DeviceUse:
    """Says that devices are in use, until it is closed or nobody holds it any more.

    Raises:
        ClosedError: one of them is gone.
    """

    def __init__(self, devices: Iterable[EpDevice]) -> None:
        entered: list[EpDevice] = []
        self.close = weakref.finalize(self, _leave, entered)
        self.close.atexit = False  # a session that goes on then must not lose its library
        try:
            for device in devices:
                device._enter()
                entered.append(device)
        except ClosedError:
            self.close()
            raise


@dataclass
class _Known:
    """What is known of one OrtEnv's devices, by address."""

    wrappers: weakref.WeakValueDictionary[int, EpDevice] = field(default_factory=weakref.WeakValueDictionary)
    libraries: dict[str, set[int]] = field(default_factory=dict)


_lock = new_lock()
_known: dict[int, _Known] = {}  # by the OrtEnv's address: several environments may share one


def ep_devices(env: Environment) -> list[EpDevice]:
    """The devices that the execution providers of an environment offer; the same objects as long as they are there."""
    with _lock:
        return list(_current(env).values())


def register_ep_library(env: Environment, name: str, path: str | os.PathLike[Any]) -> list[EpDevice]:
    """Load a plugin execution provider's library.

    Args:
        name: under which it is unregistered again; a provider's own name may be another.
        path: the library; a relative one from the working directory, else from the folder of ONNX Runtime's library.

    Returns:
        The devices that it offers; none where the machine has nothing that it can use.

    Raises:
        InputError: there is no such file, or it is truncated; the name is empty.
        OrtError: it is no plugin, or was built for another ONNX Runtime; the name is taken.
        UnsupportedFunctionError: the library is older than 1.23.
    """
    key = string(name, "registration name")
    if not key:
        raise InputError("the registration name is empty")
    _addresses(env)  # an older library does not have devices, and says so
    if env.native.library_api_version < _PLUGINS_SINCE:
        raise UnsupportedFunctionError(
            f"plugin execution providers need ONNX Runtime 1.{_PLUGINS_SINCE} or later; {env.native.description} would "
            f"misread what today's are made of. Install onnxruntime>=1.{_PLUGINS_SINCE}."
        )
    file = path_argument(plugin_file(env.native, path))
    with _lock:
        before = set(_current(env))
        env.native.api.RegisterExecutionProviderLibrary(env, key, file)
        new = {at: device for at, device in _current(env).items() if at not in before}
        _of(env).libraries[name] = set(new)
        return list(new.values())


def unregister_ep_library(env: Environment, name: str) -> None:
    """Unload a plugin library. Its devices are gone: each use of one raises.

    Raises:
        OrtcacheError: a session still uses a device of it.
        OrtError: no library has that name.
    """
    with _lock:
        known = _of(env)
        devices = [known.wrappers[at] for at in known.libraries.get(name, ()) if at in known.wrappers]
        users = sum(len(device._users) for device in devices)
        if users:
            raise OrtcacheError(f"the execution provider library {name!r} is in use: close the sessions over it first")
        del devices
        try:
            env.native.api.UnregisterExecutionProviderLibrary(env, string(name, "registration name"))
            known.libraries.pop(name, None)
        finally:
            left = _addresses(env)
            for at, device in list(known.wrappers.items()):
                if at not in left:
                    device.close()
                    known.wrappers.pop(at, None)


def devices_at(env: Environment, pointers: Iterable[Any]) -> list[EpDevice]:
    """The devices that ORT names by these pointers."""
    with _lock:
        current = _current(env)
        return [current[address(pointer) or 0] for pointer in pointers]


def _of(env: Environment) -> _Known:
    return _known.setdefault(address(env._pointer) or 0, _Known())


def _addresses(env: Environment) -> dict[int, Any]:
    out, count = ctypes.POINTER(ctypes.POINTER(raw.OrtEpDevice))(), ctypes.c_size_t()
    env.native.api.GetEpDevices(env, ctypes.byref(out), ctypes.byref(count))
    # A copy of each pointer: what is indexed out of the array is a view into it, and the array is ORT's.
    pointers = [ctypes.cast(out[i], ctypes.POINTER(raw.OrtEpDevice)) for i in range(count.value)]
    return {address(pointer) or 0: pointer for pointer in pointers}


def _current(env: Environment) -> dict[int, EpDevice]:
    wrappers = _of(env).wrappers
    found = {}
    for at, pointer in _addresses(env).items():
        found[at] = wrappers.get(at) or EpDevice(env, pointer)
        wrappers[at] = found[at]
    return found


def read_hardware(native: Native, device: Any) -> HardwareDevice:
    """What an OrtHardwareDevice says of itself."""
    api = native.api
    return HardwareDevice(
        type=api.HardwareDevice_Type(device),
        vendor=_text(api.HardwareDevice_Vendor(device)),
        vendor_id=api.HardwareDevice_VendorId(device),
        device_id=api.HardwareDevice_DeviceId(device),
        metadata=read_key_values(native, api.HardwareDevice_Metadata(device)),
    )


def plugin_file(native: Native, path: str | os.PathLike[Any]) -> Path:
    """A plugin library's absolute path. A relative one is looked for here first; ORT looks beside its own library only.

    Raises:
        InputError: there is no such file, or it is truncated.
    """
    file = Path(os.fsdecode(path_argument(path, "library path")))
    places = [file.absolute()]
    if not file.is_absolute() and native.choice:
        places.append(native.choice.path.parent / file)
    found = next((place for place in places if place.exists()), None)
    if found is None:
        raise InputError(f"there is no execution provider library {' or '.join(map(str, places))}")
    damage = truncation(found)
    if damage:
        raise InputError(f"{found}: {damage}")
    return found


def _leave(devices: list[EpDevice]) -> None:
    while devices:
        devices.pop()._leave()


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
