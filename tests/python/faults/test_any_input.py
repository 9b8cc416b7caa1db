"""No input crashes: whatever public functions are called with, what they raise is of NumPy's
classes, and says what is wrong in composit's words, with the user's line."""

import inspect
import operator
import re
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import composit
from composit import _core, nn, random
from composit import numpy as cnp
from composit.numpy import _numpys_names
from composit.types import LazyTensor

ALLOWED = (
    TypeError, ValueError, LookupError, ArithmeticError, NotImplementedError, MemoryError,
    AttributeError, RuntimeError, OSError,
)  # fmt: skip

HUGE = [2**31, 2**40, 2**62, 2**63 - 1, 2**64, -(2**31), -(2**63)]
TENSORS = [
    cnp.ones((2, 3)),
    cnp.arange(4),
    cnp.asarray(np.float32(1.5)),
    cnp.zeros((0, 3)),
    cnp.asarray([[True, False], [False, True]]),
    cnp.exp(cnp.ones((1, 2, 3, 4), "float32")),
    cnp.asarray(np.array([0, 2, 1], "uint8")),
    random.key(0),
]
ODD = [
    None, "", "abc", "float32", "ij,jk->ik", b"x", (), [], {}, [[1, 2], [3]], [None], ["a", 1],
    object(), int, "axis", Ellipsis, slice(1), slice("a"), np.float16(1), np.datetime64("2020"),
    np.array(["a"]), np.array([None]), np.array([], "int8"), np.ones((2, 2, 2)), 1j,
    np.array([1j, 2]), {"a": 1}, set(), range(3), True, LazyTensor,
]  # fmt: skip
NUMBERS = [0, 1, -1, 2, 3, 7, 0.5, -0.0, 1e300, float("nan"), float("inf"), -float("inf")]
AXES = [0, 1, -1, 5, -7, (0, 1), (0, 0), (1, 7), [0], (2, 3), (-1,), (3, -2), (2**40, 2**40)]

values = st.one_of(
    st.sampled_from(range(len(TENSORS))).map(lambda i: TENSORS[i]),
    st.sampled_from(NUMBERS),
    st.sampled_from(AXES),
    st.sampled_from(range(len(ODD))).map(lambda i: ODD[i]),
    st.sampled_from(HUGE),
    st.lists(st.integers(-3, 5), max_size=4),
)
options = st.dictionaries(
    st.sampled_from(
        ["axis", "dtype", "keepdims", "out", "where", "initial", "shape", "order", "ddof", "k",
         "channels_last", "strides", "padding", "kernel_size", "groups", "dilation", "epsilon"]
    ),
    values,
    max_size=2,
)  # fmt: skip

# What makes as many objects as a number says, as NumPy does.
COUNTED = {"array_split", "split", "meshgrid", "set_threads", "visualize"}

# What writes files where a text says: tests/python/nn/test_checkpoints.py tries these.
WRITING = {"save_checkpoint", "save_safetensors"}

# The package's own, among the names of composit.numpy.
HELPERS = {
    "index_error", "refuse", "type_error", "value_error", "with_location", "write_out",
}  # fmt: skip


def repr_without_place(value):
    return "object" if type(value) is object else repr(value)


def public(module):
    """The names of a module's functions that may be called with anything."""
    return [
        name
        for name in dir(module)
        if not name.startswith("_")
        and callable(getattr(module, name))
        and not isinstance(getattr(module, name), type)
        and name not in COUNTED | HELPERS
    ]


# What NumPy computes says what NumPy says, and writes files.
FUNCTIONS = [(cnp, name) for name in public(cnp) if name not in _numpys_names.names()] + [
    (nn, name) for name in nn.__all__ if name not in WRITING
]
FUNCTIONS += [
    (random, name)
    for name in random.__all__
    if getattr(random, name).__module__ == "composit.random"  # others are NumPy's
]


def tensors_in(made):
    if isinstance(made, LazyTensor):
        yield made
    elif isinstance(made, (tuple, list)):
        for item in made:
            yield from tensors_in(item)


