"""Processes killed in the middle of a put: the old value or the new one, and nothing left behind."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ..support.oracles import need
from ..support.process import run_python

#: Of each store: few in a normal run, many in a stress run.
KILLS = 300 if "ORTCACHE_STRESS" in os.environ else 60

#: Forks a child that puts, kills it, looks at what is there; again and again.
KILLER = """
import os, random, signal, sys, time
from pathlib import Path
from ortcache.stores import DirectoryStore
from ortcache.stores.sqlite import SqliteStore
kind, folder, kills = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
rng = random.Random(11)

def make():
    if kind == "directory":
        return DirectoryStore(folder, max_size="30M")
    return SqliteStore(folder / "store.db", max_size="30M")

def value(version):  # its size, first bytes and last byte belong together
    size = [100, 70_000, 1_000_000, 5_000_000][version % 4] + version
    return version.to_bytes(4, "little") + bytes([version % 251]) * (size - 4)

def put_for_ever(told, version):
    store = make()
    while True:
        version += 1
        store.put("shared", value(version))
        os.write(told, version.to_bytes(4, "little"))
        store.put(f"own{version % 7}", value(version))
        if version % 5 == 0:
            store.delete("own3")

done = last = in_a_put = 0
while done < kills:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        put_for_ever(write, last)
    os.close(write)
    time.sleep(rng.uniform(0, 0.04))
    os.kill(child, signal.SIGKILL)
    assert os.waitpid(child, 0)[1] == signal.SIGKILL
    with os.fdopen(read, "rb") as stream:
        told = stream.read()
    acknowledged = int.from_bytes(told[-4:], "little") if told else last
    left = [path.name for path in folder.iterdir()]
    in_a_put += any(name.startswith(".tmp-") or name.endswith("-wal") for name in left)
    store = make()
    for key in list(store.keys()):
        found = store.get(key)
        version = int.from_bytes(found[:4], "little")
        assert found == value(version), (key, version, len(found))
    shared = store.get("shared")
    last = int.from_bytes(shared[:4], "little") if shared else 0
    assert last in (acknowledged, acknowledged + 1), (last, acknowledged)
    if kind == "sqlite":
        store.close()
        assert [path.name for path in folder.iterdir()] == ["store.db"]
    else:
        assert {path.name for path in folder.iterdir()} == set(store.keys())
    done += 1
print(done, in_a_put)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("kind", ["directory", "sqlite"])
def test_killed_in_the_middle_of_a_put(kind: str, tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    tmp_path.chmod(0o700)
    told = run_python(KILLER, kind, tmp_path, KILLS, timeout=800)
    done, in_a_put = map(int, told.split())
    assert done == KILLS
    assert in_a_put > KILLS / 5  # it did hit what it was meant to
