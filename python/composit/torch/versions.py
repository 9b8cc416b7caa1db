"""Version counters: which values PyTorch's operations keep for their gradients, and the error where
one was written before backward(). A graph of composit keeps values anyway: this checks, and puts
what was written unseen, through .data, in the place of what was saved."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location
from composit.torch import dtypes
from composit.torch.saved_values import FROM_RESULT, RULES, rule_of_text


class Counter:
    """How often a tensor, or anything that shares its memory, was written; it outlives it."""

    __slots__ = ("last", "owner", "unseen")

    def __init__(self, owner: Any) -> None:
        self.owner, self.last = weakref.ref(owner), owner._writes
        self.unseen = 0  # writes through .data, which are not counted

    def now(self) -> int:
        """The number of writes."""
        owner = self.owner()
        return self.last if owner is None else owner._writes


def owner_of(tensor: Any, through_data: bool = False) -> Any:
    """The tensor that counts the writes into this one's memory; `through_data`: the one that was
    there first, whose count does not hear of writes through .data."""
    while True:
        held = tensor._root
        if held is None and (through_data or not tensor._is_data):
            held = tensor._twin
        if held is None:
            return tensor
        tensor = held


def counter_of(tensor: Any) -> Counter:
    """The counter of a tensor's memory."""
    return _counter_at(owner_of(tensor))


def _counter_at(owner: Any) -> Counter:
    counter = owner._counter
    if counter is None:
        counter = owner._counter = Counter(owner)
    return counter


def written(tensor: Any) -> None:
    """Counts a write."""
    owner = owner_of(tensor)
    owner._writes += 1
    if owner._counter is not None:
        owner._counter.last = owner._writes


class Note:
    """What stands in a record beside its operands."""

    __slots__ = ()


class Saved(Note):
    """The values that an operation saved, at the end of its record."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Entry]) -> None:
        self.entries = entries


class Place:
    """Where a saved value lies, and what was there: writes through .data, which are not counted,
    reach it."""

    __slots__ = ("counter", "index", "node", "place", "unseen")

    def __init__(self, tensor: Any) -> None:
        lazy = tensor._lazy
        # A leaf is saved itself: `leaf.data = other` reaches it.
        self.place = tensor if tensor._is_leaf_with_grad else lazy
        self.node, self.index = lazy.node, lazy.output_index
        owner = owner_of(tensor, through_data=True)
        # Nobody writes into the memory of what nobody holds.
        self.counter = None if isinstance(owner, _Gone) else _counter_at(owner)
        self.unseen = 0 if self.counter is None else self.counter.unseen

    def before(self) -> Any:
        """What was there when it was saved."""
        return self.node.outputs[self.index]

    def now(self) -> Any:
        """What is there now, or was there if nothing else was put there."""
        if not self.is_written():
            return self.before()
        place = self.place
        return (place if isinstance(place, LazyTensor) else place._lazy).copied()

    def is_written(self) -> bool:
        """Whether something else was put there since, unseen."""
        return self.counter is not None and self.counter.unseen != self.unseen


class NoDerivative(Note):
    """Of an operation whose gradient nobody knows: asking for it is an error."""

    __slots__ = ()


class Entry:
    """A value that an operation saved: whose writes count, and how many there were; whether it is a
    result, or the first operand; what the error says of it; where it lies."""

    __slots__ = (
        "counter", "dtype", "is_first", "is_result", "maker", "place", "shape", "version",
    )  # fmt: skip

    def __init__(
        self, tensor: Any, is_result: bool, maker: str | None, is_first: bool = False
    ) -> None:
        self.is_result, self.maker, self.is_first = is_result, maker, is_first
        self.dtype, self.shape = tensor.dtype, tuple(tensor.shape)
        self.counter: Counter | None  # None: of a copy, into which nobody writes
        self.lie_in(tensor)

    def lie_in(self, tensor: Any) -> None:
        """It lies in the tensor's memory, as it is now."""
        self.counter = counter_of(tensor)
        self.version, self.place = self.counter.now(), Place(tensor)

    def was_copied(self) -> None:
        """Writes into where it was do not reach it."""
        self.counter = self.place.counter = None

    def is_written(self) -> bool:
        """Whether it was written since, and that was counted."""
        return self.counter is not None and self.counter.now() != self.version

    def error(self) -> str:
        """What PyTorch says of it then."""
        now = self.version if self.counter is None else self.counter.now()
        return _said(now, self.version, self.dtype, self.shape, self.maker)


