"""The hardware that ORT offers to an execution provider."""

from __future__ import annotations

from typing import Any

from ..api.device import HardwareDevice
from ..api.keyvalues import read_key_values
from ..core.native import Native
from .view import decode

__all__ = ["read_hardware"]


def read_hardware(native: Native, pointer: Any) -> HardwareDevice:
    """What an OrtHardwareDevice says of itself."""
    api = native.api
    return HardwareDevice(
        type=api.HardwareDevice_Type(pointer),
        vendor=decode(api.HardwareDevice_Vendor(pointer)),
        vendor_id=api.HardwareDevice_VendorId(pointer),
        device_id=api.HardwareDevice_DeviceId(pointer),
        metadata=read_key_values(native, api.HardwareDevice_Metadata(pointer)),
    )
