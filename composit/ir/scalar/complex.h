// Expressions over dtypes that kernels do not have, in parts: a complex value is two real ones, a
// short float is a float32 of the same value.
//
//   split(a * b, {{ar, ai}, {br, bi}}) is {ar * br - ai * bi, ar * bi + ai * br}
#pragma once

#include "composit/ir/scalar/row.h"

#include <vector>

namespace composit::ir::scalar {

// The expression over parts of its arguments, of which real ones have no imaginary part.
// NotSupported for loops over such values.
ComplexExpr split(const Expr& expr, const std::vector<ComplexExpr>& arguments);

// The parts of a row's result, each a row of its own over some of the operands' parts: of all parts
// in order (a real operand has one), those of the numbers that `uses` lists. The same rows for the
// same arguments; not among all_rows().
struct RowOfPart {
    RowRef row;
    std::vector<int> uses;
};
struct SplitRow {
    RowOfPart re, im;  // im has no row where the result is not complex
};
const SplitRow& split_row(const RowRef& row, const std::vector<DType>& operands);

// ----- arithmetic of parts (complex_arithmetic.cpp)
namespace complex {
using Z = ComplexExpr;

Z multiply(const Z& a, const Z& b);
Z divide(const Z& a, const Z& b);  // Smith's method, as NumPy's
Expr equal(const Z& a, const Z& b);
// NumPy's order: by the real part, then the imaginary one; nothing is ordered beside NaN.
Expr compare(Op op, const Z& a, const Z& b);
Expr is_nan(const Z& x);
Z select(const Expr& condition, const Z& a, const Z& b);
}  // namespace complex

}  // namespace composit::ir::scalar
