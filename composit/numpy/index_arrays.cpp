// Index arrays out of ranges, and the conversions between positions and indices.
#include "composit/numpy/index_arrays.h"

#include "composit/base/error.h"
#include "composit/base/errors_as.h"
#include "composit/ir/check.h"
#include "composit/numpy/checked.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/ops/ops.h"

#include <algorithm>

namespace composit::numpy {
namespace {

// How many elements of an (n, m) matrix are at or below its k-th diagonal.
int64_t below(int64_t n, int64_t m, int64_t k) {
    const int64_t from = std::clamp<int64_t>(-k, 0, n);            // the first row with an element
    const int64_t full = std::clamp<int64_t>(m - k - 1, from, n);  // the first that is whole
    const int64_t partial = full - from;
    return partial * (from + k + 1) + partial * (partial - 1) / 2 + (n - full) * m;
}

std::vector<Tensor> triangle(std::string_view function, int64_t n, int64_t k,
                             std::optional<int64_t> columns, bool is_lower) {
    n = std::max<int64_t>(n, 0);
    const int64_t m = std::max<int64_t>(columns.value_or(n), 0);
    ir::check_shape(function, {n, m});
    // The k-th diagonal starts the upper triangle and ends the lower one.
    const int64_t split = std::clamp(k, -n - 1, m + 1) - (is_lower ? 0 : 1);
    const int64_t count = is_lower ? below(n, m, split) : n * m - below(n, m, split);
    Array rows(DType::int64, {count}), places(DType::int64, {count});
    auto* row = static_cast<int64_t*>(rows.mutable_data());
    auto* place = static_cast<int64_t*>(places.mutable_data());
    for (int64_t i = 0, left = count; left > 0; ++i) {
        const int64_t border = std::clamp<int64_t>(i + split + 1, 0, m);
        const int64_t first = is_lower ? 0 : border, end = is_lower ? border : m;
        for (int64_t j = first; j < end; ++j, --left) {
            *row++ = i;
            *place++ = j;
        }
    }
    return {asarray(std::move(rows)), asarray(std::move(places))};
}

void check_matrix(std::string_view function, const Tensor& x) {
    user_check(x.rank() == 2, function, ": input array must be 2-d, not ", x.shape(), ".");
}

void check_order(std::string_view function, std::string_view order) {
    user_check(order == "C" || order == "F", function, ": order must be 'C' or 'F', not '", order,
               "'.");
}

// The product of the lengths, and the distance in elements between neighbours along each axis.
struct Strides {
    std::vector<int64_t> by_axis;
    int64_t count = 1;
};

Strides strides_of(std::string_view function, const Shape& shape, std::string_view order) {
    ir::check_shape(function, shape);
    Strides result{std::vector<int64_t>(shape.size()), 1};
    for (size_t i = 0; i < shape.size(); ++i) {
        const size_t d = order == "F" ? i : shape.size() - 1 - i;
        result.by_axis[d] = result.count;
        result.count *= shape[d];
    }
    return result;
}

}  // namespace

std::vector<Tensor> diag_indices(int64_t n, int64_t rank) {
    user_check<OutOfMemory>(rank <= (1 << 20), "diag_indices: ndim is ", rank,
                            ". At most 2^20 is required.");
    const Tensor range = errors_as("diag_indices", [&] { return arange(n); });
    return std::vector<Tensor>(static_cast<size_t>(std::max<int64_t>(rank, 0)), range);
}

std::vector<Tensor> diag_indices_from(const Tensor& x) {
    user_check(x.rank() >= 2, "diag_indices_from: input array must be at least 2-d, not ",
               x.shape(), ".");
    for (int64_t length : x.shape())
        user_check(length == x.shape()[0],
                   "diag_indices_from: All dimensions of input must be of equal length, not ",
                   x.shape(), ".");
    return diag_indices(x.shape()[0], x.rank());
}

std::vector<Tensor> tril_indices(int64_t n, int64_t k, std::optional<int64_t> m) {
    return triangle("tril_indices", n, k, m, true);
}

std::vector<Tensor> triu_indices(int64_t n, int64_t k, std::optional<int64_t> m) {
    return triangle("triu_indices", n, k, m, false);
}

std::vector<Tensor> tril_indices_from(const Tensor& x, int64_t k) {
    check_matrix("tril_indices_from", x);
    return triangle("tril_indices_from", x.shape()[0], k, x.shape()[1], true);
}

std::vector<Tensor> triu_indices_from(const Tensor& x, int64_t k) {
    check_matrix("triu_indices_from", x);
    return triangle("triu_indices_from", x.shape()[0], k, x.shape()[1], false);
}

std::vector<Tensor> mask_indices(int64_t n,
                                 const std::function<Tensor(const Tensor&, int64_t)>& mask,
                                 int64_t k) {
    const Tensor whole = errors_as("mask_indices", [&] { return ones({n, n}, DType::int64); });
    const Tensor made = mask(whole, k);
    return errors_as("mask_indices", [&] { return nonzero(made); });
}

std::vector<Tensor> sparse_indices(const Shape& shape, DType dtype) {
    ir::check_shape("indices", shape);
    std::vector<Tensor> result;
    for (size_t d = 0; d < shape.size(); ++d) {
        Shape own(shape.size(), 1);
        own[d] = shape[d];
        result.push_back(ops::astype(ops::iota(own, static_cast<int64_t>(d)), dtype));
    }
    return result;
}

Tensor indices(const Shape& shape, DType dtype) {
    ir::check_shape("indices", shape);
    if (shape.empty()) return zeros({0}, dtype);
    return errors_as("indices", [&] {
        std::vector<Tensor> layers;
        for (const Tensor& range : sparse_indices(shape, dtype))
            layers.push_back(broadcast_to(range, shape));
        return stack(layers);
    });
}

Tensor fromfunction(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                    const Shape& shape, DType dtype) {
    std::vector<Tensor> grid;
    errors_as("fromfunction", [&] {
        for (const Tensor& range : sparse_indices(shape, dtype))
            grid.push_back(broadcast_to(range, shape));
    });
    return function(grid);
}

std::vector<Tensor> ix_(const std::vector<Tensor>& sequences) {
    std::vector<Tensor> result;
    for (size_t d = 0; d < sequences.size(); ++d) {
        Tensor x = sequences[d];
        user_check(x.rank() == 1, "ix_: Cross index must be 1 dimensional: sequence ", d,
                   " has shape ", x.shape(), ".");
        if (x.dtype() == DType::boolean) x = errors_as("ix_", [&] { return nonzero(x)[0]; });
        Shape shape(sequences.size(), 1);
        shape[d] = x.size();
        result.push_back(reshape(x, shape));
    }
    return result;
}

Tensor ravel_multi_index(const std::vector<Tensor>& indices, const Shape& shape,
                         const std::vector<std::string>& modes, std::string_view order) {
    const std::string_view name = "ravel_multi_index";
    user_check(indices.size() == shape.size(), name, ": parameter multi_index must be a sequence ",
               "of length ", shape.size(), ", not ", indices.size(), ".");
    user_check(modes.size() == 1 || modes.size() == shape.size(), name, ": ", modes.size(),
               " modes are given. One, or one per axis (", shape.size(), ") is required.");
    user_check(!shape.empty(), name, ": dims is empty. At least one length is required.");
    check_order(name, order);
    const Strides strides = strides_of(name, shape, order);
    return errors_as(name, [&] {
        Tensor result;
        for (size_t d = 0; d < shape.size(); ++d) {
            user_check<TypeError>(ir::is_integer(indices[d].dtype()), name,
                                  ": only int indices permitted, not ", indices[d].dtype(), ".");
            const Tensor checked =
                checked_positions({name, "invalid entry in coordinates array"}, indices[d],
                                  shape[d], modes[modes.size() == 1 ? 0 : d]);
            const Tensor part = apply("multiply", {checked, strides.by_axis[d]});
            result = result ? apply("add", {result, part}) : part;
        }
        return result;
    });
}

std::vector<Tensor> unravel_index(const Tensor& indices, const Shape& shape,
                                  std::string_view order) {
    const std::string_view name = "unravel_index";
    check_order(name, order);
    const Strides strides = strides_of(name, shape, order);
    user_check<TypeError>(ir::is_integer(indices.dtype()), name,
                          ": only int indices permitted, not ", indices.dtype(), ".");
    return errors_as(name, [&] {
        const Tensor checked = checked_positions(
            {name, text("index is out of bounds for array with size ", strides.count)}, indices,
            strides.count, "raise");
        std::vector<Tensor> result;
        for (size_t d = 0; d < shape.size(); ++d) {
            const Tensor place = apply("floor_divide", {checked, strides.by_axis[d]});
            result.push_back(apply("remainder", {place, shape[d]}));
        }
        return result;
    });
}

Tensor argwhere(const Tensor& x) {
    return errors_as("argwhere", [&] {
        if (x.rank() == 0) {
            const int64_t count = nonzero(reshape(x, {1}))[0].size();
            return zeros({count, 0}, DType::int64);
        }
        return stack(nonzero(x), 1);
    });
}

Tensor flatnonzero(const Tensor& x) {
    return errors_as("flatnonzero", [&] { return nonzero(ravel(x))[0]; });
}

}  // namespace composit::numpy
