// The history is bounded, and errors of values are found when something is made.
#include "composit/eager/history.h"

#include "../numpy/values.h"
#include "composit/eager/cell.h"
#include "composit/eager/failing.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operators.h"
#include "composit/numpy/reductions.h"
#include "composit/ops/forgotten.h"
#include "composit/ops/ops.h"
#include "composit/transforms/transforms.h"

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;

Tensor line(std::vector<double> values) {
    const auto count = static_cast<int64_t>(values.size());
    return numpy::asarray(Array::of<double>(DType::float64, {count}, values));
}
double first_of(const Tensor& tensor) { return *look({tensor})[0].data_as<double>(); }
Tensor gradient(const Tensor& loss, const Tensor& of) {
    return transforms::vjp({loss}, {ir::constant(Array::scalar(DType::float64, 1))}, {of})[0];
}

class History : public testing::Test {
  protected:
    void SetUp() override { set_most_history_nodes(100); }
    void TearDown() override { set_most_history_nodes(100'000); }
};

TEST_F(History, gives_up_its_oldest_part) {
    const Tensor start = line({1, 2}), weight = line({3, 4});
    const Ref<Cell> x = Cell::make(start);
    for (int i = 0; i < 500; ++i) {
        x->replace(x->tensor() * 0.5 + 1);
        look({x->tensor()});
        shorten_history();
    }
    EXPECT_LE(history_nodes(), 125);
    EXPECT_EQ(first_of(x->tensor()), 2);
    const Tensor loss = numpy::sum(x->tensor() * weight);
    EXPECT_EQ(first_of(gradient(loss, weight)), 2);
    expect_error<ValueError>([&] { gradient(loss, start); }, "the history had more than 100 nodes");
}

TEST_F(History, of_what_others_hold_stays) {
    const Tensor start = line({1, 2}), middle = start * 2;  // held by no cell
    const Ref<Cell> x = Cell::make(middle);
    look({middle});
    for (int i = 0; i < 500; ++i) {
        x->replace(x->tensor() * 0.5 + 1);
        look({x->tensor()});
        shorten_history();
    }
    expect_error<ValueError>([&] { gradient(numpy::sum(x->tensor()), middle); }, "given up");
    EXPECT_EQ(first_of(gradient(numpy::sum(middle), start)), 2);
}

TEST_F(History, of_views_follows_their_roots) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}));
    const Ref<Cell> view = Cell::make_view(ops::slice(x->tensor(), {1}, {2}, {1}), x);
    for (int i = 0; i < 300; ++i) {
        view->replace(view->tensor() * 0.5);
        x->replace(x->tensor() + 1);
        look({x->tensor()});
        shorten_history();
    }
    EXPECT_EQ(view->tensor().node().operand(0), x->tensor());
    EXPECT_EQ(first_of(view->tensor()), 2);
    EXPECT_EQ(first_of(x->tensor()), 301);
}

TEST_F(History, of_views_that_were_looked_at_leaves_them_views) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}) * 2), y = Cell::make(line({1}));
    const Ref<Cell> view = Cell::make_view(ops::slice(x->tensor(), {1}, {2}, {1}), x);
    look({view->tensor()});
    for (int i = 0; i < 300; ++i) {
        y->replace(y->tensor() * 0.5);
        look({y->tensor()});
        shorten_history();
    }
    view->replace(line({7, 9}));
    EXPECT_EQ(look({x->tensor()})[0].data_as<double>()[1], 7);
    x->replace(x->tensor() + 1);
    EXPECT_EQ(first_of(view->tensor()), 8);
}

TEST_F(History, that_was_given_up_stays_for_who_looks_later) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}) * 2), y = Cell::make(line({1}));
    look({x->tensor()});
    for (int i = 0; i < 300; ++i) {
        y->replace(y->tensor() * 0.5);
        look({y->tensor()});
        shorten_history();
    }
    const Ref<Cell> later = Cell::make(x->tensor() + 1);
    Cell::make_view(ops::slice(x->tensor(), {0}, {2}, {1}), x)->replace(line({7, 9}));
    EXPECT_EQ(first_of(later->tensor()), 3);
    EXPECT_EQ(first_of(x->tensor()), 7);
}

TEST(Forgotten, is_its_value) {
    const Tensor x = line({1, 2});
    const Tensor leaf = ops::forgotten({x}, look({x * 3})[0], 7);
    EXPECT_EQ(first_of(leaf + 1), 4);
    EXPECT_EQ(execute::evaluate({leaf})[0].data_as<double>()[1], 6);
    expect_error<ValueError>([&] { gradient(numpy::sum(leaf), x); }, "more than 7 nodes");
    const Tensor changed(ir::with_operands(leaf.node(), {line({5, 6})}), 0);
    expect_error<ValueError>([&] { execute::evaluate({changed}); }, "given up");
}

TEST(Failing, indices_are_looked_at_and_nothing_else) {
    const Tensor seven = numpy::asarray(Array::of<int64_t>(DType::int64, {1}, {7})) + 0;
    const Tensor wrong = numpy::get_item(line({1, 2}), {seven});
    EXPECT_TRUE(wrong.node().may_fail());
    expect_error<IndexError>([&] { check_values(wrong + 1); },
                             "index 7 is out of bounds for axis 0 with size 2");
    const Tensor right = numpy::get_item(line({1, 2}), {seven - 6}), after = right * 2;
    check_values(after);
    EXPECT_FALSE(right.node().may_fail() || after.node().may_fail());
    EXPECT_FALSE(right.node().has_kept());
    EXPECT_FALSE((after + right).node().may_fail());
    const Tensor one = numpy::asarray(Array::of<int64_t>(DType::int64, {1}, {1}));
    EXPECT_FALSE(numpy::get_item(line({1, 2}), {one}).node().may_fail());  // checked when made
}

TEST(Failing, what_depends_on_a_placeholder_is_left_alone) {
    const Tensor p = ir::input("p", DType::int64, {1});
    check_values(numpy::get_item(line({1, 2}), {p}));
}

}  // namespace
}  // namespace composit::eager
