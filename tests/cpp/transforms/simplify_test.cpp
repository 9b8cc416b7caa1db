// Tests of simplify: what each rule rewrites, and that no bit of any result changes.
#include "composit/execute/execute.h"
#include "composit/ir/graph.h"
#include "composit/ir/operation.h"
#include "composit/ops/ops.h"
#include "composit/transforms/simplify_rules.h"
#include "composit/transforms/transforms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace composit::transforms {
namespace {

using ir::Array;
using ir::DType;
using ops::Combiner;

Tensor special() {
    const float inf = std::numeric_limits<float>::infinity(), nan = std::nanf("");
    return ir::constant(Array::of<float>(DType::float32, {2, 3, 2},
                                         {0.0f, -0.0f, inf, -inf, nan, 1e-45f, -1e-45f, 3.4e38f,
                                          1.5f, -2.5f, 0.1f, -7.0f}),
                        "x");
}

size_t node_count(const Tensor& tensor) { return ir::Graph({tensor}).node_count(); }

// The bits of x before simplification and after: lowered as they are, without a plan's simplify.
Array run(const Tensor& tensor) {
    const Lowered lowered = lower({tensor}, {}, {.constants_are_inputs = true});
    const ir::kernel::Program program = plan_buffers(lowered.program, false);
    const auto executable = runtime::backend("interpreter")->compile(program, {});
    Array result(tensor.dtype(), tensor.shape());
    runtime::Run run;
    for (const Tensor& input : lowered.inputs)
        run.inputs.push_back(ir::constant_value(input.node()).data());
    run.outputs = {result.mutable_data()};
    run.parallel_for = execute::parallel_for(1);
    executable->run(run);
    return result;
}

void expect_same_bits(const Tensor& before, const Tensor& after) {
    ASSERT_EQ(before.type(), after.type());
    const Array a = run(before), b = run(after);
    EXPECT_EQ(std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())), 0);
}

// `tensor` simplifies to a graph of that many nodes, with the same bits.
void expect_nodes(const Tensor& tensor, size_t count) {
    const Tensor simplified = simplify({tensor})[0];
    EXPECT_EQ(node_count(simplified), count);
    expect_same_bits(tensor, simplified);
}

TEST(Simplify, EveryRuleIsExercised) {
    const Tensor x = special();
    expect_nodes(ops::reshape(x, {2, 3, 2}), 1);
    expect_nodes(ops::reshape(ops::reshape(x, {12}), {3, 4}), 2);
    expect_nodes(ops::reshape(ops::reshape(x, {12}), {2, 3, 2}), 1);
    expect_nodes(ops::transpose(x, {0, 1, 2}), 1);
    expect_nodes(ops::transpose(ops::transpose(x, {2, 0, 1}), {2, 0, 1}), 2);
    expect_nodes(ops::transpose(ops::transpose(x, {2, 0, 1}), {1, 2, 0}), 1);
    expect_nodes(ops::broadcast_to(ops::broadcast_to(ops::reshape(x, {2, 3, 1, 2}), {2, 3, 4, 2}),
                                   {5, 2, 3, 4, 2}),
                 3);
    expect_nodes(ops::astype(ops::astype(x, DType::float64), DType::float32), 1);
    expect_nodes(ops::slice(x, {0, 0, 0}, {2, 3, 2}, {1, 1, 1}), 1);
    expect_nodes(ops::slice(ops::slice(x, {1, 2, 0}, {2, 3, 2}, {-1, -1, 1}), {0, 1, 0}, {2, 2, 1},
                            {1, -1, 2}),
                 2);
    expect_nodes(ops::pad(x, ir::constant(Array::scalar(DType::float32, 1)), {0, 0, 0}, {0, 0, 0},
                          {0, 0, 0}),
                 1);
    expect_nodes(ops::concatenate({x}, 1), 1);
    expect_nodes(ops::reduce(Combiner::sum, x, {}), 1);
    expect_nodes(ops::map("negative", {ops::map("negative", {x})}), 1);
    expect_nodes(ops::map("absolute", {ops::map("absolute", {x})}), 2);
    expect_nodes(ops::map("floor", {ops::map("floor", {x})}), 2);
    expect_nodes(ops::map("positive", {x}), 1);
    expect_nodes(ops::split(x, {1, 2}, 1)[1], 2);
}

Tensor numbers(const ir::Shape& shape, DType dtype = DType::float32) {
    std::vector<float> values;
    for (int64_t i = 0; i < ir::element_count(shape); ++i)
        values.push_back(static_cast<float>((i * 7919) % 1009) / 64 - 7);
    return ops::astype(ir::constant(Array::of<float>(DType::float32, shape, values)), dtype);
}

