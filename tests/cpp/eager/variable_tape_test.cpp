// Variables on the tape: what is recorded, freed, saved, written unseen.
#include "../numpy/values.h"
#include "composit/eager/operators.h"
#include "composit/eager/variable.h"
#include "composit/numpy/functions.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/reductions.h"

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;
using numpy::expect_values;
using numpy::Slice;

Array numbers(double a, double b, double c) {
    return Array::of<double>(DType::float64, {3}, {a, b, c});
}
Tensor flow(double a, double b, double c) { return ir::constant(numbers(a, b, c)); }

Variable total(const Variable& x) {
    return apply([](const Tensor& x) { return numpy::sum(x); }, x);
}
Variable times(const Variable& a, const Variable& b) {
    return apply("mul", [](const Tensor& a, const Tensor& b) { return a * b; }, a, b);
}
Variable exponential(const Variable& x) {
    return apply("exp", [](const Tensor& x) { return numpy::exp(x); }, x);
}

const char* const changed =
    "one of the variables needed for gradient computation has been modified by an inplace "
    "operation: [torch.DoubleTensor [3]]";

TEST(VariableTape, nothing_is_recorded_within_no_grad) {
    const Variable w = Variable::parameter(numbers(1, 2, 3));
    EXPECT_TRUE(w.is_leaf());
    EXPECT_FALSE((w * w).is_leaf());
    {
        const NoGrad scope;
        const Variable h = w * w;
        EXPECT_TRUE(h.is_leaf());
        expect_error<ValueError>([&] { total(h).backward(); }, "backward: the variable was made ");
        const EnableGrad within;
        const Variable both = total(h * w);
        both.backward();
        expect_values<double>(*w.gradient(), {3}, {1, 4, 9});
    }
    EXPECT_TRUE(is_recording());
}

TEST(VariableTape, what_is_written_within_no_grad_gets_values_alone) {
    const Variable w = Variable::parameter(numbers(1, 2, 3));
    const Variable h = w * 2;
    {
        const NoGrad scope;
        h.at({int64_t{0}}).assign(w.at({int64_t{2}}));
        h.at({int64_t{1}}).assign(7);
    }
    expect_values<double>(h.tensor(), {3}, {3, 7, 6});
    total(h * h).backward();
    expect_values<double>(*w.gradient(), {3}, {12, 28, 24});
}

TEST(VariableTape, records_are_freed_unless_they_are_kept) {
    const Variable w = Variable::parameter(numbers(1, 2, 3));
    const Variable h = w * w, loss = total(h);
    loss.backward({}, true);
    loss.backward();
    expect_values<double>(*w.gradient(), {3}, {4, 8, 12});
    expect_error<RuntimeError>([&] { total(h).backward(); },
                               "Trying to backward through the graph a second time.");
    // The graph behind a value goes with its records.
    static_cast<void>(loss.value());
    EXPECT_TRUE(loss.tensor().node().operands().empty());
}

TEST(VariableTape, a_gradient_flows_into_a_result_of_several_elements) {
    const Variable w = Variable::parameter(numbers(1, 2, 3));
    const Variable h = w * w;
    h.backward(flow(1, 10, 100), true);
    expect_values<double>(*w.gradient(), {3}, {2, 40, 600});
    expect_error<ValueError>(
        [&] { h.backward(ir::constant(Array::zeros(DType::float64, {2}))); },
        "chain_rule: the incoming gradient has shape (2,), its output has shape (3,).");
    expect_error<ValueError>([&] { h.backward(); },
                             "backward: the variable has 3 elements. One is required, or a "
                             "gradient of its shape.");
    h.at({Slice{0, 2, {}}}).backward(ir::constant(Array::of<double>(DType::float64, {2}, {1, 1})));
    expect_values<double>(*w.gradient(), {3}, {4, 44, 600});
}

TEST(VariableTape, hooks_see_and_change_the_gradients_of_parameters) {
    const Variable w = Variable::parameter(numbers(1, 2, 3));
    int calls = 0;
    w.register_hook([&](const Tensor& gradient) {
        ++calls;
        return gradient * 10;
    });
    total(w * w).backward();
    expect_values<double>(*w.gradient(), {3}, {20, 40, 60});
    EXPECT_EQ(calls, 1);
    expect_error<ValueError>([&] { (w * w).register_hook([](const Tensor& x) { return x; }); },
                             "register_hook: this is no parameter.");
}

TEST(VariableTape, versions_are_counted_by_memory) {
    const Variable x(numbers(1, 2, 3)), view = x.at({Slice{0, 2, {}}}), data = x.data();
    x += 1;
    view.assign(0.0);
    x.detached().at({int64_t{2}}).assign(5);
    EXPECT_EQ(x.version(), 3);
    EXPECT_EQ(view.version(), 3);
    EXPECT_EQ(x.copied().version(), 0);
    data.at({int64_t{0}}).assign(8);
    EXPECT_EQ(data.version(), 1);
    EXPECT_EQ(x.version(), 3);
    expect_values<double>(x.tensor(), {3}, {8, 0, 5});
}

TEST(VariableTape, a_value_that_pytorchs_operation_saved_must_not_change) {
    const Variable w = Variable::parameter(numbers(1, 2, 3)), x(numbers(4, 5, 6));
    const Variable product = times(w, x);
    x.at({int64_t{0}}).assign(9);
    expect_error<RuntimeError>([&] { total(product).backward(); },
                               text(changed, " is at version 1; expected version 0 instead."));
    const Variable grown = exponential(w);
    grown += 1;
    expect_error<RuntimeError>(
        [&] { total(grown).backward(); },
        text(changed, ", which is output 0 of Exp, is at version 1; expected version 0"));
    // What is not saved may change: a sum's operands, the other factor's where it needs no
    // gradient.
    const Variable fine = times(w, Variable(numbers(1, 1, 1)));
    {
        const NoGrad scope;
        w.assign(0.0);
    }
    total(fine).backward();
    expect_values<double>(*w.gradient(), {3}, {1, 1, 1});
}

TEST(VariableTape, what_was_saved_is_what_data_wrote_there) {
    const Variable w = Variable::parameter(numbers(1, 2, 3)), x(numbers(4, 5, 6));
    const Variable loss = total(times(w, x));
    x.data().assign(7);
    loss.backward();
    expect_values<double>(*w.gradient(), {3}, {7, 7, 7});
    w.forget_gradient();
    const Variable grown = exponential(w);
    grown.data().assign(2.0);
    total(grown).backward();
    expect_values<double>(*w.gradient(), {3}, {2, 2, 2});
}

TEST(VariableTape, functions_without_a_name_keep_what_they_were_given) {
    const Variable w = Variable::parameter(numbers(1, 2, 3)), x(numbers(4, 5, 6));
    const Variable loss = total(w * x);
    x.assign(0.0);
    x.data().assign(1.0);
    loss.backward();
    expect_values<double>(*w.gradient(), {3}, {4, 5, 6});
}

TEST(VariableTape, a_parameter_of_one_element_is_its_own_output) {
    const Variable w = Variable::parameter(Array::scalar(DType::float64, 3));
    w.backward();
    expect_values<double>(*w.gradient(), {}, {1});
    expect_error<ValueError>([&] { w.detached().backward(); }, "backward: the variable was made ");
}

}  // namespace
}  // namespace composit::eager
