// StableHLO in from C++: calls, programs, names, and errors with their place.
#include "composit/mlir/loaded_module.h"

#include "composit/base/error.h"
#include "composit/mlir/stablehlo.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

namespace composit::mlir {
namespace {

using ir::Array;
using ir::DType;
using ir::Tensor;

TEST(LoadedModule, GivesWhatWasWritten) {
    const Tensor x = ir::input("x", DType::float32, {2, 3});
    const Tensor y = ops::map("log2", {ops::reduce(ops::Combiner::sum, x, {1})});
    const LoadedModule module = load_text(stablehlo_text({{"bits", y}}, {.name = "sums"}));
    EXPECT_EQ(module.name(), "sums");
    EXPECT_EQ(module.main().inputs[0].name, "x");
    EXPECT_EQ(module.main().outputs[0].name, "bits");
    const Tensor values =
        ir::constant(Array::of<float>(DType::float32, {2, 3}, {1, 2, 1, 3, 4, 9}));
    const Array made = execute::evaluate(module({values}))[0];
    EXPECT_EQ(made.data_as<float>()[0], 2);
    EXPECT_EQ(made.data_as<float>()[1], 4);
    const execute::Compiled program = module.compile();
    EXPECT_EQ(program({ir::constant_value(values.node())})[0].data_as<float>()[1], 4);
    EXPECT_THROW((void)module({}), TypeError);
    EXPECT_THROW((void)module({ir::input("x", DType::float32, {3, 2})}), ValueError);
    EXPECT_THROW((void)module({ir::input("x", DType::float64, {2, 3})}), TypeError);
    EXPECT_THROW((void)module.call("other", {}), KeyError);
}

std::string error_of(const std::string& body) {
    const std::string text = "module {\n  func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n" +
                             body + "    return %x : tensor<3xf32>\n  }\n}\n";
    try {
        const LoadedModule module = load_text(text);
        (void)module({ir::input("x", DType::float32, {3})});
        return "";
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(LoadedModule, ErrorsHaveTheirPlace) {
    EXPECT_EQ(error_of(""), "");
    EXPECT_EQ(error_of("    %0 = stablehlo.add %x, %y : tensor<3xf32>\n"),
              "mlir.load: line 3, column 28: the value %y is not known here. A value that is "
              "defined before is required.");
    EXPECT_EQ(error_of("    %0 = stablehlo.ad %x, %x : tensor<3xf32>\n").substr(0, 74),
              "mlir.load: line 3, column 10: the operation stablehlo.ad is not read here.");
    EXPECT_EQ(error_of("    %0 = stablehlo.reshape %x : (tensor<3xf32>) -> tensor<4xf32>\n"),
              "mlir.load: line 3, column 10: stablehlo.reshape: the operand is float32[3], the "
              "result tensor<4xf32>. As many elements are required.");
    EXPECT_EQ(error_of("    %0 = stablehlo.sine %x : (tensor<4xf32>) -> tensor<4xf32>\n"),
              "mlir.load: line 3, column 10: stablehlo.sine: operand 0 is tensor<3xf32>, and "
              "tensor<4xf32> is written. Equal types are required.");
    // An open length is that of the call.
    EXPECT_EQ(error_of("    %0 = stablehlo.sine %x : tensor<?xf32>\n"), "");
    EXPECT_EQ(error_of("    %0 = stablehlo.sine %x : tensor<?x?xf32>\n").substr(0, 63),
              "mlir.load: line 3, column 10: stablehlo.sine: it gives tensor<3");
    EXPECT_EQ(error_of("    %0 = stablehlo.iota dim = 0 : tensor<99999999999x99999999999xf32>\n")
                  .substr(0, 49),
              "mlir.load: line 3, column 42: a tensor has more t");
    EXPECT_THROW((void)load("there/is/no.mlir"), FileNotFound);
    EXPECT_THROW((void)load_text(""), ValueError);
}

TEST(LoadedModule, NeedsNoMain) {
    const std::string one =
        "func.func @a(%x: tensor<f32>) -> tensor<f32> {\n  return %x : tensor<f32>\n}\n";
    std::string other = one;
    other.replace(other.find("@a"), 2, "@b");
    EXPECT_TRUE(load_text(one).has_main());
    const LoadedModule module = load_text(one + other);
    EXPECT_FALSE(module.has_main());
    EXPECT_THROW((void)module.main(), ValueError);
    EXPECT_EQ(module.call("b", {ir::input("x", DType::float32, {})}).size(), 1);
}

TEST(LoadedModule, RefusesFunctionsThatCallThemselves) {
    const LoadedModule module = load_text(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = call @main(%x) : (tensor<f32>) -> tensor<f32>\n  return %0 : tensor<f32>\n}\n");
    EXPECT_THROW((void)module({ir::input("x", DType::float32, {})}), ValueError);
    std::string doubling =
        "func.func @f0(%x: tensor<f32>) -> tensor<f32> {\n"
        "  return %x : tensor<f32>\n}\n";
    for (int k = 1; k < 40; ++k) {
        const std::string inner = "@f" + std::to_string(k - 1);
        doubling += "func.func private @f" + std::to_string(k) +
                    "(%x: tensor<f32>) -> tensor<f32> {\n  %0 = call " + inner +
                    "(%x) : (tensor<f32>) -> tensor<f32>\n  %1 = call " + inner +
                    "(%0) : (tensor<f32>) -> tensor<f32>\n  return %1 : tensor<f32>\n}\n";
    }
    EXPECT_THROW((void)load_text(doubling).call("f39", {ir::input("x", DType::float32, {})}),
                 ValueError);
    EXPECT_THROW((void)load_text(std::string(100000, '[')), ValueError);
    EXPECT_THROW((void)load_text("func.func @f() attributes {a = " + std::string(100000, '[')),
                 ValueError);
}

}  // namespace
}  // namespace composit::mlir
