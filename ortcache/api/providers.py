"""Execution providers that the library was built with: their names, and what each needs to be appended."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any

from .. import raw
from ..core.marshal import key_values
from ..core.native import Native
from ..errors import InputError, OrtError

__all__ = ["append_provider", "available_providers"]

#: Providers with an options object of their own: its name in the C functions, and the function that appends it.
_WITH_OBJECT = {
    "CUDAExecutionProvider": ("CUDA", "OrtCUDAProviderOptionsV2", "CUDA_V2"),
    "TensorrtExecutionProvider": ("TensorRT", "OrtTensorRTProviderOptionsV2", "TensorRT_V2"),
    "ROCMExecutionProvider": ("ROCM", "OrtROCMProviderOptions", "ROCM"),
    "CANNExecutionProvider": ("CANN", "OrtCANNProviderOptions", "CANN"),
    "DnnlExecutionProvider": ("Dnnl", "OrtDnnlProviderOptions", "Dnnl"),
}
#: Providers with a function of their own that takes keys and values.
_WITH_FUNCTION = {"OpenVINOExecutionProvider": "OpenVINO_V2", "VitisAIExecutionProvider": "VitisAI"}
#: From these versions on the general function takes full names, and these providers.
_GENERAL_TAKES_FULL_NAMES = 22
_GENERAL_TAKES_MIGRAPHX = 23
_GENERAL_TAKES_CPU = 27


def available_providers(native: Native) -> list[str]:
    """The names of the execution providers that this library was built with, best first."""
    out, count = ctypes.POINTER(ctypes.POINTER(ctypes.c_char))(), ctypes.c_int()
    native.api.GetAvailableProviders(ctypes.byref(out), ctypes.byref(count))
    try:
        return [ctypes.string_at(out[i]).decode("utf-8", "replace") for i in range(count.value)]
    finally:
        native.api.ReleaseAvailableProviders(out, count)


def append_provider(native: Native, options: Any, name: str, settings: Mapping[str, object] | None) -> str:
    """Append a provider to an OrtSessionOptions; the first one appended comes first.

    Args:
        options: the OrtSessionOptions.
        name: such as "CUDAExecutionProvider", or just "CUDA".
        settings: the provider's own options.

    Returns:
        Its full name.

    Raises:
        InputError: the library was not built with it.
        OrtError: it does not take the settings, or what it needs is not on this machine.
    """
    full = _full_name(native, name)
    try:
        _append(native, options, full, settings)
    except OrtError as error:  # such as "Failed to load shared library", whatever it was
        error.add_note(
            f"This was {full} of {native.description} with the options {dict(settings or {})}. What was logged before "
            'it, by the logger "onnxruntime", may say more.'
        )
        raise
    return full


def _append(native: Native, options: Any, full: str, settings: Mapping[str, object] | None) -> None:
    arguments = key_values(settings, f"option of {full}")
    append = "SessionOptionsAppendExecutionProvider"
    if full in _WITH_OBJECT:
        _append_object(native, options, full, arguments)
    elif full in _WITH_FUNCTION:
        getattr(native.api, f"{append}_{_WITH_FUNCTION[full]}")(options, *arguments)
    elif full == "MIGraphXExecutionProvider" and native.library_api_version < _GENERAL_TAKES_MIGRAPHX:
        native.api.SessionOptionsAppendExecutionProvider_MIGraphX(options, ctypes.byref(_migraphx(settings or {})))
    elif full == "CPUExecutionProvider" and native.library_api_version < _GENERAL_TAKES_CPU:
        _append_cpu(native, options, settings)
    else:
        short = full.removesuffix("ExecutionProvider").upper()
        taken = full if native.library_api_version >= _GENERAL_TAKES_FULL_NAMES else short
        native.api.SessionOptionsAppendExecutionProvider(options, taken.encode(), *arguments)


def _full_name(native: Native, name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"an execution provider is named by a str, not {type(name).__name__}")
    available = available_providers(native)
    wanted = name.lower().removesuffix("executionprovider")
    for full in available:
        if full.lower().removesuffix("executionprovider") == wanted:
            return full
    raise InputError(
        f"{native.description} was not built with an execution provider {name!r}; it has {', '.join(available)}. "
        "One that a plugin library brings is appended by its devices: append_ep(devices)"
    )


def _append_object(native: Native, options: Any, full: str, arguments: tuple[Any, Any, int]) -> None:
    kind, struct, append = _WITH_OBJECT[full]
    api, own = native.api, ctypes.POINTER(getattr(raw, struct))()
    getattr(api, f"Create{kind}ProviderOptions")(ctypes.byref(own))
    try:
        if arguments[2]:
            getattr(api, f"Update{kind}ProviderOptions")(own, *arguments)
        getattr(api, f"SessionOptionsAppendExecutionProvider_{append}")(options, own)
    finally:
        getattr(api, f"Release{kind}ProviderOptions")(own)


def _migraphx(settings: Mapping[str, object]) -> Any:
    """The plain struct that libraries take whose general function does not know MIGraphX."""
    struct = raw.OrtMIGraphXProviderOptions()
    fields: dict[str, Any] = {field[0]: field[1] for field in struct._fields_}
    for name, value in settings.items():
        if name not in fields:
            raise InputError(f"MIGraphXExecutionProvider has no option {name!r}; it has {', '.join(fields)}")
        text = fields[name] is ctypes.c_char_p
        setattr(struct, name, str(value).encode() if text else int(value))  # type: ignore[call-overload]
    return struct


def _append_cpu(native: Native, options: Any, settings: Mapping[str, object] | None) -> None:
    """Older libraries export a function for it, outside the tables."""
    if settings:
        raise InputError(f"CPUExecutionProvider takes no options in {native.description}")
    if native.choice is None:
        raise InputError(f"{native.description} appends CPUExecutionProvider by itself, after all others")
    append = ctypes.CDLL(os.fspath(native.choice.path)).OrtSessionOptionsAppendExecutionProvider_CPU
    append.argtypes = [ctypes.POINTER(raw.OrtSessionOptions), ctypes.c_int]
    append.restype = ctypes.POINTER(raw.OrtStatus)
    status = append(options, 1)
    if status:
        raise native.statuses.error(status, append.__name__)
