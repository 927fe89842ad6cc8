"""Values in object storage: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from ..errors import InputError, StoreError, StoreTimeoutError
from ..keys import check_key, key_problem
from .extras import load_obstore
from .masking import is_secret, masked
from .object_errors import no_bucket, object_error
from .protocol import Buffer, Entry
from .seconds import check_seconds
from .upload import PART, PARTS_AT_ONCE, Upload
from .waiting import run

__all__ = ["ObjectStore"]

_SCHEMES = ("s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "file", "memory")
_MEGABYTE = 1 << 20
_PAGE = 1000  # keys of one answer of S3
_Answer = TypeVar("_Answer")

#: The process that has used obstore first: its threads are in no child that is forked later.
_used_in: int | None = None


class ObjectStore:
    """Objects under a prefix of one bucket. A put is whole or not there, also for those who read meanwhile.

    Credentials come from where the service's own tools take them: the environment, and the machine's identity. Only
    whoever calls `get`, `put` and so on talks to the service; making the store does not.

    What it cannot do: tell two deleters of one key in different processes apart (both may be told that there was one),
    and work in a child that was forked after the library was used (a StoreError says so: start children by "spawn").
    An upload in parts that is cut off is invisible, and S3 keeps the parts until a lifecycle rule of the bucket
    removes incomplete uploads.

    Args:
        url: ``s3://bucket/prefix``, ``gs://bucket/prefix``, ``az://container/prefix``; also ``file:///existing/dir``
            and ``memory:///``. Give the store a prefix of its own: what lies below it in folders is read over at
            each listing.
        timeout: seconds in which the service must answer, and pass each megabyte of a value.
        config: the service's options as obstore names them, such as ``endpoint`` and ``region``. An endpoint may be
            ``http://``.

    Raises:
        InputError: no such URL or option.
        StoreError: obstore is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 5.0, **config: str) -> None:
        obstore = load_obstore()
        self.url = _checked_url(url)
        self.timeout = check_seconds("timeout", timeout)
        self._secrets = [str(value) for name, value in config.items() if is_secret(name)]
        wait = timedelta(seconds=timeout)
        local = url.startswith(("file:", "memory:"))
        kinds: dict[str, Any] = {} if local else {
            # Retries share the time of the whole operation.
            "retry_config": {"max_retries": 2, "retry_timeout": wait, "backoff": {"init_backoff": wait / 20}},
            "client_options": {
                "connect_timeout": wait,
                "timeout": timedelta(days=1),  # likewise; obstore's own default is 30 seconds for any size
                "allow_http": str(config.get("endpoint", "")).startswith("http://"),
            },
        }  # fmt: skip
        try:
            self._objects: Any = obstore.store.from_url(url, **kinds, **({"config": config} if config else {}))
        except (obstore.exceptions.BaseError, TypeError, ValueError) as error:
            raise InputError(str(object_error(error, f"{url!r} cannot be opened", self._secrets))) from None
        self._locks = [threading.Lock() for _ in range(16)]

    def get(self, key: str) -> bytes | None:
        check_key(key)

        async def read() -> bytes:
            async with asyncio.timeout(self.timeout) as limit:
                answer = await self._objects.get_async(key)
                pieces = []
                async for piece in answer.stream(min_chunk_size=_MEGABYTE):
                    pieces.append(piece)
                    limit.reschedule(asyncio.get_running_loop().time() + self.timeout)
                return b"".join(pieces)

        return self._ask(f"get of {key!r}", read, missing=None)

    def put(self, key: str, value: Buffer) -> None:
        check_key(key)
        # A copy, whatever it is: an upload that is given up may look at it a little longer than the call lasts.
        data = value if type(value) is bytes else memoryview(value).tobytes()

        async def write() -> None:
            if len(data) > _MEGABYTE:  # ask first whether anybody is there: sending much takes its time
                async with asyncio.timeout(self.timeout):
                    await self._exists(key)
            upload = Upload(data, self.timeout)
            sending = self._objects.put_async(key, upload.source, chunk_size=PART, max_concurrency=PARTS_AT_ONCE)
            await upload.watch(sending)

        self._ask(f"put of {key!r}", write)

    def delete(self, key: str) -> bool:
        check_key(key)

        async def remove() -> bool:
            async with asyncio.timeout(self.timeout):
                found = await self._exists(key)
                await self._objects.delete_async(key)  # where there is none too: the answer tells whether a bucket is
                return found

        with self._deletes(key):
            return self._ask(f"delete of {key!r}", remove, missing=False)

    def keys(self) -> Iterator[str]:
        return (entry.key for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """Each value's size, and when it was put: a service keeps no time of the last use."""
        pages = self._objects.list(chunk_size=_PAGE)

        async def page() -> list[Any] | None:
            async with asyncio.timeout(self.timeout):
                return await anext(pages, None)

        while (found := self._ask("listing", page)) is not None:
            for one in found:
                if key_problem(one["path"]) is None:
                    yield Entry(one["path"], one["size"], one["last_modified"].timestamp())

    def __repr__(self) -> str:
        return f"ObjectStore({self.url!r})"

    async def _exists(self, key: str) -> bool:
        try:
            await self._objects.head_async(key)
        except FileNotFoundError:
            return False
        return True

    @contextmanager
    def _deletes(self, key: str) -> Iterator[None]:
        """Of threads that delete one key, one finds a value."""
        lock = self._locks[hash(key) % len(self._locks)]
        if not lock.acquire(timeout=self.timeout):
            raise StoreTimeoutError(f"{self}: another thread has been deleting for {self.timeout:g} s")
        try:
            yield
        finally:
            lock.release()

    def _ask(self, what: str, function: Callable[[], Coroutine[Any, Any, _Answer]], **instead: _Answer) -> _Answer:
        """What the function gives; ``missing`` where the object is not there."""
        global _used_in
        if _used_in is None:
            _used_in = os.getpid()
        if _used_in != os.getpid():
            raise StoreError(
                f'{self}: a forked child cannot use obstore after its parent did. Start children by "spawn", '
                "or use the store in none of their parents"
            )
        obstore = load_obstore()
        try:
            return run(function)
        except TimeoutError as error:
            raise StoreTimeoutError(
                f"{self}: no answer to the {what} in {self.timeout:g} s. Are endpoint and region right? Where no "
                "credentials are set, the machine's metadata service is asked for some, which a network may swallow"
            ) from error
        except FileNotFoundError as error:
            if "missing" in instead and not no_bucket(error):
                return instead["missing"]
            raise object_error(error, f"{self}: {what} failed", self._secrets) from self._cause(error)
        except obstore.exceptions.BaseError as error:
            raise object_error(error, f"{self}: {what} failed", self._secrets) from self._cause(error)

    def _cause(self, error: Exception) -> Exception | None:
        """The error itself, unless it tells a secret: a token may be a part of a URL."""
        return None if any(secret in str(error) for secret in self._secrets) else error


def _checked_url(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    if not mark or scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES)
        raise InputError(f"{masked(url)!r} is no object store's URL: it starts with one of {known}")
    if "?" in rest or "#" in rest:
        raise InputError(f"{masked(url)!r}: options are arguments here; only open_store takes them in the URL")
    if scheme not in ("file", "memory") and not rest.partition("/")[0]:
        raise InputError(f"{url!r} names no bucket: write {scheme}://bucket/prefix")
    return url
