"""Texts of StableHLO that strangers wrote: nested, large by aliases, of bytes that are no text."""

import threading
import time

import numpy as np
import pytest
from stablehlo_runner import run

from composit import mlir

ONE = "tensor<f32>"


def identity(head="", argument="%x", name="@main", tail=""):
    return f"{head}\nfunc.func {name}({argument}: {ONE}{tail}) -> {ONE} {{\n" \
           f"  return {argument} : {ONE}\n}}"  # fmt: skip


def choices(count, inner):
    """Choices within one another around a line that makes %r; the outermost makes %0."""
    text = f"{inner}\n stablehlo.return %r : {ONE}"
    for k in range(count):
        text = f"""%c{k} = "stablehlo.if"(%p) ({{ {text} }}, {{ stablehlo.return %x : {ONE} }}) :
            (tensor<i1>) -> {ONE}
            stablehlo.return %c{k} : {ONE}"""
    return text.removesuffix(f"stablehlo.return %c{count - 1} : {ONE}"), f"%c{count - 1}"


def nested(functions, deep):
    takes = f"({ONE}, tensor<i1>) -> {ONE}"
    texts = []
    for k in range(functions):
        inner = f"%r = func.call @f{k + 1}(%x, %p) : {takes}" if k + 1 < functions else \
            f"%r = stablehlo.sine %x : {ONE}"  # fmt: skip
        body, made = choices(deep, inner)
        name = "@main" if k == 0 else f"private @f{k}"
        texts.append(f"func.func {name}(%x: {ONE}, %p: tensor<i1>) -> {ONE} {{\n{body}\n"
                     f"return {made} : {ONE}\n}}")  # fmt: skip
    return "\n".join(texts)


def in_thread(function):
    """In a thread with the stack that threads have."""
    made = []

    def call():
        try:
            made.append(function())
        except Exception as error:
            made.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    return made[0]


def test_regions_and_calls_count_as_one_depth():
    x, yes = np.float32(0.5), np.array(True)
    deep = mlir.load(nested(60, 90))
    error = in_thread(lambda: deep(x, yes))
    assert isinstance(error, ValueError)
    assert "regions and calls stand more than 500 deep" in str(error)
    deepest = nested(5, 90)
    found = in_thread(lambda: mlir.load(deepest)(x, yes))
    np.testing.assert_allclose(np.asarray(found), np.sin(x), rtol=1e-6)
    compiled = in_thread(lambda: mlir.load(nested(12, 40)).compile())
    np.testing.assert_allclose(np.asarray(compiled(x, yes)), np.sin(x), rtol=1e-6)


BLOCKS = {
    "while": f"""%z = stablehlo.constant dense<0> : tensor<i64>
  %o = stablehlo.constant dense<1> : tensor<i64>
  %n = stablehlo.constant dense<3> : tensor<i64>
  %w:2 = stablehlo.while(%k = %z, %a = %x) : tensor<i64>, {ONE}
  cond {{
    %g = stablehlo.compare LT, %k, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }} do {{
    %l = stablehlo.add %k, %o : tensor<i64>
    %r = func.call @main(%a) : ({ONE}) -> {ONE}
    stablehlo.return %l, %r : tensor<i64>, {ONE}
  }}
  %s = stablehlo.negate %w#1 : {ONE}""",
    "map": f"""%s = "stablehlo.map"(%x) <{{dimensions = array<i64>}}> ({{
  ^bb0(%a: {ONE}):
    %r = func.call @main(%a) : ({ONE}) -> {ONE}
    stablehlo.return %r : {ONE}
  }}) : ({ONE}) -> {ONE}""",
    "reduce": f"""%y = stablehlo.broadcast_in_dim %x, dims = [] : ({ONE}) -> tensor<3xf32>
  %s = "stablehlo.reduce"(%y, %x) <{{dimensions = array<i64: 0>}}> ({{
  ^bb0(%a: {ONE}, %b: {ONE}):
    %r = func.call @main(%a) : ({ONE}) -> {ONE}
    stablehlo.return %r : {ONE}
  }}) : (tensor<3xf32>, {ONE}) -> {ONE}""",
    "sort": f"""%y = stablehlo.broadcast_in_dim %x, dims = [] : ({ONE}) -> tensor<3xf32>
  %t = "stablehlo.sort"(%y) <{{dimension = 0 : i64}}> ({{
  ^bb0(%a: {ONE}, %b: {ONE}):
    %r = func.call @main(%a) : ({ONE}) -> {ONE}
    %g = stablehlo.compare LT, %r, %b : ({ONE}, {ONE}) -> tensor<i1>
    stablehlo.return %g : tensor<i1>
  }}) : (tensor<3xf32>) -> tensor<3xf32>
  %s = func.call @main(%x) : ({ONE}) -> {ONE}""",
}


