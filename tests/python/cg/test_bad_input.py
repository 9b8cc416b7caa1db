"""What is refused, in whole sentences that name the module and the input."""

import re

import numpy as np
import pytest
from seed_modules import Multiply, SimpleModel

import composit.numpy as cnp
from composit import _core, cg
from composit.cg import op


def refusal(kind, function):
    with pytest.raises(kind) as caught:
        function()
    return re.sub(r" \[[^\[\]]+:\d+\]$", "", str(caught.value))


NAME = "seed_modules.SimpleModel"


def module(function, *inputs, name="f"):
    return cg.Module.build(name, function, tuple(map(cg.Variable, inputs)))


def test_gradient_before_back():
    m = SimpleModel()
    said = refusal(ValueError, lambda: m(3).grad(m.param("w")))
    assert said == (
        f"grad: the call of {NAME} has no derivative with respect to 'w' yet. back() is required "
        "before."
    )


def test_too_few_inputs():
    m = module(lambda self, a, b, c: op.add(a, b), "a", "b", "c")
    assert refusal(ValueError, lambda: m(1)) == (
        "f: 1 of 3 inputs are given; without: 'b', 'c'. When a function is called, all its inputs "
        "must be instantiated."
    )
    assert refusal(ValueError, lambda: op.add(1)) == (
        "composit.cg.op.Add: 1 of 2 inputs are given; without: 'b'. When a function is called, all "
        "its inputs must be instantiated."
    )


def test_an_input_of_another_module():
    m, other = SimpleModel(), SimpleModel()
    result = m(3)
    result.back()
    assert refusal(ValueError, lambda: result.grad(other.input("x"))) == (
        f"grad: '{other.name}.x' is no input of this call of {NAME}. One of what the result "
        f"depends on is required: '{m.name}.x', '{m.name}.w'."
    )
    assert refusal(TypeError, lambda: result.grad("x")) == (
        f"grad: 'x' is given to the call of {NAME}. An input (m.input(…)) or a parameter "
        "(m.param(…)) is required."
    )


@pytest.mark.parametrize("value, said", [
    ("three", "'three', of type str"),
    (None, "None, of type NoneType"),
    ({"a": 1}, "{'a': 1}, of type dict"),
    (object, "<class 'object'>, of type type"),
])  # fmt: skip
def test_values_that_are_no_numbers(value, said):
    m = SimpleModel()
    assert refusal(TypeError, lambda: m(value)) == (
        f"{NAME}: input 'x' is given {said}. A number, an array or a tensor is required."
    )
    inner = module(lambda self, x: op.add(x, value), "x")
    assert refusal(TypeError, lambda: inner(1)) == (
        f"composit.cg.op.Add: input 'b' is given {said}. A number, an array or a tensor is "
        "required."
    )


def test_names_that_are_not_there():
    m = SimpleModel()
    assert refusal(ValueError, lambda: m.param("v")) == (
        f"{NAME} has no parameter 'v'. One of its own is required: 'w'."
    )
    assert refusal(ValueError, lambda: m.input("v")) == (
        f"{NAME} has no input 'v'. One of its own is required: 'x'."
    )
    assert refusal(ValueError, lambda: op.Add().param("v")) == (
        "composit.cg.op.Add has no parameter 'v'. One of its own is required: it has none."
    )
    assert refusal(IndexError, lambda: m.input_name(1)) == (
        f"{NAME}: input 1 of 1. A number in range is required."
    )
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        op.nothing


def test_nodes_of_another_call():
    m = SimpleModel()
    root = m(3).root
    said = f"{NAME}: input 'x' is given {root!r}, a node of another call. "
    assert refusal(ValueError, lambda: m(root)) == said + "A value (node.value) is required."
    outer = module(lambda self, x: m(root), "x")
    assert refusal(ValueError, lambda: outer(1)) == (
        said + "A node of this call, or a value (node.value), is required."
    )
    strange = module(lambda self, x: root, "x")
    assert "f: call returned OperatorNode(" in refusal(TypeError, lambda: strange(1))


def test_what_call_returns():
    for value in (None, 3, np.ones(2)):
        m = module(lambda self, x, value=value: value, "x")
        assert re.fullmatch(
            r"f: call returned .+, of type \w+\. A node of this call, or a tuple of them, is "
            r"required\.",
            refusal(TypeError, lambda m=m: m(1)),
        )
    pair = module(lambda self, x: (op.add(x, 1), op.add(x, 2)), "x")
    assert "One node is required of a call from outside." in refusal(TypeError, lambda: pair(1))

    class Nothing(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("x"), functional_name="Nothing")

        def call(self, x):
            return None

    assert refusal(TypeError, lambda: Nothing()(1)) == (
        "Nothing: what call returns is given None, of type NoneType. A number, an array or a "
        "tensor is required."
    )


