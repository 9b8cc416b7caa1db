"""Random graphs: bytes become Python source, one composit call a line, on inputs of special values.

Each step takes GENE bytes: the first chooses the operation, the others its operands and attributes.
A step that composit refuses (shapes that do not fit) is left out, so any bytes are a graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from fuzz.steps import USUAL, Palette

import composit
from composit import _core, errors, nn
from composit import numpy as cnp

GENE = 10
SMALL = [(3, 4), (2, 3, 4), (4,), (), (37,), (5, 7), (1, 4), (2, 3, 6, 5), (12, 12), (300,), (0, 3)]
LARGE = [(150, 200), (40000,), (200, 150), (16, 3, 28, 30), (5000, 3), (200,), (1, 150), (20, 2048)]
REFUSALS = (TypeError, ValueError, IndexError, OverflowError, errors.NotSupported)
NAMES: dict[str, Any] = {"composit": composit, "cnp": cnp, "nn": nn, "np": np, "_core": _core}


@dataclass(eq=False)
class Graph:
    """The source of a function `graph(x0, x1, …)` that returns a list, and its arguments."""

    inputs: dict[str, np.ndarray]
    lines: list[tuple[str, str]]  # name, expression
    outputs: list[str]

    @property
    def source(self) -> str:
        body = [f"    {name} = {expression}" for name, expression in self.lines]
        returned = f"    return [{', '.join(self.outputs)}]"
        return "\n".join([f"def graph({', '.join(self.inputs)}):", *body, returned, ""])

    def function(self) -> Any:
        scope = dict(NAMES)
        exec(compile(self.source, "graph.py", "exec"), scope)
        return scope["graph"]


class Writer:
    """Writes one graph; steps ask it for operands and numbers."""

    def __init__(self, code: bytes, palette: Palette = USUAL) -> None:
        self.palette = palette
        self.is_large = len(code) > 0 and code[0] % 5 == 4
        self.limit = 60_000 if self.is_large else 3_000
        self.values: dict[str, Any] = {}
        self.kept: dict[str, np.ndarray] = {}
        self.lines: list[tuple[str, str]] = []
        self.gene, self.at = b"\0", 0
        self.gradients = 0

    # ----- what steps ask for
    def number(self, below: int) -> int:
        """The next number of this step."""
        self.at += 1
        return self.gene[self.at % len(self.gene)] % below

    def one_of(self, choices: Any) -> Any:
        return choices[self.number(len(choices))]

    def any(self, accepts: Any = lambda tensor: True) -> str:
        """A value that is accepted, a late one more often; ValueError if there is none."""
        names = [name for name, tensor in self.values.items() if accepts(tensor)]
        if not names:
            raise ValueError("no such value")
        place = self.number(256)
        return names[-1 - place % min(len(names), 6)] if place < 160 else names[place % len(names)]

    def floating(self) -> str:
        return self.any(lambda tensor: tensor.dtype.kind == "f")

    def of_rank(self, low: int, high: int = 9) -> str:
        return self.any(lambda tensor: low <= tensor.ndim <= high and tensor.size > 0)

    def fitting(self, shape: tuple[int, ...]) -> str:
        """A value whose shape broadcasts with this one."""
        return self.any(lambda tensor: _broadcasts(tensor.shape, shape))

    def tensor(self, name: str) -> Any:
        return self.values[name]

    def axis(self, name: str) -> int:
        rank = self.values[name].ndim
        if rank == 0:
            raise ValueError("no axis")
        return self.number(2 * rank) - rank

    # ----- writing
    def add_inputs(self, code: bytes) -> None:
        sizes = (LARGE + SMALL[:3]) if self.is_large else SMALL
        for i in range(2 + code[1] % 4):
            place, kind = code[2 + 2 * i], code[3 + 2 * i]
            name = f"x{i}"
            dtypes = self.palette.inputs
            dtype = dtypes[0] if i == 0 and kind < 128 else dtypes[kind % len(dtypes)]
            self.kept[name] = values(dtype, sizes[place % len(sizes)], seed=place * 256 + kind)
            self.values[name] = cnp.asarray(self.kept[name])

    def add(self, gene: bytes) -> None:
        self.gene, self.at = gene, 0
        try:
            expression = self.palette.steps[gene[0] % len(self.palette.steps)](self)
            tensor = eval(expression, NAMES, self.values)
        except REFUSALS:
            return
        if not isinstance(tensor, composit.numpy.LazyTensor) or not self.is_kept(tensor):
            return
        name = f"v{len(self.lines)}"
        self.values[name] = tensor
        self.lines.append((name, expression))

    def is_kept(self, tensor: Any) -> bool:
        return (
            tensor.dtype.name in self.palette.dtypes
            and tensor.size <= self.limit
            and tensor.ndim <= 6
        )

    def graph(self) -> Graph:
        used = "\n".join(expression for _, expression in self.lines)
        used_names = set(words(used))
        leaves = [name for name, _ in self.lines if name not in used_names]
        # Some inner values too: what is asked for is not fused away.
        inner = [
            name for i, (name, _) in enumerate(self.lines) if name in used_names and i % 7 == 3
        ]
        return Graph(self.kept, self.lines, leaves + inner)


def words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


def _broadcasts(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return all(m == n or 1 in (m, n) for m, n in zip(a[::-1], b[::-1]))


def values(dtype: str, shape: tuple[int, ...], seed: int) -> np.ndarray:
    """A third special values, the others ordinary ones."""
    draw = np.random.RandomState(seed)
    kind = np.dtype(dtype).kind
    if kind == "c":
        part = "float32" if dtype == "complex64" else "float64"
        made = np.empty(shape, dtype)
        made.real, made.imag = values(part, shape, seed), values(part, shape, seed + 1)
        return made
    if kind == "b":
        return draw.random_sample(shape) < 0.5
    if kind in "iu":
        limits = np.iinfo(dtype)
        low = 0 if kind == "u" else -20
        ordinary = draw.randint(low, 21, shape).astype(dtype)
        special = np.array([limits.min, limits.max, 0, 1, limits.max // 2, 63], dtype)
    else:
        limits = np.finfo(dtype)
        ordinary = np.asarray(draw.standard_normal(shape) * 3).astype(dtype)
        special = np.array(
            [0.0, -0.0, np.inf, -np.inf, np.nan, limits.smallest_subnormal, -limits.tiny / 2,
             limits.tiny, limits.max, limits.min, 1, -1, 0.5, limits.max / 3, 1 + limits.eps],
            dtype,
        )  # fmt: skip
    chosen = special[draw.randint(0, len(special), shape)]
    return np.where(draw.random_sample(shape) < 0.3, chosen, ordinary).astype(dtype)


def decode(code: bytes, nodes: int | None = None, palette: Palette = USUAL) -> Graph:
    """The graph that these bytes mean, up to that many nodes of it; always the same one."""
    code = code.ljust(2 * GENE, b"\0")
    writer = Writer(code, palette)
    writer.add_inputs(code)
    for at in range(2 * GENE, len(code) - GENE + 1, GENE):
        if len(writer.lines) == nodes:
            break
        writer.add(code[at : at + GENE])
    return writer.graph()