TEST(Simplify, ProductsOfWhichOnlyTheTransposeIsUsedAreComputedTransposed) {
    const auto swapped = [](const Tensor& tensor, size_t count) {
        expect_nodes(tensor, count);
        return simplify({tensor})[0].node().operation().name == "contract";
    };
    const Tensor a = numbers({300, 40}), b = numbers({300, 33});
    const Tensor product = ops::contract(a, b, {{}, {}, {0}, {0}});
    EXPECT_TRUE(swapped(ops::transpose(product, {1, 0}), 3));
    EXPECT_TRUE(swapped(ops::transpose(ops::transpose(product, {1, 0}), {0, 1}), 3));
    EXPECT_TRUE(swapped(ops::transpose(ops::transpose(product, {1, 0}), {1, 0}), 3));
    expect_nodes(ops::map("exp", {ops::transpose(product, {1, 0})}), 4);
    // With several axes of each kind.
    const Tensor left = numbers({3, 5, 4, 8, 2}), right = numbers({8, 3, 32, 2});
    const Tensor batched = ops::contract(left, right, {{0}, {1}, {3, 4}, {0, 3}});
    EXPECT_FALSE(swapped(ops::transpose(batched, {0, 3, 1, 2}), 4));  // 20 rows only
    const Tensor wide = numbers({3, 5, 7, 8, 2});
    const Tensor product_of_wide = ops::contract(wide, right, {{0}, {1}, {3, 4}, {0, 3}});
    EXPECT_TRUE(swapped(ops::transpose(product_of_wide, {0, 3, 1, 2}), 3));
    EXPECT_FALSE(swapped(ops::transpose(product_of_wide, {0, 3, 2, 1}), 4));
    EXPECT_FALSE(swapped(ops::transpose(product_of_wide, {3, 1, 2, 0}), 4));
    const Tensor whole = ops::contract(numbers({40, 9}, DType::int32),
                                       numbers({9, 50}, DType::int32), {{}, {}, {1}, {0}});
    EXPECT_TRUE(swapped(ops::transpose(whole, {1, 0}), 5));
    // Complex products are not the same bits; what is used twice would be computed twice; products
    // read any strides.
    const Tensor c = numbers({40, 40}, DType::complex64);
    const Tensor complex = ops::transpose(ops::contract(c, c, {{}, {}, {1}, {0}}), {1, 0});
    EXPECT_EQ(simplify({complex})[0].node().operation().name, "transpose");
    const Tensor square = ops::contract(a, a, {{}, {}, {0}, {0}});
    expect_nodes(ops::map("add", {ops::transpose(square, {1, 0}), square}), 4);
    expect_nodes(
        ops::contract(ops::transpose(product, {1, 0}), numbers({40, 3}), {{}, {}, {1}, {0}}), 6);
}

TEST(Simplify, WhatMayNotBeRewritten) {
    const Tensor x = special();
    const Tensor narrow = ops::astype(ops::astype(x, DType::float16), DType::float32);
    EXPECT_EQ(node_count(simplify({narrow})[0]), 3u);
    const Tensor big =
        ir::constant(Array::of<int64_t>(DType::int64, {2}, {(int64_t{1} << 53) + 1, 3}));
    expect_nodes(ops::astype(ops::astype(big, DType::float64), DType::int64), 3);
    const Tensor small = ops::astype(ops::astype(x, DType::int16), DType::int16);
    EXPECT_EQ(node_count(simplify({small})[0]), 2u);
    expect_nodes(ops::map("add", {x, ir::weak_scalar(0.0)}), 3);       // -0 + 0 is +0
    expect_nodes(ops::map("multiply", {x, ir::weak_scalar(0.0)}), 3);  // inf * 0 is nan
    expect_nodes(ops::broadcast_to(ir::weak_scalar(2.0), {}), 2);      // no longer weak
}

TEST(Simplify, EqualWorkIsSharedAndConstantsAreNot) {
    const Tensor x = special();
    const Tensor twice = ops::map("add", {ops::map("exp", {x}), ops::map("exp", {x})});
    expect_nodes(twice, 3);
    const Tensor different = ops::map("add", {ops::map("exp", {x}), ops::map("sin", {x})});
    expect_nodes(different, 4);
    expect_nodes(ops::map("add", {special(), special()}), 3);
    const Tensor axes = ops::map("subtract", {ops::reduce(Combiner::maximum, x, {0}),
                                              ops::reduce(Combiner::minimum, x, {0})});
    expect_nodes(axes, 4);
}

TEST(Simplify, UsedOutputsKeepTheirPlaces) {
    const auto parts = ops::split(special(), {1, 1, 1}, 1);
    const auto simplified = simplify({parts[2], parts[0]});
    EXPECT_EQ(simplified[0].node().operation().name, "split");
    expect_same_bits(parts[2], simplified[0]);
    expect_same_bits(parts[0], simplified[1]);
}

TEST(Simplify, NamesAndLinesSurvive) {
    const ir::LocationScope scope(ir::intern("a.py:3"));
    const Tensor x = special();
    const Tensor y(ir::with_name(ops::map("exp", {ops::reshape(x, x.shape())}).node(), "y"), 0);
    const Tensor simplified = simplify({y})[0];
    EXPECT_EQ(simplified.name(), "y");
    EXPECT_EQ(simplified.node().location(), "a.py:3");
}

TEST(Simplify, EveryRuleIsListed) {
    ops::register_operations();
    EXPECT_EQ(simplify_rules().size(), 16u);
    for (const SimplifyRule& rule : simplify_rules()) {
        EXPECT_NE(ir::find_operation(rule.operation), nullptr) << rule.operation;
        EXPECT_NE(rule.doc.find('='), std::string::npos);
    }
}

TEST(Simplify, LongChains) {
    Tensor x = special();
    for (int i = 0; i < 200000; ++i) x = ops::transpose(x, {1, 0, 2});
    EXPECT_EQ(node_count(simplify({x})[0]), 1u);
}

}  // namespace
}  // namespace composit::transforms
