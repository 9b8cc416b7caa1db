// Rows by name, dtype=, clip, divmod and the C++ operators.
#include "composit/numpy/elementwise.h"

#include "composit/numpy/functions.h"
#include "composit/numpy/operators.h"
#include "values.h"

#include <fstream>
#include <iterator>

namespace composit::numpy {
namespace {

TEST(elementwise, literals_are_weak) {
    const Tensor x = array<float>({1, 2});
    expect_values<float>(x + 1.5, {2}, {2.5f, 3.5f});
    expect_values<float>(1 - x, {2}, {0, -1});
    expect_values<double>(array<int>({1, 2}) / 2, {2}, {0.5, 1});
    expect_values<int64_t>(array<bool>({true, false}) + 1, {2}, {2, 1});
    expect_values<int8_t>(array<int8_t>({5, 7}) % 4, {2}, {1, 3});
    expect_error<OverflowError>([] { (void)(array<uint8_t>({1}) + 300); },
                                "Python integer 300 out of bounds for uint8");
}

TEST(elementwise, operators) {
    const Tensor x = array<double>({1, -2}), y = array<double>({2, -2});
    expect_values<bool>(x < y, {2}, {true, false});
    expect_values<bool>(x >= -2.0, {2}, {true, true});
    expect_values<double>(-x, {2}, {-1, 2});
    expect_values<bool>((x < y) | (x < 0), {2}, {true, true});
    expect_values<int64_t>(~array<int64_t>({0, 5}), {2}, {-1, -6});
    expect_values<int32_t>(array<int>({1, 2}) << 3, {2}, {8, 16});
    EXPECT_TRUE(x == x);
    EXPECT_FALSE(x == y);
}

TEST(elementwise, every_row_has_a_function) {
    const Tensor x = array<double>({4, 9});
    expect_values<double>(sqrt(x), {2}, {2, 3});
    expect_values<double>(add(x, 1), {2}, {5, 10});
    expect_values<double>(where(x > 5.0, x, 0), {2}, {0, 9});
    EXPECT_EQ(exp(x).shape(), (Shape{2}));
    expect_error<KeyError>([&] { (void)apply("squirt", {x}); }, "squirt");

    std::ifstream file(COMPOSIT_FUNCTIONS_HEADER);
    const std::string header{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(header.empty());
    for (const auto& row : ir::scalar::all_rows()) {
        // Written by hand: the bounds of clip may be left out, real numbers are their own parts.
        if (row->name == "clip" || row->name == "real" || row->name == "imag") continue;
        std::vector<std::string> names{row->name};
        names.insert(names.end(), row->aliases.begin(), row->aliases.end());
        for (const std::string& name : names) {
            const std::string start = "inline Tensor " + name;  // and_ and bool_ have a tail
            const bool is_there = header.find(start + "(") != std::string::npos ||
                                  header.find(start + "_(") != std::string::npos;
            EXPECT_TRUE(is_there) << name << " is missing in " << COMPOSIT_FUNCTIONS_HEADER;
        }
    }
}

TEST(elementwise, round_to_decimals) {
    expect_values<double>(round(array<double>({0.5, 1.5, -2.5})), {3}, {0, 2, -2});
    expect_values<float>(round(array<float>({1.25f, -0.55f}), 1), {2}, {1.2f, -0.6f});
    expect_values<double>(round(array<double>({1250, -15.5}), -2), {2}, {1200, -0.0});
    expect_values<int8_t>(round(array<int8_t>({15, 25, -15}), -1), {3}, {20, 20, -20});
    expect_values<int8_t>(round(array<int8_t>({15, 25}), 3), {2}, {15, 25});
    expect_error<TypeError>([] { (void)round(array<bool>({true}), 1); },
                            "round: decimals is 1 for dtype bool. 0, or a number's dtype, is "
                            "required.");
}

TEST(elementwise, dtype_argument) {
    expect_values<float>(apply("add", {array<int>({1}), 0.5}, DType::float32), {1}, {1.5f});
    expect_error<TypeError>([] { (void)apply("add", {array<double>({1}), 1}, DType::int64); },
                            "Cannot cast ufunc 'add' input 0 from dtype('float64') to "
                            "dtype('int64') with casting rule 'same_kind'");
}

TEST(elementwise, clip_with_and_without_bounds) {
    const Tensor x = array<double>({-3, 0, 3});
    expect_values<double>(clip(x, -1, 2), {3}, {-1, 0, 2});
    expect_values<double>(clip(x, Operand(), 2), {3}, {-3, 0, 2});
    expect_values<double>(clip(x, -1, Operand()), {3}, {-1, 0, 3});
    expect_values<double>(clip(x, Operand(), Operand()), {3}, {-3, 0, 3});
    expect_values<uint8_t>(clip(array<uint8_t>({1, 200}), 3, Operand()), {2}, {3, 200});
    expect_values<int8_t>(clip(array<int8_t>({-128, 5}), Operand(), 3), {2}, {-128, 3});
}

TEST(elementwise, divmod_floors) {
    const auto both = divmod(array<int64_t>({7, -7}), 3);
    expect_values<int64_t>(both[0], {2}, {2, -3});
    expect_values<int64_t>(both[1], {2}, {1, 2});
}

TEST(elementwise, frexp_and_modf_take_floats_apart) {
    const double infinity = std::numeric_limits<double>::infinity();
    const Tensor x = array<double>({0, -6, 0x1p-1074, infinity});
    expect_values<double>(frexp(x)[0], {4}, {0, -0.75, 0.5, infinity});
    expect_values<int32_t>(frexp(x)[1], {4}, {0, 3, -1073, 0});
    const Tensor y = array<double>({2.5, -2.5, -infinity});
    expect_values<double>(modf(y)[0], {3}, {0.5, -0.5, -0.0});
    expect_values<double>(modf(y)[1], {3}, {2, -2, -infinity});
}

TEST(elementwise, gcd_and_lcm_of_integers) {
    const Tensor x = array<int64_t>({0, 12, -8, INT64_MIN});
    expect_values<int64_t>(apply("gcd", {x, 0}), {4}, {0, 12, 8, INT64_MIN});
    expect_values<int64_t>(apply("lcm", {x, 18}), {4}, {0, 36, 72, INT64_MIN});
    EXPECT_THROW((void)apply("gcd", {array<double>({1}), 2}), TypeError);
}

}  // namespace
}  // namespace composit::numpy
