"""stablehlo.rng_bit_generator: the bits of XLA's THREE_FRY, of any shape."""

import numpy as np
import pytest
import stablehlo_runner

import composit
from composit import mlir

KEY = 0x123456789ABCDEF0


def program(shape, kind, form="generic"):
    result = f"tensor<{''.join(f'{n}x' for n in shape)}{kind}>"
    types = f"(tensor<2xui64>) -> (tensor<2xui64>, {result})"
    attribute = "{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}"
    operation = (
        f'"stablehlo.rng_bit_generator"(%s) {attribute} : {types}'
        if form == "generic"
        else f"stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : {types}"
    )
    return (
        f"func.func @main(%s: tensor<2xui64>) -> (tensor<2xui64>, {result}) {{\n"
        f"  %0, %1 = {operation}\n  return %0, %1 : tensor<2xui64>, {result}\n}}\n"
    )


SHAPES = [(), (1,), (5,), (6,), (0,), (2, 3), (3, 4), (5, 3), (3, 3), (4, 6), (3, 7, 5), (1, 5, 3)]


@pytest.mark.parametrize("kind", ["ui8", "ui16", "ui32", "ui64", "i32", "i64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_bits_are_xlas(shape, kind):
    text = program(shape, kind)
    for counter in (3, 2**32 - 2, 2**64 - 2):
        state = np.array([KEY, counter], "uint64")
        found = [np.asarray(each) for each in mlir.load(text)(state)]
        for one, other in zip(found, stablehlo_runner.run(text, [state]), strict=True):
            # jaxlib hands out all of them as unsigned ones.
            np.testing.assert_array_equal(one.view(other.dtype), other)
        assert found[1].dtype == np.dtype(kind.replace("i", "int"))


def test_its_own_form_compiled():
    state = np.array([KEY, 7], "uint64")
    module = mlir.load(program((4, 5), "ui32", "own"))
    expected = [composit.evaluate(each) for each in module(state)]
    for one, other in zip(module.compile()(state), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(expected[0], [KEY, 7 + 10])


def test_floats_are_refused():
    with pytest.raises(NotImplementedError, match=r"its numbers are float32\. Integers of 8 to 64"):
        mlir.load(program((3,), "f32"))(np.array([1, 2], "uint64"))
