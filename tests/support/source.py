"""Rules for the source itself: what the library must not call, and what no file may hold."""

from __future__ import annotations

import ast
import re

__all__ = ["forbidden_calls", "forbidden_text"]

_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"}
_CALLS = {"eval", "exec", "compile", "os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput"}
_SPAWNERS = {"run", "Popen", "call", "check_call", "check_output"}

# Put together from pieces, so that this file does not hold what it looks for.
_TEXT = {
    "a path of a machine": r"(?<![\w.])/(?:wor" + r"k|hom" + r"e|Use" + r"rs|roo" + r"t)/[A-Za-z.]|/tm" + r"p/w/",
    "a registry's host": r"pypi\.or" + r"g|pythonhoste" + r"d\.org|npmj" + r"s\.(?:org|com)|debia" + r"n\.org",
}


def forbidden_calls(source: str) -> list[str]:
    """Pickle, evaluated text and shells in a module's source, as ``line: what``."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
            if node.module in ("os", "subprocess"):
                names += [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call):
            names = [ast.unparse(node.func)]
            if names[0].rpartition(".")[2] in _SPAWNERS and _shell(node):
                found.append(f"{node.lineno}: a shell")
            if any(k.arg == "allow_pickle" and not _is(k.value, False) for k in node.keywords):
                found.append(f"{node.lineno}: allow_pickle")
        found += [f"{node.lineno}: {name}" for name in names if name in _CALLS or name.partition(".")[0] in _MODULES]
    return found


def forbidden_text(text: str) -> list[str]:
    """What must not be in any file, as ``line: what``."""
    return [
        f"{number}: {what}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in _TEXT.items()
        if re.search(pattern, line)
    ]


def _shell(call: ast.Call) -> bool:
    return any(k.arg == "shell" and not _is(k.value, False) for k in call.keywords)


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value