@pytest.mark.parametrize("kind", BLOCKS)
def test_functions_that_call_themselves_through_regions(kind):
    text = f"func.func @main(%x: {ONE}) -> {ONE} {{\n  {BLOCKS[kind]}\n  return %s : {ONE}\n}}"
    for run_it in (mlir.load(text), lambda x: mlir.load(text).compile()):
        error = in_thread(lambda run_it=run_it: run_it(np.float32(1)))
        assert isinstance(error, ValueError), error
        assert "regions and calls stand more than 500 deep" in str(error)


def doubling(count):
    types = [f"!a0 = tuple<{ONE}, {ONE}>"]
    types += [f"!a{k + 1} = tuple<!a{k}, !a{k}>" for k in range(count)]
    return "\n".join(types)


def lists(count):
    return "\n".join(["#a0 = [1, 2]"] + [f"#a{k + 1} = [#a{k}, #a{k}]" for k in range(count)])


@pytest.mark.parametrize(
    "head, what",
    [
        (doubling(60), "the alias '!a15' stands for"),
        (lists(60), "the alias '#a15' stands for"),
        (doubling(200), "At most 65536 are required."),
        ("!b = tuple<tensor<f32>>\n#a0 = [!b]\n"
         + "\n".join(f"#a{k + 1} = {{x = #a{k}, y = #a{k}}}" for k in range(40)), "parts"),
        ("\n".join(["!a0 = tensor<f32>"] + [f"!a{k + 1} = tuple<!a{k}>" for k in range(300)]),
         "lie 101 deep within one another. At most 100 levels are required."),
        (doubling(14) + "\n!z = tuple<tensor<f32>>\n"
         + "\n".join(f"#k{k} = !a14" for k in range(50)), "more than 1048576 parts"),
    ],
)  # fmt: skip
def test_aliases_stand_for_parts_that_are_bounded(head, what):
    before = time.monotonic()
    with pytest.raises(ValueError, match=r"^mlir\.load: line ") as raised:
        mlir.load(identity(head))
    assert what in str(raised.value)
    assert time.monotonic() - before < 5


def test_aliases_of_types_are_read():
    head = doubling(3) + "\n#n = [1, 2]\n#m = {a = #n}"
    assert np.asarray(mlir.load(identity(head))(np.float32(2))) == 2


def test_names_and_locations_take_no_time_of_their_square():
    count = 20_000
    arguments = ", ".join(f'%a{k}: {ONE} loc("x")' for k in range(count))
    before = time.monotonic()
    module = mlir.load(f"func.func @main({arguments}) -> {ONE} {{\n  return %a0 : {ONE}\n}}")
    names = [each.name for each in module.inputs]
    assert names[:3] == ["x", "x_1", "x_2"] and len(set(names)) == count
    lines = "\n".join(f"#l{k} = loc(fused[{', '.join(['#all'] * 3)}])" for k in range(2000))
    many = ", ".join(f"#l{k}" for k in range(2000))
    operations = "\n".join(f"  %v{k} = stablehlo.sine %x : {ONE} loc(#l{k})" for k in range(2000))
    text = f"{lines}\n#all = loc(fused[{many}])\nfunc.func @main(%x: {ONE}) -> {ONE} {{\n" \
           f"{operations}\n  return %x : {ONE}\n}}"  # fmt: skip
    assert np.asarray(mlir.load(text)(np.float32(2))) == 2
    assert time.monotonic() - before < 20


