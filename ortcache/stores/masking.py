"""Secrets in what is shown: a URL's password, and options that are keys or tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import quote

__all__ = ["MASK", "is_secret", "masked", "scrubbed"]

MASK = "***"

#: Options whose value is not for anybody's eyes; a name that ends in _env or _file names a place and no secret.
_SECRET = re.compile(
    r"(^|_)(password|passwd|passphrase|pwd|pass|secret|token|key|sas|credential|auth)s?$|secret", re.IGNORECASE
)

#: A URL whose password has what should be percent-encoded there: it goes up to the last @.
_UNQUOTED = re.compile(r"(?P<user>([A-Za-z][A-Za-z0-9+.-]+://|rediss?:)[^:@/?#\s]*):(?P<password>[^\n]*)@")
#: One without a host: what is no port is a password.
_NO_HOST = re.compile(r"(?P<user>[A-Za-z][A-Za-z0-9+.-]+://[^:@/?#\[\s]*):(?![0-9]*([/?#]|$))(?P<password>[^@\n]+)")
_USER = re.compile(r"(?<=://)(?P<user>[^/?#]*?):(?P<password>[^/?#]*)@")
#: Not one that is masked already: what follows it in a sentence is no part of it.
_OPTION = re.compile(r"(?<=[?&])(?P<name>[^=&#]+)=(?!\*\*\*)(?P<value>[^&#]*)")


def is_secret(name: str) -> bool:
    """Is an option of this name a secret? An access key's id is none."""
    return _SECRET.search(name) is not None and not name.lower().endswith(("_env", "_file", "_id"))


def masked(url: str) -> str:
    """The URL as it may be shown: its password and secret options are ``***``."""
    whole = _UNQUOTED.match(url) or _NO_HOST.fullmatch(url)
    if whole:
        url = f"{whole['user']}:{MASK}{url[whole.end('password') :]}"
    shown = _USER.sub(lambda m: f"{m['user']}:{MASK}@", url)
    return _OPTION.sub(lambda m: f"{m['name']}={MASK}" if is_secret(m["name"]) else m[0], shown)


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """The text without these secrets, as they are and as a URL writes them."""
    for secret in filter(None, secrets):
        for form in {secret, quote(secret), quote(secret, safe="")}:
            text = text.replace(form, MASK)
    return text
