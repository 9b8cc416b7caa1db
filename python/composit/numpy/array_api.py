"""What the array API standard asks of a namespace beside functions: its version, and inspection."""

from __future__ import annotations

from typing import Any

from composit import devices

__array_api_version__ = "2024.12"


class NamespaceInfo:
    """What the namespace can do: capabilities, devices and dtypes."""

    def capabilities(self) -> dict[str, Any]:
        """Indexing by masks and shapes that depend on values are there (they evaluate)."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> str:
        """The one that `with composit.device(…)` says, else the CPU."""
        return devices.present() or "cpu"

    def devices(self) -> list[str]:
        """The names of those that are here, the CPU first."""
        return devices.names()

    def default_dtypes(self, *, device: str | None = None) -> dict[str, Any]:
        """NumPy's defaults."""
        return self._numpys(device).default_dtypes()

    def dtypes(self, *, device: str | None = None, kind: Any = None) -> dict[str, Any]:
        """The standard's dtypes, or those of a kind."""
        return self._numpys(device).dtypes(kind=kind)

    def _numpys(self, device: str | None) -> Any:
        import numpy as np

        if device is not None:
            devices.full_name(device)  # ValueError where it is not here
        return np.__array_namespace_info__()


def __array_namespace_info__() -> NamespaceInfo:
    """The namespace's inspection."""
    return NamespaceInfo()
