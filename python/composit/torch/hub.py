"""torch.hub: models that a folder's hubconf.py makes. Nothing is downloaded: what would be is
refused by name."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any, NoReturn

from composit._core import not_implemented, runtime_error, value_error

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url",
           "set_dir"]  # fmt: skip

_folder: list[str] = []


def get_dir() -> str:
    """The folder in which downloads would be kept, which set_dir says."""
    if _folder:
        return _folder[0]
    home = os.environ.get("TORCH_HOME")
    if not home:
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
        home = os.path.expanduser(os.path.join(cache, "torch"))
    return os.path.join(home, "hub")


def set_dir(d: Any) -> None:
    """Says what get_dir answers."""
    _folder[:] = [os.path.expanduser(os.fspath(d))]


def load(
    repo_or_dir: Any, model: str, *args: Any, source: str = "github", trust_repo: Any = None,
    force_reload: bool = False, verbose: bool = True, skip_validation: bool = False, **kwargs: Any,
) -> Any:  # fmt: skip
    """What the function `model` of the folder's hubconf.py returns for the arguments.
    source="local" is required."""
    return _entry(_configuration("load", repo_or_dir, source), model)(*args, **kwargs)


def list(
    github: Any, force_reload: bool = False, skip_validation: bool = False, trust_repo: Any = None,
    verbose: bool = True,
) -> NoReturn:  # fmt: skip
    """Refused: nothing is downloaded."""
    _refuse("list", github)


def help(
    github: Any, model: str, force_reload: bool = False, skip_validation: bool = False,
    trust_repo: Any = None,
) -> NoReturn:  # fmt: skip
    """Refused: nothing is downloaded."""
    _refuse("help", github)


def load_state_dict_from_url(url: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: nothing is downloaded."""
    _refuse("load_state_dict_from_url", url)


def download_url_to_file(url: str, dst: str, *args: Any, **kwargs: Any) -> NoReturn:
    """Refused: nothing is downloaded."""
    _refuse("download_url_to_file", url)


def _refuse(name: str, what: Any) -> NoReturn:
    raise not_implemented(
        f"composit.torch.hub.{name}: downloading {what!r} is not built. A file or folder that "
        "is here is required: torch.load, or source='local'."
    )


def _configuration(name: str, folder: Any, source: str) -> Any:
    """The module hubconf of a folder, imported anew."""
    source = source.lower()
    if source not in ("github", "local"):
        raise value_error(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        _refuse(name, folder)
    folder = os.fspath(folder)
    path = os.path.join(folder, "hubconf.py")
    spec: Any = importlib.util.spec_from_file_location("hubconf", path)
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [
        one for one in getattr(module, "dependencies", ())
        if one not in sys.modules and importlib.util.find_spec(one) is None
    ]  # fmt: skip
    if missing:
        raise runtime_error(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: Any, name: Any) -> Any:
    if not isinstance(name, str):
        raise value_error("Invalid input: model should be a string of function name")
    found = getattr(module, name, None)
    if not callable(found):
        raise runtime_error(f"Cannot find callable {name} in hubconf")
    return found
