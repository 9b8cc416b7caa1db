"""plot_cg: the graph of a call as a picture, with its values and its modules as clusters."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from composit._core import type_error
from composit.cg.graph import ModuleGraph
from composit.cg.node import Node
from composit.cg.picture import FORMATS as FORMATS
from composit.cg.picture import Picture, picture_of
from composit.cg.values import described


def plot_cg(
    root: Any,
    save_path: Any = None,
    quiet: bool = True,
    view: bool = True,
    wait: float = 0,
    title: str | None = None,
) -> Picture:
    """The graph that leads to a node (or to a ModuleGraph's root), or to several of them, in lists,
    tuples and dictionaries however deep; drawn from the inputs to the results: operators as boxes,
    inputs as ellipses, each with its value; what a call of a module computed is a cluster, with the
    parameters that only it uses.

    The picture is returned, and shown by notebooks. `save_path` writes it, too, in the format of
    its suffix; quiet=False says where. Where there is a display, and `view`, a window opens, and
    the call returns after `wait` seconds. `title` stands above the picture; None: what it is of."""
    roots = list(_roots(root))
    if not roots:
        raise type_error(f"plot_cg: {described(root)} has no node. One is required.")
    picture = picture_of(roots, title)
    if save_path is not None:
        file = picture.save(save_path)
        if not quiet:
            print(f"plot_cg: wrote {os.path.abspath(file)}")
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if view and has_display and shutil.which("dot") is not None:
        _open(picture, wait)
    return picture


def _roots(given: Any) -> Iterator[Node]:
    """The nodes of a result, and of results within results."""
    if isinstance(given, ModuleGraph):
        yield given.root
    elif isinstance(given, Node):
        yield given
    elif isinstance(given, (list, tuple, dict)):
        for one in given.values() if isinstance(given, dict) else given:
            yield from _roots(one)
    else:
        raise type_error(
            f"plot_cg: {described(given)}, of type {type(given).__name__}, is given. A node "
            "(result.root) or a ModuleGraph, or several in a list, is required."
        )


def _open(picture: Picture, wait: float) -> None:
    import graphviz

    folder = tempfile.mkdtemp(prefix="plot_cg")
    try:
        graphviz.view(picture.save(os.path.join(folder, "cg.svg")))
    except (OSError, RuntimeError):  # a display, but nothing that shows pictures
        return
    time.sleep(max(0.0, wait))


__all__ = ["Picture", "plot_cg"]
