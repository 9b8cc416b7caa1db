// Identities of operations, and normalisation within groups.
#include "composit/aten/masked.h"

#include "composit/aten/places.h"
#include "composit/aten/rows.h"
#include "composit/base/error.h"
#include "composit/nn/differentiation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>
#include <limits>

namespace composit::aten {
namespace {

using ir::DType;

// The largest number of a dtype, or the least.
Tensor extreme_of(DType dtype, bool is_largest) {
    constexpr double limit = std::numeric_limits<double>::infinity();
    if (ir::is_inexact(dtype))
        return ops::astype(numpy::full({}, is_largest ? limit : -limit, DType::float64), dtype);
    const auto bits = static_cast<int>(8 * ir::size_of(dtype));
    if (!ir::is_signed_integer(dtype)) {
        if (!is_largest) return numpy::zeros({}, dtype);
        const uint64_t all = ~uint64_t{0} >> (64 - bits);
        return ops::astype(ir::constant(ir::Array::of<uint64_t>(DType::uint64, {}, {all})), dtype);
    }
    const int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - bits);
    return ops::astype(numpy::full({}, is_largest ? largest : -largest - 1, DType::int64), dtype);
}

Tensor identity_of(std::string_view operation, DType dtype, double order) {
    const auto is = [&](std::initializer_list<std::string_view> names) {
        return std::ranges::find(names, operation) != names.end();
    };
    if (is({"sum"})) return numpy::zeros({}, dtype);
    if (is({"prod"})) return numpy::ones({}, dtype);
    if (is({"norm"}))
        return order == -std::numeric_limits<double>::infinity() ? extreme_of(dtype, true)
                                                                 : numpy::zeros({}, dtype);
    const bool has_extremes =
        dtype != DType::boolean && (!ir::is_complex(dtype) || operation == "logsumexp");
    if (has_extremes && is({"amax", "argmax", "logsumexp", "logaddexp"}))
        return extreme_of(dtype, false);
    if (has_extremes && is({"amin", "argmin"})) return extreme_of(dtype, true);
    if (is({"median"}))
        return ops::astype(
            numpy::full({}, std::numeric_limits<double>::quiet_NaN(), DType::float64), dtype);
    fail<NotSupported>("identity of ", operation, " on torch.", dtype, " input");
}

}  // namespace

Tensor identity_filled(const Tensor& x, const Tensor& mask, std::string_view operation,
                       double order) {
    user_check<IndexError>(
        mask.rank() <= x.rank(),
        "_input_mask expected broadcastable mask (got mask dimensionality higher than of the "
        "input)");
    const Tensor kept = numpy::broadcast_to(ops::astype(mask, DType::boolean), x.shape());
    return rows::where(kept, x, identity_of(operation, x.dtype(), order));
}

Tensor group_softmax(const Tensor& x, const Tensor& groups, int64_t count, bool is_log) {
    ir::Shape shape = x.shape();
    shape.at(0) = count;
    const Tensor least = numpy::broadcast_to(extreme_of(x.dtype(), false), shape);
    const Tensor largest = index_reduce(least, 0, groups, nn::stop_gradient(x), "amax");
    const Tensor shifted = x - numpy::take(nn::stop_gradient(largest), groups, 0);
    const Tensor grown = rows::exp(shifted);
    const Tensor total =
        numpy::take(index_add(numpy::zeros(shape, x.dtype()), 0, groups, grown), groups, 0);
    return is_log ? shifted - rows::log(total) : grown / total;
}

void check_masked_mean(ir::DType dtype, bool is_asked_for) {
    user_check(ir::is_inexact(dtype), "mean(): Could not infer output dtype. ",
               is_asked_for ? "Optional" : "Input",
               " dtype must be either a floating point or complex dtype. Got: torch.", dtype);
}

std::vector<int64_t> masked_dims(const std::optional<std::vector<int64_t>>& dims, int64_t rank) {
    std::vector<int64_t> found;
    if (!dims || dims->empty()) {
        for (int64_t dim = 0; dim < rank; ++dim) found.push_back(dim);
        return found;
    }
    const int64_t most = std::max<int64_t>(rank, 1);
    for (const int64_t dim : *dims) {
        user_check<RuntimeError>(std::ranges::find(found, dim) == found.end(), "dim=", dim,
                                 " appears multiple times in the list of dims");
        user_check<IndexError>(dim >= -most && dim < most,
                               "Dimension out of range (expected to be in range of [", -most, ", ",
                               most - 1, "], but got ", dim, ")");
        found.push_back(dim < 0 ? dim + most : dim);
    }
    std::ranges::sort(found);
    return found;
}

}  // namespace composit::aten
