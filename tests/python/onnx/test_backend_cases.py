"""ONNX's backend cases of nodes, all of them: interpreted, and a share of them compiled.

Those that do not pass are listed here, each with its reason: a case that begins to pass, or stops
to, fails the test until the list says so."""

import numpy as np
import onnx_backend
import pytest
from onnx_backend import node_cases, outcome, values_of

import composit.onnx as composit_onnx

# Operators, or forms of them, that composit refuses by name.
REFUSED = dict.fromkeys(
    (
        f"test_image_decoder_decode_{kind}"
        for kind in (
            "bmp_rgb", "jpeg2k_rgb", "jpeg_bgr", "jpeg_grayscale", "jpeg_rgb", "png_rgb",
            "pnm_rgb", "tiff_rgb", "webp_rgb",
        )
    ),
    "ImageDecoder",
)  # fmt: skip

# Cases whose values cannot be had.
WRONG = {
    # Another generator of random numbers: ONNX leaves it to whoever runs the model.
    **dict.fromkeys(
        (
            f"test_bernoulli{kind}{how}"
            for kind in ("", "_double", "_seed")
            for how in ("", "_expanded")
        ),
        "random numbers",
    ),
    # What is wanted is rounded to bfloat16 after each addition of a softmax, and so has errors of
    # one unit in the last place, more than the tolerance; composit adds in float32.
    **dict.fromkeys(
        (
            f"test_attention_{kind}_bf16{how}"
            for kind in ("4d_causal", "4d_padded_kv", "4d_causal_padded_kv", "3d_causal")
            for how in ("", "_expanded")
        ),
        "bfloat16",
    ),
    # Imaginary parts of 1.9e-7 are wanted where there are none, with a tolerance of 1e-7.
    "test_dft_inverse": "noise",
    "test_dft_inverse_opset19": "noise",
}

SHARES = 40


def test_all_cases_of_nodes_interpreted():
    found = {name: outcome(case) for name, case in node_cases().items()}
    refused = {name: why for name, (kind, why) in found.items() if kind == "refused"}
    wrong = {name: why for name, (kind, why) in found.items() if kind == "wrong"}
    assert sorted(refused) == sorted(REFUSED), refused
    assert sorted(wrong) == sorted(WRONG), wrong
    for name, why in refused.items():
        assert REFUSED[name] in why and "is required" in why
    passed = len(found) - len(refused) - len(wrong)
    assert len(found) == 1884 and passed >= 0.985 * len(found)


@pytest.mark.long_tail
@pytest.mark.parametrize("share", range(SHARES))
def test_cases_of_nodes_compiled(share):
    """The bits are the interpreter's, whatever the values are. Draws without a seed have no bits to
    compare; strings, sequences and empty optionals are not compiled."""
    for name in list(node_cases())[share::SHARES]:
        if name in REFUSED or name.startswith("test_bernoulli"):
            continue
        case = node_cases()[name]
        model = composit_onnx.load(case.model)
        if any(value.kind != "tensor" or value.dtype == "string"
               for value in (*model.inputs, *model.outputs)):  # fmt: skip
            continue
        for inputs, _ in onnx_backend.expected(case):
            interpreted = values_of(model(*inputs))
            compiled = values_of(model.compile()(*inputs))
            if len(model.outputs) == 1:
                interpreted, compiled = (interpreted,), (compiled,)
            for value, other in zip(interpreted, compiled, strict=True):
                assert value.dtype == other.dtype, name
                if value.dtype == "bfloat16":  # whose NaNs NumPy takes for different ones
                    value, other = value.astype("float32"), other.astype("float32")
                np.testing.assert_array_equal(value, other, err_msg=name)
