// Writes through names of one memory: what it holds, and where gradients go.
#include "composit/eager/writing.h"

#include "../numpy/values.h"
#include "composit/eager/tape_gradients.h"
#include "composit/ir/body.h"
#include "composit/numpy/creation.h"
#include "composit/numpy/indexing.h"
#include "composit/numpy/operand.h"
#include "composit/numpy/operators.h"

namespace composit::eager {
namespace {

using ir::DType;
using numpy::expect_error;
using numpy::expect_values;
using numpy::Slice;

Tensor numbers(std::vector<double> values) {
    const auto length = static_cast<int64_t>(values.size());
    return ir::constant(Array::of<double>(DType::float64, {length}, values));
}
Ref<Cell> first_two(const Ref<Cell>& of) {
    return Cell::make_view(numpy::get_item(of->tensor(), {Slice{0, 2}}), of);
}
// Of the sum of what a cell holds.
Tensor gradient_of_sum(const Cell& cell, const Tensor& of) {
    return chain_rule({cell.tensor()}, {numpy::ones_like(cell.tensor())}, {of})[0];
}

TEST(Writing, values_are_cast_and_broadcast_and_gradients_go_on_to_them) {
    const Tensor x = numbers({1, 2, 3}), scale = numbers({5});
    const Ref<Cell> memory = Cell::make(x * numbers({2, 2, 2}));
    write({first_two(memory), memory}, scale);
    expect_values<double>(memory->tensor(), {3}, {5, 5, 6});
    expect_values<double>(gradient_of_sum(*memory, x), {3}, {0, 0, 2});
    expect_values<double>(gradient_of_sum(*memory, scale), {1}, {2});
    write({first_two(memory), memory}, numpy::Operand(-1.5).tensor());  // a Python number's, weak
    expect_values<double>(memory->tensor(), {3}, {-1.5, -1.5, 6});
    const Ref<Cell> integers =
        Cell::make(ir::constant(Array::of<int64_t>(DType::int64, {2}, {1, 2})));
    write({integers, integers}, numbers({3.7, -3.7}));
    expect_values<int64_t>(integers->tensor(), {2}, {3, -3});
    expect_error<ValueError>([&] { write({memory, memory}, numbers({1, 2})); }, "broadcast_to: ");
}

TEST(Writing, an_unseen_write_leaves_the_gradients_of_what_was_there) {
    const Tensor x = numbers({1, 2, 3}), other = numbers({7, 8});
    const Ref<Cell> memory = Cell::make(x * numbers({2, 2, 2}));
    write({first_two(memory), memory, {}, Write::Owner::unseen}, other);
    expect_values<double>(memory->tensor(), {3}, {7, 8, 6});
    expect_values<double>(gradient_of_sum(*memory, x), {3}, {2, 2, 2});
    expect_values<double>(gradient_of_sum(*memory, other), {2}, {0, 0});
}

TEST(Writing, gradients_stop_at_a_leaf) {
    const Tensor value = numbers({4, 5, 6});
    const Ref<Cell> leaf = Cell::make(numbers({1, 2, 3}));
    write({leaf, leaf, {}, Write::Owner::leaf}, value);
    EXPECT_FALSE(leaf->tensor() == value);  // a node of its own
    expect_values<double>(leaf->tensor(), {3}, {4, 5, 6});
    write({leaf, leaf, {}, Write::Owner::leaf}, value * value);
    expect_values<double>(leaf->tensor(), {3}, {16, 25, 36});
    expect_values<double>(gradient_of_sum(*leaf, value), {3}, {0, 0, 0});
    expect_values<double>(gradient_of_sum(*leaf, leaf->tensor()), {3}, {1, 1, 1});
}

TEST(Writing, an_alias_has_gradients_that_its_memory_has_not) {
    const Tensor x = numbers({1, 2, 3}), value = numbers({4, 5, 6});
    const Ref<Cell> memory = Cell::make(x * numbers({2, 2, 2}));
    const Ref<Cell> alias = Cell::make_alias(memory);
    write({alias, memory, alias, Write::Owner::unseen, true}, value * value);
    expect_values<double>(memory->tensor(), {3}, {16, 25, 36});
    expect_values<double>(alias->tensor(), {3}, {16, 25, 36});
    expect_values<double>(gradient_of_sum(*alias, value), {3}, {8, 10, 12});
    expect_values<double>(gradient_of_sum(*memory, value), {3}, {0, 0, 0});
    expect_values<double>(gradient_of_sum(*memory, x), {3}, {2, 2, 2});
}

TEST(Writing, what_is_held_back_has_no_gradient) {
    const Tensor x = numbers({1, 2});
    const Ref<Cell> memory = Cell::make(x * x);
    hold_back(*memory);
    expect_values<double>(memory->tensor(), {2}, {1, 4});
    expect_values<double>(gradient_of_sum(*memory, x), {2}, {0, 0});
    EXPECT_FALSE(without_gradient(x) == x);
    expect_values<double>(without_gradient(x), {2}, {1, 2});
}

TEST(Writing, places_are_the_same_where_all_elements_are) {
    const Ref<Cell> memory = Cell::make(numbers({1, 2, 3})), other = Cell::make(numbers({1, 2, 3}));
    EXPECT_TRUE(is_same_place(*memory, *Cell::make_alias(memory)));
    EXPECT_TRUE(is_same_place(*first_two(memory), *first_two(memory)));
    EXPECT_FALSE(is_same_place(*memory, *first_two(memory)));
    EXPECT_FALSE(is_same_place(*memory, *other));
}

TEST(Writing, results_in_place_are_of_a_kind_that_the_target_holds) {
    const auto type = [](DType dtype, ir::Shape shape) { return ir::TensorType{shape, dtype}; };
    check_result_in_place(type(DType::float32, {2}), type(DType::float64, {2}));
    check_result_in_place(type(DType::uint8, {}), type(DType::int64, {}));
    check_result_in_place(type(DType::complex64, {2}), type(DType::boolean, {2}));
    expect_error<RuntimeError>(
        [&] { check_result_in_place(type(DType::int64, {2}), type(DType::float32, {2})); },
        "result type Float can't be cast to the desired output type Long");
    expect_error<RuntimeError>(
        [&] { check_result_in_place(type(DType::boolean, {2}), type(DType::int8, {2})); },
        "result type Char can't be cast to the desired output type Bool");
    expect_error<RuntimeError>(
        [&] { check_result_in_place(type(DType::float32, {2, 1}), type(DType::float32, {2, 3})); },
        "output with shape [2, 1] doesn't match the broadcast shape [2, 3]");
}

}  // namespace
}  // namespace composit::eager
