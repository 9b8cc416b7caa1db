"""Version counters: which values PyTorch's operations keep for their gradients, and the error where
one was written before backward(). A graph of composit keeps values anyway; this only checks."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Iterable
from typing import Any

from composit import _core
from composit._core import LazyTensor, with_location
from composit.torch import dtypes

# What is saved: "r" the results, "r0" the first, "i" those that are integers, a number an argument
# ("!": one that has no derivative), < the arguments one of which has to require a gradient
# (PyTorch's derivatives.yaml); below each, the operations.
_TABLE = {
    "r<0 0<0": "cholesky_inverse vander",
    "r0<0 r1<0": "lu lu_factor lu_factor_ex",
    "0<0": """
        abs absolute acos acosh angle asin asinh atan atanh arccos arccosh arcsin arcsinh arctan
        arctanh celu clamp clamp_max clamp_min clip combinations cos cosh digamma erf erfc erfinv
        hardshrink i0 lgamma log log10 log1p log2 logit logdet matrix_exp mvlgamma nan_to_num
        nanmean nansum renorm selu sin sinc sinh square threshold var var_mean avg_pool1d
        avg_pool2d avg_pool3d adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d
        rms_norm entr gammaln multigammaln psi elu gelu glu hardsigmoid hardswish
        hardtanh leaky_relu local_response_norm logsigmoid lp_pool1d lp_pool2d lp_pool3d mish
        normalize relu6 silu softplus softshrink softsign multi_dot ihfft2 ihfftn rfft rfft2 rfftn
        native_batch_norm instance_norm stft take_along_dim linalg_vander""",
    "r<0": """
        exp exp2 expm1 inverse log_softmax reciprocal relu rsqrt sigmoid expit softmax softmin sqrt
        tan tanh cholesky inv linalg_lu ndtri tensorinv svdvals eigvalsh""",
    "i<0": "frexp kthvalue mode sort topk",
    "i<0 0<0": """
        cummax cummin max_pool1d max_pool2d max_pool3d adaptive_max_pool1d adaptive_max_pool2d
        adaptive_max_pool3d fractional_max_pool2d fractional_max_pool3d""",
    "r0<0": "cholesky_ex inv_ex",
    "r0<0 0<0": "slogdet std_mean",
    "0<0 r<0": """
        amax amin aminmax cumprod det logcumsumexp logsumexp pdist prod sgn std pinverse pinv erfcx
        i0e i1 i1e log_ndtr vector_norm frobenius_norm norm segment_reduce""",
    "0<0,1 1<0,1": """
        atan2 arctan2 fmax fmin logaddexp logaddexp2 maximum minimum xlogy xlog1py conv1d conv2d
        conv3d conv_transpose1d conv_transpose2d conv_transpose3d prelu grid_sampler grid_sample
        binary_cross_entropy_with_logits binary_cross_entropy huber_loss mse_loss smooth_l1_loss
        cosine_embedding_loss""",
    "0<1 1<0": """
        mul multiply matmul mm bmm mv dot vdot inner outer ger linear tensordot chain_matmul cross
        vecdot poisson_nll_loss""",
    "0<1 1<0,1": "div divide true_divide kl_div",
    "0<0 1<0": """
        masked_select nextafter take ctc_loss multi_margin_loss multilabel_margin_loss
        multilabel_soft_margin_loss nll_loss soft_margin_loss""",
    "2<1 1<2": "addbmm addcmul addmm addmv addr baddbmm",
    "0<0 2<0": "gather",
    "0<1 1<1": "zeta",
    "0<1 2<1": "embedding_bag",
    "0<1 1<0 2<0,1": "linear_cross_entropy",
    "2<0,1": "scaled_dot_product_attention",
    "1<2 2<1": "einsum",
    "1<0": "masked_fill",
    "0<1": "embedding",
    "2<0": "index_fill index_select",
    "1<0,2": "index_put masked_scatter",
    "2<0,3": "scatter",
    "2<3": "scatter_add",
    "2<3 3<3": "index_add",
    "2<0,3 3<3": "index_copy",
    "1<0,2 2<2": "put",
    "0<0,3 2<0,3 3<0,3 r<0,3": "index_reduce scatter_reduce",
    "2<0,1,2 1<2": "addcdiv",
    "0<1,2": "where",
    "2<0,1,2 0<2 1<2": "lerp",
    "0<0,2,3 2<0,2,3 3<0,2,3": "layer_norm",
    "0<0,2,3 2<0,2,3": "group_norm",
    "0<0 1<1 r<0,1": "hypot",
    "r<0,1": "polar pairwise_distance",
    "0<0 r<0,1": "copysign",
    "0<0,1 r<0,1": "solve solve_triangular tensorsolve",
    "0<0,1 r0<0,1": "solve_ex",
    "0<0,1 1<0,1 r0<0,1": "triangular_solve",
    "0<0,1 1<0,1 r<0,1": "cholesky_solve householder_product orgqr",
    "0<0,1,2 1<0,1,2 2<0,1,2 r<0,1,2": "ormqr",
    "0<0,1,2 1<0,1,2 2<0,1,2": "conv_tbc",
    "0<0 1<1": "complex cosine_similarity",
    "0<0,1 r<0,1 1<0,1": "cdist dist",
    "1<0 r<0": "ldexp",
    "1<1": "polygamma",
    "1<0,2 2<0,1 0<1,2": "bilinear",
    "!<0": "geqrf",
    "0<1 1<1 !<0": "igamma igammac gammainc gammaincc",
}  # fmt: skip


def _rule(text: str) -> tuple[tuple[Any, frozenset[int]], ...]:
    parts = (part.split("<") for part in text.split())
    return tuple(
        (int(what) if what.isdigit() else what, frozenset(map(int, by.split(","))))
        for what, by in parts
    )


def camel(name: str) -> str:
    """log_softmax as LogSoftmaxBackward0."""
    return "".join(part.capitalize() for part in name.strip("_").split("_")) + "Backward0"


RULES: dict[str, Any] = {
    camel(f"{space}{name}"): _rule(text)
    for text, names in _TABLE.items()
    for name in names.split()
    for space in ("", "linalg_", "special_", "fft_")
}


def _of_largest(values: dict[Any, Any], results: list[Any]) -> str:
    """Along a dimension, of everything, or of two tensors."""
    if len(results) == 2:
        return "i<0"
    return "0<0,1 1<0,1" if _is_tensor(values.get(1)) else "0<0 r<0"


def _of_power(values: dict[Any, Any], results: list[Any]) -> str:
    if not _is_tensor(values.get(0)):
        return "r<1 1<1"
    return "0<0,1 1<0,1 r<0,1" if _is_tensor(values.get(1)) else "0<0"


def _of_matrix_power(values: dict[Any, Any], results: list[Any]) -> str:
    return "0<0" if values.get(1, 0) > 1 else ""


def _of_matrix_norm(values: dict[Any, Any], results: list[Any]) -> str:
    """Norms by singular values save what those do."""
    return "" if values.get(1, "fro") in ("nuc", 2, -2) else "0<0 r<0"


def _of_cross_entropy(values: dict[Any, Any], results: list[Any]) -> str:
    """Of classes, or of probabilities."""
    return "" if values[1].dtype.is_floating_point else "1<0 2<0"


def _of_padding(values: dict[Any, Any], results: list[Any]) -> str:
    return "0<0" if values.get(2, "constant") in ("reflect", "replicate") else ""


def _of_transform(values: dict[Any, Any], results: list[Any]) -> str:
    return "" if values[0].dtype.is_complex else "0<0"


def _is_tensor(value: Any) -> bool:
    return hasattr(value, "_writes")


# What is saved depends on what is given: functions of the arguments by number and of the results.
_VARIANTS = {
    "max": _of_largest, "min": _of_largest, "median": _of_largest, "nanmedian": _of_largest,
    "pow": _of_power, "matrix_power": _of_matrix_power, "matrix_norm": _of_matrix_norm,
    "cross_entropy": _of_cross_entropy, "pad": _of_padding, "fft": _of_transform,
}  # fmt: skip

_rule_of_text = functools.cache(_rule)

RULES |= {
    camel(f"{space}{name}"): function
    for name, function in _VARIANTS.items()
    for space in ("", "linalg_", "fft_")
}

# In place, their gradient is that from the result.
_FROM_RESULT = frozenset(map(camel, ("celu", "elu", "leaky_relu", "rrelu", "selu")))


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


def owner_of(tensor: Any) -> Any:
    """The tensor that counts the writes into this one's memory."""
    while True:
        held = tensor._root
        if held is None and not tensor._is_data:
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
    """The values that an operation saved, at the end of its record: of each the counter, what it
    said, whether it is a result, the tensor's type, shape and record, its place, and whether it is
    the first operand."""

    __slots__ = ("entries",)

    def __init__(self, entries: list[Any]) -> None:
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
        while tensor._root is not None or tensor._twin is not None:
            tensor = tensor._twin if tensor._root is None else tensor._root
        # Nobody writes into the memory of what nobody holds.
        self.counter = None if isinstance(tensor, _Gone) else _counter_at(tensor)
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


