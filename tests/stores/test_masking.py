"""Secrets show nowhere; what is none stays readable."""

from __future__ import annotations

import pytest

from ortcache.stores.masking import is_secret, masked, scrubbed


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://me:pass@host:1/2?timeout=1", "redis://me:***@host:1/2?timeout=1"),
        ("redis://:pass@host", "redis://:***@host"),
        ("redis://me:p%40ss@host", "redis://me:***@host"),
        ("redis://me:p@ss:w@rd@host", "redis://me:***@host"),
        ("redis://me@host", "redis://me@host"),
        ("redis://host:6379/0", "redis://host:6379/0"),
        ("s3://b/p?access_key_id=me&secret_access_key=abc&region=x", "s3://b/p?access_key_id=me&secret_access_key=***&region=x"),
        ("az://c?account_key=abc==&account_name=me", "az://c?account_key=***&account_name=me"),
        ("az://c?sas_key=a&token=b&client_secret=c&session_token=d", "az://c?sas_key=***&token=***&client_secret=***&session_token=***"),
        ("x://h?password=a&SECRET=b&passwd=c&api_key=d", "x://h?password=***&SECRET=***&passwd=***&api_key=***"),
        ("redis://h?mac_key=abc&mac_key_env=NAME", "redis://h?mac_key=***&mac_key_env=NAME"),
        ("s3://b?sse_kms_key_id=id&federated_token_file=f&ssl_keyfile=k", "s3://b?sse_kms_key_id=id&federated_token_file=f&ssl_keyfile=k"),
        ("x://h?pwd=a&pass=b&auth=c&key_passphrase=d", "x://h?pwd=***&pass=***&auth=***&key_passphrase=***"),
        ("redis://me:a/b#c?d@e@host:1/0", "redis://me:***@host:1/0"),
        ("redis://:a/b@host?timeout=1", "redis://:***@host?timeout=1"),
        ("redis:me:pass@host", "redis:me:***@host"),
        ("redis://me:pass", "redis://me:***"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("redis://host:", "redis://host:"),
        ("s3://me:a/b@bucket/p", "s3://me:***@bucket/p"),
        ("s3://bucket/a:b@c", "s3://bucket/a:b@c"),
        ("s3://b?endpoint=http://me:pass@h:1&region=x", "s3://b?endpoint=http://me:***@h:1&region=x"),
        ("error: no such thing: me@host", "error: no such thing: me@host"),
        ("the store s3://b?token=*** is down: start it", "the store s3://b?token=*** is down: start it"),
        ("/a/path:with@signs", "/a/path:with@signs"),
        ("file:///a:b@c", "file:///a:b@c"),
        ("", ""),
    ],
)  # fmt: skip
def test_a_url_is_shown_without_its_secrets(url: str, shown: str) -> None:
    assert masked(url) == shown
    assert masked(shown) == shown


def test_names_of_secrets() -> None:
    assert [name for name in ("key", "token", "monkey", "keyboard", "keys", "prefix", "ttl") if is_secret(name)] == [
        "key",
        "token",
        "keys",
    ]


def test_a_text_is_scrubbed_of_a_secret_in_every_form() -> None:
    assert scrubbed("a b/c, a%20b/c and a%20b%2Fc", ["a b/c", ""]) == "***, *** and ***"
