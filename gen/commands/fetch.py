"""``python -m gen fetch``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

from ..errors import GenError
from ..fetch import fetch, fetch_unpinned, held, matching_release
from ..origins import Candidate, from_archive, from_folder, from_npm
from ..paths import SOURCES, UPSTREAM, shown
from ..sources import HeaderSet, load_sources, toml_block

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("release", nargs="*", metavar="RELEASE", help="such as 1.29; all that are pinned by default")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--archive", type=Path, metavar="FILE", help="a release archive (.tgz, .zip) or an npm tarball")
    where.add_argument("--from", type=Path, dest="folder", metavar="DIR", help="an include folder or a checkout")
    where.add_argument("--npm", metavar="NAME@VERSION", help="an npm package; by default the one that is pinned")
    parser.add_argument(
        "--unpinned", action="store_true", help="take a release that is not pinned, and print what would pin it"
    )
    parser.epilog = (
        f"The headers land in {shown(UPSTREAM)}/RELEASE, every file verified against {shown(SOURCES)}. "
        "Without --archive, --from or --npm, `npm pack` brings the pinned package."
    )


def run(args: argparse.Namespace) -> int:
    sets = load_sources(SOURCES)
    if args.unpinned:
        return _unpinned(args, sets)
    unknown = [release for release in args.release if release not in sets]
    if unknown:
        raise GenError(
            f"{unknown[0]} is not pinned in {shown(SOURCES)}, which has {', '.join(sets)}: "
            "add --unpinned to take it as it is"
        )
    candidates = _given(args)
    if candidates is not None:
        releases = args.release or [matching_release(candidates, sets)]
    else:
        releases = args.release or list(sets)
    for release in releases:
        _fetch(sets[release], candidates)
    return 0


def _fetch(pinned: HeaderSet, candidates: list[Candidate] | None) -> None:
    there = held(pinned, UPSTREAM)
    where = f"{pinned.release}: {shown(UPSTREAM / pinned.release)}"
    if there == []:
        print(f"{where} is there already, {len(pinned.sha256)} files verified")
        return
    if there:
        print(f"{where} is not what is pinned ({'; '.join(there)}): fetching it again")
    if candidates is None:
        if pinned.npm is None:
            raise GenError(f"{pinned.release} is pinned without an npm package: give --archive or --from")
        print(f"{pinned.release}: npm pack {pinned.npm}", flush=True)
        candidates = from_npm(pinned.npm)
    fetch(pinned, candidates, UPSTREAM)
    print(f"{where} written, {len(pinned.sha256)} files verified")


def _unpinned(args: argparse.Namespace, sets: Mapping[str, HeaderSet]) -> int:
    candidates = _given(args)
    if candidates is None or len(args.release) != 1:
        raise GenError("--unpinned takes one RELEASE, and one of --archive, --from and --npm")
    release = args.release[0]
    if release in sets:
        raise GenError(f"{release} is pinned: fetch it without --unpinned, or change {shown(SOURCES)} first")
    fetched = fetch_unpinned(release, candidates, args.npm, UPSTREAM)
    print(
        f"{release}: {shown(UPSTREAM / release)} written, {len(fetched.sha256)} files, NOT verified: nothing pins them."
    )
    print(f"To pin them, append this to {shown(SOURCES)}:\n\n{toml_block(fetched)}", end="")
    return 0


def _given(args: argparse.Namespace) -> list[Candidate] | None:
    """What the options name; None leaves it to the pinned package."""
    if args.archive is not None:
        return from_archive(args.archive)
    if args.folder is not None:
        return from_folder(args.folder)
    return from_npm(args.npm) if args.npm is not None else None
