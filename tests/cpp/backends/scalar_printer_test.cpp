// Scalar expressions as C++ text, exactly. What the text computes is tested in tests/python/scalar.
#include "composit/backends/c_family/scalar_printer.h"

#include "composit/base/error.h"
#include "composit/ir/scalar/function.h"

#include <gtest/gtest.h>

#include <limits>

namespace composit::c_family {
namespace {

using namespace ir::scalar;
using enum ir::DType;

std::string literal_of(ir::DType dtype, double value) {
    return literal(dtype, bits_of(dtype, value));
}

std::string printed(const Expr& expr, std::vector<std::string> arguments = {"x", "y"}) {
    TakenNames taken({arguments.begin(), arguments.end()});
    const Statements out = print_statements({expr}, arguments, taken);
    std::string text;
    for (const std::string& line : out.lines) text += line + "\n";
    return text + out.results[0];
}

TEST(ScalarPrinter, LiteralsAreExact) {
    EXPECT_EQ(literal_of(float32, 0.5), "0.5f");
    EXPECT_EQ(literal_of(float32, 0.1), "0.1f");
    EXPECT_EQ(literal_of(float64, 0.1), "0.1");
    EXPECT_EQ(literal_of(float64, -0.0), "-0.0");
    EXPECT_EQ(literal_of(float64, 1e300), "1e+300");
    EXPECT_EQ(literal_of(float32, std::numeric_limits<double>::infinity()), "__builtin_inff()");
    EXPECT_EQ(literal_of(float64, std::numeric_limits<double>::quiet_NaN()), "__builtin_nan(\"\")");
    EXPECT_EQ(literal(float32, {0xffc00001u, 0}), "bits_as<float>(4290772993u)");
    EXPECT_EQ(literal_of(int8, -3), "-3");
    EXPECT_EQ(literal(int32, {0x80000000u, 0}), "(-2147483647 - 1)");
    EXPECT_EQ(literal(uint64, {~uint64_t{0}, 0}), "18446744073709551615ull");
    EXPECT_EQ(literal_of(boolean, 1), "true");
    EXPECT_THROW(literal_of(float16, 1), NotSupported);
    EXPECT_THROW(type_name(complex64), NotSupported);
}

TEST(ScalarPrinter, NamesCollideWithNothing) {
    TakenNames taken({"x"});
    EXPECT_EQ(unique_name("x", taken), "x_2");
    EXPECT_EQ(unique_name("x", taken), "x_3");
    EXPECT_EQ(unique_name("float", taken), "float_1");
    EXPECT_EQ(unique_name("my value!", taken), "my_value_");
    EXPECT_EQ(unique_name("2d", taken), "t2d");
    EXPECT_EQ(unique_name("", taken), "t");
}

TEST(ScalarPrinter, WritesOnlyTheParenthesesThatHelp) {
    const Expr x = Expr::argument(0, float32);
    const Expr y = Expr::argument(1, float32);
    EXPECT_EQ(printed(x * y + 1.0), "x * y + 1.0f");
    EXPECT_EQ(printed((x + y) * 2.0), "(x + y) * 2.0f");
    EXPECT_EQ(printed(x - (y - x)), "x - (y - x)");
    EXPECT_EQ(printed(-(-x)), "-(-x)");
    EXPECT_EQ(printed(select((x < y) & (y < 1), x, y)), "((x < y) & (y < 1.0f)) ? x : y");
    EXPECT_EQ(printed(fma(x, y, 0.5)), "multiply_add(x, y, 0.5f)");
}

TEST(ScalarPrinter, SharedAndNamedPartsAreStatements) {
    const Expr x = Expr::argument(0, float32);
    const Expr root = square_root(x).named("root");
    EXPECT_EQ(printed(root * root + (x + 1.0) * (x + 1.0)),
              "const float root = square_root(x);\n"
              "root * root + (x + 1.0f) * (x + 1.0f)");
}

TEST(ScalarPrinter, IntegersWrapThroughUnsignedTypes) {
    const Expr n = Expr::argument(0, int32);
    EXPECT_EQ(printed(n + 1), "int32_t(uint32_t(x) + 1u)");
    EXPECT_EQ(printed(-n), "int32_t(0u - uint32_t(x))");
    EXPECT_EQ(printed(n << 3), "int32_t(uint32_t(x) << 3)");
    const Expr byte = Expr::argument(0, uint8);
    EXPECT_EQ(printed(byte * byte), "uint8_t(uint32_t(x) * uint32_t(x))");
    const Expr word = Expr::argument(0, uint64);
    EXPECT_EQ(printed(word * word), "x * x");
}

TEST(ScalarPrinter, OneOperationRowsArePrintedInPlaceAndOthersCalled) {
    const Expr x = Expr::argument(0, float32);
    const Expr sum = Expr::call(row("add"), {Expr::call(row("exp"), {x}), x});
    EXPECT_EQ(printed(sum), "exp_float32(x) + x");
    const auto used = functions_used({sum});
    ASSERT_EQ(used.size(), 1u);
    EXPECT_EQ(used[0]->symbol, "exp_float32");
    EXPECT_EQ(print_function(specialise(row("relu"), {float32})),
              "// relu: x where x > 0, else +0; NaN stays\n"
              "static inline __attribute__((always_inline, const)) float relu_float32(float x) {\n"
              "    return x <= 0.0f ? 0.0f : x;\n"
              "}\n");
}

TEST(ScalarPrinter, TablesArePrintedOnce) {
    const auto table = std::make_shared<const std::vector<Bits>>(
        std::vector<Bits>{bits_of(float64, 0.5), bits_of(float64, -1)});
    const Expr n = Expr::argument(0, int32);
    const Expr entry = Expr::lookup(table, float64, n & Expr::constant_integer(int32, 1));
    const std::string tables = print_tables({entry, entry * 2.0});
    EXPECT_EQ(tables.find("static const double table_"), 0u);
    EXPECT_EQ(tables.rfind("static const double table_"), 0u);
    EXPECT_NE(tables.find("[2] = {\n    0.5, -1.0,\n};\n"), std::string::npos) << tables;
    EXPECT_NE(printed(entry).find("[x & 1]"), std::string::npos);
}

}  // namespace
}  // namespace composit::c_family
