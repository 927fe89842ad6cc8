"""Headers out of folders, archives and npm packages, hostile archives among them."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gen.errors import GenError
from gen.origins import from_archive, from_folder, from_npm
from tests.support.small_headers import MAIN, folder

Files = dict[str, bytes]
DATA = MAIN.encode()


def tgz(path: Path, files: Files, *extra: tarfile.TarInfo) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for info in extra:
            archive.addfile(info)
    return path


def zipped(path: Path, files: Files) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


def link(name: str, target: str, kind: bytes = tarfile.SYMTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


Pack = Callable[[Path, Files], Path]
both = pytest.mark.parametrize("pack", [tgz, zipped])


@pytest.mark.parametrize(
    "inner", [".", "include", "include/onnxruntime/core/session", "core/session", "build/native/include"]
)
def test_a_folder_is_an_include_folder_a_release_a_checkout_or_a_package(tmp_path: Path, inner: str) -> None:
    folder(tmp_path / "got" / inner, a_config_keys="", onnxruntime_cxx_api="")
    [found] = from_folder(tmp_path / "got")
    assert found.files == {"a_config_keys.h": b"", "onnxruntime_c_api.h": DATA}


def test_a_folder_without_headers_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(GenError, match=r"include/onnxruntime/core/session.*name the include folder"):
        from_folder(tmp_path)
    with pytest.raises(GenError, match="no such folder"):
        from_folder(tmp_path / "none")


@both
def test_an_archive_gives_each_folder_that_holds_the_c_api(tmp_path: Path, pack: Pack) -> None:
    files = {
        "package/a b/Headers/onnxruntime_c_api.h": DATA,
        "package/a b/Headers/x_config_keys.h": b"keys",
        "package/a b/Headers/onnxruntime_cxx_api.h": b"c++",
        "package/second/onnxruntime_c_api.h": b"other",
        "package/lib/unrelated.h": b"",
        "package/lib/libonnxruntime.so": b"\x7fELF",
    }
    found = {c.inside: c.files for c in from_archive(pack(tmp_path / "archive", files))}
    assert found == {
        "package/a b/Headers": {"onnxruntime_c_api.h": DATA, "x_config_keys.h": b"keys"},
        "package/second": {"onnxruntime_c_api.h": b"other"},
    }


@both
@pytest.mark.parametrize(
    "name", ["../evil.h", "a/../../evil.h", "/etc/evil.h", "C:\\evil.h", "..\\evil.h", "a/..", "\\\\host\\share\\x"]
)
def test_a_path_that_climbs_out_is_refused_even_where_nothing_is_unpacked(
    tmp_path: Path, pack: Pack, name: str
) -> None:
    archive = pack(tmp_path / "archive", {"include/onnxruntime_c_api.h": DATA, name: b""})
    with pytest.raises(GenError, match="leads out of the archive: refused"):
        from_archive(archive)
    assert [path.name for path in tmp_path.rglob("*")] == ["archive"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE])
def test_a_header_that_is_a_link_or_a_device_is_refused(tmp_path: Path, kind: bytes) -> None:
    archive = tgz(tmp_path / "x.tgz", {}, link("include/onnxruntime_c_api.h", "/etc/passwd", kind))
    with pytest.raises(GenError, match="is a link or a device"):
        from_archive(archive)


def test_a_header_that_is_a_link_in_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo("include/onnxruntime_c_api.h")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(GenError, match="is a link or a device"):
        from_archive(path)


def test_the_links_of_a_real_release_beside_the_headers_are_passed_over(tmp_path: Path) -> None:
    files = {"ort/include/onnxruntime_c_api.h": DATA, "ort/lib/libonnxruntime.so.1.29.0": b"\x7fELF"}
    archive = tgz(tmp_path / "x.tgz", files, link("ort/lib/libonnxruntime.so", "libonnxruntime.so.1"))
    assert from_archive(archive)[0].files == {"onnxruntime_c_api.h": DATA}


@both
def test_a_header_larger_than_any_is_refused_and_never_read_whole(tmp_path: Path, pack: Pack) -> None:
    archive = pack(tmp_path / "archive", {"include/onnxruntime_c_api.h": bytes(9 << 20)})
    assert archive.stat().st_size < 1 << 20
    with pytest.raises(GenError, match="larger than any header"):
        from_archive(archive)


def test_a_member_of_a_size_that_no_release_has_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("lib/huge.bin")
    info.size = 5 << 30
    path = tmp_path / "x.tgz"
    path.write_bytes(gzip.compress(info.tobuf() + bytes(1024)))
    with pytest.raises(GenError, match="more than any release holds"):
        from_archive(path)


def test_a_header_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tgz"
    with tarfile.open(path, "w:gz") as archive:
        for data in (DATA, b"another"):
            info = tarfile.TarInfo("include/onnxruntime_c_api.h")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    with pytest.raises(GenError, match="is in the archive twice"):
        from_archive(path)


@both
def test_an_archive_without_headers_says_so(tmp_path: Path, pack: Pack) -> None:
    with pytest.raises(GenError, match=r"holds no onnxruntime_c_api\.h"):
        from_archive(pack(tmp_path / "archive", {"lib/x.so": b""}))


@both
def test_a_damaged_archive_is_refused_in_one_line(tmp_path: Path, pack: Pack) -> None:
    path = pack(tmp_path / "archive", {"include/onnxruntime_c_api.h": DATA * 50})
    whole = path.read_bytes()
    for damaged in (whole[: len(whole) // 2], whole[: len(whole) // 2] + bytes(len(whole) // 2), b"", b"no archive"):
        path.write_bytes(damaged)
        with pytest.raises(GenError, match=r"^cannot read .* as a \.tgz or \.zip archive: [^\n]*$"):
            from_archive(path)


def test_a_missing_archive_is_said_to_be_missing(tmp_path: Path) -> None:
    with pytest.raises(GenError, match="no such archive"):
        from_archive(tmp_path / "none.tgz")


def test_without_npm_the_other_ways_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GenError, match=r"npm is not on PATH.*--archive FILE.*--from DIR.*snapshots are enough"):
        from_npm("name@1.2.3")


@pytest.mark.parametrize("package", ["name", "name@latest", "name@^1.0.0", "--help", "../x@1.0.0", "name@1.2.3 other"])
def test_only_an_exact_version_of_a_package_goes_to_npm(package: str) -> None:
    with pytest.raises(GenError, match="is not an npm package with an exact version"):
        from_npm(package)


def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A stand-in for npm: the real one needs the network, and cannot be made to fail at will."""
    tool = tmp_path / "bin" / "npm"
    tool.parent.mkdir()
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")


def test_what_npm_packs_is_read_as_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tgz(tmp_path / "packed.tgz", {"package/Headers/onnxruntime_c_api.h": DATA})
    npm(tmp_path, monkeypatch, f'test "$1 $2" = "pack name@1.2.3" && cp {packed} "$6"/name-1.2.3.tgz')
    [found] = from_npm("name@1.2.3")
    assert (found.inside, found.files) == ("package/Headers", {"onnxruntime_c_api.h": DATA})


def test_what_npm_says_when_it_fails_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(tmp_path, monkeypatch, "echo 'npm error code ENOTFOUND' >&2; exit 3")
    with pytest.raises(GenError, match=r"`npm pack name@1\.2\.3` failed: npm error code ENOTFOUND"):
        from_npm("name@1.2.3")


def test_npm_that_leaves_nothing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    npm(tmp_path, monkeypatch, "exit 0")
    with pytest.raises(GenError, match="left 0 archives"):
        from_npm("name@1.2.3")
