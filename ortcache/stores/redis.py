"""Values in a Redis server."""

from __future__ import annotations

import re
import secrets
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Self
from urllib.parse import urlsplit

from ..errors import InputError, StoreError
from ..keys import check_key, key_problem
from .extras import load_redis
from .flat import flat
from .masking import masked
from .protocol import Buffer, Entry
from .redis_errors import redis_error
from .seconds import check_seconds

__all__ = ["RedisStore"]

#: Bytes of one field: a larger value is sent in pieces, so that Redis serves others in between.
PIECE = 1 << 20

#: Pieces that are read at once: a value of no more is never seen to change while it is read.
AT_ONCE = 16

_PREFIX = re.compile(r"[A-Za-z0-9._:/-]{1,100}", re.ASCII)
_PAGE = 1000  # keys that one SCAN looks at
_CHANGED = object()


class RedisStore:
    """A hash a value: its pieces, its size, and an id that no other value has.

    A value of more than one piece (1 MB) is written under a name of its own, which Redis forgets by itself where the
    writer dies, and then renamed. Whoever reads one of more than 16 MB sees by the id whether another value has come
    meanwhile; then it starts again, once, and after that it is a miss. So Redis evicts and expires whole values, and no
    value is too large for it.

    Making the store does not connect. After a fork the child has connections of its own. Not for Redis Cluster.

    Args:
        url: ``redis://[user:password@]host[:port][/database]``, ``rediss://`` for TLS, or ``unix:///path/of/socket``.
        prefix: what all its keys in Redis start with: letters, digits and ``. _ : / -``.
        timeout: seconds for which Redis may be silent, and in which it must take each megabyte.
        ttl: seconds after which a value that was put is gone; None for never.
        db: the number of the database, for unix://.
        connection: further arguments for redis-py's connections, such as ``ssl_ca_certs``.

    Raises:
        InputError: no such URL or option.
        StoreError: the redis library is not installed.
    """

    def __init__(
        self,
        url: str,
        *,
        prefix: str = "ortcache:",
        timeout: float = 2.0,
        ttl: float | None = None,
        db: int | None = None,
        **connection: Any,
    ) -> None:
        redis = load_redis()
        if not _PREFIX.fullmatch(prefix):
            raise InputError(f"the prefix {prefix!r} must be 1 to 100 letters, digits, or any of . _ : / -")
        self.prefix = prefix
        self.timeout = check_seconds("timeout", timeout)
        self._ttl = None if ttl is None else max(1, round(check_seconds("ttl", ttl) * 1000))
        self._shown = masked(url)
        self._pool = redis.ConnectionPool.from_url(
            _checked_url(url),
            **({} if db is None else {"db": db}),
            socket_timeout=self.timeout,
            socket_connect_timeout=self.timeout,
            retry=redis.retry.Retry(redis.backoff.NoBackoff(), 0),  # a second try would double the time
            max_connections=1 << 31,  # one for each thread that waits: the server has a limit of its own
            **connection,
        )
        self._redis = redis.Redis(connection_pool=self._pool)
        weakref.finalize(self, self._pool.disconnect)  # the library leaves its sockets to the garbage collector
        # Refreshed with each piece, of which none takes longer than the timeout.
        self._lifetime = round((60 + 2 * self.timeout) * 1000)

    def get(self, key: str) -> bytes | None:
        name = self._name(key)
        with self._talking(f"get of {key!r}"):
            found = self._read(name)
            if found is _CHANGED:
                found = self._read(name)
        return found if isinstance(found, bytes) else None

    def put(self, key: str, value: Buffer) -> None:
        name, data = self._name(key), flat(value)
        fields = {"id": secrets.token_hex(8), "size": data.nbytes, "put": int(time.time()), "0": bytes(data[:PIECE])}
        with self._talking(f"put of {key!r}"):
            if data.nbytes <= PIECE:
                with self._redis.pipeline(transaction=True) as together:
                    together.unlink(name)
                    together.hset(name, mapping=fields)
                    if self._ttl:
                        together.pexpire(name, self._ttl)
                    together.execute()
            else:
                self._put_in_pieces(name, data, fields)

    def delete(self, key: str) -> bool:
        name = self._name(key)
        with self._talking(f"delete of {key!r}"):
            return bool(self._redis.unlink(name))

    def keys(self) -> Iterator[str]:
        seen: set[str] = set()
        for page in self._pages():
            fresh = set(page) - seen  # Redis may give one twice
            seen |= fresh
            yield from fresh

    def entries(self) -> Iterator[Entry]:
        """Each value's size, and when it was put: asking Redis for the last use would be a use."""
        seen: set[str] = set()
        for page in self._pages():
            fresh = list(set(page) - seen)
            seen.update(fresh)
            with self._talking("listing"), self._redis.pipeline(transaction=False) as together:
                for key in fresh:
                    together.hmget(self._name(key), "size", "put")
                answers = together.execute(raise_on_error=False)
            for key, answer in zip(fresh, answers, strict=True):
                if isinstance(answer, list) and None not in answer:  # it is still there, and a value
                    yield Entry(key, int(answer[0]), float(answer[1]))

    def close(self) -> None:
        """Close the connections. Using the store again makes new ones."""
        self._pool.disconnect()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"RedisStore({self._shown!r}, prefix={self.prefix!r})"

    def _name(self, key: str) -> str:
        return f"{self.prefix}v:{check_key(key)}"

    def _read(self, name: str) -> object:
        """The value; None where there is none; _CHANGED where another came while it was read."""
        first, size, *pieces = self._redis.hmget(name, "id", "size", *map(str, range(AT_ONCE)))
        if first is None and size is None and pieces[0] is None:
            return None
        if first is None or size is None or pieces[0] is None:
            raise StoreError(f"{self}: {name!r} holds something that is no value: delete it, or use another prefix")
        count = _count(int(size))
        del pieces[count:]
        while len(pieces) < count:
            numbers = range(len(pieces), min(len(pieces) + AT_ONCE, count))
            now, *more = self._redis.hmget(name, "id", *map(str, numbers))
            if now != first:
                return _CHANGED
            pieces += more
        if None in pieces:
            raise StoreError(f"{self}: {name!r} is not whole: delete it")
        return pieces[0] if count == 1 else b"".join(pieces)

    def _put_in_pieces(self, name: str, data: memoryview, fields: dict[str, Any]) -> None:
        temporary = f"{self.prefix}t:{fields['id']}"
        try:
            for number in range(_count(data.nbytes)):
                piece = bytes(data[number * PIECE : (number + 1) * PIECE])
                with self._redis.pipeline(transaction=True) as together:
                    together.hset(temporary, mapping=fields if number == 0 else {str(number): piece})
                    together.pexpire(temporary, self._lifetime)
                    together.execute()
            if self._redis.hlen(temporary) != _count(data.nbytes) + 3:
                raise StoreError(f"{self}: Redis dropped the value while it was written: its memory is full")
            with self._redis.pipeline(transaction=True) as together:
                together.rename(temporary, name)
                together.pexpire(name, self._ttl) if self._ttl else together.persist(name)
                together.execute()
        except (StoreError, load_redis().ResponseError):
            # Redis is there: make room. After other failures that would only be one more to wait for.
            with suppress(load_redis().RedisError):
                self._redis.unlink(temporary)
            raise

    def _pages(self) -> Iterator[list[str]]:
        cursor, start = 0, len(f"{self.prefix}v:")
        while True:
            with self._talking("listing"):
                cursor, names = self._redis.scan(cursor, match=f"{self.prefix}v:*", count=_PAGE)
            keys = [name.decode("utf-8", "replace")[start:] for name in names]
            yield [key for key in keys if key_problem(key) is None]
            if cursor == 0:
                return

    @contextmanager
    def _talking(self, what: str) -> Iterator[None]:
        """Around requests: what the library raises becomes a StoreError that says what to do."""
        redis = load_redis()
        try:
            yield
        except (redis.RedisError, OSError) as error:
            raise redis_error(error, f"{self}: {what} failed", self.timeout) from error


def _count(size: int) -> int:
    return max(1, -(-size // PIECE))


def _checked_url(url: str) -> str:
    shown = masked(url)
    try:
        parts = urlsplit(url)
    except ValueError:  # its text may tell the password
        raise InputError(f"{shown!r} is no URL: what is special in a password is percent-encoded") from None
    if parts.scheme not in ("redis", "rediss", "unix"):
        raise InputError(f"{shown!r} is no Redis URL: it starts with redis://, rediss:// or unix://")
    if parts.query or parts.fragment:
        raise InputError(f"{shown!r}: options are arguments here; only open_store takes them in the URL")
    if parts.scheme == "unix":
        if not parts.path:
            raise InputError(f"{shown!r} names no socket: write unix:///path/of/socket")
        return url
    try:
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        port_is_right = False
    if not parts.hostname or not port_is_right or not re.fullmatch(r"(/[0-9]*)?", parts.path):
        raise InputError(
            f"{shown!r} is not {parts.scheme}://[user:password@]host[:port][/database number]; what is special in a "
            "password is percent-encoded"
        )
    return url
