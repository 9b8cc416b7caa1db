"""Questions about dtypes, and conversions to tensors, against NumPy's answers."""

import numpy as np
import numpy_agreement
import pytest

import composit.numpy as cnp

DTYPES = ["bool", "int8", "uint16", "int64", "uint64", "float32", "float64"]
F, I = np.ones(2, "float32"), np.ones(2, "int64")
CALLS = {
    "can_cast": [(a, b, c) for a in DTYPES for b in DTYPES for c in ("no", "safe", "same_kind")]
    + [(F, "float64"), (1, "int8"), ("x", "y"), (I, "int8", "odd")],
    "promote_types": [(a, b) for a in DTYPES for b in DTYPES] + [("x", "int8"), (None, object())],
    "common_type": [(F,), (I,), (F, I), (1,)],
    "mintypecode": [("if",), (["f", "d"],), ("l",), (3,)],
    "issubdtype": [(a, b) for a in DTYPES for b in (np.integer, np.floating, "float64", "x")],
    "isdtype": [(np.dtype(a), b) for a in DTYPES for b in ("integral", "bool", "odd", 3)],
    "isscalar": [(v,) for v in (1, 2.5, "a", True, None, [1], F, np.float32(1))],
    "iterable": [(v,) for v in (1, "a", [1], F, np.array(1), None)],
    "asanyarray": [(v,) for v in (1, [1, 2.5], F, [[1, 2], [3]])] + [(I, "float32")],
    "ascontiguousarray": [(v,) for v in (1, [1, 2.5], F, np.array(2))] + [(I, "float32")],
    "asarray_chkfinite": [(v,) for v in (1, F, [np.inf], [np.nan, 1], I)] + [(I, "float32")],
}


@pytest.mark.parametrize("name", CALLS)
def test_agrees(name):
    ours, theirs = getattr(cnp, name), getattr(np, name)
    for arguments in CALLS[name]:
        if name.startswith("as"):
            numpy_agreement.assert_agree(ours, theirs, arguments)
            continue
        expected, wrong = numpy_agreement.attempt(theirs, arguments, {})
        found, error = numpy_agreement.attempt(ours, numpy_agreement.tensors(arguments), {})
        assert found == expected, arguments
        assert (error is None) == (wrong is None), (arguments, error, wrong)
        assert wrong is None or isinstance(wrong, type(error)), (arguments, error, wrong)
