"""A scope, and the store of its entries alone."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ..errors import InputError
from ..stores.namespaced import Namespaced
from ..stores.protocol import Buffer, Store
from ..warn import warn_user
from .explain import Explanation, explain
from .model import model_digest as digest_of
from .records import write_parts
from .text import part_text, parts_digest

__all__ = ["Scope", "ScopedStore"]

_log = logging.getLogger("ortcache.scope")


class Scope:
    """Named parts that a cached value depends on. Scopes with any part different share no entry.

    Args:
        parts: name and text of each, such as a `ScopeRecord` has them. `Scope.of` makes them from what they are.

    Attributes:
        parts: as they were given; not to be changed.
        digest: 48 hexadecimal digits that stand for them.

    Raises:
        InputError: there is no part, or one is no text.
    """

    __slots__ = ("digest", "parts")

    parts: Mapping[str, str]
    digest: str

    def __init__(self, parts: Mapping[str, str]) -> None:
        if not parts:
            raise InputError("a scope without a part would mix everything up: name what the cached values depend on")
        if not all(isinstance(item, str) for part in parts.items() for item in part):
            raise InputError("the parts of a scope are text: Scope.of makes it from what they are")
        self.parts = MappingProxyType(dict(parts))
        self.digest = parts_digest(self.parts)

    @classmethod
    def of(
        cls,
        *,
        model: str | os.PathLike[str] | Buffer | None = None,
        model_digest: str | None = None,
        external_data: str | os.PathLike[str] | None = None,
        ort_version: str | None = None,
        ep: str | None = None,
        ep_version: object = None,
        device: object = None,
        driver: object = None,
        options: Mapping[str, object] | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> Scope:
        """The scope of these parts; those that are None are not part of it.

        A part, and each value of ``options`` and ``extra``, is text, a number, True, False, None, or a list or mapping
        of such. Values of different types are different, and so is None from an option that is not given. The order of
        options does not matter.

        Args:
            model: its path or bytes; see `ortcache.scope.model_digest`, which reads all of it.
            model_digest: text that changes when the model's bytes do, from somebody who knows it already.
            external_data: the folder of the model's external data, where that is not the model's own.
            ort_version: what the loaded library says, such as ``Runtime.version``; not that of a package.
            ep: name of the execution provider.
            ep_version: version of it.
            device: what tells the device from others that need other entries.
            driver: version of its driver.
            options: those provider options on which cached values depend.
            extra: whatever else they depend on.

        Raises:
            InputError: no part at all, a value of another type, or a model that cannot be read.

        Warns:
            RuntimeWarning: neither the model nor its digest is given: then entries of different models are told apart
                only by what the provider calls them, which may be no more than a path.
        """
        if model is not None and model_digest is not None:
            raise InputError("give the model or its digest, not both")
        if model is not None:
            model_digest = digest_of(model, external_data)
        elif external_data is not None:
            raise InputError("external_data is the folder of a model's data: give the model too")
        named = {
            "model": model_digest,
            "ort_version": ort_version,
            "ep": ep,
            "ep_version": ep_version,
            "device": device,
            "driver": driver,
        }
        for name in ("model", "ort_version", "ep"):
            if named[name] is not None and (not isinstance(named[name], str) or not named[name]):
                raise InputError(f"{name} of a scope is text, not {named[name]!r}")
        parts = {name: part_text(name, value) for name, value in named.items() if value is not None}
        for group, values in (("options", options), ("extra", extra)):
            if values is not None and not isinstance(values, Mapping):
                raise InputError(f"{group} of a scope is a mapping, not {type(values).__name__}")
            for name in sorted(_names(group, values or {})):
                parts[f"{group}.{name}"] = part_text(f"{group}.{name}", (values or {})[name])
        scope = cls(parts)
        if model_digest is None:
            warn_user(
                "a scope without the model: another model, or a new one under the same path, may get entries that were "
                "made for this one. Give model= (a path or bytes) or model_digest="
            )
        return scope

    @classmethod
    def of_device(
        cls,
        device: Any,
        *,
        model: str | os.PathLike[str] | Buffer | None = None,
        ort_version: str | None = None,
        options: Mapping[str, object] | None = None,
        **more: Any,
    ) -> Scope:
        """The scope of a plugin's device, as ``ortcache warm`` makes it: a cache that was warmed there is found.

        The provider's name and version are the parts ``ep`` and ``ep_version``, the hardware's numbers of vendor and
        device the part ``device``. A driver's version is not known here: ``driver`` names it where it matters.

        Args:
            device: an `EpDevice`, or one of the official module's ``get_ep_devices()``.
            model: as in `of`, and so are the others.
        """
        hardware = device.device
        return cls.of(
            model=model,
            ort_version=ort_version,
            ep=device.ep_name,
            ep_version=device.ep_metadata.get("version"),
            device=[hardware.vendor_id, hardware.device_id],
            options=options,
            **more,
        )

    def over(self, store: Store) -> ScopedStore:
        """The store's entries of this scope alone. What is put leaves a record of the parts too."""
        return ScopedStore(store, self)

    def explain(self, store: Store) -> Explanation:
        """Why is this scope missed in the store: nothing like it, or which parts differ from the nearest one?"""
        return explain(store, self.digest, self.parts)

    def __reduce__(self) -> tuple[type[Scope], tuple[dict[str, str]]]:
        return type(self), (dict(self.parts),)  # a process that is spawned may be given one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scope) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"Scope({dict(self.parts)!r})"


class ScopedStore(Namespaced):
    """One scope's entries.

    Attributes:
        inner: the store below.
        scope: whose entries these are.
    """

    def __init__(self, inner: Store, scope: Scope) -> None:
        super().__init__(inner, scope.digest)
        self.scope = scope
        self._recorded = False

    def put(self, key: str, value: Buffer) -> None:
        super().put(key, value)
        if not self._recorded:
            try:
                write_parts(self.inner, self.scope.digest, self.scope.parts)
            except Exception as error:  # the value is stored: only an explanation is poorer
                _log.warning("the parts of a scope were not recorded: %s: %s", type(error).__name__, error)
            else:
                self._recorded = True

    def explain(self) -> Explanation:
        """What `Scope.explain` says of this store."""
        return self.scope.explain(self.inner)

    def __repr__(self) -> str:
        return f"ScopedStore({self.inner!r}, {self.scope!r})"


def _names(group: str, values: Mapping[str, object]) -> list[str]:
    for name in values:
        if not isinstance(name, str):
            raise InputError(f"{group} of a scope has the name {name!r}, which is {type(name).__name__}, not text")
    return [str.__str__(name) for name in values]
