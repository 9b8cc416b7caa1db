// The table's trigonometric functions and their inverses.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {
namespace {

// At the origin, where the angle is anything, the slopes are 0, as PyTorch's.
Exprs slopes_of_arctan2(X x, Y) {
    const Expr square = fma(x[0], x[0], x[1] * x[1]);
    const Expr is_origin = equal(square, 0);
    return {select(is_origin, 0.0, x[1] / square), select(is_origin, 0.0, -x[0] / square)};
}

}  // namespace

std::vector<Row> trigonometric_rows() {
    using namespace types;
    return {
        library_row("arccos", {"acos"}, inexact, {-0.9, 0.9},
                    "the angle in [0, pi] with this cosine", arccos_of,
                    [](Y x, Y) { return -1.0 / square_root(1.0 - x * x); }),
        library_row("arcsin", {"asin"}, inexact, {-0.9, 0.9},
                    "the angle in [-pi/2, pi/2] with this sine", arcsin_of,
                    [](Y x, Y) { return 1.0 / square_root(1.0 - x * x); }),
        library_row("arctan", {"atan"}, inexact, {-3, 3},
                    "the angle in [-pi/2, pi/2] with this tangent", arctan_of,
                    [](Y x, Y) { return 1.0 / fma(x, x, 1.0); }),
        {"arctan2",
         {"atan2"},
         2,
         floating,
         {{0.5, 3}, {-3, 3}},
         "the angle of the point (x2, x1), in [-pi, pi]",
         [](X x) { return in_library(arctan2_of, x[0], x[1]); },
         slopes_of_arctan2},
        library_row("cos", {}, inexact, {-3, 3}, "the cosine, of any magnitude", cos_of,
                    [](Y x, Y) { return -call("sin", {x}); }),
        library_row("sin", {}, inexact, {-3, 3}, "the sine, of any magnitude", sin_of,
                    [](Y x, Y) { return call("cos", {x}); }),
        library_row("tan", {}, inexact, {-1.4, 1.4}, "sin(x) / cos(x)", tan_of,
                    [](Y, Y y) { return fma(y, y, 1.0); }),
    };
}

}  // namespace composit::ir::scalar
