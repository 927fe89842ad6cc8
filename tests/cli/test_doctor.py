"""``ortcache doctor``: all that a bug report needs, whatever is broken."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ortcache
from ortcache.cli import probing
from ortcache.cli.cache_checks import cache_rows
from ortcache.cli.store_check import check_store
from ortcache.errors import InputError, StoreError, StoreTimeoutError
from ortcache.stores import DirectoryStore
from ortcache.stores.url import open_store

from ..support.cli import run, shadow
from ..support.installed import library_file
from ..support.oracles import compiler, need


def _doctor(code: int, *args: str, path: Path | None = None, **environment: str) -> Any:
    result = run("doctor", "--json", *args, path=path, **environment)
    assert result.code == code, result.out + result.err
    assert result.err == ""
    return json.loads(result.out)


def _fatal(document: Any) -> str:
    """The one finding because of which no inference is possible, with what to do."""
    assert document["inference_possible"] is False
    (finding,) = [f for f in document["findings"] if f["fatal"]]
    return f"{finding['what']} {finding['do']}"


def _built(tmp_path: Path, body: str) -> Path:
    """A library that does something when it is loaded."""
    source, target = tmp_path / "bad.c", tmp_path / "libonnxruntime.so"
    source.write_text(
        f"#include <stdlib.h>\n#include <unistd.h>\n__attribute__((constructor)) void f(void) {{ {body} }}"
    )
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", str(target), str(source)], check=True)
    return target


def test_a_healthy_installation_has_everything_that_a_report_needs() -> None:
    path = library_file()
    document = _doctor(0)
    assert document["ortcache"] == ortcache.__version__
    assert document["executable"] == sys.executable
    assert document["stages"]["find"]["found"]["path"] == str(path)
    assert document["stages"]["images"]["found"] == [str(path)]
    assert "CPUExecutionProvider" in document["stages"]["providers"]["found"]
    assert document["stages"]["inference"]["found"]["equal"] is True
    assert document["packages"]["numpy"] and document["onnxruntime_packages"]
    assert document["inference_possible"] is True
    text = run("doctor").out
    for said in (str(path), "API version", "CPUExecutionProvider", "inference works", sys.executable):
        assert said in text


def test_without_a_library_it_names_the_places_and_what_to_install(tmp_path: Path) -> None:
    said = _fatal(_doctor(1, path=shadow(tmp_path, "onnxruntime")))
    assert "no ONNX Runtime library was found" in said and "pip install onnxruntime" in said
    text = run("doctor", path=tmp_path).out
    assert text.endswith("no inference is possible\n") and "PROBLEM: " in text


def test_a_file_that_is_no_library_is_named(tmp_path: Path) -> None:
    (tmp_path / "libonnxruntime.so").write_text("not a library")
    document = _doctor(1, ORTCACHE_LIBRARY=str(tmp_path))
    assert str(tmp_path / "libonnxruntime.so") in _fatal(document)
    assert document["environment"] == {"ORTCACHE_LIBRARY": str(tmp_path)}


def test_a_library_that_kills_the_process_is_reported(tmp_path: Path) -> None:
    said = _fatal(_doctor(1, "--library", str(_built(tmp_path, "abort();"))))
    assert said.startswith("the load stage ended the process with SIGABRT") and "ORTCACHE_LIBRARY" in said


def test_a_library_that_ends_the_process_in_silence_is_reported(tmp_path: Path) -> None:
    for body, end in (("_exit(0);", "ended the process without a word"), ("_exit(7);", "exit code 7")):
        assert end in _fatal(_doctor(1, "--library", str(_built(tmp_path, body))))


def test_a_library_that_hangs_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_TIMEOUT", 3)
    stages = probing.probe(str(_built(tmp_path, "sleep(60);")))
    assert stages["load"] == {"failed": "gave no answer in 3 seconds", "ended": True}


def test_what_a_library_prints_does_not_get_into_the_report(tmp_path: Path) -> None:
    body = 'if (write(1, "[\\"done\\", \\"inference\\", 1]\\n", 25)) {}'
    document = _doctor(1, "--library", str(_built(tmp_path, body)))
    assert "inference" not in document["stages"]
    assert "does not export OrtGetApiBase" in _fatal(document)


def test_a_broken_numpy_is_named_and_the_rest_is_still_told(tmp_path: Path) -> None:
    document = _doctor(1, path=shadow(tmp_path, "numpy", "raise ImportError('built for another Python')"))
    said = _fatal(document)
    assert "built for another Python" in said and "--force-reinstall numpy" in said
    assert document["stages"]["load"]["found"]["version"]


def test_several_onnxruntime_packages_at_once_are_a_finding_but_not_fatal(tmp_path: Path) -> None:
    for name in ("onnxruntime-gpu", "onnxruntime-ep-thing"):
        info = tmp_path / f"{name.replace('-', '_')}-1.2.3.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2.3\n")
    (tmp_path / "onnxruntime_gpu-1.2.3.dist-info" / "RECORD").write_text("onnxruntime/__init__.py,,\n")
    document = _doctor(0, "--library", str(library_file()), path=shadow(tmp_path, "onnxruntime"))
    assert set(document["onnxruntime_packages"]) >= {"onnxruntime-gpu"}
    assert document["related_packages"]["onnxruntime-ep-thing"] == "1.2.3"
    (finding,) = document["findings"]
    assert "onnxruntime-gpu 1.2.3" in finding["what"] and "pip uninstall" in finding["do"]


def test_another_image_in_the_process_is_a_finding(tmp_path: Path) -> None:
    need("linux", sys.platform.startswith("linux"))
    other = tmp_path / "libonnxruntime.so.1.0.0"
    other.write_bytes(_built(tmp_path, "").read_bytes())
    document = _doctor(0, "--library", str(library_file()), LD_PRELOAD=str(other))
    (finding,) = document["findings"]
    assert str(other) in finding["what"] and "LD_PRELOAD" in finding["do"]


def test_secrets_in_the_environment_stay_out_of_the_report() -> None:
    library_file()
    url = "redis://me:hunter2@127.0.0.1:1/0?timeout=2"
    document = _doctor(1, ORTCACHE_STORE=url, ORTCACHE_MAC_KEY="hunter2", OTHER="x")
    shown = url.replace("hunter2", "***")
    assert document["environment"] == {"ORTCACHE_STORE": shown, "ORTCACHE_MAC_KEY": "***"}
    assert "hunter2" not in json.dumps(document)


# Caches.


def test_a_store_that_works_is_tried_out_and_left_as_it_was(any_store: str) -> None:
    library_file()
    open_store(any_store).put("mine", b"value")
    document = _doctor(0, "--store", any_store)
    store = document["caches"]["store"]
    assert set(store["seconds"]) == {"open", "write", "read", "delete"} and store["failed"] is None
    assert all(seconds > 0 for seconds in store["seconds"].values()) and document["findings"] == []
    assert "hunter2" not in json.dumps(document)
    assert list(open_store(any_store).keys()) == ["mine"]


def test_the_default_store_is_tried_and_one_that_is_read_only_is_only_read(tmp_path: Path) -> None:
    library_file()
    open_store(tmp_path / "store").put("mine", b"value")
    document = _doctor(0, ORTCACHE_STORE=f"file://{tmp_path}/store?mode=r")
    assert set(document["caches"]["store"]["seconds"]) == {"open", "read"}
    text = run("doctor", ORTCACHE_STORE=f"file://{tmp_path}/store?mode=r").out
    assert "read-only" in text and "EP caches" in text


def test_a_store_that_is_not_there_yet_is_not_made(tmp_path: Path) -> None:
    library_file()
    store = _doctor(0, "--store", str(tmp_path / "store"))["caches"]["store"]
    assert store["there"] is False and not (tmp_path / "store").exists()


def test_a_store_that_does_not_work_is_a_finding_that_hinders_no_inference(tmp_path: Path) -> None:
    library_file()
    (tmp_path / "store").mkdir()
    (tmp_path / "store").chmod(0o777)
    document = _doctor(1, "--store", str(tmp_path / "store"))
    assert document["inference_possible"] is True and document["caches"]["store"]["failed"] == "open"
    (finding,) = document["findings"]
    assert "everybody may write" in finding["what"] and finding["do"] and finding["fatal"] is False


def test_what_fails_half_way_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def torn(self: DirectoryStore, key: str) -> bytes:
        return b"something else"

    monkeypatch.setattr(DirectoryStore, "get", torn)
    check = check_store(f"file://{tmp_path}/store?verify=0")
    assert (check.failed, check.error) == ("read", "what was written did not come back")
    assert list(DirectoryStore(tmp_path / "store").keys()) == []


@pytest.mark.parametrize(
    ("error", "do"),
    [
        (PermissionError(errno.EACCES, "no"), "the right to write"),
        (OSError(errno.ENOSPC, "full"), "Make room"),
        (OSError(errno.EROFS, "read-only"), "?mode=r"),
        (FileNotFoundError(errno.ENOENT, "no folder"), "or name one elsewhere"),
        (StoreTimeoutError("slow"), "timeout="),
        (StoreError("down"), "Is the server up"),
        (InputError("what"), "Correct what names the store"),
    ],
)
def test_each_kind_of_failure_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, do: str
) -> None:
    def fail(self: DirectoryStore, key: str, value: object) -> None:
        raise error

    monkeypatch.setattr(DirectoryStore, "put", fail)
    check = check_store(str(tmp_path / "store"))
    said = getattr(error, "strerror", None) or str(error)
    assert check.failed == "write" and said in str(check.error) and do in str(check.do)


def test_it_says_who_answers_for_callbacks_and_where_directories_are_made() -> None:
    library_file()
    document = _doctor(0)
    found = document["stages"]["ep cache"]["found"]
    assert found["backend"] in ("host", "native") and found["why"]
    assert found["platform_covered"] is (sys.platform == "linux")
    place = document["caches"]["directories"]
    assert Path(place["path"]).is_dir() and place["free"] > 0
    assert document["caches"]["store"] is None and document["caches"]["disabled"] is False


def test_optional_packages_that_are_missing_say_how_to_install_them() -> None:
    library_file()
    packages = _doctor(0)["caches"]["optional_packages"]
    assert packages["onnxruntime"]["version"] and set(packages) == {"onnxruntime", "obstore", "redis", "rich"}
    missing = {
        "optional_packages": {"redis": {**packages["redis"], "version": None}},
        "directories": None,
        "store": None,
    }
    rows = [" ".join(map(str, row)) for row in cache_rows(missing)]
    assert any("redis, for stores in Redis: pip install 'ortcache[redis]'" in row for row in rows)


def test_caches_that_are_turned_off_are_noticed() -> None:
    library_file()
    document = _doctor(0, ORTCACHE_DISABLE="1")
    (finding,) = document["findings"]
    assert "ORTCACHE_DISABLE is set" in finding["what"] and document["caches"]["disabled"] is True


@pytest.mark.parametrize(
    ("metadata", "record"),
    [
        (b"", b"onnxruntime/__init__.py,,\n"),
        (b"Name: onnxruntime-gpu\n", b'a,"b\n'),
        (b"\xff\xfe\0", b""),
        (None, b"\xff"),
    ],
)
def test_metadata_that_cannot_be_read_is_part_of_the_report(
    tmp_path: Path, metadata: bytes | None, record: bytes
) -> None:
    library_file()
    for name in ("onnxruntime_gpu-1.2.dist-info", "numpy-9.dist-info", "redis-9.dist-info"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "RECORD").write_bytes(record)
        if metadata is not None:
            (folder / "METADATA").write_bytes(metadata)
    document = _doctor(0, path=tmp_path)
    assert "metadata" in document["packages"]["numpy"]
    if metadata:
        found = document["onnxruntime_packages"] | document["related_packages"]
        assert "metadata" in found["onnxruntime-gpu"]


def test_a_package_of_no_version_is_no_traceback(tmp_path: Path) -> None:
    library_file()
    folder = tmp_path / "onnxruntime-1.0.dist-info"  # hides the installed one's
    folder.mkdir()
    (folder / "METADATA").write_text("Name: onnxruntime\n")
    (folder / "RECORD").write_text("onnxruntime/__init__.py,,\n")
    document = _doctor(0, path=tmp_path)
    assert "no version" in document["onnxruntime_packages"]["onnxruntime"]
