"""The options that tell an execution provider its directory."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any

from ..errors import InputError
from ..warn import warn_user
from .bridged import BridgedDirectory
from .table import DIRECTORY, NAME, TABLE, Form, Option

__all__ = ["options_for", "provider_options"]

_WINDOWS = os.name == "nt"


def options_for(
    ep: str,
    directory: BridgedDirectory,
    *,
    option: str | None = None,
    form: str | None = None,
    device: str | None = None,
    name: str | None = None,
    version: str | None = None,
    **more: object,
) -> dict[str, str]:
    """An execution provider's own options for a cache directory, with the user's others.

    Args:
        ep: the provider's name, such as ``"TensorrtExecutionProvider"``.
        directory: the directory.
        option: the option that takes the directory, of a provider that is not known, or in place of a known one's.
        form: ``"bundled"`` or ``"plugin"``, for OpenVINO. By default what both take, or ``"bundled"`` before 1.23.
        device: the device that OpenVINO's configuration is for; by default ``device_type``'s, or ``"CPU"``.
        name: TensorRT's prefix of file names, or VitisAI's subfolder.
        version: of ONNX Runtime; by default the scope's ``ort_version``. Options that it does not know are left out.
        more: other options, which are passed on as text.

    Returns:
        All of them. The user's alone where the directory could not be made.

    Raises:
        InputError: the provider is not known and no option is named, this version of it knows no directory, or the
            user's options set the directory too.
        ClosedError: the directory was closed.
    """
    return provider_options(ep, directory, more, option=option, form=form, device=device, name=name, version=version)


def provider_options(
    ep: str,
    directory: BridgedDirectory,
    more: Mapping[str, object],
    *,
    option: str | None = None,
    form: str | None = None,
    device: str | None = None,
    name: str | None = None,
    version: str | None = None,
) -> dict[str, str]:
    """`options_for`, with other options of any name."""
    if not isinstance(directory, BridgedDirectory):
        raise TypeError(f"options are for what ortcache.bridge.directory gives, not for {type(directory).__name__}")
    directory.check_open()
    directory.ep = ep
    if version is None:
        version = directory.versions.get("ort_version")
    chosen = _form(ep, option, form, version)
    for known in chosen.options:
        if known.needed and known.since is not None and version is not None and _older(version, known.since):
            raise InputError(
                f"{ep} of ONNX Runtime {version} does not know {known.name!r}, which came with {known.since}: there is "
                "no cache directory for it. Name another option with option=, if it has one"
            )
    given = {key: value for key, value in more.items() if value is not None}
    for known in (known for one in (chosen, *TABLE.get(ep, ())) for known in one.options):
        if known.value == DIRECTORY and known.device_key is None and known.name in given:
            raise InputError(f"{known.name!r} of {ep} is the directory's path, which options_for sets: leave it out")
    if directory.path is None:
        return {key: _text(value) for key, value in given.items()}
    path = str(directory.path)
    if chosen.ascii and _WINDOWS and not path.isascii():
        warn_user(f"{ep} may not find {path}, which has characters outside of ASCII: name another folder with root=")
    result = {key: _text(value) for key, value in given.items() if not _is_config(key, chosen)}
    for known in chosen.options:
        if known.since is not None and version is not None and _older(version, known.since):
            continue
        value = {DIRECTORY: path, NAME: name or chosen.default_name}.get(known.value, known.value)
        if known.device_key is not None:
            target = device or _text(given.get("device_type", "CPU")).partition(":")[0]
            result[known.name] = _config(ep, given.get(known.name), target, known.device_key, path)
        elif value is not None:
            result.setdefault(known.name, value)
    return result


def _form(ep: str, option: str | None, form: str | None, version: str | None) -> Form:
    if option is not None:
        return Form((Option(option),))
    forms = TABLE.get(ep)
    if forms is None:
        raise InputError(
            f"how {ep} is told a cache directory is not known here; it is of {', '.join(TABLE)}. "
            "Name its option with option=, as its documentation calls it"
        )
    if form is None:
        first = forms[0]
        old = version is not None and any(known.since and _older(version, known.since) for known in first.options)
        return forms[-1] if old and len(forms) > 1 else first
    for known in forms:
        if known.name == form:
            return known
    raise InputError(f"{ep} has no form {form!r}: it is one of {[known.name for known in forms if known.name]}")


def _is_config(key: str, form: Form) -> bool:
    return any(known.name == key and known.device_key is not None for known in form.options)


def _config(ep: str, given: object, device: str, key: str, path: str) -> str:
    """JSON with a device's options, the user's and the path."""
    try:
        config = json.loads(given) if isinstance(given, str) else dict(given or {})  # type: ignore[call-overload]
        own = dict(config.get(device, {}))
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"load_config of {ep} is JSON, or a mapping, of options by device: {error}") from error
    if key in own:
        raise InputError(f"{key!r} of {ep}'s {device} is the directory's path, which options_for sets: leave it out")
    return json.dumps({**config, device: {**own, key: path}})


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, Mapping) else str(value)


def _older(version: str, than: str) -> bool:
    return _numbers(version) < _numbers(than)


def _numbers(version: str) -> tuple[Any, ...]:
    found = re.match(r"(\d+)\.(\d+)", version)
    if not found:
        raise InputError(f"{version!r} is no version of ONNX Runtime, such as 1.32.0")
    return int(found[1]), int(found[2])
