"""ONNX's own backend cases, which come with the package `onnx`: models of a node each, with inputs
and outputs; and what composit makes of them."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

import composit
import composit.onnx
from composit.types import LazyTensor

# Types of few bits, by the name that ml_dtypes has for them, and the dtype that holds each.
CARRIERS = {
    "float8_e4m3fnuz": "float32", "float8_e5m2fnuz": "float32", "float8_e8m0fnu": "float32",
    "float4_e2m1fn": "float32", "float6_e2m3fn": "float32", "float6_e3m2fn": "float32",
    "int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8",
}  # fmt: skip


@functools.cache
def node_cases() -> dict[str, Any]:
    """The cases by name, in the order of the package."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package computes what it expects, overflow included
        from onnx.backend.test.case.node import collect_testcases

        return {case.name: case for case in collect_testcases(None)}


def expected(case: Any) -> list[tuple[list[Any], list[Any]]]:
    """Inputs and outputs of each of a case's calls."""
    return [
        ([_array(x) for x in inputs], [_array(x) for x in outputs])
        for inputs, outputs in case.data_sets
    ]


def _array(value: Any) -> Any:
    """Cases hold arrays, lists of them, or tensors as they stand in files."""
    from onnx import TensorProto, numpy_helper

    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def values_of(result: Any) -> Any:
    """ndarrays in place of tensors."""
    if isinstance(result, (list, tuple)):
        return [values_of(part) for part in result]
    if isinstance(result, LazyTensor):
        return composit.evaluate(result)
    return result


def _difference(found: Any, wanted: Any, dtype: str, case: Any) -> str | None:
    """What differs, in words; None for nothing."""
    if isinstance(wanted, (list, tuple)) or isinstance(found, list):
        if found is None or len(found) != len(wanted):
            return f"{found} for {wanted}"
        return next(
            filter(None, (_difference(f, w, dtype, case) for f, w in zip(found, wanted))), None
        )
    if wanted is None or found is None:
        return None if found is None and wanted is None else f"{found} for {wanted}"
    wanted, found = np.asarray(wanted), np.asarray(found)
    if found.shape != wanted.shape:
        return f"shape {found.shape} for {wanted.shape}"
    if wanted.dtype.kind in "OSUT":
        text = [x.decode() if isinstance(x, bytes) else str(x) for x in wanted.ravel().tolist()]
        return None if [str(x) for x in found.ravel().tolist()] == text else f"{found} for {wanted}"
    if dtype in CARRIERS:
        found = found.astype(wanted.dtype)
    if found.dtype != wanted.dtype:
        return f"dtype {found.dtype} for {wanted.dtype}"
    try:
        as_float = np.float64 if wanted.dtype.kind not in "iubc" else wanted.dtype
        np.testing.assert_allclose(
            found.astype(as_float), wanted.astype(as_float), rtol=case.rtol, atol=case.atol
        )
    except AssertionError as error:
        return " ".join(str(error).split())[:200]
    return None


def outcome(case: Any, is_compiled: bool = False) -> tuple[str, str]:
    """("passed", ""), ("refused", why) or ("wrong", what differs)."""
    try:
        model = composit.onnx.load(case.model)
    except Exception as error:
        return _failed(error)
    # Each case asks for the names of inputs that it gives.
    for inputs, outputs in expected(case):
        try:
            function = model.compile() if is_compiled else model
            found = values_of(function(*inputs))
        except Exception as error:
            return _failed(error)
        found = found if len(model.outputs) > 1 else [found]
        for value, wanted, info in zip(found, outputs, model.outputs, strict=True):
            difference = _difference(value, wanted, info.dtype, case)
            if difference:
                return "wrong", f"{info.name}: {difference}"
    return "passed", ""


def _failed(error: Exception) -> tuple[str, str]:
    kind = "refused" if isinstance(error, NotImplementedError) else "wrong"
    return kind, f"{type(error).__name__}: {error}"
