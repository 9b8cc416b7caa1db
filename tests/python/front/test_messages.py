"""Arguments of the wrong kind: the function, the value, what is required, and the user's line."""

import re

import numpy as np
import pytest

import composit
from composit import nn, random
from composit import numpy as cnp

W, X, IMAGE, KEY = cnp.ones(3), cnp.ones((2, 3)), np.ones((1, 3, 5, 6)), random.key(0)
STEP = nn.sgd_optimizer(0.1)


class Unnamed:
    """A back end whose name is not a text."""

    name = 4


REFUSED = [
    (
        ValueError,
        lambda: nn.optimize([W], [], STEP),
        "optimize: 1 parameters and 0 gradients. As many of each are required.",
    ),
    (
        ValueError,
        lambda: nn.optimize([W, W], [W], STEP),
        "optimize: 2 parameters and 1 gradients. As many of each are required.",
    ),
    (
        ValueError,
        lambda: nn.optimize([W], iter([W, W]), STEP),
        "optimize: 1 parameters and 2 gradients. As many of each are required.",
    ),
    (
        ValueError,
        lambda: nn.optimize([W, W], [W, W], STEP, lambda *x: [np.ones(3)]),
        "optimize: evaluate returned 1 values for 2 parameters. As many of each are required.",
    ),
    (
        TypeError,
        lambda: nn.optimize([W], [W], None),
        "optimize: None is not a function, which is required.",
    ),
    (TypeError, lambda: nn.sgd("a"), "sgd: learning_rate is 'a'. A number is required."),
    (
        TypeError,
        lambda: nn.adam(learning_rate="x"),
        "adam: learning_rate is 'x'. A number is required.",
    ),
    (TypeError, lambda: nn.adamw(beta2=None), "adamw: beta2 is None. A number is required."),
    (
        TypeError,
        lambda: cnp.sum(X, keepdims="a"),
        "sum: keepdims is 'a'. True or False is required.",
    ),
    (TypeError, lambda: X.sum(axis="a"), "sum: axis is 'a'. An integer is required."),
    (TypeError, lambda: X.sum(keepdims=[1]), "sum: keepdims is [1]. True or False is required."),
    (
        TypeError,
        lambda: cnp.tensordot(X, X, axes=1.5),
        "tensordot: axes is 1.5. An integer, or two sequences of axes, is required.",
    ),
    (
        ValueError,
        lambda: cnp.tensordot(X, X, axes="a"),
        "tensordot: axes is 'a'. An integer, or two sequences of axes, is required.",
    ),
    (
        TypeError,
        lambda: cnp.tensordot(X, X, axes="ab"),
        "tensordot: axes is 'ab'. An integer, or two sequences of axes, is required.",
    ),
    (
        TypeError,
        lambda: cnp.tensordot(X, X, axes=(0, "b")),
        "tensordot: axes is (0, 'b'). An integer or a sequence of integers is required.",
    ),
    (TypeError, lambda: X.item("a"), "item: args is ('a',). An integer is required."),
    (TypeError, lambda: X.item((0, 1.5)), "item: args is ((0, 1.5),). An integer is required."),
    (
        TypeError,
        lambda: cnp.pad(X, "a"),
        "pad: pad_width is 'a'. An integer, or a pair of them for all axes or for each, is "
        "required.",
    ),
    (
        ValueError,
        lambda: cnp.pad(X, [[1, 2, 3], [1, 2, 3]]),
        "pad: pad_width is [[1, 2, 3], [1, 2, 3]]. An integer, or a pair of them for all axes or "
        "for each, is required.",
    ),
    (
        IndexError,
        lambda: cnp.pad(X, {7: 1}),
        "pad: axis 7 of pad_width is out of bounds for an array of 2 dimensions. Axes are -2 to 1.",
    ),
    (TypeError, lambda: cnp.round(X, "a"), "round: decimals is 'a'. An integer is required."),
    (TypeError, lambda: cnp.size(X, "a"), "size: axis is 'a'. An integer is required."),
    (
        np.exceptions.AxisError,
        lambda: cnp.size(X, 7),
        "size: axis 7 is out of bounds for an array of 2 dimensions. Axes are -2 to 1.",
    ),
    (TypeError, lambda: cnp.rot90(X, 1, 3), "rot90: axes is 3. A pair of axes is required."),
    (
        ValueError,
        lambda: cnp.rot90(X, 1, (0, 1, 2)),
        "rot90: axes is (0, 1, 2). A pair of axes is required.",
    ),
    (
        ValueError,
        lambda: cnp.asarray("a", dtype="float64"),
        "asarray: a is 'a'. An array of float64 is required.",
    ),
    (
        ValueError,
        lambda: cnp.add(X, [[1, 2], [3]]),
        "add: an argument is [[1, 2], [3]]. An array of booleans, integers, floats or complex "
        "numbers is required.",
    ),
    (
        TypeError,
        lambda: X["a":],
        "slice indices must be integers or None or have an __index__ method, not 'a'.",
    ),
    (
        IndexError,
        lambda: cnp.random.RandomState(0).permutation(1.5),
        "permutation: x is 1.5. An integer, or an array of at least one dimension, is required.",
    ),
    (TypeError, lambda: cnp.sum(X, axis=1.5), "sum: axis is 1.5. An integer is required."),
    (TypeError, lambda: cnp.asarray(X, name=3), "asarray: name is 3. A text is required."),
    (
        TypeError,
        lambda: random.split(random.key(0), "a"),
        "split: num is 'a'. An integer is required.",
    ),
    (TypeError, lambda: random.key("a"), "key: seed is 'a'. An integer is required."),
    (
        TypeError,
        lambda: cnp.ones("a"),
        "ones: shape is 'a'. An integer or a sequence of integers is required.",
    ),
    (
        TypeError,
        lambda: cnp.zeros((2, 1.5)),
        "zeros: shape is (2, 1.5). An integer or a sequence of integers is required.",
    ),
    (
        OverflowError,
        lambda: cnp.ones(2**64),
        "ones: shape is 18446744073709551616. An integer of 64 bits is required.",
    ),
    (
        TypeError,
        lambda: cnp.ones(3, dtype="bogus"),
        "ones: dtype is 'bogus'. A dtype is required.",
    ),
    (
        TypeError,
        lambda: cnp.broadcast_to(X, "a"),
        "broadcast_to: shape is 'a'. An integer or a sequence of integers is required.",
    ),
    (
        TypeError,
        lambda: nn.convolution(IMAGE, IMAGE, channels_last=False, padding="full"),
        "convolution: padding is 'full'. An integer or a sequence of integers is required.",
    ),
    (TypeError, lambda: nn.dropout(X, "a", KEY), "dropout: rate is 'a'. A number is required."),
    (
        TypeError,
        lambda: cnp.concatenate(3),
        "concatenate: arrays is 3. A sequence of tensors is required.",
    ),
    (
        TypeError,
        lambda: nn.chain_rule(None, [X]),
        "chain_rule: forward_outputs is None. A mapping from outputs to incoming gradients is "
        "required.",
    ),
    (
        TypeError,
        lambda: nn.chain_rule({X: X}, None),
        "chain_rule: inputs is None. A sequence of tensors is required.",
    ),
    (
        TypeError,
        lambda: composit.compile(cnp.sin, X, name="sine")(x=X),
        "sine: arguments are given by name: x. Compiled functions take them by position only.",
    ),
    (
        TypeError,
        lambda: composit.compile(cnp.sin, X, cache_folder=3),
        "compile: cache_folder is 3. A text is required.",
    ),
    (TypeError, lambda: composit.export(3, "a", []), "export: path is 3. A path is required."),
    (
        TypeError,
        lambda: composit.export("a", "a", 3),
        "export: functions is 3. A sequence of functions made by composit.compile is required.",
    ),
    (
        TypeError,
        lambda: composit.backends.register(Unnamed()),
        "register: the back end's name is 4. A text is required.",
    ),
    (
        ValueError,
        lambda: nn.cross_entropy(X, [0, 1], reduction="bogus"),
        "cross_entropy: reduction is 'bogus'. Available: mean, sum, none.",
    ),
    (
        ValueError,
        lambda: cnp.trace(W),
        "trace: diag requires an array of at least two dimensions, not (3,).",
    ),
    (
        ValueError,
        lambda: cnp.full((2, 3), np.ones(4)),
        "full: operands could not be broadcast together with remapped shapes "
        "[original->remapped]: (4,) and requested shape (2, 3).",
    ),
    (
        ValueError,
        lambda: nn.layer_norm(X, np.ones(4), np.ones(4)),
        "layer_norm: operands could not be broadcast together with shapes (2, 3) (4,). Lengths "
        "must be equal, or 1, from the last axis backwards.",
    ),
    (
        ValueError,
        lambda: nn.mse(X, np.ones(5)),
        "mse: operands could not be broadcast together with shapes (2, 3) (5,). Lengths must be "
        "equal, or 1, from the last axis backwards.",
    ),
    (
        IndexError,
        lambda: X[1.5],
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices, not 1.5.",
    ),
    (
        IndexError,
        lambda: X[np.ones(2)],
        "arrays used as indices must be of integer (or boolean) type, not float64.",
    ),
    (
        TypeError,
        lambda: cnp.sum(np.array(["abc"])),
        "sum: a is array(['abc'], dtype='<U3'). An array of booleans, integers, floats or "
        "complex numbers is required. Texts of numbers become numbers with array.astype(float); "
        "others are numbered by numpy.unique(array, return_inverse=True).",
    ),
    (
        TypeError,
        lambda: cnp.add(X, "abc"),
        "add: an argument is 'abc'. An array of booleans, integers, floats or complex numbers is "
        "required. Texts of numbers become numbers with array.astype(float); others are numbered "
        "by numpy.unique(array, return_inverse=True).",
    ),
    (
        TypeError,
        lambda: nn.sgd().step(3, [X], []),
        "an argument is 3. A sequence of tensors is required.",
    ),
]


