// Views by strides, aliases, and what a leaf held when it was read.
#include "../numpy/values.h"
#include "composit/eager/as_strided.h"
#include "composit/eager/leaf_cell.h"
#include "composit/eager/readings.h"
#include "composit/nn/differentiation.h"
#include "composit/nn/training.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/linear.h"
#include "composit/numpy/manipulation.h"
#include "composit/numpy/operators.h"
#include "composit/ops/ops.h"

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;
using Values = std::vector<double>;

Tensor line(Values values) {
    const auto count = static_cast<int64_t>(values.size());
    return numpy::asarray(Array::of<double>(DType::float64, {count}, values));
}
Values values_of(const Tensor& tensor) {
    const Array array = look({tensor})[0];
    return {array.data_as<double>(), array.data_as<double>() + array.size()};
}

TEST(AsStrided, sees_the_memory_whatever_the_tensor_is) {
    const Ref<Cell> x = Cell::make(ops::reshape(line({0, 1, 2, 3, 4, 5}), {2, 3}));
    const Ref<Cell> turned = Cell::make_view(ops::transpose(x->tensor(), {1, 0}), x);
    const Ref<Cell> part = as_strided(turned, {2, 2}, {1, 2}, 1);
    EXPECT_EQ(values_of(part->tensor()), (Values{1, 3, 2, 4}));
    EXPECT_EQ(part->strides(), (Strides{1, 2}));
    EXPECT_EQ(part->laid_in(), x.get());
    x->replace(x->tensor() * 10);
    EXPECT_EQ(values_of(part->tensor()), (Values{10, 30, 20, 40}));
    part->replace(ops::reshape(line({-1, -2, -3, -4}), {2, 2}));
    EXPECT_EQ(values_of(x->tensor()), (Values{0, -1, -3, -2, -4, 50}));
    // Memory by columns: elements follow each other there as strides say.
    const Ref<Cell> columns = Cell::make(ops::reshape(line({0, 1, 2, 3, 4, 5}), {2, 3}), {{1, 2}});
    EXPECT_EQ(values_of(as_strided(columns, {6}, {1}, 0)->tensor()), (Values{0, 3, 1, 4, 2, 5}));
    expect_error<ValueError>([&] { (void)as_strided(x, {7}, {1}, 0); },
                             "as_strided: elements 0 to 6 are asked for, of 6");
    expect_error<ValueError>([&] { (void)as_strided(x, {2}, {1, 1}, 0); }, "As many are required.");
}

TEST(AsStrided, parts_of_what_is_seen_twice_are_written_alone) {
    const Ref<Cell> x = Cell::make(line({0, 0, 0, 0, 0}));
    const Ref<Cell> windows = as_strided(x, {3, 3}, {1, 1}, 0);
    const Ref<Cell> row =
        Cell::make_view(numpy::get_item(windows->tensor(), {int64_t{1}}), windows);
    row->replace(line({1, 2, 3}));
    EXPECT_EQ(values_of(x->tensor()), (Values{0, 1, 2, 3, 0}));
    EXPECT_TRUE(row->sees_selection());
    EXPECT_FALSE(x->sees_selection());
    windows->replace_at(numpy::asarray(Array::of<int64_t>(DType::int64, {2}, {0, 8})),
                        line({7, 8}));
    EXPECT_EQ(values_of(x->tensor()), (Values{7, 1, 2, 3, 8}));
}

TEST(AsStrided, of_what_lies_side_by_side_is_layout) {
    const Ref<Cell> x = Cell::make(ops::reshape(line({0, 1, 2, 3, 4, 5}), {2, 3}));
    const Ref<Cell> part = as_strided(x, {2, 1, 2}, {1, 9, 2}, 1);
    EXPECT_TRUE(is_layout_path(x->tensor(), part->tensor()));
    EXPECT_FALSE(part->sees_selection());
    EXPECT_EQ(part->strides(), (Strides{1, 9, 2}));
    EXPECT_EQ(part->region().offset, 1);
    EXPECT_EQ(values_of(part->tensor()), (Values{1, 3, 2, 4}));
    part->replace(ops::reshape(line({-1, -2, -3, -4}), {2, 1, 2}));
    EXPECT_EQ(values_of(x->tensor()), (Values{0, -1, -3, -2, -4, 5}));
    EXPECT_TRUE(as_strided(x, {0, 2}, {2, 1}, 9)->tensor().shape() == (ir::Shape{0, 2}));
}

