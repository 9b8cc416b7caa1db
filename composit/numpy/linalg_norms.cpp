// numpy.linalg's norms, condition numbers and ranks.
#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/linalg.h"
#include "composit/numpy/linalg_operands.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/matrices.h"

#include <limits>

namespace composit::numpy::linalg {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Tensor magnitude(const Tensor& x) { return apply("abs", {x}); }

Tensor squares(const Tensor& x) {
    if (!ir::is_complex(x.dtype())) return x * x;
    const Tensor re = real(x), im = imag(x);
    return re * re + im * im;
}

// Where the sum is 0 its elements are, too: the gradient is that of the sum, 0, not of the root,
// whose slope is infinite.
Tensor root(const Tensor& sum) {
    const Tensor is_positive = sum > 0;
    return apply("where",
                 {is_positive, apply("sqrt", {apply("where", {is_positive, sum, 1})}), sum});
}

Tensor root_of_squares(const Tensor& x, const Axis& axis, bool keepdims) {
    return root(sum(squares(x), axis, {}, keepdims));
}

Tensor power_norm(const Tensor& x, double ord, int64_t axis, bool keepdims) {
    const Tensor total = sum(raised(magnitude(x), ord), axis, {}, keepdims);
    const double inverse = total.dtype() == DType::float32
                               ? static_cast<double>(1 / static_cast<float>(ord))
                               : 1 / ord;
    const Tensor power = scalar(total.dtype(), inverse);
    if (ord <= 0) return raised(total, power);
    // As in `root`; of powers below 1 the sum's slope is infinite, too.
    const Tensor is_positive = total > 0, none = ord < 1 ? total * 0.0 : total;
    return apply("where",
                 {is_positive, raised(apply("where", {is_positive, total, 1}), power), none});
}

Tensor norm_of_vectors(const Tensor& x, const Order& ord, int64_t axis, bool keepdims) {
    if (ord.is(infinity)) return max(magnitude(x), axis, keepdims, 0);
    if (ord.is(-infinity)) return min(magnitude(x), axis, keepdims);
    if (ord.is(0.0)) {
        const DType real = ir::real_part_of(x.dtype());
        return sum(ops::astype(apply("not_equal", {x, 0}), real), axis, {}, keepdims);
    }
    if (ord.is(1.0)) return sum(magnitude(x), axis, {}, keepdims);
    if (ord.is_none() || ord.is(2.0)) return root_of_squares(x, axis, keepdims);
    user_check(ord.number().has_value(), "norm: Invalid norm order '", ord.name(),
               "' for vectors. A number is required.");
    return power_norm(x, *ord.number(), axis, keepdims);
}

// Of matrices in the last two axes, as one axis for both when they are kept.
Tensor norm_of_matrices(const Tensor& x, const Order& ord) {
    const auto of_sums = [&](int64_t summed) {
        return sum(magnitude(x), summed);  // leaves the other of the two as the last axis
    };
    if (ord.is(2.0)) return max(svdvals(x), -1, false, 0);
    if (ord.is(-2.0)) return min(svdvals(x), -1);
    if (ord.is("nuc")) return sum(svdvals(x), -1);
    if (ord.is(1.0)) return max(of_sums(-2), -1, false, 0);
    if (ord.is(infinity)) return max(of_sums(-1), -1, false, 0);
    if (ord.is(-1.0)) return min(of_sums(-2), -1);
    if (ord.is(-infinity)) return min(of_sums(-1), -1);
    user_check(ord.is_none() || ord.is("fro") || ord.is("f"),
               "norm: Invalid norm order for matrices: ",
               ord.number() ? text(*ord.number()) : text("'", ord.name(), "'"),
               ". 1, -1, 2, -2, inf, -inf, 'fro' or 'nuc' is required.");
    return root_of_squares(x, {-2, -1}, false);
}

Tensor with_ones(const Tensor& x, Shape shape, const std::vector<int64_t>& axes) {
    for (int64_t axis : axes) shape[static_cast<size_t>(axis)] = 1;
    return reshape(x, shape);
}

}  // namespace

