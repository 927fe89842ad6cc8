"""Header sets of a few lines for the generator's tests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from gen.model import Header
from gen.parse import parse
from gen.preprocess import preprocess_text
from gen.since import Tables, assign_since

__all__ = ["MAIN", "folder", "read"]

#: A main header with a table, a struct of data, an enum and a callback type.
MAIN = r"""
#pragma once
#include <stdint.h>
#define ORT_API_VERSION 30
#define ORT_API_CALL __stdcall
typedef struct OrtEnv OrtEnv;
typedef struct OrtStatus OrtStatus;
typedef enum OrtColour { ORT_RED, ORT_GREEN = 4 } OrtColour;
typedef void(ORT_API_CALL* OrtLogFn)(void* state, const char* text);
struct OrtPoint { int32_t x; int32_t y; };
typedef struct OrtPoint OrtPoint;
struct OrtApi {
  /** \since Version 1.1. */
  OrtStatus*(ORT_API_CALL* CreateEnv)(OrtLogFn log, OrtEnv** out);
  /** \since Version 1.2. */
  void(ORT_API_CALL* ReleaseEnv)(OrtEnv* env);
};
typedef struct OrtApi OrtApi;
static const char* const kOrtKey = "session.key";
"""


def read(text: str = MAIN, tables: Tables | None = None, older: Iterable[Header] = ()) -> Header:
    """The text as a header set with since-versions."""
    source = preprocess_text(text, "onnxruntime_c_api.h")
    header = parse(source)
    if "ORT_API_VERSION" not in header.constants:
        header.constants = {"ORT_API_VERSION": 30, **header.constants}
    header.release = f"1.{header.api_version}"
    assign_since(header, source.texts, tables or {}, older)
    return header


def folder(path: Path, text: str = MAIN, **others: str) -> Path:
    """A folder with the text as its main header; ``others`` are further headers by name without ``.h``."""
    path.mkdir(parents=True, exist_ok=True)
    (path / "onnxruntime_c_api.h").write_text(text, "utf-8", newline="")
    for name, body in others.items():
        (path / f"{name}.h").write_text(body, "utf-8", newline="")
    return path
