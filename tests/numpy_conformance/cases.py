"""A row for each function: the calls it is tried with, and the ways of writing each of them."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

import composit.numpy as cnp
from numpy_conformance import judge
from numpy_conformance.values import FLOATS, array

Call = tuple[tuple, dict]


@dataclass
class Row:
    """A function of NumPy's; `calls` are arguments and keywords. Results are compared element by
    element, or (`sums`) on the scale of the largest operand or result; `like` compares dtypes and
    shapes only; `changes` is the argument that the function writes; `options` are tried with some
    of the calls, beside those that parameters of these names get anyway; `of_tensors` tells whether
    NumPy's own function may be called with tensors; `note` says why results differ."""

    name: str
    calls: list[Call]
    sums: bool = False
    like: bool = False
    changes: int | None = None
    foreign: bool = False
    options: list = field(default_factory=list)
    without: tuple[str, ...] = ()
    of_tensors: bool = True
    note: str = ""
    # What has no name in the namespace: the function that a namespace, numpy or composit.numpy,
    # gives. Of those `calls` are all that is tried, but for a method's `parameters`.
    of: Callable[[Any], Callable] | None = None
    parameters: tuple[str, ...] = ()

    @cached_property
    def theirs(self) -> Callable:
        return self.of(np) if self.of else find(np, self.name)

    @cached_property
    def ours(self) -> Callable:
        return self.of(cnp) if self.of else find(cnp, self.name)

    def some(self, count: int) -> list[Call]:
        """So many of the calls, from all parts of the list."""
        step = max(1, len(self.calls) / count)
        return [self.calls[int(i * step)] for i in range(min(count, len(self.calls)))]


@dataclass
class Case:
    """One call, in one way of writing it."""

    row: Row
    form: str
    arguments: tuple
    keywords: dict
    theirs: Callable
    ours: Callable
    convert: Callable = judge.composits

    def run(self) -> float:
        """Ulps between NumPy and composit; Deviation where more than roundings differ."""
        wanted = self.outcome(self.theirs, judge.numpys)
        found = self.outcome(self.ours, self.convert)
        scale = size_of((self.arguments, tuple(self.keywords.values()))) if self.row.sums else None
        return judge.judge(found, wanted, scale, not self.row.like)

    def outcome(self, function: Callable, convert: Callable) -> Any:
        arguments = tuple(convert(a) for a in self.arguments)
        keywords = {name: convert(value) for name, value in self.keywords.items()}
        made = judge.outcome_of(function, arguments, keywords)
        written = []
        if self.row.changes is not None and len(arguments) > self.row.changes:
            written.append(arguments[self.row.changes])
        if keywords.get("out") is not None:
            written.append(keywords["out"])
        if not written or isinstance(made, Exception):
            return made
        after = judge.outcome_of(lambda: written, (), {})
        return after if isinstance(after, Exception) else (made, *after)

    def __str__(self) -> str:
        words = [shown(a) for a in self.arguments]
        words += [f"{name}={shown(value)}" for name, value in self.keywords.items()]
        return f"{self.row.name}({', '.join(words)})"


def find(module: Any, name: str) -> Any:
    for part in name.split("."):
        module = getattr(module, part)
    return module


def shown(value: Any) -> str:
    """An argument in few words: dtype and shape of an array."""
    if isinstance(value, judge.View):
        return f"{shown(value.array)}{'[..., ::2]' if value.step else '.T'}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    if isinstance(value, (tuple, list)):
        inside = ", ".join(shown(item) for item in value[:4])
        inside += ", …" if len(value) > 4 else ""
        if isinstance(value, tuple):
            return f"({inside},)" if len(value) == 1 else f"({inside})"
        return f"[{inside}]"
    if isinstance(value, type):
        return value.__name__
    return getattr(value, "__name__", None) or repr(value)


def size_of(value: Any) -> float:
    """The largest finite number in arguments."""
    if isinstance(value, judge.View):
        value = value.array
    if isinstance(value, (tuple, list)):
        return max((size_of(item) for item in value), default=0.0)
    if isinstance(value, (np.ndarray, np.generic, float, int)) and not isinstance(value, bool):
        numbers = np.asarray(value)
        if numbers.dtype.kind in "iufc" and numbers.size:
            sizes = np.abs(numbers.astype(np.result_type(numbers, np.float64)))
            return float(sizes[np.isfinite(sizes)].max(initial=0.0))
    return 0.0


