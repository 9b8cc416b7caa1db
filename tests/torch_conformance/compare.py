"""Runs an example under composit.torch and PyTorch: the same values, and the same gradients."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch as peer

from composit import torch
from torch_conformance import calls
from torch_conformance.arrays import ARRAYS

_NAME = re.compile(r"\b([A-Z][A-Z0-9]?[A-Z0-9]?)\b")
_CALL = re.compile(r"(\w+)\(")
_SIMPLE = re.compile(r"(\w+)\(([A-Z]\w*)(?:, (.*?))?\)((?:\.\w+\(?\)?|\[\d\])*)", re.DOTALL)


@dataclass(frozen=True)
class Example:
    """One call: where the name lives ("nn.functional"), the name, and the expression."""

    space: str
    name: str
    text: str

    @property
    def path(self) -> str:
        return f"{self.space}.{self.name}" if self.space else self.name


def pieces(table: str) -> Iterator[str]:
    """The calls of a table: text between spaces outside parentheses."""
    depth, start = 0, None
    for place, letter in enumerate(table):
        if letter.isspace() and depth == 0:
            if start is not None:
                yield table[start:place]
            start = None
            continue
        start = place if start is None else start
        depth += (letter in "([{") - (letter in ")]}")


def _of(space: str, table: str) -> list[Example]:
    found = []
    for text in pieces(table):
        match = _CALL.match(text)
        assert match, f"an example is a call: {text}"
        found.append(Example(space, match[1], text))
    return found


def _methods(functions: list[Example]) -> Iterator[Example]:
    """The same calls as methods, and in place where PyTorch has that."""
    for example in functions:
        match = _SIMPLE.fullmatch(example.text)
        if match is None or match[2] not in ARRAYS:
            continue
        for name in (match[1], f"{match[1]}_"):
            if hasattr(peer.Tensor, name):
                copied = ".clone()" if name.endswith("_") else ""
                yield Example(
                    "Tensor", name, f"{match[2]}{copied}.{name}({match[3] or ''}){match[4]}"
                )


def examples() -> list[Example]:
    """All of them."""
    functions = _of("", calls.TORCH)
    tables = {"linalg": calls.LINALG, "fft": calls.FFT, "special": calls.SPECIAL,
              "nn.functional": calls.FUNCTIONAL, "nn": calls.MODULES,
              "optim": calls.OPTIMISERS}  # fmt: skip
    every = [example for space, table in tables.items() for example in _of(space, table)]
    return [*functions, *_methods(functions), *every]


def _result_of(example: Example, library: Any, tensors: dict[str, Any], weights: Any) -> Any:
    scope = {"t": library, "__builtins__": __builtins__, **tensors}
    if example.space == "optim":
        return _trained(example, library)
    if example.space == "Tensor":
        return eval(example.text, scope)
    if example.space != "nn":
        return eval(f"t.{example.space}.{example.text}" if example.space else f"t.{example.text}",
                    scope)  # fmt: skip
    match = re.match(r"\w+\(", example.text)
    assert match
    depth, end = 1, match.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(example.text[end], 0)
        end += 1
    module = eval(f"t.nn.{example.text[:end]}", scope)
    scope["module"] = module
    if example.name.startswith("Lazy"):
        eval(f"module{example.text[end:]}", scope)
        getattr(module, "reset_running_stats", lambda: None)()
    if weights:
        state = {k: library.tensor(v) for k, v in weights.items()}
        module.load_state_dict(state)
    else:
        weights.update({k: v.numpy() for k, v in module.state_dict().items()})
    tensors.update({f"parameter {k}": v for k, v in module.named_parameters()})
    return eval(f"module{example.text[end:]}", scope)


def _trained(example: Example, library: Any) -> Any:
    """Parameters after five steps towards a minimum."""
    p = [library.nn.Parameter(library.tensor(ARRAYS[name])) for name in ("A", "S")]
    optimiser = eval(f"t.optim.{example.text}", {"t": library, "p": p})

    def loss() -> Any:
        optimiser.zero_grad()
        value = (p[0] ** 2).sum() + ((p[1] - 1) ** 4).mean()
        value.backward()
        return value

    for _ in range(5):
        optimiser.step(loss)
    return [x.detach() for x in p]


@dataclass
class Outcome:
    """What came of an example: errors of values and of gradients, "" where they are the same;
    whether there is a gradient."""

    values: str = ""
    gradients: str = ""
    has_gradient: bool = False
    refusal: str = ""  # what PyTorch says where it cannot be compared


def _flat(result: Any) -> list[Any]:
    if isinstance(result, (tuple, list)) and not isinstance(result, (peer.Size, torch.Size)):
        return [item for part in result for item in _flat(part)]
    return [result]


def strided(library: Any, array: np.ndarray) -> Any:
    """The array as a view whose elements are no neighbours: of one in another order of axes, or of
    one that is twice as long."""
    if array.ndim < 2:
        return library.tensor(np.repeat(array, 2))[::2] if array.ndim else library.tensor(array)
    return library.tensor(array.T.copy()).permute(*reversed(range(array.ndim)))


def _run(
    example: Example, library: Any, weights: Any, is_recorded: bool = True,
    make: Callable[[Any, np.ndarray], Any] = lambda library, array: library.tensor(array),
) -> tuple[list[Any], dict[str, Any]]:  # fmt: skip
    named = set(_NAME.findall(example.text)) & set(ARRAYS)
    tensors = {}
    if example.space != "optim":
        for name in sorted(named):
            tensors[name] = make(library, ARRAYS[name])
            if is_recorded and ARRAYS[name].dtype.kind in "fc":
                tensors[name].requires_grad_()
    return _flat(_result_of(example, library, tensors, weights)), tensors


def _backward(results: list[Any], library: Any) -> bool:
    total: Any = 0
    for made in results:
        if getattr(made, "requires_grad", False):
            parts = library.view_as_real(made) if made.is_complex() else made
            size = max(parts.numel(), 1)
            weights = (np.arange(1, size + 1)[: parts.numel()] / size).reshape(tuple(parts.shape))
            total = total + (parts.double() * library.tensor(weights)).sum()
    if isinstance(total, int):
        return False
    total.backward()
    return True


def _check(mine: Any, theirs: Any, rtol: float, atol: float) -> None:
    if not isinstance(theirs, peer.Tensor):
        is_equal = str(mine) == str(theirs)
        assert is_equal, f"{mine} for {theirs}"
        return
    assert isinstance(mine, torch.Tensor), f"a {type(mine).__name__} for a tensor"
    assert tuple(mine.shape) == tuple(theirs.shape), f"shape {mine.shape} for {theirs.shape}"
    assert repr(mine.dtype) == repr(theirs.dtype), f"{mine.dtype} for {theirs.dtype}"
    x, y = mine.detach().numpy(), theirs.detach().resolve_conj().resolve_neg().numpy()
    scale = float(np.max(np.abs(y[np.isfinite(y)]), initial=0)) if y.dtype.kind in "fc" else 0
    np.testing.assert_allclose(x, y, rtol=rtol, atol=atol * max(scale, 1))


def tried(example: Example, **how: Any) -> Outcome:
    """Compares the two libraries on one example; without gradients where PyTorch has none. Its
    tensors are made by `make`."""
    outcome = Outcome()
    for is_recorded in (True, False):
        weights: dict[str, Any] = {}
        try:
            theirs, their_leaves = _run(example, peer, weights, is_recorded, **how)
            outcome.has_gradient = _backward(theirs, peer)
        except (RuntimeError, TypeError, NotImplementedError) as error:
            outcome.refusal = str(error)
            continue
        outcome.refusal = ""
        mine = (theirs, weights, outcome, their_leaves, is_recorded, how)
        outcome.values = _said(lambda mine=mine: _check_values(example, *mine))  # type: ignore
        break
    return outcome


def _check_values(
    example: Example, theirs: list[Any], weights: Any, outcome: Outcome, their_leaves: Any,
    is_recorded: bool, how: dict[str, Any],
) -> None:  # fmt: skip
    mine, leaves = _run(example, torch, weights, is_recorded, **how)
    assert len(mine) == len(theirs), f"{len(mine)} results for {len(theirs)}"
    for x, y in zip(mine, theirs):
        _check(x, y, 3e-5, 3e-6)
    if outcome.has_gradient:
        outcome.gradients = _said(lambda: _check_gradients(mine, leaves, their_leaves))


def _check_gradients(mine: list[Any], leaves: Any, their_leaves: Any) -> None:
    if not _backward(mine, torch):
        every = [x.grad for x in their_leaves.values() if x.grad is not None]
        assert not any(bool(x.any()) for x in every), "no gradient"
        return
    for name, theirs in their_leaves.items():
        if theirs.grad is None:
            assert leaves[name].grad is None or not np.any(leaves[name].grad.numpy()), name
            continue
        assert leaves[name].grad is not None, f"no gradient of {name}"
        _check(leaves[name].grad, theirs.grad + 0, 3e-4, 3e-5)


def _said(check: Callable[[], None]) -> str:
    """What an error says, in one line."""
    try:
        check()
    except Exception as error:
        text = " ".join(str(error).split())
        return f"{type(error).__name__}: {text}"[:200]
    return ""
