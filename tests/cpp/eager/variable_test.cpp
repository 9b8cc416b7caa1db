// Variables' values, gradients and errors.
#include "composit/eager/variable.h"

#include "../numpy/values.h"
#include "composit/eager/operators.h"
#include "composit/ir/body.h"
#include "composit/numpy/indexing.h"
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

TEST(Variable, no_gradient_goes_through_a_gradient) {
    const Variable x = Variable::parameter(three(1, 2, 3));
    sum_of_squares(x).backward();
    const Variable step(*x.gradient());
    x.forget_gradient();
    apply([](const Tensor& a, const Tensor& b) { return numpy::sum(a + b); }, step, x).backward();
    expect_values<double>(*x.gradient(), {3}, {1, 1, 1});
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
    expect_error<ValueError>(
        [&] { apply([](const Tensor& w) { return w * w; }, w).backward(); },
        "backward: the variable has 3 elements. One is required, or a gradient");
    expect_error<ValueError>([&] { static_cast<void>(x.gradient()); }, "gradient: this is no");
    expect_error<ValueError>([&] { w.assign(Array::of<double>(DType::float64, {2}, {1, 2})); },
                             "assign: float64[2] for float64[3]. A shape that broadcasts");
    expect_error<ValueError>([&] { static_cast<void>(x.number()); }, "number: the variable is");
}

std::vector<double> values_of(const Variable& x) {
    const Array array = x.value();
    return {array.data_as<double>(), array.data_as<double>() + array.size()};
}
using Values = std::vector<double>;
using numpy::Slice;

TEST(Variable, programs_write_elements_and_look) {
    const Variable a(Array::of<double>(DType::float64, {6}, {5, 2, 6, 1, 4, 3}));
    for (int64_t i = 0; i < 6; ++i)
        for (int64_t j = 0; j < 5 - i; ++j)
            if (a.at({j}).number() > a.at({j + 1}).number()) swap(a.at({j}), a.at({j + 1}));
    EXPECT_EQ(values_of(a), (Values{1, 2, 3, 4, 5, 6}));
    const Variable best = made(a.at({int64_t{0}}).tensor(), {a});
    a.at({int64_t{0}}).assign(Array::scalar(DType::float64, 9));
    EXPECT_EQ(best.number(), 1);  // what was kept does not change
}

TEST(Variable, views_share_memory) {
    const Variable u(Array::zeros(DType::float64, {3, 4}));
    const Variable inner = u.at({Slice{1, {}, {}}, Slice{0, {}, 2}});
    inner.assign(Array::scalar(DType::int64, 2));
    u.at({int64_t{2}}).assign(apply([](const Tensor& row) { return row + 1; }, u.at({int64_t{1}})));
    EXPECT_EQ(values_of(u), (Values{0, 0, 0, 0, 2, 0, 2, 0, 3, 1, 3, 1}));
    EXPECT_EQ(values_of(inner), (Values{2, 2, 3, 3}));
    const Variable heat(Array::of<double>(DType::float64, {5}, {0, 0, 16, 0, 0}));
    for (int step = 0; step < 2; ++step)
        heat.at({Slice{1, -1, {}}})
            .assign(apply([](const Tensor& a, const Tensor& b) { return (a + b) * 0.5; },
                          heat.at({Slice{0, -2, {}}}), heat.at({Slice{2, {}, {}}})));
    EXPECT_EQ(values_of(heat), (Values{0, 0, 8, 0, 0}));
}

TEST(Variable, gradients_go_through_what_is_written) {
    const Variable w = Variable::parameter(three(1, 2, 3));
    const Variable buffer(Array::zeros(DType::float64, {3}));
    buffer.at({int64_t{1}})
        .assign(apply([](const Tensor& x) { return x * 5; }, w.at({int64_t{0}})));
    buffer.at({int64_t{2}})
        .assign(apply([](const Tensor& x) { return x * x; }, w.at({int64_t{2}})));
    sum_of_squares(buffer).backward();
    expect_values<double>(*w.gradient(), {3}, {50, 0, 108});
}