# ----- what parameters of these names are given, for the arguments of a call
def mask_of(arguments: tuple) -> np.ndarray:
    shape = np.shape(arguments[0]) if arguments else ()
    return array("bool", shape, seed=7)


AXES = [None, 0, 1, -1, 5, (0,), (0, 1), (0, 0), 1.5, "x"]
PARAMETERS: dict[str, list[Any]] = {
    "axis": AXES,
    "axes": [None, (0,), (0, 1), (1, 0), 7],
    "keepdims": [True, False],
    "dtype": [
        "float32",
        "float64",
        "int64",
        "complex128",
        np.float32,
        int,
        "nonsense",
        "S3",
        "M8[s]",
    ],
    "ddof": [1, 0, 1.5, 50],
    "correction": [1, 0],
    "initial": [2, 0.5],
    "where": [mask_of],
    "order": ["C", "F", "K", "Q"],
    "kind": [None, "stable", "nonsense"],
    "stable": [True],
    "casting": ["same_kind", "safe", "no", "unsafe", "nonsense"],
    "subok": [True, False],
    "device": ["cpu", None, "cuda"],
    "copy": [True, None],
    "equal_nan": [True],
    "rtol": [1e-3],
    "atol": [1e-3],
    "k": [1, -1, 30],
    "offset": [1, -1, 30],
    "overwrite_input": [True],
    "mode": ["raise", "wrap", "clip", "nonsense"],
    "decimals": [1, -1, 20],
    "include_initial": [True],
    "bitorder": ["big", "little", "nonsense"],
    "assume_unique": [True],
    "norm": [None, "ortho", "forward", "backward", "nonsense"],
    "hermitian": [True],
    "indexing": ["ij", "xy", "nonsense"],
    "sparse": [True],
    "method": [
        "linear",
        "lower",
        "higher",
        "nearest",
        "midpoint",
        "hazen",
        "weibull",
        "median_unbiased",
        "normal_unbiased",
        "inverted_cdf",
        "averaged_inverted_cdf",
        "closest_observation",
        "interpolated_inverted_cdf",
        "nonsense",
    ],
    "return_index": [True],
    "return_inverse": [True],
    "return_counts": [True],
    "endpoint": [False],
    "rowvar": [False],
    "bias": [True],
}
# Keywords of ufuncs, whose signature Python does not know.
UFUNC = ("dtype", "casting", "order", "subok")


def parameters(function: Callable) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(function).parameters)
    except ValueError:
        return {}


def optional(row: Row) -> list[str]:
    """Names of parameters that a call may leave out."""
    if row.of:
        return list(row.parameters)
    if isinstance(row.theirs, np.ufunc):
        return list(UFUNC)
    return [
        name
        for name, p in parameters(row.theirs).items()
        if p.default is not inspect.Parameter.empty
    ]


def with_options(row: Row) -> Iterator[Case]:
    """Each optional parameter's values with some of the calls."""
    known = parameters(row.theirs)
    for arguments, keywords in row.some(6):
        tried: list[dict] = []
        for name in optional(row):
            if name in row.without or name in keywords or name not in PARAMETERS:
                continue
            if name in known and list(known).index(name) < len(arguments):
                continue  # given by position
            for value in PARAMETERS[name]:
                tried.append(
                    {name: value(arguments) if callable(value) and value is mask_of else value}
                )
        for option in row.options:
            tried.append(option(arguments) if callable(option) else option)
        for extra in tried:
            yield Case(row, "options", arguments, {**keywords, **extra}, row.theirs, row.ours)
    if "axis" in known and "keepdims" in known:
        for arguments, keywords in row.some(9):
            for axis in (0, -1, (0, 1)):
                extra = {"axis": axis, "keepdims": True}
                yield Case(row, "options", arguments, {**keywords, **extra}, row.theirs, row.ours)


