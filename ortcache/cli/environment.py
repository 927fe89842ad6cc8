"""Our own environment variables, fit for a bug report."""

from __future__ import annotations

import os

from ..stores.masking import MASK, is_secret, masked

__all__ = ["shown_environment"]


def shown_environment() -> dict[str, str]:
    """Name to value, without what is secret in them."""
    return {
        name: MASK if is_secret(name) else masked(value)
        for name, value in sorted(os.environ.items())
        if name.startswith("ORTCACHE_")
    }