def test_locations_of_aliases():
    head = '#l0 = loc("model.py":12:3)\n#l1 = loc("name"(#l0))\n#l2 = loc(callsite(#l3 at #l1))\n' \
           "#l3 = loc(fused[#l2, unknown])\n#l4 = loc(#l4)"  # fmt: skip
    text = f"{head}\nfunc.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {{\n" \
        "  %0 = stablehlo.sine %x : tensor<2x2xf32> loc(#l4)\n" \
        "  %1 = stablehlo.sine %0 : tensor<2x2xf32> loc(#l2)\n" \
        "  return %1 : tensor<2x2xf32>\n}"  # fmt: skip
    x = np.zeros((2, 2), "float32")
    assert '"model.py":12' in mlir.text(mlir.load(text), x, locations=True)


def load_bytes(folder, data):
    path = folder / "text.mlir"
    path.write_bytes(data)
    return mlir.load(path)


@pytest.mark.parametrize(
    "old, new",
    [
        (b"tensor<f32>", b"tensor<3\xff"),
        (b"tensor<f32>", b"tensor<f3\xff2>"),
        (b"tensor<f32>", b'"\xff"'),
        (b"return", b'"foo.\xff"() : () -> ()\n return'),
        (b"return", b'"foo.\\FF"() : () -> ()\n return'),
        (b"return", b'%0 = stablehlo.custom_call @"\\FF\\FE"(%x) : (tensor<f32>) -> tensor<f32>\n'
                    b" return"),
        (b"return", b'%0 = "stablehlo.compare"(%x, %x) {comparison_direction = "\\FF"} : '
                    b"(tensor<f32>, tensor<f32>) -> tensor<i1>\n return"),
        (b"return", b"%0 = stablehlo.constant dense<\"0x\xff\xff\"> : tensor<f32>\n return"),
        (b"return", b'%0 = func.call @"\\FF"(%x) : (tensor<f32>) -> tensor<f32>\n return'),
        (b"@main", b'@"\\FF"'),
        (b"func.func", b'module @"\xff" {\nfunc.func'),
        (b"tensor<f32>)", b'tensor<f32> loc("\\FF"))'),
        (b"-> tensor<f32>", b'-> (tensor<f32> {jax.result_info = "\\FF"})'),
        (b"func.func", b"// Made by composit. @main returns \xff.\nfunc.func"),
    ],
)  # fmt: skip
def test_bytes_that_are_no_text(tmp_path, old, new):
    data = identity().strip().encode().replace(old, new, 1)
    with pytest.raises((ValueError, NotImplementedError), match=r"^mlir\.load: line") as raised:
        load_bytes(tmp_path, data)(np.float32(1))
    str(raised.value).encode()


def test_lines_of_locations_are_text(tmp_path):
    data = f"func.func @main(%x: {ONE}) -> {ONE} {{\n  %0 = stablehlo.sine %x : {ONE} " \
           f'loc("m\\FF.py":3:1)\n  return %0 : {ONE}\n}}'  # fmt: skip
    module = load_bytes(tmp_path, data.encode())
    assert "m .py" in mlir.text(module, np.float32(1), locations=True)


