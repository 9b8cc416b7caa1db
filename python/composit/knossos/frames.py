"""Libraries through which kernels are called: whose frames are no lines of users."""

from __future__ import annotations

import functools
import os
import sys

from composit._core import add_internal_folder


@functools.cache
def skip_frames_of(library: str) -> None:
    """Errors name the line that called the library, which is imported, from now on."""
    file = sys.modules[library].__file__
    assert file is not None
    add_internal_folder(os.path.dirname(file) + "/")
