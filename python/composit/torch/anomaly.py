"""Anomaly detection: while it is on, backward looks at what each operation's gradient gives, and
names the first that gives NaN, with the line that called the operation."""

from __future__ import annotations

import threading
import warnings
from typing import Any

import numpy as np

import composit._core as _core
from composit._core import record_name, runtime_error
from composit.torch import errstate


class _Mode(threading.local):
    is_on = False
    checks_nan = True


state = _Mode()
_names = {"multiply": "mul", "subtract": "sub", "divide": "div", "negative": "neg", "power": "pow"}


class set_detect_anomaly:
    """Turns anomaly detection on or off, at once and until a with block of it ends. With check_nan
    False nothing is checked."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._before = (state.is_on, state.checks_nan)
        state.is_on, state.checks_nan = bool(mode), bool(check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        state.is_on, state.checks_nan = self._before


class detect_anomaly:
    """Within its block, backward raises RuntimeError where an operation's gradient gives NaN."""

    def __init__(self, check_nan: bool = True) -> None:
        self._check_nan = check_nan
        self._entered: list[set_detect_anomaly] = []
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        self._entered.append(set_detect_anomaly(True, self._check_nan))

    def __exit__(self, *_: Any) -> None:
        self._entered.pop().__exit__()


def is_anomaly_enabled() -> bool:
    """Whether anomaly detection is on."""
    return state.is_on


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly detection, where it is on, looks for NaN."""
    return state.checks_nan


def is_checking() -> bool:
    """Whether gradients are to be looked at."""
    return state.is_on and state.checks_nan


def _is_nan(lazy: Any) -> bool:
    return bool(np.isnan(np.asarray(lazy.evaluated())).any())


def check_function(name: str, gradients: list[Any]) -> None:
    """Of what a Function's backward returned; None where there is no gradient."""
    if not is_checking():
        return
    for number, lazy in enumerate(gradients):
        if lazy is not None and lazy.dtype.kind in "fc" and _is_nan(lazy):
            raise runtime_error(_text(name, number))


def _text(name: str, number: int) -> str:
    return f"Function '{name}' returned nan values in its {number}th output."


def check_graph(outputs: list[Any], incoming: list[Any], inputs: list[Any]) -> None:
    """Looks at the gradients of all nodes from the outputs back to the inputs. RuntimeError names
    the operation whose gradient gives NaN first, and its line."""
    if not is_checking():
        return
    order = _core.topological_order(outputs)
    wanted = {lazy.node for lazy in inputs}
    between = []
    for node in order:
        if node in wanted or any(below in wanted for below, _ in node.operand_nodes):
            wanted.add(node)
            between.append(node)
    lazies = [lazy for node in between for lazy in node.outputs if lazy.dtype.kind in "fcV"]
    token = errstate.begin()
    try:
        gradients = _core.nn.chain_rule(outputs, incoming, lazies)
        flows = {(x.node, x.output_index): g for x, g in zip(lazies, gradients)}
        ends = {(x.node, x.output_index) for x in outputs}
        for node in reversed(between):
            for number, (below, index) in enumerate(node.operand_nodes):
                flow = flows.get((below, index))
                if flow is not None and (below, index) not in ends and _is_nan(flow):
                    name = node.attributes.get("row", node.name)
                    name = record_name(_names.get(name, name))
                    raise RuntimeError(f"{_text(name, number)} It was called at {node.location}.")
    finally:
        errstate.end(token)
