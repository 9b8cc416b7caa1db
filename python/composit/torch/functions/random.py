"""Draws, by composit.random's keys: each takes the next key of the generator. The numbers are not
torch's; for one seed they are the same anywhere."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

import composit._core as _core
from composit import nn, random
from composit import numpy as cnp
from composit._core import runtime_error
from composit.torch import calling, dtypes, places, writing
from composit.torch.functions.arguments import lengths_of
from composit.torch.materializing import known_values_of


class Generator:
    """A row of keys, begun by manual_seed."""

    def __init__(self, device: Any = "cpu") -> None:
        self._place = places.full_name(device)
        self.manual_seed(0)

    @property
    def device(self) -> Any:
        """The device it was made for. The numbers are the same on all."""
        return places.of_name(self._place)

    def manual_seed(self, seed: int) -> Generator:
        """Begins anew."""
        self._seed, self._count = int(seed), 0
        return self

    def initial_seed(self) -> int:
        """The seed it was begun with."""
        return self._seed

    def seed(self) -> int:
        """Begins anew from a seed that nobody knows."""
        self.manual_seed(secrets.randbits(63))
        return self._seed

    def get_state(self) -> Any:
        """Where it is, as a tensor."""
        return calling.functions["tensor"]([self._seed, self._count], device="cpu")

    def set_state(self, new_state: Any) -> Generator:
        """Goes on from a state."""
        self._seed, self._count = new_state.tolist()
        return self

    def next_key(self) -> Any:
        """A key that was not used yet, as a leaf."""
        self._count += 1
        # SplitMix64 (Steele, Lea, Flood 2014): bits that are spread well, made without a node
        mixed = (self._seed * 0xD1342543DE82EF95 + self._count * 0x9E3779B97F4A7C15) % 2**64
        mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB % 2**64
        return random.key(mixed ^ mixed >> 31)


default_generator = Generator()
default_generator.seed()


class _Mapped:
    """A call of a function by vmap: what draws within it are. "different": each slice has a key of
    its own, of which the draws are made; "same": all slices have the draws of one; "error"."""

    def __init__(self, randomness: str, key: Any = None) -> None:
        self.randomness, self.key, self._count = randomness, key, 0

    def __enter__(self) -> None:
        _calls.mapped = [*_calls.mapped, self]

    def __exit__(self, *_: Any) -> None:
        _calls.mapped = _calls.mapped[:-1]

    def checked_randomness(self) -> str:
        """What it does with draws; RuntimeError where there may be none."""
        if self.randomness == "error":
            raise runtime_error(
                "vmap: called random operation while in randomness error mode. Please either "
                "use the 'same' or 'different' randomness flags on vmap or perform the "
                "randomness operation out of vmap"
            )
        return self.randomness

    def next_key(self) -> Any:
        """A key that was not used yet, of each slice."""
        self._count += 1
        return random.fold_in(self.key, self._count)


class _Calls(threading.local):
    mapped: Sequence[_Mapped] = ()  # of this thread, the outermost first


_calls = _Calls()
mapped = _Mapped


def next_key(generator: Generator | None = None) -> Any:
    """A key of the generator, or of the default one, where new tensors are made; within vmap as its
    randomness says."""
    key, place = _next_key(generator), places.present_name()
    return key if place is None else _core.devices.transfer(key, place)


def _next_key(generator: Generator | None = None) -> Any:
    """The same as a leaf that lies anywhere."""
    for call in reversed(_calls.mapped):
        if call.checked_randomness() == "different":
            return call.next_key()
    return (generator or default_generator).next_key()


def next_key_tensor() -> Any:
    """A key of the default generator as a tensor, which operations of a trace may have."""
    return _key_tensor(None)


def _key_tensor(generator: Generator | None) -> Any:
    tensor = object.__new__(calling._made["Tensor"])
    tensor._lazy = _next_key(generator)
    return tensor


def manual_seed(seed: int) -> Generator:
    """Begins the default generator anew."""
    return default_generator.manual_seed(seed)


def seed() -> int:
    """Begins the default generator anew from a seed that nobody knows."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed of the default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Any:
    """Where the default generator is."""
    return default_generator.get_state()


def set_rng_state(new_state: Any) -> None:
    """Makes the default generator go on from a state."""
    default_generator.set_state(new_state)


for _f in (manual_seed, seed, initial_seed, get_rng_state, set_rng_state):
    calling.functions[_f.__name__] = _f


def drawn(draw: Any, shape: Any, dtype: Any, generator: Any = None) -> Any:
    """A draw of floats as a LazyTensor."""
    wide = dtype.numpy if dtype.name in ("float32", "float64") else np.dtype("float32")
    found = draw(next_key(generator), tuple(shape), wide)
    return found if found.dtype == dtype.numpy else cnp.astype(found, dtype.numpy)


