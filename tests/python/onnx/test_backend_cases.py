"""ONNX's backend cases of nodes, all of them: interpreted; and, in shares, compiled and exported as
plain C++, with the interpreter's bits.

Those that do not pass are listed here, each with its reason: a case that begins to pass, or stops
to, fails the test until the list says so."""

import onnx_programs
import plain_batches
import pytest
from onnx_backend import node_cases, outcome
from plain_exports import leaves, same_bits

import composit

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

# Cases that are no programs: their tensors are strings, files of images, or an optional that is
# empty; or they draw random numbers without a seed, so that there are no bits to compare.
NO_PROGRAMS = (
    "test_ai_onnx_ml_label_encoder_string_int", "test_ai_onnx_ml_label_encoder_tensor_mapping",
    "test_ai_onnx_ml_label_encoder_tensor_value_only_mapping", "test_bernoulli",
    "test_equal_string", "test_image_decoder_", "test_optional_has_element_empty_optional_input",
    "test_regex_full_match", "test_string_", "test_strnormalizer_",
)  # fmt: skip
# Cases that compiled functions compute, and plain text does not: they call LAPACK.
NOT_PLAIN = ("test_det_2d", "test_det_nd")
SHARES = 40


def programs(share):
    """The calls of the cases of a share that are programs, and the interpreter's results."""
    found = []
    for name in list(node_cases())[share::SHARES]:
        if not name.startswith(NO_PROGRAMS):
            found += [(call, call.expected()) for call in onnx_programs.calls_of(name)]
    return found


def test_all_cases_of_nodes_interpreted():
    found = {name: outcome(case) for name, case in node_cases().items()}
    refused = {name: why for name, (kind, why) in found.items() if kind == "refused"}
    wrong = {name: why for name, (kind, why) in found.items() if kind == "wrong"}
    assert not refused
    assert sorted(wrong) == sorted(WRONG), wrong
    assert len(found) == 1884 and len(found) - len(wrong) >= 0.99 * len(found)


def test_cases_that_are_no_programs():
    """None is left out but for what is said above."""
    names = [name for name in node_cases() if name.startswith(NO_PROGRAMS)]
    assert len(names) == 42
    for name in names:
        if not name.startswith(("test_bernoulli", "test_image_decoder_")):
            (call,) = onnx_programs.calls_of(name)
            values = [*leaves(call.inputs), *call.expected()]
            assert not values or any(value.dtype.kind in "OSU" for value in values), name
    for name in NOT_PLAIN:
        (call,) = onnx_programs.calls_of(name)
        compiled = composit.compile(call.function, *call.inputs, backend="interpreter")
        with pytest.raises(NotImplementedError, match=r"calls the function lapack\.slogdet"):
            compiled.export("never", style="plain")


def agree(calls, expected, found):
    for call, wanted, values in zip(calls, expected, found, strict=True):
        assert len(wanted) == len(values), call.name
        for one, other in zip(wanted, values):
            assert same_bits(one, other), (call.name, one, other)


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_cases_of_nodes_compiled(share):
    """All of a share as one function."""
    calls, expected = zip(*programs(share))
    agree(calls, expected, onnx_programs.compiled(calls))


@pytest.mark.long_tail
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("share", range(SHARES))
def test_cases_of_nodes_exported(share, tmp_path):
    """Each as a function of one source of plain C++."""
    calls, expected = zip(*(each for each in programs(share) if each[0].case not in NOT_PLAIN))
    functions = [(call.function, call.inputs) for call in calls]
    agree(calls, expected, plain_batches.exported(functions, expected, tmp_path))
