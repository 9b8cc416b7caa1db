"""numpy.lib: what it holds beside the functions of numpy itself."""

from composit.numpy import emath as scimath
from composit.numpy.lib import stride_tricks


def __getattr__(name: str):
    """The rest is NumPy's own: files, versions, mixins, …"""
    import numpy.lib as numpys

    if not name.startswith("__") and hasattr(numpys, name):
        return getattr(numpys, name)
    raise AttributeError(f"module 'composit.numpy.lib' has no attribute {name!r}")