def _made(lazy: Any, requires_grad: bool) -> Any:
    found = calling.wrapped(lazy)
    return found.requires_grad_() if requires_grad else found


def _floats(name: str, draw: Any) -> None:
    def function(
        *lengths: Any, size: Any = None, generator: Any = None, dtype: Any = None,
        layout: Any = None, device: Any = None, requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Any:  # fmt: skip
        size = lengths if size is None else (size,)
        lazy = drawn(draw, lengths_of(size), dtype or dtypes.default(), generator)
        return _made(lazy, requires_grad)

    def like(
        input: Any, *, generator: Any = None, dtype: Any = None, layout: Any = None,
        device: Any = None, requires_grad: bool = False, memory_format: Any = None,
    ) -> Any:  # fmt: skip
        made = drawn(draw, input.shape, dtype or input.dtype, generator)
        return _made(calling.laid_as(made, input), requires_grad)

    function.__doc__ = f"Draws: {name}."
    like.__doc__ = f"Draws, of another tensor's shape and dtype: {name}."
    calling.functions[name], calling.functions[f"{name}_like"] = function, like


_floats("rand", random.uniform)
_floats("randn", random.normal)


def _in_dtype(lazy: Any, dtype: Any) -> Any:
    """In a dtype of torch's; as it is in that, or where none is asked for."""
    return lazy if dtype is None or dtype.numpy == lazy.dtype else cnp.astype(lazy, dtype.numpy)


def randint(
    low: Any, high: Any, size: Any = None, *, generator: Any = None, dtype: Any = None,
    device: Any = None, requires_grad: bool = False,
) -> Any:  # fmt: skip
    """Integers from low, before high; randint(high, size) begins at 0."""
    if size is None:
        low, high, size = 0, low, high
    first, end = int(low), int(high)
    _core.aten.check_integer_bounds(first, end, *(() if dtype is None else (dtype.numpy,)))
    found = random.randint(next_key(generator), lengths_of((size,)), first, end)
    return _made(_in_dtype(found, dtype), requires_grad)


def randint_like(input: Any, low: Any, high: Any = None, *, dtype: Any = None, **_: Any) -> Any:
    """Integers from low, before high, of another tensor's shape and dtype."""
    if high is None:
        low, high = 0, low
    return randint(low, high, input.shape, dtype=dtype or input.dtype)


def randperm(
    n: int, *, generator: Any = None, dtype: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Any:  # fmt: skip
    """The numbers before n, in a random order."""
    order = cnp.argsort(random.bits(next_key(generator), (n,), "uint64"), kind="stable")
    return _made(_in_dtype(order, dtype), requires_grad)


def normal(
    mean: Any, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any = None,
    device: Any = None,
) -> Any:  # fmt: skip
    """Normal draws of a mean and a standard deviation, numbers or tensors."""
    if size is None:
        source = mean if hasattr(mean, "shape") else std
        size, dtype = source.shape, dtype or source.dtype
    _core.aten.check_deviation(std if isinstance(std, (int, float)) else 1.0)
    draws = calling.wrapped(drawn(random.normal, size, dtype or dtypes.default(), generator))
    return draws * std + mean


def extremes(given: Any, allowed: float) -> tuple[float, float]:
    """The least and the greatest value of a number, or of a tensor whose values are known, and one
    that is allowed, which stands for all where they are not known."""
    values = known_values_of(given) if isinstance(given, calling.TensorBase) else given
    if values is None:
        return allowed, allowed
    return float(np.min(values, initial=allowed)), float(np.max(values, initial=allowed))


def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Any:
    """Ones with the probabilities of a tensor, or with p."""
    chances = input if p is None else p
    _core.aten.check_chance(*extremes(chances, 0.5))
    chance = getattr(chances, "_lazy", chances)
    found = random.bernoulli(next_key(generator), chance, tuple(input.shape))
    return calling.wrapped(cnp.astype(found, input.dtype.numpy))


def _check_weights(input: Any) -> None:
    values = known_values_of(input)
    if values is not None:  # a check cuts no graph in two
        least_sum = float(values.sum(-1).min(initial=1))
        _core.aten.check_weights(*extremes(input, 1), least_sum)


def multinomial(
    input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None
) -> Any:
    """Places, each with a probability proportional to its weight."""
    _check_weights(input)
    return calling.wrapped(
        _core.aten.multinomial(next_key(generator), input._lazy, num_samples, replacement)
    )


def _by_numpy(name: str, parameters: Sequence[Any], generator: Any) -> Any:
    """Draws of NumPy's algorithms from Philox with the generator's next key: they need the values
    of the parameters, and loop as often as those say."""
    bits = cnp.random.Philox(key=int(np.asarray(next_key(generator))))
    values = [np.asarray(p._lazy).astype("float64") for p in parameters]
    if name == "binomial":
        values[0] = values[0].astype("int64")
    drawn = getattr(cnp.random.Generator(bits), name)(*values)
    made = cnp.astype(cnp.asarray(drawn), parameters[0].dtype.numpy)
    return calling.wrapped(_core.devices.placed(made, places.place_of(parameters[0])))


def poisson(input: Any, generator: Any = None) -> Any:
    """Counts of the rates in a tensor, of its dtype. RuntimeError: a rate is negative or NaN."""
    if not bool((input >= 0).all()):
        raise runtime_error("invalid Poisson rate, expected rate to be non-negative")
    return _by_numpy("poisson", (input,), generator)


def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """How many of `count` trials succeed with probability `prob`: tensors that broadcast, and the
    dtype of count. ValueError, NumPy's: a probability lies outside [0, 1]."""
    count, prob = calling.functions["broadcast_tensors"](count, prob)
    return _by_numpy("binomial", (count, prob), generator)


def _gamma(concentration: Any, key: Any, dtype: Any) -> Any:
    return random.gamma(key, concentration, tuple(concentration.shape), dtype)


def _standard_gamma(input: Any, generator: Any = None) -> Any:
    """Draws of the standard gamma distribution of concentrations, which gradients reach."""
    return calling.call(_gamma, "_standard_gamma", False,
                        (input, _key_tensor(generator), _wide(input)), {})  # fmt: skip


def _dirichlet(concentration: Any, key: Any) -> Any:
    return _core.aten.dirichlet(key, concentration)


def _sample_dirichlet(input: Any, generator: Any = None) -> Any:
    """Draws of Dirichlet's distribution of concentrations, which gradients reach."""
    given = (input, _key_tensor(generator))
    return calling.call(_dirichlet, "_sample_dirichlet", False, given, {})


def _wide(tensor: Any) -> str:
    return "float64" if tensor.dtype.name == "float64" else "float32"


_draws: tuple[Any, ...] = (
    randint, randint_like, randperm, normal, bernoulli, multinomial, poisson, binomial,
    _standard_gamma, _sample_dirichlet,
)  # fmt: skip
for _draw in _draws:
    calling.functions[_draw.__name__] = _draw


def _draws_in_place(name: str, draw: Any) -> None:
    def method(self: Any, *args: Any, generator: Any = None, **kwargs: Any) -> Any:
        writing.check_writable(self)
        _core.check_made(name.rstrip("_"), self.dtype)
        lazy = draw(self, *args, key=next_key(generator), **kwargs)
        writing.replace(self, calling.wrapped(lazy), name)
        return self

    method.__doc__ = f"The elements become draws: {name.rstrip('_')}."
    calling.methods[name] = method


def _uniform(self: Any, a: float = 0.0, b: float = 1.0, *, key: Any) -> Any:
    wide = self.dtype.numpy if self.dtype.name in ("float32", "float64") else np.dtype("float32")
    return random.uniform(key, tuple(self.shape), wide, a, b)


def _normal(self: Any, mean: float = 0.0, std: float = 1.0, *, key: Any) -> Any:
    wide = self.dtype.numpy if self.dtype.name in ("float32", "float64") else np.dtype("float32")
    return random.normal(key, tuple(self.shape), wide) * std + mean


def _bernoulli(self: Any, p: Any = 0.5, *, key: Any) -> Any:
    chance = p._lazy if hasattr(p, "_lazy") else p
    return cnp.astype(random.bernoulli(key, chance, tuple(self.shape)), self.dtype.numpy)


def _exponential(self: Any, lambd: float = 1.0, *, key: Any) -> Any:
    return random.exponential(key, tuple(self.shape)) / lambd


def _random(self: Any, low: int = 0, high: int | None = None, *, key: Any) -> Any:
    if high is None:
        low, high = 0, low or (2**24 if self.dtype.is_floating_point else 2**31 - 1)
    return cnp.astype(random.randint(key, tuple(self.shape), low, high), self.dtype.numpy)


_draws_in_place("uniform_", _uniform)
_draws_in_place("normal_", _normal)
_draws_in_place("bernoulli_", _bernoulli)
_draws_in_place("exponential_", _exponential)
_draws_in_place("random_", _random)


def dropout(input: Any, p: float = 0.5, train: bool = True) -> Any:
    """Elements zero with probability p, the others divided by 1 - p."""
    if not train or p == 0:
        return input
    if p == 1:
        return input * 0
    return calling.call(nn.dropout, "dropout", False, (input, p, next_key_tensor()), {})


calling.pure.update((nn.dropout, _gamma, _dirichlet))

calling.functions["dropout"] = dropout