@pytest.mark.parametrize(
    "line, text",
    [
        (f"%0 = stablehlo.constant dense<{'1' * 5000}> : tensor<i32>", "1…'"),
        (f"%0 = stablehlo.constant dense<{'1' * 5000}.0> : tensor<f32>", "1…'"),
        (f"%0 = stablehlo.iota dim = {'1' * 5000} : tensor<3xf32>", "1…'"),
        (f"%0 = stablehlo.iota dim = 0 : {'x' * 5000}", "x…'"),
        ("%0 = stablehlo.iota dim = 0 :", "found 'return'. A type is required"),
        ("%0 = stablehlo.slice %x [1:3, 2] : (tensor<f32>) -> tensor<f32>",
         "found ']'. ':' and a limit"),
        ("%0 = stablehlo.sine %x : (tensor<", "elements of the type 'return'"),
    ],
)  # fmt: skip
def test_errors_are_short(line, text):
    program = identity().replace("return", f"{line}\n  return")
    for source in (program, program[: program.index("return")]):
        with pytest.raises((ValueError, NotImplementedError)) as raised:
            mlir.load(source)
        assert len(str(raised.value)) < 300 and "found ''" not in str(raised.value)
        if source is program:
            assert text in str(raised.value)


def test_numbers_too_small_are_zero():
    kind = "tensor<6xf64>"
    numbers = "1.0E-400, -1.0E-400, 4.9E-324, 2.0E-324, 0.0E999999999999999999, " \
              "1.0E-99999999999999999999"  # fmt: skip
    text = f"func.func @main() -> {kind} {{\n  %0 = stablehlo.constant dense<[{numbers}]> : " \
           f"{kind}\n  return %0 : {kind}\n}}"  # fmt: skip
    found = np.asarray(mlir.load(text)())
    assert found.tobytes() == np.array([0.0, -0.0, 5e-324, 0.0, 0.0, 0.0]).tobytes()
    digits = "0." + "0" * 500 + "1"
    one = text.replace(f"[{numbers}]", digits)
    assert (np.asarray(mlir.load(one)()) == 0).all()
    for large in ("1.0E400", "1" + "0" * 400 + ".0", "1.0E99999999999999999999",
                  "1.0E9223372036854775807"):  # fmt: skip
        with pytest.raises(ValueError, match="An element of f64 is required"):
            mlir.load(text.replace(f"[{numbers}]", large))


def test_programs_of_several_public_functions():
    text = f"func.func @one(%x: {ONE}) -> {ONE} {{\n  return %x : {ONE}\n}}\n" \
           f"func.func @two(%x: {ONE}) -> {ONE} {{\n  %0 = stablehlo.negate %x : {ONE}\n" \
           f"  return %0 : {ONE}\n}}"  # fmt: skip
    module = mlir.load(text)
    assert set(module.functions) == {"one", "two"} and module.inputs == module.outputs == ()
    assert np.asarray(module.functions["two"](np.float32(3))) == -3
    for call in (lambda: module(np.float32(3)), module.compile):
        with pytest.raises(ValueError, match="has 2 public functions, and none of them is @main"):
            call()
    assert "module" in repr(module)


@pytest.mark.parametrize("name", ["self", "args", "named", "inputs"])
def test_arguments_of_any_name(name):
    module = mlir.load(identity(argument=f"%{name}"))
    assert np.asarray(module(**{name: np.float32(4)})) == 4
    assert np.asarray(module.functions["main"](**{name: np.float32(4)})) == 4


def test_regions_take_numbers_of_the_elements_dtypes():
    text = """func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.reduce"(%x, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f64>, %b: tensor<f64>):
    %c = stablehlo.add %a, %b : tensor<f64>
    stablehlo.return %c : tensor<f64>
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}"""
    x, start = np.ones(4, "float32"), np.float32(0)
    with pytest.raises(TypeError, match=r"its region takes float64.* for elements of float32"):
        mlir.load(text)(x, start)
    right = text.replace("f64", "f32")
    assert np.asarray(mlir.load(right)(x, start)) == run(right, (x, start))[0] == 4


def test_errors_name_what_there_is():
    text = "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n  %0 = stablehlo.and %x, " \
           "%x : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}"  # fmt: skip
    with pytest.raises(TypeError, match=r"float32\[3\]. Integers, bools are required"):
        mlir.load(text)(np.zeros(3, "float32"))