def test_parameters_without_values():
    class Waiting(cg.Module):
        def __init__(self):
            super().__init__(cg.Variable("x"), cg.Parameter("w"), functional_name="Waiting")

        def call(self, x):
            return op.add(x, self.param("w"))

    m = Waiting()
    assert refusal(ValueError, lambda: m(1)) == (
        "Waiting: parameter 'w' has no value. One is required before the call (assign)."
    )
    m.param("w").assign(2)
    assert m(1).value == 3
    assert refusal(TypeError, lambda: m.param("w").assign("two")) == (
        "parameter 'w' of Waiting is given 'two', of type str. A number, an array or a tensor is "
        "required."
    )
    assert refusal(ValueError, lambda: cg.Constant("c", 1).assign(2)) == (
        "constant 'c' is 1 and cannot be 2. A Parameter is required for what changes."
    )


def test_inputs_of_functions():
    x = cg.Variable("x")
    m = cg.Module.build("f", lambda self, x: x, x)
    assert x.fun is m
    assert refusal(ValueError, lambda: cg.Module.build("g", lambda self, x: x, x)) == (
        "'x' is an input of f already; g cannot have it, too. An input of its own is required "
        "(copy_nofun() makes one)."
    )
    assert cg.Module.build("g", lambda self, x: x, x.copy_nofun()).inputs[0].fun is not m
    assert refusal(TypeError, lambda: module(None, 3)) == (
        "Variable: the name is 3. A text of at least one character is required."
    )
    assert refusal(TypeError, lambda: cg.Module(("x",), functional_name="f")) == (
        "f: inputs holds 'x'. A tuple of Variable is required."
    )
    assert refusal(ValueError, lambda: module(None, "x", "x")) == (
        "f: 'x' names two of its inputs. A name for each is required."
    )


def test_derivatives_that_are_not_there():
    lookup = module(lambda self, table, i: op.take(table, i), "table", "i")
    result = lookup(np.array([1.0, 2.0, 5.0]), 2)
    result.back()
    assert np.array_equal(result.grad(lookup.input("table")), [0, 0, 1])
    assert refusal(TypeError, lambda: result.grad(lookup.input("i"))) == (
        "f has no derivative with respect to 'i': the input 'i' is int64, and cannot be taken as "
        "numbers. A floating or complex dtype is required."
    )
    is_less = module(lambda self, a: op.less(a, 2.0), "a")
    assert "the result is bool" in refusal(TypeError, lambda: is_less(1.0).back())

    class Wrong(Multiply):
        def _gradfn(self, inpt):
            return lambda a, b: np.ones(7)

    m = module(lambda self, a, b: Wrong()(a, b), "a", "b")
    said = refusal(ValueError, lambda: m(np.ones(3), np.ones(3)))
    assert said.endswith(
        "the function of _gradfn('a') returned the shape (7,) for a result of (3,) and an input of "
        "(3,). The Jacobian, (3, 3), or the derivative of each element, which broadcasts to the "
        "result, is required."
    )


def test_operators_that_ask_for_values():
    class Asking(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("x"), functional_name="Asking")

        def call(self, x):
            return x.value if x.value > 0 else -x.value

    with pytest.raises(_core.NotSupported) as caught:
        Asking()(3.0)
    assert "Asking: call cannot be traced: " in str(caught.value)


def test_the_surface_of_functions():
    with pytest.raises(NotImplementedError, match="neither call nor _op_impl is written"):
        cg.Operator(cg.Variable("x"))(1)
    with pytest.raises(NotImplementedError, match="call is not written"):
        cg.Module(cg.Variable("x"))(1)
    m = SimpleModel()
    assert refusal(ValueError, lambda: m.apply([], 1)) == (
        f"{NAME}: apply is given 0 for 1 parameters. A list with a value for each is required."
    )
    assert refusal(ValueError, lambda: SimpleModel().export("/nowhere")) == (
        f"{NAME}: export before the first call. Examples of its inputs are required."
    )
    assert refusal(ValueError, lambda: m.gradfn(cg.Variable("y"))) == (
        f"{NAME}: the derivative with respect to Variable('y'). An input or a parameter of its own "
        "is required: 'x', 'w'."
    )
    other = SimpleModel()
    for of_other in (other.input("x"), other.param("w")):
        text = refusal(ValueError, lambda of=of_other: m.gradfn(of))
        assert text.startswith(f"{NAME}: the derivative with respect to ")


def notes(kind, function):
    """What the error says, and its notes."""
    with pytest.raises(kind) as caught:
        function()
    return refusal_text(caught.value), getattr(caught.value, "__notes__", [])


def refusal_text(error):
    return re.sub(r" \[[^\[\]]+:\d+\]$", "", str(error))


class Product(cg.Module):
    def __init__(self):
        super().__init__(cg.Variable("x"), cg.Parameter("w", np.ones((3, 2))))

    def call(self, x):
        return op.matmul(x, self.param("w"))


class Outer(cg.Module):
    def __init__(self):
        super().__init__((cg.Variable("x"), cg.Variable("y")))
        self.inner = Product()

    def call(self, x, y):
        return op.add(self.inner(x), self.inner(y))


