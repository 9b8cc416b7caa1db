// Padding by side, and conversions by rule.
#include "composit/numpy/padding.h"

#include "composit/base/error.h"
#include "composit/numpy/casting.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/reductions.h"
#include "values.h"

#include <gtest/gtest.h>

namespace composit::numpy {
namespace {

using Doubles = std::vector<double>;

TEST(Padding, ByModes) {
    const Tensor x = array(Doubles{1, 2, 4});
    EXPECT_EQ(values<double>(pad(x, {{1, 2}}, "constant", {.values = {{7, 8}}})),
              (Doubles{7, 1, 2, 4, 8, 8}));
    EXPECT_EQ(values<double>(pad(x, {{2, 1}}, "linear_ramp", {.values = {{5, 0}}})),
              (Doubles{5, 3, 1, 2, 4, 0}));
    EXPECT_EQ(values<double>(pad(x, {{1, 1}}, "maximum", {.stat_lengths = {{2, 1}}})),
              (Doubles{2, 1, 2, 4, 4}));
    EXPECT_EQ(values<double>(pad(x, {{1, 1}}, "reflect", {.is_odd = true})),
              (Doubles{0, 1, 2, 4, 6}));
    EXPECT_EQ(values<double>(pad(x, {{1, 0}}, "median")), (Doubles{2, 1, 2, 4}));
    EXPECT_THROW((void)pad(x, {{1, 1}}, "minimum", {.stat_lengths = {{0, 1}}}), ValueError);
    EXPECT_THROW((void)pad(x, {{-1, 1}}, "mean", PadOptions{}), ValueError);
    EXPECT_THROW((void)pad(x, {{1, 1}}, "nonsense", PadOptions{}), ValueError);
}

TEST(Casting, ByRule) {
    const Tensor x = array(Doubles{1.5}), n = array(std::vector<int64_t>{2});
    EXPECT_EQ(cast_inputs("matmul", {x, n}, {}, "safe")[1].dtype(), DType::float64);
    EXPECT_THROW((void)cast_inputs("matmul", {x, n}, DType::int64, "same_kind"), TypeError);
    EXPECT_EQ(cast_parts("stack", {x, n}, DType::int64, "unsafe")[0].dtype(), DType::int64);
    EXPECT_THROW((void)cast_parts("stack", {x, n}, DType::float32, "safe"), TypeError);
    EXPECT_THROW((void)cast_parts("stack", {x, n}, DType::float32, "nonsense"), ValueError);
}

TEST(Averages, WithTheSumsOfWeights) {
    const Tensor x = array(Doubles{1, 2, 3, 6}, {2, 2});
    const AverageAndWeights made = average_and_weights(x, 1, array(Doubles{1, 3}));
    EXPECT_EQ(values<double>(made.average), (Doubles{1.75, 5.25}));
    EXPECT_EQ(values<double>(made.weights), (Doubles{4, 4}));
    EXPECT_THROW((void)average_and_weights(zeros({0, 2}), 1), ZeroDivisionError);
    EXPECT_EQ(var(x, {}, DType::complex128).dtype(), DType::complex128);
    EXPECT_EQ(sliding_window_view(x, {0}, 1).shape(), (Shape{2, 3, 0}));
    EXPECT_EQ(meshgrid({array(Doubles{1, 2}), array(Doubles{3})}, "xy", true)[0].shape(),
              (Shape{1, 2}));
}

}  // namespace
}  // namespace composit::numpy
