"""Names of stores that are refused: by what is wrong with them, with what is known, and without secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.stores.url import open_store, plan_store


@pytest.mark.parametrize(
    ("url", "known"),
    [
        ("memory:?nonsense=1", "mac_key_env, max_size, mode, namespace, verify"),
        ("file:///x?timeout=1", "mac_key_env, max_size, mode, namespace, verify"),
        ("sqlite:///x.db?nonsense=1", "mac_key_env, max_size, mode, namespace, timeout, verify"),
        ("redis://h?nonsense=1", "mac_key_env, mode, namespace, prefix, retry_after, timeout, ttl, verify"),
        ("redis://h?region=x", "mac_key_env, mode, namespace, prefix, retry_after, timeout, ttl, verify"),
        ("s3://b?ttl=1", "access_key_id, checksum_algorithm"),
        ("gs://b?region=x", "application_credentials, base_url"),
        ("az://b?region=x", "account_key, account_name"),
        ("redis://h?max_size=1G", "only memory, directories and SQLite have a cap"),
        ("s3://b?max_size=1G", "only memory, directories and SQLite have a cap"),
    ],
)
def test_an_unknown_option_is_refused_by_name_with_what_is_known(url: str, known: str) -> None:
    name = url.partition("?")[2].partition("=")[0]
    with pytest.raises(InputError, match=f"has no option '{name}'.*{known}"):
        open_store(url)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("", "is no path"), ("foo://x", "no store has the scheme 'foo'; known are memory, file"),
        ("http://host/x", "no store has the scheme 'http'"), ("redis:host", "is not redis://"),
        ("s3:bucket", "is not s3://bucket/prefix"), ("s3://", "names no bucket"), ("s3:///x", "names no bucket"),
        ("sqlite://x.db", "is not sqlite:///relative.db"), ("sqlite:x.db", "is not sqlite:///"),
        ("sqlite://", "is not sqlite:///"), ("sqlite:///", "is not sqlite:///"), ("sqlite:///:memory:", "is memory:"),
        ("file://host/x", "is not file:///"), ("file:x", "is not file:///"), ("file:///", "is not file:///"),
        ("memory:name", "has no name"), ("/a/path?max_size=1G", "options need a URL"), ("a\0b", "is no path"),
        ("file:///a%zz", "percent-encoded"), ("file:///a%ff", "percent-encoded"), ("file:///a%00b", "percent-encoded"),
        ("memory:?mode", "name=value"), ("memory:?=1", "name=value"), ("memory:?mode=r&mode=w", "'mode' twice"),
        ("memory:?mode=r&m%6fde=w", "'mode' twice"), ("redis://h#x", "written %23"), ("memory:?mode=rr", "r, rw or w"),
        ("memory:?max_size=big", "size"), ("memory:?max_size=0", "size"), ("redis://h?timeout=0", "above 0"),
        ("redis://h?timeout=nan", "above 0"), ("redis://h?timeout=1e999", "above 0"), ("redis://h?timeout=", "above 0"),
        ("redis://h?timeout=1e10", "up to 1e\\+09"), ("s3://b?region=x&timeout=1e300", "up to 1e\\+09"),
        ("redis://h?retry_after=-1", "from 0"), ("redis://h?ttl=x", "ttl is a number of seconds"),
        ("redis://h?prefix=", "prefix is text"), ("unix:///s?db=x", "db is a number"), ("memory:?verify=2", "1 or 0"),
        ("memory:?namespace=a.b", "prefix of a namespace"), ("memory:?namespace=", "namespace is text"),
        ("memory:?mac_key=0123456789abcdef", "mac_key_env=NAME"), ("memory:?on_evict=x", "give it as argument"),
        ("memory:?mac_key_env=ORTCACHE_TEST_NOT_SET", "'ORTCACHE_TEST_NOT_SET' is not set"),
        ("s3://b?region=x&skip_signature=perhaps", "cannot be opened"), ("az://c/x", "cannot be opened"),
        ("redis://me:a/b@h", "percent-encoded"), ("redis://me:a@[::1", "percent-encoded"),
        ("s3://id@bucket", "credentials are options"), ("az://account:key@container", "credentials are options"),
        ("redis://h:port", "host\\[:port\\]"), ("redis://h/name", "database"),
    ],
)  # fmt: skip
def test_what_is_no_store_is_refused(url: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=problem):
        open_store(url)
    with pytest.raises(InputError, match=problem):
        plan_store(url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("where", [3, b"/bytes", ["x"], object()])
def test_what_is_neither_text_nor_a_path_is_refused(where: Any) -> None:
    with pytest.raises(TypeError):
        open_store(where)


def test_secrets_are_in_no_message() -> None:
    for url in (
        "redis://me:geheim@host/name", "redis://me:geheim@host?nonsense=1", "redis://:geheim@host:port",
        "s3://b?secret_access_key=geheim&nonsense=1", "s3://b?secret_access_key=geheim&timeout=-1",
        "s3://b?secret_access_key=geheim&region=x", "foo://me:geheim@host", "gs://b?service_account_key=geheim",
        "az://c?account_name=me&account_key=geheim", "memory:?mac_key=geheim", "/path?token=geheim",
        # what is special in a password should be percent-encoded, and often is not
        "redis://me:geh/geheim@host", "redis://:geheim/=@host:1/0", "redis://me:geh#geheim@host",
        "redis:me:geheim@host", "redis://me:geh?geheim@host", "redis://me:geheim", "redis://me:geheim@[::1", "redis://me:geheim@h\u2100",
        "foo://me:geh/geheim@host", "redis://h?pwd=geheim", "redis://h?auth=geheim", "s3://me:geheim@bucket",
        "s3://me:geh/geheim@bucket", "abfss://me:geheim@account.dfs.core.windows.net/x", "gs://me:geheim@bucket",
    ):  # fmt: skip
        with pytest.raises(InputError) as raised:
            open_store(url)
        error: BaseException | None = raised.value
        while error is not None:
            assert "geheim" not in str(error)
            error = error.__cause__
    with pytest.raises(InputError) as raised:
        open_store("s3://b", secret_access_key=b"geheim")
    assert "geheim" not in str(raised.value)
