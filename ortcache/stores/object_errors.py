"""What an object store's failure means, and what to do."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import StoreError
from .masking import scrubbed

__all__ = ["is_timeout", "no_bucket", "object_error"]

_NO_BUCKET = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")

#: Parts of a failure's text (or its kind), and what to do. The first that fits is told.
_HINTS = (
    (_NO_BUCKET, "There is no such bucket: make it, or correct the name in the URL"),
    (
        ("PermissionDeniedError", "UnauthenticatedError", "403 Forbidden", "401 Unauthorized", "169.254.169.254",
         "metadata.google.internal"),
        "The service refuses the credentials, or found none: set them in the environment "
        "(AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, GOOGLE_APPLICATION_CREDENTIALS, AZURE_STORAGE_ACCOUNT_NAME and "
        "AZURE_STORAGE_ACCOUNT_KEY), and look at what the account may do with this bucket",
    ),
    (("error sending request", "Connect"), "Is the service up, and are endpoint and region right?"),
    (("SlowDown", "429 Too Many Requests", "503 Service Unavailable"), "The service is overloaded: it is asked later"),
)  # fmt: skip


def is_timeout(error: Exception) -> bool:
    """Did the service not answer in time? The library says so only in words."""
    return isinstance(error, TimeoutError) or any(mark in str(error) for mark in ("TimedOut", "timed out"))


def no_bucket(error: Exception) -> bool:
    """Is it the bucket that is not there, and not only the object?"""
    return any(mark in str(error) for mark in _NO_BUCKET)


def object_error(error: Exception, what: str, secrets: Iterable[str]) -> StoreError:
    """A StoreError that says what failed, why, and what to do."""
    whole = f"{type(error).__name__}: {error}"
    # obstore shows its own structures in the second part.
    text = scrubbed(str(error).partition("\n\nDebug source")[0], secrets) or type(error).__name__
    hint = next((f". {hint}" for marks, hint in _HINTS if any(mark in whole for mark in marks)), "")
    return StoreError(f"{what}: {text}{hint}")
