// The table's hyperbolic functions and their inverses.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

// The root of a complex product may be the other one than the product of roots.
Expr slope_of_arccosh(const Expr& x, const Expr&) {
    if (is_complex(x.dtype())) return 1.0 / (square_root(x + 1.0) * square_root(x - 1.0));
    return 1.0 / square_root(x * x - 1.0);
}

}  // namespace

std::vector<Row> hyperbolic_rows() {
    using namespace types;
    return {
        library_row("arccosh", {"acosh"}, inexact, {1.2, 5}, "the inverse of cosh, >= 0",
                    arccosh_of, slope_of_arccosh),
        library_row("arcsinh", {"asinh"}, inexact, {-3, 3}, "the inverse of sinh", arcsinh_of,
                    [](Y x, Y) { return 1.0 / square_root(x * x + 1.0); }),
        library_row("arctanh", {"atanh"}, inexact, {-0.9, 0.9}, "the inverse of tanh", arctanh_of,
                    [](Y x, Y) { return 1.0 / (1.0 - x * x); }),
        library_row("cosh", {}, inexact, {-3, 3}, "(e^x + e^-x) / 2", cosh_of,
                    [](Y x, Y) { return call("sinh", {x}); }),
        library_row("sinh", {}, inexact, {-3, 3}, "(e^x - e^-x) / 2", sinh_of,
                    [](Y x, Y) { return call("cosh", {x}); }),
        library_row("tanh", {}, inexact, {-3, 3}, "sinh(x) / cosh(x)", tanh_of,
                    [](Y, Y y) { return 1.0 - y * y; }),
    };
}

}  // namespace composit::ir::scalar
