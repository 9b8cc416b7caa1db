// Sets: elements that differ, and what two tensors have in common.
//
// Each function is NumPy's of that name. Shapes depend on values, which are evaluated at the call
// (NotSupported under placeholders); only isin is lazy. The values of a result are gathered from
// the operands, so that gradients reach them. Results ascend, NaN last. Real dtypes.
#pragma once

#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace composit::numpy {

struct Unique {
    Tensor values;
    Tensor indices;  // int64: of the first element equal to each value
    Tensor inverse;  // int64: which value each element is; x's shape, or 1-d along an axis
    Tensor counts;   // int64: how many elements are equal to each value
};
// What else than values and counts is wanted of unique; the rest may be empty.
struct Wanted {
    bool indices = true, inverse = true;
};
// Elements of the flattened x, or slices along an axis, without repetition. equal_nan: all NaN are
// one element (never those of slices). AxisError.
//
//   unique(array<int64_t>({3, 1, 3})).values
[[nodiscard]] Unique unique(const Tensor& x, std::optional<int64_t> axis = {},
                            bool equal_nan = true, const Wanted& wanted = {});

// The elements of the flattened tensors that are in either, both, only the first, or only one. NaN
// is equal to nothing but within one tensor. is_unique: the operands are taken as they are.
[[nodiscard]] Tensor union1d(const Tensor& a, const Tensor& b);
struct Intersection {
    Tensor values;
    // Of their first occurrence in the flattened tensors; empty where they are not needed.
    Tensor indices_a, indices_b;
};
[[nodiscard]] Intersection intersect1d(const Tensor& a, const Tensor& b, bool is_unique = false,
                                       bool needs_indices = true);
[[nodiscard]] Tensor setdiff1d(const Tensor& a, const Tensor& b, bool is_unique = false);
[[nodiscard]] Tensor setxor1d(const Tensor& a, const Tensor& b, bool is_unique = false);

// numpy.isin: bool of x's shape: whether each element is among the `tested` (not, for invert).
// by_table: with the errors of NumPy's kind="table", ValueError for dtypes other than bool and
// integers, RuntimeError when the tested span more than their dtype holds.
[[nodiscard]] Tensor isin(const Tensor& x, const Tensor& tested, bool invert = false,
                          bool by_table = false);

}  // namespace composit::numpy
