"""The floating-point state of this thread: rounding and flush-to-zero, set and read through C."""

import contextlib
import ctypes
import ctypes.util
import platform

import pytest

libm = ctypes.CDLL(ctypes.util.find_library("m"))

X86 = platform.machine() == "x86_64"
# FE_DOWNWARD, FE_UPWARD and FE_TOWARDZERO of <fenv.h>.
ROUNDINGS = (
    {"down": 0x400, "up": 0x800, "zero": 0xC00}
    if X86
    else {"down": 0x800000, "up": 0x400000, "zero": 0xC00000}
)
STATES = ["flush", *ROUNDINGS, "flush and up"]
# Flush-to-zero and denormals-are-zero: bits of MXCSR or FPCR, a word of C's fenv_t.
FLUSH, WORD = (0x8040, 7) if X86 else (1 << 24, 0)

needs_states = pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="fenv_t of other processors"
)


def _words():
    words = (ctypes.c_uint32 * 16)()
    libm.fegetenv(words)
    return words


def modes():
    """(rounding, whether numbers are flushed)."""
    return libm.fegetround(), (_words()[WORD] & FLUSH) == FLUSH


def _enter(rounding, flush):
    libm.fesetround(rounding)
    words = _words()
    words[WORD] = words[WORD] & ~FLUSH | (FLUSH if flush else 0)
    libm.fesetenv(words)


@contextlib.contextmanager
def state(name):
    """The state of that name, one of STATES, which has to be there still at the end."""
    rounding = ROUNDINGS.get(name.split()[-1], 0)
    flush = name.startswith("flush")
    _enter(rounding, flush)
    try:
        assert modes() == (rounding, flush)
        yield
        assert modes() == (rounding, flush), "the state of the caller was changed"
    finally:
        _enter(0, False)
