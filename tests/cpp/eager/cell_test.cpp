// Cells, their views, and looks that are remembered.
#include "composit/eager/cell.h"

#include "../numpy/values.h"
#include "composit/eager/overwriting.h"
#include "composit/eager/small.h"
#include "composit/execute/execute.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

#include <thread>

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;
using numpy::Slice;

Tensor line(std::vector<double> values) {
    const auto count = static_cast<int64_t>(values.size());
    return numpy::asarray(Array::of<double>(DType::float64, {count}, values));
}
std::vector<double> values_of(const Array& array) {
    return {array.data_as<double>(), array.data_as<double>() + array.size()};
}
std::vector<double> values_of(const Tensor& tensor) { return values_of(look({tensor})[0]); }
using Values = std::vector<double>;

int64_t misses() { return execute::plan_statistics().misses; }

TEST(Cell, views_are_read_and_written_through) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3, 4}));
    const Ref<Cell> odd = Cell::make_view(numpy::get_item(x->tensor(), {Slice{1, {}, 2}}), x);
    x->replace(x->tensor() * 10);
    EXPECT_EQ(values_of(odd->tensor()), (Values{20, 40}));
    odd->replace(line({7, 8}));
    EXPECT_EQ(values_of(x->tensor()), (Values{10, 7, 30, 8}));
    const Ref<Cell> last = Cell::make_view(numpy::get_item(odd->tensor(), {Slice{1, {}, {}}}), odd);
    last->replace(line({9}));
    EXPECT_EQ(values_of(x->tensor()), (Values{10, 7, 30, 9}));
    EXPECT_EQ(last->root(), x.get());
}

TEST(Cell, a_view_that_repeats_elements_is_read_only) {
    const Ref<Cell> x = Cell::make(line({1}));
    const Ref<Cell> wide = Cell::make_view(ops::broadcast_to(x->tensor(), {3}), x);
    expect_error<ValueError>([&] { wide->replace(line({1, 2, 3})); },
                             "assignment destination is read-only");
    EXPECT_EQ(values_of(x->tensor()), Values{1});
}

TEST(Look, is_remembered) {
    const Tensor x = line({1, 2}), y = numpy::apply("exp", {x}), z = y + 1;
    EXPECT_FALSE(y.node().has_kept());
    const Array first = look({y})[0];
    EXPECT_EQ(look({y})[0].data(), first.data());
    EXPECT_EQ(y.node().kept(0).row_major().get(), first.data());
    EXPECT_EQ(values_of(z),
              (Values{first.data_as<double>()[0] + 1, first.data_as<double>()[1] + 1}));
    // The graph is what it was.
    EXPECT_EQ(&z.node().operand(0).node(), &y.node());
    EXPECT_EQ(y.node().operand(0), x);
}

TEST(Look, begins_where_values_are_known) {
    // Each step has the plan of the one before it, however long the history.
    Tensor x = line({1, 2, 3});
    look({x * 0.5 + 1});
    const int64_t before = misses();
    for (int i = 0; i < 100; ++i) {
        x = x * 0.5 + 1;
        look({x});
    }
    EXPECT_EQ(misses(), before);
    EXPECT_EQ(values_of(x), (Values{2, 2, 2}));
}

TEST(Look, computes_what_lives_beside_it) {
    const Ref<Cell> momentum = Cell::make(line({0})), x = Cell::make(line({1}));
    for (int i = 0; i < 20; ++i) {
        momentum->replace(momentum->tensor() * 0.5 + 1);
        x->replace(x->tensor() * 0.5);
        look({x->tensor()});
        EXPECT_TRUE(momentum->tensor().node().has_kept());
    }
    EXPECT_NEAR(values_of(momentum->tensor())[0], 2, 1e-5);
}

TEST(Look, of_a_function_that_needs_a_mask_computes_what_lives_beside_it) {
    const Tensor x = line({1, 2, 3});
    const Ref<Cell> doubled = Cell::make(numpy::apply("add", {x, x}));
    const Tensor mask = numpy::apply("greater", {doubled->tensor(), line({3})});
    const Tensor chosen = numpy::get_item(doubled->tensor(), {mask});
    EXPECT_EQ(chosen.shape(), (ir::Shape{2}));
    EXPECT_TRUE(mask.node().has_kept());
    EXPECT_TRUE(doubled->tensor().node().has_kept());
}

