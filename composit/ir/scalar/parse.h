// The reverse of print (function.h): scalar functions from their text.
//
//   (x: float64) ->
//       let slope: float64 = tanh(multiply(2, x))
//       select(less(x, 0), slope, multiply(slope, slope))
//
// A name before `(` is an operation of expr.h, else a row of the table; `numpy.remainder` is the
// row where an operation has the same name and means something else. Names of dtypes convert, and
// say what a constant is: float32(0.5). A constant without takes the dtype of the other operands.
// `float` and `int` are `floating` and int64, so that one text serves several dtypes. Comments
// begin with #.
#pragma once

#include "composit/ir/scalar/function.h"

#include <cstdint>
#include <string_view>

namespace composit::ir::scalar {

// ValueError "parse: line 2, column 5: found …. … is required." for what is no such text;
// print(parse(print(f))) == print(f), tables of lookups aside, which are not written whole and
// refused.
Function parse(std::string_view text, DType floating = DType::float64);

// For texts of strangers: throws ValueError where an operation is not defined for all operands (a
// division of integers by what may be 0 or -1, a shift by what may be too much), and where loops
// may take more iterations than that, those within loops multiplied.
void check_defined(const Function& function, int64_t most_iterations = int64_t{1} << 31);

}  // namespace composit::ir::scalar