@functools.cache
def _names_of(function: Any) -> dict[str, int]:
    return {name: i for i, name in enumerate(inspect.signature(function).parameters)}


@functools.cache
def _place_of_self(function: Any) -> int:
    """The argument that the tensor of a method is."""
    try:
        return _names_of(function).get("input", 0)
    except (TypeError, ValueError):  # a function of the core tells no names
        return 0


def note(record: Any, function: Any, operands: Iterable[Any], results: Any, given: Any) -> None:
    """Adds to a record what its operation saves. An operand is (number or name of the argument, the
    tensor, whether a gradient goes to it); `given` has pairs (number or name, argument)."""
    rule = RULES.get(record[0])
    if rule is None:
        return

    def number(place: Any) -> int:
        return _names_of(function).get(place, -1) if isinstance(place, str) else place

    known = [(number(place), tensor, needs) for place, tensor, needs in operands]
    if callable(rule):
        values = {number(place): value for place, value in given}
        values |= {place: tensor for place, tensor, _ in known}
        rule = rule_of_text(rule(values, results))
    needing = {place for place, _, needs in known if needs}
    own = _place_of_self(function)
    entries: list[Entry] = []
    refused: list[Any] = []
    for what, by in rule:
        if by.isdisjoint(needing):
            continue
        if what == "!":
            refused = [NoDerivative()]
        elif type(what) is str and what[1:]:
            chosen = results[int(what[1:])]
            entries += [] if chosen is None else [Entry(chosen, True, record[0])]
        elif type(what) is str:
            entries += [
                Entry(x, True, record[0] if x._record is record else None)
                for x in results
                if x is not None and (what == "r" or not x.dtype.is_floating_point)
            ]
        else:
            entries += [
                Entry(x, False, _maker(x), what == own) for place, x, _ in known if place == what
            ]
    if entries:
        record.append(Saved(entries))
    record += refused


def _maker(tensor: Any) -> str | None:
    record = tensor._record
    return record[0] if isinstance(record, list) else None


def tensors_in(place: Any, value: Any, kind: Any, needs: Any) -> list[Any]:
    """The operands in an argument: itself, or those of a list."""
    if isinstance(value, kind):
        return [(place, value, needs(value))]
    if type(value) in (list, tuple):
        return [found for item in value for found in tensors_in(place, item, kind, needs)]
    return []


def moved(record: Any, target: Any) -> None:
    """An in-place operation: what it made is in the target from now on, which was written. Its
    first operand is the target as it was before: that is saved as a copy."""
    if not isinstance(record, list):
        return
    counter = counter_of(target)
    for saved in record:
        if type(saved) is not Saved:
            continue
        for entry in saved.entries:
            is_here = entry.counter is counter
            if entry.is_result or (record[0] in FROM_RESULT and is_here):
                entry.is_result = True
                entry.lie_in(target)
            elif is_here and entry.is_first:
                entry.was_copied()


def check(records: list[Any], reached: Any = None) -> None:
    """RuntimeError where a value that one of the records saved was written since. `reached` says
    which records gradients go through, if not all."""
    for record in records:
        for saved in record:
            if type(saved) is NoDerivative and (reached is None or reached(record)):
                name = record[0].removesuffix("Backward0")
                raise RuntimeError(
                    with_location(f"the derivative for '{name}: input' is not implemented.")
                )
            if type(saved) is not Saved:
                continue
            for entry in saved.entries:
                if entry.is_written() and (reached is None or reached(record)):
                    raise RuntimeError(with_location(entry.error()))


