// The table's rounding, and what looks at a float's neighbours and sign.
#include "composit/ir/dtype_traits.h"
#include "composit/ir/scalar/table.h"

#include <limits>

namespace composit::ir::scalar {
namespace {

Expr next_after(const Expr& x, const Expr& towards) {
    return Expr::make(Op::nextafter, {x, towards});
}

// The step from x away from zero; both zeros step up, as all short floats do in NumPy. NaN for
// infinities.
Expr spacing(const Expr& x) {
    const Expr infinity = Expr::constant(x.dtype(), std::numeric_limits<double>::infinity());
    if (ir::is_short_float(x.dtype()) && !float_format(x.dtype()).has_infinity) {
        const double greatest = float_format(x.dtype()).greatest();
        return select(x < greatest, next_after(x, Expr::constant(x.dtype(), greatest)) - x,
                      Expr::constant(x.dtype(), std::numeric_limits<double>::quiet_NaN()));
    }
    if (ir::is_short_float(x.dtype()))
        return select(equal(x, -infinity), x - x, next_after(x, infinity) - x);
    return next_after(x, select(x < 0, -infinity, infinity)) - x;
}

// The sign that the result has relative to the first operand; 0 at 0, as PyTorch's.
Expr slope_of_copysign(const Expr& x, const Expr& sign) {
    return select(equal(x, 0), 0.0, copysign(one_like(x), x) * copysign(one_like(x), sign));
}

// floor, ceil and trunc leave integers and bool as they are.
Row rounding_row(const char* name, const char* doc, Expr (*round)(const Expr&)) {
    return {name,
            {},
            1,
            types::real_or_bool,
            {},
            doc,
            [round](X x) { return is_float(x[0]) ? round(x[0]) : x[0]; },
            {},
            true};
}

}  // namespace

std::vector<Row> rounding_rows() {
    using namespace types;
    return {
        rounding_row("ceil", "the smallest integer >= x", ceil),
        {"copysign",
         {},
         2,
         floating,
         {{0.5, 3}},
         "|x1| with the sign bit of x2",
         [](X x) { return copysign(x[0], x[1]); },
         [](X x, Y) { return Exprs{slope_of_copysign(x[0], x[1]), Expr()}; }},
        rounding_row("floor", "the largest integer <= x", floor),
        {"nextafter",
         {},
         2,
         floating,
         {},
         "the next float after x1 on the way to x2",
         [](X x) { return next_after(x[0], x[1]); },
         [](X x, Y) { return Exprs{one_like(x[0]), Expr()}; },
         false,
         {},
         {},
         true},
        {"rint",
         {},
         1,
         inexact,
         {},
         "the nearest integer, halves to even",
         [](X x) { return rint(x[0]); },
         {},
         true},
        {"spacing",
         {},
         1,
         floating,
         {},
         "the distance to the next float away from 0",
         [](X x) { return spacing(x[0]); },
         {},
         true,
         {},
         {},
         true},
        rounding_row("trunc", "the nearest integer towards 0", trunc),
    };
}

}  // namespace composit::ir::scalar