TEST(AsStrided, selections_of_selections_are_written_where_they_come_from) {
    const Ref<Cell> x = Cell::make(line({0, 0, 0, 0}));
    const Ref<Cell> windows = as_strided(x, {3, 2}, {1, 1}, 0);
    const Ref<Cell> diagonal = Cell::make_appearance(
        selection([](const Tensor& seen) { return numpy::diagonal(seen); }), windows);
    diagonal->replace(line({1, 2}));  // elements 0 and 2, which other windows show, too
    EXPECT_EQ(values_of(x->tensor()), (Values{1, 0, 2, 0}));
    EXPECT_EQ(values_of(windows->tensor()), (Values{1, 0, 0, 2, 2, 0}));
    diagonal->replace_at(numpy::asarray(Array::of<int64_t>(DType::int64, {1}, {1})), line({5}));
    EXPECT_EQ(values_of(x->tensor()), (Values{1, 0, 5, 0}));
}

TEST(Broadcasts, are_written_where_no_element_is_seen_twice) {
    const Ref<Cell> x = Cell::make(line({1, 2}));
    const Ref<Cell> wide = Cell::make_view(ops::broadcast_to(x->tensor(), {3, 2}), x);
    const Ref<Cell> row = Cell::make_view(numpy::get_item(wide->tensor(), {int64_t{1}}), wide);
    row->replace(line({3, 4}));
    EXPECT_EQ(values_of(x->tensor()), (Values{3, 4}));
    expect_error<ValueError>([&] { wide->replace(wide->tensor() * 2); },
                             "assignment destination is read-only");
}

TEST(CheckOverlap, is_of_dense_parts_that_are_not_the_same) {
    const Ref<Cell> x = Cell::make(line({0, 1, 2, 3}));
    const auto part = [&](int64_t from, int64_t to) {
        return Cell::make_view(ops::slice(x->tensor(), {from}, {to - from}, {1}), x);
    };
    check_overlap(*part(0, 2), *part(2, 4));
    check_overlap(*part(0, 2), *part(0, 2));
    check_overlap(*part(0, 2), *Cell::make(x->tensor()));
    expect_error<RuntimeError>([&] { check_overlap(*part(0, 2), *part(1, 3)); },
                               "unsupported operation: some elements of the input tensor");
    const Ref<Cell> wide = Cell::make_view(ops::broadcast_to(part(0, 1)->tensor(), {3}), x);
    expect_error<RuntimeError>([&] { check_overlap(*wide, *wide); },
                               "unsupported operation: more than one element");
}

TEST(Alias, has_gradients_of_its_own) {
    const Tensor w = line({2, 3});
    const Ref<Cell> x = Cell::make(line({5, 7}));
    const Ref<Cell> alias = Cell::make_alias(x);
    const Ref<Cell> first = Cell::make_view(ops::slice(alias->tensor(), {0}, {1}, {1}), alias);
    const Tensor made = alias->written_through(
        *alias, alias->tensor() * w, [](const Tensor& all) { return nn::stop_gradient(all); });
    alias->show({[made](const Tensor& seen) { return nn::with_values(made, seen); },
                 [](const Tensor&, const Tensor& written) { return written; }});
    EXPECT_EQ(values_of(x->tensor()), (Values{10, 21}));
    EXPECT_EQ(values_of(first->tensor()), (Values{10}));
    const auto gradient = [&](const Tensor& y) {
        return values_of(nn::chain_rule({{y, numpy::ones(y.shape(), DType::float64)}}, {w})[0]);
    };
    EXPECT_EQ(gradient(alias->tensor()), (Values{5, 7}));
    EXPECT_EQ(gradient(first->tensor()), (Values{5, 0}));
    EXPECT_EQ(gradient(x->tensor()), (Values{0, 0}));
    x->replace(line({1, 1}));  // values are those of the memory, the gradient is what it was
    EXPECT_EQ(values_of(first->tensor()), (Values{1}));
    EXPECT_EQ(gradient(alias->tensor()), (Values{5, 7}));
}

