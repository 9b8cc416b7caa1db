"""numpy.lib: what it holds beside the functions of numpy itself."""

from composit.numpy import emath as scimath
from composit.numpy.lib import stride_tricks
