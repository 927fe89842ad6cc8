"""Session options: what a session is made with."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

from .. import raw
from ..core.callbacks import Token, status_callback
from ..core.handle import Handle
from ..core.marshal import key_values, pointers, string
from ..errors import InputError
from .config import entry_text
from .device import DeviceUse, EpDevice, ep_devices
from .env import Environment
from .initializers import ModelSettings
from .keyvalues import read_key_values
from .providers import append_provider
from .scalars import ScalarSettings, entry_setting
from .selection import SelectionFunction, Selector, select
from .settings import member

__all__ = ["SessionOptions"]


class SessionOptions(ScalarSettings, ModelSettings):
    """An OrtSessionOptions. The settings have the names that ``onnxruntime.SessionOptions`` gives them.

    Args:
        env: the environment. ORT logs into it, so it lasts as long as these options.
        config: config entries.
        settings: properties of this class by name.

    Raises:
        TypeError: no such setting, or a value of the wrong type.
        InputError: a value that cannot be.
    """

    _add_entry = "AddSessionConfigEntry"
    _what = "session options"

    def __init__(self, env: Environment, /, *, config: Mapping[str, object] | None = None, **settings: Any) -> None:
        out = ctypes.POINTER(raw.OrtSessionOptions)()
        env.native.api.CreateSessionOptions(ctypes.byref(out))
        self._start(env, out)
        self._set_all(config, settings)

    def _start(self, env: Environment, pointer: Any, other: SessionOptions | None = None) -> None:
        self._devices: list[EpDevice] = list(other._devices) if other else []
        self._appended: list[str] = list(other._appended) if other else []  # full names, in order
        self._selects: bool = other._selects if other else False
        self._uses: list[DeviceUse] = []
        self._own(env, pointer, env.native.api.raw.ReleaseSessionOptions, other)

    def clone(self) -> SessionOptions:
        """A copy. A later change to one is not seen by the other."""
        out, pointer = ctypes.POINTER(raw.OrtSessionOptions)(), Handle._enter(self)
        try:
            self.native.api.CloneSessionOptions(pointer, ctypes.byref(out))
            copy = type(self).__new__(type(self))
            copy._start(self._env, out, self)
        finally:
            Handle._leave(self)
        return copy

    # Making a session.

    def _enter(self) -> Any:
        """As for every handle; and the devices of these options stay too. ClosedError where one is gone."""
        use = DeviceUse(self._session_devices())
        try:
            pointer = super()._enter()
        except BaseException:
            use.close()  # the exception leads to this frame, and so keeps the use
            raise
        self._uses.append(use)
        return pointer

    def _leave(self) -> None:
        self._uses.pop().close()
        super()._leave()

    def keep_for_session(self) -> tuple[Any, ...]:
        """What a session made from these options must hold as long as it lives. Asked before it is made.

        Raises:
            ClosedError: a device of these options is gone.
        """
        return (*self._kept.always, DeviceUse(self._session_devices()))

    def _session_devices(self) -> list[EpDevice]:
        """The devices that a session may use. Where ORT selects them it does not say which, so all are meant."""
        if not self._selects:
            return self._devices
        devices = ep_devices(self._env)
        if not devices:  # some libraries would end the process
            raise InputError(
                "a device is to be selected, but no execution provider offers one: register a library first"
            )
        return devices

    # Config entries.

    def add_config_entry(self, key: str, value: object) -> None:
        """Add a config entry, or replace it; raw.kOrtSessionOptions… are the known keys.

        An entry that names a setting sets it, and is not among the entries then.

        Args:
            value: text; a number or a bool is written as text.

        Raises:
            InputError: the key is empty, or the value is none for the setting that the key names.
            OrtError: the key has more than 1024 characters, or the value more than the library takes.
        """
        name, text = entry_text(key, value)
        if not entry_setting(self, name.decode("utf-8", "replace"), text):
            super().add_config_entry(key, value)

    def _config_value(self, key: str) -> str | None:
        name, there, size = string(key, "config key"), ctypes.c_int(), ctypes.c_size_t()
        self._call("HasSessionConfigEntry", name, ctypes.byref(there))
        if not there.value:
            return None
        self._call("GetSessionConfigEntry", name, None, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self._call("GetSessionConfigEntry", name, buffer, ctypes.byref(size))
        return buffer.value.decode("utf-8", "replace")

    def _config_names(self) -> list[str]:
        api = self.native.api
        if not api.raw.holds("GetSessionOptionsConfigEntries"):
            return super()._config_names()  # those set here; an older library does not list the others
        pairs = ctypes.POINTER(raw.OrtKeyValuePairs)()
        self._call("GetSessionOptionsConfigEntries", ctypes.byref(pairs))
        try:
            return sorted(read_key_values(self.native, pairs))
        finally:
            api.ReleaseKeyValuePairs(pairs)

    # Execution providers.

    def append_provider(self, name: str, options: Mapping[str, object] | None = None) -> None:
        """Append an execution provider that the library was built with. Nodes go to the first one that takes them.

        Args:
            name: such as "CUDAExecutionProvider", or just "CUDA".
            options: its own options.

        Raises:
            InputError: the library was not built with it; the message says which it has.
            OrtError: it refuses an option, or lacks something on this machine.
        """
        pointer = Handle._enter(self)
        try:
            self._appended.append(append_provider(self.native, pointer, name, options))
        finally:
            Handle._leave(self)

    def append_ep(self, devices: EpDevice | Iterable[EpDevice], options: Mapping[str, object] | None = None) -> None:
        """Append the execution provider of these devices, of `Runtime.ep_devices` or a registered library.

        Args:
            devices: one or more of one provider.
            options: the provider's own options.

        Raises:
            ClosedError: the library of a device was unregistered.
            InputError: there is no device.
            OrtError: the devices are of several providers.
        """
        chosen = [devices] if isinstance(devices, EpDevice) else list(devices)
        wrong = [device for device in chosen if not isinstance(device, EpDevice)]
        if wrong:
            raise TypeError(f"append_ep takes EpDevices, not {type(wrong[0]).__name__}; append_provider takes a name")
        if not chosen:
            raise InputError("there is no device to append: see Runtime.ep_devices()")
        use = DeviceUse(chosen)
        try:
            array = pointers(raw.OrtEpDevice, [device._pointer for device in chosen])
            arguments = key_values(options, f"option of {chosen[0].ep_name}")
            self._call("SessionOptionsAppendExecutionProvider_V2", self._env, array, len(chosen), *arguments)
            self._devices += chosen
            self._appended.append(chosen[0].ep_name)
        finally:
            use.close()

    def set_provider_selection_policy(self, policy: int | str) -> None:
        """Let ORT select the devices: an OrtExecutionProviderDevicePolicy, its number or name, as "prefer_gpu"."""
        chosen = member(raw.OrtExecutionProviderDevicePolicy)(policy, "policy")
        self._call("SessionOptionsSetEpSelectionPolicy", chosen)
        self._selects = True

    def set_provider_selection_policy_delegate(self, function: SelectionFunction) -> None:
        """Let a function select the devices when a session is made.

        Args:
            function: gets the devices, the model's metadata, the runtime's, and how many it may select; gives a
                sequence of some of these devices. What it raises makes the session fail, as its ``__cause__``.
        """
        token = Token(Selector(self._env, function))
        callback = status_callback(self.native, "EpSelectionDelegate", select)
        self._call("SessionOptionsSetEpSelectionPolicyDelegate", callback, token.value)
        self._kept.once.append(token)
        self._selects = True
