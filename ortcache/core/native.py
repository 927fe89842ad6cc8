"""One loaded ONNX Runtime: the API version both sides know, its function tables, its statuses."""

from __future__ import annotations

import ctypes
import functools
import re
import weakref
from typing import Any

from .. import raw
from ..errors import LibraryVersionError, UnsupportedFunctionError
from ..locks import free_in_child, new_lock
from ..raw._support import LOCK, bindings
from .library import Choice
from .quick import Quick
from .status import Statuses, address
from .table import RawTable, Table

__all__ = ["MINIMUM_API_VERSION", "TABLES", "Native", "native_at"]

#: The oldest library that ortcache is tested with.
MINIMUM_API_VERSION = 20

#: Each table behind OrtApi, and the function of OrtApi that gives it.
TABLES = {
    "OrtModelEditorApi": "GetModelEditorApi",
    "OrtCompileApi": "GetCompileApi",
    "OrtEpApi": "GetEpApi",
    "OrtInteropApi": "GetInteropApi",
}


class Native:
    """The C API of one copy of ONNX Runtime.

    Attributes:
        choice: the library; None where only its OrtApiBase was handed over.
        version: the library's own version string, such as "1.32.0".
        library_api_version: the highest API version that it has.
        api_version: the one that is used: the highest that both sides know, or what was asked for.
        api: OrtApi, checked. A function of another table is found here too.
        statuses: OrtStatus to exceptions and back.
    """

    def __init__(self, base: int, choice: Choice | None = None, api_version: int | None = None) -> None:
        self.base = base
        self.choice = choice
        where = str(choice.path) if choice else "this process"
        base_table = ctypes.cast(base, ctypes.POINTER(raw.OrtApiBase)).contents
        self.version = (base_table.GetVersionString() or b"").decode("utf-8", "replace")
        self.library_api_version = _minor(self.version, where)
        self.description = f"ONNX Runtime {self.version}"
        self.api_version = _negotiate(self.library_api_version, api_version, f"{self.description} ({where})")
        # Only a version that the library is known to have is asked for: for another one it prints a complaint.
        table = base_table.GetApi(self.api_version)
        if not table:
            raise LibraryVersionError(f"{self.description} ({where}) gives no API of version {self.api_version}")
        self._lock = new_lock()
        self._tables: dict[str, Table | None] = {}
        api = RawTable("OrtApi", address(table) or 0, self.api_version, self.description)
        with _bases_lock:
            highest = _bases.get(base)
            # An exception that became a status may come back through any of them.
            self.statuses: Statuses = highest.statuses if highest else Statuses(api, foreign=choice is None)
            if highest is None or highest.api_version < self.api_version:
                _bases[base] = self
        self.api = Table(api, self.statuses, self._in_other_tables)

    def table(self, struct: str) -> Table:
        """One of `TABLES`, checked.

        Raises:
            UnsupportedFunctionError: this library is older than the table, or was built without it.
        """
        if struct == "OrtApi":
            return self.api
        with self._lock:
            if struct not in self._tables:
                self._tables[struct] = self._find_table(struct)
        found = self._tables[struct]
        if found is None:
            raise UnsupportedFunctionError(f"{self.description} was built without {struct}")
        return found

    def _find_table(self, struct: str) -> Table | None:
        getter = getattr(self.api.raw, TABLES[struct])
        pointer = address(getter())
        if not pointer:
            return None
        return Table(RawTable(struct, pointer, self.api_version, self.description), self.statuses)

    def _in_other_tables(self, name: str) -> Any:
        for struct in TABLES:
            if name in bindings().slots(struct):
                return getattr(self.table(struct), name)
        return None

    @functools.cached_property
    def quick(self) -> Quick:
        """OrtApi's functions once more, for where a call's own time counts."""
        return Quick(self.api.raw)

    @functools.cached_property
    def cpu_memory(self) -> Any:
        """The OrtMemoryInfo of ordinary memory: made once, and kept as long as the library."""
        info = ctypes.POINTER(raw.OrtMemoryInfo)()
        device, default = raw.OrtAllocatorType.OrtDeviceAllocator, raw.OrtMemType.OrtMemTypeDefault
        self.api.CreateCpuMemoryInfo(device, default, ctypes.byref(info))
        return info

    @functools.cached_property
    def cpu_allocator(self) -> Any:
        """ORT's default CPU allocator: borrowed, never released."""
        allocator = ctypes.POINTER(raw.OrtAllocator)()
        self.api.GetAllocatorWithDefaultOptions(ctypes.byref(allocator))
        return allocator

    def take_string(self, pointer: Any) -> str:
        """A string that ORT allocated with `cpu_allocator` for us: copied, and freed."""
        if not pointer:
            return ""
        try:
            return ctypes.string_at(pointer).decode("utf-8", "replace")
        finally:
            self.api.AllocatorFree(self.cpu_allocator, pointer)


def native_at(base: int) -> Native:
    """The `Native` over an OrtApiBase, such as one that ORT hands to a plugin, of the highest API version that both
    sides know; a new one where there is none."""
    with _bases_lock:
        found = _bases.get(base)
        if found is None or found.api_version < min(found.library_api_version, raw.GENERATED_API_VERSION):
            found = Native(base)
    return found


_bases: weakref.WeakValueDictionary[int, Native] = weakref.WeakValueDictionary()
_bases_lock = new_lock()
free_in_child(LOCK)  # not there, as the generator uses that module without this package


def _minor(version: str, where: str) -> int:
    match = re.match(r"1\.(\d+)(?!\d)", version)
    if not match:
        raise LibraryVersionError(
            f"{where} says it is version {version!r}; ortcache knows ONNX Runtime 1.{MINIMUM_API_VERSION} and later "
            "of the 1.x line"
        )
    return int(match[1])


def _negotiate(library: int, asked: int | None, description: str) -> int:
    """The API version to use; LibraryVersionError where there is none."""
    if library < MINIMUM_API_VERSION:
        raise LibraryVersionError(
            f"{description} is too old: ortcache needs 1.{MINIMUM_API_VERSION} or later. `pip install -U onnxruntime`"
        )
    highest = min(library, raw.GENERATED_API_VERSION)
    if asked is None:
        return highest
    if not isinstance(asked, int) or isinstance(asked, bool):
        raise TypeError(f"the API version must be a whole number, not {asked!r}")
    if not MINIMUM_API_VERSION <= asked <= highest:
        raise LibraryVersionError(
            f"API version {asked} was asked for; {description} together with these bindings (up to "
            f"{raw.GENERATED_API_VERSION}) has {MINIMUM_API_VERSION} to {highest}"
        )
    return asked
