"""What kernels need of the modules that are made of kernels. These provide it when they are
imported, which composit.knossos does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Provided:
    """See provided, the one there is."""

    # The class of kernels with arrays (array_kernel.py).
    array_kernel: type
    # The kernel of a function (of_function.py), and of what a decorator of a name is given.
    kernel_of: Callable[[Any], Any]
    kernel_by: Callable[[str, Any], Any]
    # PyTorch's function of a kernel, a module of PyTorch's or composit.torch's, and one of
    # composit.torch's (adapters.py).
    autograd_function: Callable[[Any], Any]
    module_of: Callable[[Any], Any]
    composit_module_of: Callable[[Any], Any]


provided = Provided()
