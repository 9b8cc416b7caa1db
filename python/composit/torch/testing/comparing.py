"""assert_close: values, and structures of them, within tolerances. Where tensors differ is C++'s
business (composit/aten/comparing.h)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from warnings import warn

import numpy as np

import composit._core as _core
from composit.torch import calling, dtypes, errstate, materializing
from composit.torch.calling import TensorBase

_aten = _core.aten
_mismatch = _aten.mismatch
Text = str | Callable[[str], str] | None

_OF_NUMBERS = {int: "int64", float: "float64", complex: "complex128"}


class _Failed(Exception):
    """An error to be, of the pair at a path of keys and numbers."""

    def __init__(self, kind: type[Exception], text: str, path: tuple[Any, ...]) -> None:
        super().__init__(text)
        self.kind, self.text, self.path = kind, text, path

    def error(self, msg: Text) -> Exception:
        if isinstance(msg, str):
            return self.kind(msg)
        text = self.text
        if self.path:
            place = "".join(f"[{key!r}]" for key in self.path)
            text += f"\n\nThe failure occurred for item {place}"
        return self.kind(text if msg is None else msg(text))


@dataclass
class _Options:
    """What assert_close was told."""

    allow_subclasses: bool
    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool

    def tolerances(self, names: Sequence[str], path: tuple[Any, ...]) -> tuple[float, float]:
        """(rtol, atol): as given, or the larger ones of the dtypes."""
        if (self.rtol is None) != (self.atol is None):
            missing = "rtol" if self.rtol is None else "atol"
            text = "Both 'rtol' and 'atol' must be either specified or omitted, but got no"
            raise _Failed(ValueError, f"{text} {missing}.", path)
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        return _core.aten.close_tolerances(list(names))


# ----- pairs: each function makes the comparison of two values, or None for values of other kinds

_Compare = Callable[[], None]


def _pair_of_none(actual: Any, expected: Any, path: Any, _: _Options) -> _Compare | None:
    if actual is not None and expected is not None:
        return None

    def compare() -> None:
        if actual is not None or expected is not None:
            raise _Failed(AssertionError, f"None mismatch: {actual} is not {expected}", path)

    return compare


def _pair_of_booleans(actual: Any, expected: Any, path: Any, _: _Options) -> _Compare | None:
    if not all(isinstance(value, (bool, np.bool_)) for value in (actual, expected)):
        return None

    def compare() -> None:
        if bool(actual) is not bool(expected):
            text = f"Booleans mismatch: {bool(actual)} is not {bool(expected)}"
            raise _Failed(AssertionError, text, path)

    return compare


def _pair_of_numbers(actual: Any, expected: Any, path: Any, options: _Options) -> _Compare | None:
    if not all(isinstance(x, (int, float, complex, np.number)) for x in (actual, expected)):
        return None
    a, b = (x.item() if isinstance(x, np.number) else x for x in (actual, expected))
    rtol, atol = options.tolerances([_OF_NUMBERS[type(x)] for x in (a, b)], path)

    def compare() -> None:
        if options.check_dtype and type(a) is not type(b):
            text = f"The (d)types do not match: {type(a)} != {type(b)}."
            raise _Failed(AssertionError, text, path)
        if not _aten.are_close_numbers(a, b, rtol, atol, options.equal_nan):
            raise _Failed(
                AssertionError, _aten.report_of_numbers(a, b, rtol, atol, "Scalars"), path
            )

    return compare


def _is_sparse(value: Any) -> bool:
    return getattr(value, "is_sparse", False) is True


def _is_strided(value: Any) -> bool:
    return value.layout is dtypes.strided


def _belong_together(actual: Any, expected: Any, allow_subclasses: bool) -> bool:
    """Whether one's type is a subclass of the other's. Sparse tensors are tensors of another
    layout in PyTorch, and count as such."""
    if _is_sparse(actual) or _is_sparse(expected):
        return all(_is_sparse(x) or isinstance(x, TensorBase) for x in (actual, expected))
    if not allow_subclasses:
        return type(actual) is type(expected)
    return isinstance(actual, type(expected)) or isinstance(expected, type(actual))


def _pair_of_tensors(actual: Any, expected: Any, path: Any, options: _Options) -> _Compare | None:
    if not _belong_together(actual, expected, options.allow_subclasses):
        return None
    try:
        a, b = (x if _is_sparse(x) else calling.functions["as_tensor"](x)
                for x in (actual, expected))  # fmt: skip
    except Exception:
        return None
    rtol, atol = options.tolerances([a.dtype.name, b.dtype.name], path)

    def compare() -> None:
        _check_attributes(a, b, path, options)
        _compare_values(*_made_alike(a, b), rtol, atol, options.equal_nan, path)

    return compare


def _check_attributes(actual: Any, expected: Any, path: Any, options: _Options) -> None:
    def check(name: str, a: Any, b: Any) -> None:
        if a != b:
            text = f"The values for attribute '{name}' do not match: {a} != {b}."
            raise _Failed(AssertionError, text, path)

    check("shape", actual.shape, expected.shape)
    if options.check_layout:
        check("layout", actual.layout, expected.layout)
    if options.check_stride and _is_strided(actual) and _is_strided(expected):
        check("stride()", actual.stride(), expected.stride())
    if options.check_device:
        check("device", actual.device, expected.device)
    if options.check_dtype:
        check("dtype", actual.dtype, expected.dtype)


def _made_alike(actual: Any, expected: Any) -> tuple[Any, Any]:
    """Both on one device, of one dtype and layout."""
    of = calling.functions, dtypes.by_name["int64"], dtypes.strided
    return _aten.made_alike(*of, actual, expected)  # type: ignore[return-value]


def _compare_values(
    actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool, path: Any
) -> None:
    if _is_strided(actual):
        _compare_elements(actual, expected, rtol, atol, equal_nan, path, "Tensor-likes")
        return
    for what, a, b in (
        ("sparse dimensions", actual.sparse_dim(), expected.sparse_dim()),
        ("specified values", actual._nnz(), expected._nnz()),
    ):
        if a != b:
            text = f"The number of {what} in sparse COO tensors does not match: {a} != {b}"
            raise _Failed(AssertionError, text, path)
    _compare_elements(actual._indices(), expected._indices(), 0, 0, False, path,
                      "Sparse COO indices")  # fmt: skip
    _compare_elements(actual._values(), expected._values(), rtol, atol, equal_nan, path,
                      "Sparse COO values")  # fmt: skip


def _compare_elements(
    actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool, path: Any, name: str
) -> None:
    a, b = (materializing.values_of(x.detach()) for x in (actual, expected))
    token = errstate.begin()
    try:
        text: Any = _mismatch(a, b, rtol, atol, equal_nan, name)
    finally:
        errstate.end(token)
    if text is not None:
        if not actual.shape:
            name = name.replace("Tensor-likes", "Scalars")
            text = _aten.report_of_numbers(actual.item(), expected.item(), rtol, atol, name)
        raise _Failed(AssertionError, text, path)


_kinds = (_pair_of_none, _pair_of_booleans, _pair_of_numbers, _pair_of_tensors)


def _pairs(actual: Any, expected: Any, path: tuple[Any, ...], options: _Options) -> list[_Compare]:
    """The comparisons of two structures' values."""

    def inner(keys: Any) -> list[_Compare]:
        return [
            compare for key in keys
            for compare in _pairs(actual[key], expected[key], (*path, key), options)
        ]  # fmt: skip

    if all(isinstance(x, Sequence) and not isinstance(x, str) for x in (actual, expected)):
        lengths = len(actual), len(expected)
        if lengths[0] != lengths[1]:
            text = f"The length of the sequences mismatch: {lengths[0]} != {lengths[1]}"
            raise _Failed(AssertionError, text, path)
        return inner(range(lengths[0]))
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        keys, wanted = set(actual.keys()), set(expected.keys())
        if keys != wanted:
            raise _Failed(
                AssertionError,
                "The keys of the mappings do not match:\n"
                f"Missing keys in the actual mapping: {sorted(wanted - keys)}\n"
                f"Additional keys in the actual mapping: {sorted(keys - wanted)}",
                path,
            )
        ordered: Any = keys
        with contextlib.suppress(Exception):
            ordered = sorted(keys)
        return inner(ordered)
    for kind in _kinds:
        compare = kind(actual, expected, path, options)
        if compare is not None:
            return [compare]
    raise _Failed(
        TypeError,
        f"No comparison pair was able to handle inputs of type {type(actual)} and "
        f"{type(expected)}.",
        path,
    )


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None,
    atol: float | None = None, equal_nan: bool = False, check_device: bool = True,
    check_dtype: bool = True, check_layout: bool = True, check_stride: bool = False,
    msg: Text = None,
) -> None:  # fmt: skip
    """AssertionError unless tensors, or numbers, or those of sequences and mappings at the same
    places, are close: |actual - expected| <= atol + rtol |expected|, infinities equal, NaN close to
    NaN only with equal_nan. Tolerances, both or neither, are by default those of the dtypes. Flags
    say which attributes are compared; `msg` replaces the message, or makes it of PyTorch's.
    TypeError: values of kinds that do not belong together; ValueError: one tolerance alone."""
    __tracebackhide__ = True
    options = _Options(allow_subclasses, rtol, atol, equal_nan, check_device, check_dtype,
                       check_layout, check_stride)  # fmt: skip
    try:
        pairs = _pairs(actual, expected, (), options)
    except _Failed as failed:
        raise failed.error(None) from None
    first: Exception | None = None
    for compare in pairs:
        try:
            compare()
        except _Failed as failed:
            first = first or failed.error(msg)
    if first is not None:
        raise first


def _as_tensor(value: Any, dtype: Any = None) -> Any:
    is_one = isinstance(value, TensorBase)
    return value if is_one else calling.functions["tensor"](value, dtype=dtype)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = True, msg: str = "",
) -> None:  # fmt: skip
    """assert_close of tensors of any dtypes, with wider tolerances. Deprecated in PyTorch."""
    warn(
        "`torch.testing.assert_allclose()` is deprecated since 1.12 and will be removed in a "
        "future release. Please use `torch.testing.assert_close()` instead. You can find detailed "
        "upgrade instructions in https://github.com/pytorch/pytorch/issues/61844.",
        FutureWarning, stacklevel=2,
    )  # fmt: skip
    a = _as_tensor(actual)
    b = _as_tensor(expected, a.dtype)
    if rtol is None and atol is None:
        rtol, atol = _aten.wide_tolerances([a.dtype.name, b.dtype.name])
    assert_close(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False,
                 msg=msg or None)  # fmt: skip
