"""The part of ``doctor`` that is about caches: who answers, where directories are made, does the store work."""

from __future__ import annotations

import os
from typing import Any

from ..bridge.places import choose_place
from ..epcache import DISABLE, caches_disabled
from ..stores.location import locate
from ..stores.size import parse_size
from ..stores.url import STORE_VARIABLE
from .installed import version_of
from .store_check import check_store
from .target import missing_store
from .units import size_text

__all__ = ["cache_findings", "cache_rows", "check_caches"]

#: Optional packages: what each is for, and how it is installed.
_OPTIONAL = {
    "onnxruntime": ("the library itself, and its official module", "pip install 'ortcache[onnxruntime]'"),
    "obstore": ("stores in S3, Google Cloud Storage and Azure", "pip install 'ortcache[objects]'"),
    "redis": ("stores in Redis", "pip install 'ortcache[redis]'"),
    "rich": ("the progress display of `ortcache warm`", "pip install 'ortcache[cli]'"),
}

#: What a bridged directory wants free in memory, unless it is told otherwise.
_ROOM = "256M"


def check_caches(store: str | None) -> dict[str, Any]:
    """All of it as a document.

    Args:
        store: what names the store to try; None for the default one, where there is one.
    """
    place = choose_place(parse_size(_ROOM))
    return {
        "disabled": caches_disabled(),
        "store": _check_store(store or os.environ.get(STORE_VARIABLE) or None),
        "directories": place and {"path": str(place.path), "in_memory": place.in_memory, "free": place.free},
        "optional_packages": {
            name: {"version": version_of(name), "for": use, "install": install}
            for name, (use, install) in _OPTIONAL.items()
        },
    }


def cache_rows(caches: dict[str, Any]) -> list[tuple[str, object]]:
    """What is shown of it."""
    missing = {name: package for name, package in caches["optional_packages"].items() if package["version"] is None}
    there = [f"{name} {p['version']}" for name, p in caches["optional_packages"].items() if p["version"]]
    rows: list[tuple[str, object]] = [("optional", ", ".join(there) or "none")]
    rows += [("  missing", f"{name}, for {package['for']}: {package['install']}") for name, package in missing.items()]
    place = caches["directories"]
    if place:
        kind = "in memory" if place["in_memory"] else "on a disk"
        rows.append(("directories", f"in {place['path']}, {kind}, {size_text(place['free'])} free"))
    else:
        rows.append(("directories", "can be made nowhere"))
    rows.append(
        ("store", caches["store"]["text"] if caches["store"] else f"none is named: --store, or {STORE_VARIABLE}")
    )
    return rows


def cache_findings(caches: dict[str, Any]) -> list[dict[str, Any]]:
    """What is wrong with it. No inference depends on a cache."""
    found = []
    if caches["disabled"]:
        found.append((f"{DISABLE} is set, so every cache is off", f"Unset {DISABLE} to use caches."))
    store = caches["store"]
    if store and store["failed"]:
        found.append((f"the store {store['store']} does not work: {store['failed']}: {store['error']}", store["do"]))
    if not caches["directories"]:
        what = "there is no folder for the private directories of providers that know nothing but one"
        found.append((what, "Mount one in memory (/dev/shm), or set TMPDIR to a folder that can be written to."))
    return [{"what": what, "do": do, "fatal": False} for what, do in found]


def _check_store(url: str | None) -> dict[str, Any] | None:
    if url is None:
        return None
    if missing_store(url):
        where = locate(url).shown
        text = f"{where} is not there yet; the first value makes it"
        return {"store": where, "failed": None, "there": False, "text": text}
    check = check_store(url)
    return {**check.as_dict(), "there": True, "text": f"{check.store}: {check}"}