TEST(Variable, a_parameter_that_is_written_keeps_the_gradient_of_what_was_read) {
    const Variable w = Variable::parameter(three(1, 2, 3));
    const Variable loss = sum_of_squares(w);
    w.at({Slice{0, 2, {}}}).assign(Array::scalar(DType::float64, 7));
    w.detached().assign(apply([](const Tensor& x) { return x * 10; }, w));
    EXPECT_EQ(values_of(w), (Values{70, 70, 30}));
    loss.backward();
    expect_values<double>(*w.gradient(), {3}, {2, 4, 6});
}

TEST(Variable, what_is_detached_has_no_gradient_and_the_same_memory) {
    const Variable w = Variable::parameter(three(1, 2, 3));
    const Variable h = apply([](const Tensor& x) { return x * 3; }, w);
    h.detached().at({int64_t{0}}).assign(Array::scalar(DType::float64, 0));
    const Variable both =
        apply([](const Tensor& a, const Tensor& b) { return numpy::sum(a * b); }, h, h.detached());
    EXPECT_EQ(both.number(), 0 + 36 + 81);
    both.backward();
    expect_values<double>(*w.gradient(), {3}, {0, 18, 27});
}

TEST(Variable, steps_by_hand_do_not_grow) {
    const Variable w = Variable::parameter(three(1, 2, 3));
    for (int step = 0; step < 50; ++step) {
        w.forget_gradient();
        sum_of_squares(w).backward();
        w.assign(Variable(w.tensor() - *w.gradient() * 0.25));
    }
    EXPECT_TRUE(ir::is_constant(w.tensor().node()));
    EXPECT_LT(w.at({int64_t{2}}).number(), 1e-9);
}

TEST(Variable, operators_make_new_ones_and_write_in_place) {
    const Variable w = Variable::parameter(three(1, 2, 3)), a(three(4, 5, 6)), view = a;
    const Variable sum = 2 * w + a - w / 2;
    EXPECT_EQ(values_of(sum), (Values{5.5, 8, 10.5}));
    a += w;
    a.at({Slice{0, 2, {}}}) *= 0.5;
    a.at({int64_t{2}}) -= 1;
    EXPECT_EQ(values_of(view), (Values{2.5, 3.5, 8}));
    EXPECT_EQ(values_of(-sum % 4), (Values{2.5, 0, 1.5}));
    const Array few = (view < 3).value();
    EXPECT_EQ(few.dtype(), DType::boolean);
    EXPECT_EQ(std::vector<bool>(few.data_as<bool>(), few.data_as<bool>() + 3),
              (std::vector<bool>{true, false, false}));
    sum_of_squares(a).backward();
    expect_values<double>(*w.gradient(), {3}, {2.5, 3.5, 16});
}

TEST(Variable, numbers_are_written_and_copies_are_apart) {
    const Variable counts(Array::zeros(DType::int64, {2})), w = Variable::parameter(three(1, 2, 3));
    counts.at({int64_t{1}}).assign(7);
    counts += 1;
    EXPECT_EQ(counts.at({int64_t{1}}).number(), 8);
    EXPECT_EQ(counts.tensor().dtype(), DType::int64);
    const Variable kept = w.copied();
    w.assign(0.5);
    EXPECT_EQ(values_of(w), (Values{0.5, 0.5, 0.5}));
    EXPECT_EQ(values_of(kept), (Values{1, 2, 3}));
    sum_of_squares(kept).backward();
    expect_values<double>(*w.gradient(), {3}, {2, 4, 6});
    w.forget_gradient();
    EXPECT_FALSE(w.detached().copied().is_parameter());
    expect_error<ValueError>([&] { sum_of_squares(w.detached().copied()).backward(); },
                             "backward: the variable was made from no parameter");
}

}  // namespace
}  // namespace composit::eager
