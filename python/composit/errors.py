"""Exception classes; where NumPy or Python has a class for a mistake, that class is raised."""

from composit._core import InternalError, NotSupported, with_location

__all__ = ["InternalError", "NotSupported", "with_location"]
