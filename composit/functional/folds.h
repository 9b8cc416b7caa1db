// Folds of an elementwise function of two operands, a row of the scalar table: what NumPy's ufuncs
// have as reduce, accumulate, reduceat and at.
//
//   folds::reduce(ir::scalar::row("hypot"), x, 1)   // hypot(hypot(x[:, 0], x[:, 1]), x[:, 2]) …
//
// Associative functions combine neighbours, then the results of that: some operations on vectors.
// The others go from the first element to the last. Functions that composit has a reduction of (add
// is sum, maximum is max, …) are that reduction. Axes may be negative. An error names the method:
// "reduce: …". ValueError for rows that do not take two operands.
#pragma once

#include "composit/ir/scalar/row.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operand.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace composit::folds {

using ir::DType;
using ir::Tensor;
using ir::scalar::RowRef;
using numpy::Axis;
using numpy::Operand;

struct Options {
    // The dtype that the fold goes in, which the result has; none: that of a sum or product for add
    // and multiply, else that of the function of two elements.
    std::optional<DType> dtype = {};
    bool keepdims = false;
    // What the fold begins with. Nothing: the function's identity, if it has one; Operand(): there
    // is to be none.
    std::optional<Operand> initial = {};
    // A bool, broadcast to x: which elements count. ValueError for functions without an identity
    // unless `initial` is given.
    Tensor where = {};
};

// The function between all elements along axes (none: all of them). ValueError: several axes, where
// the result depends on their order; no elements, where there is nothing to begin with.
[[nodiscard]] Tensor reduce(const RowRef& row, const Tensor& x, const Axis& axis = 0,
                            const Options& options = {});
// Running results along an axis, of the function as in `reduce`. ValueError: several axes;
// TypeError: of a number.
[[nodiscard]] Tensor accumulate(const RowRef& row, const Tensor& x, const Axis& axis = 0,
                                std::optional<DType> dtype = {});
// The reduction from each index up to the next one, or the element there if that is not behind it.
// The indices, 1-d integers, are evaluated. IndexError out of bounds.
[[nodiscard]] Tensor reduceat(const RowRef& row, const Tensor& x, const Tensor& indices,
                              const Axis& axis = 0, std::optional<DType> dtype = {});
// x after x[index] = f(x[index], …) for one index after the other: where one is met again, its
// element is changed again. `operands`: those behind the first, which the row's arity asks for;
// they broadcast to x[index]. The indices are evaluated. ValueError: another count of operands.
[[nodiscard]] Tensor at(const RowRef& row, const Tensor& x, const numpy::Index& index,
                        const std::vector<Tensor>& operands);

}  // namespace composit::folds
