// Reductions of PyTorch's.
#include "composit/aten/reductions.h"

#include "composit/aten/dtypes.h"
#include "composit/aten/rows.h"
#include "composit/aten/series.h"
#include "composit/aten/shapes.h"
#include "composit/base/error.h"
#include "composit/functional/folds.h"
#include "composit/functional/scan.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/operations.h"
#include "composit/numpy/complex_parts.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <limits>
#include <vector>

namespace composit::aten {
namespace {

std::pair<Tensor, Tensor> running(const Tensor& x, int64_t dim, ir::kernel::Combiner combiner) {
    if (x.rank() == 0) return {x, numpy::zeros({}, DType::int64)};
    const int64_t axis = numpy::normalize_axis("cummax", dim, x.rank());
    const Tensor best = ops::scan(combiner, x, axis);
    ir::Shape shape(static_cast<size_t>(x.rank()), 1);
    shape[static_cast<size_t>(axis)] = -1;
    const Tensor numbers =
        numpy::reshape(numpy::arange(x.shape()[static_cast<size_t>(axis)]), shape);
    Tensor is_best = rows::equal(x, best);
    if (ir::is_floating(x.dtype())) is_best = is_best | numpy::apply("isnan", {x});
    return {best,
            ops::scan(ir::kernel::Combiner::maximum, rows::where(is_best, numbers, -1), axis)};
}

}  // namespace

void check_not_empty(std::string_view function, const Tensor& x, std::optional<int64_t> dim) {
    if (x.size() != 0) return;
    user_check<IndexError>(dim.has_value(), function,
                           "(): Expected reduction dim to be specified for input.numel() == 0. "
                           "Specify the reduction dim with the 'dim' argument.");
    user_check<IndexError>(x.shape()[static_cast<size_t>(dimension_of(*dim, x.rank()))] != 0,
                           function, "(): Expected reduction dim ", *dim,
                           " to have non-zero size.");
}

Tensor summable(const Tensor& x, std::optional<DType> dtype) {
    if (dtype) return ops::astype(x, *dtype);
    return ir::is_inexact(x.dtype()) ? x : ops::astype(x, DType::int64);
}

std::pair<Tensor, Tensor> picked(const Tensor& x, const Tensor& indices, int64_t dim,
                                 bool keepdim) {
    if (x.rank() == 0) return {x, indices};
    const Tensor wide = keepdim ? indices : numpy::expand_dims(indices, dim);
    const Tensor values = numpy::take_along_axis(x, wide, dim);
    return {keepdim ? values : numpy::squeeze(values, dim), indices};
}

Tensor logsumexp(const Tensor& given, const Axis& dim, bool keepdim) {
    const Tensor x = floating(given);
    if (ir::is_complex(x.dtype())) {
        const bool is_whole = dim.is_none() || dim.axes().empty();
        const Axis axis = is_whole || x.rank() == 0 ? Axis() : dim;
        const Tensor top = nn::stop_gradient(numpy::max(numpy::real(x), axis, true));
        const Tensor total = rows::log(numpy::sum(rows::exp(x - top), axis, {}, true)) + top;
        return keepdim ? total : numpy::squeeze(total, axis);
    }
    if (dim.is_none() || dim.axes().empty() || x.rank() == 0) {
        const Tensor flat = nn::logsumexp(numpy::reshape(x, {-1}), 0, false);
        return keepdim ? numpy::reshape(flat, ir::Shape(static_cast<size_t>(x.rank()), 1)) : flat;
    }
    if (dim.axes().size() == 1) return nn::logsumexp(x, dim.axes()[0], keepdim);
    Tensor top = nn::stop_gradient(numpy::max(x, dim, true));
    top = rows::where(numpy::apply("isfinite", {top}), top, rows::zero_of(x));
    const Tensor total = rows::log(numpy::sum(rows::exp(x - top), dim, {}, true)) + top;
    return keepdim ? total : numpy::squeeze(total, dim);
}

Tensor logaddexp(const Tensor& a, const Tensor& b) {
    if (!ir::is_complex(a.dtype()) && !ir::is_complex(b.dtype())) return rows::logaddexp(a, b);
    const Tensor is_first = numpy::apply("greater_equal", {numpy::real(a), numpy::real(b)});
    const Tensor high = rows::where(is_first, a, b), low = rows::where(is_first, b, a);
    // Two that are -infinity, whose difference is no number, count as equal.
    const Tensor is_none = rows::equal(numpy::real(high), -infinity);
    const Tensor gap = rows::where(is_none, rows::zero_of(high), low - high);
    return high + rows::log1p(rows::exp(gap));
}

Tensor logcumsumexp(const Tensor& given, int64_t dim) {
    if (given.rank() == 0) return given;
    if (!ir::is_complex(given.dtype()))
        return folds::accumulate(ir::scalar::row("logaddexp"), given, dim);
    const int64_t axis = numpy::normalize_axis("logcumsumexp", dim, given.rank());
    const Tensor rows = numpy::moveaxis(given, axis, 0);
    // One after the other: which of the logarithm's values comes depends on the order.
    const ScanBody body = [](const Tensors& so_far, const Tensors& x) {
        const Tensor next = logaddexp(x[0], so_far[0]);
        return Scanned{{next}, {next}};
    };
    const Tensor nothing = numpy::full(ir::Shape(rows.shape().begin() + 1, rows.shape().end()),
                                       -infinity, rows.dtype());
    return numpy::moveaxis(scan(body, {nothing}, {rows}).ys[0], 0, axis);
}

Tensor root(const Tensor& x) {
    const Tensor is_zero = rows::equal(x, 0);
    return rows::where(is_zero, rows::zero_of(x),
                       rows::sqrt(rows::where(is_zero, rows::one_of(x), x)));
}

Tensor vector_norm(const Tensor& given, double order, const Axis& dim, bool keepdim) {
    const Tensor x = widened(given);
    const Axis axis = x.rank() == 0 ? Axis() : dim;
    const Tensor size = rows::abs(x);
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const auto norm = [&] {
        if (order == 2) return root(numpy::sum(size * size, axis, {}, keepdim));
        if (order == 1) return numpy::sum(size, axis, {}, keepdim);
        if (order == infinity) return numpy::max(size, axis, keepdim);
        if (order == -infinity) return numpy::min(size, axis, keepdim);
        if (order == 0)
            return numpy::sum(ops::astype(rows::not_equal(x, 0), size.dtype()), axis, {}, keepdim);
        return power_root(size, order, axis, keepdim);
    };
    return ops::astype(norm(), ir::is_short_float(given.dtype()) ? given.dtype() : size.dtype());
}

Tensor norm_except_dim(const Tensor& v, double p, int64_t dim) {
    if (dim == -1) return vector_norm(v, p);
    const int64_t kept = dimension_of(dim, v.rank());
    std::vector<int64_t> others;
    for (int64_t axis = 0; axis < v.rank(); ++axis)
        if (axis != kept) others.push_back(axis);
    return others.empty() ? rows::abs(v) : vector_norm(v, p, others, true);
}

Tensor power_root(const Tensor& size, double p, const Axis& dim, bool keepdim) {
    if (p <= 0) return rows::power(numpy::sum(rows::power(size, p), dim, {}, keepdim), 1 / p);
    const Tensor zero = rows::zero_of(size), one = rows::one_of(size);
    Tensor powers;
    if (p < 1) {
        const Tensor is_zero = rows::equal(size, 0);
        powers = rows::where(is_zero, zero, rows::power(rows::where(is_zero, one, size), p));
    } else {
        powers = rows::power(size, p);
    }
    const Tensor total = numpy::sum(powers, dim, {}, keepdim);
    const Tensor is_zero = rows::equal(total, 0);
    return rows::where(is_zero, zero, rows::power(rows::where(is_zero, one, total), 1 / p));
}

std::pair<Tensor, Tensor> running_maximum(const Tensor& x, int64_t dim) {
    return running(x, dim, ir::kernel::Combiner::maximum);
}

std::pair<Tensor, Tensor> running_minimum(const Tensor& x, int64_t dim) {
    return running(x, dim, ir::kernel::Combiner::minimum);
}

}  // namespace composit::aten