@pytest.mark.parametrize(
    ("error", "call", "text"), REFUSED, ids=[text[:40] for _, _, text in REFUSED]
)
def test_messages(error, call, text):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert re.fullmatch(re.escape(text) + r" \[test_messages\.py:\d+\]", message), message


def test_a_function_of_the_users_own_is_not_renamed():
    """An operation that the user called within a traced function keeps its name."""
    with pytest.raises(ValueError, match=r"^matmul: inner dimensions differ"):
        composit.grad(lambda x: cnp.sum(cnp.matmul(x, x)))(np.ones((2, 3)))


def test_an_error_of_the_users_own_is_left_alone():
    def fails(x):
        raise TypeError("f(): incompatible, says the user")

    with pytest.raises(TypeError, match=r"^f\(\): incompatible, says the user$"):
        composit.compile(fails, np.ones(3))


def test_wrap_as_operation_names_one_line():
    @composit.wrap_as_operation()
    def as_text(x):
        return np.array2string(x)

    with pytest.raises(NotImplementedError) as caught:
        as_text(X)
    message = str(caught.value)
    assert message.startswith("wrap_as_operation: as_text cannot be traced: array2string: an ")
    assert message.count("[test_messages.py:") == 1 and message.endswith("]")


REDUCTIONS = ["sum", "prod", "max", "min", "ptp", "mean", "var", "std", "average", "any", "all",
              "count_nonzero"]  # fmt: skip


@pytest.mark.parametrize("name", [*REDUCTIONS, "argmax", "argmin"])
def test_keepdims_takes_what_numpys_takes(name):
    ours, numpys = getattr(cnp, name), getattr(np, name)
    for flag in (True, False, 1, 0, 2, -1, np.int64(1), np.uint8(0), np.array(1), None, "a", "",
                 1.5, [1], np.ones(2), {}):  # fmt: skip
        try:
            expected = numpys(np.ones((2, 3)), axis=1, keepdims=flag).shape
        except (TypeError, ValueError) as error:
            with pytest.raises(type(error), match="True or False is required"):
                ours(X, axis=1, keepdims=flag)
        else:
            assert ours(X, axis=1, keepdims=flag).shape == expected
    assert ours(X, axis=1, keepdims=np.True_).shape == (2, 1)  # NumPy's argmax takes it, too
    assert nn.logsumexp(X, keepdims=1).shape == (2, 1)
