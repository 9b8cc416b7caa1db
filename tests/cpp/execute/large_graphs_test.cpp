// Tests of graphs of very many nodes: evaluated part by part, compiled up to a limit.
#include "composit/base/error.h"
#include "composit/execute/execute.h"
#include "composit/execute/parts.h"
#include "composit/ops/ops.h"

#include <gtest/gtest.h>

#include <cstring>

namespace composit::execute {
namespace {

using ir::DType;

Tensor vector(std::vector<float> values) {
    const auto n = static_cast<int64_t>(values.size());
    return ir::constant(Array::of<float>(DType::float32, {n}, values));
}

bool same_bits(const Array& a, const Array& b) {
    return a.dtype() == b.dtype() && a.shape() == b.shape() &&
           std::memcmp(a.data(), b.data(), static_cast<size_t>(a.bytes())) == 0;
}

TEST(LargeGraphs, AChainOfAMillionNodes) {
    Tensor x = vector({0});
    const Tensor one = ir::weak_scalar(1.0);
    for (int i = 0; i < 1'000'000; ++i) x = ops::map("add", {x, one});
    clear_plans();
    const Array value = evaluate({x})[0];
    EXPECT_EQ(*value.data_as<float>(), 1'000'000);
    EXPECT_LE(plan_statistics().misses, 4);  // a plan of a part serves those behind it
}

// Outputs of a node, numbers of Python's, what is read much later and what repeats smaller tensors
// cross the cuts.
TEST(LargeGraphs, PartsGiveTheBitsOfTheWhole) {
    const Tensor x = vector({0.5f, -1, 2, 3, 0, 1e-30f, 7, 1e20f}),
                 weak = ops::map("add", {ir::weak_scalar(0.25), ir::weak_scalar(0.5)}),
                 half = ops::astype(ops::map("sin", {x}), DType::float16),
                 wide = ops::broadcast_to(ops::reshape(ops::map("cos", {x}), {8, 1}), {8, 8}),
                 positions = ops::astype(ops::iota({8}, 0), DType::float32),
                 flags = ops::map("less", {x, positions});
    const std::vector<Tensor> parts = ops::split(ops::map("tanh", {x}), {3, 5}, 0);
    Tensor y = x;
    std::vector<Tensor> outputs{x, wide, weak};
    for (size_t i = 0; i < most_nodes_of_plan; ++i) {
        switch (i % 7) {
            case 0: y = ops::map("add", {y, weak}); break;
            case 1: y = ops::map("multiply", {y, ops::map("sin", {y})}); break;
            case 2: y = ops::map("where", {flags, y, positions}); break;
            case 3: y = ops::map("add", {y, ops::concatenate({parts[1], parts[0]}, 0)}); break;
            case 4: y = ops::map("cos", {y}); break;
            default: y = ops::map("subtract", {y, ir::weak_scalar(0.1)});
        }
        if (i % 9001 == 0) {
            outputs.push_back(ops::reduce(ops::Combiner::sum, ops::map("add", {wide, y}), {1}));
            outputs.push_back(ops::map("add", {half, half}));
            outputs.push_back(y);
        }
    }
    Options options;
    options.most_nodes = 1 << 20;
    const std::vector<Array> in_parts = evaluate(outputs),
                             whole = Compiled("whole", {}, outputs, options)(std::vector<Array>{});
    ASSERT_EQ(in_parts.size(), outputs.size());
    for (size_t k = 0; k < whole.size(); ++k) {
        EXPECT_EQ(in_parts[k].dtype(), outputs[k].dtype());
        EXPECT_TRUE(same_bits(in_parts[k], whole[k])) << k;
    }
}

TEST(LargeGraphs, CompilingHasALimit) {
    Tensor x = ir::input("x", DType::float32, {1}), y = x;
    for (int i = 0; i < 100; ++i) y = ops::map("negative", {y});
    Options options;
    options.most_nodes = 100;
    try {
        const Compiled compiled("f", {x}, {y}, options);
        FAIL();
    } catch (const ValueError& error) {
        EXPECT_EQ(std::string(error.what())
                      .rfind("f: the graph has 101 nodes, but most_nodes is 100.", 0),
                  0u)
            << error.what();
    }
    options.most_nodes = 101;
    EXPECT_NO_THROW(Compiled("f", {x}, {y}, options));
}

}  // namespace
}  // namespace composit::execute