def with_what_is_there(
    chain_rule: Callable[[list[Any], list[Any]], list[Any]], outputs: list[Any], ends: list[Any],
    records: list[Any], is_cut: bool,
) -> list[Any]:  # fmt: skip
    """Gradients by chain_rule(outputs, ends), made of the values that are now where the records'
    operations saved some. `is_cut`: the graph is cut at nodes that Functions and hooks remember."""
    places = [entry.place for record in records for saved in record if type(saved) is Saved
              for entry in saved.entries]  # fmt: skip
    if not any(place.is_written() for place in places):
        return chain_rule(outputs, ends)
    # Composed functions are opened first: what was saved are nodes of the graph that results.
    before = [place.before() for place in places]
    now = [place.now() for place in places]
    if is_cut:
        return _core.substitute(chain_rule(outputs, ends), before, now)
    made = _core.nn.open_for_derivatives([*outputs, *ends, *before])
    count = len(outputs) + len(ends)
    gradients = chain_rule(made[: len(outputs)], made[len(outputs) : count])
    return _core.substitute(gradients, made[count:], now)


def of_tensor(tensor: Any, version: int) -> str:
    """The error's text for a tensor that is not at a version any more."""
    maker = _maker(tensor)
    return _said(counter_of(tensor).now(), version, tensor.dtype, tensor.shape, maker)


def _said(now: int, version: int, dtype: Any, shape: Any, maker: str | None) -> str:
    kinds = {"float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int",
             "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "float16": "Half",
             "bfloat16": "BFloat16", "complex64": "ComplexFloat",
             "complex128": "ComplexDouble"}  # fmt: skip
    which = "" if maker is None else f", which is output 0 of {maker.removesuffix('Backward0')},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{kinds.get(dtype.name, dtype.name)}Tensor {list(shape)}]{which} is at "
        f"version {now}; expected version {version} instead. Hint: enable anomaly "
        "detection to find the operation that failed to compute its gradient, with "
        "torch.autograd.set_detect_anomaly(True)."
    )


def reaches(targets: set[int]) -> Any:
    """A function that says whether a record leads to one of the tensors or records of those ids."""
    known: dict[int, bool] = {}

    def leads(record: Any) -> bool:
        open_records = [record]
        while open_records:
            top = open_records[-1]
            below = [x for x in top[1:] if isinstance(x, list)]
            if id(top) in targets or any(id(x) in targets for x in top[1:]):
                known[id(top)] = True
            if id(top) in known:
                open_records.pop()
                continue
            if any(known.get(id(x)) for x in below):
                known[id(top)] = True
                continue
            rest = [x for x in below if id(x) not in known]
            if rest:
                open_records.append(rest[0])
            else:
                known[id(top)] = False
        return known[id(record)]

    return leads


def trace_noted(trace: Any) -> None:
    """Adds to the records of a trace's operations what they save: nothing was written since."""
    kind = _core_place()
    for first, state in trace.entries:
        if state.sources is None or state.name not in RULES:
            continue
        record = trace.records[first]
        if not isinstance(record, list) or any(isinstance(x, (Note, str)) for x in record[1:]):
            continue

        def held(value: Any) -> Any:
            return _held(trace, value.number)

        def needs(value: Any, sources: Any = state.sources) -> bool:
            return value.number in sources

        found = [x for i, value in enumerate(state.operands)
                 for x in tensors_in(i, value, kind, needs)]  # fmt: skip
        found += [x for name, value in state.named.items()
                  for x in tensors_in(name, value, kind, needs)]  # fmt: skip
        operands = [(place, held(stands), need) for place, stands, need in found]
        results = [trace.result_of(first + i) for i in range(len(state.results))]
        given = [*enumerate(state.operands), *state.named.items()]
        note(record, state.operation.function, operands, results, given)


class _Gone:
    """Stands for a tensor that nobody holds any more: what it held, its record, and the tensor that
    it was a view of."""

    _twin = _counter = None
    _writes = 0
    _is_data = _is_leaf_with_grad = False

    def __init__(self, lazy: Any, record: Any, root: Any) -> None:
        self._lazy, self._record, self._root = lazy, record, root
        self.dtype, self.shape = dtypes.of_numpy(lazy.dtype), lazy.shape


def _core_place() -> Any:
    from composit.torch.steps import Place

    return Place


def _held(trace: Any, number: int) -> Any:
    """The tensor at a place, or what stands for it."""
    tensor = trace.result_of(number)
    if tensor is not None:
        return tensor
    for first, state in trace.entries:
        if first <= number < first + len(state.results):
            root = _held(trace, state.operands[0].number) if state.is_view else None
            return _Gone(trace.lazies[number], trace.records[number], root)
    raise AssertionError(f"place {number} is of no operation, and leaves are held")
