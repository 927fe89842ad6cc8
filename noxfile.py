"""The project's checks, each in an environment of its own: `nox -l` lists them, `nox -s NAME` runs one.

A bare `nox` runs lint, types, regen and the tests on the Python that nox itself runs on.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nox

PYTHONS = ["3.11", "3.12", "3.13"]
LIBRARIES = ["1.23.2", "1.24.4", "1.27.0", "1.29.0", "1.31.1", "1.32.0"]

#: What stands on the library, and so is run on each version of it: all but the generator and what only measures.
ON_THE_LIBRARY = sorted(
    str(folder)
    for folder in Path("tests").iterdir()
    if (folder / "__init__.py").exists() and folder.name not in ("bench", "conformance", "gen", "stress", "support")
)

nox.options.sessions = ["lint", "types", "regen", f"tests-{sys.version_info[0]}.{sys.version_info[1]}"]
nox.options.error_on_missing_interpreters = False
nox.options.reuse_venv = "yes"


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """All tests, on each Python that is installed. Needs neither a compiler nor Node."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Style and layout of the source."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """mypy, strict, on the package and the generator."""
    session.install("-e", ".[cli,gen,lint,objects,redis]", "ml_dtypes")
    session.run("mypy")


@nox.session
def regen(session: nox.Session) -> None:
    """Is ortcache/raw what the generator makes, and do the oracles that are here agree?"""
    session.install("-e", ".[test]")
    session.run("python", "-m", "gen", "check", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """The README's examples."""
    session.install("-e", ".[test]")
    session.run("pytest", "tests/test_readme.py", *session.posargs)


@nox.session
@nox.parametrize("ort", LIBRARIES)
def matrix(session: nox.Session, ort: str) -> None:
    """What stands on the library, on each supported ONNX Runtime."""
    session.install("-e", ".[test]", f"onnxruntime=={ort}")
    session.run("pytest", *(session.posargs or ON_THE_LIBRARY))


@nox.session
def stress(session: nox.Session) -> None:
    """Objects made and dropped many times over, with the garbage collected and counted after every test."""
    session.install("-e", ".[test]")
    args = session.posargs or [*ON_THE_LIBRARY, "tests/stress"]
    session.run("pytest", "-p", "tests.support.stress", *args, env={"ORTCACHE_STRESS": "2000"})


@nox.session
def large(session: nox.Session) -> None:
    """Values of a gigabyte in every store, 8 processes that share one for longer, and many more writers killed."""
    session.install("-e", ".[test]")
    environment = {"ORTCACHE_TEST_LARGE": "1", "ORTCACHE_STRESS": "2000"}
    session.run("pytest", *(session.posargs or ["tests/stores"]), env=environment)


@nox.session
def nodes(session: nox.Session) -> None:
    """ONNX's own node tests: what the official module passes, ortcache passes."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.conformance.nodes", *session.posargs)


@nox.session
def bench(session: nox.Session) -> None:
    """Speed, as ratios within one run. Nothing fails here: it is a table to read."""
    session.install("-e", ".[test]")
    session.run("python", "-m", "tests.bench", *session.posargs)
