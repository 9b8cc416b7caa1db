// Variables' values, gradients and errors.
#include "composit/eager/variable.h"

#include "../numpy/values.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;
using numpy::expect_values;

Array three(double a, double b, double c) {
    return Array::of<double>(DType::float64, {3}, {a, b, c});
}

Variable sum_of_squares(const Variable& x) {
    return apply([](const Tensor& x) { return numpy::sum(x * x); }, x);
}

TEST(Variable, gradients_add_up_until_they_are_forgotten) {
    const Variable x = Variable::parameter(three(1, 2, 3));
    EXPECT_FALSE(x.gradient());
    sum_of_squares(x).backward();
    expect_values<double>(*x.gradient(), {3}, {2, 4, 6});
    sum_of_squares(x).backward();
    expect_values<double>(*x.gradient(), {3}, {4, 8, 12});
    x.forget_gradient();
    EXPECT_FALSE(x.gradient());
}

TEST(Variable, gradients_are_of_what_was_there_when_it_was_used) {
    const Variable x = Variable::parameter(three(1, 2, 3));
    const Variable before = sum_of_squares(x);
    x.assign(three(10, 20, 30));
    const Variable both =
        apply([](const Tensor& a, const Tensor& b) { return a + b; }, before, sum_of_squares(x));
    both.backward();
    expect_values<double>(*x.gradient(), {3}, {22, 44, 66});
    EXPECT_EQ(*both.value().data_as<double>(), 1414);
}

TEST(Variable, a_step_changes_parameters_that_have_gradients) {
    const Variable x = Variable::parameter(three(1, 2, 3)), y = Variable::parameter(three(1, 1, 1));
    sum_of_squares(x).backward();
    update({x, y}, nn::sgd_optimizer(0.25));
    expect_values<double>(x.tensor(), {3}, {0.5, 1, 1.5});
    expect_values<double>(y.tensor(), {3}, {1, 1, 1});
}

TEST(Variable, a_value_that_nothing_goes_back_through_lets_go_of_its_graph) {
    const Variable x(three(1, 2, 3));
    const Variable y = sum_of_squares(x);
    EXPECT_EQ(*y.value().data_as<double>(), 14);
    EXPECT_TRUE(y.tensor().node().operands().empty());
}

TEST(Variable, what_cannot_be_done_says_why) {
    const Variable x(three(1, 2, 3)), w = Variable::parameter(three(1, 2, 3));
    expect_error<ValueError>([&] { sum_of_squares(x).backward(); },
                             "backward: the variable was made from no parameter");
    expect_error<ValueError>([&] { apply([](const Tensor& w) { return w * w; }, w).backward(); },
                             "backward: the variable has 3 elements. One is required.");
    expect_error<ValueError>([&] { static_cast<void>(x.gradient()); }, "gradient: this is no");
    expect_error<ValueError>([&] { w.assign(Array::of<double>(DType::float64, {2}, {1, 2})); },
                             "assign: float64");
}

}  // namespace
}  // namespace composit::eager
