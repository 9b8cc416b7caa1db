// Demands of functions.
#include "composit/aten/argument_checks.h"

#include "composit/base/error.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <numeric>
#include <sstream>
#include <string>
#include <tuple>

namespace composit::aten {
namespace {

// As Python shows lists.
std::string listed(const std::vector<int64_t>& values) {
    std::string shown;
    for (const int64_t value : values) shown += (shown.empty() ? "" : ", ") + std::to_string(value);
    return "[" + shown + "]";
}

std::pair<int64_t, int64_t> last_lengths(std::string_view function, const Shape& shape) {
    user_check(shape.size() >= 2, function, ": a tensor of shape ", shape,
               ". A matrix, or a batch of them, is required.");
    return {shape[shape.size() - 2], shape.back()};
}

int kind_of(ir::DType dtype) {
    if (dtype == ir::DType::boolean) return 0;
    if (ir::is_integer(dtype)) return 1;
    return ir::is_complex(dtype) ? 3 : 2;
}

}  // namespace

void check_segments(bool has_indices, bool has_lengths, bool has_offsets, const Shape& segments,
                    int64_t dim) {
    user_check<RuntimeError>(!has_indices,
                             "segment_reduce(): indices based reduction is not supported yet. "
                             "Lengths or offsets are required.");
    user_check<RuntimeError>(
        has_lengths != has_offsets,
        "segment_reduce(): Either lengths or offsets must be defined, and not both.");
    user_check<NotSupported>(dim == 0 && segments.size() == 1, "segment_reduce: axis ", dim,
                             " with segments of shape ", segments,
                             ". Axis 0 and one dimension of segments are built.");
}

void check_strided(const Shape& sizes, const std::vector<int64_t>& strides, int64_t offset,
                   int64_t elements) {
    int64_t last = offset;
    for (size_t i = 0; i < std::min(sizes.size(), strides.size()); ++i)
        last += (sizes[i] - 1) * strides[i];
    const bool is_empty = std::ranges::find(sizes, 0) != sizes.end();
    user_check(is_empty || last < elements, "setStorage: sizes ", listed(sizes), ", strides ",
               listed(strides), " and storage offset ", offset,
               " are out of bounds for storage of ", elements, " elements.");
}

void check_eye(int64_t n, int64_t m) {
    user_check<RuntimeError>(n >= 0, "n must be greater or equal to 0, got ", n);
    user_check<RuntimeError>(m >= 0, "m must be greater or equal to 0, got ", m);
}

void check_steps(int64_t steps) {
    user_check<RuntimeError>(steps >= 0, "number of steps must be non-negative");
}

void check_window_length(std::string_view function, int64_t length) {
    user_check<RuntimeError>(length >= 0, function,
                             " requires non-negative window_length, got window_length=", length);
}

void check_strides(int64_t sizes, int64_t strides) {
    user_check<RuntimeError>(sizes == strides, "dimensionality of sizes (", sizes,
                             ") must match dimensionality of strides (", strides, ")");
}

void check_layout(int64_t dims, const std::vector<int64_t>& layout) {
    std::vector<int64_t> all(static_cast<size_t>(std::max<int64_t>(dims, 0))), given = layout;
    std::iota(all.begin(), all.end(), 0);
    std::ranges::sort(given);
    user_check<RuntimeError>(given == all, "empty_permuted: physical_layout is ", layout,
                             ". The numbers of ", dims, " dimensions are required.");
}

int64_t low_rank(std::optional<int64_t> q, const Shape& shape) {
    const auto [rows, columns] = last_lengths("svd_lowrank", shape);
    const int64_t count = q.value_or(6), least = std::min(rows, columns);
    user_check(count >= 0 && count <= least, "svd_lowrank: q is ", count, ", of a matrix of ", rows,
               " x ", columns, ". A number from 0 to ", least, " is required.");
    return count;
}

int64_t principal_rank(std::optional<int64_t> q, const Shape& shape, int64_t iterations) {
    const auto [rows, columns] = last_lengths("pca_lowrank", shape);
    const int64_t least = std::min(rows, columns);
    const int64_t count = q.value_or(std::min<int64_t>(6, least));
    user_check(count >= 0 && count <= least, "q(=", count,
               ") must be non-negative integer and not greater than min(m, n)=", least);
    user_check(iterations >= 0, "niter(=", iterations, ") must be non-negative integer");
    return count;
}

void check_complex_is_said(bool is_said, bool is_complex) {
    user_check<RuntimeError>(is_said || is_complex,
                             "stft requires the return_complex parameter be given for real inputs, "
                             "and will further require that return_complex=True in a future "
                             "PyTorch release.");
}

void check_integer_bounds(int64_t low, int64_t high, ir::DType dtype) {
    user_check<RuntimeError>(low < high,
                             "random_ expects 'from' to be less than 'to', but got "
                             "from=",
                             low, " >= to=", high);
    if (!ir::is_integer(dtype) && dtype != ir::DType::boolean) return;
    const auto [least, most, name] = [&]() -> std::tuple<int64_t, int64_t, const char*> {
        switch (dtype) {
            case ir::DType::boolean: return {0, 1, "bool"};
            case ir::DType::int8: return {INT8_MIN, INT8_MAX, "signed char"};
            case ir::DType::uint8: return {0, UINT8_MAX, "unsigned char"};
            case ir::DType::int16: return {INT16_MIN, INT16_MAX, "short"};
            case ir::DType::uint16: return {0, UINT16_MAX, "unsigned short"};
            case ir::DType::int32: return {INT32_MIN, INT32_MAX, "int"};
            case ir::DType::uint32: return {0, UINT32_MAX, "unsigned int"};
            case ir::DType::uint64: return {0, INT64_MAX, "unsigned long"};
            default: return {INT64_MIN, INT64_MAX, "long"};
        }
    }();
    user_check<RuntimeError>(low >= least && low <= most, "from is out of bounds for ", name);
    user_check<RuntimeError>(high - 1 >= least && high - 1 <= most, "to - 1 is out of bounds for ",
                             name);
}

void check_deviation(double deviation) {
    if (!(deviation < 0)) return;
    std::ostringstream shown;  // as Python's format "g"
    shown << std::setprecision(6) << deviation;
    fail<RuntimeError>("normal expects std >= 0.0, but found std ", shown.str());
}

void check_chance(double least, double greatest) {
    user_check<RuntimeError>(least >= 0 && greatest <= 1,
                             "Expected p_in >= 0 && p_in <= 1 to be true, but got false.");
}

void check_weights(double least, double greatest, double least_sum) {
    user_check<RuntimeError>(least >= 0 && std::isfinite(greatest),
                             "probability tensor contains either `inf`, `nan` or element < 0");
    user_check<RuntimeError>(least_sum > 0,
                             "invalid multinomial distribution (sum of probabilities <= 0)");
}

bool can_cast(ir::DType from, ir::DType to) { return kind_of(from) <= kind_of(to); }

void check_order_is_unique(const Shape& shape) {
    user_check<RuntimeError>(
        std::ranges::find(shape, 1) == shape.end(), "dim_order: the tensor of shape ", shape,
        " does not have unique dim order. No length of 1 is required, or torch.contiguous_format "
        "in ambiguity_check.");
}

}  // namespace composit::aten
