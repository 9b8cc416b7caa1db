"""Texts that are drawn."""

from __future__ import annotations

import secrets
import string


def random_string(n: int = 10) -> str:
    """That many letters and digits, drawn anew at each call."""
    letters = string.ascii_letters + string.digits
    return "".join(secrets.choice(letters) for _ in range(n))
