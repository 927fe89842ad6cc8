"""ORT's log lines as records of Python's logging."""

from __future__ import annotations

import ctypes
import gc
import logging
import threading
from pathlib import Path
from typing import Any

import pytest

import ortcache as oc
from ortcache.api import logging as ort_logging
from ortcache.api.logging import LOGGER, log_level, log_trampoline

from ..support.process import run_python


@pytest.mark.parametrize(
    ("level", "number"),
    [
        ("verbose", 0),
        ("info", 1),
        ("Warning", 2),
        ("ERROR", 3),
        ("fatal", 4),
        *[(number, number) for number in range(5)],
    ],
)
def test_a_level_has_a_name_and_a_number(level: int | str, number: int) -> None:
    assert log_level(level) == number


@pytest.mark.parametrize("level", ["", "warn", "critical", -1, 5, 99])
def test_a_level_that_is_none_is_refused_with_those_there_are(level: int | str) -> None:
    with pytest.raises(ValueError, match="verbose"):
        log_level(level)


@pytest.mark.parametrize("level", [None, 2.0, 1.5, True, []])
def test_what_is_neither_a_name_nor_a_number_is_a_type_error(level: Any) -> None:
    with pytest.raises(TypeError, match="log level must be a number or a name"):
        log_level(level)


@pytest.mark.parametrize(("severity", "level"), [(0, 10), (1, 20), (2, 30), (3, 40), (4, 50), (-1, 50), (77, 50)])
def test_each_severity_has_its_level(caplog: Any, severity: int, level: int) -> None:
    with caplog.at_level(logging.DEBUG, "onnxruntime"):
        log_trampoline()(None, severity, b"cat", "id ü".encode(), b"file.cc:7", "Größe %s %d".encode())
    (record,) = caplog.records
    assert (record.name, record.levelno, record.getMessage()) == ("onnxruntime", level, "Größe %s %d")
    assert (record.ort_category, record.ort_logid, record.ort_location) == ("cat", "id ü", "file.cc:7")


def test_text_that_is_missing_or_no_utf8_is_logged_all_the_same(caplog: Any) -> None:
    log_trampoline()(None, 2, None, b"caf\xe9", None, None)
    (record,) = caplog.records
    assert (record.getMessage(), record.ort_logid, record.ort_category) == ("", "caf\ufffd", "")


def test_a_handler_that_fails_harms_nobody(rt: oc.Runtime, mul_model: Path) -> None:
    class Fails(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)
            raise SystemExit("from a handler")

    seen: list[Any] = []
    handler = Fails()
    LOGGER.addHandler(handler)
    try:
        options = rt.session_options(config={"a": "1"})
        options.config["a"] = "2"  # ORT warns
    finally:
        LOGGER.removeHandler(handler)
    assert len(seen) == 1 and options.config["a"] == "2"


def test_the_pointer_outlives_every_environment() -> None:
    address = ctypes.cast(log_trampoline(), ctypes.c_void_p).value
    gc.collect()
    assert ctypes.cast(log_trampoline(), ctypes.c_void_p).value == address
    assert ort_logging._trampoline is log_trampoline()


def test_ort_may_log_from_many_threads(caplog: Any) -> None:
    pointer = log_trampoline()
    threads = [
        threading.Thread(target=lambda: [pointer(None, 2, b"", b"", b"", b"x") for _ in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert caplog.messages == ["x"] * 200


def test_a_session_may_be_used_inside_a_log_handler(mul_model: Path) -> None:
    code = """
        import logging, sys, numpy, ortcache
        rt = ortcache.load()
        inner = rt.session(sys.argv[1])
        results = []
        class Runs(logging.Handler):
            def emit(self, record):
                results.append(float(inner.run({"X": numpy.ones((3, 2), "float32")})[0].sum()))
        logging.getLogger("onnxruntime").addHandler(Runs())
        options = rt.session_options(config={"a": "1"})
        options.config["a"] = "2"
        print(results)
    """
    assert run_python(code, mul_model).strip() == "[21.0]"


def test_nothing_reaches_stderr_but_by_pythons_logging(mul_model: Path) -> None:
    code = """
        import logging, sys, numpy, ortcache
        lines = []
        logger = logging.getLogger("onnxruntime")
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        logger.addHandler(type("H", (logging.Handler,), {"emit": lambda self, record: lines.append(record)})())
        rt = ortcache.load(log_level="verbose")
        session = rt.session(sys.argv[1], log_severity_level="verbose")
        session.run({"X": numpy.ones((3, 2), "float32")})
        try:
            rt.session(b"no model")
        except ortcache.OrtError:
            pass
        print(len(lines) > 20)
    """
    assert run_python(code, mul_model).strip() == "True"
