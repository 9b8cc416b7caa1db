"""Makes a found difference small: cuts a graph's inner values to inputs while it still shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.graphs import NAMES, Graph, words

from composit import numpy as cnp

Differs = Callable[[Graph], bool]


def ancestors(graph: Graph, outputs: list[str], cut: set[str]) -> set[str]:
    """The names that the outputs need when the values in `cut` are given."""
    expressions = dict(graph.lines)
    needed: set[str] = set()
    waiting = list(outputs)
    while waiting:
        name = waiting.pop()
        if name in needed:
            continue
        needed.add(name)
        if name not in cut and name in expressions:
            known = expressions.keys() | graph.inputs.keys()
            waiting += [word for word in words(expressions[name]) if word in known]
    return needed


def values_of(graph: Graph) -> dict[str, np.ndarray]:
    """Every value of the graph, by the interpreter, one operation at a time."""
    arrays = dict(graph.inputs)
    for name, expression in graph.lines:
        tensors = {word: cnp.asarray(arrays[word]) for word in words(expression) if word in arrays}
        # A gradient is of what led to its tensors, so it needs the graph and not the arrays.
        if "chain_rule" in expression:
            tensors = {key: cnp.asarray(array) for key, array in graph.inputs.items()}
            for earlier, text in graph.lines[: graph.lines.index((name, expression))]:
                tensors[earlier] = eval(text, NAMES, tensors)
        arrays[name] = np.asarray(cnp.evaluate(eval(expression, NAMES, tensors)))
    return arrays


def reduced(graph: Graph, outputs: list[str], cut: set[str], arrays: dict[str, Any]) -> Graph:
    needed = ancestors(graph, outputs, cut)
    lines = [(n, e) for n, e in graph.lines if n in needed and n not in cut]
    written = {name for name, _ in lines}
    inputs = {name: arrays[name] for name in arrays if name in needed and name not in written}
    return Graph(inputs, lines, outputs)


def shrunk(graph: Graph, output: str, differs: Differs) -> Graph:
    """A smaller graph that still differs, or the graph itself if no smaller one does."""
    arrays = values_of(graph)
    best = reduced(graph, [output], set(), arrays)
    if not differs(best):
        return graph
    cut: set[str] = set()
    # The earliest values first: each cut removes all that led to it.
    for name, _ in list(reversed(best.lines))[1:]:
        if name not in {line[0] for line in best.lines}:
            continue
        smaller = reduced(graph, [output], cut | {name}, arrays)
        if len(smaller.lines) < len(best.lines) and differs(smaller):
            best, cut = smaller, cut | {name}
    return best


def reproduction(graph: Graph) -> str:
    """Python source that builds the graph; arrays bit by bit where they are small."""
    lines = ["import numpy as np", "import composit", "from composit import _core, nn",
             "from composit import numpy as cnp", "", graph.source]  # fmt: skip
    for name, array in graph.inputs.items():
        data = np.ascontiguousarray(array).tobytes()
        shown = data.hex() if len(data) <= 2048 else f"… {len(data)} bytes, as drawn"
        lines.append(f"{name} = np.frombuffer(bytes.fromhex('{shown}'), '{array.dtype}')"
                     f".reshape({array.shape})")  # fmt: skip
    return "\n".join(lines)
