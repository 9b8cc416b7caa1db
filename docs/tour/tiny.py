"""composit in 300 lines: nodes, map and reduce, gradients, lowering to kernels, C as text.

The real core does the same things in the same order, for more operations and dtypes; each section
names the folder where it does. All arrays here are float64.

    x, w = leaf("x", (3, 4)), leaf("w", (4,))
    loss = reduce_sum(map_("exp", x * w))
    print(text_of([loss]))                      # the graph
    gradient, = vjp(loss, [w])                  # another graph
    kernels = lower([loss, gradient])           # two loop nests
    run = compile_c(kernels, [x, w], [loss, gradient])
    loss_value, gradient_value = run(np.ones((3, 4)), np.ones(4))
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

# ----- the graph: composit/ir/node.h
# A node applies an operation to operands and never changes. Making one infers its shape, so that a
# mistake is an error on the line that made it.


@dataclass(frozen=True, eq=False)
class Node:
    operation: str  # leaf, constant, map, reduce, reshape or broadcast
    operands: tuple[Node, ...]
    shape: tuple[int, ...]
    row: str = ""  # of a map: a row of the table; of a leaf its name
    value: float = 0.0  # of a constant
    kept: tuple[int, ...] = ()  # of a reduce: the axes that stay

    def __add__(self, other):
        return map_("add", self, other)

    def __mul__(self, other):
        return map_("multiply", self, other)

    def __neg__(self):
        return map_("negative", self)


def leaf(name, shape):
    """A value that callers give."""
    return Node("leaf", (), tuple(shape), name)


def constant(value):
    """A number."""
    return Node("constant", (), (), value=float(value))


# ----- the table of elementwise functions: composit/ir/scalar
# A row is a name, C text, and the derivative by each operand, made of other rows. Map, gradient,
# lowering and printing follow from it.


@dataclass(frozen=True)
class Row:
    text: str
    slopes: tuple = ()


ROWS = {
    "add": Row("({0} + {1})", (lambda a, b: 1, lambda a, b: 1)),
    "multiply": Row("({0} * {1})", (lambda a, b: b, lambda a, b: a)),
    "divide": Row("({0} / {1})", (lambda a, b: map_("divide", 1, b),
                                  lambda a, b: -map_("divide", a, b * b))),
    "negative": Row("(-{0})", (lambda a: -1,)),
    "exp": Row("exp({0})", (lambda a: map_("exp", a),)),
    "sqrt": Row("sqrt({0})", (lambda a: map_("divide", 0.5, map_("sqrt", a)),)),
}  # fmt: skip


# ----- operations: composit/ops, one file each
# An operation has rules: its shape, its derivative, how it lowers. Here the rules stand in three
# functions; in composit they are one record for each operation.


def map_(row, *operands):
    """The row for each element of the operands, which are broadcast as in NumPy."""
    nodes = [x if isinstance(x, Node) else constant(x) for x in operands]
    if len(nodes) != len(ROWS[row].slopes):
        raise TypeError(f"{row}: {len(nodes)} operands. {len(ROWS[row].slopes)} are required.")
    shape = np.broadcast_shapes(*(node.shape for node in nodes))
    return Node("map", tuple(broadcast(node, shape) for node in nodes), shape, row)


def broadcast(node, shape):
    """The node, repeated along axes of length 1 and new axes in front."""
    shape = tuple(shape)
    if node.shape == shape:
        return node
    np.broadcast_to(np.empty(node.shape), shape)  # NumPy's error where it does not fit
    return Node("broadcast", (node,), shape)


def reduce_sum(node, axes=None):
    """The sums over some axes, or all."""
    axes = range(len(node.shape)) if axes is None else axes
    kept = tuple(d for d in range(len(node.shape)) if d not in axes)
    return Node("reduce", (node,), tuple(node.shape[d] for d in kept), kept=kept)


def reshape(node, shape):
    """The same elements, row by row, in another shape."""
    if np.prod(shape, dtype=int) != np.prod(node.shape, dtype=int):
        raise ValueError(f"reshape: {node.shape} to {tuple(shape)}. As many elements are required.")
    return Node("reshape", (node,), tuple(shape))


def order_of(outputs):
    """All nodes that the outputs reach, operands before their users."""
    order, seen, open_nodes = [], set(), [(node, False) for node in reversed(outputs)]
    while open_nodes:
        node, is_done = open_nodes.pop()
        if is_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            open_nodes.append((node, True))
            open_nodes += [(operand, False) for operand in reversed(node.operands)]
    return order


def text_of(outputs):
    """The graph as text: composit/ir/print.h."""
    names, lines = {}, []
    for node in order_of(outputs):
        names[id(node)] = f"%{len(names)}"
        operands = ", ".join(names[id(operand)] for operand in node.operands)
        what = node.row or (node.value if node.operation == "constant" else "")
        lines.append(f"{names[id(node)]} = {node.operation}({operands}) {what} : {node.shape}")
    return "\n".join([*lines, "return " + ", ".join(names[id(node)] for node in outputs)])


# ----- gradients, graph to graph: composit/transforms/vjp.cpp
# From the output back to the leaves, each node hands its cotangent to its operands. The result is a
# graph like any other: it can be printed, lowered, and differentiated again.


def vjp(output, inputs):
    """The gradients of the sum of the output with respect to the inputs."""
    cotangents = {id(output): broadcast(constant(1), output.shape)}
    for node in reversed(order_of([output])):
        flow = cotangents.get(id(node))
        if flow is None or not node.operands:
            continue
        for operand, given in zip(node.operands, pulled_back(node, flow)):
            known = cotangents.get(id(operand))
            cotangents[id(operand)] = given if known is None else known + given
    return [cotangents.get(id(x), broadcast(constant(0), x.shape)) for x in inputs]


def pulled_back(node, flow):
    """What flows into each operand."""
    if node.operation == "map":
        slopes = ROWS[node.row].slopes
        return [map_("multiply", flow, slope(*node.operands)) for slope in slopes]
    if node.operation == "reshape":
        return [reshape(flow, node.operands[0].shape)]
    (operand,) = node.operands
    if node.operation == "reduce":
        shape = [n if d in node.kept else 1 for d, n in enumerate(operand.shape)]
        return [broadcast(reshape(flow, shape), operand.shape)]
    new = len(node.shape) - len(operand.shape)  # broadcast: sum over what was repeated
    repeated = [d for d in range(len(node.shape)) if d < new or operand.shape[d - new] == 1]
    return [reshape(reduce_sum(flow, repeated), operand.shape)]


# ----- lowering, graph to kernels: composit/transforms/lower.cpp
# A nest is a value that is not computed yet: C text over loop indices. Maps compose their nests,
# which is where fusion happens. A node that is an output, a sum, or has several users gets memory.


@dataclass
class Kernel:
    """for i0 < extents[0] …: target[i0, …] = text, or += for the loops behind the kept ones."""

    target: str
    kept: tuple[int, ...]
    summed: tuple[int, ...]
    text: str

    def __str__(self):
        loops = ", ".join(f"i{d} < {n}" for d, n in enumerate((*self.kept, *self.summed)))
        sign = "+=" if self.summed else "="
        return f"for {loops or 'once'}: {self.target}[{place(self.kept)}] {sign} {self.text}"


def place(shape, indices=None):
    """Where an element lies, as C: rows behind one another."""
    indices = [f"i{d}" for d in range(len(shape))] if indices is None else indices
    text = "0"
    for length, index in zip(shape, indices):
        text = index if text == "0" else f"({text}) * {length} + {index}"
    return text


def lower(outputs):
    """The kernels that compute the outputs, in order. The k-th output is written to out_k."""
    order = order_of(outputs)
    uses = {id(node): sum(node in user.operands for user in order) for node in order}
    memory = {}  # what lies in an array: its name
    kernels = []

    def text(node, indices):
        """The C expression of one element."""
        if node.operation == "constant":
            return repr(node.value)
        if id(node) in memory:
            return f"{memory[id(node)]}[{place(node.shape, indices)}]"
        inner = [text(operand, seen_from(node, operand, indices)) for operand in node.operands]
        return ROWS[node.row].text.format(*inner) if node.operation == "map" else inner[0]

    for node in order:
        if node.operation == "leaf":
            memory[id(node)] = node.row
        elif node.operation == "reduce" or (node.operation == "map" and uses[id(node)] > 1):
            name = f"t{len(kernels)}"
            kernels.append(kernel_of(node, name, text))
            memory[id(node)] = name
    for k, node in enumerate(outputs):
        whole = Node("broadcast", (node,), node.shape)
        kernels.append(kernel_of(whole, f"out_{k}", text))
    return kernels


def kernel_of(node, name, text):
    indices = [f"i{d}" for d in range(len(node.shape))]
    if node.operation != "reduce":
        return Kernel(name, node.shape, (), text(node, indices))
    (operand,) = node.operands
    summed = [d for d in range(len(operand.shape)) if d not in node.kept]
    own = {d: f"i{number}" for number, d in enumerate((*node.kept, *summed))}
    value = text(operand, [own[d] for d in range(len(operand.shape))])
    return Kernel(name, node.shape, tuple(operand.shape[d] for d in summed), value)


def seen_from(node, operand, indices):
    """The indices of the operand's element that an element of a map or a layout shows."""
    if node.operation == "reshape":
        whole, found = f"({place(node.shape, indices)})", []
        for d in range(len(operand.shape)):
            behind = int(np.prod(operand.shape[d + 1 :], dtype=int))
            found.append(f"{whole} / {behind} % {operand.shape[d]}")
        return found
    new = len(node.shape) - len(operand.shape)
    return ["0" if n == 1 else indices[new + d] for d, n in enumerate(operand.shape)]


