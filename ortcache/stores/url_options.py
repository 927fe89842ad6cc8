"""The options of each kind of store, and what they may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import InputError
from .location import Location
from .masking import is_secret
from .namespaced import Namespaced
from .seal import Seal
from .seconds import check_seconds
from .size import parse_size

__all__ = ["check_options"]

_S3 = (
    "endpoint", "region", "access_key_id", "secret_access_key", "session_token", "skip_signature",
    "virtual_hosted_style_request", "server_side_encryption", "sse_kms_key_id", "checksum_algorithm",
    "disable_bulk_delete", "request_payer",
)  # fmt: skip
_GCS = (
    "service_account", "service_account_key", "application_credentials", "bearer_token", "base_url", "skip_signature",
)  # fmt: skip
_AZURE = (
    "account_name", "account_key", "client_id", "client_secret", "tenant_id", "sas_key", "token", "endpoint",
    "use_emulator", "use_azure_cli", "federated_token_file", "skip_signature",
)  # fmt: skip
_REDIS = ("prefix", "ttl", "ssl_ca_certs", "ssl_certfile", "ssl_keyfile")

#: What each scheme takes besides what all take.
_OPTIONS: dict[str, tuple[str, ...]] = {
    "memory": ("max_size",),
    "file": ("max_size",),
    "sqlite": ("max_size", "timeout"),
    **dict.fromkeys(("s3", "s3a"), ("timeout", "retry_after", *_S3)),
    "gs": ("timeout", "retry_after", *_GCS),
    **dict.fromkeys(("az", "azure", "adl", "abfs", "abfss"), ("timeout", "retry_after", *_AZURE)),
    "redis": ("timeout", "retry_after", "prefix", "ttl"),
    "rediss": ("timeout", "retry_after", *_REDIS),
    "unix": ("timeout", "retry_after", "prefix", "ttl", "db"),
}
_ALL = ("mode", "namespace", "verify", "mac_key_env")

#: Options that text cannot give, or should not.
_ARGUMENTS = ("mac_key", "on_evict")


def check_options(location: Location, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The options of the query and the arguments, each read as what it is.

    Raises:
        InputError: one is unknown there, or malformed; the message says what is known.
    """
    known = _OPTIONS[location.scheme]
    for name in location.options:
        if name in _ARGUMENTS:
            better = "name the variable that holds it: mac_key_env=NAME" if name == "mac_key" else "give it as argument"
            raise InputError(f"{location.shown!r}: {name!r} cannot be in a URL: {better}")
    given = {**location.options, **arguments}
    for name in given:
        if name not in (*known, *_ALL, "mac_key", *(("on_evict",) if "max_size" in known else ())):
            hint = "; only memory, directories and SQLite have a cap" if name in ("max_size", "on_evict") else ""
            listed = ", ".join(sorted((*known, *_ALL)))
            raise InputError(f"{location.shown!r}: {location.scheme} has no option {name!r}{hint}. There are: {listed}")
    try:
        return _with_mac_key({name: _read(name, value) for name, value in given.items()})
    except InputError as error:
        raise InputError(f"{location.shown!r}: {error}") from None


def _read(name: str, value: Any) -> Any:
    reader: Callable[[str, Any], Any] = _READERS.get(name, _text)
    return reader(name, value)


def _with_mac_key(chosen: dict[str, Any]) -> dict[str, Any]:
    variable = chosen.pop("mac_key_env", None)
    if variable is not None:
        if "mac_key" in chosen:
            raise InputError("give mac_key or mac_key_env, not both")
        key = os.environ.get(variable)
        if not key:
            raise InputError(f"mac_key_env: the environment variable {variable!r} is not set")
        chosen["mac_key"] = os.fsencode(key)
    if "mac_key" in chosen:
        if not chosen.get("verify", True):
            raise InputError("with verify=0 no MAC is checked: leave out one of them")
        chosen["verify"] = True
        Seal(chosen["mac_key"])
    return chosen


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise InputError(f"{name} is text, not {'***' if is_secret(name) else repr(value)}")
    return value


def _anything(name: str, value: Any) -> Any:
    return value


def _mode(name: str, value: Any) -> str:
    if value not in ("r", "rw", "w"):
        raise InputError(f"mode is r, rw or w, not {value!r}")
    return str(value)


def _truth(name: str, value: Any) -> bool:
    words = {"1": True, "true": True, "0": False, "false": False}
    found = words.get(str(value).lower())
    if found is None:
        raise InputError(f"{name} is 1 or 0, not {value!r}")
    return found


def _size(name: str, value: Any) -> int:
    return parse_size(value)


def _seconds_or_none_at_all(name: str, value: Any) -> float:
    return check_seconds(name, value, zero=True)


def _number(name: str, value: Any) -> int:
    if not str(value).isdecimal():
        raise InputError(f"{name} is a number, not {value!r}")
    return int(value)


def _prefix_of_namespace(name: str, value: Any) -> str:
    from .memory import MemoryStore

    return Namespaced(MemoryStore(), _text(name, value)).prefix


_READERS: dict[str, Callable[[str, Any], Any]] = {
    "mode": _mode,
    "namespace": _prefix_of_namespace,
    "verify": _truth,
    "mac_key": _anything,
    "on_evict": _anything,
    "max_size": _size,
    "timeout": check_seconds,
    "ttl": check_seconds,
    "retry_after": _seconds_or_none_at_all,
    "db": _number,
}