TEST(Look, of_one_thing_is_not_failed_by_another) {
    const Tensor seven = numpy::asarray(Array::of<int64_t>(DType::int64, {1}, {7}));
    const Ref<Cell> failing = Cell::make(numpy::get_item(line({1, 2}), {seven + 0}));
    const Ref<Cell> fine = Cell::make(line({1}) + 1);
    EXPECT_EQ(values_of(line({1, 2}) * 2), (Values{2, 4}));
    EXPECT_TRUE(fine->tensor().node().has_kept());
    EXPECT_THROW(look({failing->tensor()}), IndexError);
}

TEST(Look, needs_no_placeholder) {
    const Tensor p = ir::input("p", DType::float64, {2});
    const Ref<Cell> open = Cell::make(p + 1);
    EXPECT_EQ(values_of(line({1}) + 1), Values{2});
    EXPECT_THROW(look({open->tensor()}), ValueError);
}

TEST(Look, of_one_output_leaves_the_others) {
    const std::vector<Tensor> parts = ops::split(line({1, 2, 3}) + 1, {1, 2}, 0);
    const Array kept = look({parts[0]})[0];
    EXPECT_EQ(look({parts[0]})[0].data(), kept.data());
    EXPECT_FALSE(parts[1].node().kept(1));
    EXPECT_EQ(values_of(parts[0] * parts[1]), (Values{6, 8}));
    EXPECT_EQ(look({parts[0]})[0].data(), kept.data());
}

TEST(Look, does_not_keep_what_others_write) {
    double memory[2] = {1, 2};
    const Array borrowed(DType::float64, {2}, std::shared_ptr<void>(memory, [](void*) {}), memory);
    const Tensor seen = numpy::get_item(numpy::asarray(borrowed), {Slice{1, {}, {}}});
    EXPECT_EQ(values_of(seen), Values{2});
    memory[1] = 5;
    EXPECT_EQ(values_of(seen), Values{5});
}

TEST(Look, history_is_bounded_by_bytes) {
    ir::set_most_history_bytes(10 * 8);
    Ref<Cell> x = Cell::make(line({1, 2}) + 1);
    std::vector<Tensor> all;
    for (int i = 0; i < 20; ++i) {
        look({x->tensor()});
        all.push_back(x->tensor());
        x->replace(x->tensor() + 1);
    }
    EXPECT_FALSE(all[0].node().has_kept() && all[0].node().kept(0));
    EXPECT_TRUE(all[19].node().kept(0));
    EXPECT_LE(ir::history_bytes(), 10 * 8);
    EXPECT_EQ(values_of(all[0]), (Values{2, 3}));  // computed again
    all.clear();
    x = Cell::make(line({1}));
    EXPECT_EQ(ir::history_bytes(), 0);
    ir::set_most_history_bytes(int64_t{144} << 20);
}

TEST(Cell, elements_are_written_in_place_where_nobody_sees_it) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}) + 0.5);
    const void* const memory = look({x->tensor()})[0].data();
    EXPECT_TRUE(write_element(*x, 1, Deferred::literal(7.0)));
    EXPECT_EQ(known(x->tensor()).row_major().get(), memory);
    const Ref<Cell> copy = Cell::make(x->tensor());
    EXPECT_TRUE(write_element(*x, 0, Deferred::literal(int64_t{4})));
    EXPECT_EQ(values_of(x->tensor()), (Values{4, 7, 3.5}));
    EXPECT_EQ(values_of(copy->tensor()), (Values{1.5, 7, 3.5}));
    // The graph says the same: the old node computes what it was.
    const Tensor& old = x->tensor().node().operand(0);
    EXPECT_EQ(values_of(execute::evaluate({old})[0]), (Values{1.5, 7, 3.5}));
}

TEST(Cell, copies_of_what_has_no_node_have_none) {
    const Ref<Cell> x = Cell::make(line({1.5, 2.5, 3.5}));
    EXPECT_FALSE(Cell::make_known_copy(*x));
    ASSERT_TRUE(write_element(*x, 1, Deferred::literal(7.0)));
    EXPECT_FALSE(x->has_node());
    const Ref<Cell> copy = Cell::make_known_copy(*x);
    ASSERT_TRUE(copy);
    ASSERT_TRUE(write_element(*x, 0, Deferred::literal(8.0)));
    ASSERT_TRUE(write_element(*copy, 2, Deferred::literal(9.0)));
    EXPECT_FALSE(copy->has_node());
    EXPECT_EQ(values_of(x->tensor()), (Values{8, 7, 3.5}));
    EXPECT_EQ(values_of(copy->tensor()), (Values{1.5, 7, 9}));
    EXPECT_EQ(x->tensor().node().operand(0), copy->tensor().node().operand(0));
    EXPECT_TRUE(x->has_node());
}