def test_errors_within_calls_have_notes_of_where():
    m, x, y = Outer(), np.ones((2, 3)), np.ones((2, 4))
    plain, _ = notes(ValueError, lambda: cnp.matmul(y, np.ones((3, 2))))
    assert plain.startswith("matmul: inner dimensions differ: a has shape (2, 4)")
    expected = [
        "in the operator composit.cg.op.Matmul, with a: float64[2, 4], b: float64[3, 2]",
        f"in the call Product#2 of {__name__}.Product, with x: float64[2, 4]",
        f"in the call Outer#1 of {__name__}.Outer, with x: float64[2, 3], y: float64[2, 4]",
    ]
    values = [one.value for one in m.parameters()]
    for call in (lambda: m(x, y), lambda: m.compile(x, y), lambda: m.apply(values, x, y)):
        assert notes(ValueError, call) == (plain, expected)
    assert m(x, x).value.shape == (2, 2)  # the call is left in order


def test_errors_of_users_within_calls_have_notes():
    lookup = module(lambda self, x: {}["missing"], "x")
    with pytest.raises(KeyError) as caught:
        lookup(1)
    assert caught.value.args == ("missing",)
    assert caught.value.__notes__ == ["in the call f#1 of f, with x: int64[]"]


def test_errors_of_operators_are_in_the_words_of_their_call():
    for name in ("add", "multiply", "matmul", "dot"):
        with pytest.raises(ValueError, match=f"^{name}: "):
            getattr(op, name)(np.ones((2, 3)), np.ones((2, 4)))


CASTS = {
    "astype": lambda self, x: op.astype(x, "int64") * self.param("w"),
    "of floats": lambda self, x: op.astype(op.sqrt(x) * 2, "int64") * self.param("w"),
    "asarray": lambda self, x: op.asarray(x, "int64") * self.param("w"),
    "within an operator": lambda self, x: Casting()(x) * self.param("w"),
    "a dtype": lambda self, x: op.cumsum(x, dtype="int64") * self.param("w"),
}


class Casting(cg.Operator):
    def __init__(self):
        super().__init__(cg.Variable("a"))

    def call(self, a):
        return a.value.astype("int64") * 1.5


@pytest.mark.parametrize("dtype", ["int64", "int8"])
@pytest.mark.parametrize("kind", CASTS)
def test_casts_of_integers_have_no_derivative(kind, dtype):
    m = cg.Module.build("f", CASTS[kind], cg.Variable("x"), cg.Parameter("w", 300))
    x = np.array([1, 2], dtype)
    result = m(x)
    result.back()
    assert np.array_equal(result.grad(m.param("w")), result.value / 300)
    said = f"f has no derivative with respect to 'x': the input 'x' is {dtype}, and cannot be taken"
    assert refusal(TypeError, lambda: result.grad(m.input("x"))).startswith(said)
    assert refusal(TypeError, lambda: m.gradfn("x")(x)).startswith(said)
    assert np.array_equal(m.gradfn("w")(x).value, result.value / 300)


def test_casts_beside_derivatives_of_integers():
    floors = module(lambda self, x: op.astype(op.floor(x / 2), "int64") * 1.5 + x, "x")
    ranks = module(lambda self, x: op.astype(op.argsort(x), "int32") * 1.5 + x, "x")
    for m in (floors, ranks):
        result = m(np.array([4, 3]))
        result.back()
        assert np.array_equal(result.grad(m.input("x")), np.eye(2))
    truncated = module(lambda self, x: op.astype(x, "int64") * 1.5, "x")
    result = truncated(2.5)
    result.back()
    assert result.value == 3 and result.grad(truncated.input("x")) == 0


@pytest.mark.parametrize("returned, said", [
    (lambda a: (a.value, a.value), "returned (LazyTensor("),
    (lambda a: [1.0, 2.0], "returned [1.0, 2.0], of type list. An array or a number, the "
                           "derivative with respect to that input alone, is required."),
    (lambda a: a.value * 1j, "returned complex128 for a result of float64 and an input of float64. "
                             "A derivative of real numbers is required."),
])  # fmt: skip
def test_derivatives_that_are_no_array_of_real_numbers(returned, said):
    class Own(cg.Operator):
        def __init__(self):
            super().__init__(cg.Variable("a"), functional_name="Own")

        def call(self, a):
            return a.value * 2.0

        def _gradfn(self, inpt):
            return returned

    m = module(lambda self, x: Own()(x), "x")
    text = refusal(TypeError, lambda: m(np.ones(2)))
    assert text.startswith(f"Own: the function of _gradfn('a') {said}")


def test_an_index_out_of_bounds_is_one_of_the_call():
    m = module(lambda self, x: op.take(x, [7]), "x")
    text = refusal(IndexError, lambda: m(np.arange(3.0)))
    assert "index 7 is out of bounds for axis 0 with size 3" in text


def test_a_recursion_without_end_has_few_notes():
    class Endless(cg.Module):
        def __init__(self):
            super().__init__(cg.Variable("x"))

        def call(self, x):
            return self(x)

    with pytest.raises(RecursionError) as caught:
        Endless()(1.0)
    notes = caught.value.__notes__
    assert len(notes) == 16 and "more …" in notes[-2]
    assert notes[-1].startswith("in the call Endless#1 of ")
    assert sum(1 for one in notes if "in the call" in one) == 15
