"""How each execution provider is told its cache directory: the one table of it.

Versions are those of ONNX Runtime in which a provider that it brings first knows the option; None where no release is
known that lacks it. Found in release notes and sources, and for Core ML and OpenVINO by trying releases.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DIRECTORY", "NAME", "TABLE", "Form", "Option"]

#: Values that stand for the directory's path, and for a name that the user may give.
DIRECTORY, NAME = "{directory}", "{name}"


@dataclass(frozen=True)
class Option:
    """One provider option.

    Attributes:
        name: as the provider calls it.
        value: its text, `DIRECTORY` or `NAME`.
        since: the release that brought it.
        needed: without it there is no cache directory; others are left out where the release is older.
        device_key: the option is JSON, in which the value has this name below the device's.
    """

    name: str
    value: str = DIRECTORY
    since: str | None = None
    needed: bool = True
    device_key: str | None = None


@dataclass(frozen=True)
class Form:
    """The options of one provider, in one of the forms that it comes in.

    Attributes:
        options: all that it takes.
        name: what it is called where there are several.
        ascii: on Windows, its path must be of ASCII characters alone.
        default_name: of `NAME`; without it the option is left out where the user gives none.
    """

    options: tuple[Option, ...]
    name: str = ""
    ascii: bool = False
    default_name: str | None = None


#: By the provider's name, the forms, the one that is taken unless the user says another first. OpenVINO as a plugin
#: knows no ``cache_dir``; the one that comes with ONNX Runtime takes both from 1.23 on.
#: MIGraphX before 1.23 knew no directory, only one file that all of a session's subgraphs wrote over each other.
#: TensorRT's timing cache goes where its engines are, unless it has a path of its own.
TABLE: dict[str, tuple[Form, ...]] = {
    "OpenVINOExecutionProvider": (
        Form((Option("load_config", since="1.23", device_key="CACHE_DIR"),), "plugin"),
        Form((Option("cache_dir"),), "bundled"),
    ),
    "TensorrtExecutionProvider": (
        Form(
            (
                Option("trt_engine_cache_enable", "1"),
                Option("trt_engine_cache_path"),
                Option("trt_timing_cache_enable", "1", "1.15", needed=False),
                Option("trt_timing_cache_path", DIRECTORY, "1.17", needed=False),
                Option("trt_engine_cache_prefix", NAME, "1.17", needed=False),
            ),
            ascii=True,
        ),
    ),
    "NvTensorRTRTXExecutionProvider": (Form((Option("nv_runtime_cache_path", since="1.23"),), ascii=True),),
    "MIGraphXExecutionProvider": (Form((Option("migraphx_model_cache_dir", since="1.23"),)),),
    "CoreMLExecutionProvider": (Form((Option("ModelCacheDirectory", since="1.21"),)),),
    "VitisAIExecutionProvider": (
        Form(
            (
                Option("cache_dir"),
                Option("cache_key", NAME),
                Option("enable_cache_file_io_in_mem", "0", needed=False),  # otherwise it keeps the files to itself
            ),
            default_name="model",
        ),
    ),
}