TEST(Cell, asked_often_is_said_once_for_what_it_holds) {
    const auto times_until_said = [](const Cell& cell, int most) {
        for (int i = 1; i <= most; ++i)
            if (cell.is_asked_often()) return i;
        return 0;
    };
    const Ref<Cell> x = Cell::make(numpy::apply("exp", {line({1, 2, 3})}));
    EXPECT_EQ(times_until_said(*x, 100), 8);
    EXPECT_EQ(times_until_said(*x, 100), 0);
    x->replace(numpy::apply("sin", {x->tensor()}));
    EXPECT_EQ(times_until_said(*x, 100), 8);
    const Ref<Cell> large = Cell::make(numpy::apply("exp", {numpy::zeros({6400})}));
    EXPECT_EQ(times_until_said(*large, 1000), 100);
    const Ref<Cell> open = Cell::make(ir::input("x", DType::float64, {3}));
    EXPECT_EQ(times_until_said(*open, 100), 0);
}

TEST(Cell, elements_of_a_view_are_parts_of_what_it_holds) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}));
    const Ref<Cell> view = Cell::make_view(ops::slice(x->tensor(), {0}, {2}, {1}), x);
    ASSERT_TRUE(view->element(1));
    x->replace(line({4, 5, 6}));
    const Ref<Deferred> element = view->element(1);
    ASSERT_TRUE(element);
    EXPECT_EQ(element->number<double>(), 5);
    EXPECT_TRUE(is_layout_path(view->tensor(), element->tensor()));
}

TEST(Cell, copies_keep_the_order_of_axes) {
    EXPECT_EQ(strides_of_copy({3, 2}, {1, 3}), (Strides{1, 3}));
    EXPECT_EQ(strides_of_copy({4, 2, 3}, {1, 12, 4}), (Strides{1, 12, 4}));
    EXPECT_EQ(strides_of_copy({2, 2}, {1, 3}), (Strides{2, 1}));  // there are gaps
    EXPECT_EQ(strides_of_copy({2, 3}, {0, 1}), (Strides{3, 1}));  // places are shared
    EXPECT_EQ(strides_of_copy({1, 3}, {7, 1}), (Strides{7, 1}));  // of one element: any step
    EXPECT_EQ(strides_of_copy({0, 3}, {1, 0}), (Strides{1, 0}));  // empty
}

TEST(Cell, strides_are_numpys) {
    const Ref<Cell> x = Cell::make(ops::reshape(line({1, 2, 3, 4, 5, 6}), {2, 3}));
    const Ref<Cell> turned = Cell::make_view(ops::transpose(x->tensor(), {1, 0}), x);
    EXPECT_EQ(turned->strides(), (Strides{1, 3}));
    EXPECT_FALSE(Cell::make_view(ops::reshape(turned->tensor(), {6}), turned));
    EXPECT_TRUE(Cell::make_view(ops::reshape(turned->tensor(), {3, 2, 1}), turned));
    EXPECT_TRUE(is_column_major({3, 2}, turned->strides()));
    EXPECT_EQ(elementwise_strides({3, 2}, {{turned->tensor().shape(), turned->strides()}}),
              (Strides{1, 3}));
    EXPECT_EQ(elementwise_strides({2, 2}, {{{2, 2}, {1, 2}}, {{2, 2}, {2, 1}}}), (Strides{2, 1}));
}

TEST(Look, by_many_threads_computes_the_same) {
    const Tensor x = numpy::apply("exp", {line({1, 2, 3})});
    std::vector<Values> found(4);
    std::vector<std::thread> threads;
    for (Values& values : found)
        threads.emplace_back([&] {
            for (int i = 0; i < 50; ++i) {
                const Ref<Cell> own = Cell::make(x + i);
                values = values_of(own->tensor());
            }
        });
    for (std::thread& thread : threads) thread.join();
    for (const Values& values : found) EXPECT_EQ(values, found[0]);
}

}  // namespace
}  // namespace composit::eager
