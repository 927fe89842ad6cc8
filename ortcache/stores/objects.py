"""Values in object storage: Amazon S3 and what speaks its protocol, Google Cloud Storage, Azure."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

from ..errors import InputError, StoreError, StoreTimeoutError
from ..keys import check_key, key_problem
from .extras import load_obstore
from .masking import is_secret, masked
from .object_errors import is_timeout, no_bucket, object_error
from .protocol import Buffer, Entry
from .seconds import check_seconds

__all__ = ["ObjectStore"]

_SCHEMES = ("s3", "s3a", "gs", "az", "azure", "adl", "abfs", "abfss", "file", "memory")
_MEGABYTE = 1 << 20

#: Bytes of one part of a large upload: S3 takes 10,000 parts from 5 MiB on.
PART = 8 << 20

#: The environment variables in which obstore finds an endpoint.
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AZURE_STORAGE_ENDPOINT", "AZURE_ENDPOINT")

_CHUNK = 1 << 18  # bytes that are read before the time is looked at
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
        timeout: seconds for which the service may be silent, and in which each megabyte of a value must pass. A value
            of more than 1 MB goes out in parts of 8 MB, with eight times the time for each.
        config: the service's options as obstore names them, such as ``endpoint`` and ``region``. An endpoint may be
            ``http://``.

    Raises:
        InputError: no such URL or option.
        StoreError: obstore is not installed.
    """

    def __init__(self, url: str, *, timeout: float = 5.0, **config: str) -> None:
        load_obstore()
        self.url = _checked_url(url)
        self.timeout = check_seconds("timeout", timeout)
        self._config = config
        self._secrets = [str(value) for name, value in config.items() if is_secret(name)]
        self._objects = self._open(self.timeout)
        # The same with more time, for uploads; made when there is one. In memory another one would be another memory.
        self._large: Any = self._objects if self._local else None
        self._locks = [threading.Lock() for _ in range(16)]

    def get(self, key: str) -> bytes | None:
        check_key(key)

        def read() -> bytes:
            begun, pieces, size = time.monotonic(), [], 0
            for piece in self._objects.get(key).stream(min_chunk_size=_CHUNK):
                pieces.append(piece)
                size += len(piece)
                if time.monotonic() - begun > self.timeout * (1 + size / _MEGABYTE):
                    raise TimeoutError
            return b"".join(pieces)

        return self._ask(f"get of {key!r}", read, missing=None)

    def put(self, key: str, value: Buffer) -> None:
        check_key(key)
        # A copy, whatever it is: an upload that failed may look at it a little longer than the call lasts.
        data = value if type(value) is bytes else memoryview(value).tobytes()

        def write() -> None:
            if len(data) <= _MEGABYTE:
                self._objects.put(key, data, use_multipart=False)
                return
            self._exists(key)  # is anybody there? It is asked with less patience than an upload needs
            if self._large is None:
                self._large = self._open(self.timeout * PART / _MEGABYTE)
            self._large.put(key, data if len(data) <= PART else _parts(data), chunk_size=PART)

        self._ask(f"put of {key!r}", write)

    def delete(self, key: str) -> bool:
        check_key(key)

        def remove() -> bool:
            found = self._exists(key)
            self._objects.delete(key)  # where there is none too: the answer tells whether there is a bucket
            return found

        with self._deletes(key):
            return self._ask(f"delete of {key!r}", remove, missing=False)

    def keys(self) -> Iterator[str]:
        return (entry.key for entry in self.entries())

    def entries(self) -> Iterator[Entry]:
        """Each value's size, and when it was put: a service keeps no time of the last use."""
        pages = self._objects.list(chunk_size=_PAGE)
        while (page := self._ask("listing", lambda: next(pages, None))) is not None:
            for one in page:
                if key_problem(one["path"]) is None:
                    yield Entry(one["path"], one["size"], one["last_modified"].timestamp())

    def __repr__(self) -> str:
        return f"ObjectStore({self.url!r})"

    def _open(self, silence: float) -> Any:
        """The library's store, which waits this long for each answer."""
        obstore = load_obstore()
        wait = timedelta(seconds=silence)
        options: dict[str, Any] = {"config": self._config} if self._config else {}
        if not self._local:
            # What fails at once is tried again, what fails late is not: retries do not multiply the time.
            options["retry_config"] = {
                "max_retries": 2,
                "retry_timeout": wait / 4,
                "backoff": {"init_backoff": wait / 50, "max_backoff": wait / 10},
            }
            # The library's own timeout of 30 seconds is for the whole of a value of any size.
            options["client_options"] = {"connect_timeout": wait, "read_timeout": wait, "timeout": timedelta(days=1)}
            options["client_options"]["allow_http"] = self._without_tls()
        try:
            return obstore.store.from_url(self.url, **options)
        except (obstore.exceptions.BaseError, TypeError, ValueError) as error:
            raise InputError(str(object_error(error, f"{self.url!r} cannot be opened", self._secrets))) from None

    @property
    def _local(self) -> bool:
        return self.url.startswith(("file:", "memory:"))

    def _without_tls(self) -> bool:
        """Does the user name an endpoint that has no TLS? Otherwise none is taken."""
        named = [self._config.get(name, "") for name in ("endpoint", "base_url")]
        named += [os.environ.get(name, "") for name in _ENDPOINTS]
        return any(name.startswith("http://") for name in named) or "use_emulator" in self._config

    def _exists(self, key: str) -> bool:
        try:
            self._objects.head(key)
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

    def _ask(self, what: str, function: Callable[[], _Answer], **instead: _Answer) -> _Answer:
        """What the function gives; ``missing`` where the object is not there."""
        global _used_in
        if _used_in is None:
            _used_in = os.getpid()
        if _used_in != os.getpid():
            raise StoreError(
                f'{self}: a forked child cannot use obstore after its parent did. Start children by "spawn", '
                "or use the store in none of their parents"
            )
        try:
            return function()
        except (load_obstore().exceptions.BaseError, OSError) as error:
            if isinstance(error, FileNotFoundError) and "missing" in instead and not no_bucket(error):
                return instead["missing"]
            # Without its cause where that tells a secret: a token may be a part of a URL.
            cause = None if any(secret in str(error) for secret in self._secrets) else error
            if is_timeout(error):
                raise StoreTimeoutError(
                    f"{self}: no answer to the {what} in {self.timeout:g} s. Are endpoint and region right? Where no "
                    "credentials are set, the machine's metadata service is asked for some, which a network may swallow"
                ) from cause
            raise object_error(error, f"{self}: {what} failed", self._secrets) from cause


def _parts(data: bytes) -> Iterator[memoryview]:
    view = memoryview(data)
    return (view[start : start + PART] for start in range(0, len(data), PART))


def _checked_url(url: str) -> str:
    scheme, mark, rest = url.partition("://")
    if not mark or scheme not in _SCHEMES:
        known = ", ".join(f"{name}://" for name in _SCHEMES)
        raise InputError(f"{masked(url)!r} is no object store's URL: it starts with one of {known}")
    if "?" in rest or "#" in rest:
        raise InputError(f"{masked(url)!r}: options are arguments here; only open_store takes them in the URL")
    bucket = rest.partition("/")[0]
    if scheme not in ("file", "memory") and not bucket:
        raise InputError(f"{masked(url)!r} names no bucket: write {scheme}://bucket/prefix")
    if ":" in bucket or ("@" in bucket and not scheme.startswith("abfs")):
        raise InputError(
            f"{masked(url)!r}: credentials are options or in the environment: no : or @ is in a bucket's name"
        )
    return url