TEST(Leaf, is_a_node_of_its_own_in_shared_memory) {
    const Ref<Cell> x = Cell::make(line({1, 2, 3}));
    const Ref<Cell> part = Cell::make_view(ops::slice(x->tensor(), {1}, {2}, {1}), x);
    const Ref<Cell> leaf = leaf_in(part), other = leaf_in(part);
    EXPECT_FALSE(leaf->tensor() == part->tensor());
    EXPECT_FALSE(leaf->tensor() == other->tensor());
    EXPECT_FALSE(is_alone(*leaf));
    x->replace(x->tensor() * 10);
    EXPECT_EQ(values_of(leaf->tensor()), (Values{20, 30}));
    leaf->replace(line({4, 5}));
    EXPECT_EQ(values_of(x->tensor()), (Values{10, 4, 5}));
    // What is written through a view of the leaf is not made of the leaf, for the others.
    const Ref<Cell> last = Cell::make_view(ops::slice(leaf->tensor(), {1}, {1}, {1}), leaf);
    EXPECT_EQ(last->leaf_below(), leaf.get());
    const Tensor read = leaf->tensor();
    last->replace(line({6}));
    EXPECT_EQ(values_of(x->tensor()), (Values{10, 4, 6}));
    EXPECT_EQ(
        values_of(nn::chain_rule({{x->tensor(), numpy::ones({3}, DType::float64)}}, {read})[0]),
        (Values{0, 0}));
}

TEST(Leaf, holds_nothing_but_its_values_once_they_are_there) {
    const Ref<Cell> x = Cell::make(line({1, 2}) * 2);
    const Ref<Cell> leaf = leaf_in(x);
    forget_origin(*leaf);
    EXPECT_FALSE(ir::is_constant(leaf->tensor().node()));
    look({leaf->tensor()});
    forget_origin(*leaf);
    EXPECT_TRUE(ir::is_constant(leaf->tensor().node()));
    EXPECT_EQ(values_of(leaf->tensor()), (Values{2, 4}));
    x->replace(line({7, 8}));
    EXPECT_EQ(values_of(leaf->tensor()), (Values{7, 8}));
}

TEST(Leaf, names_of_names_are_names_of_one_cell) {
    const Ref<Cell> x = Cell::make(line({1, 2}));
    Ref<Cell> name = Cell::make_alias(x);
    for (int i = 0; i < 3; ++i) name = i % 2 ? Cell::make_alias(name) : leaf_in(name);
    EXPECT_EQ(name->origin(), x.get());
    EXPECT_FALSE(is_alone(*name));
    const Ref<Cell> alone = Cell::make_alias(Cell::make(line({3})));
    EXPECT_TRUE(is_alone(*alone));
}

TEST(Readings, are_what_others_still_refer_to) {
    Readings readings;
    Tensor first = line({1});
    readings.note(first);
    const Tensor used = first + 1;
    const Tensor second = line({2});
    readings.note(second);
    EXPECT_EQ(readings.before(second), (std::vector<Tensor>{first}));
    EXPECT_EQ(readings.before(first), (std::vector<Tensor>{second}));
    EXPECT_EQ(reached({used}, {first, second}), (std::vector<Tensor>{first}));
    readings.note(first);  // twice, and counted once
    EXPECT_EQ(readings.before(line({3})).size(), 2U);
    Tensor last;
    for (int i = 0; i < 100; ++i) readings.note(last = line({double(i)}));
    EXPECT_LE(readings.before(last).size(), 8U);
}

}  // namespace
}  // namespace composit::eager
