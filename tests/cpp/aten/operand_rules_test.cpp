// What PyTorch demands of operands.
#include "composit/aten/operand_rules.h"

#include "composit/base/error.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace composit::aten {
namespace {

using ir::DType;
using Dtypes = std::vector<std::optional<DType>>;

// The error's text of operands in order; empty where they are taken.
std::string refusal(std::string_view function, const Dtypes& dtypes, bool asks_for_dtype = false) {
    const auto dtype_of = [&](size_t place, std::string_view) {
        return place < dtypes.size() ? dtypes[place] : std::nullopt;
    };
    try {
        check_operand_dtypes(function, dtypes, dtype_of, asks_for_dtype);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

TEST(OperandRules, OneDtypeWherePyTorchPromotesNone) {
    EXPECT_EQ(refusal("conv2d", {DType::float64, DType::float32, DType::float32}),
              "Input type (double) and bias type (float) should be the same");
    EXPECT_EQ(refusal("conv2d", {DType::float64, DType::float32}),
              "expected scalar type Double but found Float");
    EXPECT_EQ(refusal("scatter", {DType::float32, {}, DType::int64, DType::float32}), "");
    EXPECT_EQ(refusal("add", {DType::float32, DType::float64}), "");
    EXPECT_THROW(check_operand_dtypes("bmm", {},
                                      [](size_t place, std::string_view) -> std::optional<DType> {
                                          return place == 0 ? DType::float32 : DType::bfloat16;
                                      }),
                 RuntimeError);
}

TEST(OperandRules, ShortFloatsAreStored) {
    const Dtypes stored{DType::float8_e4m3fn, DType::float8_e4m3fn};
    check_stored_floats("mul", stored, false, false);
    EXPECT_THROW(check_stored_floats("mul", stored, false, true), NotSupported);
    EXPECT_THROW(check_stored_floats("add", stored, false, false), NotSupported);
    EXPECT_THROW(check_stored_floats("arange", stored, false, false), NotSupported);
    check_stored_floats("add", {DType::float16}, false, false);
    check_fits(448, DType::float8_e4m3fn);
    check_fits(1e300, DType::float64);
    EXPECT_THROW(check_fits(500, DType::float8_e4m3fn), RuntimeError);
    EXPECT_THROW(check_fits(1e5, DType::float16), RuntimeError);
    const double infinite = std::numeric_limits<double>::infinity();
    check_fits(infinite, DType::float16);
    EXPECT_THROW(check_fits(infinite, DType::float8_e4m3fn), RuntimeError);
}

TEST(OperandRules, ParametersOfNormalisationsMayBeWider) {
    const Dtypes halves{DType::bfloat16, {}, DType::float32, DType::float32};
    EXPECT_EQ(refusal("layer_norm", halves), "");
    EXPECT_EQ(refusal("layer_norm", {DType::float64, {}, DType::float32, DType::float32}),
              "mixed dtype (CPU): all inputs must share same datatype.");
}

TEST(OperandRules, DtypesThatAreComputed) {
    EXPECT_EQ(refusal("gelu", {DType::int64}), "\"gelu\" not implemented for 'Long'");
    EXPECT_EQ(refusal("softmax", {DType::int64}), "\"softmax\" not implemented for 'Long'");
    EXPECT_EQ(refusal("softmax", {DType::int64}, true), "");
    EXPECT_EQ(refusal("hypot", {DType::int64, DType::float32}), "");  // promoted
    EXPECT_EQ(refusal("lt", {DType::complex64}), "\"lt\" not implemented for 'ComplexFloat'");
    EXPECT_EQ(refusal("gather", {DType::float32, {}, DType::int8}),
              "gather(): Expected dtype int32/int64 for index");
}

TEST(OperandRules, OperandsThatMustBeTensors) {
    EXPECT_EQ(tensor_operands("exp", true).first, "input");
    EXPECT_EQ(tensor_operands("linspace", false).first, "");
    EXPECT_EQ(tensor_operands("heaviside", true).second, "values");
    EXPECT_TRUE(tensor_operands("pow", true).takes_number_first);
    EXPECT_FALSE(tensor_operands("pow", true).takes_two_numbers);
    EXPECT_TRUE(tensor_operands("add", true).takes_two_numbers);
}

}  // namespace
}  // namespace composit::aten
