// Lines between points, found by a search for all x at once.
#include "composit/numpy/interpolation.h"

#include "composit/base/error.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/one_node.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/sorting.h"
#include "composit/ops/ops.h"
#include "composit/ops/part.h"

namespace composit::numpy {
namespace {

struct Points {
    Tensor x, y;
};

// The points of one period in order, with a neighbour from the next on either side.
Points repeated(const Points& points, const Tensor& period) {
    const int64_t n = points.x.size();
    const Tensor within = points.x % period;
    const Tensor order = argsort(within);
    const Tensor x = take_along_axis(within, order), y = take_along_axis(points.y, order);
    const Tensor before = ops::part(x, 0, n - 1, 1) - period,
                 after = ops::part(x, 0, 0, 1) + period;
    return {ops::concatenate({before, x, after}, 0),
            ops::concatenate({ops::part(y, 0, n - 1, 1), y, ops::part(y, 0, 0, 1)}, 0)};
}

Tensor at(const Tensor& values, const Tensor& positions) {
    return ops::gather(values, {positions}, {0});
}

// An end as one value; the point's own where there is none.
Tensor end_of(const Tensor& given, const Tensor& y, int64_t position) {
    return given ? given : squeeze(ops::part(y, 0, position, 1));
}

Tensor between(const Tensor& x, const Points& points, const Tensor& left, const Tensor& right) {
    const int64_t n = points.x.size();
    // The last point that is not behind x.
    const Tensor found = searchsorted(points.x, x, Side::right) - 1;
    const Tensor last = Operand(n - 1);
    const Tensor low = apply("maximum", {found, 0});
    const Tensor high = apply("minimum", {low + 1, last});
    const Tensor x0 = at(points.x, low), x1 = at(points.x, high);
    const Tensor y0 = at(points.y, low), y1 = at(points.y, high);
    const Tensor is_point =
        apply("logical_or", {apply("equal", {x, x0}), apply("equal", {found, last})});
    // Safe where there is no line: the gradient goes along the branch that is taken.
    const Tensor width = apply("where", {is_point, 1.0, x1 - x0});
    const Tensor slope = (y1 - y0) / width;
    Tensor line = slope * (x - x0) + y0;
    // An infinite end of the line: from the other one, or level.
    line = apply("where", {apply("isnan", {line}), slope * (x - x1) + y1, line});
    line = apply("where", {apply("logical_and", {apply("isnan", {line}), apply("equal", {y0, y1})}),
                           y0, line});
    Tensor result = apply("where", {is_point, y0, line});
    // Where the first point is NaN nothing is left of it.
    const Tensor is_before = apply("less", {x, squeeze(ops::part(points.x, 0, 0, 1))});
    result = apply("where", {is_before, end_of(left, points.y, 0), result});
    const Tensor is_behind = apply("greater", {x, squeeze(ops::part(points.x, 0, n - 1, 1))});
    result = apply("where", {is_behind, end_of(right, points.y, n - 1), result});
    if (n == 1) return result;  // NumPy's: NaN is neither left nor right of one point
    return apply("where", {apply("isnan", {x}), x, result});
}

Tensor scalar_of(std::string_view name, const Operand& value) {
    const Tensor& x = value;
    user_check<TypeError>(x.rank() == 0 && !ir::is_complex(x.dtype()), "interp: ", name,
                          " has type ", x.type(), ". A real number is required.");
    return ops::astype(strong(x), DType::float64);
}

bool is_complex(const Operand& x) { return x && ir::is_complex(x.tensor().dtype()); }

// The lines of both parts; NaN among x is a real NaN.
Tensor of_complex(const Tensor& x, const Tensor& xp, const Tensor& fp, const Operand& left,
                  const Operand& right, const Operand& period) {
    const auto part = [](const Operand& value, auto of) {
        return value ? Operand(of(strong(value))) : Operand();
    };
    const Tensor re = interp(x, xp, real(fp), part(left, real), part(right, real), period);
    const Tensor im = interp(x, xp, imag(fp), part(left, imag), part(right, imag), period);
    const Tensor is_number = apply("equal", {x, x});
    return apply("as_complex", {re, apply("where", {is_number, im, 0.0})});
}

}  // namespace

Tensor interp(const Tensor& x, const Tensor& xp, const Tensor& fp, const Operand& left,
              const Operand& right, const Operand& period) {
    for (const Tensor& tensor : {x, xp}) {
        user_check<TypeError>(!ir::is_complex(tensor.dtype()), "interp: ", tensor.dtype(),
                              " as a coordinate. Real dtypes are required.");
    }
    if (is_complex(fp) || is_complex(left) || is_complex(right))
        return of_complex(x, xp, fp, left, right, period);
    user_check(xp.rank() == 1 && fp.rank() == 1,
               "interp: Data points must be 1-D sequences, not of "
               "shapes ",
               xp.shape(), " and ", fp.shape(), ".");
    user_check(xp.size() == fp.size(), "interp: fp and xp are not of the same length: ", fp.size(),
               " and ", xp.size(), ".");
    user_check(xp.size() > 0, "interp: array of sample points is empty.");
    Tensors operands;
    for (const Tensor& tensor : {x, xp, fp})
        operands.push_back(ops::astype(strong(tensor), DType::float64));
    const bool has_left = left && !period, has_right = right && !period;
    if (has_left) operands.push_back(scalar_of("left", left));
    if (has_right) operands.push_back(scalar_of("right", right));
    if (period) {
        operands.push_back(apply("absolute", {scalar_of("period", period)}));
        user_check(!is_violated(apply("not_equal", {operands.back(), 0})),
                   "interp: period must be a non-zero value.");
    }
    return one_node("interp", operands, [&](const Tensors& of) {
        if (!period)
            return between(of[0], {of[1], of[2]}, has_left ? of[3] : Tensor(),
                           has_right ? of.back() : Tensor());
        return between(of[0] % of[3], repeated({of[1], of[2]}, of[3]), {}, {});
    });
}

}  // namespace composit::numpy
