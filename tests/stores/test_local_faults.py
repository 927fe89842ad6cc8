"""Full disks, read-only ones, and directories that this user may not use, under both local stores."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..support.mounts import need_mounts
from ..support.oracles import need
from ..support.process import run_python

#: Defines make(folder, **options), failed(call) -> what a call raised, and left(folder) -> the names in it.
COMMON = """
import os, sqlite3, subprocess, sys
from pathlib import Path
from ortcache.errors import InputError, StoreError
from ortcache.stores import DirectoryStore
from ortcache.stores.sqlite import SqliteStore
kind, folder = sys.argv[1], Path(sys.argv[2])
def make(folder, **options):
    if kind == "directory": return DirectoryStore(folder / "store", **options)
    return SqliteStore(folder / "store.db", **options)
def failed(call):
    try: found = call()
    except InputError: raise
    except (OSError, StoreError) as error:
        expected, cause = (OSError, type(None)) if kind == "directory" else (StoreError, (sqlite3.Error, OSError))
        assert isinstance(error, expected) and isinstance(error.__cause__, cause), repr(error)
        return str(error)
    raise AssertionError(f"gave {found!r}")
def left(folder):
    return sorted(path.name for path in (folder / "store" if kind == "directory" else folder).iterdir())
"""

ON_A_SMALL_DISK = """
size = 24 << 20
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder], check=True)
store = make(folder)
old = bytes(range(256)) * 8192
store.put("old", old)
for free in (0, 4096, 100_000, 3_000_000):
    with open(folder / "filler", "wb") as filler:
        filler.truncate()
        space = os.statvfs(folder)
        filler.write(bytes(max(0, space.f_bavail * space.f_frsize - free)))
    for more in (1 << 20, 5 << 20, 30 << 20):
        for key in ("large", "old"):
            told = failed(lambda: store.put(key, bytes(free + more)))
            assert "No space left" in told or "the disk is full" in told, told
            assert store.get("large") is None and store.get("old") == old
    assert list(store.keys()) == ["old"]
    assert not [name for name in left(folder) if name.startswith(".tmp-")]
    assert make(folder).get("old") == old
    os.unlink(folder / "filler")
    store.put("new", b"there is room")
    assert store.get("new") == b"there is room"
    assert store.delete("new")
capped = make(folder, max_size="8M")
for turn in range(20):  # much more than the disk holds
    capped.put(f"k{turn}", bytes(4 << 20))
assert sorted(capped.keys()) == ["k18", "k19"]
print("done")
"""

ON_A_READ_ONLY_DISK = """
store = make(folder)
store.put("key", b"value" * 100_000)
if kind == "sqlite": store.close()
before = left(folder)
subprocess.run(["mount", "--bind", "-o", "ro", folder, folder], check=True)
for options in ({}, {"max_size": "10M"}):
    store = make(folder, **options)
    for _ in range(3):
        assert store.get("key") == b"value" * 100_000
    assert store.get("none") is None
    assert [(entry.key, entry.size) for entry in store.entries()] == [("key", 500_000)]
    failed(lambda: store.put("key", b"x"))
    failed(lambda: store.put("new", b"x"))
    failed(lambda: store.delete("key"))
    assert store.get("key") == b"value" * 100_000
    assert list(store.keys()) == ["key"]
assert left(folder) == before
failed(lambda: make(folder / "none"))
print("done")
"""

AS_ANOTHER_USER = """
def become(uid):
    os.setgroups([]); os.setgid(uid); os.setuid(uid)
make(folder / "warm").put("key", b"x")  # all is imported now
os.chown(folder, 65534, 65534)
if os.fork() == 0:
    try:
        become(65534)
        store = make(folder)
        store.put("key", b"value")
        if kind == "sqlite": store.close()
        place = folder / "store" if kind == "directory" else folder
        os.chmod(place, 0o500)
        store = make(folder, max_size="10M")
        for _ in range(3): assert store.get("key") == b"value"
        for call in (lambda: store.put("key", b"x"), lambda: store.put("new", b"x"), lambda: store.delete("key")):
            failed(call)
        assert list(store.keys()) == ["key"]
        failed(lambda: make(place / "below"))
        file = place / "key" if kind == "directory" else folder / "store.db"
        if kind == "sqlite": store.close()
        os.chmod(place, 0o700)
        os.chmod(file, 0o000)
        failed(lambda: make(folder).get("key"))
        os.chmod(file, 0o400)
        store = make(folder)
        assert store.get("key") == b"value"
        if kind == "sqlite": store.close()
        os.chmod(file, 0o600)
        make(folder).put("key", b"again")
        assert make(folder).get("key") == b"again"
        os._exit(0)
    except BaseException as error:
        os.write(2, repr(error).encode()); os._exit(1)
assert os.wait()[1] == 0
try: make(folder)  # this user is root, to whom it does not belong
except InputError as error: print("another user's" if "belongs to another user" in str(error) else error)
"""

OF_ROOT = """
store = make(folder)
store.put("key", b"value")
if kind == "sqlite": store.close()
place = folder / "store" if kind == "directory" else folder
file = place / "key" if kind == "directory" else folder / "store.db"
os.chmod(folder, 0o755), os.chmod(place, 0o755), os.chmod(file, 0o644)
def as_user():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    store = make(folder)
    assert store.get("key") == b"value"
    failed(lambda: store.put("key", b"x"))
    failed(lambda: store.put("new", b"x"))
    assert store.get("key") == b"value"
def refused():
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    try: make(folder)
    except InputError as error: assert "another user" in str(error), error
    else: raise AssertionError("taken")
for mode, owner, run in ((0o755, 0, as_user), (0o775, 0, refused), (0o755, 12345, refused)):
    os.chmod(place, mode), os.chown(place, owner, owner)
    if os.fork() == 0:
        try: run()
        except BaseException as error: os.write(2, repr(error).encode()); os._exit(1)
        os._exit(0)
    assert os.wait()[1] == 0, (oct(mode), owner)
print("done")
"""


@pytest.fixture(params=["directory", "sqlite"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that other users get at, which those of pytest are not."""
    need("root", sys.platform == "linux" and os.geteuid() == 0)
    place = Path(tempfile.mkdtemp(prefix="ortcache-test-"))
    place.chmod(0o711)
    (place / "in").mkdir(mode=0o700)
    yield place / "in"
    shutil.rmtree(place)


def alone(code: str, kind: str, folder: Path) -> str:
    """Run it where what it mounts is seen by nobody else, and gone when it ends."""
    need_mounts(folder)
    start = "import os, sys; os.execvp('unshare', ['unshare', '-m', sys.executable, '-c', *sys.argv[1:]])"
    return run_python(start, COMMON + code, kind, folder)


def test_a_full_disk(kind: str, folder: Path) -> None:
    assert alone(ON_A_SMALL_DISK, kind, folder) == "done\n"
    assert list(folder.iterdir()) == []


def test_a_read_only_disk(kind: str, folder: Path) -> None:
    assert alone(ON_A_READ_ONLY_DISK, kind, folder) == "done\n"


def test_another_user(kind: str, folder: Path) -> None:
    variables = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    assert run_python(COMMON + AS_ANOTHER_USER, kind, folder, **variables) == "another user's\n"


def test_what_root_made_for_all_to_read_is_read_and_what_others_may_change_is_refused(kind: str, folder: Path) -> None:
    folder.parent.chmod(0o755)
    variables = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}
    assert run_python(COMMON + OF_ROOT, kind, folder, **variables) == "done\n"
