// JAX's primitives from C++: one of each kind, and what is refused.
#include "composit/jax/primitives.h"

#include "composit/base/error.h"
#include "composit/execute/execute.h"

#include <gtest/gtest.h>

#include <limits>

namespace composit::jax {
namespace {

using ir::Array;
using ir::DType;
using ir::Tensor;
using Axes = std::vector<int64_t>;

Tensor numbers(const std::vector<float>& values, const ir::Shape& shape) {
    return ir::constant(Array::of<float>(DType::float32, shape, values));
}

std::vector<float> values_of(const Tensor& x) {
    const Array y = execute::evaluate({x})[0];
    return {y.data_as<float>(), y.data_as<float>() + y.size()};
}

TEST(JaxPrimitives, Products) {
    const Tensor a = numbers({1, 2, 3, 4}, {2, 2}), b = numbers({1, 0, 1, 1}, {2, 2});
    const Tensor c = apply("dot_general", {a, b},
                           {{"contracted_a", Axes{1}},
                            {"contracted_b", Axes{0}},
                            {"batch_a", Axes{}},
                            {"batch_b", Axes{}}})[0];
    EXPECT_EQ(values_of(c), (std::vector<float>{3, 2, 7, 4}));
}

TEST(JaxPrimitives, WindowsThatDoNotFitAreFilled) {
    const Tensor x = numbers({1, 2, 3}, {3});
    const Tensor places = ir::constant(Array::of<int32_t>(DType::int32, {2, 1}, {2, 7}));
    const Tensor found = apply("gather", {x, places},
                               {{"slice_sizes", Axes{1}},
                                {"fill_value", -1.0},
                                {"mode", std::string("FILL_OR_DROP")},
                                {"dimension_numbers.offset_dims", Axes{}},
                                {"dimension_numbers.start_index_map", Axes{0}},
                                {"dimension_numbers.collapsed_slice_dims", Axes{0}},
                                {"dimension_numbers.operand_batching_dims", Axes{}},
                                {"dimension_numbers.start_indices_batching_dims", Axes{}}})[0];
    EXPECT_EQ(values_of(found), (std::vector<float>{3, -1}));
}

TEST(JaxPrimitives, UpdatesThatDoNotFitAreDropped) {
    const Tensor x = numbers({1, 2, 3}, {3}), update = numbers({5, 6}, {2});
    const Tensor places = ir::constant(Array::of<int32_t>(DType::int32, {2, 1}, {0, 3}));
    for (const char* name : {"scatter", "scatter-add"}) {
        const Tensor made = apply(name, {x, places, update},
                                  {{"mode", std::string("FILL_OR_DROP")},
                                   {"dimension_numbers.update_window_dims", Axes{}},
                                   {"dimension_numbers.inserted_window_dims", Axes{0}},
                                   {"dimension_numbers.scatter_dims_to_operand_dims", Axes{0}},
                                   {"dimension_numbers.operand_batching_dims", Axes{}},
                                   {"dimension_numbers.scatter_indices_batching_dims", Axes{}}})[0];
        const float first = std::string_view(name) == "scatter" ? 5.0f : 6.0f;
        EXPECT_EQ(values_of(made), (std::vector<float>{first, 2, 3}));
    }
}

TEST(JaxPrimitives, EdgesAreXlas) {
    const auto whole = [](std::vector<int32_t> values) {
        const auto count = static_cast<int64_t>(values.size());
        return ir::constant(Array::of<int32_t>(DType::int32, {count}, values));
    };
    const auto integers_of = [](const Tensor& x) {
        const Array y = execute::evaluate({x})[0];
        return std::vector<int32_t>(y.data_as<int32_t>(), y.data_as<int32_t>() + y.size());
    };
    const Tensor a = whole({7, -7}), zeros = whole({0, 0});
    EXPECT_EQ(integers_of(apply("div", {a, zeros}, {})[0]), (std::vector<int32_t>{-1, -1}));
    EXPECT_EQ(integers_of(apply("rem", {a, zeros}, {})[0]), (std::vector<int32_t>{7, -7}));
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = numbers({1e10F, -1e10F, nan, -2.5F}, {4});
    const Tensor made = apply("convert_element_type", {x}, {{"new_dtype", DType::int32}})[0];
    EXPECT_EQ(integers_of(made), (std::vector<int32_t>{2147483647, -2147483647 - 1, 0, -2}));
    EXPECT_EQ(integers_of(apply("top_k", {x}, {{"k", int64_t{2}}})[1]),
              (std::vector<int32_t>{2, 0}));
    const Tensor none = apply(
        "reduce_window_sum", {x},
        {{"window_dimensions", Axes{5}}, {"window_strides", Axes{1}}, {"padding", Axes{0, 0}}})[0];
    EXPECT_EQ(none.shape(), ir::Shape{0});
}

TEST(JaxPrimitives, AreKnownByName) {
    EXPECT_TRUE(knows("conv_general_dilated") && knows("random_bits") && !knows("pure_callback"));
    EXPECT_EQ(names().empty(), false);
    EXPECT_THROW((void)apply("pure_callback", {}, {}), NotSupported);
}

}  // namespace
}  // namespace composit::jax