# Python's own words about a call: they stay as they are, and Python's traceback shows the line.
SIGNATURES = re.compile(r"\(\) (takes|missing|got (an unexpected|multiple|some))")
# What Python and nanobind say where something else than they expect meets them.
FOREIGN = re.compile(
    r"(?<!dtype )object (is not|cannot be|has no|does not)|indices must be integers or slices"
    r"|could not convert|invalid literal|argument must be|must be string"
    r"|(not enough|too many) values to unpack|cannot unpack"
    r"|(bad operand|unsupported operand) type|index out of range|has no attribute"
    r"|incompatible function arguments|no constructor|not supported between"
)


def explain(error):
    """The rule of docs/errors.md for what composit raises."""
    assert not isinstance(error, composit.errors.InternalError), error
    message = str(error.args[0]) if error.args else ""
    if SIGNATURES.search(message):
        return
    # Of NumPy's message, whole, the line is a note.
    message = " ".join([message, *getattr(error, "__notes__", [])])
    text, at, line = message.rpartition(" [")
    assert at and re.fullmatch(r"[\w.]+:\d+\]", line), f"without a line: {error!r}"
    assert not FOREIGN.search(text), f"not composit's words: {error!r}"


def try_call(function, arguments=(), keywords=None, explained=True):
    """Calls, and evaluates what comes back unless it is large."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            made = function(*arguments, **(keywords or {}))
            for tensor in tensors_in(made):
                if tensor.size < 10**5:
                    composit.evaluate(tensor)
        except ALLOWED as error:
            assert not isinstance(error, composit.errors.InternalError)
            assert str(error), repr(error)
            if explained:  # else a function of the user's own may have raised it
                explain(error)


@pytest.mark.parametrize("first", range(0, len(FUNCTIONS), 40))
@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_functions(first, data):
    module, name = data.draw(st.sampled_from(FUNCTIONS[first : first + 40]))
    arguments = data.draw(st.lists(values, max_size=4))
    keywords = data.draw(options)
    try_call(getattr(module, name), arguments, keywords)


ODD_ONES = [
    None,
    "",
    "a",
    "ab",
    1j,
    1.5,
    -7,
    (None,),
    [[1, 2], [3]],
    {},
    {"a": 1},
    {0: 1},
    object(),
]


@pytest.mark.long_tail
@pytest.mark.parametrize("odd", ODD_ONES, ids=repr_without_place)
def test_one_odd_argument_among_good_ones(odd):
    for module, name in FUNCTIONS:
        try_call(getattr(module, name))
        for count in range(1, 5):
            for place in range(count):
                arguments = [TENSORS[0]] * count
                arguments[place] = odd
                try_call(getattr(module, name), arguments)


@pytest.mark.long_tail
@pytest.mark.parametrize("odd", ODD_ONES, ids=repr_without_place)
def test_one_odd_option(odd):
    """Each parameter that may be left out, and each of those that the others need."""
    good = {"shape": (2, 3), "axis": 0, "axis1": 0, "axis2": 1, "source": 0, "destination": 1,
            "channels_last": False, "kernel_size": 1, "head_size": 1, "classes": 3, "num_groups": 1,
            "channel_axis": 1, "indices": 0, "rate": 0.5, "repeats": 2, "reps": 2, "pad_width": 1,
            "key": random.key(0), "window_shape": 1, "indices_or_sections": 1, "scale": 1.0,
            "mode": "fan_in", "distribution": "normal"}  # fmt: skip
    for module, name in FUNCTIONS:
        function = getattr(module, name)
        parameters = inspect.signature(function).parameters.values()
        for chosen in parameters:
            arguments, keywords = [], {}
            for p in parameters:
                if p.default is not p.empty and p is not chosen:
                    continue
                value = odd if p is chosen else good.get(p.name, TENSORS[0])
                if p.kind is p.KEYWORD_ONLY or (p is chosen and p.kind is p.POSITIONAL_OR_KEYWORD):
                    keywords[p.name] = value
                elif p.kind is not p.VAR_KEYWORD and not keywords:
                    arguments.append(value)
                elif p.kind is p.POSITIONAL_OR_KEYWORD:
                    keywords[p.name] = value
            try_call(function, arguments, keywords)


@pytest.mark.parametrize(
    "call",
    [
        lambda: cnp.roll(np.ones(3), 1, ()),
        lambda: cnp.roll(np.ones(3), [], 0),
        lambda: cnp.roll(cnp.ones(3), [], ()),
        lambda: np.roll(cnp.ones(3), 1, ()),
    ],
)
def test_nothing_to_roll(call):
    assert composit.evaluate(call()).tolist() == [1, 1, 1]


def test_nothing_to_roll_of_a_scalar():
    assert composit.evaluate(cnp.roll(1, 1, [])) == 1
    with pytest.raises(ValueError, match="1D sequences of equal length"):
        cnp.roll(np.ones(3), [1, 2], ())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: composit.evaluate(x),
        lambda x: cnp.exp(x),
        lambda x: 1 + x,
        lambda x: cnp.ones(2) + x,
        lambda x: cnp.reshape(x, (1,)),
        lambda x: cnp.split(x, 1),
        lambda x: cnp.ones(2).__setitem__(0, x),
        lambda x: cnp.ones(2)[x],
        lambda x: cnp.stack([x, x]),
        lambda x: cnp.add(cnp.ones(2), 1, out=x),
        lambda x: composit.grad(cnp.sum)(x),
        lambda x: x + 1,
        lambda x: x.shape,
        lambda x: x[0],
        lambda x: operator.iadd(x, 1),
        lambda x: repr(x),
        lambda x: hash(x),
    ],
)
@pytest.mark.filterwarnings("ignore:nanobind")
def test_an_object_that_composit_did_not_make(call):
    with pytest.raises(TypeError):
        call(LazyTensor.__new__(LazyTensor))


def test_what_is_said_of_an_object_that_composit_did_not_make():
    with pytest.raises(
        TypeError, match=r"this LazyTensor was not made by composit. An object that"
    ):
        cnp.exp(LazyTensor.__new__(LazyTensor))
    expression = _core.scalar.Expr
    with pytest.raises(TypeError, match=r"this Expr was not made by composit."):
        _core.scalar.call("exp", expression.__new__(expression))


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda ops, x: ops.concatenate((), 1), ValueError, "need at least one array"),
        (lambda ops, x: ops.concatenate((x, x), 2), IndexError, "concatenate: axis 2 is out of"),
        (lambda ops, x: ops.gather(1, (), (0,)), TypeError, "gather: 1 operands given. 2 required"),
        (lambda ops, x: ops.gather(x, (1,), 7), IndexError, "gather: axis 7 is out of bounds"),
        (lambda ops, x: ops.scatter(x, (), 0, x, True), TypeError, "scatter: 2 operands given"),
        (lambda ops, x: ops.split([], 1, -1), IndexError, "split: axis -1 is out of bounds"),
        (lambda ops, x: ops.split(x, (3, -1), 0), ValueError, "do not add up to axis 0 of shape"),
        (lambda ops, x: ops.split(x, (2**62,) * 4, 0), ValueError, "do not add up to axis 0"),
        (lambda ops, x: ops.transpose(1, 1), IndexError, "transpose: axis 1 is out of bounds"),
        (lambda ops, x: ops.transpose(x, 0), ValueError, "Every axis is required"),
        (lambda ops, x: ops.slice(x, 0, 1, 1), ValueError, r"slice: starts \(0,\) has 1 values"),
        (lambda ops, x: ops.pad(x, 0.0, (), (), ()), ValueError, r"pad: low \(\) has 0 values"),
        (lambda ops, x: ops.windows(x, (1, 1, 1), 1, 1), ValueError, "3 window lengths given"),
        (lambda ops, x: ops.windows(x, 1, (), 1), ValueError, r"steps \(\) has 0 values"),
        (lambda ops, x: ops.fold(x, (1, 1), 1, 1), ValueError, "fold: steps"),
        (lambda ops, x: ops.fold(x, 3, 0, 1), ValueError, "must be positive"),
        (lambda ops, x: ops.iota((2,), 5), IndexError, "iota: axis 5 is out of bounds"),
        (lambda ops, x: ops.reduce("sum", x, 4, False), IndexError, "reduce: axis 4"),
        (lambda ops, x: ops.reduce("sum", x, (0, 0), False), ValueError, "given twice"),
        (lambda ops, x: ops.scan("sum", x, -1), IndexError, "scan: axis -1"),
        (lambda ops, x: ops.scan("argmax", x, 0), ValueError, "scan: combiner"),
        (lambda ops, x: ops.contract(x, x, 9, 9, (), ()), IndexError, "contract: axis 9"),
        (lambda ops, x: ops.contract(x, x, (), (), 0, ()), ValueError, "do not pair up"),
    ],
)
def test_primitives_check_axes_and_counts(call, error, words):
    with pytest.raises(error, match=words):
        call(_core.ops, cnp.ones((2, 3)))


def test_gradients_are_as_many_as_outputs():
    x = cnp.ones(3)
    with pytest.raises(ValueError, match=r"chain_rule: 1 outputs and 0 incoming gradients. One"):
        _core.nn.chain_rule([x], [], [x])


def test_replaced_keeps_the_type():
    x = cnp.ones((2, 3))
    with pytest.raises(ValueError, match=r"replaced: the tensor has shape \(3,\). Shape \(2, 3\)"):
        x.replaced(cnp.ones(3))
    with pytest.raises(
        TypeError, match=r"replaced: the tensor has dtype float32. Dtype float64 is"
    ):
        x.T.replaced(cnp.ones((3, 2), "float32"))


def test_odd_arguments_of_protocols_are_named():
    x = TENSORS[0]
    for odd in ODD_ONES:
        try_call(x.tobytes, [odd])
        for ufunc, method in ((odd, "__call__"), (np.exp, odd), (odd, odd)):
            try_call(x.__array_ufunc__, [ufunc, method, x])
        for arguments in ((odd, (), (), {}), (np.sum, (), odd, {}), (np.sum, (), (x,), odd)):
            try_call(x.__array_function__, arguments)


METHODS = [
    name
    for name in dir(LazyTensor)
    if callable(getattr(LazyTensor, name))
    and name not in ("__class__", "__init__", "__new__", "__init_subclass__", "__getattribute__",
                     "__delattr__", "__setattr__", "__reduce_ex__", "__subclasshook__", "__dir__",
                     "__sizeof__")
]  # fmt: skip


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    st.sampled_from(METHODS),
    st.integers(0, len(TENSORS) - 1),
    st.lists(values, max_size=3),
    options,
)
def test_methods(name, number, arguments, keywords):
    tensor = TENSORS[number].copy()
    try_call(getattr(tensor, name), arguments, keywords)


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.lists(values, max_size=3), values)
def test_transformations(arguments, odd):
    def f(*x):
        return cnp.sum(sum(x) * 2) if x else odd

    try_call(composit.grad(f), arguments, explained=False)
    try_call(composit.vmap(f, in_axes=odd), arguments, explained=False)
    try_call(composit.vjp, [f, *arguments], explained=False)
    try_call(composit.jvp, [f, tuple(arguments), odd], explained=False)
    try_call(composit.compile(f, backend="interpreter"), arguments, explained=False)
    try_call(composit.evaluate, arguments)
    try_call(composit.wrap_as_operation()(f), arguments, explained=False)
    try_call(nn.chain_rule, [arguments, odd])


@settings(
    max_examples=100, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(values, values, values)
def test_arguments_of_transformations(a, b, c):
    try_call(composit.grad, [a, b])
    try_call(composit.compile, [a, b], explained=False)
    try_call(composit.register, ["never", a], {"types": b, "domain": c})
    try_call(composit.register, [a, lambda x: "not an expression"], {"aliases": b})
    if not isinstance(a, int):
        try_call(composit.set_threads, [a])
    try_call(composit.export, ["/proc/nowhere", a, b])
    try_call(lambda: composit.compile(lambda x: x, np.ones(2), backend=a, threads=b))
    try_call(lambda: composit.evaluate(cnp.ones(2), backend=a, threads=b))
