"""Upstream's headers into the git-ignored folder: chosen among candidates, verified whole, written at once."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from .errors import GenError
from .origins import Candidate
from .sources import MAIN_HEADER, HeaderSet, api_version, check_release, problems

__all__ = ["fetch", "fetch_unpinned", "held", "matching_release"]


def fetch(pinned: HeaderSet, candidates: Sequence[Candidate], upstream: Path) -> Path:
    """Write a pinned set into ``upstream/<release>``; give that folder.

    Raises:
        GenError: no candidate holds exactly the pinned files. Nothing has been written then.
    """
    tried: list[tuple[Candidate, list[str]]] = []
    for candidate in sorted(candidates, key=lambda c: c.inside != pinned.inside):
        files = {name: _as_pinned(data, pinned.sha256.get(name)) for name, data in candidate.files.items()}
        found = problems(pinned, files)
        if not found:
            return _install(files, upstream / pinned.release)
        tried.append((candidate, found))
    nearest, found = min(tried, key=lambda pair: len(pair[1]))
    raise GenError(
        f"{nearest.place} does not hold the {pinned.release} headers that are pinned: "
        + "; ".join(found)
        + ". Nothing was written"
    )


def fetch_unpinned(release: str, candidates: Sequence[Candidate], npm: str | None, upstream: Path) -> HeaderSet:
    """Write a set that nobody has pinned yet; give what `sources.toml` would say of it."""
    chosen = candidates[0]
    other = next((c for c in candidates if c.files != chosen.files), None)
    if other is not None:
        raise GenError(f"{chosen.place} and {other.place} differ: unpack the archive, and choose with --from")
    version = api_version(chosen.files)
    check_release(release, version)
    _install(chosen.files, upstream / release)
    hashes = {name: hashlib.sha256(data).hexdigest() for name, data in chosen.files.items()}
    return HeaderSet(release, version, hashes, npm, chosen.inside if npm else None)


def held(pinned: HeaderSet, upstream: Path) -> list[str] | None:
    """What is wrong with the set in ``upstream``: nothing is an empty list, and None is that there is none."""
    folder = upstream / pinned.release
    if not folder.is_dir():
        return None
    return problems(pinned, {path.name: path.read_bytes() for path in folder.glob("*.h")})


def matching_release(candidates: Iterable[Candidate], sets: Mapping[str, HeaderSet]) -> str:
    """The pinned release whose API version the headers have."""
    version = api_version(next(iter(candidates)).files)
    for pinned in sets.values():
        if pinned.api_version == version:
            return pinned.release
    raise GenError(
        f"these headers have ORT_API_VERSION {version}, and the pinned releases are {', '.join(sets)}: "
        f"name the release and add --unpinned, as in `fetch 1.{version} --unpinned`"
    )


def _as_pinned(data: bytes, digest: str | None) -> bytes:
    """The file with the line ends that were pinned: archives for Windows may have others."""
    plain = data.replace(b"\r\n", b"\n")
    return plain if hashlib.sha256(plain).hexdigest() == digest else data


def _install(files: Mapping[str, bytes], target: Path) -> Path:
    """Put a whole folder in place in one step, so that nobody ever sees half of one."""
    if MAIN_HEADER not in files:
        raise GenError(f"{target}: a header set without {MAIN_HEADER}")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as scratch:
        fresh, old = Path(scratch, "fresh"), Path(scratch, "old")
        fresh.mkdir()
        for name, data in files.items():
            (fresh / name).write_bytes(data)
        if target.exists():
            target.rename(old)
        try:
            fresh.rename(target)
        except OSError:
            if old.exists():
                old.rename(target)
            raise
    return target
