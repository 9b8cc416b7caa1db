"""Implementations of attention that others provide, by name. Here there is one for all, so that
what they register is called and changes no value."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from composit._core import value_error

_log = logging.getLogger(__name__)
_registered: dict[str, Callable[[], Any]] = {}
_active: list[tuple[str, Any]] = []  # one, with its handle, or none


def register_flash_attention_impl(impl: str, *, register_fn: Callable[[], Any]) -> None:
    """Names a function that makes an implementation the present one; it may return a handle with
    `remove`."""
    _registered[impl] = register_fn


def activate_flash_attention_impl(impl: str) -> None:
    """Calls what was registered under a name, after the handle of the one before is removed.
    ValueError for a name that is not there."""
    _restore()
    if impl not in _registered:
        raise value_error(
            f"Unknown flash attention impl '{impl}'. "
            f"Available implementations: {list_flash_attention_impls()}"
        )
    handle = _registered[impl]()
    if handle is not None:
        _active.append((impl, handle))


def list_flash_attention_impls() -> list[str]:
    """The names that were registered."""
    return sorted(_registered)


def current_flash_attention_impl() -> str | None:
    """The name of the present one, if one was activated and has a handle."""
    return _active[0][0] if _active else None


def restore_flash_attention_impl() -> None:
    """Removes the handle of the present one."""
    if not _restore():
        _log.warning("Trying to restore default FA2 impl when no custom impl was activated")


def _restore() -> bool:
    if not _active:
        return False
    _active.pop()[1].remove()
    return True