def with_outputs(row: Row) -> Iterator[Case]:
    """Outputs that fit, of a wider and a narrower dtype, of another shape, and of another kind."""
    has_one = isinstance(row.theirs, np.ufunc) and row.theirs.nout == 1
    if not has_one and "out" not in (row.parameters if row.of else parameters(row.theirs)):
        return
    for arguments, keywords in row.some(4):
        made = judge.outcome_of(row.theirs, tuple(map(judge.numpys, arguments)), keywords)
        if not isinstance(made, (np.ndarray, np.generic)):
            continue
        outs = [np.zeros(made.shape, made.dtype), np.zeros(made.shape, "complex128"),
                np.zeros(made.shape, "int8"), np.zeros((2, *made.shape), made.dtype),
                np.zeros((7, 3), made.dtype), None, "text"]  # fmt: skip
        for out in outs:
            yield Case(row, "out=", arguments, {**keywords, "out": out}, row.theirs, row.ours)
        if has_one and np.ndim(made):
            extra = {"out": np.ones(made.shape, made.dtype), "where": array("bool", made.shape)}
            yield Case(row, "out=", arguments, {**keywords, **extra}, row.theirs, row.ours)
            masked = {**keywords, "where": extra["where"]}
            yield Case(row, "out=", arguments, masked, filled(row.theirs), row.ours)


def filled(ufunc: np.ufunc) -> Callable:
    """The ufunc, whose where= leaves zeros elsewhere, not what was in memory."""

    def call(*arguments: Any, where: Any, **keywords: Any) -> Any:
        like = ufunc(*arguments, **keywords)
        return ufunc(*arguments, **keywords, where=where, out=np.zeros_like(like))

    return call


def in_other_words(row: Row) -> Iterator[Case]:
    """Arguments by keyword, as lists, as views and as ndarrays; NumPy's function of tensors."""
    names = [] if row.of else list(parameters(row.theirs))
    for arguments, keywords in row.some(5):
        for given in range(len(arguments) if names and len(names) >= len(arguments) else 0):
            by_name = {**dict(zip(names[given:], arguments[given:])), **keywords}
            yield Case(row, "keywords", arguments[:given], by_name, row.theirs, row.ours)
        lists = tuple(a.tolist() if isinstance(a, np.ndarray) else a for a in arguments)
        if not any(isinstance(a, np.ndarray) and a.dtype.kind in "fc" and a.dtype not in FLOATS[2:]
                   for a in arguments) and row.changes is None:  # fmt: skip
            yield Case(row, "lists", lists, keywords, row.theirs, row.ours)
        yield Case(row, "ndarrays", arguments, keywords, row.theirs, row.ours, judge.numpys)
        if row.of_tensors and holds_arrays(arguments):
            yield Case(row, "NumPy's function", arguments, keywords, row.theirs, row.theirs)
        if row.changes is None:
            for step in (True, False):
                views = tuple(
                    judge.View(a, step) if isinstance(a, np.ndarray) and a.ndim > 0 else a
                    for a in arguments
                )
                if any(isinstance(a, judge.View) for a in views):
                    yield Case(row, "views", views, keywords, row.theirs, row.ours)


def wrongly(row: Row) -> Iterator[Case]:
    """Too few and too many arguments, and a keyword that does not exist."""
    if row.of:
        return
    yield Case(row, "mistakes", (), {}, row.theirs, row.ours)
    for arguments, keywords in row.some(2):
        if len(arguments) > 1:
            yield Case(row, "mistakes", arguments[:1], {}, row.theirs, row.ours)
        kinds = [p.kind for p in parameters(row.theirs).values()]
        if not isinstance(row.theirs, np.ufunc) and inspect.Parameter.VAR_POSITIONAL not in kinds:
            many = (*arguments, *[None] * 14)
            yield Case(row, "mistakes", many, keywords, row.theirs, row.ours)
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            odd = {**keywords, "nonsense": 1}
            yield Case(row, "mistakes", arguments, odd, row.theirs, row.ours)


def holds_arrays(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(holds_arrays(item) for item in value)
    return isinstance(value, (np.ndarray, judge.View))


def cases_of(row: Row) -> list[Case]:
    """All that the function is tried with."""
    cases = [Case(row, "calls", a, k, row.theirs, row.ours) for a, k in row.calls]
    for more in (with_options, with_outputs, in_other_words, wrongly):
        cases.extend(more(row))
    return cases
