"""A provider's sessions, as far as its directory is concerned."""

from __future__ import annotations

import threading

from ortcache import bridge
from ortcache.bridge import BridgedDirectory
from ortcache.stores import MemoryStore

__all__ = ["EP", "Copying", "Fake", "seed"]

EP = "TensorrtExecutionProvider"


class Fake:
    """A provider's session: it loads what is good, builds what is not there, and fails on all else."""

    def __init__(self, d: BridgedDirectory, providers: tuple[str, ...] = (EP, "CPUExecutionProvider")) -> None:
        assert d.path is not None
        self._providers = providers
        engine = d.path / "engine"
        self.warm = engine.exists()
        if not self.warm:
            fresh = d.path / f"engine.{threading.get_ident()}"  # whole at once: other threads look at it
            fresh.write_bytes(b"good")
            fresh.replace(engine)
        elif engine.read_bytes() != b"good":
            raise RuntimeError("deserialize failed")

    def get_providers(self) -> list[str]:
        return list(self._providers)


class Copying(MemoryStore):
    """Gives copies, as a store that is not in memory does."""

    def __init__(self, inner: MemoryStore) -> None:
        super().__init__()
        self._inner = inner

    def get(self, key: str) -> bytes | None:
        value = self._inner.get(key)
        return None if value is None else bytes(bytearray(value))


def seed(store: MemoryStore, content: bytes) -> None:
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        (d.path / "engine").write_bytes(content)
