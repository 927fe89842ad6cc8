"""The type stub: mypy takes a user's correct program and finds the mistakes in a wrong one."""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

from gen.model import Header
from gen.overlay import apply, read_overlay_text
from gen.paths import RAW
from gen.stubs import stub
from tests.support.oracles import need
from tests.support.small_headers import MAIN, read

#: Every ``type: ignore`` has to be needed: --strict reports the ones that are not.
PROGRAM = """
import ctypes

from ortcache import raw
from ortcache.raw import ORT_API_VERSION, ORT_FAIL, OrtCompileApiFlags, OrtErrorCode
from ortcache.raw import kOrtSessionOptionsConfigUseEnvAllocators

code: OrtErrorCode = ORT_FAIL
flags: OrtCompileApiFlags = OrtCompileApiFlags(3) | OrtCompileApiFlags(1)
key: str = kOrtSessionOptionsConfigUseEnvAllocators
version: int = ORT_API_VERSION + raw.GENERATED_API_VERSION
name: str = raw.slots("OrtApi")[0].name


def use(base: raw.OrtApiBase) -> bytes | None:
    api = base.GetApi(version).contents
    env = ctypes.POINTER(raw.OrtEnv)()
    status = api.CreateEnv(raw.OrtLoggingLevel.ORT_LOGGING_LEVEL_WARNING, b"log", ctypes.byref(env))
    if status:
        text: bytes | None = api.GetErrorMessage(status)
        return text
    api.ReleaseEnv(env)
    api.CreateEnv(2, "log", ctypes.byref(env))  # type: ignore[arg-type]
    api.CreateEnv(2, b"log")  # type: ignore[call-arg, misc]
    api.placeholder_427()  # type: ignore[operator, misc]
    return base.GetVersionString()


def read_value(state: int, name: bytes, allocator: object, buffer: object, size: object) -> int | None:
    return None


function = raw.OrtReadNamedBufferFunc(read_value)
address: int | None = function(None, b"x", None, None, None)
function(None, "x", None, None, None)  # type: ignore[arg-type]
place: int = raw.OrtApi.CreateEnv.offset + raw.OrtEp.GetName.size
allocator = raw.OrtAllocator(version=version)
allocator.Shrink = ctypes.CFUNCTYPE(None)()
size: int = raw.OrtResourceCount().value.total_bytes
wrong: str = raw.OrtResourceCount().kind  # type: ignore[assignment]
raw.OrtNotThere  # type: ignore[attr-defined]
"""


def test_mypy_takes_a_correct_program_and_finds_each_mistake(tmp_path: Path) -> None:
    need("mypy", importlib.util.find_spec("mypy"))
    shutil.copytree(RAW, tmp_path / "site" / "ortcache" / "raw")  # by itself: the rest of the package is not the matter
    (tmp_path / "site" / "ortcache" / "__init__.py").touch()
    (tmp_path / "program.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run(
        [*command, "program.py"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": "site"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("Success"), done.stdout + done.stderr


def test_the_stub_declares_what_the_bindings_have_in_the_same_order() -> None:
    from ortcache import raw

    tree = ast.parse((RAW / "__init__.pyi").read_text("utf-8"))
    declared: dict[str, list[str]] = {}
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name != "_Field":
            declared[node.name] = [
                n.target.id for n in node.body if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
            ]
    types = {name: getattr(raw, name) for name in dir(raw)}
    types = {n: t for n, t in types.items() if isinstance(t, type) and issubclass(t, (ctypes.Structure, ctypes.Union))}
    fields = {n: [f[0] for f in getattr(t, "_fields_", ())] for n, t in types.items()}
    assert {name: declared[name] for name in fields} == fields
    functions = {name for name in declared if hasattr(getattr(raw, name), "_argtypes_")}
    assert functions == declared.keys() - fields.keys()


def rows(header: Header, struct: str = "OrtApi") -> dict[str, str]:
    """Member name -> its annotation and comment, of one struct."""
    body = stub(header).partition(f"\nclass {struct}(")[2].partition("\n\n")[0]
    return dict(line.strip().split(": ", 1) for line in body.splitlines()[1:])  # type: ignore[misc]


def test_types_are_what_python_passes_and_reads() -> None:
    text = MAIN + (
        "struct OrtMany { const char* text; char* memory; const ORTCHAR_T* path; wchar_t letter; OrtColour colour;"
        " OrtPoint point; const OrtPoint* points; OrtEnv** env; void* state; bool on; float ratio; char raw[4];"
        " OrtLogFn log; };"
    )
    found = rows(read(text), "OrtMany")
    assert {name: row.partition("]  #")[0].removeprefix("_Field[") for name, row in found.items()} == {
        "text": "bytes | None",
        "memory": "Any",
        "path": "bytes | str | None",
        "letter": "str",
        "colour": "int",
        "point": "OrtPoint",
        "points": "_Pointer[OrtPoint]",
        "env": "Any",
        "state": "int | None",
        "on": "bool",
        "ratio": "float",
        "raw": "Any",
        "log": "OrtLogFn",
    }


def test_a_slot_shows_its_index_since_version_and_c_signature() -> None:
    kind, note = rows(read())["CreateEnv"].split("  # ")
    assert kind == "_Field[Callable[[OrtLogFn, Any], _Pointer[OrtStatus]]]"
    assert note == "0, since 1.1: OrtStatus* (OrtLogFn log, OrtEnv** out)"


def test_placeholders_and_proposed_slots_say_what_they_are() -> None:
    text = (
        "struct OrtApi {\n/** \\index 2 \\since 1.31 \\placeholder */\nvoid* placeholder_2;\n"
        "/** \\proposed */\nvoid(ORT_API_CALL* Idea)(int x);\n};\n"
    )
    found = rows(apply(read(), read_overlay_text(text, "ours.h"))[0])
    assert found["placeholder_2"] == "_Field[int | None]  # 2, placeholder since 1.31: not to be called"
    assert found["Idea"] == "_Field[Callable[[int], None]]  # 3, proposed: void (int x)"


def test_members_of_an_anonymous_struct_are_reached_as_if_they_stood_outside() -> None:
    text = "struct OrtOuter { int kind; union { int32_t number; struct { int32_t low; int32_t high; }; }; };"
    found = rows(read(MAIN + text), "OrtOuter")
    assert list(found) == ["kind", "anonymous1", "number", "anonymous1_1", "low", "high"]
    assert found["high"] == "_Field[int]  # anonymous1.anonymous1_1.1, since unknown"


def test_names_that_are_keywords_of_python_leave_the_stub_readable() -> None:
    text = stub(
        read(MAIN + "struct OrtOdd { int from; int to; };\ntypedef int(ORT_API_CALL* OrtFn)(int in, int self);\n")
    )
    ast.parse(text)
    assert "    # from: _Field[int]  # 0, since unknown (a keyword of Python: use getattr)\n" in text
    assert "def __call__(self, in_: int, self_: int, /) -> int: ..." in text