def _entry(
    tensor: Any, is_result: bool, maker: str | None, is_first: bool = False
) -> list[Any]:  # fmt: skip
    counter = counter_of(tensor)
    return [
        counter, counter.now(), is_result, tensor.dtype, tuple(tensor.shape), maker, Place(tensor),
        is_first,
    ]  # fmt: skip


@functools.cache
def _names_of(function: Any) -> dict[str, int]:
    return {name: i for i, name in enumerate(inspect.signature(function).parameters)}


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
        rule = _rule_of_text(rule(values, results))
    needing = {place for place, _, needs in known if needs}
    entries: list[Any] = []
    refused: list[Any] = []
    for what, by in rule:
        if by.isdisjoint(needing):
            continue
        if what == "!":
            refused = [NoDerivative()]
        elif type(what) is str and what[1:]:
            chosen = results[int(what[1:])]
            entries += [] if chosen is None else [_entry(chosen, True, record[0])]
        elif type(what) is str:
            entries += [
                _entry(x, True, record[0] if x._record is record else None)
                for x in results
                if x is not None and (what == "r" or not x.dtype.is_floating_point)
            ]
        else:
            entries += [
                _entry(x, False, _maker(x), what == 0) for place, x, _ in known if place == what
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
    for saved in record:
        if type(saved) is Saved:
            counter = counter_of(target)
            for entry in saved.entries:
                entry[2] = entry[2] or (record[0] in _FROM_RESULT and entry[0] is counter)
            for entry in saved.entries:
                if entry[0] is counter and not entry[2] and entry[7]:
                    entry[0] = entry[6].counter = None  # nobody writes into the copy
                if entry[2]:
                    entry[0], entry[1], entry[6] = counter, counter.now(), Place(target)


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
                if (
                    entry[0] is not None
                    and entry[0].now() != entry[1]
                    and (reached is None or reached(record))
                ):
                    raise RuntimeError(with_location(_said(*entry[:6])))


def with_what_is_there(gradients: list[Any], records: list[Any]) -> list[Any]:
    """Gradients, made of the values that are now where the records' operations saved some."""
    places = [entry[6] for record in records for saved in record if type(saved) is Saved
              for entry in saved.entries]  # fmt: skip
    if not any(place.is_written() for place in places):
        return gradients
    before = [place.before() for place in places]
    return _core.substitute(gradients, before, [place.now() for place in places])


def of_tensor(tensor: Any, version: int) -> str:
    """The error's text for a tensor that is not at a version any more."""
    maker = _maker(tensor)
    return _said(counter_of(tensor), version, False, tensor.dtype, tensor.shape, maker)


def _said(counter: Counter, version: int, is_result: bool, dtype: Any, shape: Any,
          maker: str | None) -> str:  # fmt: skip
    kinds = {"float32": "Float", "float64": "Double", "int64": "Long", "int32": "Int",
             "int16": "Short", "int8": "Char", "uint8": "Byte", "bool": "Bool", "float16": "Half",
             "bfloat16": "BFloat16", "complex64": "ComplexFloat",
             "complex128": "ComplexDouble"}  # fmt: skip
    which = "" if maker is None else f", which is output 0 of {maker.removesuffix('Backward0')},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [torch.{kinds.get(dtype.name, dtype.name)}Tensor {list(shape)}]{which} is at "
        f"version {counter.now()}; expected version {version} instead. Hint: enable anomaly "
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
