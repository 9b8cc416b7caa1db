// The table's trigonometric functions and their inverses.
#include "composit/ir/scalar/library.h"
#include "composit/ir/scalar/table.h"

namespace composit::ir::scalar {

std::vector<Row> trigonometric_rows() {
    using namespace types;
    return {
        library_row("cos", {}, inexact, {-3, 3},     "the cosine, of any magnitude", cos_of,
                    [](Y x, Y) { return -call("sin", {x}); }),
        library_row("sin", {}, inexact, {-3, 3},     "the sine, of any magnitude", sin_of,
                    [](Y x, Y) { return call("cos", {x}); }),
        library_row("tan", {}, inexact, {-1.4, 1.4}, "sin(x) / cos(x)", tan_of,
                    [](Y, Y y) { return fma(y, y, 1.0); }),
    };
}

}  // namespace composit::ir::scalar
