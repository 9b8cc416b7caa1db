"""The sources of random bits, with NumPy's states: PCG64, PCG64DXSM, MT19937, Philox, SFC64."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Self

import numpy as np

import composit._core as _core
from composit._core import not_implemented, type_error, value_error
from composit.numpy.random._seeds import SeedSequence, _check_children

_c = _core.numpy_random


def _core_of(bit_generator: Any) -> Any:
    """The core's generator of ours, or of any object with NumPy's interface."""
    if isinstance(bit_generator, BitGenerator):
        return bit_generator._core
    try:
        return _c.ForeignGenerator(bit_generator.capsule, bit_generator.lock)
    except ValueError:
        message = "Invalid bit generator. The bit generator must be instantiated."
        raise value_error(f"Generator: {message}") from None


class Lock:
    """The lock of a bit generator, which draws hold: to be used in `with`."""

    def __init__(self, core: Any) -> None:
        self._core = core

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Waits until no other thread has it."""
        self._core.acquire()
        return True

    def release(self) -> None:
        """Lets other threads have it."""
        self._core.release()

    __enter__ = acquire

    def __exit__(self, *error: object) -> None:
        self._core.release()


class BitGenerator:
    """A stream of bits with a state; numpy.random.Generator takes one of ours, too."""

    _core: Any

    def __init__(self, seed: Any = None) -> None:
        if type(self) is BitGenerator:
            raise not_implemented("BitGenerator is a base class and cannot be instantized")
        self._seed_seq = seed if hasattr(seed, "generate_state") else SeedSequence(seed)

    def _seeded(self, make: Callable[..., Any], words: int, dtype: Any = np.uint64) -> None:
        self._core = make(self._seed_seq.generate_state(words, dtype).tolist())

    def __reduce__(self) -> Any:
        return _restored, (type(self), self.state, self._seed_seq)

    @property
    def seed_seq(self) -> Any:
        """What seeded it."""
        return self._seed_seq

    @property
    def lock(self) -> Lock:
        """What a draw holds."""
        return Lock(self._core)

    @property
    def capsule(self) -> Any:
        """The functions that distributions call, as NumPy's interface has them."""
        return self._core.capsule

    @property
    def ctypes(self) -> Any:
        """The functions that distributions call, for ctypes."""
        import ctypes

        from numpy.random import _common

        interface: Any = _common.interface

        whole, state, *functions = self._core.addresses
        results: Any = (ctypes.c_uint64, ctypes.c_uint32, ctypes.c_double)
        typed = [
            ctypes.cast(address, ctypes.CFUNCTYPE(result, ctypes.c_void_p))
            for address, result in zip(functions, results)
        ]
        return interface(state, ctypes.c_void_p(state), *typed, ctypes.c_void_p(whole))

    @property
    def state(self) -> dict[str, Any]:
        """All that decides the numbers to come, as NumPy's dictionary."""
        return {"bit_generator": type(self).__name__, **self._fields(self._core.state())}

    @state.setter
    def state(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise type_error("state must be a dict")
        if value.get("bit_generator", "") != type(self).__name__:
            raise value_error(f"state must be for a {type(self).__name__} PRNG")
        self._core.set_state([operator.index(word) for word in self._words(value)])

    def _fields(self, words: list[int]) -> dict[str, Any]:
        raise NotImplementedError

    def _words(self, value: dict[str, Any]) -> list[int]:
        raise NotImplementedError

    def spawn(self, n_children: int) -> list[Self]:
        """Generators of the children of its seed."""
        _check_children(n_children)
        if not hasattr(self._seed_seq, "spawn"):
            raise type_error("The underlying SeedSequence does not implement spawning.")
        return [type(self)(seed) for seed in self._seed_seq.spawn(n_children)]

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """Words as the generator makes them: an integer, or an array of uint64."""
        words = self._core.raw(size)
        return words if output else None

    def _copy(self) -> Self:
        other = type(self)()
        other.state = self.state
        return other


def _restored(kind: type[BitGenerator], state: dict[str, Any], seed: Any) -> BitGenerator:
    result = kind(seed) if seed is not None else kind()
    result._seed_seq = seed
    result.state = state
    return result


def _half(words: list[int]) -> dict[str, int]:
    return {"has_uint32": words[-2], "uinteger": words[-1]}


class PCG64(BitGenerator):
    """O'Neill's permuted congruential generator, 128 bits, XSL-RR: what default_rng takes."""

    _make: Any = _c.PCG64

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)
        self._seeded(self._make, 4)

    def _fields(self, words: list[int]) -> dict[str, Any]:
        state, increment = words[0] << 64 | words[1], words[2] << 64 | words[3]
        return {"state": {"state": state, "inc": increment}, **_half(words)}

    def _words(self, value: dict[str, Any]) -> list[int]:
        pair = (int(value["state"]["state"]), int(value["state"]["inc"]))
        halves = [half for number in pair for half in divmod(number, 2**64)]
        return [*halves, value["has_uint32"], value["uinteger"]]

    def advance(self, delta: int) -> Self:
        """As if so many words had been drawn."""
        self._core.advance(*divmod(delta & (2**128 - 1), 2**64))
        return self

    def jumped(self, jumps: int = 1) -> Self:
        """Another one, so many times 2**128 / golden ratio words ahead."""
        return self._copy().advance(0x9E3779B97F4A7C15F39CC0605CEDC835 * int(jumps))


