// Folds of elementwise functions: as NumPy's ufuncs' methods do them.
#include "composit/functional/folds.h"

#include "../numpy/values.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/elementwise.h"

#include <gtest/gtest.h>

#include <vector>

namespace composit::folds {
namespace {

using numpy::values;
using Doubles = std::vector<double>;
using Integers = std::vector<int64_t>;

RowRef row(const char* name) { return ir::scalar::row(name); }
Tensor doubles(const Doubles& x) { return numpy::array(x); }
Tensor integers(const Integers& x) { return numpy::array(x); }

TEST(Folds, ReduceInOrder) {
    EXPECT_EQ(values<double>(reduce(row("subtract"), doubles({9, 4, 1}))), (Doubles{4}));
    Doubles many(40, 1);
    many[0] = 100;  // longer than what is unrolled
    EXPECT_EQ(values<double>(reduce(row("subtract"), doubles(many))), (Doubles{61}));
    EXPECT_EQ(values<double>(reduce(row("fmax"), doubles({1, 7, 3, 2, 5}))), (Doubles{7}));
    EXPECT_EQ(values<int64_t>(reduce(row("gcd"), integers({12, 18, 30}))), (Integers{6}));
    EXPECT_EQ(reduce(row("fmin"), numpy::ones({2, 3}), {}, {.keepdims = true}).shape(),
              (ir::Shape{1, 1}));
}

TEST(Folds, BeginWithAValueOrAnIdentity) {
    EXPECT_EQ(values<double>(reduce(row("subtract"), doubles({1, 2}), 0, {.initial = 10.0})),
              (Doubles{7}));
    EXPECT_EQ(values<double>(reduce(row("hypot"), doubles({}))), (Doubles{0}));
    EXPECT_EQ(values<double>(reduce(row("add"), doubles({}))), (Doubles{0}));
    EXPECT_THROW((void)reduce(row("add"), doubles({}), 0, {.initial = Operand()}), ValueError);
    EXPECT_THROW((void)reduce(row("fmax"), doubles({})), ValueError);
    EXPECT_THROW((void)reduce(row("subtract"), numpy::ones({2, 2}), {}), ValueError);
}

TEST(Folds, OfWhatAMaskChooses) {
    const Tensor mask = numpy::apply("greater", {doubles({1, -1, 1}), 0.0});
    EXPECT_EQ(values<double>(reduce(row("hypot"), doubles({3, 7, 4}), 0, {.where = mask})),
              (Doubles{5}));
    EXPECT_EQ(
        values<double>(reduce(row("fmax"), doubles({3, 7, 4}), 0, {.initial = 0.0, .where = mask})),
        (Doubles{4}));
    EXPECT_THROW((void)reduce(row("fmax"), doubles({3, 7, 4}), 0, {.where = mask}), ValueError);
}

TEST(Folds, Accumulate) {
    EXPECT_EQ(values<double>(accumulate(row("subtract"), doubles({9, 4, 1}))), (Doubles{9, 5, 4}));
    EXPECT_EQ(values<double>(accumulate(row("fmax"), doubles({1, 3, 2, 5, 4}))),
              (Doubles{1, 3, 3, 5, 5}));
    EXPECT_EQ(values<double>(accumulate(row("subtract"), doubles(Doubles(20, 1)))).back(), -18);
    EXPECT_THROW((void)accumulate(row("add"), numpy::zeros({})), TypeError);
}

TEST(Folds, ReduceParts) {
    EXPECT_EQ(values<double>(reduceat(row("add"), doubles({1, 2, 3, 4}), integers({0, 2, 1}))),
              (Doubles{3, 3, 9}));
    EXPECT_EQ(values<double>(reduceat(row("subtract"), doubles({9, 2, 3}), integers({0, 2}))),
              (Doubles{7, 3}));
    EXPECT_THROW((void)reduceat(row("add"), doubles({1}), integers({1})), IndexError);
    EXPECT_THROW((void)reduceat(row("add"), doubles({1}), doubles({0})), TypeError);
}

TEST(Folds, AtPositionsThatAreMetAgain) {
    const Tensor x = doubles({1, 2, 3});
    EXPECT_EQ(values<double>(at(row("multiply"), x, {integers({0, 2, 0})}, {doubles({2, 5, 3})})),
              (Doubles{6, 2, 15}));
    EXPECT_EQ(values<double>(at(row("negative"), x, {integers({1, 1, 1})}, {})),
              (Doubles{1, -2, 3}));
    EXPECT_THROW((void)at(row("add"), x, {0}, {}), ValueError);
}

}  // namespace
}  // namespace composit::folds
