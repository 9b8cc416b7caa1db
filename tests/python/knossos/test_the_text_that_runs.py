"""Kernels hold the text that Python runs: what decorators return, what a file held when it was
imported; text that differs from the code is refused, with the names of both."""

import functools
import importlib
import os
import sys

import pytest
from composit._core import NotSupported

from composit import knossos


def twice(function):
    @functools.wraps(function)
    def wrapper(x: float) -> float:
        return 2 * function(x)

    return wrapper


def plus_ten(function):
    def wrapper(x: float) -> float:
        return function(x) + 10

    return wrapper


def kept(function):
    function.is_kept = True
    return function


def of_any(function):
    @functools.wraps(function)
    def wrapper(*arguments):
        return -function(*arguments)

    return wrapper


@twice
def wrapped(x: float) -> float:
    return x + 1


@plus_ten
@twice
@kept
def wrapped_twice(x: float) -> float:
    return x * x


@kept
def marked(x: float) -> float:
    return x * x


@of_any
def any_arguments(x: float) -> float:
    return x


def calls(x: float) -> float:
    return wrapped(x) + wrapped_twice(x) + marked(x)


@pytest.mark.parametrize("function", [wrapped, wrapped_twice, marked, calls])
def test_what_decorators_return(function):
    kernel = knossos.register(function)
    assert kernel(3.0) == function(3.0)
    slope = (function(3.5) - function(2.5)) / 1.0  # of squares and lines, exact
    assert kernel.grad(3.0) == slope and kernel.jvp(3.0, 1.0) == slope
    assert kernel(x=3.0) == function(x=3.0)


def test_a_decorator_of_any_arguments_is_refused():
    with pytest.raises(NotSupported, match=r"any_arguments: it has \*args"):
        knossos.register(any_arguments)(1.0)


def test_what_is_known_of_a_function_is_not_that_of_its_decorated_one():
    def plain(x: float) -> float:
        return x + 1

    one = knossos.register(plain)
    other = knossos.register(twice(plain))  # functools.wraps copies attributes
    assert one(1.0) == 2.0 and other(1.0) == 4.0
    assert knossos.register(plain) is one and other is not one


def test_assertions_that_pytest_rewrites():
    @knossos.register
    def checked(x: float) -> float:
        assert x > 0.0, "x is negative"
        return x * 2

    assert checked(1.0) == 2.0


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes and imports a module, and writes it again as an editor would."""
    monkeypatch.syspath_prepend(tmp_path)
    made = []

    def written(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text("from composit import knossos\n\n\n" + text)
        stamp = 1_000_000_000 + 10 * len(made)  # another time in each version
        os.utime(path, (stamp, stamp))
        made.append(name)

    def imported(name, text):
        written(name, text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    imported.again = written
    yield imported
    for name in made:
        sys.modules.pop(name, None)


ONE = "def f(x: float) -> float:\n    return x + 1\n"
BEFORE = "def g(x: float) -> float:\n    return 100 * x\n\n\n"


@pytest.mark.parametrize(
    "then, stands",
    [
        (BEFORE + ONE, "`def g(x: float) -> float:` stands"),
        (ONE.replace("+ 1", "- 7"), "`def f(x: float) -> float:` stands"),
        (ONE.replace("float", "int", 1), "`def f(x: int) -> float:` stands"),
        ("", "nothing stands"),
        ("def f(x: float) -> float:\n    return x +\n", "`def f(x: float) -> float:` stands"),
    ],
    ids=["above", "body", "annotation", "gone", "half"],
)
def test_an_edited_file_is_refused(module, then, stands, request):
    name = f"edited_{request.node.callspec.id}"
    f = module(name, ONE).f
    module.again(name, then)
    with pytest.raises(NotSupported, match="not what Python runs") as raised:
        knossos.register(f)
    message = str(raised.value)
    assert message.startswith("f: the text in ") and f"{name}.py:4]" in message
    assert "compiled of line 4" in message and stands in message


KERNEL = """
def helper(x: float) -> float:
    return x + 1


@knossos.register
def k(x: float) -> float:
    return helper(x) * 10
"""


@pytest.mark.parametrize("then", ["# a new line\n" + KERNEL, KERNEL.replace("+ 1", "- 1")])
def test_a_helper_that_is_read_late_is_that_of_the_import(module, then):
    name = f"late_{len(then)}"
    made = module(name, KERNEL)
    module.again(name, then)
    assert made.k(1.0) == made.k.__wrapped__(1.0) == 20.0


def test_a_helper_of_another_file_that_was_edited_is_refused(module):
    tools = module("tools_of_it", ONE)
    user = module("user_of_it", "from tools_of_it import f\n\n\n@knossos.register\n"
                  "def k(x: float) -> float:\n    return f(x) * 10\n")  # fmt: skip
    module.again("tools_of_it", ONE.replace("+ 1", "- 1"))
    with pytest.raises(NotSupported, match=r"f: the text in tools_of_it.py is not what Python"):
        user.k(1.0)
    assert tools.f(1.0) == 2.0


def test_two_functions_of_one_name(module):
    made = module("twice_there", ONE + "\n\nfirst = f\n\n\n" + ONE.replace("+ 1", "* 3"))
    assert knossos.register(made.first)(5.0) == 6.0 and knossos.register(made.f)(5.0) == 15.0

    def both(x: float) -> float:
        return made_first(x) + made_f(x)

    made_first, made_f = made.first, made.f
    assert knossos.register(both)(5.0) == 21.0


def test_code_that_was_replaced():
    def old(x: float) -> float:
        return x + 1

    def new(x: float) -> float:
        return x * 5

    def user(x: float) -> float:
        return old(x)

    unused = knossos.register(old)
    old.__code__ = new.__code__  # as IPython's autoreload does
    with pytest.raises(NotSupported, match="old: its __code__ is another one"):
        unused(1.0)
    assert knossos.register(old)(2.0) == old(2.0) == 10.0
    assert knossos.register(user)(2.0) == 10.0


plus_one = lambda x: x + 1; times_seven = lambda x: x * 7  # noqa: E702  # fmt: skip
scaled_by = lambda k: lambda x: x * k
tripled = scaled_by(3.0)
same, two = (lambda x: x), (lambda x: 2.0)


def of_lambdas(x: float) -> float:
    return plus_one(x) * times_seven(x) + tripled(x) + same(x) * two(x)


def test_lambdas_of_one_line_are_each_their_own():
    assert knossos.register(of_lambdas)(2.0) == of_lambdas(2.0) == 52.0
    assert knossos.register(of_lambdas).grad(2.0) == 40.0