class PCG64DXSM(PCG64):
    """PCG64 with a stronger output and a cheaper step."""

    _make: Any = _c.PCG64DXSM


class SFC64(BitGenerator):
    """Doty-Humphrey's small fast chaotic generator."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)
        self._seeded(_c.SFC64, 3)

    def _fields(self, words: list[int]) -> dict[str, Any]:
        return {"state": {"state": np.array(words[:4], np.uint64)}, **_half(words)}

    def _words(self, value: dict[str, Any]) -> list[int]:
        return [*value["state"]["state"], value["has_uint32"], value["uinteger"]]


class Philox(BitGenerator):
    """Salmon, Moraes, Dror and Shaw's counter-based generator, 4 words of 64 bits, 10 rounds."""

    def __init__(self, seed: Any = None, counter: Any = None, key: Any = None) -> None:
        if seed is not None and key is not None:
            raise value_error("Philox: seed and key cannot be both used")
        super().__init__(seed)
        if key is None:
            words = self._seed_seq.generate_state(2, np.uint64).tolist()
        else:
            words = _c.blocks_of(key, "key", 128)
            self._seed_seq = None
        self._core = _c.Philox(
            _c.blocks_of(0 if counter is None else counter, "counter", 256), words
        )

    def _fields(self, words: list[int]) -> dict[str, Any]:
        numbers = np.array(words[:10], np.uint64)
        state = {"counter": numbers[:4], "key": numbers[4:6]}
        return {
            "state": state, "buffer": numbers[6:], "buffer_pos": words[10], **_half(words),
        }  # fmt: skip

    def _words(self, value: dict[str, Any]) -> list[int]:
        parts = (*value["state"]["counter"], *value["state"]["key"], *value["buffer"])
        return [*parts, value["buffer_pos"], value["has_uint32"], value["uinteger"]]

    def advance(self, delta: int) -> Self:
        """As if so many blocks of 4 words had been drawn."""
        self._core.advance(_c.blocks_of(delta & (2**256 - 1), "delta", 256))
        return self

    def jumped(self, jumps: int = 1) -> Self:
        """Another one, so many times 2**128 blocks ahead."""
        return self._copy().advance(int(jumps) << 128)


class MT19937(BitGenerator):
    """Matsumoto and Nishimura's Mersenne twister, which RandomState is built on."""

    def __init__(self, seed: Any = None) -> None:
        super().__init__(seed)
        self._seeded(_c.MT19937, 624, np.uint32)

    def _legacy_seeding(self, seed: Any) -> None:
        """RandomState's: None, an integer below 2**32, or an array of them."""
        if seed is None:
            self._core.seed(SeedSequence().generate_state(624).tolist())
            return
        _c.seed_legacy(self._core, seed)
        self._seed_seq = None

    def _fields(self, words: list[int]) -> dict[str, Any]:
        return {"state": {"key": np.array(words[:624], np.uint32), "pos": words[624]}}

    def _words(self, value: dict[str, Any]) -> list[int]:
        return [*value["state"]["key"], value["state"]["pos"]]

    @property
    def state(self) -> dict[str, Any]:
        """All that decides the numbers to come, as NumPy's dictionary; also set by its tuple."""
        return BitGenerator.state.fget(self)  # type: ignore[attr-defined, no-any-return]

    @state.setter
    def state(self, value: Any) -> None:
        if isinstance(value, tuple):
            if value[0] != "MT19937" or len(value) not in (3, 5):
                raise value_error("state is not a legacy MT19937 state")
            state = {"key": value[1], "pos": value[2]}
            value = {"bit_generator": "MT19937", "state": state}
        BitGenerator.state.fset(self, value)  # type: ignore[attr-defined]

    def jumped(self, jumps: int = 1) -> Self:
        """Another one, so many times 2**128 words ahead."""
        other = self._copy()
        other._core.jump(jumps)
        return other
