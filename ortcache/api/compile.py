"""Ahead-of-time compilation: a model to one whose compiled parts are EPContext nodes."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Iterator
from typing import Any

from .. import raw
from ..core.callbacks import Token, status_callback, target
from ..core.marshal import path_argument
from ..core.native import Native
from ..core.table import Table
from ..errors import InputError
from .env import Environment
from .initializer_location import LocationFunction, Locator, locate
from .options import SessionOptions
from .settings import count, flag, member

__all__ = ["compile_model"]

#: Gets the compiled model piece by piece, in order.
WriteFunction = Callable[[bytes], object]


def compile_model(
    env: Environment,
    model: str | os.PathLike[Any] | bytes | bytearray | memoryview,
    options: SessionOptions,
    output: str | os.PathLike[Any] | WriteFunction | None = None,
    *,
    embed_ep_context: bool | None = None,
    flags: int = 0,
    graph_optimization_level: int | str | None = None,
    external_initializers: str | os.PathLike[Any] | None = None,
    external_initializers_threshold: int = 1024,
    initializer_location: LocationFunction | None = None,
    ep_context_directory: str | os.PathLike[Any] | None = None,
    ep_context_name: str | None = None,
    weightless: bool | None = None,
) -> bytes | None:
    """Compile a model with the execution providers of session options.

    Args:
        model: a path, or the model's bytes.
        options: the session options; a copy is taken.
        output: a path to write to; a function that gets the bytes piece by piece; None: they are returned.
        embed_ep_context: put the provider's data into the model, not into files beside it.
        flags: OrtCompileApiFlags.
        graph_optimization_level: as `SessionOptions.graph_optimization_level`; ORT's default here is "disable_all".
        external_initializers: a file for the initializers that are larger than ``external_initializers_threshold``
            bytes and of nodes that were not compiled.
        initializer_location: a function that says of each initializer where it was put instead.
        ep_context_directory: with ``ep_context_name``: where the provider's files go, and what their names begin with,
            where neither the model nor the output has a path.
        weightless: leave the weights out of what the provider compiles (since 1.29).

    Returns:
        The compiled model, or None where ``output`` got it.

    Raises:
        UnsupportedFunctionError: the library is older than 1.22, or than a setting that was given.
        OrtError: ORT cannot load or compile the model. If a function raised, its exception is the ``__cause__``.
        InputError: a value that cannot be.
    """
    api = env.native.table("OrtCompileApi")
    if external_initializers is not None and initializer_location is not None:
        raise InputError("give either a file for external initializers or a function for their locations, not both")
    if (ep_context_directory is None) != (ep_context_name is None):
        raise InputError("ep_context_directory and ep_context_name belong together")
    with _compilation(env, options, api) as pointer, contextlib.ExitStack() as until_done:
        keep = _set_input(api, pointer, model)
        if embed_ep_context is not None:
            api.ModelCompilationOptions_SetEpContextEmbedMode(pointer, flag(embed_ep_context, "embed_ep_context"))
        if flags:
            api.ModelCompilationOptions_SetFlags(pointer, _flags(flags))
        if graph_optimization_level is not None:
            level = member(raw.GraphOptimizationLevel)(graph_optimization_level, "graph_optimization_level")
            api.ModelCompilationOptions_SetGraphOptimizationLevel(pointer, level)
        if external_initializers is not None:
            file = path_argument(external_initializers, "external_initializers")
            threshold = count(external_initializers_threshold, "external_initializers_threshold")
            api.ModelCompilationOptions_SetOutputModelExternalInitializersFile(pointer, file, threshold)
        if initializer_location is not None:
            locator = until_done.enter_context(contextlib.closing(Token(Locator(env.native, initializer_location))))
            callback = status_callback(env.native, "OrtGetInitializerLocationFunc", locate)
            set_location = api.ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc
            set_location(pointer, callback, locator.value)
        if ep_context_directory is not None and ep_context_name is not None:
            folder = os.path.join(os.fspath(ep_context_directory), "")  # noqa: PTH118  ORT takes no folder without it
            names = path_argument(folder, "ep_context_directory"), path_argument(ep_context_name, "ep_context_name")
            api.ModelCompilationOptions_SetEpContextBinaryInformation(pointer, *names)
        if weightless is not None:
            api.ModelCompilationOptions_SetWeightlessEnabled(pointer, flag(weightless, "weightless"))
        result = _compile(env, api, pointer, output)
        del keep
        return result


@contextlib.contextmanager
def _compilation(env: Environment, options: SessionOptions, api: Table) -> Iterator[Any]:
    """An OrtModelCompilationOptions; what the session options point into stays until it is released."""
    out, kept = ctypes.POINTER(raw.OrtModelCompilationOptions)(), options.keep_for_session()
    try:
        settings = options._enter()
    except BaseException:
        del kept  # the exception leads to this frame: whoever holds it must not keep the devices in use
        raise
    try:
        api.CreateModelCompilationOptionsFromSessionOptions(env, settings, ctypes.byref(out))
        try:
            yield out
        finally:
            api.ReleaseModelCompilationOptions(out)
    finally:
        options._leave()
        del kept  # the options may have been changed since


def _set_input(api: Table, pointer: Any, model: Any) -> Any:
    """Say what to compile; gives what C points into."""
    if not isinstance(model, (bytes, bytearray, memoryview)):
        api.ModelCompilationOptions_SetInputModelPath(pointer, path_argument(model, "model path"))
        return None
    data = bytes(model)
    if not data:
        raise InputError("the model is empty: 0 bytes were given")
    api.ModelCompilationOptions_SetInputModelFromBuffer(pointer, data, len(data))
    return data


def _compile(env: Environment, api: Table, pointer: Any, output: Any) -> bytes | None:
    if output is None:
        return _compile_to_bytes(env, api, pointer)
    if callable(output):
        with contextlib.closing(Token(output)) as token:
            callback = status_callback(env.native, "OrtWriteBufferFunc", _write)
            api.ModelCompilationOptions_SetOutputModelWriteFunc(pointer, callback, token.value)
            api.CompileModel(env, pointer)
        return None
    api.ModelCompilationOptions_SetOutputModelPath(pointer, path_argument(output, "output"))
    api.CompileModel(env, pointer)
    return None


def _compile_to_bytes(env: Environment, api: Table, pointer: Any) -> bytes:
    native: Native = env.native
    buffer, size = ctypes.c_void_p(), ctypes.c_size_t()
    allocator = native.cpu_allocator
    api.ModelCompilationOptions_SetOutputModelBuffer(pointer, allocator, ctypes.byref(buffer), ctypes.byref(size))
    try:
        api.CompileModel(env, pointer)
        return ctypes.string_at(buffer, size.value)
    finally:
        if buffer:
            native.api.AllocatorFree(allocator, buffer)


def _write(state: int | None, buffer: int | None, size: int) -> None:
    target(state)(ctypes.string_at(buffer, size) if buffer else b"")


def _flags(value: Any) -> int:
    known = sum(int(item) for item in raw.OrtCompileApiFlags)  # as a number: ~ of a flag knows only its own bits
    checked = count(value, "flags")
    if checked & ~known:
        names = ", ".join(f"{int(item)} ({item.name})" for item in raw.OrtCompileApiFlags)
        raise InputError(f"flags {checked} has bits that no flag has; there are {names}")
    return checked
