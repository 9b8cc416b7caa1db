// Differences, over composit::numpy.
#include "composit/aten/differences.h"

#include "composit/aten/dtypes.h"
#include "composit/base/error.h"
#include "composit/numpy/axis.h"
#include "composit/numpy/differences.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

#include <algorithm>
#include <numeric>

namespace composit::aten {

std::vector<Tensor> gradient(const Tensor& x, const std::vector<numpy::Operand>& spacing,
                             const std::optional<std::vector<int64_t>>& given, int64_t edge_order,
                             bool is_one_step) {
    std::vector<int64_t> dims(static_cast<size_t>(x.rank()));
    std::iota(dims.begin(), dims.end(), 0);
    if (given) dims = *given;
    std::vector<int64_t> places;
    const int64_t rank = std::max<int64_t>(x.rank(), 1);
    for (const int64_t dim : dims) places.push_back(((dim % rank) + rank) % rank);
    for (const int64_t place : places)
        user_check<RuntimeError>(std::ranges::count(places, place) == 1, "dim ", place,
                                 " appears multiple times in the list of dims");
    std::vector<numpy::Operand> steps = spacing;
    if (steps.empty() || is_one_step)
        steps.assign(dims.size(), spacing.empty() ? numpy::Operand(int64_t{1}) : spacing[0]);
    user_check<RuntimeError>(
        steps.size() == dims.size(),
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
        "arguments to have the same length, but got a spacing argument of length ",
        steps.size(), " and a dim argument of length ", dims.size(), ".");
    std::vector<Tensor> made;
    for (size_t i = 0; i < dims.size(); ++i)
        made.push_back(
            numpy::gradient(floating(x), {steps[i]}, std::vector<int64_t>{dims[i]}, edge_order)
                .at(0));
    return made;
}

Tensor cumulative_trapezoid(const Tensor& y, const numpy::Operand& points, double dx, int64_t dim) {
    using numpy::Ellipsis;
    using numpy::Slice;
    const Tensor line = numpy::moveaxis(floating(y), dim, -1);
    const Tensor sums = numpy::get_item(line, {Ellipsis{}, Slice{1, {}}}) +
                        numpy::get_item(line, {Ellipsis{}, Slice{{}, -1}});
    Tensor width;
    if (points) {
        const Tensor x = floating(points);
        width = numpy::diff(x.rank() == 1 ? x : numpy::moveaxis(x, dim, -1));
    }
    const Tensor parts = width ? sums / 2 * width : sums / 2 * dx;
    return numpy::moveaxis(numpy::cumsum(parts, -1), -1, dim);
}

Tensor tensordot(const Tensor& given_a, const Tensor& given_b, const std::vector<int64_t>& dims_a,
                 const std::vector<int64_t>& dims_b) {
    Tensor a = given_a, b = given_b;
    for (size_t k = 0; k < std::min(dims_a.size(), dims_b.size()); ++k) {
        const int64_t i = numpy::normalize_axis("tensordot", dims_a[k], a.rank());
        const int64_t j = numpy::normalize_axis("tensordot", dims_b[k], b.rank());
        const int64_t of_a = a.shape()[static_cast<size_t>(i)];
        const int64_t of_b = b.shape()[static_cast<size_t>(j)];
        if (of_a != of_b && of_a == 1) b = numpy::sum(b, j, b.dtype(), true);
        if (of_a != of_b && of_a != 1 && of_b == 1) a = numpy::sum(a, i, a.dtype(), true);
    }
    return numpy::tensordot(a, b, dims_a, dims_b);
}

Tensor tensordot(const Tensor& a, const Tensor& b, int64_t count) {
    user_check<RuntimeError>(count >= 0, "tensordot expects dims >= 0, but got dims=", count);
    user_check<RuntimeError>(count <= a.rank() && count <= b.rank(),
                             "tensordot expects dims < ndim_a or ndim_b, but got dims=", count);
    std::vector<int64_t> dims_a(static_cast<size_t>(count)), dims_b = dims_a;
    std::iota(dims_a.begin(), dims_a.end(), a.rank() - count);
    std::iota(dims_b.begin(), dims_b.end(), 0);
    return tensordot(a, b, dims_a, dims_b);
}

}  // namespace composit::aten
