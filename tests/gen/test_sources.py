"""The pinned header sets, and which files belong to a set."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from gen.errors import GenError
from gen.paths import SOURCES
from gen.sources import (
    HeaderSet,
    api_version,
    check_release,
    header_files,
    load_sources,
    problems,
    root_files,
    toml_block,
)

DIGEST = hashlib.sha256(b"text").hexdigest()


def files_of(texts: dict[str, bytes]) -> dict[str, bytes]:
    return header_files(texts, texts.__getitem__)


def test_a_set_has_the_c_api_the_keys_and_what_they_include() -> None:
    texts = {
        "onnxruntime_c_api.h": b'#pragma once\n  # include "onnxruntime_new_part.h"\n#include <stdint.h>\n',
        "onnxruntime_new_part.h": b'#include "onnxruntime_c_api.h"\n#include "not_there.h"\n',
        "onnxruntime_session_options_config_keys.h": b"",
        "onnxruntime_ep_device_ep_metadata_keys.h": b"",
        "onnxruntime_cxx_api.h": b'#include "onnxruntime_float16.h"\n',
        "onnxruntime_float16.h": b"",
    }
    assert list(files_of(texts)) == [
        "onnxruntime_c_api.h",
        "onnxruntime_ep_device_ep_metadata_keys.h",
        "onnxruntime_new_part.h",
        "onnxruntime_session_options_config_keys.h",
    ]


def test_what_the_main_header_includes_is_no_root_of_its_own() -> None:
    texts = {
        "onnxruntime_c_api.h": b'#include "onnxruntime_error_code.h"\n',
        "onnxruntime_ep_c_api.h": b"",
        "onnxruntime_error_code.h": b'#include "onnxruntime_ep_c_api.h"\n',
        "onnxruntime_env_config_keys.h": b"",
    }
    assert root_files(files_of(texts)) == ["onnxruntime_c_api.h", "onnxruntime_env_config_keys.h"]


def test_the_api_version_is_read_from_the_text() -> None:
    assert api_version({"onnxruntime_c_api.h": b"// x\n#define ORT_API_VERSION 29\n"}) == 29


@pytest.mark.parametrize("files", [{}, {"onnxruntime_c_api.h": b"int x;"}, {"other.h": b"#define ORT_API_VERSION 3\n"}])
def test_headers_without_an_api_version_are_not_onnx_runtimes(files: dict[str, bytes]) -> None:
    with pytest.raises(GenError, match="are these ONNX Runtime's headers"):
        api_version(files)


@pytest.mark.parametrize("release", ["1.29", "1.29.3", "2.0"])
def test_a_release_that_fits_its_api_version_is_taken(release: str) -> None:
    check_release(release, 29)


@pytest.mark.parametrize("release", ["1.30", "1.2", "1.290"])
def test_a_release_of_another_api_version_is_refused(release: str) -> None:
    with pytest.raises(GenError, match=r"they are of release 1\.29, not"):
        check_release(release, 29)


@pytest.mark.parametrize("release", ["../1.29", "latest", "", "1", "v1.29"])
def test_what_is_no_release_is_refused(release: str) -> None:
    with pytest.raises(GenError, match="is not a release"):
        check_release(release, 29)


def test_the_committed_file_pins_two_releases_with_every_hash() -> None:
    sets = load_sources(SOURCES)
    assert {release: s.api_version for release, s in sets.items()} == {"1.26": 26, "1.29": 29}
    main = sets["1.29"].sha256["onnxruntime_c_api.h"]
    assert main == "acc0cf4b3f28d39339c76770d76164bb7a0637dc89f5fde764b4017b632f6743"
    assert all(s.npm and s.inside for s in sets.values())


def test_what_is_printed_to_pin_a_set_reads_back_as_that_set(tmp_path: Path) -> None:
    one = HeaderSet("1.30", 30, {"onnxruntime_c_api.h": DIGEST, "a_config_keys.h": DIGEST}, "@scope/x@1.0.0", "a b/é")
    two = HeaderSet("1.28", 28, {"onnxruntime_c_api.h": DIGEST})
    path = tmp_path / "sources.toml"
    path.write_text(toml_block(one) + "\n" + toml_block(two), "utf-8")
    assert load_sources(path) == {"1.28": two, "1.30": one}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = [", "is not TOML"),
        ('"1.29" = 3', "is not a table"),
        ('["1.29"]\napi_version = "29"', "needs api_version"),
        ('["1.28"]\napi_version = 29', "not 1.28"),
        ('["1.29"]\napi_version = 29', "needs the sha256 of every file"),
        ('["1.29"]\napi_version = 29\nsha256 = { "x.h" = "12" }', "needs the sha256 of every file"),
        ('["1.29"]\napi_version = 29\nsha256 = { "onnxruntime_c_api.h" = "12" }', "is not a file name and its sha256"),
        ('["1.29"]\napi_version = 29\nurl = "x"', "unknown key: url"),
        (
            f'["1.29"]\napi_version = 29\nnpm = 3\nsha256 = {{ "onnxruntime_c_api.h" = "{DIGEST}" }}',
            "npm is not a string",
        ),
    ],
)
def test_a_damaged_file_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(GenError, match=message) as caught:
        load_sources(path)
    assert "sources.toml" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["../evil.h", "sub/onnxruntime.h", "/etc/x.h"])
def test_a_pinned_file_name_never_leads_elsewhere(tmp_path: Path, name: str) -> None:
    path = tmp_path / "sources.toml"
    path.write_text(toml_block(HeaderSet("1.30", 30, {"onnxruntime_c_api.h": DIGEST, name: DIGEST})), "utf-8")
    with pytest.raises(GenError, match="is not a file name"):
        load_sources(path)


def test_a_missing_file_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(GenError, match="cannot read"):
        load_sources(tmp_path / "none.toml")


def test_every_way_to_differ_from_a_pinned_set_is_named() -> None:
    pinned = HeaderSet("1.30", 30, {"onnxruntime_c_api.h": DIGEST, "a_config_keys.h": DIGEST})
    assert problems(pinned, {"onnxruntime_c_api.h": b"text", "a_config_keys.h": b"text"}) == []
    other = hashlib.sha256(b"texT").hexdigest()
    assert problems(pinned, {"onnxruntime_c_api.h": b"texT", "b.h": b""}) == [
        "a_config_keys.h is missing",
        f"onnxruntime_c_api.h has sha256 {other}, but {DIGEST} is pinned",
        "b.h is not one of the set's files",
    ]
