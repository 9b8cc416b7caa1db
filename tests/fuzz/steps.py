"""The steps of random graphs: each asks a writer for operands and returns one call as text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from composit import _core

SUPPORTED = {"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
             "float32", "float64"}  # fmt: skip
SCALARS = (
    "0.5",
    "2",
    "-1",
    "-0.0",
    "3",
    "np.inf",
    "1e-3",
    "True",
    "0",
    "np.float32(0.1)",
    "np.nan",
)
ROWS = [row for row in _core.scalar.all_rows() if row.name not in ("where", "clip")]
Step = Callable[[Any], str]


def row(w: Any) -> str:
    """A function of the table in every dtype that it takes."""
    chosen = ROWS[w.number(256) % len(ROWS)]
    first = w.any()
    operands = [first]
    for _ in range(chosen.arity - 1):
        is_scalar = w.number(8) == 0
        operands.append(
            w.one_of(w.palette.scalars) if is_scalar else w.fitting(w.tensor(first).shape)
        )
    if w.number(2) and len(operands) > 1:
        operands.reverse()
    dtypes = [w.values[name].dtype for name in operands if name in w.values]
    if len(dtypes) == chosen.arity:
        computed, _ = chosen.types(dtypes)
        if any(dtype.name not in w.palette.dtypes for dtype in computed):
            raise TypeError("half")
    elif any(dtype.kind != "f" for dtype in dtypes):
        operands = [f"cnp.astype({name}, 'float32')" if name in w.values else name
                    for name in operands]  # fmt: skip
    if chosen.name in ("signbit", "copysign"):  # a NaN has no sign: which one it is may differ
        operands[-1] = f"cnp.where(cnp.isnan({operands[-1]}), 1, {operands[-1]})"
    return f"cnp.{chosen.name}({', '.join(operands)})"


def is_inexact(tensor: Any) -> bool:
    """Whether it is a float, of 16 bits, too, or complex."""
    return tensor.dtype.kind in "fc" or tensor.dtype.name == "bfloat16"


def common(w: Any) -> str:
    """The functions that programs are mostly made of."""
    a = w.any(is_inexact)
    b = w.any(lambda t: is_inexact(t) and _fits(t.shape, w.tensor(a).shape))
    name = w.one_of(("add", "multiply", "subtract", "divide", "maximum", "minimum"))
    return f"cnp.{name}({a}, {b})"


def _fits(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def where(w: Any) -> str:
    a = w.any()
    b, c = w.fitting(w.tensor(a).shape), w.fitting(w.tensor(a).shape)
    if w.number(3) == 0:
        b = w.one_of(w.palette.scalars)
    condition = w.one_of((f"{c} > 0", f"cnp.isnan({c} * 1.0)", f"{c} != {a}", c))
    return f"cnp.where({condition}, {a}, {b})"


def clip(w: Any) -> str:
    return f"cnp.clip({w.floating()}, {w.one_of(('-1.5', '0', 'None'))}, {w.one_of(('2', '-0.0'))})"


def astype(w: Any) -> str:
    return f"cnp.astype({w.any()}, '{w.one_of(sorted(w.palette.dtypes))}')"


def reduction(w: Any) -> str:
    name = w.one_of(("sum", "sum", "prod", "max", "min", "mean", "var", "std", "any", "all", "ptp",
                     "count_nonzero", "argmax", "argmin"))  # fmt: skip
    x = w.any()
    rank = w.tensor(x).ndim
    axis: Any = None
    if rank and w.number(4):
        axis = w.axis(x)
        if rank > 1 and w.number(4) == 0 and not name.startswith("arg"):
            axis = (axis, axis - 1) if axis > 0 else (axis, axis + rank - 1)
    keeps = bool(w.number(2))
    return f"cnp.{name}({x}, axis={axis}, keepdims={keeps})"


def running(w: Any) -> str:
    x = w.of_rank(1)
    return f"cnp.{w.one_of(('cumsum', 'cumsum', 'cumprod', 'sort'))}({x}, axis={w.axis(x)})"


def matmul(w: Any) -> str:
    a = w.of_rank(1)
    shape = w.tensor(a).shape
    fits = [n for n, t in w.values.items() if t.ndim > 1 and t.shape[-2:-1] == shape[-1:]]
    if fits and w.number(3):
        return f"cnp.matmul({a}, {fits[w.number(len(fits))]})"
    if len(shape) > 1 and w.number(2):
        return f"cnp.matmul({a}, cnp.swapaxes({a}, -1, -2))"
    return f"cnp.matmul({a}, {a})"


def tensordot(w: Any) -> str:
    a = w.of_rank(1)
    axis = w.number(w.tensor(a).ndim)
    length = w.tensor(a).shape[axis]
    b = w.any(lambda tensor: length in tensor.shape)
    other = w.tensor(b).shape.index(length)
    return f"cnp.tensordot({a}, {b}, axes=(({axis},), ({other},)))"


def product(w: Any) -> str:
    a, b = w.any(lambda t: t.dtype.kind != "b"), w.any()
    return w.one_of((
        f"cnp.dot({a}, {b})", f"cnp.inner({a}, {a})", f"cnp.outer({a}, {b})", f"cnp.dot({a}, {a})",
        f"cnp.einsum('...i,...j->...ij', {a}, {a})", f"cnp.einsum('ij->j', {a})",
        f"cnp.einsum('ij,kj->ik', {a}, {a})", f"cnp.vdot({a}, {a})", f"cnp.trace({a})",
    ))  # fmt: skip


def _divisor(w: Any, size: int) -> int:
    choices = [n for n in range(1, min(size, 40) + 1) if size % n == 0]
    return w.one_of(choices)


def _image(w: Any, x: str) -> tuple[str, tuple[int, int, int, int]]:
    """A floating value as (batch, channels, height, width)."""
    size = w.tensor(x).size
    width = _divisor(w, size)
    height = _divisor(w, size // width)
    channels = _divisor(w, size // width // height)
    batch = size // width // height // channels
    shape = (batch, channels, height, width)
    if batch > 64 or channels > 16:
        raise ValueError("too many channels")
    return f"cnp.reshape({x}, {shape})", shape


def convolution(w: Any) -> str:
    image, (_, channels, _, _) = _image(w, w.any(lambda t: t.dtype.kind == "f" and t.size > 0))
    high, wide, filters = 1 + w.number(3), 1 + w.number(3), 1 + w.number(4)
    count = filters * channels * high * wide
    y = w.any(lambda t: t.dtype.kind == "f" and t.size >= count)
    weights = f"cnp.reshape(cnp.ravel({y})[:{count}], {(filters, channels, high, wide)})"
    strides, padding = (1 + w.number(2), 1 + w.number(2)), (w.number(2), w.number(3))
    return (f"nn.convolution({image}, {weights}, channels_last=False, strides={strides}, "
            f"padding={padding})")  # fmt: skip


def pool(w: Any) -> str:
    image, _ = _image(w, w.any(lambda t: t.dtype.kind == "f" and t.size > 0))
    name, size = w.one_of(("max_pool", "average_pool")), (1 + w.number(3), 1 + w.number(3))
    strides, is_last = (1 + w.number(3), 1 + w.number(2)), bool(w.number(2))
    return (f"nn.{name}({image}, kernel_size={size}, channels_last={is_last}, strides={strides}, "
            f"padding={w.one_of(((0, 0), (1, 1), (0, 1)))})")  # fmt: skip


def reshape(w: Any) -> str:
    x = w.any()
    size = w.tensor(x).size
    first = _divisor(w, size) if size else 1
    return w.one_of((
        f"cnp.reshape({x}, ({first}, -1))", f"cnp.ravel({x})", f"cnp.expand_dims({x}, 0)",
        f"cnp.expand_dims({x}, -1)", f"cnp.squeeze({x})", f"cnp.reshape({x}, (-1, {first}, 1))",
        f"cnp.broadcast_to({x}, (2, *{w.tensor(x).shape}))", f"cnp.tile({x}, 2)",
    ))  # fmt: skip


def permuted(w: Any) -> str:
    x = w.of_rank(1)
    axis, other = w.axis(x), w.axis(x)
    shift, count = w.number(9) - 4, w.number(4)
    return w.one_of((
        f"cnp.transpose({x})", f"cnp.swapaxes({x}, {axis}, {other})", f"cnp.flip({x}, {axis})",
        f"cnp.moveaxis({x}, {axis}, {other})", f"cnp.roll({x}, {shift}, axis={axis})",
        f"cnp.rot90({x}, {count})", f"cnp.repeat({x}, {count}, axis={axis})", f"cnp.transpose({x})",
        f"cnp.sliding_window_view({x}, {1 + count}, axis={axis})", f"cnp.diff({x}, axis={axis})",
        f"cnp.tril({x}, {shift})", f"cnp.triu({x}, {shift})", f"cnp.diagonal({x}, {shift})",
    ))  # fmt: skip


def joined(w: Any) -> str:
    x = w.of_rank(1)
    axis, shape = w.axis(x), w.tensor(x).shape
    same = [n for n, t in w.values.items() if t.shape == shape]
    y, z = w.one_of(same), w.one_of(same)
    return w.one_of((
        f"cnp.concatenate([{x}, {y}], axis={axis})", f"cnp.stack([{x}, {y}, {z}], axis={axis})",
        f"cnp.concatenate([{y}, {x}, {z}], axis={axis})", f"cnp.hstack([{x}, {y}])",
        f"cnp.append({x}, {y})", f"cnp.array_split({x}, 2, axis={axis})[1]",
    ))  # fmt: skip


def pad(w: Any) -> str:
    x = w.of_rank(1, 4)
    widths = [(w.number(3), w.number(3)) for _ in range(w.tensor(x).ndim)]
    mode = w.one_of(("constant", "constant", "edge", "reflect", "symmetric", "wrap"))
    return f"cnp.pad({x}, {widths}, mode='{mode}')"


def _slice(w: Any, length: int) -> str:
    low, step = w.number(length + 1), w.one_of((1, 1, 1, 2, -1, -2, 3))
    return w.one_of((f"{low}::{step}", f":{low}", f"::{step}", f"-{low + 1}:", ":", ":"))


def sliced(w: Any) -> str:
    x = w.of_rank(1)
    parts = [_slice(w, length) for length in w.tensor(x).shape]
    place = w.number(len(parts))
    if w.number(4) == 0:
        parts[place] = str(w.number(w.tensor(x).shape[place]))
    if w.number(5) == 0:
        parts.insert(place, "None")
    return f"{x}[{', '.join(parts)}]"


def _indices(w: Any, length: int) -> str:
    """Integers within bounds: literal, or computed from another value."""
    if w.number(2):
        chosen = [w.number(2 * length) - length for _ in range(1 + w.number(5))]
        return f"np.array({chosen})"
    x = w.any(lambda t: t.dtype.name in ("int32", "int64", "int8") and 0 < t.size < 500)
    return f"cnp.remainder(cnp.astype({x}, 'int64'), {length})"


def gather(w: Any) -> str:
    x = w.of_rank(1)
    axis = w.axis(x)
    indices = _indices(w, w.tensor(x).shape[axis])
    if w.number(2):
        return f"cnp.take({x}, {indices}, axis={axis})"
    skipped = ":, " * (axis % w.tensor(x).ndim)
    return f"{x}[{skipped}{indices}]"


def along(w: Any) -> str:
    x = w.of_rank(1)
    axis = w.axis(x)
    return f"cnp.take_along_axis({x}, cnp.argmax({x}, axis={axis}, keepdims=True), axis={axis})"


def scatter(w: Any) -> str:
    x = w.of_rank(1)
    indices = _indices(w, w.tensor(x).shape[0])
    y = w.one_of(("0.5", "1", "True", *[n for n, t in w.values.items() if t.ndim == 0]))
    name = w.one_of(("_core.numpy.add_at", "cnp.set_item"))
    return f"{name}({x}, ({indices},), {y})"


def written(w: Any) -> str:
    x = w.of_rank(1)
    return f"cnp.set_item({x}, (slice({w.number(3)}, None, {1 + w.number(2)}),), {x}[0] * 2)"


def network(w: Any) -> str:
    x = w.any(lambda t: t.dtype.kind == "f" and t.ndim > 0 and t.size > 0)
    axis, classes = w.axis(x), 2 + w.number(4)
    length = w.tensor(x).shape[-1]
    labels = f"cnp.remainder(cnp.astype(cnp.argmax({x}, axis=-1), 'int64'), {length})"
    return w.one_of((
        f"nn.softmax({x}, axis={axis})", f"nn.log_softmax({x}, axis={axis})",
        f"nn.logsumexp({x}, axis={axis})", f"nn.gelu({x})", f"nn.silu({x})",
        f"nn.one_hot({labels}, {max(length, classes)})", f"nn.mse({x}, {x} * 2)",
        f"nn.cross_entropy({x}, {labels}) if {x}.ndim == 2 else nn.sigmoid({x})",
    ))  # fmt: skip


def gradient(w: Any) -> str:
    """The derivative of what is there already; few, as they are long."""
    w.gradients += 1
    if w.gradients > 2:
        raise ValueError("enough gradients")
    y = w.floating()
    x = w.one_of([n for n, t in w.values.items() if t.dtype.kind == "f"][:3])
    return f"nn.chain_rule({{{y}: {y}}}, [{x}])[0]"


def made(w: Any) -> str:
    low, high = w.number(5), 6 + w.number(9)
    a = w.any()
    return w.one_of((
        f"cnp.arange({low}, {high}) * 0.5", f"cnp.linspace({low}, {high}, 7)", "cnp.eye(4)",
        f"cnp.full((3, 4), {low}, 'float32')", f"cnp.zeros_like({a})", "cnp.ones((4,), 'int32')",
    ))  # fmt: skip


def drawn(w: Any) -> str:
    """Random numbers, by a key that is a leaf or computed, beside what is there already."""
    x = w.any()
    shape = tuple(w.tensor(x).shape)
    key = f"composit.random.key({w.number(256)})"
    if w.number(3) == 0:
        key = f"composit.random.fold_in({key}, cnp.sum(cnp.isnan({x} * 1.0)))"
    last = f"composit.random.laplace({key}, {shape})"
    if w.tensor(x).dtype.kind == "f":
        last = f"nn.dropout({x}, 0.25, {key})"
    return w.one_of((
        f"composit.random.normal({key}, {shape}) * {x}", f"composit.random.gumbel({key}, {shape})",
        f"composit.random.uniform({key}, {shape}, 'float64', -1, {x})",
        f"composit.random.truncated_normal({key}, -2, 0.5, {shape})",
        f"composit.random.randint({key}, {shape}, -3, 4, 'int32') + {x}",
        f"composit.random.bernoulli({key}, 0.3, {shape})", f"composit.random.bits({key}, {shape})",
        last,
    ))  # fmt: skip


STEPS: list[Step] = [
    row, row, row, row, row, row, common, common, common, common, where, clip, astype, reduction,
    reduction, reduction, running, matmul, matmul, tensordot, product, convolution, convolution,
    pool, reshape, reshape, permuted, permuted, joined, pad, sliced, sliced, gather, gather, along,
    scatter, written, network, network, gradient, made, drawn,
]  # fmt: skip


def parts(w: Any) -> str:
    """What is made of the parts of complex numbers, and back."""
    x, y = w.any(is_inexact), w.any(is_inexact)
    return w.one_of((
        f"cnp.real({x})", f"cnp.imag({x})", f"cnp.conjugate({x})", f"cnp.abs({x})",
        f"{x} + 1j * {y}", f"{x} * {x}", f"{x} @ cnp.conjugate({x}).T", f"cnp.angle({x})",
        f"cnp.vdot({x}, {x})", f"cnp.isclose({x}, {y})", f"{x} == {y}", f"cnp.sort({x}, axis=None)",
    ))  # fmt: skip


def spectrum(w: Any) -> str:
    """Transforms, whose results are complex, or come from such."""
    x = w.any(lambda t: t.ndim > 0 and 0 < t.size < 2000 and t.dtype.name != "bfloat16")
    axis = w.axis(x)
    return w.one_of((
        f"cnp.fft.fft({x}, axis={axis})", f"cnp.fft.ifft({x}, axis={axis})",
        f"cnp.fft.fftn({x}, axes=({axis},))", f"cnp.fft.irfft({x}, axis={axis})",
        f"cnp.fft.fftshift({x})",
    ))  # fmt: skip


@dataclass(frozen=True)
class Palette:
    """What graphs are drawn with: dtypes of values and of inputs, numbers, and steps."""

    dtypes: frozenset[str]
    inputs: tuple[str, ...]
    scalars: tuple[str, ...]
    steps: tuple[Step, ...]


USUAL = Palette(
    frozenset(SUPPORTED),
    ("float32", "float64", "float32", "float64", "float32", "int32", "int64", "bool", "int8",
     "uint8", "float64", "uint32", "uint64", "int16", "uint16", "float32"),
    SCALARS,
    tuple(STEPS),
)  # fmt: skip
# Complex numbers and floats of 16 bits, beside the others.
WIDE = Palette(
    frozenset((*SUPPORTED, "float16", "bfloat16", "complex64", "complex128")),
    ("complex64", "float16", "complex128", "float16", "complex64", "float32", "float64", "int32"),
    (*SCALARS, "1j", "(0.5 - 2j)"),
    (row, row, row, row, row, common, common, common, where, astype, astype, astype, reduction,
     reduction, running, matmul, tensordot, product, reshape, permuted, joined, sliced, gather,
     scatter, along, parts, parts, parts, spectrum),
)  # fmt: skip