# ----- kernels to C, and C to a function: composit/backends/c_family, composit/backends/cpp


def c_text(kernels, inputs, outputs):
    """One function of pointers."""
    parameters = [f"const double* {x.row}" for x in inputs]
    parameters += [f"double* out_{k}" for k in range(len(outputs))]
    lines = ["#include <math.h>", f"void run({', '.join(parameters)}) {{"]
    for kernel in kernels:
        if not kernel.target.startswith("out_"):
            count = int(np.prod(kernel.kept, dtype=int))
            lines.append(f"    static double {kernel.target}[{count}];")
    for kernel in kernels:
        lines.append(f"    // {kernel}")
        heads = [f"for (long i{d} = 0; i{d} < {n}; ++i{d}) "
                 for d, n in enumerate((*kernel.kept, *kernel.summed))]  # fmt: skip
        where = f"{kernel.target}[{place(kernel.kept)}]"
        if not kernel.summed:
            lines.append(f"    {''.join(heads)}{where} = {kernel.text};")
            continue
        kept, summed = heads[: len(kernel.kept)], heads[len(kernel.kept) :]
        lines.append(f"    {''.join(kept)}{{\n        double sum = 0;")
        lines.append(
            f"        {''.join(summed)}sum += {kernel.text};\n        {where} = sum;\n    }}"
        )
    return "\n".join([*lines, "}"]) + "\n"


def compile_c(kernels, inputs, outputs):
    """A Python function of arrays, compiled by the system's C compiler."""
    folder = Path(tempfile.mkdtemp())
    (folder / "tiny.c").write_text(c_text(kernels, inputs, outputs))
    subprocess.run(["gcc", "-O2", "-ffp-contract=off", "-shared", "-fPIC", "tiny.c", "-o",
                    "tiny.so", "-lm"], cwd=folder, check=True)  # fmt: skip
    library = ctypes.CDLL(str(folder / "tiny.so"))

    def run(*arrays):
        given = [np.ascontiguousarray(array, "float64") for array in arrays]
        results = [np.empty(node.shape) for node in outputs]
        library.run(*(ctypes.c_void_p(array.ctypes.data) for array in [*given, *results]))
        return results

    return run
