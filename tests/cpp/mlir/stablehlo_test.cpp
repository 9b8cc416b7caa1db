// StableHLO from C++: the text of small graphs, and what is refused.
#include "composit/mlir/stablehlo.h"

#include "composit/base/error.h"
#include "composit/mlir/literals.h"
#include "composit/ops/decompositions.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <limits>

namespace composit::mlir {
namespace {

using ir::Array;
using ir::DType;
using ir::Tensor;

TEST(StableHlo, OperationsConstantsAndNames) {
    const Tensor x = ir::input("x", DType::float32, {2, 3});
    const Tensor scale = ir::constant(Array::of<float>(DType::float32, {3}, {1, 2, 3}), "scale");
    const Tensor y = ops::reduce(ops::Combiner::sum, ops::map("multiply", {x, scale}), {1});
    EXPECT_EQ(stablehlo_text({{"sums", y}}, {.name = "rows"}),
              "// Made by composit. @main returns sums.\n"
              "module @rows {\n"
              "  func.func public @main(%x: tensor<2x3xf32>) -> tensor<2xf32> {\n"
              "    %scale = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>\n"
              "    %c = stablehlo.constant dense<0.0> : tensor<f32>\n"
              "    %0 = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<3xf32>) -> "
              "tensor<2x3xf32>\n"
              "    %1 = stablehlo.multiply %x, %0 : tensor<2x3xf32>\n"
              "    %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = "
              "[1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>\n"
              "    return %2 : tensor<2xf32>\n"
              "  }\n"
              "}\n");
}

TEST(StableHlo, LiteralsHaveEveryBit) {
    const float infinity = std::numeric_limits<float>::infinity();
    EXPECT_EQ(literal_text(Array::of<float>(DType::float32, {2}, {-infinity, 0.1f})),
              "dense<[0xFF800000, 0.1]>");
    EXPECT_EQ(literal_text(Array::of<double>(DType::float64, {2}, {1e300, 1e300})),
              "dense<1.0e+300>");
    EXPECT_EQ(literal_text(Array::of<int64_t>(DType::int64, {2, 1}, {1, -2})),
              "dense<[[1], [-2]]>");
    EXPECT_EQ(literal_text(Array::zeros(DType::float32, {0, 3})), "dense<>");
    std::vector<uint8_t> many(40, 7);
    many[0] = 255;
    EXPECT_EQ(literal_text(Array::of<uint8_t>(DType::uint8, {40}, many)).substr(0, 13),
              "dense<\"0xFF07");
}

TEST(StableHlo, RefusesByName) {
    const Tensor x = ir::input("x", DType::float64, {2, 2});
    EXPECT_THROW((void)stablehlo_text({{"u", ops::svd(x, ops::SvdVectors::all)[0]}}), NotSupported);
    EXPECT_THROW((void)stablehlo_text({}), ValueError);
    EXPECT_THROW((void)stablehlo_text({{"a", x}, {"a", x}}), ValueError);
    EXPECT_THROW((void)stablehlo_text({{"a", x}}, {.inputs = {{"y", ops::reshape(x, {4})}}}),
                 ValueError);
}

}  // namespace
}  // namespace composit::mlir
