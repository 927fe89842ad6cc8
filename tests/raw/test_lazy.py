"""Nothing is built before it is asked for; and what is asked for by many threads at once is built once."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from typing import Any

import pytest

from ortcache.raw import _support
from ortcache.raw._support import Bindings, declarations

_COUNT = """
import ctypes, json, sys
def made():
    kinds = ctypes.Structure, ctypes.Union, ctypes._Pointer, ctypes._CFuncPtr
    return {c.__module__ + "." + c.__qualname__ for kind in kinds for c in subclasses(kind)}
def subclasses(kind):
    for c in kind.__subclasses__():
        yield c
        yield from subclasses(c)
before = made()
from ortcache import raw
steps = [sorted(made() - before), "ortcache.raw._declarations" in sys.modules]
for name in sys.argv[1:]:
    getattr(raw, name)
    steps.append(sorted(made() - before))
print(json.dumps(steps))
"""


def _count(*names: str) -> list[Any]:
    done = subprocess.run([sys.executable, "-c", _COUNT, *names], capture_output=True, text=True, check=True)
    found: list[Any] = json.loads(done.stdout)
    return found


def test_the_import_builds_no_type_and_does_not_read_the_declarations() -> None:
    assert _count() == [[], False]


def test_one_name_builds_only_what_it_reaches() -> None:
    _, _, enum, handle, struct = _count("OrtErrorCode", "OrtStatus", "OrtKernelImpl")
    assert enum == []
    assert handle == ["ortcache.raw.OrtStatus"]
    assert "ortcache.raw.OrtKernelImpl" in struct
    assert "ortcache.raw.OrtApi" not in struct and len(struct) < 40


def test_the_import_does_not_need_ctypes() -> None:
    code = "import sys, ortcache.raw; print('ctypes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_a_prototype_does_not_build_its_whole_table() -> None:
    made = Bindings(**declarations())
    made.prototype("OrtApi", "GetErrorCode")
    assert set(made._classes) == {"OrtStatus"}


@pytest.mark.parametrize("name", ["OrtApi", "OrtEp", "OrtReadNamedBufferFunc", "OrtExternalTensorDescriptor"])
def test_many_threads_that_ask_at_once_get_the_same_complete_type(name: str) -> None:
    made, barrier = Bindings(**declarations()), threading.Barrier(8)
    results: list[Any] = []

    def ask() -> None:
        barrier.wait()
        found = made.get(name)
        results.append((found, getattr(found, "_fields_", None)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert {id(found) for found, _ in results} == {id(made.get(name))}
    assert {fields is None for _, fields in results} == {name == "OrtReadNamedBufferFunc"}


def test_many_threads_that_ask_for_different_names_get_what_one_thread_gets() -> None:
    made, names = Bindings(**declarations()), list(_support.bindings().names())
    barrier = threading.Barrier(8)
    errors: list[BaseException] = []

    def ask(start: int) -> None:
        barrier.wait()
        try:
            for name in names[start:] + names[:start]:
                made.get(name)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask, args=(n * len(names) // 8,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert made._pending == []
    for name in names:
        ours, single = made.get(name), _support.bindings().get(name)
        assert [f[0] for f in getattr(ours, "_fields_", ())] == [f[0] for f in getattr(single, "_fields_", ())]


def test_the_bindings_of_the_process_are_made_once() -> None:
    assert _support.bindings() is _support.bindings()


def test_a_type_that_is_not_declared_is_an_error_and_no_empty_struct() -> None:
    given = declarations()
    made = Bindings(**{**given, "structs": {"OrtOdd": (("member", None, "OrtMisspelt*"),)}})
    with pytest.raises(KeyError, match="OrtMisspelt"):
        made.get("OrtOdd")
