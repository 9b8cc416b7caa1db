// Numbers among operands, and derivatives by integers.
#include "composit/cg/numbers.h"

#include "../numpy/values.h"
#include "composit/base/error.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"

#include <gtest/gtest.h>

namespace composit::cg {
namespace {

using ir::DType;
using numpy::array;
using numpy::values;

Tensor product(const Tensors& x) { return x[0] * x[1]; }
Tensor element(const Tensors& x) { return numpy::take(x[0], x[1]); }

TEST(Numbers, TakeTheDtypeOfTheOthers) {
    const Tensor x = array(std::vector<float>{1, 2}), n = numpy::full({}, 3.0);
    const Applied made = applied_to_numbers(product, {x, n}, {false, true});
    EXPECT_EQ(made.made.dtype(), DType::float32);
    EXPECT_EQ(applied_to_numbers(product, {x, n}, {false, false}).made.dtype(), DType::float64);
    // An index stays an integer.
    const Tensor i = numpy::full({}, 1);
    EXPECT_EQ(applied_to_numbers(element, {x, i}, {false, true}).operands[1].dtype(), DType::int64);
}

TEST(Numbers, IntegersHaveDerivatives) {
    const Tensor n = numpy::full({}, 2), x = numpy::full({}, 3.0);
    EXPECT_EQ(values<double>(jacobian_at(product, {n, x}, 0, "f", "n")), (std::vector<double>{3}));
    const Tensor line = array(std::vector<double>{1, 2, 4});
    const Tensors taken = as_numbers(element, {line, n});
    EXPECT_EQ(taken[1].dtype(), DType::int64);
    EXPECT_THROW((void)jacobian_at(element, {line, n}, 1, "f", "n"), TypeError);
}

TEST(Numbers, WhatIsReached) {
    const Tensor a = numpy::ones({2}), b = numpy::ones({2}), sum = a + 1.0;
    EXPECT_EQ(are_reached({sum * 2.0}, {a, b, sum}), (std::vector<bool>{false, false, true}));
    EXPECT_EQ(are_reached({sum * 2.0}, {a, b}), (std::vector<bool>{true, false}));
    EXPECT_FALSE(apart_from({a, b}, {false, true})[0] == a);
    EXPECT_TRUE(apart_from({a, b}, {false, true})[1] == b);
}

}  // namespace
}  // namespace composit::cg
