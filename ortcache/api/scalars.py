"""The settings of session options that are one value each, by the names that ``onnxruntime.SessionOptions`` has."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .. import raw
from ..core.marshal import PATH_IS_WIDE, path_argument
from ..errors import InputError
from .optionbase import Options
from .settings import Setting, count, flag, member, optional_path, path_text, severity
from .settings import text as plain_text

__all__ = ["ENTRY_SETTINGS", "ScalarSettings", "entry_setting"]


def _calls(function: str, convert: Callable[[Any], Any] = lambda value: value) -> Callable[[Any, Any], None]:
    return lambda options, value: options._call(function, convert(value))


def _switches(on: str, off: str) -> Callable[[Any, bool], None]:
    return lambda options, value: options._call(on if value else off)


def _reads(function: str, convert: Callable[[int], Any]) -> Callable[[Any], Any]:
    def read(options: Any) -> Any:
        if not options.native.api.raw.holds(function):
            return None
        out = ctypes.c_int()
        options._call(function, ctypes.byref(out))
        return convert(out.value)

    return read


def _path(path: str) -> str | bytes:
    if path:
        return path_argument(path)
    return "" if PATH_IS_WIDE else b""


def _set_per_session_threads(options: Any, value: bool) -> None:
    if not value:
        options._call("DisablePerSessionThreads")
    elif not options.use_per_session_threads:
        raise InputError(
            "use_per_session_threads cannot be turned on again: ORT has no function for that; make new options"
        )


def _set_profiling(options: Any, on: bool, prefix: str | None = None) -> None:
    if on:
        options._call("EnableProfiling", _path(prefix or options.profile_file_prefix))
    else:
        options._call("DisableProfiling")


def _set_prefix(options: Any, prefix: str) -> None:
    if options.enable_profiling:
        _set_profiling(options, True, prefix)


class ScalarSettings(Options):
    """What `SessionOptions` has as properties."""

    intra_op_num_threads = Setting(0, count, _calls("SetIntraOpNumThreads"), "Threads within a node; 0: ORT chooses.")
    inter_op_num_threads = Setting(
        0, count, _calls("SetInterOpNumThreads"), "Threads across nodes, in parallel mode; 0: ORT chooses."
    )
    execution_mode = Setting(
        raw.ExecutionMode.ORT_SEQUENTIAL,
        member(raw.ExecutionMode),
        _calls("SetSessionExecutionMode"),
        'An ExecutionMode, its number, "sequential" or "parallel".',
        _reads("GetSessionExecutionMode", raw.ExecutionMode),
    )
    graph_optimization_level = Setting(
        raw.GraphOptimizationLevel.ORT_ENABLE_ALL,
        member(raw.GraphOptimizationLevel),
        _calls("SetSessionGraphOptimizationLevel"),
        'A GraphOptimizationLevel, its number, "disable_all", "basic", "extended", "layout" or "all".',
    )
    enable_mem_pattern = Setting(
        True,
        flag,
        _switches("EnableMemPattern", "DisableMemPattern"),
        "Learn how memory is used, to allocate it at once in later runs.",
        _reads("GetMemPatternEnabled", bool),
    )
    enable_cpu_mem_arena = Setting(
        True, flag, _switches("EnableCpuMemArena", "DisableCpuMemArena"), "Keep freed CPU memory for later runs."
    )
    use_deterministic_compute = Setting(
        False, flag, _calls("SetDeterministicCompute"), "Prefer kernels that give the same bits each time."
    )
    use_per_session_threads = Setting(
        True, flag, _set_per_session_threads, "False: use the environment's thread pools, which it must have."
    )
    log_severity_level = Setting(
        -1, severity, _calls("SetSessionLogSeverityLevel"), "Least severe level that is logged; -1: the environment's."
    )
    log_verbosity_level = Setting(
        0, count, _calls("SetSessionLogVerbosityLevel"), 'How much a debug build logs at level "verbose".'
    )
    logid = Setting("", plain_text, _calls("SetSessionLogId", str.encode), "What log lines of the session carry.")
    optimized_model_filepath = Setting(
        "",
        optional_path,
        _calls("SetOptimizedModelFilePath", _path),
        "Where to save the optimized model; empty: nowhere.",
    )
    enable_profiling = Setting(
        False, flag, _set_profiling, "Write a profile; the session's end_profiling() names the file."
    )
    profile_file_prefix = Setting(
        "onnxruntime_profile_", path_text, _set_prefix, "Where a profile goes: a path; a time and .json are added."
    )


def _as_int(value: str) -> int:
    try:
        return int(value, 10)
    except ValueError:
        raise InputError(f"{value!r} is no whole number") from None


def _as_flag(value: str) -> bool:
    if value not in ("0", "1"):
        raise InputError(f'{value!r} is neither "0" nor "1"')
    return value == "1"


#: Config entries that stand for a setting: the setting's name, and what reads the entry's text.
ENTRY_SETTINGS: dict[str, tuple[str, Callable[[str], Any]]] = {
    raw.kOrtSessionOptionsConfigIntraOpNumThreads: ("intra_op_num_threads", _as_int),
    raw.kOrtSessionOptionsConfigInterOpNumThreads: ("inter_op_num_threads", _as_int),
    raw.kOrtSessionOptionsConfigEnableCpuMemArena: ("enable_cpu_mem_arena", _as_flag),
    raw.kOrtSessionOptionsConfigEnableMemPattern: ("enable_mem_pattern", _as_flag),
    raw.kOrtSessionOptionsConfigLogId: ("logid", str),
    raw.kOrtSessionOptionsConfigLogSeverityLevel: ("log_severity_level", _as_int),
    raw.kOrtSessionOptionsConfigLogVerbosityLevel: ("log_verbosity_level", _as_int),
    raw.kOrtSessionOptionsConfigGraphOptimizationLevel: ("graph_optimization_level", str),
    raw.kOrtSessionOptionsConfigOptimizedModelFilePath: ("optimized_model_filepath", str),
    raw.kOrtSessionOptionsConfigExecutionMode: ("execution_mode", str),
    raw.kOrtSessionOptionsConfigUsePerSessionThreads: ("use_per_session_threads", _as_flag),
    raw.kOrtSessionOptionsConfigUseDeterministicCompute: ("use_deterministic_compute", _as_flag),
}


def entry_setting(options: ScalarSettings, key: str, value: str) -> bool:
    """Make a config entry that stands for a setting that setting, as libraries from 1.29 on do; False for others.

    Raises:
        InputError: the entry's value is none for that setting.
    """
    try:
        if key == raw.kOrtSessionOptionsConfigEnableProfiling:  # the prefix, or nothing
            if value:
                options.profile_file_prefix = value
            options.enable_profiling = bool(value)
            return True
        if key in ENTRY_SETTINGS:
            name, convert = ENTRY_SETTINGS[key]
            setattr(options, name, convert(value))
            return True
    except InputError as error:
        raise InputError(f"config entry {key!r}: {error}") from None
    return False
