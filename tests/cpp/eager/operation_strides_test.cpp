// Where results of PyTorch's elementwise operations lie.
#include "composit/eager/operation_strides.h"

#include "composit/numpy/creation.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

namespace composit::eager {
namespace {

using ir::DType;
using ir::Tensor;

TEST(OperationStrides, the_first_operand_that_tells_axes_apart_decides) {
    const Tensor x = numpy::ones({4, 3}), y = numpy::ones({4, 3});
    const Strides turned = {1, 4}, rows = {3, 1};
    EXPECT_EQ(operation_strides(x - y, {{x, turned}, {y, rows}}), turned);
    EXPECT_EQ(operation_strides(y - x, {{x, turned}, {y, rows}}), rows);
    // Rows of NumPy's order "K" need all operands.
    EXPECT_EQ(elementwise_strides({4, 3}, {{x.shape(), turned}, {y.shape(), rows}}), rows);
}

TEST(OperationStrides, several_elementwise_operations_are_one) {
    const Tensor x = numpy::ones({4, 3});
    const Strides turned = {1, 4};
    const Tensor made = ops::astype(ops::with_values(x, x * 2.0) + 1.0, DType::float32);
    EXPECT_EQ(operation_strides(made, {{x, turned}}), turned);
    // A sum lies in rows, and its columns tell nothing of the rows' order.
    EXPECT_EQ(operation_strides(x / numpy::sum(x, 1, {}, true), {{x, turned}}), turned);
    EXPECT_EQ(operation_strides(numpy::sum(x, 1, {}, true), {{x, turned}}), std::nullopt);
}

TEST(OperationStrides, gaps_are_closed) {
    const Tensor x = numpy::ones({2, 3});
    EXPECT_EQ(operation_strides(x * 2.0, {{x, {2, 4}}}), (Strides{1, 2}));
    EXPECT_EQ(operation_strides(x, {{x, {2, 4}}}), (Strides{1, 2}));
}

}  // namespace
}  // namespace composit::eager
