// Differences in words, inputs that are drawn, what a model costs, verdicts about back ends.
#include "composit/base/error.h"
#include "composit/base/snake_case.h"
#include "composit/execute/execute.h"
#include "composit/numpy/elementwise.h"
#include "composit/reports/differences.h"
#include "composit/reports/judged.h"
#include "composit/reports/models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace composit::reports {
namespace {

using ir::DType;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

Array doubles(const std::vector<double>& values) {
    return Array::of(DType::float64, {static_cast<int64_t>(values.size())}, values);
}

TEST(Differences, BitsAndTheFirstOne) {
    EXPECT_TRUE(same_bits(doubles({1, nan}), doubles({1, -nan})));
    EXPECT_FALSE(same_bits(doubles({0.0}), doubles({-0.0})));
    EXPECT_EQ(first_difference(doubles({0.0}), doubles({-0.0})), "a zero has the other sign");
    EXPECT_EQ(first_difference(doubles({1, 2, 3}), doubles({1, 2.5, nan})),
              "np.float64(2.5) instead of np.float64(2.0) at (1,), 2 of 3 elements differ");
    const Array largest = Array::of<uint64_t>(DType::uint64, {}, {~uint64_t{0}});
    const Array zero = Array::of<uint64_t>(DType::uint64, {}, {0});
    EXPECT_EQ(first_difference(largest, zero),
              "np.uint64(0) instead of np.uint64(18446744073709551615) at (), 1 of 1 elements "
              "differ");
    EXPECT_EQ(first_difference(doubles({1}), doubles({})), "shape (0,) instead of (1,)");
    EXPECT_EQ(first_difference(doubles({1}), Array::of<int64_t>(DType::int64, {1}, {1})),
              "dtype int64 instead of float64");
}

TEST(Differences, Distances) {
    const Distance apart = distance(doubles({1, nan, -9}), doubles({1.5, nan, -9}));
    EXPECT_EQ(apart.largest, 0.5);
    EXPECT_EQ(apart.scale, 9);
    EXPECT_EQ(distance(doubles({nan}), doubles({1})).largest, infinity);
    EXPECT_EQ(beyond_rounding(doubles({1}), doubles({1 + 1e-9}), 1e-6, "its peer's"), "");
    EXPECT_EQ(beyond_rounding(doubles({1}), doubles({2}), 1e-6, "its peer's"),
              "differs from its peer's by 1 where values are up to 2");
    EXPECT_EQ(compared("y", doubles({1}), doubles({2}), "Peer").apart, 0.5);
    EXPECT_EQ(compared("y", doubles({1}), doubles({}), "Peer").line,
              "y: float64 (1,), Peer's float64 (0,)");
    EXPECT_THROW((void)distance(doubles({1}), doubles({})), ValueError);

    const int64_t large = int64_t{1} << 62;
    const Array one = Array::of<int64_t>(DType::int64, {}, {large});
    const Array next = Array::of<int64_t>(DType::int64, {}, {large + 1});
    const Array highest = Array::of<uint64_t>(DType::uint64, {}, {~uint64_t{0}});
    EXPECT_EQ(distance(one, next).largest, 1);
    EXPECT_EQ(distance(highest, Array::of<int64_t>(DType::int64, {}, {-1})).largest, 0x1p64);
    EXPECT_EQ(compared("y", one, next, "Peer").line,
              "y: largest difference 1, largest value 4.61e+18");
    EXPECT_GT(compared("y", one, next, "Peer").apart, 0);
}

TEST(Models, InputsAndCosts) {
    const std::vector<OpenInput> inputs{
        {"x", DType::float32, {{std::nullopt, 3}}, "float32 (batch, 3)"},
        {"n", DType::int64, {}, "int64"},
        {"words", {}, {}, "a sequence"}};
    const auto shapes = shapes_from({"x=2,3", "n="}, inputs);
    EXPECT_EQ(shapes.at("x"), (Shape{2, 3}));
    EXPECT_EQ(shapes.at("n"), Shape{});
    for (const char* same : {"x=2, 3", "x=+2,3", "x= 2 ,3,", "x=0_2,3"})
        EXPECT_EQ(shapes_from({same}, inputs).at("x"), (Shape{2, 3})) << same;
    for (const char* wrong : {"y=1", "x=1,b", "x=-1", "x", "x=2,,3", "x=,2", "x=,", "x=2_,3",
                              "x=_2", "x=2__0", "x=+", "x=+-2", "x=2 3", "x= "})
        EXPECT_THROW((void)shapes_from({wrong}, inputs), ValueError) << wrong;
    const auto drawn = drawn_inputs({inputs[0], inputs[1]}, {{"n", {4}}}, 0);
    EXPECT_EQ(drawn[0].shape(), (Shape{1, 3}));
    EXPECT_EQ(drawn[0].data_as<float>()[0], 0.12573022F);  // of NumPy's default_rng(0)
    EXPECT_EQ(drawn[1].shape(), (Shape{4}));
    EXPECT_THROW((void)drawn_inputs({inputs[1]}, {}, 0), ValueError);
    EXPECT_THROW((void)drawn_inputs({inputs[2]}, {}, 0), ValueError);

    const ir::Tensor x = ir::input("x", DType::float32, {2, 3});
    const execute::Compiled program("f", {x}, {numpy::apply("exp", {x})}, {});
    const std::string text =
        text_about({"f: opset 17", {{"x", "float32 (2, 3)"}}, {}, {"Relu", "Exp", "Exp"}, 1234},
                   {{"x", {2, 3}}}, program.program());
    EXPECT_NE(text.find("f: opset 17\n  input     x: float32 (2, 3)\n  operators Exp 2, Relu 1\n"
                        "  weights   1,234 numbers\n  kernels   1\n"),
              std::string::npos)
        << text;
}

TEST(Judged, ValuesAndVerdicts) {
    for (const DType dtype : judged_dtypes()) {
        EXPECT_EQ(judged_values(dtype, {3, 29}).dtype(), dtype);
        if (dtype != DType::boolean) EXPECT_EQ(finite_values(dtype, {4}).size(), 4);
    }
    const Array values = judged_values(DType::float32, {20});
    EXPECT_TRUE(std::signbit(values.data_as<float>()[1]));
    EXPECT_TRUE(std::isnan(values.data_as<float>()[4]));
    EXPECT_TRUE(is_judged_in(*ir::scalar::row("exp"), DType::float32));
    EXPECT_FALSE(is_judged_in(*ir::scalar::row("bitwise_and"), DType::float32));
    EXPECT_EQ(judged_operand(*ir::scalar::row("where"), 0, DType::int8), DType::boolean);
    EXPECT_EQ(verdict({{"rows", "exp"},
                       {"rows", "sin", {{"k", "no Maps"}, {"l", "no Maps"}}, "it differs"},
                       {"layout", "pad", {}, "", "none here"}},
                      "mine"),
              "group            cases   equal  refused   wrong  undefined\n"
              "rows                 2       1        1       1          0\n"
              "layout               1       0        0       0          1\n"
              "mine: sin: it differs\n"
              "interpreter: pad: none here\n"
              "refused, and left to the interpreter: no Maps");
}

TEST(SnakeCase, Words) {
    EXPECT_EQ(snake_case("LinearSVC"), "linear_svc");
    EXPECT_EQ(snake_case("KMeans"), "k_means");
    EXPECT_EQ(snake_case("SVCModel"), "svc_model");
}

}  // namespace
}  // namespace composit::reports
