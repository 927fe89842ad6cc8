"""What ORT sees of a class of execution providers: the functions of OrtEpFactory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from .. import raw
from ..api.device import HardwareDevice, read_hardware
from ..api.keyvalues import read_key_values, temporary_key_values
from ..core.marshal import string
from ..core.native import Native
from ..core.status import address
from ..errors import HostError
from ..host.attach import MINIMUM_HOST_VERSION, host_of, is_native
from ..host.sessions import EpSupport
from .cache import CacheFunctions, EpCache
from .context import EpContext
from .ep import Ep
from .instance import Instance
from .log import EpLogger
from .vtable import Functions, VTable

__all__ = ["Factory"]


class Factory:
    """One OrtEpFactory.

    Raises:
        HostError: this ORT's structs are older than the ones that the bindings have.
    """

    def __init__(self, native: Native, ep_class: type[Ep]) -> None:
        if native.library_api_version < MINIMUM_HOST_VERSION:
            raise HostError(
                f"execution providers in Python need ONNX Runtime 1.{MINIMUM_HOST_VERSION} or later, and the loaded "
                f"library is {native.description}. `pip install -U onnxruntime`"
            )
        self.native = native
        self.ep_class = ep_class
        self._host = None if is_native(native) else host_of(native)
        self._name, self._vendor, self._version = (
            ctypes.create_string_buffer(string(text)) for text in (ep_class.name, ep_class.vendor, ep_class.version)
        )
        self._instances: dict[int, Instance] = {}
        self._table = VTable(native, "OrtEpFactory", self, _FUNCTIONS)

    @property
    def address(self) -> int:
        """Where the OrtEpFactory is."""
        return self._table.address

    @property
    def in_use(self) -> bool:
        """Has ORT a provider of it?"""
        return bool(self._instances)

    def close(self) -> None:
        """ORT has released it."""
        self._table.close()

    # The functions of OrtEpFactory.

    def get_name(self) -> int:
        return ctypes.addressof(self._name)

    def get_vendor(self) -> int:
        return ctypes.addressof(self._vendor)

    def get_vendor_id(self) -> int:
        return self.ep_class.vendor_id

    def get_version(self) -> int:
        return ctypes.addressof(self._version)

    def get_supported_devices(self, devices: Any, count: int, out: Any, most: int, made: Any) -> None:
        made[0] = 0
        offered: list[Any] = []
        try:
            for index in range(count):
                offer = self._offer(read_hardware(self.native, devices[index]))
                if offer is not None and len(offered) < most:
                    offered.append(self._ep_device(devices[index], *offer))
        except BaseException:
            for device in offered:
                self.native.api.ReleaseEpDevice(device)
            raise
        for index, device in enumerate(offered):
            out[index] = device
        made[0] = len(offered)

    def create_ep(self, devices: Any, metadata: Any, count: int, options: Any, logger: Any, out: Any) -> None:
        config = self._config(options)
        prefix = f"ep.{self.ep_class.name.lower()}."
        log = EpLogger(self.native, logger)
        context = EpContext(
            native=self.native,
            devices=tuple(read_hardware(self.native, devices[i]) for i in range(count)),
            metadata=tuple(read_key_values(self.native, metadata[i]) for i in range(count)),
            options={key[len(prefix) :]: value for key, value in config.items() if key.startswith(prefix)},
            config=config,
            log=log,
            cache=EpCache(self.native, self._functions(options, log), log),
        )
        instance = Instance(self.native, self.ep_class, context)
        if self._host is not None:
            flags = int(instance.flags)
            self._host.proposal.add_ep(EpSupport(self.ep_class.name, lambda: flags), options)
        self._instances[instance.address] = instance
        ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = instance.address

    def release_ep(self, ep: Any) -> None:
        instance = self._instances.pop(address(ep) or 0, None)
        if instance is not None:
            instance.close()

    def create_allocator(self, _memory_info: Any, _options: Any, out: Any) -> None:
        ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = None  # none of its own

    def release_allocator(self, _allocator: Any) -> None:
        """There are none."""

    def create_data_transfer(self, out: Any) -> None:
        ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = None  # ordinary memory needs none

    def is_stream_aware(self) -> bool:
        return False

    def _offer(self, device: HardwareDevice) -> tuple[Mapping[str, str], Mapping[str, str]] | None:
        offer = self.ep_class.supports(device)
        if offer is None:
            return None
        if not (isinstance(offer, tuple) and len(offer) == 2 and all(isinstance(part, Mapping) for part in offer)):
            raise TypeError(
                f"{self.ep_class.__name__}.supports must give None or two dicts (metadata, options), not "
                f"{type(offer).__name__}"
            )
        return offer

    def _ep_device(self, hardware: Any, metadata: Mapping[str, str], options: Mapping[str, str]) -> Any:
        device = ctypes.POINTER(raw.OrtEpDevice)()
        this = ctypes.cast(self.address, ctypes.POINTER(raw.OrtEpFactory))
        with (
            temporary_key_values(self.native, metadata) as entries,
            temporary_key_values(self.native, options) as defaults,
        ):
            self.native.api.CreateEpDevice(this, hardware, entries, defaults, ctypes.byref(device))
        return device

    def _config(self, options: Any) -> dict[str, str]:
        out = ctypes.POINTER(raw.OrtKeyValuePairs)()
        self.native.api.GetSessionOptionsConfigEntries(options, ctypes.byref(out))
        try:
            return read_key_values(self.native, out)
        finally:
            self.native.api.ReleaseKeyValuePairs(out)

    def _functions(self, options: Any, log: EpLogger) -> CacheFunctions:
        """The EP cache functions of the session options; what they need is held by what this gives."""
        read, write, state = raw.OrtReadNamedBufferFunc(), raw.OrtWriteNamedBufferFunc(), ctypes.c_void_p()
        try:
            entry = self._host.proposal.find(options) if self._host else None
            get = self.native.api.SessionOptionsGetEpCacheDataFuncs
            get(options, ctypes.byref(read), ctypes.byref(write), ctypes.byref(state))
        except Exception as error:  # a cache fault never breaks a session
            log.warning("EP cache: the functions that were set cannot be used: %s", error)
            return CacheFunctions()
        return CacheFunctions(read, write, state.value, entry)


_FUNCTIONS: Functions = {
    "GetName": Factory.get_name,
    "GetVendor": Factory.get_vendor,
    "GetVendorId": Factory.get_vendor_id,
    "GetVersion": Factory.get_version,
    "GetSupportedDevices": Factory.get_supported_devices,
    "CreateEp": Factory.create_ep,
    "ReleaseEp": Factory.release_ep,
    "CreateAllocator": Factory.create_allocator,
    "ReleaseAllocator": Factory.release_allocator,
    "CreateDataTransfer": Factory.create_data_transfer,
    "IsStreamAware": Factory.is_stream_aware,
}
