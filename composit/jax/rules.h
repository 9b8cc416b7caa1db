// The table behind apply: each file adds the primitives of its subject.
#pragma once

#include "composit/ir/attribute.h"
#include "composit/ops/ops.h"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace composit::jax {

using ir::DType;
using ir::Shape;
using ir::Tensor;
using ops::Axes;
using Tensors = std::vector<Tensor>;

// What a primitive is applied to.
struct Application {
    std::string_view name;
    const Tensors& x;
    const ir::Attributes& parameters;

    [[nodiscard]] const Axes& axes(std::string_view key) const { return parameters.get<Axes>(key); }
    [[nodiscard]] int64_t integer(std::string_view key) const {
        return parameters.get<int64_t>(key);
    }
    [[nodiscard]] bool flag(std::string_view key) const { return parameters.get<bool>(key); }
    [[nodiscard]] DType dtype(std::string_view key) const { return parameters.get<DType>(key); }
    // Of a parameter that may be left out, as JAX's None is.
    [[nodiscard]] Axes axes_or(std::string_view key, const Axes& otherwise) const {
        return parameters.has(key) ? parameters.get<Axes>(key) : otherwise;
    }
    [[nodiscard]] std::string text_or(std::string_view key, const char* otherwise) const {
        return parameters.has(key) ? parameters.get<std::string>(key) : otherwise;
    }
};

using ApplyRule = std::function<Tensors(const Application&)>;
using ApplyRules = std::map<std::string_view, ApplyRule>;

void add_elementwise_primitives(ApplyRules& rules);
void add_layout_primitives(ApplyRules& rules);
void add_indexing_primitives(ApplyRules& rules);
void add_reduction_primitives(ApplyRules& rules);
void add_product_primitives(ApplyRules& rules);
void add_matrix_primitives(ApplyRules& rules);
void add_random_primitives(ApplyRules& rules);

// ----- what rules are made of
// A number of a dtype; an array of it.
Tensor number(DType dtype, double value);
Tensor integer_number(DType dtype, int64_t value);
// Elements with an axis of that length at `axis` and 1 elsewhere: 0, 1, 2, … (int64).
Tensor counted(int64_t length, size_t axis, size_t rank);
// x with axes of length 1 behind until it has that rank.
Tensor with_axes_behind(const Tensor& x, size_t rank);
// x along an axis, from the last one to the first.
Tensor reversed(const Tensor& x, const Axes& axes);
// The dtype's least value (or greatest), infinities of floats: what a maximum begins with.
Tensor extreme(DType dtype, bool is_least);
// Integers in the order of floats: -NaN, -infinity, …, -0, 0, …, infinity, NaN. Integers stay.
Tensor total_order(const Tensor& x);
// x's elements along an axis in that order, of places in its shape.
Tensor taken_along(const Tensor& x, const Tensor& order, int64_t axis);
// How many windows fit along an axis that is spread by `base_dilation` and padded.
int64_t window_count(int64_t length, int64_t base_dilation, int64_t low, int64_t high,
                     int64_t window, int64_t dilation, int64_t stride);
// x between and around with `around`, as padding and base_dilation say, and its windows (counts…,
// window…); `low` becomes the padding in front of each axis. Where no window fits along an axis
// there are none, of one element each.
Tensor padded_windows(const Application& a, const Tensor& x, const Tensor& around, Axes& low);

}  // namespace composit::jax