Tensor norm(const Tensor& given, const Order& ord, const Axis& axis, bool keepdims) {
    return errors_as("norm", [&] {
        const Tensor x =
            ir::is_inexact(given.dtype()) ? strong(given) : ops::astype(given, DType::float64);
        const bool is_plain = ord.is_none() || (x.rank() == 1 && ord.is(2.0)) ||
                              (x.rank() == 2 && (ord.is("f") || ord.is("fro")));
        std::vector<int64_t> axes;
        if (axis.is_none() && is_plain) {
            const Tensor all = ravel(x);
            const Tensor result = ir::is_complex(x.dtype())
                                      ? dot(real(all), real(all)) + dot(imag(all), imag(all))
                                      : dot(all, all);
            return keepdims ? reshape(root(result), Shape(x.shape().size(), 1)) : root(result);
        }
        if (axis.is_none())
            for (int64_t d = 0; d < x.rank(); ++d) axes.push_back(d);
        else
            for (int64_t d : axis.axes()) axes.push_back(normalize_axis("norm", d, x.rank()));
        if (axes.size() == 1) return norm_of_vectors(x, ord, axes[0], keepdims);
        user_check(axes.size() == 2, "norm: Improper number of dimensions to norm: ", axes.size(),
                   ". One axis or two are required.");
        user_check(axes[0] != axes[1], "norm: Duplicate axes given: both are ", axes[0], ".");
        const Tensor result = norm_of_matrices(moveaxis(x, axes, {-2, -1}), ord);
        return keepdims ? with_ones(result, x.shape(), axes) : result;
    });
}

Tensor matrix_norm(const Tensor& x, const Order& ord, bool keepdims) {
    return errors_as("matrix_norm", [&] { return norm(x, ord, {-2, -1}, keepdims); });
}

Tensor vector_norm(const Tensor& x, const Axis& axis, const Order& ord, bool keepdims) {
    return errors_as("vector_norm", [&] {
        if (axis.is_integer()) return norm(x, ord, axis, keepdims);
        const std::vector<int64_t> axes = axis.of("vector_norm", x.rank());
        // All elements of these axes as one axis in front.
        std::vector<int64_t> order = axes;
        Shape shape{1};
        for (int64_t d : axes) shape[0] *= x.shape()[static_cast<size_t>(d)];
        for (int64_t d = 0; d < x.rank(); ++d) {
            if (std::find(axes.begin(), axes.end(), d) != axes.end()) continue;
            order.push_back(d);
            shape.push_back(x.shape()[static_cast<size_t>(d)]);
        }
        const Tensor result = norm(reshape(transpose(x, order), shape), ord, 0);
        return keepdims ? with_ones(result, x.shape(), axes) : result;
    });
}

Tensor cond(const Tensor& x, const Order& p) {
    const ir::LocationScope quiet(ir::current_location(), nullptr);
    return errors_as("cond", [&] {
        const bool is_empty = x.size() == 0 && (x.rank() < 2 ? true : rows(x) * columns(x) == 0);
        user_check<LinAlgError>(!is_empty, "cond: cond is not defined on empty arrays, shape ",
                                x.shape(), ".");
        Tensor result;
        if (p.is_none() || p.is(2.0) || p.is(-2.0)) {
            const Tensor s = svdvals(x);
            const auto value = [&](int64_t i) { return take(s, scalar(DType::int64, i), -1); };
            const Tensor first = value(0), last = value(s.shape().back() - 1);
            result = p.is(-2.0) ? last / first : first / last;
        } else {
            check_square("cond", x);
            const DType type = common_type("cond", {x});
            const Tensor inverse =
                ops::astype(ops::inv(in_double(x, type), true), in_double(x, type).dtype());
            result = ops::astype(norm(x, p, {-2, -1}) * norm(inverse, p, {-2, -1}),
                                 ir::real_part_of(type));
        }
        const Tensor was_nan = ir::is_inexact(x.dtype()) ? any(apply("isnan", {x}), {-2, -1})
                                                         : zeros(result.shape(), DType::boolean);
        const Tensor is_undefined = apply("isnan", {result}) & ~was_nan;
        return apply("where", {is_undefined, scalar(result.dtype(), infinity), result});
    });
}

Tensor matrix_rank(const Tensor& a, const Operand& tol, bool hermitian, const Operand& rtol) {
    user_check(!tol || !rtol, "matrix_rank: `tol` and `rtol` can't be both set.");
    return errors_as("matrix_rank", [&] {
        if (a.rank() < 2) return ops::astype(any(apply("not_equal", {a, 0})), DType::int64);
        const Tensor s = svdvals(a, hermitian);
        Tensor limit;
        if (tol) {
            limit = expand_dims(strong(tol.tensor()), -1);
        } else {
            const auto longer = static_cast<double>(std::max(rows(a), columns(a)));
            const Tensor relative = rtol ? expand_dims(strong(rtol.tensor()), -1)
                                         : scalar(s.dtype(), longer * precision_of(s.dtype()));
            limit = max(s, -1, true, 0) * relative;
        }
        return count_nonzero(s > limit, -1);
    });
}

}  // namespace composit::numpy::linalg
